// Deals a game of Tongo (options) again from its seeds (rule 2.1), with all later draws: the rolled dice, and
// the orders of the player deck after discards.

import type { Redeal, Redealt } from "../model.js";
import { HAND_CARDS, NUMBERS, PLACES, cardOf, diceOf } from "./cards.js";

const CARDS = 4 * NUMBERS;

interface Drawn {
  readonly number?: number;
  readonly order?: readonly number[];
}

export function redeal({ stream, seats, starter, chance, rules, step }: Redeal): Redealt | null {
  const left = [...chance] as Drawn[];
  let dealer = starter;
  if (dealer === null) {
    dealer = stream.uniform(seats);
    step("dealer", "2.1", String(dealer), String(left.shift()?.number));
  }
  const cards = (name: string): string[] => {
    const [order, said] = [stream.order(CARDS), left.shift()?.order ?? []];
    step(name, "2.1", named(order), named(said));
    return order.map(cardOf);
  };
  const deck = cards("deck");
  cards("options_deck");
  const known = rules as { dice_2d6: boolean } | null | undefined;
  // Without the rules, the number of values before the first order determines the dice.
  const dice = diceOf(known ?? { dice_2d6: false });
  const throwDice = (name: string, rule: string): void => {
    const [found, said]: [string[], string[]] = [[], []];
    for (const [lowest, sides] of dice) {
      const [value, place] = [stream.uniform(sides), stream.uniform(PLACES)];
      found.push(`${lowest + value} at ${place}`);
      said.push(`${lowest + Number(left.shift()?.number)} at ${Number(left.shift()?.number)}`);
    }
    step(name, rule, found.join(", "), said.join(", "));
  };
  throwDice("dice", "2.1");
  while (left.length > 0) {
    const said = left[0]?.order;
    if (said) {
      left.shift();
      step("shuffle", "3.2", stream.order(said.length).join(" "), said.join(" "));
    } else {
      throwDice("rolled", "3.4");
    }
  }
  return { hands: dealt(deck, dealer, seats), rule: "2.1" };
}

/** Deals one card at a time, four rounds, from the seat after the dealer; each hand is in ascending order. */
function dealt(deck: readonly string[], dealer: number, seats: number): string[][] {
  const hands: string[][] = Array.from({ length: seats }, () => []);
  for (let place = 0; place < HAND_CARDS * seats; place += 1) {
    hands[(dealer + 1 + place) % seats]?.push(deck[place] ?? "");
  }
  const all = Array.from({ length: CARDS }, (_, index) => cardOf(index));
  return hands.map((hand) => all.filter((card) => hand.includes(card)));
}

function named(order: readonly number[]): string {
  return order.map(cardOf).join(" ");
}
