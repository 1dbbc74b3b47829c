// Detects dead connections: pings the server after a silence, and measures how long the answer is missing.
//
// While a prompt is open or a command waits for its answer, the server is pinged after 2 s of silence, and a
// dead connection is detected within 4 s. Otherwise pings are rare enough to cost next to nothing, and
// detection takes up to 15 s. The socket protocol's own pings are invisible to a page.

import type { Host } from "./session.js";

/** The silence after which the server is pinged while a prompt is open or a command waits. */
const PING_MS = 2_000;
/** The silence after which the server is pinged otherwise. */
const IDLE_PING_MS = 12_000;
/** The time after which a missing answer makes the connection weak and other sockets are opened. */
const ANSWER_MS = 2_000;
/** The time after which a live connection without an answer is abandoned. */
const DEAD_MS = 4_000;
/**
 * The time for which a connection that has received something counts as alive. A timer later than this
 * indicates that the machine slept.
 */
const FRESH_MS = 1_000;

export interface WatchdogActions {
  /** Returns whether a prompt is open or a command waits for its answer. */
  isUrgent(): boolean;
  /** Pings the server. */
  ping(): void;
  /** Opens other sockets beside the doubtful one. */
  openOthers(): void;
  /** Reports an answer that has been missing for 2 s. */
  markWeak(): void;
  /** Reports an answer that has been missing for 4 s. */
  giveUp(): void;
}

export class Watchdog {
  readonly #host: Host;
  readonly #actions: WatchdogActions;
  #cancelCheck: (() => void) | null = null;
  #checkAt = 0;
  #receivedAt = 0;
  /** The time since which an answer has been missing; null if none is. */
  #missingSince: number | null = null;
  /** True if the next check is for an answer that is due. */
  #isDue = false;

  constructor(host: Host, actions: WatchdogActions) {
    this.#host = host;
    this.#actions = actions;
  }

  /** True if an answer is missing. */
  get isInDoubt(): boolean {
    return this.#missingSince !== null;
  }

  /** The time for which an answer has been missing, in ms. */
  get missingMs(): number {
    return this.#host.now - (this.#missingSince ?? this.#host.now);
  }

  /** Stops watching, as there is no connection. */
  stop(): void {
    this.#cancelCheck?.();
    this.#cancelCheck = null;
    this.#missingSince = null;
  }

  /**
   * Records a received message or the start of a connection. `isDue` states that another answer is expected.
   */
  recordReceived(isDue: boolean): void {
    this.#receivedAt = this.#host.now;
    this.#missingSince = null;
    this.#isDue = isDue;
    if (isDue) this.#schedule(ANSWER_MS, () => this.#handleMissing());
    else this.#schedule(this.#actions.isUrgent() ? PING_MS : IDLE_PING_MS, () => this.#ping());
  }

  /** Marks the last received message as stale. */
  markStale(): void {
    this.#receivedAt = Number.NEGATIVE_INFINITY;
  }

  /**
   * Starts the timeout of an answer that is expected from now on, which replaces a ping. An earlier check is
   * not postponed.
   */
  expectAnswer(): void {
    if (this.#isDue || this.isInDoubt) return;
    this.#isDue = true;
    this.#schedule(ANSWER_MS, () => this.#handleMissing());
  }

  /** Pings at once, and opens other sockets unless a message was received a moment ago. */
  checkNow(): void {
    const { now } = this.#host;
    if (this.#missingSince === null) {
      this.#missingSince = now;
      this.#actions.ping();
    }
    // The machine has slept since, and could receive nothing.
    if (now - this.#checkAt > FRESH_MS && this.missingMs >= DEAD_MS) this.#missingSince = now;
    const missing = Math.round(this.missingMs);
    if (missing >= ANSWER_MS) this.#actions.markWeak();
    const isFresh = now - this.#receivedAt < FRESH_MS;
    if (!isFresh) this.#actions.openOthers();
    const next = isFresh ? FRESH_MS : missing < ANSWER_MS ? ANSWER_MS - missing : ANSWER_MS;
    this.#schedule(next, () => this.checkNow());
    // This is last because it ends the watch.
    if (missing >= DEAD_MS) this.#actions.giveUp();
  }

  #ping(): void {
    this.#missingSince = this.#host.now;
    this.#actions.ping();
    this.#schedule(ANSWER_MS, () => this.checkNow());
  }

  /** Handles the missing answer to a command or to the authentication. */
  #handleMissing(): void {
    this.#missingSince = this.#host.now - ANSWER_MS;
    this.#actions.ping();
    this.checkNow();
  }

  #schedule(ms: number, act: () => void): void {
    this.#cancelCheck?.();
    this.#checkAt = this.#host.now + ms;
    this.#cancelCheck = this.#host.schedule(ms, act);
  }
}
