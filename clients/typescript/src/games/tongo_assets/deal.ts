// Deals a game of Tongo (assets) again from its seeds (rules 1.4 and 1.7): the opener, both decks, the
// rotation of the table for the deal, and its stop after each round of risking.

import type { Redeal, Redealt } from "../model.js";
import { cardOf, sorted } from "./cards.js";
import { SLOTS } from "./public.js";

const ASSETS = 98;
const ACQUIRES = 30;
const DEALT = 4;
const RULE = "1.7";

export function redeal({ stream, seats, starter, chance, rules, step }: Redeal): Redealt | null {
  const left = [...chance];
  const said = (): string => JSON.stringify(left.shift() ?? null);
  const numbered = (name: string, below: number): number => {
    const number = stream.uniform(below);
    step(name, RULE, JSON.stringify({ number }), said());
    return number;
  };
  const shuffled = (name: string, count: number, from: number): string[] => {
    const named = (order: readonly number[]) => order.map((index) => cardOf(from + index));
    const cards = named(stream.order(count));
    const { order = [] } = (left.shift() ?? {}) as { order?: readonly number[] };
    step(name, RULE, cards.join(" "), named(order).join(" "));
    return cards;
  };
  if (starter === null) numbered("dealer", seats);
  const assets = shuffled("assets", ASSETS, 0);
  shuffled("acquires", ACQUIRES, ASSETS);
  const { sections } = (rules ?? {}) as { sections?: number };
  if (sections === undefined) return null;
  const rotation = numbered("rotation", sections);
  while (left.length > 0) numbered("stop", sections);
  const hands = Array.from({ length: seats }, (_, seat) => {
    const first = SLOTS * ((Math.floor((seat * sections) / seats) + rotation) % sections);
    return sorted(assets.slice(first, first + DEALT));
  });
  return { hands, rule: "1.4" };
}
