// The model of Tong-its for the core, and its functions for pages.

import type { TongitsEvent, TongitsRules, TongitsView } from "../../gen/socket.js";
import type { GameModel, GamePrompt } from "../model.js";
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
  shortEvents: ["drawn", "chowed", "dropped", "sapawed", "dumped"],
  readShort,
  begin: (rules, _seats, starter, viewer) => begin(rules as TongitsRules, starter, viewer),
  observe: (view, event) => observe(view as TongitsView, event as TongitsEvent),
  prompt: (view) => prompt(view as TongitsView),
  legal: (view) => legal(view as TongitsView),
  redeal,
};

function readShort(word: string, fields: readonly unknown[]): TongitsEvent | null {
  const [seat, second, third] = fields as readonly [number, never, never];
  switch (word) {
    case "drawn":
      return { type: "drawn", seat, auto: second ?? false, card: third ?? null };
    case "chowed":
      return { type: "chowed", seat, discard: second, cards: third };
    case "dropped":
      return { type: "dropped", seat, cards: second };
    case "sapawed":
      return { type: "sapawed", seat, card: second, meld: third };
    case "dumped":
      return { type: "dumped", seat, card: second };
    default:
      return null;
  }
}

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
