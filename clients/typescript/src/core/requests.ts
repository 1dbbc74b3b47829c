// HTTP requests in flight, with their callbacks.

import { type Result, parseResult } from "./answers.js";
import type { Call, Effect, HttpAnswer } from "./types.js";

/** The timeout of a request. */
const REQUEST_MS = 12_000;

export interface RequestsHost {
  schedule(ms: number, act: () => void): () => void;
  effect(effect: Effect): void;
}

export class Requests {
  readonly #host: RequestsHost;
  readonly #base: string;
  readonly #waiting = new Map<number, (result: Result | null) => void>();
  #last = 0;

  constructor(host: RequestsHost, base: string) {
    this.#host = host;
    this.#base = base;
  }

  /** Sends a request and calls `done` with the server's answer, or with null if there is none. */
  send({ method, path, headers, body }: Call, done: (result: Result | null) => void): void {
    this.#last += 1;
    const request = this.#last;
    const text = body === undefined || body === null ? null : JSON.stringify(body);
    const type: Record<string, string> = text === null ? {} : { "content-type": "application/json" };
    this.#host.effect({
      type: "request",
      request,
      method,
      url: `${this.#base}${path}`,
      headers: { accept: "application/json", ...type, ...headers },
      body: text,
    });
    const stop = this.#host.schedule(REQUEST_MS, () => this.complete(request, null));
    this.#waiting.set(request, (result) => {
      stop();
      done(result);
    });
  }

  complete(request: number, answer: HttpAnswer | null): void {
    const done = this.#waiting.get(request);
    this.#waiting.delete(request);
    done?.(answer && parseResult(answer));
  }
}
