// A client on a phone in virtual time: random suspensions and cuts over a lossy link, against a model of the
// server that follows the protocol. No code is the server's own; situations that the tapes fix are produced
// here at every possible moment.
//
// The game is the smallest one that shows a lost or doubled move: two seats in turns, where each answer
// increments a counter. A person answers within some seconds, and otherwise the clock plays.

import { randomBytes } from "./tape.js";
import { type NetworkConditions, Link } from "./link.js";
import { commandsInRequest } from "./request.js";
import { ModelServer } from "./server.js";
import { Core, type Effect, type GameModel, type Input, type Outcome } from "../src/index.js";

export interface Report {
  readonly interruptions: number;
  readonly wishes: number;
  readonly done: number;
  readonly overtaken: number;
  /** The wishes sent after the clock had answered. */
  readonly late: number;
  readonly connections: number;
  /** The times from each return to a current table, sorted, in ms. */
  readonly recoveryMs: readonly number[];
}

interface View {
  readonly viewer: number | null;
  readonly hand: readonly number[];
  readonly turn: number;
  readonly count: number;
}

/** A game in which each answer increments a counter. */
export const countingModel: GameModel = {
  kind: "counting",
  shortEvents: { counted: ["seat", "count"] },
  packedFields: {},
  begin: (_rules, _seats, _starter, viewer) => ({ viewer, hand: [], turn: 0, count: 0 }),
  observe: (view, event) => {
    const { seat, count } = event as { seat: number; count: number };
    return { ...view, turn: 1 - seat, count };
  },
  prompt: (view) => ({ number: (view as View).count, seats: [(view as View).turn] }),
  legal: (view) => [{ type: "count", count: (view as View).count + 1 }],
  redeal: () => null,
};

interface SubmittedWish {
  readonly command: number;
  readonly at: number;
  outcome: string | null;
}

/** The time after which a working connection has delivered every pending command. */
const DELIVERED_MS = 4_000;

/** The kinds of interruptions of a phone. */
const INTERRUPTIONS = ["sleep", "cut", "cut_unnotified", "dead", "closed"] as const;

/**
 * The times within which a silently dead connection is detected: while a prompt is open or a command waits,
 * and otherwise.
 */
const DETECTED_URGENT_MS = 4_000;
const DETECTED_MS = 15_000;
/** The amount by which the phone's clock is set. */
const CLOCK_SET_MS = 3_600_000;
/** The permitted error of the client's server time: the duration of a packet. */
const CLOCK_MS = 1_000;

/** Runs one phone through the interruptions; throws if a move was lost or doubled. */
export function run(
  seed: number,
  interruptions: number,
  conditions: NetworkConditions,
  trace: (line: string) => void = () => undefined,
): Report {
  return new Phone(seed, conditions, trace).run(interruptions);
}

class Phone {
  readonly #bytes: (count: number) => Uint8Array;
  readonly #link: Link;
  readonly #server: ModelServer;
  readonly #core: Core;
  #now = 0;
  /** The time for which the monotonic clock has stood still in sleep. */
  #stoppedMs = 0;
  /** The wall clock minus the true time. */
  #wallAhead = 0;
  /** The time by which the client must have detected its dead connection. */
  #detectBy: number | null = null;
  /** True if nothing notifies the client of the network's return. */
  #isUnnotified = false;
  #isAsleep = false;
  /** The inputs that wait until the phone wakes. */
  #queued: Input[] = [];
  #nextThought = 0;
  #command = 0;
  /** The person's answers, by the number of the prompt. */
  #submitted = new Map<number, SubmittedWish>();
  /** The periods in which the connection worked and the phone was awake. */
  #connectedPeriods: { from: number; to: number }[] = [];
  #connections = 0;
  #recovering: { at: number; version: number } | null = null;
  /** True once a message sent after the return has arrived; before it, the table may be outdated. */
  #hasReceived = false;
  #recoveryMs: number[] = [];

  readonly #trace: (line: string) => void;

  constructor(seed: number, conditions: NetworkConditions, trace: (line: string) => void) {
    this.#trace = trace;
    this.#bytes = randomBytes(seed);
    this.#link = new Link(conditions, () => this.#random());
    this.#server = new ModelServer((socket, data, closed) => {
      this.#deliverFromServer(socket, data, closed);
    });
    this.#core = new Core({
      base: "http://model",
      random: randomBytes(seed + 1),
      games: [countingModel],
    });
  }

  run(interruptions: number): Report {
    this.#input({ type: "start" });
    this.#advanceTo(this.#now + 5_000);
    for (let left = interruptions; left > 0; left -= 1) {
      this.#advanceTo(this.#now + this.#randomBelow(6_000));
      this.#interrupt(INTERRUPTIONS[this.#randomBelow(INTERRUPTIONS.length)] ?? "cut");
    }
    // Open commands end once nothing more interferes.
    this.#nextThought = Number.POSITIVE_INFINITY;
    this.#advanceTo(this.#now + 120_000);
    // The server's last messages are in flight.
    for (let more = 10; more > 0 && this.#isBehind; more -= 1) this.#advanceTo(this.#now + 300);
    this.#check();
    const ended = (outcome: string): number =>
      [...this.#submitted.values()].filter((wish) => wish.outcome === outcome).length;
    return {
      interruptions,
      wishes: this.#submitted.size,
      done: ended("done"),
      overtaken: ended("overtaken"),
      late: ended("late") + ended("dropped"),
      connections: this.#connections,
      recoveryMs: this.#recoveryMs.sort((one, other) => one - other),
    };
  }

  #interrupt(kind: (typeof INTERRUPTIONS)[number]): void {
    const ms = 50 + this.#randomBelow(this.#randomBelow(10) === 0 ? 1_200_000 : 30_000);
    if (this.#randomBelow(20) === 0) this.#wallAhead = (this.#randomBelow(3) - 1) * CLOCK_SET_MS;
    switch (kind) {
      case "sleep": {
        this.#isAsleep = true;
        this.#recordConnectivity();
        // The network goes too, or it stays, and messages wait for the phone.
        const isGone = this.#randomBelow(2) === 0;
        if (isGone) this.#link.cut();
        this.#advanceTo(this.#now + ms);
        // On some systems the monotonic clock stops in sleep too.
        if (this.#randomBelow(2) === 0) this.#stoppedMs += ms;
        this.#link.restore();
        this.#isAsleep = false;
        this.#startRecovery();
        for (const input of this.#queued.splice(0)) this.#input(input);
        this.#input({ type: "wake" });
        break;
      }
      case "cut":
      case "cut_unnotified": {
        const lost = this.#link.cut();
        this.#recordConnectivity();
        if (kind === "cut" && this.#randomBelow(2) === 0) this.#reportClosed(lost);
        this.#advanceTo(this.#now + ms);
        this.#link.restore();
        this.#startRecovery();
        this.#input({ type: "wake" });
        break;
      }
      case "dead":
        this.#dropSilently(ms);
        break;
      case "closed":
        // The server shuts down, and another node takes over at once.
        this.#server.closeAll(1001);
        break;
    }
    if (!this.#core.state.table) throw new Error("the hand is not visible");
  }

  /** Drops all packets without notifying the client, neither of the loss nor of the network's return. */
  #dropSilently(ms: number): void {
    const { table, open, link } = this.#core.state;
    const isUrgent = open.length > 0 || (table?.prompt?.legal.length ?? 0) > 0;
    this.#link.cut();
    this.#recordConnectivity();
    if (link.type === "live") this.#detectBy = this.#now + (isUrgent ? DETECTED_URGENT_MS : DETECTED_MS);
    this.#advanceTo(this.#now + ms);
    this.#link.restore();
    this.#isUnnotified = true;
    this.#startRecovery();
    for (let more = 100; more > 0 && this.#recovering; more -= 1) this.#advanceTo(this.#now + 1_000);
    if (this.#recovering) throw new Error("the client does not recover by itself");
    this.#isUnnotified = false;
  }

  #startRecovery(): void {
    this.#recovering = { at: this.#now, version: this.#server.version };
    this.#hasReceived = false;
  }

  #reportClosed(sockets: readonly number[]): void {
    for (const socket of sockets) this.#input({ type: "closed", socket, code: 1006, reason: "" });
  }

  #advanceTo(end: number): void {
    for (;;) {
      const wakeAt = this.#isAsleep ? null : this.#wakeAt;
      const thought = this.#isAsleep ? null : this.#nextThought;
      const times = [wakeAt, thought, this.#link.next, this.#server.next];
      const next = times.reduce<number>((least, at) => Math.min(least, at ?? least), end);
      this.#now = Math.max(this.#now, next);
      this.#checkDetection();
      if (this.#now >= end) break;
      this.#link.run(this.#now);
      this.#server.run(this.#now);
      if (this.#isAsleep) continue;
      const due = this.#wakeAt;
      if (due !== null && due <= this.#now) this.#input({ type: "timer" });
      if (this.#nextThought <= this.#now) this.#actAsPlayer();
    }
    this.#now = end;
  }

  /** The time at which to wake the core, in true time. */
  get #wakeAt(): number | null {
    // The time is rounded up, so that no fraction is lost in the conversion.
    return this.#core.wakeAt === null ? null : Math.ceil(this.#core.wakeAt) + this.#stoppedMs;
  }

  #checkDetection(): void {
    if (this.#core.state.link.type !== "live") this.#detectBy = null;
    if (this.#detectBy === null || this.#now <= this.#detectBy) return;
    throw new Error("the client has not detected its dead connection");
  }

  /** Acts as a person who looks at the phone: an open prompt is answered once. */
  #actAsPlayer(): void {
    this.#nextThought = this.#now + 300 + this.#randomBelow(2_500);
    const { table } = this.#core.state;
    const prompt = table?.prompt;
    const [action] = prompt?.legal ?? [];
    if (!prompt || !action) return;
    if (this.#submitted.has(prompt.number)) return;
    this.#command += 1;
    this.#submitted.set(prompt.number, { command: this.#command, at: this.#now, outcome: null });
    this.#input({ type: "command", command: this.#command, wish: { type: "act", action } });
  }

  #input(input: Input): void {
    if (this.#isAsleep) {
      this.#queued.push(input);
      return;
    }
    this.#trace(`${this.#now} ${JSON.stringify(input)}`);
    const now = this.#now - this.#stoppedMs;
    for (const effect of this.#core.handle(now, input, this.#now + this.#wallAhead)) {
      if (effect.type !== "store") this.#trace(`  ${JSON.stringify(effect)}`);
      this.#effect(effect);
    }
    this.#checkRecovery();
    this.#recordConnectivity();
  }

  #checkRecovery(): void {
    const { table } = this.#core.state;
    if (!this.#recovering || !table?.current || table.version < this.#recovering.version) return;
    if (!this.#hasReceived) return;
    this.#trace(`${this.#now} recovered after ${this.#now - this.#recovering.at} ms`);
    if (!this.#isUnnotified) this.#recoveryMs.push(this.#now - this.#recovering.at);
    this.#recovering = null;
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
          (at) => this.#server.accept(at, socket),
          (at) => this.#server.handleRequest(at, socket, commandsInRequest(url, protocols)),
          () => {
            this.#connections += 1;
            this.#input({ type: "opened", socket, protocol: protocols[1] ?? "" });
          },
        );
        break;
      }
      case "send":
        this.#link.up(this.#now, effect.socket, effect.text.length, (at) => {
          this.#server.handleCommand(at, effect.socket, effect.text);
        });
        break;
      case "close":
        this.#link.up(this.#now, effect.socket, 8, () => this.#server.disconnect(effect.socket));
        break;
      case "notify":
        if (effect.notification.type === "ended") this.#recordOutcome(effect.notification.command, effect.notification.outcome);
        break;
      case "store":
      case "called":
        break;
    }
  }

  #deliverFromServer(socket: number, data: string | null, code: number): void {
    const sent = this.#now;
    this.#link.down(this.#now, socket, data?.length ?? 8, () => {
      if (this.#recovering && sent >= this.#recovering.at) this.#hasReceived = true;
      if (data !== null) this.#input({ type: "received", socket, data });
      else this.#input({ type: "closed", socket, code, reason: "" });
    });
  }

  #recordOutcome(command: number, outcome: Outcome): void {
    const wish = [...this.#submitted.values()].find((other) => other.command === command);
    if (!wish) throw new Error("an outcome of an unknown wish");
    if (wish.outcome !== null) throw new Error("a wish has ended twice");
    const isLate = outcome.type === "refused" && outcome.code === "stale_prompt";
    wish.outcome = isLate ? "late" : outcome.type;
  }

  /** Checks that every prompt was answered once, and that every answer that could arrive did. */
  #check(): void {
    const { state } = this.#core;
    if (state.open.length > 0) throw new Error(`still open: ${JSON.stringify(state.open)}`);
    if (this.#recovering) throw new Error("the client has not recovered");
    const { answers } = this.#server;
    const by = new Map(answers.map((answer) => [answer.prompt, answer]));
    if (by.size !== answers.length) throw new Error("a move was doubled");
    for (const { prompt, by: who } of answers) {
      if (who === "player" && !this.#submitted.has(prompt)) throw new Error("a move without a wish");
    }
    for (const [prompt, wish] of this.#submitted) {
      const answer = by.get(prompt);
      if (!answer) throw new Error(`the answer to ${prompt} was lost`);
      const took = answer.by === "player";
      const fits = { done: took, overtaken: true, late: !took, dropped: !took }[wish.outcome ?? ""];
      if (!fits) throw new Error(`${prompt} by ${answer.by}, but the outcome is ${wish.outcome}`);
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

  /** Returns whether the connection worked long enough between these times. */
  #couldArrive(from: number, to: number): boolean {
    return this.#connectedPeriods.some(
      (time) => Math.min(time.to, to) - Math.max(time.from, from) > DELIVERED_MS,
    );
  }

  /** Records whether the connection works. */
  #recordConnectivity(): void {
    const isBack = !this.#isAsleep && !this.#link.isCut && this.#recovering === null;
    const works = isBack && this.#core.state.link.type === "live";
    const last = this.#connectedPeriods.at(-1);
    const isOn = last?.to === Number.POSITIVE_INFINITY;
    if (works && !isOn) this.#connectedPeriods.push({ from: this.#now, to: Number.POSITIVE_INFINITY });
    if (!works && last && isOn) last.to = this.#now;
  }

  #randomBelow(number: number): number {
    return Math.floor(this.#random() * number);
  }

  #random(): number {
    const [a = 0, b = 0, c = 0] = this.#bytes(3);
    return (65_536 * a + 256 * b + c) / 2 ** 24;
  }
}
