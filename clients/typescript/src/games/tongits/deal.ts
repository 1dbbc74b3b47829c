// Deals a game of Tong-its again from its seeds (rules 2.3 and 9.4).

import type { Redeal, Redealt } from "../model.js";
import { cardOf } from "./cards.js";

const SEATS = 3;

export function redeal({ stream, starter, chance, rules, step }: Redeal): Redealt | null {
  const left = [...chance];
  let first = starter;
  if (first === null) {
    first = stream.uniform(SEATS);
    step("starter", "9.4", JSON.stringify({ number: first }), JSON.stringify(left.shift()));
  }
  const said = left.shift() as { order?: readonly number[] } | undefined;
  const order = stream.order(said?.order?.length ?? 0);
  step("deck", "9.4", named(order), named(said?.order ?? []));
  const { deal, hand_cards } = (rules ?? {}) as { deal?: string; hand_cards?: number };
  if (hand_cards === undefined) return null;
  return { hands: dealt(order, first, hand_cards, deal === "clockwise"), rule: "2.3" };
}

/** Returns the hands by seat, each in ascending order (rule 2.3). */
function dealt(
  order: readonly number[],
  starter: number,
  each: number,
  isClockwise: boolean,
): string[][] {
  const hands: number[][] = [[], [], []];
  for (let place = 0; place <= SEATS * each; place += 1) {
    const round = place === SEATS * each ? 0 : place % SEATS;
    const seat = (starter + (isClockwise ? SEATS - round : round)) % SEATS;
    hands[seat]?.push(order[place] ?? 0);
  }
  return hands.map((hand) => hand.sort((one, other) => one - other).map(cardOf));
}

function named(order: readonly number[]): string {
  return order.map(cardOf).join(" ");
}
