// The model of Tongo (assets) for the core, and its functions for pages.

import type {
  TongoAssetsAction, TongoAssetsEvent, TongoAssetsRules, TongoAssetsView,
} from "../../gen/socket.js";
import type { GameModel, GamePrompt, ShortEventsOf } from "../model.js";
import { cardOf } from "./cards.js";
import { redeal } from "./deal.js";
import { legal } from "./legal.js";
import { asked } from "./public.js";
import { begin, observe } from "./view.js";

export { COLOURS, cardOf, colourOf, indexOf, isAsset, isWild, kindOf, numberOf } from "./cards.js";
export { legal } from "./legal.js";
export { HAND_MAX, KEPT_MAX, evasion, isLast, openingRisk, priceBounds, sectionOf } from "./public.js";
export { CLASSES, compare, makers, nextBetter, readingOf } from "./strength.js";
export { observe } from "./view.js";
export { type Illegal, handCount, indexed, leveraged, whyNot } from "./why.js";

export const tongoAssets: GameModel = {
  kind: "tongo_assets",
  shortEvents: {
    paid: ["seat", "chips"],
    assessing: ["seat", "assets?"],
    swapped: ["seat", "slot", ["taken", "asset"], ["discarded", "asset"]],
    purchased: ["seat", "slot", "chips", ["taken", "asset"], "discarded?"],
    acquired: ["seat", "to", "chips", ["taken", "acquire"], "discarded?"],
    done: ["seat"],
    retreated: ["seat"],
    opened: ["seat", "risk", "purchase", "sell"],
    raised: ["seat", "chips", "risk", "purchase", "sell"],
    stopped: ["rotation"],
    free_spent: ["seat"],
    dividend_taken: ["seat", "chips"],
    audited: ["seat", "chips"],
    sold: ["seat", "slots", "chips", "hand?"],
    revealed: ["seat", "section", "assets?"],
    confronted: ["seat", "chips"],
    evaded: ["seat", "chips", "discarded"],
    dealer_chosen: ["seat"],
    assets_shuffled: [],
    acquires_shuffled: [],
    dealt: ["rotation", "hands"],
    shown: ["hands"],
    over: ["ending", "winner", "awards"],
  } satisfies ShortEventsOf<TongoAssetsEvent>,
  packedFields: {
    assets: cardOf,
    taken: cardOf,
    discarded: cardOf,
    hand: cardOf,
    hands: cardOf,
    "shown.hands": [{ hand: cardOf, reading: { class: null, number: null, colour: null, wilds: null } }],
  },
  begin: (rules, seats, dealer, viewer) => begin(rules as TongoAssetsRules, seats, dealer, viewer),
  observe: (view, event) => observe(view as TongoAssetsView, event as TongoAssetsEvent),
  prompt: (view) => prompt(view as TongoAssetsView),
  legal: (view) => legal(view as TongoAssetsView) satisfies TongoAssetsAction[],
  redeal,
};

/** Returns the open prompt. */
function prompt({ public: open }: TongoAssetsView): GamePrompt | null {
  const seat = asked(open);
  return seat === null ? null : { number: open.prompt, seats: [seat] };
}
