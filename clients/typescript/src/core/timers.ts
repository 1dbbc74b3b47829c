// What is to be done at a later moment, of whoever's clock.

interface Timer {
  readonly at: number;
  readonly act: () => void;
}

export class Timers {
  #timers: Timer[] = [];

  /** The next moment; null where nothing is to be done. */
  get next(): number | null {
    return this.#timers.reduce<number | null>(
      (next, { at }) => (next === null || at < next ? at : next),
      null,
    );
  }

  /** Gives a function that forgets it again. */
  after(at: number, act: () => void): () => void {
    const timer = { at, act };
    this.#timers.push(timer);
    return () => {
      this.#timers = this.#timers.filter((other) => other !== timer);
    };
  }

  /** Does what is due, the earliest first. What this brings about is left for the next time. */
  run(now: number): void {
    const due = this.#timers.filter(({ at }) => at <= now).sort((one, other) => one.at - other.at);
    for (const timer of due) {
      // One before it may have made it needless.
      if (!this.#timers.includes(timer)) continue;
      this.#timers = this.#timers.filter((other) => other !== timer);
      timer.act();
    }
  }
}
