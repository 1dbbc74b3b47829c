// The model of Tong-its for the core, and its functions for pages.

import type { TongitsEvent, TongitsRules, TongitsView } from "../../gen/socket.js";
import type { GameModel, GamePrompt, ShortEventsOf } from "../model.js";
import { packedCards, packedList, packedStructure } from "../packed.js";
import { cardOf } from "./cards.js";
import { redeal } from "./deal.js";
import { legal } from "./legal.js";
import { begin, observe } from "./view.js";

export { type Arrangement, arrange, deadwood, sortByArrangement, sortBySuit } from "./arrange.js";
export { cardOf, indexOf, isJoker } from "./cards.js";
export { type Illegal, chows, fightState, legal, ownHand, targets, whyNot } from "./legal.js";
export { additionsTo, areMeld, deck, melds, points, takes } from "./melds.js";
export { observe } from "./view.js";

const cards = packedCards(cardOf);

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
    card: cards,
    cards,
    discard: cards,
    hands: cards,
    "shown.hands": packedList(packedStructure([
      ["hand", cards],
      ["arrangement", packedStructure([["melds", cards], ["leftover", cards], ["deadwood"]])],
      ["burned"],
      ["points"],
      ["face_down", cards],
    ])),
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
