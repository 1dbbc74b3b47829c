// The model of Tongo (options) for the core, and its functions for pages.

import type {
  TongoOptionsEvent as GameEvent, TongoOptionsRules, TongoOptionsView as View,
} from "../../gen/socket.js";
import type { GameModel, GamePrompt, ShortEventsOf } from "../model.js";
import { cardOf } from "./cards.js";
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
  shortEvents: {
    stopped: ["seat", "floor"],
    risk_paid: ["seat", "chips"],
    retreated: ["seat"],
    folded: ["seat"],
    bought: ["seat", "slot", "card", "chips", ["leverage", false]],
    sold: ["seat", "slot", "chips", ["leverage", false]],
    exchanged: ["seat", "slot", "floor?", "other", "chips", ["leverage", false]],
    ended: ["seat", "chips"],
    drew: ["seat", "cards?"],
    evaded: ["seat", "token", "chips", "count", "discards?"],
    costs_changed: ["seat", "how", "costs", "chips"],
    rolling: ["seat"],
    rolled: ["seat", "dice"],
    confronted: ["seat", "target"],
    answered: ["seat", "answer", "chips"],
    acquired: ["seat", "floor"],
    reserves_converted: ["seat", "wager"],
    dealt: ["dealer", "hands", "up", "dice"],
    shown: ["hands"],
    over: ["ending", "winner", "pot"],
  } satisfies ShortEventsOf<GameEvent>,
  packedFields: {
    card: cardOf,
    cards: cardOf,
    discards: cardOf,
    hands: cardOf,
    up: cardOf,
    dice: [{ value: null, place: null }],
    costs: { buy: null, sell: null, exchange: null },
    "shown.hands": [{ seat: null, hand: cardOf, floor: null, matches: [{ class: null, card: cardOf, floor: cardOf }] }],
  },
  begin: (rules, seats, starter, viewer) => begin(rules as TongoOptionsRules, seats, starter, viewer),
  observe: (view, event) => observe(view as View, event as GameEvent),
  prompt: (view) => prompt(view as View),
  legal: (view) => legal(view as View),
  redeal,
};

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
