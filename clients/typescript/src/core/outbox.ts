// Commands that have not come to their end, on whatever connection: which were sent, and which may have
// taken effect. One that has is sent again only where the table still waits for it.

import { isWaitedFor, refused } from "./commands.js";
import type { CommandNumber, Intent, OpenCommand, Outcome, TableState } from "./types.js";

/** What the outbox asks and tells. */
export interface Surroundings {
  table(): TableState | null;
  /** Whether such a command can be sent now. */
  isReady(intent: Intent): boolean;
  /** Whether there is no table that a command could be about. */
  isHopeless(): boolean;
  /** Gives the command's number on this connection; null where there is none. */
  send(intent: Intent): number | null;
  sent(): void;
  open(open: readonly OpenCommand[]): void;
  ended(command: CommandNumber | null, intent: Intent, outcome: Outcome): void;
}

interface Pending {
  /** Null for what the client does by itself: nobody is told its end. */
  readonly command: CommandNumber | null;
  readonly intent: Intent;
  /** Its id on the present connection, once it was sent there. */
  id: number | null;
  /** It was sent, and may have taken effect. */
  isSent: boolean;
  /** It was sent more than once. */
  isRepeated: boolean;
}

export class Outbox {
  readonly #around: Surroundings;
  #pending: Pending[] = [];

  constructor(around: Surroundings) {
    this.#around = around;
  }

  /** Whether something was sent on this connection and has no answer yet. */
  get isWaiting(): boolean {
    return this.#pending.some(({ id }) => id !== null);
  }

  has(type: Intent["type"], game?: string, prompt?: number): boolean {
    return this.#pending.some(({ intent }) => {
      if (intent.type !== type) return false;
      if (game !== undefined && "game" in intent && intent.game !== game) return false;
      return intent.type !== "act" || intent.prompt === prompt;
    });
  }

  add(command: CommandNumber | null, intent: Intent): void {
    this.#pending.push({ command, intent, id: null, isSent: false, isRepeated: false });
    this.#show();
  }

  /** Sends what has not been sent on this connection, as far as it is waited for. */
  send(): void {
    for (const pending of [...this.#pending]) {
      const { intent } = pending;
      if (pending.id !== null || !this.#pending.includes(pending)) continue;
      if (!this.#around.isReady(intent)) {
        if (intent.type === "say" || this.#around.isHopeless()) this.#giveUp(pending);
      } else if (intent.type !== "say" && isWaitedFor(intent, this.#around.table())) {
        this.#send(pending);
      } else if (intent.type === "say" && !pending.isSent) {
        this.#send(pending);
      } else {
        this.#giveUp(pending);
      }
    }
  }

  /** The connection is gone, and the answers to what was sent on it with it. */
  lost(): void {
    for (const pending of this.#pending) pending.id = null;
  }

  /** What an answer with this id is about. */
  answeredTo(id: number): Intent | null {
    return this.#find(id)?.intent ?? null;
  }

  acked(id: number, version: number | null): void {
    const pending = this.#find(id);
    if (pending) this.#end(pending, { type: "done", version });
  }

  /** True where it stays, to be sent again later. */
  refused(
    id: number,
    refusal: { code: string; rule?: string | null; detail: string; retryable: boolean },
  ): boolean {
    const pending = this.#find(id);
    if (!pending) return false;
    if (refusal.retryable && pending.intent.type !== "say") {
      // It may have been taken all the same, for `unavailable` says nothing of that.
      pending.id = null;
      return true;
    }
    this.#end(pending, refused(pending.isRepeated, refusal));
    return false;
  }

  /** Nothing more will be sent. */
  giveUp(): void {
    for (const pending of [...this.#pending]) this.#giveUp(pending);
  }

  #find(id: number): Pending | undefined {
    return this.#pending.find((other) => other.id === id);
  }

  #send(pending: Pending): void {
    const id = this.#around.send(pending.intent);
    if (id === null) return;
    pending.id = id;
    pending.isRepeated = pending.isSent;
    pending.isSent = true;
    this.#around.sent();
  }

  #giveUp(pending: Pending): void {
    this.#end(pending, pending.isSent ? { type: "overtaken" } : { type: "dropped" });
  }

  #end(pending: Pending, outcome: Outcome): void {
    this.#pending = this.#pending.filter((other) => other !== pending);
    this.#show();
    this.#around.ended(pending.command, pending.intent, outcome);
  }

  #show(): void {
    this.#around.open(
      this.#pending.flatMap(({ command, intent }) => (command === null ? [] : [{ command, intent }])),
    );
  }
}
