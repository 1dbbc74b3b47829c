// The strength of a hand with the face-up cards of a floor and the dice (rules 8.1, 8.2).

import type {
  TongoOptionsCard as Card, TongoOptionsClass as Class, TongoOptionsDie as Die,
  TongoOptionsMatch as Match, TongoOptionsPublic as Public,
} from "../../gen/socket.js";
import { FLOORS, NUMBERS, numberOf, suitHeight } from "./cards.js";

/** The classes, the weakest first. */
export const CLASSES: readonly Class[] =
  ["pair", "exact_pair", "chain", "exact_chain", "four", "exact_four"];

type Floors = readonly (readonly (Card | null)[])[];
type Dice = readonly Pick<Die, "value">[];

/** A hand's matches with its best floor. */
export interface Best {
  readonly floor: number;
  readonly matches: readonly Match[];
}

/** Returns the matches that make up the strength of a hand with one floor, the highest first. */
export function matches(hand: readonly Card[], floor: readonly (Card | null)[], dice: Dice): Match[] {
  const up = floor.filter((card) => card !== null);
  const found: Match[] = [];
  for (let number = NUMBERS; number >= 1; number -= 1) {
    const of = (cards: readonly Card[]): Card[] =>
      cards.filter((card) => numberOf(card) === number)
        .sort((one, other) => suitHeight(other) - suitHeight(one));
    const showing = dice.filter(({ value }) => value === number).length;
    found.push(...ofNumber(of(hand), of(up), showing));
  }
  const height = (one: Match): number => CLASSES.indexOf(one.class) * 16 + numberOf(one.card);
  return found.sort((one, other) => height(other) - height(one));
}

/**
 * Returns the matches of one number: all cards of equal suit are paired, dice go to the highest, and the rest
 * follow from the highest down.
 */
function ofNumber(hand: readonly Card[], floor: readonly Card[], dice: number): Match[] {
  const exact = hand.filter((card) => floor.includes(card));
  const own = hand.filter((card) => !exact.includes(card));
  const other = floor.filter((card) => !exact.includes(card));
  const found: Match[] = [];
  const add = (kind: Class, card: Card | undefined, match: Card | undefined): void => {
    if (card !== undefined && match !== undefined) found.push({ class: kind, card, floor: match });
  };
  if (dice > 0 && exact.length > 0) {
    const card = exact.shift();
    add(dice > 1 ? "exact_four" : "exact_chain", card, card);
  } else if (dice > 0) {
    if (own.length > 0 && other.length > 0) {
      add(dice > 1 ? "four" : "chain", own.shift(), other.shift());
    }
  }
  for (const card of exact) add("exact_pair", card, card);
  own.forEach((card, place) => add("pair", card, other[place]));
  return found;
}

/** Returns a positive number if the first hand beats the other by all rules except the order of the seats. */
export function compare(one: readonly Match[], other: readonly Match[]): number {
  const keys: ((match: Match | undefined) => number)[] = [
    (match) => (match ? CLASSES.indexOf(match.class) + 1 : 0),
    (match) => (match ? numberOf(match.card) : 0),
    (match) => (match ? suitHeight(match.card) : 0),
  ];
  for (const key of keys) {
    for (let place = 0; place < Math.max(one.length, other.length); place += 1) {
      const more = key(one[place]) - key(other[place]);
      if (more !== 0) return more;
    }
  }
  return 0;
}

/** Returns the best floor; of equal floors the lowest. */
export function bestFloor(hand: readonly Card[], floors: Floors, dice: Dice): Best {
  let best: Best = { floor: 0, matches: [] };
  for (let floor = 0; floor < FLOORS; floor += 1) {
    const found = matches(hand, floors[floor] ?? [], dice);
    if (compare(found, best.matches) > 0) best = { floor, matches: found };
  }
  return best;
}

/** Returns the best floor of the public state. */
export function bestOf(hand: readonly Card[], { floors, dice }: Public): Best {
  return bestFloor(hand, floors, dice);
}
