// HTTP requests in flight, with their callbacks.

import { type Result, resultOf } from "./answers.js";
import type { Call, Effect, HttpAnswer } from "./types.js";

/** The timeout of a request. */
const REQUEST_MS = 12_000;

export interface Surroundings {
  after(ms: number, act: () => void): () => void;
  effect(effect: Effect): void;
}

export class Requests {
  readonly #around: Surroundings;
  readonly #base: string;
  readonly #waiting = new Map<number, (result: Result | null) => void>();
  #last = 0;

  constructor(around: Surroundings, base: string) {
    this.#around = around;
    this.#base = base;
  }

  /** Sends a request and calls `done` with the server's answer, or with null if there is none. */
  ask({ method, path, headers, body }: Call, done: (result: Result | null) => void): void {
    this.#last += 1;
    const request = this.#last;
    const text = body === undefined || body === null ? null : JSON.stringify(body);
    const type: Record<string, string> = text === null ? {} : { "content-type": "application/json" };
    this.#around.effect({
      type: "request",
      request,
      method,
      url: `${this.#base}${path}`,
      headers: { accept: "application/json", ...type, ...headers },
      body: text,
    });
    const stop = this.#around.after(REQUEST_MS, () => this.answered(request, null));
    this.#waiting.set(request, (result) => {
      stop();
      done(result);
    });
  }

  answered(request: number, answer: HttpAnswer | null): void {
    const done = this.#waiting.get(request);
    this.#waiting.delete(request);
    done?.(answer && resultOf(answer));
  }
}
