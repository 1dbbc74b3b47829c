// A link between a phone and a server, in virtual time. Below the sockets it loses packets, and TCP
// sends them again: so a socket loses nothing, keeps the order, and now and then is late. A cut ends
// every socket without a word to either side.
//
// Opening a socket takes a round trip for TCP, one for TLS 1.3 where there is TLS (in a full handshake
// the server answers with three packets, most of them its certificates; in one that resumes an earlier
// session with one), and one for the upgrade. The third packet of TCP and the client's last one of TLS
// go with what follows them.

export interface Bad {
  /** Out of a thousand packets. */
  readonly loss: number;
  readonly roundTripMs: number;
  readonly opening: OpeningCost;
}

/** What comes before the request for a socket. `nothing` is a transport that stands already. */
export type OpeningCost = "nothing" | "tcp" | "tcp_and_resumed_tls" | "tcp_and_full_tls";

/** Packets of the server's answer in each round trip before the request. */
const ANSWERS: Readonly<Record<OpeningCost, readonly number[]>> = {
  nothing: [],
  tcp: [1],
  tcp_and_resumed_tls: [1, 1],
  tcp_and_full_tls: [1, 3],
};
/** Of the server's answer that a socket is open. */
const SWITCHED_BYTES = 200;
/** From the request until the server has looked up what it answers. */
const LOOKED_UP_MS = 5;

/** Before the last packet of several is sent again: two round trips (tail loss probe, RFC 8985). */
const LAST_AGAIN_ROUND_TRIPS = 2;
/** Before one that others followed is sent again: they are acknowledged, and it is not (RACK). */
const AGAIN_ROUND_TRIPS = 1.25;
/** Before the first packet of a connection is sent again (RFC 6298). */
const FIRST_AGAIN_MS = 1_000;

/** What is written at once goes in packets of this size. */
const PACKET_BYTES = 1_400;

interface Packet {
  readonly sent: number;
  readonly wasLost: boolean;
  arrives: number;
  bytes: number;
  readonly acts: ((at: number) => void)[];
}

/** What is on its way in one direction of a socket, in order. */
type Lane = Packet[];

interface Event {
  readonly at: number;
  readonly act: (at: number) => void;
  readonly era: number;
}

export class Link {
  readonly #bad: Bad;
  readonly #random: () => number;
  #events: Event[] = [];
  #isCut = false;
  /** Counts cuts: what was on its way at one of them never arrives. */
  #era = 0;
  #open = new Map<number, { readonly up: Lane; readonly down: Lane }>();

  constructor(bad: Bad, random: () => number) {
    this.#bad = bad;
    this.#random = random;
  }

  get isCut(): boolean {
    return this.#isCut;
  }

  get next(): number | null {
    return this.#events.reduce<number | null>(
      (next, { at }) => (next === null || at < next ? at : next),
      null,
    );
  }

  run(now: number): void {
    for (;;) {
      const due = this.#events.filter(({ at }) => at <= now).sort((one, other) => one.at - other.at);
      const [first] = due;
      if (!first) return;
      this.#events = this.#events.filter((event) => event !== first);
      if (first.era === this.#era) first.act(now);
    }
  }

  /** Gives the sockets that were open. */
  cut(): number[] {
    const lost = [...this.#open.keys()];
    this.#isCut = true;
    this.#era += 1;
    this.#open.clear();
    return lost;
  }

  restore(): void {
    this.#isCut = false;
  }

  /** `asked` happens at the server with the request, `said` there when it has looked things up. */
  open(
    now: number,
    socket: number,
    asked: (at: number) => void,
    said: (at: number) => void,
    opened: () => void,
  ): void {
    // Without a network the phone's own machine waits for one: nothing comes back.
    if (this.#isCut) return;
    this.#plan(now + this.#handshakes + this.#one(this.#againMs), (at) => {
      const lanes = { up: [], down: [] };
      this.#open.set(socket, lanes);
      asked(at);
      this.#send(at, lanes.down, SWITCHED_BYTES, opened);
      this.#plan(at + LOOKED_UP_MS, said);
    });
  }

  up(now: number, socket: number, bytes: number, act: (at: number) => void): void {
    const lane = this.#open.get(socket)?.up;
    if (lane) this.#send(now, lane, bytes, act);
  }

  down(now: number, socket: number, bytes: number, act: (at: number) => void): void {
    const lane = this.#open.get(socket)?.down;
    if (lane) this.#send(now, lane, bytes, act);
  }

  #send(now: number, lane: Lane, bytes: number, act: (at: number) => void): void {
    const last = lane.at(-1);
    if (last?.sent === now && last.bytes + bytes <= PACKET_BYTES) {
      last.acts.push(act);
      last.bytes += bytes;
      return;
    }
    const half = this.#bad.roundTripMs / 2;
    const arrives = now + this.#one(this.#againMs);
    const packet = { sent: now, wasLost: arrives > now + half, arrives, bytes, acts: [act] };
    lane.push(packet);
    this.#deliverAt(packet.arrives, lane);
    if (packet.wasLost) return;
    // What was lost before it is found out now.
    for (const before of lane) {
      if (!before.wasLost) continue;
      const found = now + AGAIN_ROUND_TRIPS * this.#bad.roundTripMs;
      const again = found + this.#one(this.#againMs);
      before.arrives = Math.min(before.arrives, again);
      this.#deliverAt(before.arrives, lane);
    }
  }

  #deliverAt(at: number, lane: Lane): void {
    this.#plan(at, (now) => {
      for (let [first] = lane; first && first.arrives <= now; [first] = lane) {
        lane.shift();
        for (const act of first.acts) act(now);
      }
    });
  }

  /** A request on a connection of its own: `asked` happens at the server and gives what follows. */
  request(now: number, lost: () => void, asked: () => () => void): void {
    if (this.#isCut) {
      this.#events.push({ at: now + 10_000, act: lost, era: this.#era });
      return;
    }
    const there = now + this.#handshakes + this.#one(this.#againMs);
    this.#plan(there, () => {
      const answered = asked();
      this.#plan(there + this.#one(this.#againMs), answered);
    });
  }

  /** What comes before the first request on a connection. */
  get #handshakes(): number {
    let ms = 0;
    for (const [trip, packets] of ANSWERS[this.#bad.opening].entries()) {
      ms += this.#one(trip === 0 ? FIRST_AGAIN_MS : this.#againMs);
      const answers = Array.from({ length: packets }, (_, place) => {
        const again = trip === 0 ? FIRST_AGAIN_MS : this.#lostAgainMs(place === packets - 1);
        return this.#one(again);
      });
      ms += Math.max(...answers);
    }
    return ms;
  }

  get #againMs(): number {
    return this.#lostAgainMs(true);
  }

  #lostAgainMs(isLast: boolean): number {
    return (isLast ? LAST_AGAIN_ROUND_TRIPS : AGAIN_ROUND_TRIPS) * this.#bad.roundTripMs;
  }

  /** How long one packet takes, and its repetitions. */
  #one(again: number): number {
    let ms = this.#bad.roundTripMs / 2;
    for (let pause = again; this.#random() * 1_000 < this.#bad.loss; pause *= 2) ms += pause;
    return ms;
  }

  #plan(at: number, act: (at: number) => void): void {
    this.#events.push({ at, act, era: this.#era });
  }
}
