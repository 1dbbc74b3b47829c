// The client that a page uses: the core, driven by a platform's network, clock and storage, with a promise
// for each command and request.

import { Core } from "../core/core.js";
import type {
  Action, Answer, CoreOptions, DealObservation, Effect, Input, Outcome, CallProblem, State, StoreKey, Notification, Wish,
} from "../core/types.js";
import { type DealCheck, type DealRecord, checkRecordedDeal, kindOf } from "../fair/deal.js";
import type { GameModel } from "../games/model.js";
import { OPEN, type Operations } from "../gen/rest.js";
import type { Phrase } from "../gen/socket.js";
import type { Platform, Socket } from "./platform.js";
import type { Form } from "../core/wire.js";

export interface ClientOptions {
  /** The server's origin, such as `https://house.example`; for a page mostly `location.origin`. */
  readonly base: string;
  readonly platform: Platform;
  /** The name of a new guest. */
  readonly name?: string;
  /** The games known from the start; `GAMES` has all of them. */
  readonly games: readonly GameModel[];
  /** Loads a further game's model, as from a file of its own; null or a rejection if it is not available. */
  readonly loadGame?: (kind: string) => Promise<GameModel | null>;
  readonly forms?: readonly Form[];
}

/** The answer to a request. The promise never rejects: without a network the code is `unreachable`. */
export type RestAnswer<T> =
  | { readonly ok: true; readonly status: number; readonly data: T }
  | { readonly ok: false; readonly status: number; readonly problem: CallProblem };

/** The arguments of an operation: exactly those that it takes, with the required ones required. */
export type RestArguments<Name extends keyof Operations> = Part<Name, "path"> &
  Part<Name, "query"> &
  Part<Name, "body"> & { readonly headers?: Readonly<Record<string, string>> };

type Part<Name extends keyof Operations, Key extends "path" | "query" | "body"> =
  Operations[Name][Key] extends undefined
    ? unknown
    : Key extends "query"
      ? { readonly query?: Operations[Name][Key] }
      : { readonly [K in Key]: Operations[Name][Key] };

export type Listener = (state: State, notifications: readonly Notification[]) => void;

/** The time for which a request for a seat waits until the socket is open. */
const SOCKET_TIMEOUT_MS = 10_000;

/** The number of deals whose observations are kept. */
const DEALS_MAX = 20;

const STORED: readonly StoreKey[] = ["device", "seed", "session", "table"];

export class Client {
  readonly #platform: Platform;
  readonly #core: Core;
  readonly #sockets = new Map<number, Socket>();
  readonly #listeners = new Set<Listener>();
  readonly #commands = new Map<number, (outcome: Outcome) => void>();
  readonly #calls = new Map<number, (answer: Answer) => void>();
  readonly #deals = new Map<string, DealObservation>();
  readonly #games: Map<string, GameModel>;
  readonly #loadGame: (kind: string) => Promise<GameModel | null>;
  #numbers = 0;
  #stopTimer: (() => void) | null = null;
  #stopWaking: (() => void) | null = null;
  /** Sends a session to the other tabs of this installation; an empty text requests theirs. */
  readonly #sendToTabs: (text: string) => void;
  #inputs: Input[] = [];
  #isBusy = false;

  constructor({ base, platform, name, games, loadGame, forms }: ClientOptions) {
    this.#platform = platform;
    this.#games = new Map(games.map((model) => [model.kind, model]));
    this.#loadGame = loadGame ?? (() => Promise.resolve(null));
    const options: CoreOptions = {
      base,
      random: (bytes) => platform.random(bytes),
      now: platform.now(),
      wall: platform.wall(),
      stored: Object.fromEntries(STORED.map((key) => [key, platform.load(key)])),
      ...(name === undefined ? {} : { name }),
      games,
      loadsGames: loadGame !== undefined,
      ...(forms === undefined ? {} : { forms }),
    };
    this.#core = new Core(options);
    this.#sendToTabs = platform.share?.((text) => this.#handleTabMessage(text)) ?? (() => undefined);
    this.#sendToTabs("");
  }

  get state(): State {
    return this.#core.state;
  }

  /** Returns the server's time in ms, in which deadlines are given. */
  serverNow(): number {
    return this.#core.serverTime(this.#platform.now());
  }

  /** Calls the listener after every change, and returns a function that unsubscribes it. */
  subscribe(listener: Listener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Signs in, connects, and stays connected; also takes over from a newer tab. */
  start(): void {
    this.#stopWaking ??= this.#platform.onWake(() => this.wake());
    this.#dispatch({ type: "start" });
  }

  stop(): void {
    this.#stopWaking?.();
    this.#stopWaking = null;
    this.#dispatch({ type: "stop" });
  }

  /** Checks the connection after the page became visible or the network returned. */
  wake(): void {
    this.#dispatch({ type: "wake" });
  }

  ready(): Promise<Outcome> {
    return this.#sendWish({ type: "ready" });
  }

  act(action: Action): Promise<Outcome> {
    return this.#sendWish({ type: "act", action });
  }

  takeBack(): Promise<Outcome> {
    return this.#sendWish({ type: "take_back" });
  }

  leave(): Promise<Outcome> {
    return this.#sendWish({ type: "leave" });
  }

  /** Requests a bot's advice, which arrives as `state.hint`; only at practice tables. */
  hint(): Promise<Outcome> {
    return this.#sendWish({ type: "hint" });
  }

  say(phrase: Phrase): Promise<Outcome> {
    return this.#sendWish({ type: "say", phrase });
  }

  seek(rooms: readonly string[]): Promise<Outcome> {
    return this.#sendWish({ type: "seek", rooms });
  }

  cancelSeek(): Promise<Outcome> {
    return this.#sendWish({ type: "cancel_seek" });
  }

  watch(table: string): Promise<Outcome> {
    return this.#sendWish({ type: "watch", table });
  }

  unwatch(): Promise<Outcome> {
    return this.#sendWish({ type: "unwatch" });
  }

  /** Takes a seat in a room at once, and joins. */
  async takeSeat(room: string): Promise<RestAnswer<{ readonly table: string }>> {
    const answer = await this.#retryWithSocket(() => this.rest("POST /v1/rooms/{room}/seat", { path: { room } }));
    if (answer.ok) this.#dispatch({ type: "join" });
    return answer;
  }

  /** Takes a seat at a private table, and joins. */
  async takePrivateSeat(code: string): Promise<RestAnswer<unknown>> {
    const answer = await this.#retryWithSocket(() =>
      this.rest("POST /v1/private-tables/{code}/seat", { path: { code } }),
    );
    if (answer.ok) this.#dispatch({ type: "join" });
    return answer;
  }

  /** Opens a private table, and joins it. */
  async openPrivateTable(
    body: Operations["POST /v1/private-tables"]["body"],
  ): Promise<RestAnswer<Operations["POST /v1/private-tables"]["answer"]>> {
    const answer = await this.#retryWithSocket(() => this.rest("POST /v1/private-tables", { body }));
    if (answer.ok) this.#dispatch({ type: "join" });
    return answer;
  }

  /** Takes a seat at the rematch of a finished game, which the first request opens, and joins. */
  async rematch(
    game: string,
  ): Promise<RestAnswer<Operations["POST /v1/games/{id}/rematch"]["answer"]>> {
    const answer = await this.#retryWithSocket(() =>
      this.rest("POST /v1/games/{id}/rematch", { path: { id: game } }),
    );
    if (answer.ok) this.#dispatch({ type: "join" });
    return answer;
  }

  /** Claims the player's seat at the present table of a tournament, and joins it. */
  async takeTournamentSeat(
    id: string,
  ): Promise<RestAnswer<Operations["GET /v1/tournaments/{id}/table"]["answer"]>> {
    const answer = await this.#retryWithSocket(() =>
      this.rest("GET /v1/tournaments/{id}/table", { path: { id } }),
    );
    if (answer.ok) this.#dispatch({ type: "join" });
    return answer;
  }

  /** Opens a practice table, with bots and without coins, and joins. */
  async practise(
    body: Operations["POST /v1/practice-tables"]["body"],
  ): Promise<RestAnswer<Operations["POST /v1/practice-tables"]["answer"]>> {
    const answer = await this.#retryWithSocket(() => this.rest("POST /v1/practice-tables", { body }));
    if (answer.ok) this.#dispatch({ type: "join" });
    return answer;
  }

  /**
   * Requests a seat. The server keeps a seat only for a player whose socket is open, so without one this
   * waits for the socket and retries.
   */
  async #retryWithSocket<T>(ask: () => Promise<RestAnswer<T>>): Promise<RestAnswer<T>> {
    const answer = await ask();
    if (answer.ok || answer.problem.code !== "socket_required") return answer;
    await this.#waitForSocket();
    return ask();
  }

  /** Resolves when the socket is open, or after a timeout. */
  #waitForSocket(): Promise<void> {
    return new Promise((resolve) => {
      const isLive = () => this.state.link.type === "live" || this.state.link.type === "joining";
      if (isLive()) return resolve();
      let forget: (() => void) | null = null;
      const end = () => {
        unsubscribe();
        forget?.();
        resolve();
      };
      const unsubscribe = this.subscribe(() => {
        if (isLive()) end();
      });
      forget = this.#platform.timer(SOCKET_TIMEOUT_MS, end);
    });
  }

  /** Signs in with a password or an external account. */
  signIn(
    path: "/v1/sign-in/password" | "/v1/sign-in/openid",
    body: unknown,
  ): Promise<RestAnswer<unknown>> {
    return this.#call((call) => ({ type: "sign_in", call, path, body }));
  }

  /** Ends the session at the server, and forgets it. */
  async signOut(): Promise<RestAnswer<null>> {
    const answer = await this.rest("POST /v1/sign-out", {});
    if (answer.ok) this.forget();
    return answer;
  }

  /**
   * Forgets the player, and stops. A device that signs its player in by itself gets a new secret, so the next
   * `start` signs in another player.
   */
  forget(): void {
    this.#dispatch({ type: "forget" });
    this.stop();
  }

  /**
   * Proves the ownership of the account by its device, for calls with the header `account-proof`. A player
   * with a password or an identity uses it with `POST /v1/me/proof` instead.
   */
  proveByDevice(): Promise<RestAnswer<Operations["POST /v1/me/proof"]["answer"]>> {
    const device_id = this.#core.device ?? "";
    return this.rest("POST /v1/me/proof", { body: { by: "device", device_id } });
  }

  /** Performs an operation of openapi.yaml, authenticated. */
  rest<Name extends keyof Operations>(
    name: Name,
    given: RestArguments<Name>,
  ): Promise<RestAnswer<Operations[Name]["answer"]>> {
    const [method = "GET", template = "/"] = name.split(" ");
    const { path, query, body, headers } = given as {
      path?: Readonly<Record<string, string>>;
      query?: Readonly<Record<string, unknown>>;
      body?: unknown;
      headers?: Readonly<Record<string, string>>;
    };
    const filled = template.replace(/\{(\w+)\}/g, (_, key: string) =>
      encodeURIComponent(path?.[key] ?? ""),
    );
    const pairs = Object.entries(query ?? {}).filter(([, value]) => value !== undefined);
    const parameters = pairs.map(([key, value]) => `${key}=${encodeURIComponent(String(value))}`);
    const whole = parameters.length > 0 ? `${filled}?${parameters.join("&")}` : filled;
    const isOpen = OPEN.has(name);
    const call = { method, path: whole, headers: headers ?? {}, body: body ?? null, isOpen };
    return this.#call((number) => ({ type: "call", call: number, ...call })) as Promise<
      RestAnswer<Operations[Name]["answer"]>
    >;
  }

  /** Returns the client's own observations of a recent deal, or null without any. */
  dealObservation(game: string): DealObservation | null {
    return this.#deals.get(game) ?? null;
  }

  /** Recomputes the deal of a finished game, and compares it with the client's own observations. */
  async checkDeal(game: string): Promise<RestAnswer<DealCheck>> {
    const answer = await this.rest("GET /v1/games/{id}/record", { path: { id: game } });
    if (!answer.ok) return answer;
    const record = answer.data as unknown as DealRecord;
    try {
      const model = await this.#modelOf(kindOf(record));
      return { ...answer, data: checkRecordedDeal(record, model, this.dealObservation(game)) };
    } catch (error) {
      // The record has a form that this client cannot read.
      const problem = { code: "unreachable", detail: String(error), retryAfterMs: null };
      return { ok: false, status: answer.status, problem };
    }
  }

  /** Returns a game's model, loaded if necessary; null if it is not available. */
  async #modelOf(kind: string): Promise<GameModel | null> {
    const known = this.#games.get(kind);
    if (known) return known;
    const model = await this.#loadGame(kind).catch(() => null);
    if (model) this.#games.set(kind, model);
    return model;
  }

  #sendWish(wish: Wish): Promise<Outcome> {
    this.#numbers += 1;
    const command = this.#numbers;
    return new Promise((resolve) => {
      this.#commands.set(command, resolve);
      this.#dispatch({ type: "command", command, wish });
    });
  }

  #call(input: (call: number) => Input): Promise<Answer> {
    this.#numbers += 1;
    const call = this.#numbers;
    return new Promise((resolve) => {
      this.#calls.set(call, resolve);
      this.#dispatch(input(call));
    });
  }

  /** Handles inputs one after the other, also if an effect causes the next. */
  #dispatch(input: Input): void {
    this.#inputs.push(input);
    if (this.#isBusy) return;
    this.#isBusy = true;
    try {
      for (let next = this.#inputs.shift(); next; next = this.#inputs.shift()) this.#handle(next);
    } finally {
      this.#isBusy = false;
    }
    this.#setTimer();
  }

  #handle(input: Input): void {
    const before = this.#core.state;
    const effects = this.#core.handle(this.#platform.now(), input, this.#platform.wall());
    for (const effect of effects) this.#effect(effect);
    this.#recordDeal();
    const notifications = effects.flatMap((effect) => (effect.type === "notify" ? [effect.notification] : []));
    if (notifications.length > 0 || this.#core.state !== before) {
      for (const listener of [...this.#listeners]) listener(this.#core.state, notifications);
    }
    for (const notification of notifications) {
      if (notification.type !== "ended") continue;
      this.#commands.get(notification.command)?.(notification.outcome);
      this.#commands.delete(notification.command);
    }
  }

  /** Keeps the observations of the last deals. */
  #recordDeal(): void {
    const deal = this.state.table?.deal;
    if (!deal || this.#deals.get(deal.game) === deal) return;
    this.#deals.set(deal.game, deal);
    const [oldest] = this.#deals.keys();
    if (this.#deals.size > DEALS_MAX && oldest !== undefined) this.#deals.delete(oldest);
  }

  #effect(effect: Effect): void {
    switch (effect.type) {
      case "request": {
        const { request } = effect;
        this.#platform.fetch(effect).then(
          (answer) => this.#dispatch({ type: "answered", request, ...answer }),
          () => this.#dispatch({ type: "unanswered", request }),
        );
        break;
      }
      case "open":
        this.#open(effect.socket, effect.url, effect.protocols);
        break;
      case "send":
        this.#sockets.get(effect.socket)?.send(effect.text);
        break;
      case "close":
        this.#sockets.get(effect.socket)?.close();
        this.#sockets.delete(effect.socket);
        break;
      case "store":
        this.#platform.store(effect.key, effect.value);
        if (effect.key === "session" && effect.value !== null) this.#sendToTabs(effect.value);
        break;
      case "called":
        this.#calls.get(effect.call)?.(effect.answer);
        this.#calls.delete(effect.call);
        break;
      case "load_game": {
        const { kind } = effect;
        void this.#modelOf(kind).then((model) => this.#dispatch({ type: "game_loaded", kind, model }));
        break;
      }
      case "notify":
        break;
    }
  }

  #handleTabMessage(text: string): void {
    const own = text === "" ? this.#platform.load("session") : null;
    if (text !== "") this.#dispatch({ type: "shared", session: text });
    else if (own !== null) this.#sendToTabs(own);
  }

  #open(socket: number, url: string, protocols: readonly string[]): void {
    const closed = (code: number, reason: string): void => {
      this.#sockets.delete(socket);
      this.#dispatch({ type: "closed", socket, code, reason });
    };
    try {
      const opened = this.#platform.open(url, protocols, {
        opened: (protocol) => this.#dispatch({ type: "opened", socket, protocol }),
        received: (data) => this.#dispatch({ type: "received", socket, data }),
        closed,
      });
      this.#sockets.set(socket, opened);
    } catch (error) {
      closed(1006, String(error));
    }
  }

  #setTimer(): void {
    this.#stopTimer?.();
    const { wakeAt } = this.#core;
    if (wakeAt === null) return;
    const ms = wakeAt - this.#platform.now();
    this.#stopTimer = this.#platform.timer(ms, () => this.#dispatch({ type: "timer" }));
  }
}
