// The socket connection: opens, authenticates, supervises and reopens it.
//
// Sockets may race. If the one in use is in doubt, as after a phone's sleep or a change of network, others
// are opened at once while the first is pinged, and the first of all to answer is used. The first packet of a
// TCP connection is retransmitted only after a second, so the race saves much. After a server's shutdown no
// client races, because all of them reconnect at once.
//
// The first commands, `authenticate` and `join`, are sent in the request for the socket (`sockets.ts`), so
// that their answers arrive with it. The table learns of the connection from the first command sent on the
// socket, which is an immediate `ping`; an unused socket therefore disturbs no other. Until the table has
// arrived, a socket that has received more replaces the one in use.
//
// Without a token, all commands are sent together once the socket is open. A `ping` follows them, so that a
// lost packet is followed by one that arrives: TCP then retransmits after one round trip instead of two.

import { CLOSE_CODES } from "../gen/socket.js";
import type { Command, Message } from "../gen/socket.js";
import type { Models } from "../games/model.js";
import {
  ATTEMPT_TIMEOUT_MS, BACKOFF_MIN_MS, BACKOFF_MAX_MS, BACKOFF_LOST_MS, BACKOFF_TOO_FAST_MS, WAKE_MS, HEDGE_MS,
  FRESH_MS, LATE_COMMAND_MS, RACERS, PING_DELAY_MS, RETRY_MS, PROTOCOL_ERRORS_MAX, BUFFERED_MAX, FIRST_PING_ID,
  PAUSE_MAX_MS,
} from "./limits.js";
import type { Host, Session } from "./session.js";
import {
  AUTHENTICATE_ID, FIRST_ID, type TablePosition, type ActiveSocket, type PendingSocket, activateSocket, createPendingSocket, socketRequest,
} from "./sockets.js";
import type { Effect, Link } from "./types.js";
import { Watchdog } from "./watchdog.js";
import { type Form, MessageReader, answeredId, isForm } from "./wire.js";

/** A command without its id. */
export type CommandBody = Command extends infer C ? (C extends Command ? Omit<C, "id"> : never) : never;

export interface ConnectionEvents {
  /** Returns the known position in the table's history, for a `join` within the request for a socket. */
  tablePosition(): TablePosition | null;
  /**
   * Reports that `authenticate` has been sent, after which commands may follow. `hasJoined`: the `join` has
   * been sent too.
   */
  authenticated(hasJoined: boolean): void;
  message(message: Message): void;
  /** Returns whether the player has an open prompt. */
  isPrompted(): boolean;
  /** Returns whether a command sent on this connection has no answer yet. */
  hasUnanswered(): boolean;
  /** Reports that the connection is closed; another one may follow. */
  lost(): void;
  link(link: Link): void;
}

export class Connection {
  readonly #host: Host & { effect(effect: Effect): void };
  readonly #session: Session;
  readonly #events: ConnectionEvents;
  readonly #models: Models;
  readonly #url: string;
  #forms: readonly Form[];
  #link: Link = { type: "off" };
  #active: ActiveSocket | null = null;
  #pending = new Map<number, PendingSocket>();
  /** The time at which a connection was left whose `join` had no answer. */
  #leftAt = Number.NEGATIVE_INFINITY;
  #sockets = 0;
  /** The number of consecutive failed attempts. */
  #failures = 0;
  #protocolErrors = 0;
  /** The time before which the server has asked for no other request for a token. */
  #renewAt = Number.NEGATIVE_INFINITY;
  #kind: string | null = null;
  /** The messages received while a game's model is loaded; null if none is being loaded. */
  #buffered: (string | Uint8Array)[] | null = null;
  /** True while the first token is requested in parallel with the opening of a socket. */
  #isSigningIn = false;
  #stopPause: (() => void) | null = null;
  #stopAttempt: (() => void) | null = null;
  #stopHedge: (() => void) | null = null;
  readonly #watchdog: Watchdog;
  /** A moving average of the time that opening a socket takes, in ms. */
  #usualOpenMs = 600;

  constructor(
    host: Host & { effect(effect: Effect): void },
    session: Session,
    base: string,
    models: Models,
    forms: readonly Form[],
    events: ConnectionEvents,
  ) {
    this.#host = host;
    this.#session = session;
    this.#events = events;
    this.#models = models;
    this.#forms = forms;
    this.#url = `${base.replace(/^http/, "ws")}/v1/play`;
    this.#watchdog = new Watchdog(host, {
      isUrgent: () => events.isPrompted() || events.hasUnanswered(),
      ping: () => {
        if (this.#active?.authenticatedAt != null) this.#ping(this.#active);
      },
      openOthers: () => {
        if (this.#pending.size === 0) this.#race();
      },
      markWeak: () => {
        if (this.#link.type === "live") this.#setLink({ type: "weak" });
      },
      giveUp: () => {
        // Before the table has arrived, the attempt's own timeout applies.
        if (this.#link.type !== "weak") return;
        this.#closeActive();
        this.#connect();
      },
    });
  }

  get link(): Link {
    return this.#link;
  }

  get form(): Form | null {
    return this.#active?.reader.form ?? null;
  }

  start(): void {
    if (this.#isWanted) return;
    this.#failures = 0;
    this.#protocolErrors = 0;
    this.#connect();
  }

  stop(): void {
    this.#closeAll();
    this.#setLink({ type: "off" });
  }

  /** Checks the connection after the page became visible or the network returned. */
  wake(): void {
    if (!this.#isWanted) return;
    // A pending request or socket may wait for a network that is gone.
    this.#session.wake();
    const active = this.#active;
    if (active && this.#watchdog.missingMs < WAKE_MS) {
      const isOld = ({ since }: PendingSocket): boolean => this.#host.now - since > FRESH_MS;
      if ([...this.#pending.values()].some(isOld)) this.#race();
      this.#watchdog.checkNow();
      return;
    }
    this.#closeActive();
    this.#failures = 0;
    this.#connect(true);
  }

  /** Marks everything received as stale, after a sleep that the monotonic clock did not measure. */
  markStale(): void {
    this.#watchdog.markStale();
    for (const pending of this.#pending.values()) pending.since = Number.NEGATIVE_INFINITY;
  }

  /** Records that the table is current, or that it is known that there is none. */
  confirmTable(): void {
    this.#failures = 0;
    this.#protocolErrors = 0;
    this.#stopAttempt?.();
    this.#closeAllPending();
    if (this.#active) this.#active.pending.received = [];
    this.#setLink({ type: "live" });
  }

  /** Records that the table is about to be joined again on this connection. */
  beginRejoin(): void {
    if (this.#active) this.#setLink({ type: "joining" });
  }

  /** Sets the kind of the table's game, by which short messages are read. */
  setKind(kind: string | null): void {
    this.#kind = kind;
  }

  /** Buffers further messages, unread, until `release`. */
  pauseReading(): void {
    if (this.#buffered !== null || !this.#active) return;
    this.#buffered = [];
    // The time that loading takes does not count towards the attempt.
    this.#stopAttempt?.();
  }

  resumeReading(): void {
    const buffered = this.#buffered ?? [];
    const active = this.#active;
    this.#buffered = null;
    if (!active) return;
    if (this.#link.type !== "live") this.#limitAttempt();
    // Reading one of the messages may start the loading of another game.
    for (const data of buffered) this.#readOrBuffer(active, data);
  }

  /** Restarts the connection with the full form only, for a game without a model. */
  useFullForm(): void {
    this.#forms = ["bahay.v1"];
    this.#closeActive();
    this.#connect();
  }

  /** Sends a command and returns its id; null if there is no connection. */
  send(command: CommandBody): number | null {
    const active = this.#active;
    if (active?.authenticatedAt == null) return null;
    const id = active.nextId;
    active.nextId += 1;
    this.#sendCommand(active, command, id);
    return id;
  }

  /** Starts the timeout of an expected answer, after which the connection is in doubt. */
  expectAnswer(): void {
    this.#watchdog.expectAnswer();
  }

  handleOpen(socket: number, protocol: string): void {
    const pending = this.#pending.get(socket);
    if (!pending) {
      this.#host.effect({ type: "close", socket });
      return;
    }
    pending.protocol = protocol;
    this.#usualOpenMs = movingAverage(this.#usualOpenMs, this.#host.now - pending.since);
    if (!this.#active || this.#watchdog.isInDoubt) this.#activate(socket, pending);
    else if (pending.token === null || this.#link.type === "live") this.#closePending(socket);
  }

  handleData(socket: number, data: string | Uint8Array): void {
    const active = this.#active;
    if (active?.socket !== socket) {
      this.#bufferPending(socket, data);
      return;
    }
    if (this.#link.type === "weak") this.#setLink({ type: "live" });
    this.#watchdog.recordReceived(false);
    this.#handleFirstAnswer(active);
    // A socket with all commands in its request may still be the first to receive the table.
    for (const [other, { token }] of this.#pending) {
      if (token === null || this.#link.type === "live") this.#closePending(other);
    }
    if (this.#link.type !== "live") keepReceived(active.pending.received, data);
    this.#readOrBuffer(active, data);
    if (this.#active !== active) return;
    // An expected answer may have been lost with a network that has already returned. The buffer may contain
    // the answer.
    this.#watchdog.recordReceived(this.#buffered === null && this.#events.hasUnanswered());
  }

  /** Makes a socket the connection in use, with all messages it has received. */
  #activate(socket: number, pending: PendingSocket): void {
    this.#pending.delete(socket);
    // The previous connection worked, so no attempt's timeout is running.
    if (this.#isLive) {
      this.#limitAttempt();
      this.#setLink({ type: "connecting", attempt: 1 });
    }
    this.#closeActive();
    const protocol = pending.protocol ?? "";
    const form = isForm(protocol) ? protocol : "bahay.v1";
    const reader = new MessageReader(form, this.#models, this.#kind);
    const active = activateSocket(socket, pending, reader);
    this.#active = active;
    this.#authenticate();
    if (pending.received.length > 0) this.#handleFirstAnswer(active);
    for (const data of [...pending.received]) this.#readOrBuffer(active, data);
  }

  /**
   * Buffers a message of an unused socket. Until the table has arrived, the socket that has received more is
   * used.
   */
  #bufferPending(socket: number, data: string | Uint8Array): void {
    const beside = this.#pending.get(socket);
    if (!beside) return;
    keepReceived(beside.received, data);
    const active = this.#active;
    if (active && beside.received.length > active.pending.received.length) this.#activate(socket, beside);
  }

  /**
   * Handles the first answer. If all commands were in the request, the table is now told of the connection.
   */
  #handleFirstAnswer(active: ActiveSocket): void {
    if (active.pending.token === null) active.hasAnswered = active.authenticatedAt !== null;
    else if (!active.hasSent) this.#sendCommand(active, { type: "ping" }, FIRST_PING_ID);
  }

  #readOrBuffer(active: ActiveSocket, data: string | Uint8Array): void {
    if (this.#active !== active) return;
    if (this.#buffered === null) this.#read(active, data);
    else if (this.#buffered.length < BUFFERED_MAX) this.#buffered.push(data);
    else this.#retry("too much was heard while a game was loaded");
  }

  #read(active: ActiveSocket, data: string | Uint8Array): void {
    let message: Message | null;
    try {
      message = active.reader.read(data);
    } catch (error) {
      this.#handleProtocolError(`a message could not be read: ${String(error)}`);
      return;
    }
    if (!message) return;
    const id = answeredId(message);
    active.hasAnswered ||= active.hasSent && id !== null && id >= FIRST_ID;
    if (message.type !== "update" && id !== null && id >= FIRST_PING_ID) {
      // The table could not be told of this connection.
      const isForNow = message.type === "refusal" && message.retryable;
      if (isForNow) this.#host.schedule(this.#host.jitter(RETRY_MS), () => this.#ping(active));
      return;
    }
    if (message.type === "hello") this.#session.setServerTime(message.server_time_ms);
    if (message.type === "refusal" && message.id === AUTHENTICATE_ID) {
      this.#handleAuthenticationRefusal(active, message.code);
      return;
    }
    this.#events.message(message);
  }

  handleClose(socket: number, code: number): void {
    if (this.#pending.delete(socket)) {
      if (!this.#active && this.#pending.size === 0) this.#retry("the socket was not opened");
      return;
    }
    const active = this.#active;
    if (active?.socket !== socket) return;
    this.#active = null;
    this.#buffered = null;
    this.#watchdog.stop();
    // The server replaces only connections that the table knows.
    active.hasAnswered ||= code === CLOSE_CODES.replaced;
    this.#recordLeft(active);
    this.#handleCloseCode(active, code);
  }

  #recordLeft({ hasSent, hasAnswered }: ActiveSocket): void {
    if (hasSent && !hasAnswered) this.#leftAt = this.#host.now;
  }

  /** Handles a close code; docs/PROTOCOL.md, "Closing", defines them. */
  #handleCloseCode(active: ActiveSocket, code: number): void {
    switch (code) {
      case CLOSE_CODES.replaced:
        // A `join` that this client sent on an abandoned connection may have arrived late.
        if (this.#host.now - this.#leftAt < LATE_COMMAND_MS) {
          this.#leftAt = Number.NEGATIVE_INFINITY;
          this.#retry("replaced by a connection of its own");
        } else {
          this.#end({ type: "replaced" });
        }
        break;
      case CLOSE_CODES.signed_out:
        if (this.#isOfOlderSession(active)) this.#retry("an older session has ended");
        else this.#endSession("session_ended");
        break;
      case CLOSE_CODES.too_fast:
        this.#retry("too fast", BACKOFF_TOO_FAST_MS);
        break;
      case CLOSE_CODES.protocol:
      case CLOSE_CODES.too_long:
        this.#handleProtocolError(`closed with ${code}`);
        break;
      case CLOSE_CODES.not_authenticated:
        if (active.token !== null) this.#session.rejectToken(active.token);
        this.#retry("not authenticated");
        break;
      default:
        this.#retry(`closed with ${code}`);
    }
  }

  get #isLive(): boolean {
    return this.#link.type === "live" || this.#link.type === "weak";
  }

  get #isWanted(): boolean {
    switch (this.#link.type) {
      case "off":
      case "replaced":
      case "signed_out":
      case "broken":
        return false;
      case "signing_in":
      case "connecting":
      case "joining":
      case "live":
      case "weak":
      case "pausing":
        return true;
    }
  }

  #connect(isRace = false): void {
    this.#stopPause?.();
    this.#stopPause = null;
    const attempt = this.#failures + 1;
    this.#setLink(this.#session.player ? { type: "connecting", attempt } : { type: "signing_in" });
    // A missing token is requested while the socket opens.
    if (this.#session.token === null) {
      if (this.#renewalWaitMs > 0) return this.#retry("the server has asked for a wait");
      this.#signIn();
      // A session that has ended for good opens no socket.
      if (!this.#isWanted) return;
    }
    if (isRace) this.#race();
    else this.#open();
    this.#limitAttempt();
  }

  #limitAttempt(): void {
    this.#stopAttempt?.();
    this.#stopAttempt = this.#host.schedule(ATTEMPT_TIMEOUT_MS, () => this.#retry("it took too long"));
  }

  /** Opens several sockets at once, in place of those that are pending. */
  #race(): void {
    this.#closeAllPending();
    for (let racer = 0; racer < RACERS; racer += 1) this.#open();
  }

  #open(): void {
    const [oldest] = this.#pending.keys();
    if (oldest !== undefined && this.#pending.size >= RACERS) this.#closePending(oldest);
    this.#sockets += 1;
    const socket = this.#sockets;
    const { token, id } = this.#session;
    this.#pending.set(socket, createPendingSocket(this.#host.now, token, id));
    const request = socketRequest(this.#url, this.#forms, token, this.#events.tablePosition());
    this.#host.effect({ type: "open", socket, ...request });
    // A socket that takes much longer than usual has probably lost a packet, or waits for a network that is
    // gone.
    const isOnly = this.#pending.size === 1;
    this.#stopHedge?.();
    this.#stopHedge = this.#host.schedule(isOnly ? 1.5 * this.#usualOpenMs + 100 : HEDGE_MS, () => {
      if (this.#pending.has(socket)) this.#open();
    });
  }

  #signIn(): void {
    if (this.#isSigningIn) return;
    this.#isSigningIn = true;
    this.#session.renew((renewal) => {
      this.#isSigningIn = false;
      if (!this.#isWanted) return;
      switch (renewal.type) {
        case "renewed":
          if (this.#active?.authenticatedAt === null) this.#authenticate();
          else if (this.#link.type === "signing_in") {
            this.#setLink({ type: "connecting", attempt: this.#failures + 1 });
          }
          break;
        case "signed_out": {
          const { code, detail } = renewal.problem;
          this.#end({ type: "signed_out", code, detail });
          break;
        }
        case "failed":
          this.#renewAt = this.#host.now + (renewal.problem.retryAfterMs ?? 0);
          // A connection that is there needs no new token.
          if (this.#active?.authenticatedAt == null && this.#link.type !== "pausing") {
            this.#retry(renewal.problem.code);
          }
      }
    });
  }

  #authenticate(): void {
    const active = this.#active;
    if (!active) return;
    const isInRequest = active.pending.token !== null;
    const token = active.pending.token ?? this.#session.token;
    if (token === null) {
      this.#signIn();
      return;
    }
    active.token = token;
    if (!isInRequest) active.session = this.#session.id;
    active.authenticatedAt = this.#host.now;
    this.#setLink({ type: "joining" });
    if (!isInRequest) {
      this.#sendCommand(active, { type: "authenticate", token }, AUTHENTICATE_ID);
      active.nextId = AUTHENTICATE_ID + 1;
    }
    this.#watchdog.recordReceived(true);
    this.#events.authenticated(isInRequest);
    // The delay keeps the ping out of the packet of the preceding commands.
    if (!isInRequest) this.#host.schedule(PING_DELAY_MS, () => this.#ping(active));
  }

  #ping(active: ActiveSocket): void {
    if (this.#active === active) this.#sendCommand(active, { type: "ping" }, FIRST_PING_ID);
  }

  #handleAuthenticationRefusal(active: ActiveSocket, code: string): void {
    if (code === "token_revoked" && !this.#isOfOlderSession(active)) {
      this.#endSession(code);
    } else if (code.startsWith("token_") && active.token !== null) {
      // The server closes the socket, and the usual retry follows; only the token is requested now.
      this.#session.rejectToken(active.token);
      this.#signIn();
    }
  }

  #isOfOlderSession({ session }: ActiveSocket): boolean {
    return session !== this.#session.id;
  }

  #endSession(code: string): void {
    this.#session.forget();
    this.#end({ type: "signed_out", code, detail: "" });
  }

  #sendCommand(active: ActiveSocket, command: CommandBody, id: number): void {
    active.hasSent = true;
    const text = JSON.stringify({ ...command, id });
    this.#host.effect({ type: "send", socket: active.socket, text });
  }

  #handleProtocolError(why: string): void {
    this.#protocolErrors += 1;
    if (this.#protocolErrors >= PROTOCOL_ERRORS_MAX) this.#end({ type: "broken", why });
    else this.#retry(why);
  }

  /** Returns the time until the server reads another request for a token; 0 while there is a token. */
  get #renewalWaitMs(): number {
    const waitMs = this.#session.token === null ? this.#renewAt - this.#host.now : 0;
    return Math.min(Math.max(0, waitMs), PAUSE_MAX_MS);
  }

  /** Closes everything and retries after a back-off, or after at most this time. */
  #retry(why: string, longestMs?: number): void {
    if (!this.#isWanted) return;
    const worked = this.#isLive;
    this.#closeAll();
    this.#failures += 1;
    const doubled = Math.min(BACKOFF_MIN_MS * 2 ** (this.#failures - 1), BACKOFF_MAX_MS);
    const backoff = worked ? BACKOFF_LOST_MS : doubled;
    const ms = this.#renewalWaitMs + this.#host.jitter(longestMs ?? backoff);
    const until = this.#host.now + ms;
    this.#setLink({ type: "pausing", until, attempt: this.#failures, why });
    this.#stopPause = this.#host.schedule(ms, () => this.#connect());
  }

  #end(link: Link): void {
    this.#closeAll();
    this.#setLink(link);
  }

  #closeAll(): void {
    for (const stop of [this.#stopPause, this.#stopAttempt, this.#stopHedge]) stop?.();
    this.#closeAllPending();
    this.#closeActive();
  }

  /** Closes the connection in use, or records that it is closed. */
  #closeActive(): void {
    const active = this.#active;
    this.#active = null;
    this.#buffered = null;
    this.#watchdog.stop();
    if (active) {
      this.#recordLeft(active);
      this.#host.effect({ type: "close", socket: active.socket });
    }
    this.#events.lost();
  }

  #closeAllPending(): void {
    for (const socket of [...this.#pending.keys()]) this.#closePending(socket);
  }

  #closePending(socket: number): void {
    this.#pending.delete(socket);
    this.#host.effect({ type: "close", socket });
  }

  #setLink(link: Link): void {
    const isSame = JSON.stringify(link) === JSON.stringify(this.#link);
    this.#link = link;
    if (!isSame) this.#events.link(link);
  }
}

/** Adds a message to those received before the table has arrived; beyond the bound the attempt times out. */
function keepReceived(received: (string | Uint8Array)[], data: string | Uint8Array): void {
  if (received.length < BUFFERED_MAX) received.push(data);
}

/** Returns a moving average that weights the latest measurement most and caps outliers. */
function movingAverage(average: number, measuredMs: number): number {
  return 0.7 * average + 0.3 * Math.min(measuredMs, 2 * average);
}
