// The cards of both decks, and the dice on the ring (rules 1.2 to 1.4).

import type { TongoOptionsCard as Card, TongoOptionsDie as Die } from "../../gen/socket.js";

export const NUMBERS = 12;
export const FLOORS = 8;
export const SLOTS = 3;
export const PLACES = 2 * FLOORS;
export const HAND_CARDS = 4;

const NUMBER_LETTERS = "A23456789TJK";
/** The suits in the order of the index; diamonds are the highest. */
const SUIT_LETTERS = "DHSC";

/** The lowest value of each die and its sides; the last two only with `dice_2d6`. */
const DICE = [[1, 4], [5, 4], [9, 4], [1, 6], [7, 6]] as const;

export function indexOf(card: Card): number {
  return SUIT_LETTERS.indexOf(card[1] ?? "") * NUMBERS + NUMBER_LETTERS.indexOf(card[0] ?? "");
}

export function cardOf(index: number): Card {
  const letter = NUMBER_LETTERS[index % NUMBERS] ?? "?";
  return letter + (SUIT_LETTERS[Math.floor(index / NUMBERS)] ?? "?");
}

/** Returns the number of a card from 1, the ace, to 12, the king. */
export function numberOf(card: Card): number {
  return NUMBER_LETTERS.indexOf(card[0] ?? "") + 1;
}

/** Returns the rank of a card's suit: 3 for diamonds, the highest, to 0 for clubs. */
export function suitHeight(card: Card): number {
  return SUIT_LETTERS.length - 1 - SUIT_LETTERS.indexOf(card[1] ?? "");
}

export function sorted(cards: readonly Card[]): Card[] {
  return [...cards].sort((one, other) => indexOf(one) - indexOf(other));
}

export function diceOf(rules: { readonly dice_2d6: boolean }): readonly (readonly [number, number])[] {
  return rules.dice_2d6 ? DICE : DICE.slice(0, 3);
}

/** Returns whether a die faces a floor; on a line it faces the floors on both sides (rule 1.4). */
export function faces({ place }: Die, floor: number): boolean {
  const on = 2 * floor;
  return place === on || place === on + 1 || place === (on + PLACES - 1) % PLACES;
}

/** Returns the distance between two floors around the ring. */
export function distance(one: number, other: number): number {
  const straight = Math.abs(one - other);
  return Math.min(straight, FLOORS - straight);
}
