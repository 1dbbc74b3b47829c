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
import type { Host, Session } from "./session.js";
import {
  AUTHENTICATE_ID, FIRST_ID, type Known, type Line, type Opening, lineOn, opening, requestFor,
} from "./opening.js";
import type { Effect, Link } from "./types.js";
import { Watchdog } from "./watchdog.js";
import { type Form, MessageReader, isForm } from "./wire.js";

/** The timeout from the first attempt to the arrival of the table, after which the attempt is repeated. */
const ATTEMPT_MS = 10_000;
/** The back-off after the first failure; doubled after each further one. */
const PAUSE_MIN_MS = 200;
const PAUSE_MAX_MS = 8_000;
/** The back-off after a connection that worked, long enough to spread the clients that lost it together. */
const PAUSE_FIRST_MS = 100;
/** The back-off after the server has closed the connection for too many commands. */
const PAUSE_HASTE_MS = 6_000;
/** A second wake-up while an answer has been missing for this long abandons the pending sockets. */
const WAKE_MS = 2_500;
/** The time after which a socket that is still opening is hedged by another one. */
const OPEN_MS = 2_500;
const FRESH_MS = 1_000;
/** The longest delay of a command that was sent on an abandoned connection. */
const LATE_MS = 60_000;
/** The number of sockets opened at once if the network may have changed. */
const RACERS = 3;
/** The delay of the `ping` that follows `join`. */
const FOLLOW_MS = 10;
/** The delay before a retryable refusal is retried. */
const AGAIN_MS = 600;
/** The number of consecutive protocol errors after which the client gives up. */
const MISTAKES_MAX = 3;
/**
 * The bound of the buffer of messages received while a game's model is loaded; a fuller one restarts the
 * connection.
 */
const HELD_MAX = 2_000;
/** The first id of pings, beyond all others, so that the other ids count from 0 on each connection. */
const PING_IDS = 1_000_000;

/** A command without its id. */
export type Unnumbered = Command extends infer C ? (C extends Command ? Omit<C, "id"> : never) : never;

export interface Events {
  /** Returns the known position in the table's history, for a `join` within the request for a socket. */
  known(): Known | null;
  /**
   * Reports that `authenticate` has been sent, after which commands may follow. `hasJoined`: the `join` has
   * been sent too.
   */
  entered(hasJoined: boolean): void;
  message(message: Message): void;
  /** Returns whether the player has an open prompt. */
  isAsked(): boolean;
  /** Returns whether a command sent on this connection has no answer yet. */
  isWaiting(): boolean;
  /** Reports that the connection is closed; another one may follow. */
  lost(): void;
  link(link: Link): void;
}

export class Connection {
  readonly #host: Host & { effect(effect: Effect): void };
  readonly #session: Session;
  readonly #events: Events;
  readonly #models: Models;
  readonly #url: string;
  #forms: readonly Form[];
  #link: Link = { type: "off" };
  #line: Line | null = null;
  #openings = new Map<number, Opening>();
  /** The time at which a connection was left whose `join` had no answer. */
  #leftAt = Number.NEGATIVE_INFINITY;
  #sockets = 0;
  /** The number of consecutive failed attempts. */
  #failures = 0;
  #mistakes = 0;
  #kind: string | null = null;
  /** The messages received while a game's model is loaded; null if none is being loaded. */
  #held: (string | Uint8Array)[] | null = null;
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
    events: Events,
  ) {
    this.#host = host;
    this.#session = session;
    this.#events = events;
    this.#models = models;
    this.#forms = forms;
    this.#url = `${base.replace(/^http/, "ws")}/v1/play`;
    this.#watchdog = new Watchdog(host, {
      isUrgent: () => events.isAsked() || events.isWaiting(),
      ask: () => {
        if (this.#line?.enteredAt != null) this.#greet(this.#line);
      },
      race: () => {
        if (this.#openings.size === 0) this.#race();
      },
      weaken: () => {
        if (this.#link.type === "live") this.#show({ type: "weak" });
      },
      giveUp: () => {
        // Before the table has arrived, the attempt's own timeout applies.
        if (this.#link.type !== "weak") return;
        this.#lose();
        this.#begin();
      },
    });
  }

  get link(): Link {
    return this.#link;
  }

  get form(): Form | null {
    return this.#line?.reader.form ?? null;
  }

  start(): void {
    if (this.#isWanted) return;
    this.#failures = 0;
    this.#mistakes = 0;
    this.#begin();
  }

  stop(): void {
    this.#drop();
    this.#show({ type: "off" });
  }

  /** Checks the connection after the page became visible or the network returned. */
  wake(): void {
    if (!this.#isWanted) return;
    // A pending request or socket may wait for a network that is gone.
    this.#session.wake();
    const line = this.#line;
    if (line && this.#watchdog.missingMs < WAKE_MS) {
      const isOld = ({ since }: Opening): boolean => this.#host.now - since > FRESH_MS;
      if ([...this.#openings.values()].some(isOld)) this.#race();
      this.#watchdog.doubt();
      return;
    }
    this.#lose();
    this.#failures = 0;
    this.#begin(true);
  }

  /** Marks everything received as stale, after a sleep that the monotonic clock did not measure. */
  age(): void {
    this.#watchdog.age();
    for (const opened of this.#openings.values()) opened.since = Number.NEGATIVE_INFINITY;
  }

  /** Records that the table is current, or that it is known that there is none. */
  settled(): void {
    this.#failures = 0;
    this.#mistakes = 0;
    this.#stopAttempt?.();
    this.#closeOpenings();
    if (this.#line) this.#line.opening.heard = [];
    this.#show({ type: "live" });
  }

  /** Records that the table is about to be joined again on this connection. */
  unsettled(): void {
    if (this.#line) this.#show({ type: "joining" });
  }

  /** Sets the kind of the table's game, by which short messages are read. */
  playing(kind: string | null): void {
    this.#kind = kind;
  }

  /** Buffers further messages, unread, until `release`. */
  hold(): void {
    if (this.#held !== null || !this.#line) return;
    this.#held = [];
    // The time that loading takes does not count towards the attempt.
    this.#stopAttempt?.();
  }

  release(): void {
    const held = this.#held ?? [];
    const line = this.#line;
    this.#held = null;
    if (!line) return;
    if (this.#link.type !== "live") this.#limitAttempt();
    // Reading one of the messages may start the loading of another game.
    for (const data of held) this.#take(line, data);
  }

  /** Restarts the connection with the full form only, for a game without a model. */
  useFullForm(): void {
    this.#forms = ["bahay.v1"];
    this.#lose();
    this.#begin();
  }

  /** Sends a command and returns its id; null if there is no connection. */
  send(command: Unnumbered): number | null {
    const line = this.#line;
    if (line?.enteredAt == null) return null;
    const id = line.nextId;
    line.nextId += 1;
    this.#say(line, command, id);
    return id;
  }

  /** Starts the timeout of an expected answer, after which the connection is in doubt. */
  expectAnswer(): void {
    this.#watchdog.expect();
  }

  opened(socket: number, protocol: string): void {
    const opened = this.#openings.get(socket);
    if (!opened) {
      this.#host.effect({ type: "close", socket });
      return;
    }
    opened.protocol = protocol;
    this.#usualOpenMs = usual(this.#usualOpenMs, this.#host.now - opened.since);
    if (!this.#line || this.#watchdog.isDoubting) this.#use(socket, opened);
    else if (opened.token === null || this.#link.type === "live") this.#closeOpening(socket);
  }

  heard(socket: number, data: string | Uint8Array): void {
    const line = this.#line;
    if (line?.socket !== socket) {
      this.#heardBeside(socket, data);
      return;
    }
    if (this.#link.type === "weak") this.#show({ type: "live" });
    this.#watchdog.hear(false);
    this.#answered(line);
    // A socket with all commands in its request may still be the first to receive the table.
    for (const [other, { token }] of this.#openings) {
      if (token === null || this.#link.type === "live") this.#closeOpening(other);
    }
    if (this.#link.type !== "live") line.opening.heard.push(data);
    this.#take(line, data);
    if (this.#line !== line) return;
    // An expected answer may have been lost with a network that has already returned. The buffer may contain
    // the answer.
    this.#watchdog.hear(this.#held === null && this.#events.isWaiting());
  }

  /** Makes a socket the connection in use, with all messages it has received. */
  #use(socket: number, opened: Opening): void {
    this.#openings.delete(socket);
    // The previous connection worked, so no attempt's timeout is running.
    if (this.#isLive) {
      this.#limitAttempt();
      this.#show({ type: "connecting", attempt: 1 });
    }
    this.#lose();
    const protocol = opened.protocol ?? "";
    const form = isForm(protocol) ? protocol : "bahay.v1";
    const reader = new MessageReader(form, this.#models, this.#kind);
    const line = lineOn(socket, opened, reader);
    this.#line = line;
    this.#enter();
    if (opened.heard.length > 0) this.#answered(line);
    for (const data of [...opened.heard]) this.#take(line, data);
  }

  /**
   * Buffers a message of an unused socket. Until the table has arrived, the socket that has received more is
   * used.
   */
  #heardBeside(socket: number, data: string | Uint8Array): void {
    const beside = this.#openings.get(socket);
    if (!beside) return;
    beside.heard.push(data);
    const line = this.#line;
    if (line && beside.heard.length > line.opening.heard.length) this.#use(socket, beside);
  }

  /**
   * Handles the first answer. If all commands were in the request, the table is now told of the connection.
   */
  #answered(line: Line): void {
    if (line.opening.token === null) line.hasAnswered = line.enteredAt !== null;
    else if (!line.hasSaid) this.#say(line, { type: "ping" }, PING_IDS);
  }

  #take(line: Line, data: string | Uint8Array): void {
    if (this.#line !== line) return;
    if (this.#held === null) this.#read(line, data);
    else if (this.#held.length < HELD_MAX) this.#held.push(data);
    else this.#fail("too much was heard while a game was loaded");
  }

  #read(line: Line, data: string | Uint8Array): void {
    let message: Message | null;
    try {
      message = line.reader.read(data);
    } catch (error) {
      this.#mistake(`a message could not be read: ${String(error)}`);
      return;
    }
    if (!message) return;
    if (message.type === "ack" || message.type === "refusal") {
      const { id } = message;
      line.hasAnswered ||= line.hasSaid && id !== null && id >= FIRST_ID;
      if (id !== null && id >= PING_IDS) {
        // The table could not be told of this connection.
        const isForNow = message.type === "refusal" && message.retryable;
        if (isForNow) this.#host.after(this.#host.jitter(AGAIN_MS), () => this.#greet(line));
        return;
      }
    }
    if (message.type === "hello") this.#session.heardTime(message.server_time_ms);
    if (message.type === "refusal" && message.id === AUTHENTICATE_ID) {
      this.#refusedEntry(line, message.code);
      return;
    }
    this.#events.message(message);
  }

  closed(socket: number, code: number): void {
    if (this.#openings.delete(socket)) {
      if (!this.#line && this.#openings.size === 0) this.#fail("the socket was not opened");
      return;
    }
    const line = this.#line;
    if (line?.socket !== socket) return;
    this.#line = null;
    this.#held = null;
    this.#watchdog.stop();
    // The server replaces only connections that the table knows.
    line.hasAnswered ||= code === CLOSE_CODES.replaced;
    this.#noteLeft(line);
    this.#closedBy(line, code);
  }

  #noteLeft({ hasSaid, hasAnswered }: Line): void {
    if (hasSaid && !hasAnswered) this.#leftAt = this.#host.now;
  }

  /** Handles a close code; docs/PROTOCOL.md, "Closing", defines them. */
  #closedBy(line: Line, code: number): void {
    switch (code) {
      case CLOSE_CODES.replaced:
        // A `join` that this client sent on an abandoned connection may have arrived late.
        if (this.#host.now - this.#leftAt < LATE_MS) {
          this.#leftAt = Number.NEGATIVE_INFINITY;
          this.#fail("replaced by a connection of its own");
        } else {
          this.#end({ type: "replaced" });
        }
        break;
      case CLOSE_CODES.signed_out:
        if (this.#isOfOlderSession(line)) this.#fail("an older session has ended");
        else this.#endSession("session_ended");
        break;
      case CLOSE_CODES.too_fast:
        this.#fail("too fast", PAUSE_HASTE_MS);
        break;
      case CLOSE_CODES.protocol:
      case CLOSE_CODES.too_long:
        this.#mistake(`closed with ${code}`);
        break;
      case CLOSE_CODES.not_authenticated:
        if (line.token !== null) this.#session.refuse(line.token);
        this.#fail("not authenticated");
        break;
      default:
        this.#fail(`closed with ${code}`);
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

  #begin(isRace = false): void {
    this.#stopPause?.();
    this.#stopPause = null;
    const attempt = this.#failures + 1;
    this.#show(this.#session.player ? { type: "connecting", attempt } : { type: "signing_in" });
    // A missing token is requested while the socket opens.
    if (this.#session.token === null) this.#signIn();
    if (isRace) this.#race();
    else this.#open();
    this.#limitAttempt();
  }

  #limitAttempt(): void {
    this.#stopAttempt?.();
    this.#stopAttempt = this.#host.after(ATTEMPT_MS, () => this.#fail("it took too long"));
  }

  /** Opens several sockets at once, in place of those that are pending. */
  #race(): void {
    this.#closeOpenings();
    for (let racer = 0; racer < RACERS; racer += 1) this.#open();
  }

  #open(): void {
    const [oldest] = this.#openings.keys();
    if (oldest !== undefined && this.#openings.size >= RACERS) this.#closeOpening(oldest);
    this.#sockets += 1;
    const socket = this.#sockets;
    const { token, id } = this.#session;
    this.#openings.set(socket, opening(this.#host.now, token, id));
    const request = requestFor(this.#url, this.#forms, token, this.#events.known());
    this.#host.effect({ type: "open", socket, ...request });
    // A socket that takes much longer than usual has probably lost a packet, or waits for a network that is
    // gone.
    const isOnly = this.#openings.size === 1;
    this.#stopHedge?.();
    this.#stopHedge = this.#host.after(isOnly ? 1.5 * this.#usualOpenMs + 100 : OPEN_MS, () => {
      if (this.#openings.has(socket)) this.#open();
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
          if (this.#line?.enteredAt === null) this.#enter();
          else if (this.#link.type === "signing_in") {
            this.#show({ type: "connecting", attempt: this.#failures + 1 });
          }
          break;
        case "signed_out": {
          const { code, detail } = renewal.problem;
          this.#end({ type: "signed_out", code, detail });
          break;
        }
        case "failed":
          // A connection that is there needs no new token.
          if (this.#line?.enteredAt == null && this.#link.type !== "pausing") {
            const { code, retryAfterMs } = renewal.problem;
            this.#fail(code, retryAfterMs ?? undefined);
          }
      }
    });
  }

  #enter(): void {
    const line = this.#line;
    if (!line) return;
    const isSaid = line.opening.token !== null;
    const token = line.opening.token ?? this.#session.token;
    if (token === null) {
      this.#signIn();
      return;
    }
    line.token = token;
    if (!isSaid) line.session = this.#session.id;
    line.enteredAt = this.#host.now;
    this.#show({ type: "joining" });
    if (!isSaid) {
      this.#say(line, { type: "authenticate", token }, AUTHENTICATE_ID);
      line.nextId = AUTHENTICATE_ID + 1;
    }
    this.#watchdog.hear(true);
    this.#events.entered(isSaid);
    // The delay keeps the ping out of the packet of the preceding commands.
    if (!isSaid) this.#host.after(FOLLOW_MS, () => this.#greet(line));
  }

  #greet(line: Line): void {
    if (this.#line === line) this.#say(line, { type: "ping" }, PING_IDS);
  }

  #refusedEntry(line: Line, code: string): void {
    if (code === "token_revoked" && !this.#isOfOlderSession(line)) {
      this.#endSession(code);
    } else if (code.startsWith("token_") && line.token !== null) {
      // The server closes the socket, and the usual retry follows; only the token is requested now.
      this.#session.refuse(line.token);
      this.#signIn();
    }
  }

  #isOfOlderSession({ session }: Line): boolean {
    return session !== this.#session.id;
  }

  #endSession(code: string): void {
    this.#session.forget();
    this.#end({ type: "signed_out", code, detail: "" });
  }

  #say(line: Line, command: Unnumbered, id: number): void {
    line.hasSaid = true;
    const text = JSON.stringify({ ...command, id });
    this.#host.effect({ type: "send", socket: line.socket, text });
  }

  #mistake(why: string): void {
    this.#mistakes += 1;
    if (this.#mistakes >= MISTAKES_MAX) this.#end({ type: "broken", why });
    else this.#fail(why);
  }

  /** Closes everything and retries after a back-off. */
  #fail(why: string, pauseMs?: number): void {
    if (!this.#isWanted) return;
    const worked = this.#isLive;
    this.#drop();
    this.#failures += 1;
    const doubled = Math.min(PAUSE_MIN_MS * 2 ** (this.#failures - 1), PAUSE_MAX_MS);
    const pause = pauseMs ?? (worked ? PAUSE_FIRST_MS : doubled);
    const ms = this.#host.jitter(pause);
    const until = this.#host.now + ms;
    this.#show({ type: "pausing", until, attempt: this.#failures, why });
    this.#stopPause = this.#host.after(ms, () => this.#begin());
  }

  #end(link: Link): void {
    this.#drop();
    this.#show(link);
  }

  #drop(): void {
    for (const stop of [this.#stopPause, this.#stopAttempt, this.#stopHedge]) stop?.();
    this.#closeOpenings();
    this.#lose();
  }

  /** Closes the connection in use, or records that it is closed. */
  #lose(): void {
    const line = this.#line;
    this.#line = null;
    this.#held = null;
    this.#watchdog.stop();
    if (line) {
      this.#noteLeft(line);
      this.#host.effect({ type: "close", socket: line.socket });
    }
    this.#events.lost();
  }

  #closeOpenings(): void {
    for (const socket of [...this.#openings.keys()]) this.#closeOpening(socket);
  }

  #closeOpening(socket: number): void {
    this.#openings.delete(socket);
    this.#host.effect({ type: "close", socket });
  }

  #show(link: Link): void {
    const isSame = JSON.stringify(link) === JSON.stringify(this.#link);
    this.#link = link;
    if (!isSame) this.#events.link(link);
  }
}

/** Returns a moving average that weights the latest measurement most and caps outliers. */
function usual(before: number, measuredMs: number): number {
  return 0.7 * before + 0.3 * Math.min(measuredMs, 2 * before);
}
