// Resolves players' wishes to intents, decides which intents a table still expects, and interprets refusals
// (docs/PROTOCOL.md, "A command whose answer was lost").

import { commitmentTo } from "../fair/deal.js";
import { gameToReveal } from "./observe.js";
import type { Intent, Outcome, TableState, Wish } from "./types.js";

/** Refusal codes that a repeated command gets if its first copy took effect. */
const ALREADY_DONE_CODES: ReadonlySet<string> = new Set([
  "stale_prompt",
  "not_asked",
  "already_answered",
  "other_game",
  "wrong_phase",
  "already_ready",
  "already_revealed",
  "not_taken_over",
  "not_seated",
]);

/** The commands that have no outcome yet. */
export interface OpenIntents {
  has(type: Intent["type"], game?: string, prompt?: number): boolean;
}

/**
 * Returns a wish bound to the table's present prompt; null if there is no prompt or table for it, or if the
 * same intent is already in flight. `textFor` returns the text that the player commits to for a game.
 */
export function resolveIntent(
  wish: Wish,
  table: TableState | null,
  player: string | null,
  open: OpenIntents,
  textFor: (game: string, given: string | undefined) => string,
): Intent | null {
  const seat = table?.view.seat ?? null;
  switch (wish.type) {
    case "ready": {
      const phase = table?.view.phase;
      if (phase?.type !== "preparing" || player === null) return null;
      if (seat === null || phase.ready.includes(seat) || open.has("ready", phase.game)) return null;
      if (wish.text === null) return { type: "ready", game: phase.game };
      const commitment = commitmentTo(textFor(phase.game, wish.text));
      return { type: "ready", game: phase.game, commitment };
    }
    case "act": {
      const prompt = table?.prompt;
      if (!prompt || prompt.legal.length === 0) return null;
      const { game, number } = prompt;
      if (open.has("act", game, number)) return null;
      return { type: "act", game, prompt: number, action: wish.action };
    }
    case "hint": {
      const isAsked = (table?.prompt?.legal.length ?? 0) > 0;
      return table?.view.terms.practice && isAsked && !open.has("hint") ? wish : null;
    }
    case "take_back":
    case "leave":
      return seat === null ? null : wish;
    default:
      return wish;
  }
}

/** Returns whether an intent concerns the joined table. */
export function isTableIntent({ type }: Intent): boolean {
  switch (type) {
    case "ready":
    case "reveal":
    case "act":
    case "take_back":
    case "leave":
    case "say":
    case "hint":
      return true;
    case "seek":
    case "cancel_seek":
    case "watch":
    case "unwatch":
      return false;
  }
}

/** Returns whether the table, as far as it is known, would still accept an intent. */
export function isExpected(intent: Intent, table: TableState | null): boolean {
  const view = table?.view;
  if (!isTableIntent(intent)) return true;
  if (!view) return false;
  const { seat, phase } = view;
  switch (intent.type) {
    case "ready":
      return (
        phase.type === "preparing" &&
        phase.game === intent.game &&
        seat !== null &&
        !phase.ready.includes(seat)
      );
    case "reveal":
      return gameToReveal(view) === intent.game;
    case "act": {
      const prompt = table.prompt;
      const isOpen = prompt?.game === intent.game && prompt.number === intent.prompt;
      return isOpen && prompt.legal.length > 0;
    }
    case "take_back":
      return seat !== null && (view.seats[seat]?.taken_over ?? false);
    case "leave":
      return seat !== null;
    case "hint":
      return (table.prompt?.legal.length ?? 0) > 0;
    // A phrase may already have been heard, and repeated later it would mean something else.
    case "say":
      return false;
    case "seek":
    case "cancel_seek":
    case "watch":
    case "unwatch":
      return true;
  }
}

/**
 * Returns the outcome of a refused command; `isRepeated` states that the command may have been sent before.
 */
export function outcomeOfRefusal(
  isRepeated: boolean,
  { code, rule, detail }: { code: string; rule?: string | null; detail: string },
): Outcome {
  if (isRepeated && ALREADY_DONE_CODES.has(code)) return { type: "overtaken" };
  return { type: "refused", code, rule: rule ?? null, detail };
}
