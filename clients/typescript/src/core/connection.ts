// The socket: opening one, saying who this is, noticing that it has died, and coming back.
//
// Sockets may race: where the one in use is in doubt, as after a phone's sleep or a change of network,
// others are opened at once beside a question on the first, and the first of all to answer is used.
// The first packet of a connection is sent again only after a second, so this saves much. After a
// server has gone nobody does so, for all come back at once.
//
// What is said first, `authenticate` and `join`, is said in the request for the socket (`opening`), so
// that its answers come with the socket. The table hears of the connection with the first thing that
// is said on it, which is a `ping` at once: so a socket that is not used disturbs no other. Until the
// table is there another one is used instead where more has come on it.
//
// Without a token yet all is said once the socket is open, together. A `ping` goes behind it, so that
// what is lost on the way is followed by something that arrives: TCP then sends it again after one
// round trip instead of two.

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

/** From the first attempt until the table is there; then all is begun anew. */
const ATTEMPT_MS = 10_000;
/** The pause after the first failure; doubled after each. */
const PAUSE_MIN_MS = 200;
const PAUSE_MAX_MS = 8_000;
/** After a connection that worked: enough that not all who lost it come in one moment. */
const PAUSE_FIRST_MS = 100;
/** After the server said that this client is too fast. */
const PAUSE_HASTE_MS = 6_000;
/** Told twice within this time that the network is back, the client gives up what was asked before. */
const WAKE_MS = 2_500;
/** An opening that takes longer is not alone any more. */
const OPEN_MS = 2_500;
const FRESH_MS = 1_000;
/** What was sent on a connection that was left may arrive so much later. */
const LATE_MS = 60_000;
/** Sockets that are opened at once where the network may be another one. */
const RACERS = 3;
/** What goes behind `join` goes so much later. */
const FOLLOW_MS = 10;
/** Before a question is asked again that was refused for now. */
const AGAIN_MS = 600;
/** Times in a row that the server said that this client makes mistakes. */
const MISTAKES_MAX = 3;
/** Messages that wait for a game to be loaded; with more of them the connection is begun anew. */
const HELD_MAX = 2_000;
/** Ids of pings are beyond all others, so that these count from 0 on each connection. */
const PING_IDS = 1_000_000;

/** A command before it has its number. */
export type Unnumbered = Command extends infer C ? (C extends Command ? Omit<C, "id"> : never) : never;

export interface Events {
  /** What is known of the table, for a `join` that is said in the request for a socket. */
  known(): Known | null;
  /** `authenticate` is on its way: say what follows. `hasJoined`: the `join` is on its way as well. */
  entered(hasJoined: boolean): void;
  message(message: Message): void;
  /** Whether the player is asked something. */
  isAsked(): boolean;
  /** Whether something that was said on this connection has no answer yet. */
  isWaiting(): boolean;
  /** The connection is gone; another one follows, or not. */
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
  /** When a connection was left that had sent `join` and had no answer. */
  #leftAt = Number.NEGATIVE_INFINITY;
  #sockets = 0;
  /** Attempts in a row that came to nothing. */
  #failures = 0;
  #mistakes = 0;
  #kind: string | null = null;
  /** What was heard while a game is loaded; null where none is. */
  #held: (string | Uint8Array)[] | null = null;
  /** A first token is being waited for beside the opening. */
  #isSigningIn = false;
  #stopPause: (() => void) | null = null;
  #stopAttempt: (() => void) | null = null;
  #stopHedge: (() => void) | null = null;
  readonly #watchdog: Watchdog;
  /** How long opening has taken lately. */
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
        // Before the table is there an attempt has a time of its own.
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

  /** The page is shown again, or the network is back. */
  wake(): void {
    if (!this.#isWanted) return;
    // What is being opened, or asked, may wait for a network that is gone.
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

  /** The machine has slept in a way that the monotonic clock does not tell: nothing is fresh any more. */
  age(): void {
    this.#watchdog.age();
    for (const opened of this.#openings.values()) opened.since = Number.NEGATIVE_INFINITY;
  }

  /** The table is known to be current, or it is known that there is none. */
  settled(): void {
    this.#failures = 0;
    this.#mistakes = 0;
    this.#stopAttempt?.();
    this.#closeOpenings();
    if (this.#line) this.#line.opening.heard = [];
    this.#show({ type: "live" });
  }

  /** The table is to be joined once more on this connection. */
  unsettled(): void {
    if (this.#line) this.#show({ type: "joining" });
  }

  /** The game of the table, by which messages are read. */
  playing(kind: string | null): void {
    this.#kind = kind;
  }

  /** What is heard from here on waits, unread, until it is released. */
  hold(): void {
    if (this.#held !== null || !this.#line) return;
    this.#held = [];
    // That takes as long as it takes.
    this.#stopAttempt?.();
  }

  release(): void {
    const held = this.#held ?? [];
    const line = this.#line;
    this.#held = null;
    if (!line) return;
    if (this.#link.type !== "live") this.#limitAttempt();
    // Reading one of them may lead to waiting for another game.
    for (const data of held) this.#take(line, data);
  }

  /** Begins anew with the full form only: that of a game that this client has no model of. */
  useFullForm(): void {
    this.#forms = ["bahay.v1"];
    this.#lose();
    this.#begin();
  }

  /** Gives the number of the command; null where there is no connection. */
  send(command: Unnumbered): number | null {
    const line = this.#line;
    if (line?.enteredAt == null) return null;
    const id = line.nextId;
    line.nextId += 1;
    this.#say(line, command, id);
    return id;
  }

  /** Something waits for an answer: should none come, the connection is in doubt. */
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
    // What says all in its request may still be the first to have the table.
    for (const [other, { token }] of this.#openings) {
      if (token === null || this.#link.type === "live") this.#closeOpening(other);
    }
    if (this.#link.type !== "live") line.opening.heard.push(data);
    this.#take(line, data);
    if (this.#line !== line) return;
    // An answer that is due may have been lost with a network that is back already.
    // What is held back may be it.
    this.#watchdog.hear(this.#held === null && this.#events.isWaiting());
  }

  /** This is the connection from here on, with all that has come on it. */
  #use(socket: number, opened: Opening): void {
    this.#openings.delete(socket);
    // In the place of one that worked: then no attempt is running yet.
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

  /** On a socket that is not used: until the table is there, that one is used on which more has come. */
  #heardBeside(socket: number, data: string | Uint8Array): void {
    const beside = this.#openings.get(socket);
    if (!beside) return;
    beside.heard.push(data);
    const line = this.#line;
    if (line && beside.heard.length > line.opening.heard.length) this.#use(socket, beside);
  }

  /** The server is there. Where all was said in the request, the table is told of it now. */
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
        // The table could not be told that this connection is there.
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
    // Only a connection that the table has heard of is replaced.
    line.hasAnswered ||= code === CLOSE_CODES.replaced;
    this.#noteLeft(line);
    this.#closedBy(line, code);
  }

  #noteLeft({ hasSaid, hasAnswered }: Line): void {
    if (hasSaid && !hasAnswered) this.#leftAt = this.#host.now;
  }

  /** What each code means: see "Closing" in docs/PROTOCOL.md. */
  #closedBy(line: Line, code: number): void {
    switch (code) {
      case CLOSE_CODES.replaced:
        // A `join` of this client's own, on a connection that it has left, may have come late.
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
    // A token that is missing is asked for while the socket opens.
    if (this.#session.token === null) this.#signIn();
    if (isRace) this.#race();
    else this.#open();
    this.#limitAttempt();
  }

  #limitAttempt(): void {
    this.#stopAttempt?.();
    this.#stopAttempt = this.#host.after(ATTEMPT_MS, () => this.#fail("it took too long"));
  }

  /** Several at once, in the place of those that are being opened. */
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
    // One that takes much longer than usual has probably lost a packet on the way, or waits for a
    // network that is gone.
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
    // Soon, but not in one packet with what is before it.
    if (!isSaid) this.#host.after(FOLLOW_MS, () => this.#greet(line));
  }

  #greet(line: Line): void {
    if (this.#line === line) this.#say(line, { type: "ping" }, PING_IDS);
  }

  #refusedEntry(line: Line, code: string): void {
    if (code === "token_revoked" && !this.#isOfOlderSession(line)) {
      this.#endSession(code);
    } else if (code.startsWith("token_") && line.token !== null) {
      // The server closes; what follows is as after every end, but for the token, which is asked for now.
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

  /** Another attempt, after a pause. */
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

  /** Closes the connection in use, or notes that it is closed. */
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

/** A mean of what was measured, the latest counting most; what is out of the ordinary counts less. */
function usual(before: number, measuredMs: number): number {
  return 0.7 * before + 0.3 * Math.min(measuredMs, 2 * before);
}
