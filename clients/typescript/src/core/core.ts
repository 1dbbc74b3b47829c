// The client's behaviour without a clock, network or randomness of its own: it takes inputs with their time,
// and returns lists of effects. The README describes both.
//
// The parts: `session` holds the sign-in, `connection` the socket; `table` and `observe` follow the table;
// `outbox` and `commands` hold commands until their outcome. This module combines them.

import type { Event, Message } from "../gen/socket.js";
import type { GameModel } from "../games/model.js";
import { resolveIntent, isTableIntent } from "./commands.js";
import { Connection } from "./connection.js";
import { COMMAND_RETRY_MS, HALTED_RETRY_MS, SLEPT_MS, TAGS_MAX, GAPS_MAX, ROOMS_MAX } from "./limits.js";
import { isComplete } from "./news.js";
import { gameToReveal } from "./observe.js";
import { JOIN_ID, type TablePosition } from "./sockets.js";
import { LoadedModels } from "./models.js";
import { Outbox } from "./outbox.js";
import { Requests } from "./requests.js";
import { Session } from "./session.js";
import { hexOf } from "./table_events.js";
import { Timers } from "./timers.js";
import {
  type Seed, checkCommitment, fromSnapshot, fromStored, fromUpdate, gameOf, toStored,
} from "./table.js";
import type {
  CommandNumber, CoreOptions, Effect, Input, Intent, Outcome, State, StoreKey, TableState, Notification, Wish,
} from "./types.js";
import { FORMS } from "./wire.js";

type Join = "wanted" | "sent" | "joined" | "no_table";

export class Core {
  readonly #options: CoreOptions;
  readonly #models: LoadedModels;
  readonly #session: Session;
  readonly #connection: Connection;
  readonly #timers = new Timers();
  #now: number;
  #wall: number;
  #effects: Effect[] = [];
  readonly #requests: Requests;
  #state: State;
  readonly #outbox: Outbox;
  #seed: (Seed & { readonly player: string }) | null;
  #join: Join = "wanted";
  #joinId: number | null = null;
  /** True after a gap in the versions: updates are ignored until a snapshot arrives. */
  #hasGap = false;
  #gaps = 0;
  /** The tags of the table's last versions. */
  #tags = new Map<number, string>();
  /** The subject of the connection's snapshots and updates. */
  #subject: "table" | "watched" = "table";
  #watching: string | null = null;
  /** The server's clock minus the monotonic one, in ms. */
  #offsetMs: number;

  constructor(options: CoreOptions) {
    this.#options = options;
    this.#now = options.now ?? 0;
    this.#wall = options.wall ?? this.#now;
    const effect = (effect: Effect): unknown => this.#effects.push(effect);
    const schedule = (ms: number, act: () => void) => this.#timers.schedule(this.#now + ms, act);
    const base = options.base.replace(/\/$/, "");
    this.#models = new LoadedModels(options.games, options.loadsGames ?? false, effect);
    this.#requests = new Requests({ schedule, effect }, base);
    const { device, session, table, seed } = options.stored ?? {};
    const core = this;
    const host = {
      get now(): number { return core.#now; },
      get wall(): number { return core.#wall; },
      random: options.random,
      jitter: (ms: number): number => this.#jitter(ms),
      schedule,
      request: (...request: Parameters<Requests["send"]>) => this.#requests.send(...request),
      store: (key: StoreKey, value: string | null) => this.#store(key, value),
      effect,
    };
    this.#session = new Session(host, options.name ?? null, device ?? null, session ?? null);
    const forms = options.forms ?? FORMS;
    this.#connection = new Connection(host, this.#session, base, this.#models.known, forms, {
      tablePosition: () => this.#tablePosition(),
      authenticated: (hasJoined) => (hasJoined ? this.#recordJoin(JOIN_ID) : this.#sendJoin()),
      message: (message) => this.#handleMessage(message),
      isPrompted: () => (this.#state.table?.prompt?.legal.length ?? 0) > 0,
      hasUnanswered: () => this.#joinId !== null || this.#outbox.hasUnanswered,
      lost: () => this.#handleLost(),
      link: (link) => {
        this.#setState({ link, player: this.#session.player });
        this.#notify({ type: "link", link });
      },
    });
    this.#offsetMs = this.#session.offsetMs;
    this.#outbox = new Outbox({
      table: () => this.#state.table,
      isReady: (intent) => (isTableIntent(intent) ? this.#join === "joined" : this.#isAuthenticated),
      hasNoTable: () => this.#join === "no_table",
      send: (intent) => this.#connection.send(intent as Parameters<Connection["send"]>[0]),
      sent: () => this.#connection.expectAnswer(),
      open: (open) => this.#setState({ open }),
      ended: (command, intent, outcome) => this.#handleEnded(command, intent, outcome),
    });
    const { player } = this.#session;
    this.#seed = seed ? (JSON.parse(seed) as Seed & { player: string }) : null;
    this.#state = {
      link: { type: "off" },
      player,
      table: fromStored(table ?? null, player?.id ?? null),
      seek: null,
      hint: null,
      watched: null,
      open: [],
      notices: null,
    };
    this.#connection.setKind(this.#state.table?.view.kind ?? null);
  }

  /** The device's secret, which signs the player in; null until it is drawn. */
  get device(): string | null {
    return this.#session.device;
  }

  get state(): State {
    return this.#state;
  }

  /** The time at which to call `handle` with a timer; null for never. */
  get wakeAt(): number | null {
    return this.#timers.next;
  }

  /** Returns the server's time at a time of the caller's clock. */
  serverTime(now: number): number {
    return now + this.#offsetMs;
  }

  /**
   * Handles an input and returns its effects. `now` is of a monotonic clock, which may stand still in sleep;
   * `wall` is of a clock that may be set.
   */
  handle(now: number, input: Input, wall = now): Effect[] {
    const sleptMs = wall - this.#wall - (now - this.#now);
    this.#now = Math.max(this.#now, now);
    this.#wall = wall;
    if (sleptMs > SLEPT_MS) {
      this.#session.markStale();
      this.#connection.markStale();
    }
    this.#dispatch(input);
    const effects = this.#effects;
    this.#effects = [];
    return effects;
  }

  #dispatch(input: Input): void {
    switch (input.type) {
      case "start":
        return this.#start();
      case "stop":
        return this.#stop();
      case "wake":
        this.#timers.run(this.#now);
        return this.#connection.wake();
      case "timer":
        return this.#timers.run(this.#now);
      case "answered":
        return this.#requests.complete(input.request, input);
      case "unanswered":
        return this.#requests.complete(input.request, null);
      case "opened":
        return this.#connection.handleOpen(input.socket, input.protocol);
      case "received":
        return this.#connection.handleData(input.socket, input.data);
      case "closed":
        return this.#connection.handleClose(input.socket, input.code);
      case "command":
        return this.#handleCommand(input.command, input.wish);
      case "shared":
        return this.#session.adoptTokens(input.session);
      case "join":
        return this.#requestJoin();
      case "sign_in":
        return this.#signIn(input.call, input.path, input.body);
      case "forget":
        this.#session.forgetDevice();
        this.#outbox.giveUp();
        return this.#clearPlayer();
      case "game_loaded":
        return this.#handleGameLoaded(input.kind, input.model);
      case "call":
        return this.#session.call(input, (answer) => {
          this.#effects.push({ type: "called", call: input.call, answer });
        });
    }
  }

  #start(): void {
    // The model of the stored table's game is loaded in parallel with the connection.
    const { table } = this.#state;
    if (table) this.#models.requestModel(table.view.kind);
    this.#connection.start();
  }

  // Commands.

  #handleCommand(command: CommandNumber, wish: Wish): void {
    const intent = this.#resolveIntent(wish);
    if (!intent) {
      this.#notify({ type: "ended", command, intent: wish, outcome: { type: "dropped" } });
      return;
    }
    this.#outbox.add(command, intent);
    if (intent.type === "seek") {
      const seek = { ticket: null, rooms: intent.rooms, state: "asking", reason: null, expiresAt: null } as const;
      this.#setState({ seek });
    }
    if (intent.type === "watch") this.#watching = intent.table;
    if (intent.type === "unwatch") {
      this.#watching = null;
      this.#setState({ watched: null });
    }
    this.#outbox.send();
  }

  /** Returns a wish bound to the present prompt, or null if there is nothing to apply it to. */
  #resolveIntent(wish: Wish): Intent | null {
    const { table } = this.#state;
    const player = this.#session.player?.id ?? null;
    if (wish.type === "say" && this.#join !== "joined") return null;
    return resolveIntent(wish, table, player, this.#outbox, (game, text) => this.#seedText(game, player ?? "", text));
  }

  /** Returns the text that this client commits to: one for each game, also if `ready` is sent again. */
  #seedText(game: string, player: string, given: string | undefined): string {
    if (this.#seed?.game !== game || this.#seed.player !== player) {
      const text = given ?? hexOf(this.#options.random(16));
      this.#seed = { game, text, player };
      this.#store("seed", JSON.stringify(this.#seed));
      const { table } = this.#state;
      if (table?.deal?.game === game) this.#keepTable({ ...table, deal: { ...table.deal, text } });
    }
    return this.#seed.text;
  }

  #handleEnded(command: CommandNumber | null, intent: Intent, outcome: Outcome): void {
    if (intent.type === "seek" && outcome.type === "refused") this.#setState({ seek: null });
    if (intent.type === "watch" && outcome.type === "refused") this.#watching = null;
    if (command !== null) this.#notify({ type: "ended", command, intent, outcome });
  }

  // The connection.

  get #isAuthenticated(): boolean {
    const { type } = this.#connection.link;
    return type === "joining" || type === "live" || type === "weak";
  }

  #handleLost(): void {
    this.#outbox.forgetIds();
    this.#join = "wanted";
    this.#joinId = null;
    const { table, watched } = this.#state;
    if (table?.current) this.#setState({ table: { ...table, current: false } });
    if (watched?.current) this.#setState({ watched: { ...watched, current: false } });
  }

  /** Joins again on this connection; without one, the next connection joins by itself. */
  #requestJoin(): void {
    if (!this.#isAuthenticated) return;
    if (this.#join === "sent") {
      // The pending `join` may be answered with an older state.
      this.#timers.schedule(this.#now + COMMAND_RETRY_MS, () => this.#requestJoin());
      return;
    }
    this.#connection.beginRejoin();
    this.#sendJoin();
  }

  #sendJoin(): void {
    this.#recordJoin(this.#connection.send({ type: "join", ...this.#tablePosition() }));
  }

  /** Records that a `join` with this id has been sent. */
  #recordJoin(id: number | null): void {
    this.#join = "sent";
    this.#subject = "table";
    this.#joinId = id;
    this.#connection.expectAnswer();
  }

  /** Returns the position from which a `join` resumes, or null to request a snapshot. */
  #tablePosition(): TablePosition | null {
    const { table } = this.#state;
    if (!table || this.#hasGap) return null;
    return { from: table.version, tag: table.tag, table: table.view.table };
  }

  #handleMessage(message: Message): void {
    switch (message.type) {
      case "hello":
        return this.#handleHello(message);
      case "snapshot":
        return this.#handleSnapshot(message);
      case "update":
        this.#handleUpdate(message);
        // An update that is ignored, as after a gap, still answers its command.
        if (message.ack != null) this.#handleAck(message.ack, message.version);
        return;
      case "said":
        return this.#notify({ type: "said", player: message.player, phrase: message.phrase });
      case "advice":
        return this.#handleAdvice(message);
      case "closed":
        return this.#handleClosed(message.reason);
      case "ticket":
        return this.#handleTicket(message);
      case "ack":
        return this.#handleAck(message.id, message.version ?? null);
      case "refusal":
        return this.#handleRefusal(message);
      case "invited":
      case "standing":
        if (isComplete(message)) this.#notify(message);
        return;
      default:
        // Messages of later versions are ignored.
        return;
    }
  }

  #handleHello(message: Extract<Message, { type: "hello" }>): void {
    const { player } = this.#session;
    this.#offsetMs = message.server_time_ms - this.#now;
    this.#setState({ notices: message.notices ?? null, player });
    this.#session.renewAhead(() => this.#isAuthenticated);
    const kind = this.#state.table?.view.kind;
    if (kind !== undefined && this.#models.requestModel(kind)) this.#connection.pauseReading();
  }

  #handleSnapshot(message: Extract<Message, { type: "snapshot" }>): void {
    const isTable = this.#subject === "table";
    const before = isTable ? this.#state.table : this.#state.watched;
    const current = isTable ? this.#join === "joined" : true;
    const after = fromSnapshot(message, before, this.#seed, current);
    this.#hasGap = false;
    this.#offsetMs = message.server_time_ms - this.#now;
    this.#connection.setKind(after.view.kind);
    const change = { before: before?.view ?? null, after: after.view, events: [], snapshot: true };
    if (isTable) {
      this.#tags.clear();
      this.#keepTable(after);
      this.#notify({ type: "table", ...change, catchingUp: !current });
      this.#followUp([]);
    } else {
      this.#setState({ watched: after });
      this.#notify({ type: "watched", ...change });
    }
    if (this.#models.requestModel(after.view.kind)) this.#connection.pauseReading();
    else this.#ensureReadable(after.view.kind);
  }

  /** Switches to the full form for a game without a model: the short forms need one. */
  #ensureReadable(kind: string): void {
    if (!this.#models.known.has(kind) && this.#connection.form !== "bahay.v1") this.#connection.useFullForm();
  }

  #handleGameLoaded(kind: string, model: GameModel | null): void {
    this.#models.addLoaded(kind, model);
    const { table, watched } = this.#state;
    const shown = (this.#subject === "table" ? table : watched)?.view.kind;
    if (shown === undefined || shown === kind) {
      if (shown === kind) this.#ensureReadable(kind);
      this.#connection.resumeReading();
    }
  }

  #handleUpdate(message: Extract<Message, { type: "update" }>): void {
    const isTable = this.#subject === "table";
    const before = isTable ? this.#state.table : this.#state.watched;
    if (!before || this.#hasGap) return this.#handleGap();
    // Another connection, which joined from an earlier version, has already delivered this update.
    const isKnown = message.version <= before.version && this.#tags.get(message.version) === message.tag;
    if (isTable && this.#join === "sent" && isKnown) return;
    const model = this.#models.find(before.view.kind);
    const isShort = this.#connection.form !== "bahay.v1";
    const after = fromUpdate(message, before, model, isShort, this.#seed);
    if (!after) return this.#handleGap();
    // A missed update carries the time at which it happened, and a late one an earlier time, so only an
    // increase counts.
    if (before.current) this.#offsetMs = Math.max(this.#offsetMs, message.server_time_ms - this.#now);
    const { events } = message;
    const change = { before: before.view, after: after.view, events, snapshot: false };
    if (!isTable) {
      this.#setState({ watched: after });
      this.#notify({ type: "watched", ...change });
      return;
    }
    this.#keepTable(after);
    this.#notify({ type: "table", ...change, catchingUp: !before.current });
    this.#followUp(events);
    // Only its model understands a game's events; without one a snapshot is requested.
    if (!model && events.some(({ type }) => type === "game" || type === "opened")) {
      this.#hasGap = true;
      this.#requestJoin();
    }
  }

  /** Handles a missing update, which a server must never cause, by requesting a snapshot. */
  #handleGap(): void {
    if (this.#hasGap) return;
    this.#hasGap = true;
    this.#gaps += 1;
    if (this.#gaps < GAPS_MAX) this.#requestJoin();
  }

  #followUp(events: readonly Event[]): void {
    const { table } = this.#state;
    if (!table) return;
    for (const event of events) {
      if (event.type !== "over" || event.server_seed === null) continue;
      const check = checkCommitment(event.game, event.server_seed, table.deal);
      this.#notify({ type: "deal", game: event.game, check });
    }
    const left = events.find((event) => event.type === "left" && table.view.seat === null);
    if (left?.type === "left") {
      this.#endSeat(left.reason);
      return;
    }
    const game = gameToReveal(table.view);
    const isOwn = game !== null && this.#seed?.game === game;
    if (isOwn && this.#seed && !this.#outbox.has("reveal", game)) {
      this.#outbox.add(null, { type: "reveal", game, text: this.#seed.text });
    }
    if (this.#join === "joined") this.#outbox.send();
  }

  #handleClosed(reason: "voided" | "lost"): void {
    if (this.#subject === "watched") {
      this.#watching = null;
      this.#setState({ watched: null });
      return;
    }
    this.#endSeat(reason);
  }

  /** Shows advice, unless its prompt has been answered meanwhile, as by the clock. */
  #handleAdvice({ game, prompt, action, by }: Extract<Message, { type: "advice" }>): void {
    const open = this.#state.table?.prompt;
    if (open?.game !== game || open.number !== prompt) return;
    const hint = { game, prompt, action, by };
    this.#setState({ hint });
    this.#notify({ type: "hint", hint });
  }

  #handleTicket(message: Extract<Message, { type: "ticket" }>): void {
    const { ticket, state, rooms, table, reason, expires_at_ms } = message;
    this.#setState({
      seek: { ticket, rooms, state, reason: reason ?? null, expiresAt: expires_at_ms },
    });
    this.#notify({ type: "seek", state, table: table ?? null });
    if (state === "seated") this.#requestJoin();
  }

  #handleAck(id: number, version: number | null): void {
    if (id === this.#joinId) return this.#handleJoined();
    const intent = this.#outbox.findIntent(id);
    if (intent?.type === "watch") {
      this.#subject = "watched";
      this.#join = "no_table";
    }
    if (intent?.type === "reveal") this.#recordRevealed();
    this.#outbox.acknowledge(id, version);
  }

  #handleRefusal(message: Extract<Message, { type: "refusal" }>): void {
    const { id, code, retryable } = message;
    if (id === null) return;
    if (id === this.#joinId) return this.#handleJoinRefusal(code, retryable);
    const isPending = this.#outbox.handleRefusal(id, message);
    if (isPending) this.#timers.schedule(this.#now + this.#jitter(2 * COMMAND_RETRY_MS), () => this.#outbox.send());
  }

  #handleJoined(): void {
    this.#join = "joined";
    this.#joinId = null;
    this.#gaps = 0;
    const { table, seek } = this.#state;
    if (table) this.#keepTable({ ...table, current: true });
    if (seek?.state === "asking" || seek?.state === "waiting") this.#setState({ seek: { ...seek, state: "seated" } });
    this.#watching = null;
    this.#setState({ watched: null });
    this.#connection.confirmTable();
    this.#followUp([]);
  }

  #handleJoinRefusal(code: string, retryable: boolean): void {
    this.#joinId = null;
    if (retryable || code === "table_halted") {
      if (!retryable) this.#notify({ type: "unseated", reason: "halted" });
      this.#join = "wanted";
      const pause = retryable ? 2 * COMMAND_RETRY_MS : HALTED_RETRY_MS;
      this.#timers.schedule(this.#now + this.#jitter(pause), () => {
        if (this.#join === "wanted") this.#requestJoin();
      });
      if (!retryable) this.#connection.confirmTable();
      return;
    }
    this.#endSeat("not_seated");
    this.#connection.confirmTable();
  }

  /** Handles the end of the seat; a search or the watching of another table continues. */
  #endSeat(reason: Extract<Notification, { type: "unseated" }>["reason"]): void {
    this.#join = "no_table";
    this.#hasGap = false;
    const { table, seek } = this.#state;
    if (table) {
      this.#setState({ table: null });
      this.#store("table", null);
    }
    if (table || reason !== "not_seated") this.#notify({ type: "unseated", reason });
    this.#connection.setKind(null);
    const isSeeking = seek?.state === "waiting" || seek?.state === "asking";
    // The rooms are those of the server's last ticket, and a request with others than it reads would be refused.
    const isReadable = seek !== null && seek.rooms.length > 0 && seek.rooms.length <= ROOMS_MAX;
    if (isSeeking && isReadable && !this.#outbox.has("seek")) {
      this.#outbox.add(null, { type: "seek", rooms: seek.rooms });
    }
    const watched = this.#watching;
    if (watched !== null && !this.#outbox.has("watch")) {
      this.#outbox.add(null, { type: "watch", table: watched });
    }
    this.#outbox.send();
  }

  #recordRevealed(): void {
    const { table } = this.#state;
    if (table?.deal?.game === this.#seed?.game && table?.deal) {
      this.#keepTable({ ...table, deal: { ...table.deal, revealed: true } });
    }
  }

  // Beside the table.

  #stop(): void {
    this.#connection.stop();
    this.#outbox.giveUp();
    this.#setState({ seek: null });
  }

  #signIn(call: number, path: string, body: unknown): void {
    const request = { method: "POST", path, headers: {}, body };
    this.#session.signIn(request, (answer) => {
      if (answer.ok) {
        this.#clearPlayer();
        this.#connection.start();
      }
      this.#effects.push({ type: "called", call, answer });
    });
  }

  /** Ends the connection and removes the player's state. */
  #clearPlayer(): void {
    this.#connection.stop();
    this.#setState({ table: null, seek: null, watched: null, player: this.#session.player });
    this.#store("table", null);
  }

  #keepTable(table: TableState): void {
    this.#setState({ table });
    this.#tags.set(table.version, table.tag);
    const [oldest] = this.#tags.keys();
    if (this.#tags.size > TAGS_MAX && oldest !== undefined) this.#tags.delete(oldest);
    this.#store("table", toStored(table, this.#session.player?.id ?? null));
    if (this.#seed && gameOf(table.view) !== this.#seed.game && table.current) {
      this.#seed = null;
      this.#store("seed", null);
    }
  }

  #store(key: StoreKey, value: string | null): void {
    this.#effects.push({ type: "store", key, value });
  }

  #notify(notification: Notification): void {
    this.#effects.push({ type: "notify", notification });
  }

  #setState(partial: Partial<State>): void {
    this.#state = { ...this.#state, ...partial };
    const { hint, table } = this.#state;
    const isOpen = table?.prompt?.game === hint?.game && table?.prompt?.number === hint?.prompt;
    if (hint && !isOpen) this.#state = { ...this.#state, hint: null };
  }

  #jitter(ms: number): number {
    const [byte = 0, other = 0] = this.#options.random(2);
    return (ms * (1 + (256 * byte + other) / 65_536)) / 2;
  }
}
