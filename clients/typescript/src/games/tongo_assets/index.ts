// The model of Tongo (assets) for the core, and its functions for pages.

import type {
  TongoAssetsAction, TongoAssetsEvent, TongoAssetsRules, TongoAssetsView,
} from "../../gen/socket.js";
import type { GameModel, GamePrompt } from "../model.js";
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
  shortEvents: ["paid", "assessing", "swapped", "purchased", "acquired", "done", "retreated"],
  readShort,
  begin: (rules, seats, dealer, viewer) => begin(rules as TongoAssetsRules, seats, dealer, viewer),
  observe: (view, event) => observe(view as TongoAssetsView, event as TongoAssetsEvent),
  prompt: (view) => prompt(view as TongoAssetsView),
  legal: (view) => legal(view as TongoAssetsView) satisfies TongoAssetsAction[],
  redeal,
};

function readShort(word: string, fields: readonly unknown[]): TongoAssetsEvent | null {
  const [seat, second, third, fourth, fifth] = fields as readonly [number, never, never, never, never];
  switch (word) {
    case "paid":
      return { type: "paid", seat, chips: second };
    case "assessing":
      return { type: "assessing", seat, assets: second ?? null };
    case "swapped":
      return { type: "swapped", seat, slot: second, taken: third ?? "asset", discarded: fourth ?? "asset" };
    case "purchased":
      return { type: "purchased", seat, slot: second, chips: third, taken: fourth ?? "asset",
        discarded: fifth ?? null };
    case "acquired":
      return { type: "acquired", seat, to: second, chips: third, taken: fourth ?? "acquire",
        discarded: fifth ?? null };
    case "done":
    case "retreated":
      return { type: word, seat };
    default:
      return null;
  }
}

/** Returns the open prompt. */
function prompt({ public: open }: TongoAssetsView): GamePrompt | null {
  const seat = asked(open);
  return seat === null ? null : { number: open.prompt, seats: [seat] };
}
