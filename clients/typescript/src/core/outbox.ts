// Commands without an outcome, across connections: which were sent, and which may have taken effect. A
// command that may have taken effect is repeated only if the table still expects it.

import { isExpected, outcomeOfRefusal } from "./commands.js";
import type { CommandNumber, Intent, OpenCommand, Outcome, TableState } from "./types.js";

/** The outbox's dependencies and its observer. */
export interface OutboxHost {
  table(): TableState | null;
  /** Returns whether such a command can be sent now. */
  isReady(intent: Intent): boolean;
  /** Returns whether there is no table that a command could concern. */
  hasNoTable(): boolean;
  /** Sends a command and returns its id on this connection; null without one. */
  send(intent: Intent): number | null;
  sent(): void;
  open(open: readonly OpenCommand[]): void;
  ended(command: CommandNumber | null, intent: Intent, outcome: Outcome): void;
}

interface Pending {
  /** Null for a command of the client itself, whose outcome is not reported. */
  readonly command: CommandNumber | null;
  readonly intent: Intent;
  /** The id on the present connection; null until it is sent there. */
  id: number | null;
  /** True once the command was sent and may have taken effect. */
  isSent: boolean;
  /** True once the command was sent more than once. */
  isRepeated: boolean;
}

export class Outbox {
  readonly #host: OutboxHost;
  #pending: Pending[] = [];

  constructor(host: OutboxHost) {
    this.#host = host;
  }

  /** Returns whether a command on this connection has no answer yet. */
  get hasUnanswered(): boolean {
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
    this.#publishOpen();
  }

  /** Sends every command that has not been sent on this connection and that the table still expects. */
  send(): void {
    for (const pending of [...this.#pending]) {
      const { intent } = pending;
      if (pending.id !== null || !this.#pending.includes(pending)) continue;
      if (!this.#host.isReady(intent)) {
        if (intent.type === "say" || this.#host.hasNoTable()) this.#giveUp(pending);
      } else if (intent.type !== "say" && isExpected(intent, this.#host.table())) {
        this.#send(pending);
      } else if (intent.type === "say" && !pending.isSent) {
        this.#send(pending);
      } else {
        this.#giveUp(pending);
      }
    }
  }

  /** Forgets the ids of a closed connection, whose answers are lost with it. */
  forgetIds(): void {
    for (const pending of this.#pending) pending.id = null;
  }

  /** Returns the intent that an answer with this id concerns. */
  findIntent(id: number): Intent | null {
    return this.#find(id)?.intent ?? null;
  }

  acknowledge(id: number, version: number | null): void {
    const pending = this.#find(id);
    if (pending) this.#end(pending, { type: "done", version });
  }

  /** Handles a refusal, and returns whether the command stays for a retry. */
  handleRefusal(
    id: number,
    refusal: { code: string; rule?: string | null; detail: string; retryable: boolean },
  ): boolean {
    const pending = this.#find(id);
    if (!pending) return false;
    if (refusal.retryable && pending.intent.type !== "say") {
      // The command may have been accepted all the same: `unavailable` does not exclude it.
      pending.id = null;
      return true;
    }
    this.#end(pending, outcomeOfRefusal(pending.isRepeated, refusal));
    return false;
  }

  /** Drops all commands. */
  giveUp(): void {
    for (const pending of [...this.#pending]) this.#giveUp(pending);
  }

  #find(id: number): Pending | undefined {
    return this.#pending.find((other) => other.id === id);
  }

  #send(pending: Pending): void {
    const id = this.#host.send(pending.intent);
    if (id === null) return;
    pending.id = id;
    pending.isRepeated = pending.isSent;
    pending.isSent = true;
    this.#host.sent();
  }

  #giveUp(pending: Pending): void {
    this.#end(pending, pending.isSent ? { type: "overtaken" } : { type: "dropped" });
  }

  #end(pending: Pending, outcome: Outcome): void {
    this.#pending = this.#pending.filter((other) => other !== pending);
    this.#publishOpen();
    this.#host.ended(pending.command, pending.intent, outcome);
  }

  #publishOpen(): void {
    this.#host.open(
      this.#pending.flatMap(({ command, intent }) => (command === null ? [] : [{ command, intent }])),
    );
  }
}
