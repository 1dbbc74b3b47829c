// A test bench for the core: every input is given by hand, and its effects are recorded.

import {
  Core, type CoreOptions, type Effect, GAMES, type Input, type Link, type Outcome, type StoreKey,
  type Notification, type Wish,
} from "../src/index.js";
import { commandsInRequest } from "./request.js";
import { randomBytes } from "./tape.js";

export const PLAYER = "019ca944-3c00-7000-8000-00000091a7e0";
export const TABLE = "019ca944-3c00-7000-8000-00000007ab1e";
export const GAME = "019ca944-3c00-7000-8000-000000009a3e";
const TOKEN_MS = 15 * 60_000;

export type Json = Readonly<Record<string, unknown>>;

interface RecordedRequest {
  readonly request: number;
  readonly path: string;
  readonly body: Json;
  readonly headers: Json;
}

export class Bench {
  readonly core: Core;
  now = 1_000_000;
  /** The wall clock minus the monotonic one, in ms. */
  wallAhead = 0;
  /** The sockets being opened that no test has handled yet. */
  opening: number[] = [];
  /** The commands within each socket's request. */
  socketCommands = new Map<number, readonly Json[]>();
  requests: RecordedRequest[] = [];
  sent: { readonly socket: number; readonly command: Json }[] = [];
  notifications: Notification[] = [];
  closed: number[] = [];
  answers: Extract<Effect, { type: "called" }>[] = [];
  /** The kinds whose models were requested. */
  loads: string[] = [];
  url = "";
  protocols: readonly string[] = [];
  readonly stored = new Map<StoreKey, string>();
  /** True if the server answers pings at once. */
  answersPings = true;
  #inputs: Input[] = [];
  #commands = 0;
  #tokens = 0;

  constructor(options: Partial<CoreOptions> = {}) {
    const { now } = this;
    this.core = new Core({ base: "http://bench", random: randomBytes(), games: GAMES, now, ...options });
  }

  /** Returns a bench whose client is signed in and joined to a table in this view. */
  static joined(view: Json | null, options: Partial<CoreOptions> = {}): Bench {
    const bench = new Bench(options);
    bench.input({ type: "start" });
    bench.signIn();
    const socket = bench.openWithHello();
    if (view) {
      bench.snapshot(socket, 6, view);
      bench.receive(socket, { type: "ack", id: 1, version: 6 });
    } else {
      bench.receive(socket, refusal(1, "not_seated"));
    }
    bench.clearRecords();
    return bench;
  }

  get link(): Link["type"] {
    return this.core.state.link.type;
  }

  /** Handles an input. An input caused by an effect waits until all effects of its input are handled. */
  input(input: Input): void {
    this.#inputs.push(input);
    if (this.#inputs.length > 1) return;
    for (let [next] = this.#inputs; next; [next] = this.#inputs) {
      const effects = this.core.handle(this.now, next, this.now + this.wallAhead);
      for (const effect of effects) this.#effect(effect);
      this.#inputs.shift();
    }
  }

  sendWish(wish: Wish): number {
    this.#commands += 1;
    this.input({ type: "command", command: this.#commands, wish });
    return this.#commands;
  }

  /** Advances time, timer by timer. */
  advance(ms: number): void {
    const end = this.now + ms;
    for (;;) {
      const { wakeAt } = this.core;
      if (wakeAt === null || wakeAt > end) break;
      this.now = Math.max(this.now, wakeAt);
      this.input({ type: "timer" });
    }
    this.now = end;
  }

  /** Returns the time until the client opens a socket, or null if it opens none within `ms`. */
  timeToOpen(ms: number): number | null {
    const begin = this.now;
    this.opening = [];
    while (this.now - begin < ms) {
      if (this.opening.length > 0) return this.now - begin;
      const { wakeAt } = this.core;
      if (wakeAt === null || wakeAt - begin > ms) break;
      this.now = Math.max(this.now, wakeAt);
      this.input({ type: "timer" });
    }
    return this.opening.length > 0 ? this.now - begin : null;
  }

  /** Answers the oldest request. */
  answer(
    status: number,
    body: unknown,
    contentType = "application/json",
    retryAfterMs: number | null = null,
  ): RecordedRequest {
    const request = this.requests.shift();
    if (!request) throw new Error("no request is open");
    const { request: number } = request;
    this.input({ type: "answered", request: number, status, contentType, body, retryAfterMs });
    return request;
  }

  /** Answers the oldest request as a captive portal does. */
  answerAsPortal(): RecordedRequest {
    return this.answer(200, null, "text/html; charset=utf-8");
  }

  failRequest(): RecordedRequest {
    const request = this.requests.shift();
    if (!request) throw new Error("no request is open");
    this.input({ type: "unanswered", request: request.request });
    return request;
  }

  signIn(): RecordedRequest {
    return this.answer(200, { ...this.tokens(), player: { id: PLAYER, name: "Maria" } });
  }

  tokens(): Json {
    this.#tokens += 1;
    return {
      access_token: `access ${this.#tokens}`,
      access_expires_at: new Date(this.now + TOKEN_MS).toISOString(),
      refresh_token: `refresh ${this.#tokens}`,
      refresh_expires_at: new Date(this.now + 100 * TOKEN_MS).toISOString(),
      session: "s",
    };
  }

  /** Opens the newest socket and sends its hello. */
  openWithHello(): number {
    const socket = this.open();
    this.receive(socket, {
      type: "hello", player: PLAYER, protocol: "bahay.v1", server_time_ms: this.now, notices: 2,
    });
    this.receive(socket, { type: "ack", id: 0 });
    return socket;
  }

  open(): number {
    const socket = this.opening.pop();
    if (socket === undefined) throw new Error("no socket waits to be opened");
    for (const command of this.socketCommands.get(socket) ?? []) this.sent.push({ socket, command });
    this.input({ type: "opened", socket, protocol: "bahay.v1" });
    return socket;
  }

  close(socket: number, code: number): void {
    this.input({ type: "closed", socket, code, reason: "" });
  }

  receive(socket: number, message: Json): void {
    this.input({ type: "received", socket, data: JSON.stringify(message) });
  }

  snapshot(socket: number, version: number, view: Json, prompt: Json | null = null): void {
    const tag = version.toString(16).padStart(12, "0");
    const common = { type: "snapshot", version, tag, server_time_ms: this.now, view };
    this.receive(socket, prompt ? { ...common, prompt } : common);
  }

  /** Receives an update; `more` has its prompt and its ack. */
  update(socket: number, version: number, events: readonly Json[], more: Json = {}): void {
    const tag = version.toString(16).padStart(12, "0");
    const common = { type: "update", version, tag, server_time_ms: this.now, events };
    this.receive(socket, { ...common, ...more });
  }

  /** Takes the commands sent since the last call, without pings. */
  takeCommands(): Json[] {
    const commands = this.sent.map(({ command }) => command);
    this.sent = [];
    return commands.filter(({ type }) => type !== "ping");
  }

  /** Takes the outcomes of commands since the last call. */
  takeOutcomes(): [number, Outcome["type"]][] {
    const ends = this.notifications.flatMap((told) =>
      told.type === "ended" ? [[told.command, told.outcome.type] as [number, Outcome["type"]]] : [],
    );
    this.notifications = [];
    return ends;
  }

  clearRecords(): void {
    this.sent = [];
    this.notifications = [];
    this.closed = [];
    this.opening = [];
  }

  #recordCommand(socket: number, command: Json): void {
    this.sent.push({ socket, command });
    const { type, id } = command;
    if (type === "ping" && this.answersPings) this.receive(socket, { type: "ack", id });
  }

  #effect(effect: Effect): void {
    switch (effect.type) {
      case "open":
        this.opening.push(effect.socket);
        this.url = effect.url;
        this.protocols = effect.protocols;
        this.socketCommands.set(effect.socket, commandsInRequest(effect.url, effect.protocols));
        break;
      case "close":
        this.closed.push(effect.socket);
        this.opening = this.opening.filter((socket) => socket !== effect.socket);
        break;
      case "send":
        this.#recordCommand(effect.socket, JSON.parse(effect.text) as Json);
        break;
      case "request": {
        const { request, headers } = effect;
        const body = JSON.parse(effect.body ?? "{}") as Json;
        const path = `${effect.method} ${new URL(effect.url).pathname}`;
        this.requests.push({ request, path, body, headers });
        break;
      }
      case "store":
        if (effect.value === null) this.stored.delete(effect.key);
        else this.stored.set(effect.key, effect.value);
        break;
      case "notify":
        this.notifications.push(effect.notification);
        break;
      case "called":
        this.answers.push(effect);
        break;
      case "load_game":
        this.loads.push(effect.kind);
        break;
    }
  }
}

export function refusal(id: number, code: string, retryable = false): Json {
  return { type: "refusal", id, code, detail: code, retryable };
}

/** Returns a table in a phase. */
export function view(phase: Json, more: Json = {}): Json {
  const seat = { player: PLAYER, name: "Maria", bot: false, connected: true, taken_over: false };
  return {
    table: TABLE, terms: { rules: {} }, kind: "tongits", seat: 0, seats: [seat, seat, seat],
    pot: 0, crown: null, phase, ...more,
  };
}

export const PREPARING = {
  type: "preparing", game: GAME, commitment: "c0".repeat(32), deadline_ms: 9_999_999, ready: [],
};

/** A game in which the client's seat is to dump a card. */
export const PLAYING = {
  type: "playing", game: GAME, stakes: [1, 1, 1], deadline_ms: 9_999_999,
  view: {
    viewer: 0, hands: [["2C", "9C"], null, null], answers: [],
    public: {
      rules: { dump_addable: false, bahay: false, spread: false, fight_blocked_by: "anyone" },
      phase: { type: "play", seat: 0 }, prompt: 4, countdown: 4, hand_counts: [2, 12, 12],
      stock_count: 9, discards: [], melds: [], added_to: [], drew_last: null, shown: null, end: null,
    },
  },
};

export const PROMPT = {
  game: GAME, number: 4, seats: [0], deadline_ms: 9_999_999,
  legal: [{ type: "dump", card: "2C" }, { type: "dump", card: "9C" }],
};
