// Notices that a connection is dead: asks the server after a silence, and judges an answer that stays away.
//
// While the player is asked something, or a command waits for its answer, each moment counts: the
// server is asked after 2 s of silence, and a connection that has died is noticed within 4 s. Else it is
// asked so seldom that it costs next to nothing, and the same is noticed within 15 s. The socket's own
// pings are unseen.

import type { Host } from "./session.js";

/** Silence after which the server is asked, where the player is asked or a command waits. */
const BEAT_MS = 2_000;
/** The same where nothing is urgent. */
const IDLE_BEAT_MS = 12_000;
/** An answer that takes longer makes the connection weak; then others are opened beside it. */
const ANSWER_MS = 2_000;
/** A live connection without an answer for so long is given up. */
const GONE_MS = 4_000;
/** What was heard so lately has probably not died. A timer that is late by more says that the machine slept. */
const FRESH_MS = 1_000;

export interface Alarms {
  /** Whether the player is asked something, or a command waits for its answer. */
  isUrgent(): boolean;
  /** Asks the server whether it is there. */
  ask(): void;
  /** Opens other sockets beside the doubtful one. */
  race(): void;
  /** An answer has been missing for 2 s. */
  weaken(): void;
  /** An answer has been missing for 4 s. */
  giveUp(): void;
}

export class Watchdog {
  readonly #host: Host;
  readonly #alarms: Alarms;
  #stopLook: (() => void) | null = null;
  #lookAt = 0;
  #heardAt = 0;
  /** Since when an answer has been missing; null where none is known to be. */
  #missingSince: number | null = null;
  /** The next look is for an answer that is due. */
  #isDue = false;

  constructor(host: Host, alarms: Alarms) {
    this.#host = host;
    this.#alarms = alarms;
  }

  /** Whether an answer is missing. */
  get isDoubting(): boolean {
    return this.#missingSince !== null;
  }

  /** For how long an answer has been missing. */
  get missingMs(): number {
    return this.#host.now - (this.#missingSince ?? this.#host.now);
  }

  /** There is no connection to watch. */
  stop(): void {
    this.#stopLook?.();
    this.#stopLook = null;
    this.#missingSince = null;
  }

  /** Something was heard, or a connection begins. `isDue`: something else has no answer yet. */
  hear(isDue: boolean): void {
    this.#heardAt = this.#host.now;
    this.#missingSince = null;
    this.#isDue = isDue;
    if (isDue) this.#look(ANSWER_MS, () => this.#miss());
    else this.#look(this.#alarms.isUrgent() ? BEAT_MS : IDLE_BEAT_MS, () => this.#ask());
  }

  /** What was heard was heard long ago. */
  age(): void {
    this.#heardAt = Number.NEGATIVE_INFINITY;
  }

  /** Something waits for an answer from now on, which serves as well as a beat. No earlier look is put off. */
  expect(): void {
    if (this.#isDue || this.isDoubting) return;
    this.#isDue = true;
    this.#look(ANSWER_MS, () => this.#miss());
  }

  /** Asks at once, and opens other sockets unless something was heard a moment ago. */
  doubt(): void {
    const { now } = this.#host;
    if (this.#missingSince === null) {
      this.#missingSince = now;
      this.#alarms.ask();
    }
    // The machine has slept since, and has heard nothing because of that.
    if (now - this.#lookAt > FRESH_MS && this.missingMs >= GONE_MS) this.#missingSince = now;
    const missing = Math.round(this.missingMs);
    if (missing >= ANSWER_MS) this.#alarms.weaken();
    const isFresh = now - this.#heardAt < FRESH_MS;
    if (!isFresh) this.#alarms.race();
    const next = isFresh ? FRESH_MS : missing < ANSWER_MS ? ANSWER_MS - missing : ANSWER_MS;
    this.#look(next, () => this.doubt());
    // Last, for this ends the watch.
    if (missing >= GONE_MS) this.#alarms.giveUp();
  }

  #ask(): void {
    this.#missingSince = this.#host.now;
    this.#alarms.ask();
    this.#look(ANSWER_MS, () => this.doubt());
  }

  /** A command, or the way in, has no answer. */
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
