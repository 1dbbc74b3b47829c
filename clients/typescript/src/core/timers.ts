// Timers in the time of the caller's clock.

interface Timer {
  readonly at: number;
  readonly act: () => void;
}

export class Timers {
  #timers: Timer[] = [];

  /** The time of the next timer; null without one. */
  get next(): number | null {
    return this.#timers.reduce<number | null>(
      (next, { at }) => (next === null || at < next ? at : next),
      null,
    );
  }

  /** Schedules an action and returns a function that cancels it. */
  schedule(at: number, act: () => void): () => void {
    const timer = { at, act };
    this.#timers.push(timer);
    return () => {
      this.#timers = this.#timers.filter((other) => other !== timer);
    };
  }

  /** Runs the timers that are due, the earliest first. A timer set by one of them runs on the next call. */
  run(now: number): void {
    const due = this.#timers.filter(({ at }) => at <= now).sort((one, other) => one.at - other.at);
    for (const timer of due) {
      // An earlier timer may have cancelled this one.
      if (!this.#timers.includes(timer)) continue;
      this.#timers = this.#timers.filter((other) => other !== timer);
      timer.act();
    }
  }
}
