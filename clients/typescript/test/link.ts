// A link between a phone and a server, in virtual time. Packets are lost below the sockets, and TCP
// retransmits them, so a socket loses nothing, keeps the order, and is sometimes late. A cut ends every
// socket without notice to either side.
//
// Opening a socket takes a round trip for TCP, one for TLS 1.3 if it is used (in a full handshake the server
// answers with three packets, most of them its certificates; in a resumed session with one), and one for the
// upgrade. The third packet of TCP and the client's last one of TLS travel with the data that follows them.

export interface NetworkConditions {
  /** The number of packets lost out of a thousand. */
  readonly loss: number;
  readonly roundTripMs: number;
  readonly opening: OpeningCost;
}

/** The handshakes before the request for a socket. `nothing` is an established transport. */
export type OpeningCost = "nothing" | "tcp" | "tcp_and_resumed_tls" | "tcp_and_full_tls";

/** The packets of the server's answer in each round trip before the request. */
const ANSWERS: Readonly<Record<OpeningCost, readonly number[]>> = {
  nothing: [],
  tcp: [1],
  tcp_and_resumed_tls: [1, 1],
  tcp_and_full_tls: [1, 3],
};
/** The size of the server's answer that a socket is open. */
const UPGRADE_BYTES = 200;
/** The time that the server needs to look up its answers after the request. */
const LOOK_UP_MS = 5;

/** The round trips before the last of several packets is retransmitted (tail loss probe, RFC 8985). */
const LAST_RETRANSMIT_ROUND_TRIPS = 2;
/**
 * The round trips before an earlier packet is retransmitted: later ones are acknowledged, and it is not
 * (RACK).
 */
const RETRANSMIT_ROUND_TRIPS = 1.25;
/** The time before the first packet of a connection is retransmitted (RFC 6298). */
const FIRST_RETRANSMIT_MS = 1_000;

/** The size of a packet, into which data written at once is joined. */
const PACKET_BYTES = 1_400;

interface Packet {
  readonly sent: number;
  readonly wasLost: boolean;
  arrives: number;
  bytes: number;
  readonly acts: ((at: number) => void)[];
}

/** The packets in flight in one direction of a socket, in order. */
type PacketQueue = Packet[];

interface ScheduledEvent {
  readonly at: number;
  readonly act: (at: number) => void;
  readonly era: number;
}

export class Link {
  readonly #conditions: NetworkConditions;
  readonly #random: () => number;
  #events: ScheduledEvent[] = [];
  #isCut = false;
  /** The number of cuts: a packet in flight during one never arrives. */
  #era = 0;
  #open = new Map<number, { readonly up: PacketQueue; readonly down: PacketQueue }>();

  constructor(conditions: NetworkConditions, random: () => number) {
    this.#conditions = conditions;
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

  /** Cuts the link, and returns the sockets that were open. */
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

  /** Opens a socket. `accepted` runs at the server with the request, `ready` after its look-up. */
  open(
    now: number,
    socket: number,
    accepted: (at: number) => void,
    ready: (at: number) => void,
    opened: () => void,
  ): void {
    // Without a network the phone's own system waits for one, and nothing comes back.
    if (this.#isCut) return;
    this.#schedule(now + this.#handshakes + this.#packetMs(this.#retransmitMs), (at) => {
      const queues = { up: [], down: [] };
      this.#open.set(socket, queues);
      accepted(at);
      this.#send(at, queues.down, UPGRADE_BYTES, opened);
      this.#schedule(at + LOOK_UP_MS, ready);
    });
  }

  up(now: number, socket: number, bytes: number, act: (at: number) => void): void {
    const queue = this.#open.get(socket)?.up;
    if (queue) this.#send(now, queue, bytes, act);
  }

  down(now: number, socket: number, bytes: number, act: (at: number) => void): void {
    const queue = this.#open.get(socket)?.down;
    if (queue) this.#send(now, queue, bytes, act);
  }

  #send(now: number, queue: PacketQueue, bytes: number, act: (at: number) => void): void {
    const last = queue.at(-1);
    if (last?.sent === now && last.bytes + bytes <= PACKET_BYTES) {
      last.acts.push(act);
      last.bytes += bytes;
      return;
    }
    const half = this.#conditions.roundTripMs / 2;
    const arrives = now + this.#packetMs(this.#retransmitMs);
    const packet = { sent: now, wasLost: arrives > now + half, arrives, bytes, acts: [act] };
    queue.push(packet);
    this.#deliverAt(packet.arrives, queue);
    if (packet.wasLost) return;
    // The loss of earlier packets is detected now.
    for (const before of queue) {
      if (!before.wasLost) continue;
      const found = now + RETRANSMIT_ROUND_TRIPS * this.#conditions.roundTripMs;
      const again = found + this.#packetMs(this.#retransmitMs);
      before.arrives = Math.min(before.arrives, again);
      this.#deliverAt(before.arrives, queue);
    }
  }

  #deliverAt(at: number, queue: PacketQueue): void {
    this.#schedule(at, (now) => {
      for (let [first] = queue; first && first.arrives <= now; [first] = queue) {
        queue.shift();
        for (const act of first.acts) act(now);
      }
    });
  }

  /**
   * Sends a request on a connection of its own: `accepted` runs at the server and returns the reaction to its
   * answer.
   */
  request(now: number, lost: () => void, accepted: () => () => void): void {
    if (this.#isCut) {
      this.#events.push({ at: now + 10_000, act: lost, era: this.#era });
      return;
    }
    const there = now + this.#handshakes + this.#packetMs(this.#retransmitMs);
    this.#schedule(there, () => {
      const answered = accepted();
      this.#schedule(there + this.#packetMs(this.#retransmitMs), answered);
    });
  }

  /** The duration of the handshakes before the first request on a connection. */
  get #handshakes(): number {
    let ms = 0;
    for (const [trip, packets] of ANSWERS[this.#conditions.opening].entries()) {
      ms += this.#packetMs(trip === 0 ? FIRST_RETRANSMIT_MS : this.#retransmitMs);
      const answers = Array.from({ length: packets }, (_, place) => {
        const again = trip === 0 ? FIRST_RETRANSMIT_MS : this.#retransmitMsOf(place === packets - 1);
        return this.#packetMs(again);
      });
      ms += Math.max(...answers);
    }
    return ms;
  }

  get #retransmitMs(): number {
    return this.#retransmitMsOf(true);
  }

  #retransmitMsOf(isLast: boolean): number {
    return (isLast ? LAST_RETRANSMIT_ROUND_TRIPS : RETRANSMIT_ROUND_TRIPS) * this.#conditions.roundTripMs;
  }

  /** Returns the duration of one packet, including retransmissions. */
  #packetMs(again: number): number {
    let ms = this.#conditions.roundTripMs / 2;
    for (let pause = again; this.#random() * 1_000 < this.#conditions.loss; pause *= 2) ms += pause;
    return ms;
  }

  #schedule(at: number, act: (at: number) => void): void {
    this.#events.push({ at, act, era: this.#era });
  }
}
