// The model of Tongo (options) for the core, and its functions for pages.

import type {
  TongoOptionsEvent as GameEvent, TongoOptionsRules, TongoOptionsView as View,
} from "../../gen/socket.js";
import type { GameModel, GamePrompt } from "../model.js";
import { redeal } from "./deal.js";
import { legal } from "./legal.js";
import { begin, observe } from "./view.js";

export { FLOORS, SLOTS, distance, faces, indexOf, numberOf, suitHeight } from "./cards.js";
export { type Change, type CostName, COSTS, answerPrice, changed, exchangePrice, indexed, price, raiseLeft, risk } from "./costs.js";
export { type Illegal, legal, ownHand, whyNot } from "./legal.js";
export { type Best, CLASSES, bestFloor, bestOf, compare, matches } from "./strength.js";
export { hasEvaded, mayEvadeByToken, observe, stillIn } from "./view.js";

export const tongoOptions: GameModel = {
  kind: "tongo_options",
  shortEvents: [
    "stopped", "risk_paid", "retreated", "folded", "bought", "sold", "exchanged", "ended", "drew",
  ],
  readShort,
  begin: (rules, seats, starter, viewer) => begin(rules as TongoOptionsRules, seats, starter, viewer),
  observe: (view, event) => observe(view as View, event as GameEvent),
  prompt: (view) => prompt(view as View),
  legal: (view) => legal(view as View),
  redeal,
};

function readShort(word: string, fields: readonly unknown[]): GameEvent | null {
  const [seat, second, third, fourth, fifth, sixth] = fields as readonly [number, ...never[]];
  switch (word) {
    case "stopped":
      return { type: "stopped", seat, floor: second as never };
    case "risk_paid":
      return { type: "risk_paid", seat, chips: second as never };
    case "retreated":
      return { type: "retreated", seat };
    case "folded":
      return { type: "folded", seat };
    case "bought":
      return { type: "bought", seat, slot: second as never, card: third as never, chips: fourth as never, leverage: fifth ?? false };
    case "sold":
      return { type: "sold", seat, slot: second as never, chips: third as never, leverage: fourth ?? false };
    case "exchanged":
      return { type: "exchanged", seat, slot: second as never, floor: third ?? null, other: fourth as never, chips: fifth as never, leverage: sixth ?? false };
    case "ended":
      return { type: "ended", seat, chips: second as never };
    case "drew":
      return { type: "drew", seat, cards: second ?? null };
    default:
      return null;
  }
}

/** Returns the open prompt. */
function prompt({ public: { phase, prompt: number } }: View): GamePrompt | null {
  switch (phase.type) {
    case "stop":
    case "turn":
      return { number, seats: [phase.seat] };
    case "challenge":
      return { number, seats: [phase.asked] };
    default:
      return null;
  }
}
