// A model of the server: one table with two seats, the client in seat 0, and the protocol of docs/PROTOCOL.md
// as far as a client can observe it. It writes `bahay.v1.brief`.

/** The time for an answer, after which the clock plays. */
const COUNTDOWN_MS = 20_000;
/** The time within which the other seat answers. */
const OTHER_MS = 1_500;
const TOKEN_MS = 15 * 60_000;
/** The time for which a used refresh token returns the same successor. */
const REUSE_MS = 60_000;
/** The largest number of updates with which a join resumes. */
const RESUMED_MAX = 64;
/** The ids of the one table, player and game. */
const TABLE = "019ca944-3c00-7000-8000-00000007ab1e";
const PLAYER = "019ca944-3c00-7000-8000-00000091a7e0";
const GAME = "019ca944-3c00-7000-8000-000000009a3e";
const TAG_DIGITS = 12;

type Json = Readonly<Record<string, unknown>>;

export interface AppliedAnswer {
  readonly at: number;
  readonly prompt: number;
  readonly by: "player" | "other" | "clock";
}

interface Update {
  readonly version: number;
  readonly tag: string;
  readonly at: number;
  readonly events: readonly unknown[];
}

interface Connection {
  player: boolean;
  joined: boolean;
  /**
   * True while the table is only shown: the player's other connections are replaced once this one sends a
   * command.
   */
  isPreview: boolean;
  /** The last time, version and countdown that were sent, from which updates write differences. */
  lastMs: number;
  lastVersion: number | null;
  countdownMs: number;
}

export class ModelServer {
  /** Every answer that took effect, in order. */
  readonly answers: AppliedAnswer[] = [];
  readonly #deliver: (socket: number, data: string | null, code: number) => void;
  readonly #connections = new Map<number, Connection>();
  readonly #journal: Update[] = [];
  readonly #accessExpiry = new Map<string, number>();
  /** The time at which each refresh token was issued. */
  readonly #issuedAt = new Map<string, number>();
  /** The time at which a refresh token was used, and its successor. */
  readonly #usedTokens = new Map<string, { readonly at: number; readonly successor: Json }>();
  #tokens = 0;
  #version = 1;
  #tag = "0".repeat(TAG_DIGITS);
  #count = 0;
  #deadline = COUNTDOWN_MS;
  #otherAt: number | null = null;
  #joined: number | null = null;

  /** `deliver` sends a text to a socket; a null text closes the socket with the code. */
  constructor(deliver: (socket: number, data: string | null, code: number) => void) {
    this.#deliver = deliver;
  }

  get version(): number {
    return this.#version;
  }

  /** A number that grows with every answer, so that it shows whether a view has followed all of them. */
  get pot(): number {
    return this.#count;
  }

  get next(): number | null {
    return this.#otherAt ?? this.#deadline;
  }

  run(now: number): void {
    if (this.#otherAt !== null && this.#otherAt <= now) this.#applyAnswer(now, "other");
    if (this.#otherAt === null && this.#deadline <= now) this.#applyAnswer(now, "clock");
  }

  answer(now: number, url: string, body: string | null): { status: number; body: unknown } {
    const request = JSON.parse(body ?? "{}") as Json;
    if (url.endsWith("/v1/token/refresh")) {
      const token = String(request["refresh_token"]);
      const used = this.#usedTokens.get(token);
      if (used && now - used.at > REUSE_MS) {
        return { status: 401, body: { code: "refresh_token_reused", detail: "" } };
      }
      const age = now - (this.#issuedAt.get(token) ?? 0);
      if (!used && age < REUSE_MS) throw new Error("a token that is seconds old was renewed");
      const successor = used?.successor ?? this.#issue(now);
      if (!used) this.#usedTokens.set(token, { at: now, successor });
      return { status: 200, body: successor };
    }
    return { status: 200, body: { ...this.#issue(now), player: { id: PLAYER, name: "p" } } };
  }

  accept(now: number, socket: number): void {
    const last = { lastMs: now, lastVersion: null, countdownMs: 0 };
    this.#connections.set(socket, { player: false, joined: false, isPreview: false, ...last });
  }

  /** Handles the commands within the request for a socket, as if they had been its first messages. */
  handleRequest(now: number, socket: number, commands: readonly Json[]): void {
    const connection = this.#connections.get(socket);
    if (!connection) return;
    for (const command of commands) {
      if (command["type"] === "authenticate") {
        this.#authenticate(now, socket, connection, String(command["token"]));
      } else if (connection.player) {
        connection.isPreview = true;
        this.#sendTable(now, socket, connection, command as Json & { id: number });
      }
    }
  }

  disconnect(socket: number): void {
    this.#connections.delete(socket);
    if (this.#joined === socket) this.#joined = null;
  }

  closeAll(code: number): void {
    for (const socket of [...this.#connections.keys()]) {
      this.#deliver(socket, null, code);
      this.disconnect(socket);
    }
  }

  handleCommand(now: number, socket: number, text: string): void {
    const connection = this.#connections.get(socket);
    if (!connection) return;
    const command = JSON.parse(text) as Json & { readonly type: string; readonly id: number };
    if (connection.isPreview) this.#connect(socket, connection);
    switch (command.type) {
      case "authenticate":
        this.#authenticate(now, socket, connection, String(command["token"]));
        break;
      case "join":
        this.#join(now, socket, connection, command);
        break;
      case "act":
        this.#act(now, socket, connection, command);
        break;
      case "ping":
        this.#send(socket, [command.id]);
        break;
      default:
        throw new Error(`an unexpected command: ${text}`);
    }
  }

  #authenticate(now: number, socket: number, connection: Connection, token: string): void {
    const expires = this.#accessExpiry.get(token);
    if (connection.player || expires === undefined || expires < now) {
      this.#refuse(socket, 0, "token_expired");
      this.#deliver(socket, null, 4401);
      this.disconnect(socket);
      return;
    }
    connection.player = true;
    connection.lastMs = now;
    const protocol = "bahay.v1.brief";
    this.#send(socket, { type: "hello", player: PLAYER, protocol, server_time_ms: now, notices: 0 });
    this.#send(socket, [0]);
  }

  #join(now: number, socket: number, connection: Connection, command: Json & { id: number }): void {
    if (!connection.player) throw new Error("the client joins before it authenticates");
    this.#connect(socket, connection);
    this.#sendTable(now, socket, connection, command);
  }

  /** Tells the table of the connection, which replaces the previous one. */
  #connect(socket: number, connection: Connection): void {
    connection.isPreview = false;
    if (this.#joined !== null && this.#joined !== socket) {
      this.#deliver(this.#joined, null, 4001);
      this.disconnect(this.#joined);
    }
    this.#joined = socket;
    connection.joined = true;
  }

  #sendTable(now: number, socket: number, connection: Connection, command: Json & { id: number }): void {
    const { from, tag, table } = command;
    const known = table === TABLE ? this.#updatesSince(Number(from), String(tag)) : null;
    if (known) for (const update of known) this.#update(socket, connection, update);
    else this.#snapshot(now, socket, connection);
    this.#send(socket, [command.id, this.#version]);
  }

  #act(now: number, socket: number, connection: Connection, command: Json & { id: number }): void {
    if (!connection.joined) this.#refuse(socket, command.id, "not_joined");
    else if (command["prompt"] !== this.#count) this.#refuse(socket, command.id, "stale_prompt");
    else if (this.#otherAt !== null) this.#refuse(socket, command.id, "not_asked");
    else this.#applyAnswer(now, "player", { socket, id: command.id });
  }

  /** Applies an answer; the update to the socket of a player's command acknowledges it. */
  #applyAnswer(now: number, by: AppliedAnswer["by"], command?: { readonly socket: number; readonly id: number }): void {
    const seat = this.#count % 2;
    this.answers.push({ at: now, prompt: this.#count, by });
    this.#count += 1;
    this.#version += 1;
    this.#tag = this.#version.toString(16).padStart(TAG_DIGITS, "0");
    this.#deadline = now + COUNTDOWN_MS;
    this.#otherAt = this.#count % 2 === 1 ? now + OTHER_MS : null;
    const events = [["counted", seat, this.#count], { type: "pot_refunded", pot: this.pot, shares: [] }];
    const update = { version: this.#version, tag: this.#tag, at: now, events };
    this.#journal.push(update);
    for (const [socket, connection] of this.#connections) {
      const acks = socket === command?.socket ? [command.id] : [];
      if (connection.joined || connection.isPreview) this.#update(socket, connection, update, acks);
    }
  }

  /** Returns the updates after a version, or null if they are not known. */
  #updatesSince(version: number, tag: string): Update[] | null {
    const isKnown =
      version === 1 || this.#journal.some((update) => update.version === version && update.tag === tag);
    const missed = this.#journal.filter((update) => update.version > version);
    return isKnown && missed.length <= RESUMED_MAX ? missed : null;
  }

  #update(socket: number, connection: Connection, { version, tag, at, events }: Update, acks: readonly number[] = []): void {
    const named = connection.lastVersion === version - 1 ? [] : [version];
    const countdown = ["countdown", COUNTDOWN_MS - connection.countdownMs];
    this.#send(socket, [...named, tag, at - connection.lastMs, ...events, countdown, ...acks]);
    Object.assign(connection, { lastMs: at, lastVersion: version, countdownMs: COUNTDOWN_MS });
  }

  #snapshot(now: number, socket: number, connection: Connection): void {
    const turn = this.#count % 2;
    const game = { viewer: 0, hand: [1, 2, 3], turn, count: this.#count };
    const seat = { player: PLAYER, name: "p", bot: false, connected: true, taken_over: false };
    const deadline_ms = this.#deadline;
    const phase = { type: "playing", game: GAME, stakes: [1, 1], deadline_ms, view: game };
    const view = {
      table: TABLE, terms: { rules: {} }, kind: "counting", seat: 0, seats: [seat, seat],
      pot: this.pot, crown: null, phase,
    };
    const legal = turn === 0 ? [{ type: "count", count: this.#count + 1 }] : [];
    const prompt = { game: GAME, number: this.#count, seats: [turn], deadline_ms, legal };
    const version = this.#version;
    const tag = this.#tag;
    this.#send(socket, { type: "snapshot", version, tag, server_time_ms: now, view, prompt });
    Object.assign(connection, { lastMs: now, lastVersion: version });
  }

  #refuse(socket: number, id: number, code: string): void {
    this.#send(socket, { type: "refusal", id, code, detail: code, retryable: false });
  }

  #send(socket: number, message: unknown): void {
    this.#deliver(socket, JSON.stringify(message), 0);
  }

  #issue(now: number): Json {
    this.#tokens += 1;
    this.#accessExpiry.set(`a${this.#tokens}`, now + TOKEN_MS);
    this.#issuedAt.set(`r${this.#tokens}`, now);
    return {
      access_token: `a${this.#tokens}`,
      access_expires_at: new Date(now + TOKEN_MS).toISOString(),
      refresh_token: `r${this.#tokens}`,
      refresh_expires_at: new Date(now + 100 * TOKEN_MS).toISOString(),
      session: "s",
    };
  }
}
