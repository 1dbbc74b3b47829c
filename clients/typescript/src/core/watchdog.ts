// Detects dead connections: pings the server after a silence, and measures how long the answer is missing.
//
// While a prompt is open or a command waits for its answer, the server is pinged after 2 s of silence, and a
// dead connection is detected within 4 s. Otherwise pings are rare enough to cost next to nothing, and
// detection takes up to 15 s. The socket protocol's own pings are invisible to a page.

import type { Host } from "./session.js";

/** The silence after which the server is pinged while a prompt is open or a command waits. */
const BEAT_MS = 2_000;
/** The silence after which the server is pinged otherwise. */
const IDLE_BEAT_MS = 12_000;
/** The time after which a missing answer makes the connection weak and other sockets are opened. */
const ANSWER_MS = 2_000;
/** The time after which a live connection without an answer is abandoned. */
const GONE_MS = 4_000;
/**
 * The time for which a connection that has received something counts as alive. A timer later than this
 * indicates that the machine slept.
 */
const FRESH_MS = 1_000;

export interface Alarms {
  /** Returns whether a prompt is open or a command waits for its answer. */
  isUrgent(): boolean;
  /** Pings the server. */
  ask(): void;
  /** Opens other sockets beside the doubtful one. */
  race(): void;
  /** Reports an answer that has been missing for 2 s. */
  weaken(): void;
  /** Reports an answer that has been missing for 4 s. */
  giveUp(): void;
}

export class Watchdog {
  readonly #host: Host;
  readonly #alarms: Alarms;
  #stopLook: (() => void) | null = null;
  #lookAt = 0;
  #heardAt = 0;
  /** The time since which an answer has been missing; null if none is. */
  #missingSince: number | null = null;
  /** True if the next check is for an answer that is due. */
  #isDue = false;

  constructor(host: Host, alarms: Alarms) {
    this.#host = host;
    this.#alarms = alarms;
  }

  /** Whether an answer is missing. */
  get isDoubting(): boolean {
    return this.#missingSince !== null;
  }

  /** The time for which an answer has been missing, in ms. */
  get missingMs(): number {
    return this.#host.now - (this.#missingSince ?? this.#host.now);
  }

  /** Stops watching, as there is no connection. */
  stop(): void {
    this.#stopLook?.();
    this.#stopLook = null;
    this.#missingSince = null;
  }

  /**
   * Records a received message or the start of a connection. `isDue` states that another answer is expected.
   */
  hear(isDue: boolean): void {
    this.#heardAt = this.#host.now;
    this.#missingSince = null;
    this.#isDue = isDue;
    if (isDue) this.#look(ANSWER_MS, () => this.#miss());
    else this.#look(this.#alarms.isUrgent() ? BEAT_MS : IDLE_BEAT_MS, () => this.#ask());
  }

  /** Marks the last received message as stale. */
  age(): void {
    this.#heardAt = Number.NEGATIVE_INFINITY;
  }

  /**
   * Starts the timeout of an answer that is expected from now on, which replaces a ping. An earlier check is
   * not postponed.
   */
  expect(): void {
    if (this.#isDue || this.isDoubting) return;
    this.#isDue = true;
    this.#look(ANSWER_MS, () => this.#miss());
  }

  /** Pings at once, and opens other sockets unless a message was received a moment ago. */
  doubt(): void {
    const { now } = this.#host;
    if (this.#missingSince === null) {
      this.#missingSince = now;
      this.#alarms.ask();
    }
    // The machine has slept since, and could receive nothing.
    if (now - this.#lookAt > FRESH_MS && this.missingMs >= GONE_MS) this.#missingSince = now;
    const missing = Math.round(this.missingMs);
    if (missing >= ANSWER_MS) this.#alarms.weaken();
    const isFresh = now - this.#heardAt < FRESH_MS;
    if (!isFresh) this.#alarms.race();
    const next = isFresh ? FRESH_MS : missing < ANSWER_MS ? ANSWER_MS - missing : ANSWER_MS;
    this.#look(next, () => this.doubt());
    // This is last because it ends the watch.
    if (missing >= GONE_MS) this.#alarms.giveUp();
  }

  #ask(): void {
    this.#missingSince = this.#host.now;
    this.#alarms.ask();
    this.#look(ANSWER_MS, () => this.doubt());
  }

  /** Handles the missing answer to a command or to the authentication. */
  #miss(): void {
    this.#missingSince = this.#host.now - ANSWER_MS;
    this.#alarms.ask();
    this.doubt();
  }

  #look(ms: number, act: () => void): void {
    this.#stopLook?.();
    this.#lookAt = this.#host.now + ms;
    this.#stopLook = this.#host.after(ms, act);
  }
}
