// The model of Tong-its for the core, and its functions for pages.

import type { TongitsEvent, TongitsRules, TongitsView } from "../../gen/socket.js";
import type { GameModel, GamePrompt, ShortEventsOf } from "../model.js";
import { cardOf } from "./cards.js";
import { redeal } from "./deal.js";
import { legal } from "./legal.js";
import { begin, observe } from "./view.js";

export { type Arrangement, arrange, deadwood, sortByArrangement, sortBySuit } from "./arrange.js";
export { cardOf, indexOf, isJoker } from "./cards.js";
export { type Illegal, chows, fightState, legal, ownHand, targets, whyNot } from "./legal.js";
export { additionsTo, areMeld, deck, melds, points, takes } from "./melds.js";
export { observe } from "./view.js";

export const tongits: GameModel = {
  kind: "tongits",
  shortEvents: {
    drawn: ["seat", ["auto", false], ["card", null]],
    chowed: ["seat", "discard", "cards"],
    dropped: ["seat", "cards"],
    sapawed: ["seat", "card", "meld"],
    dumped: ["seat", "card"],
    starter_chosen: ["seat"],
    dealt: ["starter", "hands"],
    fought: ["seat", "asked", ["asked_secretly", []]],
    answered: ["seat", "answer"],
    sagasa: ["seat", "meld"],
    laid_face_down: ["seat", "cards", "count"],
    tongits_declared: ["seat"],
    shown: ["hands"],
    over: ["ending", "winner", "showdown", "special?"],
  } satisfies ShortEventsOf<TongitsEvent>,
  packedFields: {
    card: cardOf,
    cards: cardOf,
    discard: cardOf,
    hands: cardOf,
    "shown.hands": [{
      hand: cardOf,
      arrangement: { melds: cardOf, leftover: cardOf, deadwood: null },
      burned: null,
      points: null,
      face_down: cardOf,
    }],
  },
  begin: (rules, _seats, starter, viewer) => begin(rules as TongitsRules, starter, viewer),
  observe: (view, event) => observe(view as TongitsView, event as TongitsEvent),
  prompt: (view) => prompt(view as TongitsView),
  legal: (view) => legal(view as TongitsView),
  redeal,
};

/** Returns the open prompt as far as the viewer may know it. */
function prompt({ public: open }: TongitsView): GamePrompt | null {
  const { phase, prompt: number } = open;
  switch (phase.type) {
    case "starter":
    case "deal":
    case "over":
      return null;
    case "draw":
    case "play":
      return { number, seats: [phase.seat] };
    case "fight": {
      const asked = [...new Set([...phase.asked, ...phase.asked_secretly])];
      const seats = asked.filter((seat) => !phase.answered.includes(seat));
      return { number, seats: seats.sort((one, other) => one - other) };
    }
    default:
      return null;
  }
}
