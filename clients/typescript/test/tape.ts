// Plays a tape against the core (clients/tapes/README.md): provides the clock, the network and the server's
// side of the connection, and compares the client's commands and state with those of the tape.

import { createHash } from "node:crypto";

import { Core, GAMES, type Effect, type Input, type State, type Notification } from "../src/index.js";
import { encodeMessage } from "./encode.js";
import { commandsInRequest } from "./request.js";

/** The client's clocks minus the server's; the client has to determine it. */
const AHEAD_MS = 5_000_000;
const TOKEN_MS = 15 * 60_000;
const PING_IDS = 1_000_000;
/** The time for which a used refresh token returns the same successor. */
const REUSE_MS = 60_000;
/** The bound of timer runs before the next line, far more than any client needs. */
const RUNS_MAX = 100_000;
/** The permitted error of the client's server time once it is current. */
const CLOCK_MS = 1_000;
const AUTHENTICATE_ID = 0;

type Json = Readonly<Record<string, unknown>>;

type Net = "up" | "down" | "dead" | "portal";

/** An issued refresh token. */
interface Refresh {
  readonly access: string;
  readonly givenAt: number;
  usedAt: number | null;
  successor: Json | null;
}

interface TapeLine extends Json {
  readonly at?: number;
  readonly do?: Json;
  readonly enter?: { readonly within: number };
  readonly heard?: string;
  readonly bytes?: string;
  readonly on?: "before";
  readonly close?: number;
  readonly net?: Net;
  readonly noticed?: boolean;
  readonly sleep?: boolean;
  readonly stops?: boolean;
  readonly clock?: number;
  readonly refresh?: "elsewhere" | "unanswered";
  readonly expire?: boolean;
  readonly link?: string;
  readonly send?: Json;
  readonly show?: { readonly version: number; readonly tag: string; readonly digest: string };
  readonly current?: boolean;
  readonly unseated?: boolean;
  readonly end?: { readonly wish: number; readonly outcome: string };
}

/** A summary of a played tape. */
export interface TapeSummary {
  readonly lines: number;
  readonly connections: number;
  readonly shows: number;
}

/** Receives every notification of the client with its state at that time. */
export type Observer = (told: Notification, state: State) => void;

/** Plays a tape; throws an error with the number of the line if the client deviates from it. */
export function play(text: string, observer: Observer = () => undefined): TapeSummary {
  const lines = text.trimEnd().split("\n").map((line) => JSON.parse(line) as TapeLine);
  const player = new Player(lines[0] ?? {}, observer);
  lines.slice(1).forEach((line, place) => {
    try {
      player.line(line);
    } catch (error) {
      throw new Error(`line ${place + 2}: ${(error as Error).message}\n${JSON.stringify(line)}`);
    }
  });
  player.assertNothingPending();
  return { lines: lines.length, connections: player.connections, shows: player.shows };
}

class Player {
  readonly #form: string;
  readonly #core: Core;
  #now = 0;
  /** The time of the present line. */
  #at = 0;
  #ahead = AHEAD_MS;
  #wallAhead = 0;
  #inputs: Input[] = [];
  #isAsleep = false;
  #stops = false;
  #net: Net = "up";
  /** True if the connection was lost while the machine slept, without notice. */
  #isStale = false;
  /** The sockets that wait to be opened, oldest first. */
  #waiting: number[] = [];
  /** The commands within each socket's request, which count as sent when the socket opens. */
  #requests = new Map<number, readonly Json[]>();
  #socket: number | null = null;
  #before: number | null = null;
  #sent: Json[] = [];
  #ended: Extract<Notification, { type: "ended" }>[] = [];
  #wishes = 0;
  #tokens = 0;
  #validTokens = new Set<string>();
  #refreshes = new Map<string, Refresh>();
  #dropsRefreshAnswer = false;
  #id = "";
  connections = 0;
  shows = 0;

  readonly #observer: Observer;

  constructor({ tape, form }: TapeLine, observer: Observer) {
    this.#observer = observer;
    if (tape !== 2) throw new Error(`a tape of version ${String(tape)}`);
    this.#form = String(form);
    const options = { base: "http://tape", random: randomBytes(), games: GAMES, now: AHEAD_MS };
    this.#core = new Core(options);
  }

  line(line: TapeLine): void {
    if (line.at === undefined) {
      this.#checkExpectation(line);
      return;
    }
    this.assertNothingPending();
    this.#at = line.at;
    this.#advanceTo(line.at);
    this.#applyEvent(line);
  }

  /** Checks that the tape has named every command and every outcome. */
  assertNothingPending(): void {
    if (this.#sent.length > 0) throw new Error(`also sent: ${JSON.stringify(this.#sent)}`);
    if (this.#ended.length > 0) throw new Error(`also ended: ${JSON.stringify(this.#ended)}`);
  }

  #applyEvent(line: TapeLine): void {
    if (line.do) this.#performWish(line.do, line);
    else if (line.enter) this.#expectConnection(line.enter.within);
    else if (line.heard !== undefined || line.bytes !== undefined) this.#deliver(line);
    else if (line.close !== undefined) this.#close(line.close);
    else if (line.net) this.#setNetwork(line.net);
    else if (line.noticed) this.#checkNoticed();
    else if (line.clock !== undefined) this.#wallAhead += line.clock;
    else if (line.refresh === "unanswered") this.#dropsRefreshAnswer = true;
    else if (line.refresh) this.#refresh([...this.#refreshes.keys()].at(-1) ?? "");
    else if (line.sleep) this.#fallAsleep(line.stops ?? false);
    else if (line.expire) this.#validTokens.clear();
    else if (line.link) assertSame("link", this.#core.state.link.type, line.link);
    else throw new Error("an unknown line");
  }

  #checkExpectation({ send, show, current, unseated, end }: TapeLine): void {
    if (send) {
      assertSame("command", this.#sent.shift(), send);
    } else if (show) {
      const { table } = this.#core.state;
      if (!table) throw new Error("no table is shown");
      const { version, tag, view, prompt } = table;
      const found = { version, tag, digest: digest({ view, prompt }) };
      this.shows += 1;
      if (found.digest !== show.digest) {
        throw new Error(`shown: ${canonical({ view, prompt })}`);
      }
      assertSame("shown", found, show);
    } else if (current) {
      assertSame("current", this.#core.state.table?.current, true);
      this.#checkClock();
    } else if (unseated) {
      assertSame("shown", this.#core.state.table, null);
    } else if (end) {
      const ended = this.#ended.shift();
      const found = ended && { wish: ended.command, outcome: ended.outcome.type };
      assertSame("ended", found, end);
    } else {
      throw new Error("an unknown line");
    }
  }

  #performWish(wish: Json, { player }: TapeLine): void {
    switch (wish["type"]) {
      case "start":
        this.#id = String(player);
        this.#input({ type: "start" });
        break;
      case "wake":
        this.#input({ type: "wake" });
        break;
      default:
        this.#wishes += 1;
        this.#input({ type: "command", command: this.#wishes, wish: wish as never });
    }
  }

  #setNetwork(net: Net): void {
    this.#net = net;
    if (net === "dead") this.#isStale = true;
  }

  #fallAsleep(stops: boolean): void {
    this.#isAsleep = this.#isStale = true;
    this.#stops = stops;
  }

  #checkNoticed(): void {
    const { type } = this.#core.state.link;
    if (type === "live") throw new Error("the client has not noticed that the connection is dead");
  }

  /** Checks the client's server time, unless the line was processed late. */
  #checkClock(): void {
    if (this.#now - this.#at >= CLOCK_MS) return;
    const off = this.#core.serverTime(this.#now + this.#ahead) - this.#now;
    if (Math.abs(off) > CLOCK_MS) throw new Error(`the client's server time is off by ${off} ms`);
  }

  #expectConnection(within: number): void {
    const end = this.#now + within;
    for (;;) {
      const socket = this.#waiting.pop();
      if (socket === undefined) {
        this.#advanceToNextTimer(end);
        continue;
      }
      this.#open(socket);
      while (this.#sent.length === 0 && this.#socket === socket) this.#advanceToNextTimer(end);
      // The socket was opened into a dead network, and abandoned before a token arrived.
      if (this.#sent.length === 0) continue;
      const { token, ...entry } = this.#sent.shift() ?? {};
      assertSame("first command", entry, { type: "authenticate", id: AUTHENTICATE_ID });
      if (this.#validTokens.has(String(token))) return;
      this.#sent = [];
      const detail = "the access token has expired; use the refresh token";
      const refusal = { type: "refusal", id: AUTHENTICATE_ID, code: "token_expired", detail };
      const data = encodeMessage({ ...refusal, retryable: false }, this.#form);
      this.#input({ type: "received", socket, data });
      if (this.#socket === socket) this.#close(4401);
    }
  }

  #open(socket: number): void {
    this.connections += 1;
    this.#before = this.#socket ?? this.#before;
    this.#socket = socket;
    this.#isStale = false;
    this.#sent.push(...(this.#requests.get(socket) ?? []));
    this.#input({ type: "opened", socket, protocol: this.#form });
  }

  #deliver({ heard, bytes, on }: TapeLine): void {
    const data = heard ?? Uint8Array.from(Buffer.from(bytes ?? "", "hex"));
    if (on === "before") {
      const { state } = this.#core;
      if (this.#before !== null) this.#input({ type: "received", socket: this.#before, data });
      if (this.#core.state !== state) throw new Error("a message of an old connection changed the state");
      return;
    }
    if (this.#socket === null) throw new Error("there is no connection");
    this.#input({ type: "received", socket: this.#socket, data });
  }

  #close(code: number): void {
    const socket = this.#socket;
    if (socket === null) throw new Error("there is no connection");
    this.#before = socket;
    this.#socket = null;
    this.#input({ type: "closed", socket, code, reason: "" });
  }

  /** Advances time with the client's timers, unless the client sleeps. */
  #advanceTo(at: number): void {
    if (this.#isAsleep) {
      const slept = Math.max(0, at - this.#now);
      this.#now += slept;
      if (this.#stops) this.#ahead -= slept;
      if (this.#stops) this.#wallAhead += slept;
    }
    this.#isAsleep = false;
    for (let runs = 0; ; runs += 1) {
      const next = this.#timer();
      if (next === null || next > at) break;
      if (runs > RUNS_MAX) throw new Error("the client's timers do not end");
      this.#now = Math.max(this.#now, next);
      this.#input({ type: "timer" });
    }
    this.#now = Math.max(this.#now, at);
  }

  /** Advances to the next timer, which must be due by `end`. */
  #advanceToNextTimer(end: number): void {
    const next = this.#timer();
    if (next === null || next > end) throw new Error(`the client did not connect in time: ${JSON.stringify(this.#core.state.link)}, ${String(next)}`);
    this.#advanceTo(next);
  }

  #timer(): number | null {
    return this.#core.wakeAt === null ? null : Math.ceil(this.#core.wakeAt) - this.#ahead;
  }

  /** Handles an input. An input caused by an effect waits until all effects of its input are handled. */
  #input(input: Input): void {
    this.#inputs.push(input);
    if (this.#inputs.length > 1) return;
    for (let [next] = this.#inputs; next; [next] = this.#inputs) {
      const now = this.#now + this.#ahead;
      for (const effect of this.#core.handle(now, next, now + this.#wallAhead)) this.#effect(effect);
      this.#inputs.shift();
    }
  }

  #effect(effect: Effect): void {
    switch (effect.type) {
      case "open":
        if (this.#net === "down" || this.#net === "portal") {
          this.#input({ type: "closed", socket: effect.socket, code: 1006, reason: "" });
        } else {
          this.#waiting.push(effect.socket);
          this.#requests.set(effect.socket, commandsInRequest(effect.url, effect.protocols));
        }
        break;
      case "close":
        this.#waiting = this.#waiting.filter((socket) => socket !== effect.socket);
        if (this.#socket === effect.socket) {
          this.#before = this.#socket;
          this.#socket = null;
        }
        break;
      case "send":
        this.#receiveCommand(effect.socket, JSON.parse(effect.text) as Json);
        break;
      case "request":
        this.#answer(effect.request, effect.url, effect.body);
        break;
      case "notify":
        if (effect.notification.type === "ended") this.#ended.push(effect.notification);
        this.#observer(effect.notification, this.#core.state);
        break;
      case "store":
      case "called":
        break;
    }
  }

  #receiveCommand(socket: number, command: Json): void {
    if (command["type"] === "ping") {
      const id = command["id"] as number;
      if (id < PING_IDS) throw new Error("the id of a ping is at least a million");
      if (this.#net !== "up" || this.#isStale || socket !== this.#socket) return;
      this.#input({ type: "received", socket, data: encodeMessage([id], this.#form) });
      return;
    }
    if (socket !== this.#socket) throw new Error(`sent on another connection: ${String(command)}`);
    this.#sent.push(command);
  }

  #answer(request: number, url: string, body: string | null): void {
    // A request into a dead network has no answer; the client's own timeout ends it.
    if (this.#net === "dead") return;
    if (this.#net === "down") {
      this.#input({ type: "unanswered", request });
      return;
    }
    const reply = (status: number, answer: unknown, contentType = "application/json"): void =>
      this.#input({ type: "answered", request, status, contentType, body: answer, retryAfterMs: null });
    if (this.#net === "portal") {
      reply(200, null, "text/html");
      return;
    }
    const parsed = JSON.parse(body ?? "{}") as Json;
    if (url.endsWith("/v1/token/refresh")) {
      const token = String(parsed["refresh_token"]);
      const given = this.#refreshes.get(token);
      const isYoung = given && this.#now - given.givenAt < REUSE_MS && this.#validTokens.has(given.access);
      if (isYoung) throw new Error("a token that is seconds old was renewed");
      const tokens = this.#refresh(token);
      if (this.#dropsRefreshAnswer) this.#input({ type: "unanswered", request });
      else if (tokens) reply(200, tokens);
      else reply(401, { code: "refresh_token_reused", detail: "" }, "application/problem+json");
      this.#dropsRefreshAnswer = false;
    } else if (url.endsWith("/v1/sign-in/guest")) {
      if (String(parsed["device_id"]).length < 16) throw new Error("a device id is too short");
      reply(200, { ...this.#issue(), player: { id: this.#id, name: "player" } });
    } else {
      throw new Error(`an unexpected request: ${url}`);
    }
  }

  /** Returns the successor, repeatedly for a time; null if the token was used long ago. */
  #refresh(token: string): Json | null {
    const refresh = this.#refreshes.get(token);
    if (!refresh) throw new Error(`unknown refresh token ${token}`);
    const { usedAt, successor } = refresh;
    if (usedAt !== null && this.#now - usedAt > REUSE_MS) return null;
    if (successor) return successor;
    refresh.usedAt = this.#now;
    refresh.successor = this.#issue();
    return refresh.successor;
  }

  #issue(): Json {
    this.#tokens += 1;
    const access = `access ${this.#tokens}`;
    const refresh = `refresh ${this.#tokens}`;
    this.#validTokens.add(access);
    this.#refreshes.set(refresh, { access, givenAt: this.#now, usedAt: null, successor: null });
    return {
      access_token: access,
      access_expires_at: new Date(this.#now + TOKEN_MS).toISOString(),
      refresh_token: refresh,
      refresh_expires_at: new Date(this.#now + 100 * TOKEN_MS).toISOString(),
      session: "session",
    };
  }
}

function assertSame(what: string, found: unknown, expected: unknown): void {
  const actual = canonical(found ?? null);
  const wanted = canonical(expected);
  if (actual !== wanted) throw new Error(`${what}: expected ${wanted}, found ${actual}`);
}

export function digest(value: unknown): string {
  return createHash("sha256").update(canonical(value)).digest("hex").slice(0, 16);
}

/** Returns canonical JSON: keys in order, no spaces, and no nulls in objects. */
export function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (value === null || typeof value !== "object") return JSON.stringify(value ?? null);
  const fields = Object.entries(value).filter(([, field]) => field !== null && field !== undefined);
  fields.sort(([one], [other]) => (one < other ? -1 : 1));
  return `{${fields.map(([key, field]) => `${JSON.stringify(key)}:${canonical(field)}`).join(",")}}`;
}

/**
 * Returns a deterministic generator, so that failures are reproducible; each call returns different bytes.
 */
export function randomBytes(seed = 1): (bytes: number) => Uint8Array {
  let state = seed;
  return (bytes) =>
    Uint8Array.from({ length: bytes }, () => {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
      return state >>> 24;
    });
}
