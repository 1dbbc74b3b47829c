// A client on a phone in virtual time: suspensions and cuts at random, over a link that loses packets,
// against a model of the server that follows the protocol. Nothing here is the server's own code; what
// the tapes hold still is here made to happen at every possible moment.
//
// The game is the smallest one that can show a lost or doubled move: two seats in turns, each answer
// counts one further. A person answers within some seconds; who does not is played by the clock.

import { randomBytes } from "./tape.js";
import { type Bad, Link } from "./link.js";
import { saidIn } from "./request.js";
import { ModelServer } from "./server.js";
import { Core, type Effect, type GameModel, type Input, type Outcome } from "../src/index.js";

export interface Report {
  readonly interruptions: number;
  readonly wishes: number;
  readonly done: number;
  readonly overtaken: number;
  /** Said when the clock had answered already. */
  readonly late: number;
  readonly connections: number;
  /** From the moment of coming back until what is shown is current, sorted. */
  readonly backMs: readonly number[];
}

interface View {
  readonly viewer: number | null;
  readonly hand: readonly number[];
  readonly turn: number;
  readonly count: number;
}

/** A game in which a seat counts one further with each answer. */
export const counting: GameModel = {
  kind: "counting",
  shortEvents: ["counted"],
  readShort: (_word, fields) => ({ type: "counted", seat: fields[0], count: fields[1] }),
  begin: (_rules, _seats, _starter, viewer) => ({ viewer, hand: [], turn: 0, count: 0 }),
  observe: (view, event) => {
    const { seat, count } = event as { seat: number; count: number };
    return { ...view, turn: 1 - seat, count };
  },
  prompt: (view) => ({ number: (view as View).count, seats: [(view as View).turn] }),
  legal: (view) => [{ type: "count", count: (view as View).count + 1 }],
  redeal: () => null,
};

interface Wished {
  readonly command: number;
  readonly at: number;
  outcome: string | null;
}

/** A connection that has worked for so long has carried whatever was to be said. */
const CARRIED_MS = 4_000;

/** What happens to a phone, and for how long. */
const INTERRUPTIONS = ["sleep", "cut", "cut_untold", "dead", "closed"] as const;

/** A connection that dies without a word is noticed within this time: where the person is asked something
 * or waits for an answer, and elsewhere. */
const NOTICED_URGENT_MS = 4_000;
const NOTICED_MS = 15_000;
/** How far somebody sets the phone's clock. */
const CLOCK_SET_MS = 3_600_000;
/** What the client takes the server's time for may be off by what a packet takes. */
const CLOCK_MS = 1_000;

/** One phone through so many interruptions; throws where a move was lost or doubled. */
export function run(
  seed: number,
  interruptions: number,
  bad: Bad,
  trace: (line: string) => void = () => undefined,
): Report {
  return new Phone(seed, bad, trace).run(interruptions);
}

class Phone {
  readonly #bytes: (count: number) => Uint8Array;
  readonly #link: Link;
  readonly #server: ModelServer;
  readonly #core: Core;
  #now = 0;
  /** For how long the monotonic clock has stood still in sleep. */
  #stoppedMs = 0;
  /** What the wall clock is ahead of the true time. */
  #wallAhead = 0;
  /** By when the client must have noticed that its connection has died. */
  #noticeBy: number | null = null;
  /** It has to find out by itself that the network is back. */
  #isUntold = false;
  #isAsleep = false;
  /** What arrives while the phone sleeps waits for it. */
  #kept: Input[] = [];
  #nextThought = 0;
  #command = 0;
  /** Each answer that the person has given, by the question's number. */
  #wished = new Map<number, Wished>();
  /** When the connection worked and the phone was awake. */
  #worked: { from: number; to: number }[] = [];
  #connections = 0;
  #backSince: { at: number; version: number } | null = null;
  /** Something that was sent after that: before it nobody knows whether what is shown is current. */
  #hasHeard = false;
  #backMs: number[] = [];

  readonly #trace: (line: string) => void;

  constructor(seed: number, bad: Bad, trace: (line: string) => void) {
    this.#trace = trace;
    this.#bytes = randomBytes(seed);
    this.#link = new Link(bad, () => this.#random());
    this.#server = new ModelServer((socket, data, closed) => {
      this.#fromServer(socket, data, closed);
    });
    this.#core = new Core({
      base: "http://model",
      random: randomBytes(seed + 1),
      games: [counting],
    });
  }

  run(interruptions: number): Report {
    this.#input({ type: "start" });
    this.#until(this.#now + 5_000);
    for (let left = interruptions; left > 0; left -= 1) {
      this.#until(this.#now + this.#below(6_000));
      this.#interrupt(INTERRUPTIONS[this.#below(INTERRUPTIONS.length)] ?? "cut");
    }
    // What is still open comes to its end when nothing more is in the way.
    this.#nextThought = Number.POSITIVE_INFINITY;
    this.#until(this.#now + 120_000);
    // What the server has just said is on its way.
    for (let more = 10; more > 0 && this.#isBehind; more -= 1) this.#until(this.#now + 300);
    this.#check();
    const ended = (outcome: string): number =>
      [...this.#wished.values()].filter((wish) => wish.outcome === outcome).length;
    return {
      interruptions,
      wishes: this.#wished.size,
      done: ended("done"),
      overtaken: ended("overtaken"),
      late: ended("late") + ended("dropped"),
      connections: this.#connections,
      backMs: this.#backMs.sort((one, other) => one - other),
    };
  }

  #interrupt(kind: (typeof INTERRUPTIONS)[number]): void {
    const ms = 50 + this.#below(this.#below(10) === 0 ? 1_200_000 : 30_000);
    if (this.#below(20) === 0) this.#wallAhead = (this.#below(3) - 1) * CLOCK_SET_MS;
    switch (kind) {
      case "sleep": {
        this.#isAsleep = true;
        this.#noteWork();
        // The network goes as well, or stays: then what was sent waits for the phone.
        const isGone = this.#below(2) === 0;
        if (isGone) this.#link.cut();
        this.#until(this.#now + ms);
        // On some machines the monotonic clock sleeps as well.
        if (this.#below(2) === 0) this.#stoppedMs += ms;
        this.#link.restore();
        this.#isAsleep = false;
        this.#comeBack();
        for (const input of this.#kept.splice(0)) this.#input(input);
        this.#input({ type: "wake" });
        break;
      }
      case "cut":
      case "cut_untold": {
        const lost = this.#link.cut();
        this.#noteWork();
        if (kind === "cut" && this.#below(2) === 0) this.#tellClosed(lost);
        this.#until(this.#now + ms);
        this.#link.restore();
        this.#comeBack();
        this.#input({ type: "wake" });
        break;
      }
      case "dead":
        this.#die(ms);
        break;
      case "closed":
        // The server goes, and another node takes over at once.
        this.#server.closeAll(1001);
        break;
    }
    if (!this.#core.state.table) throw new Error("the hand is not visible");
  }

  /** Nothing arrives any more, and nobody tells the client; nor that the network is back. */
  #die(ms: number): void {
    const { table, open, link } = this.#core.state;
    const isUrgent = open.length > 0 || (table?.prompt?.legal.length ?? 0) > 0;
    this.#link.cut();
    this.#noteWork();
    if (link.type === "live") this.#noticeBy = this.#now + (isUrgent ? NOTICED_URGENT_MS : NOTICED_MS);
    this.#until(this.#now + ms);
    this.#link.restore();
    this.#isUntold = true;
    this.#comeBack();
    for (let more = 100; more > 0 && this.#backSince; more -= 1) this.#until(this.#now + 1_000);
    if (this.#backSince) throw new Error("it does not come back by itself");
    this.#isUntold = false;
  }

  #comeBack(): void {
    this.#backSince = { at: this.#now, version: this.#server.version };
    this.#hasHeard = false;
  }

  #tellClosed(sockets: readonly number[]): void {
    for (const socket of sockets) this.#input({ type: "closed", socket, code: 1006, reason: "" });
  }

  #until(end: number): void {
    for (;;) {
      const wakeAt = this.#isAsleep ? null : this.#wakeAt;
      const thought = this.#isAsleep ? null : this.#nextThought;
      const times = [wakeAt, thought, this.#link.next, this.#server.next];
      const next = times.reduce<number>((least, at) => Math.min(least, at ?? least), end);
      this.#now = Math.max(this.#now, next);
      this.#seeWhetherNoticed();
      if (this.#now >= end) break;
      this.#link.run(this.#now);
      this.#server.run(this.#now);
      if (this.#isAsleep) continue;
      const due = this.#wakeAt;
      if (due !== null && due <= this.#now) this.#input({ type: "timer" });
      if (this.#nextThought <= this.#now) this.#think();
    }
    this.#now = end;
  }

  /** When the core is to be woken, in true time. */
  get #wakeAt(): number | null {
    // Whole, so that nothing is lost when one time is made of another.
    return this.#core.wakeAt === null ? null : Math.ceil(this.#core.wakeAt) + this.#stoppedMs;
  }

  #seeWhetherNoticed(): void {
    if (this.#core.state.link.type !== "live") this.#noticeBy = null;
    if (this.#noticeBy === null || this.#now <= this.#noticeBy) return;
    throw new Error("it has not noticed that its connection is dead");
  }

  /** A person looks at the phone: where something is asked, it is answered, once for each question. */
  #think(): void {
    this.#nextThought = this.#now + 300 + this.#below(2_500);
    const { table } = this.#core.state;
    const prompt = table?.prompt;
    const [action] = prompt?.legal ?? [];
    if (!prompt || !action) return;
    if (this.#wished.has(prompt.number)) return;
    this.#command += 1;
    this.#wished.set(prompt.number, { command: this.#command, at: this.#now, outcome: null });
    this.#input({ type: "command", command: this.#command, wish: { type: "act", action } });
  }

  #input(input: Input): void {
    if (this.#isAsleep) {
      this.#kept.push(input);
      return;
    }
    this.#trace(`${this.#now} ${JSON.stringify(input)}`);
    const now = this.#now - this.#stoppedMs;
    for (const effect of this.#core.handle(now, input, this.#now + this.#wallAhead)) {
      if (effect.type !== "store") this.#trace(`  ${JSON.stringify(effect)}`);
      this.#effect(effect);
    }
    this.#seeWhetherBack();
    this.#noteWork();
  }

  #seeWhetherBack(): void {
    const { table } = this.#core.state;
    if (!this.#backSince || !table?.current || table.version < this.#backSince.version) return;
    if (!this.#hasHeard) return;
    this.#trace(`${this.#now} back after ${this.#now - this.#backSince.at} ms`);
    if (!this.#isUntold) this.#backMs.push(this.#now - this.#backSince.at);
    this.#backSince = null;
  }

  #effect(effect: Effect): void {
    switch (effect.type) {
      case "request": {
        const { request, url, body } = effect;
        const lost = (): void => this.#input({ type: "unanswered", request });
        this.#link.request(this.#now, lost, () => {
          const answer = this.#server.answer(this.#now, url, body);
          const contentType = "application/json";
          return () => this.#input({ type: "answered", request, contentType, retryAfterMs: null, ...answer });
        });
        break;
      }
      case "open": {
        const { socket, url, protocols } = effect;
        this.#link.open(
          this.#now,
          socket,
          (at) => this.#server.opened(at, socket),
          (at) => this.#server.asked(at, socket, saidIn(url, protocols)),
          () => {
            this.#connections += 1;
            this.#input({ type: "opened", socket, protocol: protocols[1] ?? "" });
          },
        );
        break;
      }
      case "send":
        this.#link.up(this.#now, effect.socket, effect.text.length, (at) => {
          this.#server.heard(at, effect.socket, effect.text);
        });
        break;
      case "close":
        this.#link.up(this.#now, effect.socket, 8, () => this.#server.gone(effect.socket));
        break;
      case "notify":
        if (effect.notification.type === "ended") this.#ended(effect.notification.command, effect.notification.outcome);
        break;
      case "store":
      case "called":
        break;
    }
  }

  #fromServer(socket: number, data: string | null, code: number): void {
    const sent = this.#now;
    this.#link.down(this.#now, socket, data?.length ?? 8, () => {
      if (this.#backSince && sent >= this.#backSince.at) this.#hasHeard = true;
      if (data !== null) this.#input({ type: "received", socket, data });
      else this.#input({ type: "closed", socket, code, reason: "" });
    });
  }

  #ended(command: number, outcome: Outcome): void {
    const wish = [...this.#wished.values()].find((other) => other.command === command);
    if (!wish) throw new Error("an answer to what nobody wanted");
    if (wish.outcome !== null) throw new Error("a wish has ended twice");
    const isLate = outcome.type === "refused" && outcome.code === "stale_prompt";
    wish.outcome = isLate ? "late" : outcome.type;
  }

  /** Every question was answered once, and every answer of the person that could arrive has. */
  #check(): void {
    const { state } = this.#core;
    if (state.open.length > 0) throw new Error(`still open: ${JSON.stringify(state.open)}`);
    if (this.#backSince) throw new Error("it has not come back");
    const { answers } = this.#server;
    const by = new Map(answers.map((answer) => [answer.prompt, answer]));
    if (by.size !== answers.length) throw new Error("a move was doubled");
    for (const { prompt, by: who } of answers) {
      if (who === "player" && !this.#wished.has(prompt)) throw new Error("nobody wanted a move");
    }
    for (const [prompt, wish] of this.#wished) {
      const answer = by.get(prompt);
      if (!answer) throw new Error(`the answer to ${prompt} was lost`);
      const took = answer.by === "player";
      const fits = { done: took, overtaken: true, late: !took, dropped: !took }[wish.outcome ?? ""];
      if (!fits) throw new Error(`${prompt} by ${answer.by}, and the person reads ${wish.outcome}`);
      if (!took && this.#couldArrive(wish.at, answer.at)) {
        throw new Error(`the answer to ${prompt} was lost, and the clock played`);
      }
    }
    if (this.#isBehind) throw new Error("the table is not current");
    const off = this.#core.serverTime(this.#now - this.#stoppedMs) - this.#now;
    if (Math.abs(off) > CLOCK_MS) throw new Error(`the client's server time is off by ${off} ms`);
    if (state.table?.view.pot !== this.#server.pot) throw new Error("the view is not the table's");
  }

  get #isBehind(): boolean {
    return this.#core.state.table?.version !== this.#server.version;
  }

  /** Whether the connection worked long enough in between. */
  #couldArrive(from: number, to: number): boolean {
    return this.#worked.some(
      (time) => Math.min(time.to, to) - Math.max(time.from, from) > CARRIED_MS,
    );
  }

  /** Notes whether the connection works, after whatever has happened. */
  #noteWork(): void {
    const isBack = !this.#isAsleep && !this.#link.isCut && this.#backSince === null;
    const works = isBack && this.#core.state.link.type === "live";
    const last = this.#worked.at(-1);
    const isOn = last?.to === Number.POSITIVE_INFINITY;
    if (works && !isOn) this.#worked.push({ from: this.#now, to: Number.POSITIVE_INFINITY });
    if (!works && last && isOn) last.to = this.#now;
  }

  #below(number: number): number {
    return Math.floor(this.#random() * number);
  }

  #random(): number {
    const [a = 0, b = 0, c = 0] = this.#bytes(3);
    return (65_536 * a + 256 * b + c) / 2 ** 24;
  }
}
