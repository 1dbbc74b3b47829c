// Holds the core to a tape (clients/tapes/README.md): it is the clock, the network and the door of
// the server, and compares what the client says and shows with what the tape says.

import { createHash } from "node:crypto";

import { Core, GAMES, type Effect, type Input, type State, type Notification } from "../src/index.js";
import { encodeMessage } from "./encode.js";
import { saidIn } from "./request.js";

/** What the client's clocks are ahead of the server's: it has to find that out. */
const AHEAD_MS = 5_000_000;
const TOKEN_MS = 15 * 60_000;
const PING_IDS = 1_000_000;
/** For so long the same refresh token gives the same successor. */
const REUSE_MS = 60_000;
/** Timers that run before the next line; far more than any client needs. */
const RUNS_MAX = 100_000;
/** What the client takes the server's time for is off by less, once it is current. */
const CLOCK_MS = 1_000;
const ENTRY_ID = 0;

type Json = Readonly<Record<string, unknown>>;

type Net = "up" | "down" | "dead" | "portal";

/** A refresh token that was given. */
interface Refresh {
  readonly access: string;
  readonly givenAt: number;
  usedAt: number | null;
  successor: Json | null;
}

interface Line extends Json {
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

/** What was played, for a summary. */
export interface Played {
  readonly lines: number;
  readonly connections: number;
  readonly shows: number;
}

/** Sees everything that the client tells, and what it knows then. */
export type Look = (told: Notification, state: State) => void;

/** Plays a tape; throws where the client does something else, with the number of the line. */
export function play(text: string, look: Look = () => undefined): Played {
  const lines = text.trimEnd().split("\n").map((line) => JSON.parse(line) as Line);
  const player = new Player(lines[0] ?? {}, look);
  lines.slice(1).forEach((line, place) => {
    try {
      player.line(line);
    } catch (error) {
      throw new Error(`line ${place + 2}: ${(error as Error).message}\n${JSON.stringify(line)}`);
    }
  });
  player.nothingMore();
  return { lines: lines.length, connections: player.connections, shows: player.shows };
}

class Player {
  readonly #form: string;
  readonly #core: Core;
  #now = 0;
  /** Of the line that happens now. */
  #at = 0;
  #ahead = AHEAD_MS;
  #wallAhead = 0;
  #inputs: Input[] = [];
  #isAsleep = false;
  #stops = false;
  #net: Net = "up";
  /** The connection was lost while the machine slept, without a word. */
  #isStale = false;
  /** Sockets that wait to be opened, oldest first. */
  #waiting: number[] = [];
  /** What the requests for sockets say; it is said when they open. */
  #requests = new Map<number, readonly Json[]>();
  #socket: number | null = null;
  #before: number | null = null;
  #said: Json[] = [];
  #ended: Extract<Notification, { type: "ended" }>[] = [];
  #wishes = 0;
  #tokens = 0;
  #good = new Set<string>();
  #refreshes = new Map<string, Refresh>();
  #losesRefresh = false;
  #id = "";
  connections = 0;
  shows = 0;

  readonly #look: Look;

  constructor({ tape, form }: Line, look: Look) {
    this.#look = look;
    if (tape !== 2) throw new Error(`a tape of version ${String(tape)}`);
    this.#form = String(form);
    const options = { base: "http://tape", random: randomBytes(), games: GAMES, now: AHEAD_MS };
    this.#core = new Core(options);
  }

  line(line: Line): void {
    if (line.at === undefined) {
      this.#must(line);
      return;
    }
    this.nothingMore();
    this.#at = line.at;
    this.#until(line.at);
    this.#happens(line);
  }

  /** Everything that was said and ended has been named. */
  nothingMore(): void {
    if (this.#said.length > 0) throw new Error(`also said: ${JSON.stringify(this.#said)}`);
    if (this.#ended.length > 0) throw new Error(`also ended: ${JSON.stringify(this.#ended)}`);
  }

  #happens(line: Line): void {
    if (line.do) this.#do(line.do, line);
    else if (line.enter) this.#enter(line.enter.within);
    else if (line.heard !== undefined || line.bytes !== undefined) this.#hear(line);
    else if (line.close !== undefined) this.#close(line.close);
    else if (line.net) this.#change(line.net);
    else if (line.noticed) this.#notice();
    else if (line.clock !== undefined) this.#wallAhead += line.clock;
    else if (line.refresh === "unanswered") this.#losesRefresh = true;
    else if (line.refresh) this.#refresh([...this.#refreshes.keys()].at(-1) ?? "");
    else if (line.sleep) this.#sleep(line.stops ?? false);
    else if (line.expire) this.#good.clear();
    else if (line.link) same("link", this.#core.state.link.type, line.link);
    else throw new Error("an unknown line");
  }

  #must({ send, show, current, unseated, end }: Line): void {
    if (send) {
      same("said", this.#said.shift(), send);
    } else if (show) {
      const { table } = this.#core.state;
      if (!table) throw new Error("no table is shown");
      const { version, tag, view, prompt } = table;
      const found = { version, tag, digest: digest({ view, prompt }) };
      this.shows += 1;
      if (found.digest !== show.digest) {
        throw new Error(`shown: ${canonical({ view, prompt })}`);
      }
      same("shown", found, show);
    } else if (current) {
      same("current", this.#core.state.table?.current, true);
      this.#seeClock();
    } else if (unseated) {
      same("shown", this.#core.state.table, null);
    } else if (end) {
      const ended = this.#ended.shift();
      const found = ended && { wish: ended.command, outcome: ended.outcome.type };
      same("ended", found, end);
    } else {
      throw new Error("an unknown line");
    }
  }

  #do(wish: Json, { player }: Line): void {
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

  #change(net: Net): void {
    this.#net = net;
    if (net === "dead") this.#isStale = true;
  }

  #sleep(stops: boolean): void {
    this.#isAsleep = this.#isStale = true;
    this.#stops = stops;
  }

  #notice(): void {
    const { type } = this.#core.state.link;
    if (type === "live") throw new Error("the client has not noticed that the connection is dead");
  }

  /** Whether the client knows what time it is, unless it was told late. */
  #seeClock(): void {
    if (this.#now - this.#at >= CLOCK_MS) return;
    const off = this.#core.serverTime(this.#now + this.#ahead) - this.#now;
    if (Math.abs(off) > CLOCK_MS) throw new Error(`the client's server time is off by ${off} ms`);
  }

  #enter(within: number): void {
    const end = this.#now + within;
    for (;;) {
      const socket = this.#waiting.pop();
      if (socket === undefined) {
        this.#step(end);
        continue;
      }
      this.#open(socket);
      while (this.#said.length === 0 && this.#socket === socket) this.#step(end);
      // It was opened into a dead network, and is given up before a token is there.
      if (this.#said.length === 0) continue;
      const { token, ...entry } = this.#said.shift() ?? {};
      same("said first", entry, { type: "authenticate", id: ENTRY_ID });
      if (this.#good.has(String(token))) return;
      this.#said = [];
      const detail = "the access token has expired; use the refresh token";
      const refusal = { type: "refusal", id: ENTRY_ID, code: "token_expired", detail };
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
    this.#said.push(...(this.#requests.get(socket) ?? []));
    this.#input({ type: "opened", socket, protocol: this.#form });
  }

  #hear({ heard, bytes, on }: Line): void {
    const data = heard ?? Uint8Array.from(Buffer.from(bytes ?? "", "hex"));
    if (on === "before") {
      const { state } = this.#core;
      if (this.#before !== null) this.#input({ type: "received", socket: this.#before, data });
      if (this.#core.state !== state) throw new Error("an old message changed something");
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

  /** Lets time pass, with the client's timers unless it sleeps. */
  #until(at: number): void {
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
      if (runs > RUNS_MAX) throw new Error("the client's timers run again and again");
      this.#now = Math.max(this.#now, next);
      this.#input({ type: "timer" });
    }
    this.#now = Math.max(this.#now, at);
  }

  /** To the next timer, if it comes in time. */
  #step(end: number): void {
    const next = this.#timer();
    if (next === null || next > end) throw new Error(`the client did not come in time: ${JSON.stringify(this.#core.state.link)}, ${String(next)}`);
    this.#until(next);
  }

  #timer(): number | null {
    return this.#core.wakeAt === null ? null : Math.ceil(this.#core.wakeAt) - this.#ahead;
  }

  /** What an effect brings about comes after all effects that were given with it. */
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
          this.#requests.set(effect.socket, saidIn(effect.url, effect.protocols));
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
        this.#hearFromClient(effect.socket, JSON.parse(effect.text) as Json);
        break;
      case "request":
        this.#answer(effect.request, effect.url, effect.body);
        break;
      case "notify":
        if (effect.notification.type === "ended") this.#ended.push(effect.notification);
        this.#look(effect.notification, this.#core.state);
        break;
      case "store":
      case "called":
        break;
    }
  }

  #hearFromClient(socket: number, command: Json): void {
    if (command["type"] === "ping") {
      const id = command["id"] as number;
      if (id < PING_IDS) throw new Error("a ping has a number of a million or more");
      if (this.#net !== "up" || this.#isStale || socket !== this.#socket) return;
      this.#input({ type: "received", socket, data: encodeMessage([id], this.#form) });
      return;
    }
    if (socket !== this.#socket) throw new Error(`said on another connection: ${String(command)}`);
    this.#said.push(command);
  }

  #answer(request: number, url: string, body: string | null): void {
    // Of one into the void the client itself knows when to wait no longer.
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
    const said = JSON.parse(body ?? "{}") as Json;
    if (url.endsWith("/v1/token/refresh")) {
      const token = String(said["refresh_token"]);
      const given = this.#refreshes.get(token);
      const isYoung = given && this.#now - given.givenAt < REUSE_MS && this.#good.has(given.access);
      if (isYoung) throw new Error("a token that is seconds old was renewed");
      const tokens = this.#refresh(token);
      if (this.#losesRefresh) this.#input({ type: "unanswered", request });
      else if (tokens) reply(200, tokens);
      else reply(401, { code: "refresh_token_reused", detail: "" }, "application/problem+json");
      this.#losesRefresh = false;
    } else if (url.endsWith("/v1/sign-in/guest")) {
      if (String(said["device_id"]).length < 16) throw new Error("a device id is too short");
      reply(200, { ...this.#issue(), player: { id: this.#id, name: "player" } });
    } else {
      throw new Error(`an unexpected request: ${url}`);
    }
  }

  /** Gives the successor, also again for a while; null where the token was used long ago. */
  #refresh(token: string): Json | null {
    const refresh = this.#refreshes.get(token);
    if (!refresh) throw new Error(`nobody has the refresh token ${token}`);
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
    this.#good.add(access);
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

function same(what: string, found: unknown, expected: unknown): void {
  const [one, other] = [canonical(found ?? null), canonical(expected)];
  if (one !== other) throw new Error(`${what} ${one}, and not ${other}`);
}

export function digest(value: unknown): string {
  return createHash("sha256").update(canonical(value)).digest("hex").slice(0, 16);
}

/** Keys in order, no spaces, no nulls in objects. */
export function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (value === null || typeof value !== "object") return JSON.stringify(value ?? null);
  const fields = Object.entries(value).filter(([, field]) => field !== null && field !== undefined);
  fields.sort(([one], [other]) => (one < other ? -1 : 1));
  return `{${fields.map(([key, field]) => `${JSON.stringify(key)}:${canonical(field)}`).join(",")}}`;
}

/** Not random, so that a failure is the same each time; different at each call. */
export function randomBytes(seed = 1): (bytes: number) => Uint8Array {
  let state = seed;
  return (bytes) =>
    Uint8Array.from({ length: bytes }, () => {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
      return state >>> 24;
    });
}
