// Melds of Tong-its (rules 1.4, 1.6, 11.1): which cards form one, which can be added to one, which melds a
// hand holds, and the points of cards (rule 1.9). Lists are in the server's order.

import {
  type Place, type Set5, cardOf, cardsOf, difference, has, inRuns, inSuit, intersection, isEmpty,
  jokers, naturals, ofRank, ones, only, placeOf, placesOf, ranksWith, runFrom, setOf, size, union,
} from "./cards.js";

const RANKS_IN_SUIT = 13;

/** All natural cards. */
const STANDARD: Set5 = [0x1fff, 0x1fff, 0x1fff, 0x1fff, 0];
const BOTH_JOKERS: Set5 = [0, 0, 0, 0, 3];

/** Returns the sum of the cards' points: an ace counts 1, pictures 10, jokers nothing. */
export function pointsOf(set: Set5): number {
  return placesOf(naturals(set)).reduce((sum, { rank }) => sum + Math.min(rank + 1, 10), 0);
}

/** Returns whether the cards are exactly one meld. */
export function isMeld(set: Set5): boolean {
  if (!isEmpty(jokers(set))) return size(jokers(set)) === 1 && takesJoker(naturals(set));
  return size(set) >= 3 && (isSet(set) || isConsecutive(set));
}

/** Returns whether the cards are three or four of one rank, without a joker. */
export function isSet(set: Set5): boolean {
  const [first] = placesOf(naturals(set));
  return size(set) >= 3 && first !== undefined && isEmpty(difference(set, ofRank(STANDARD, first.rank)));
}

/**
 * Returns whether the cards are exactly one secret meld. A run is secret from `secretRunMin` cards on, or
 * never if that is 0.
 */
export function isSecret(set: Set5, secretRunMin: number): boolean {
  if (!isEmpty(jokers(set)) || isEmpty(set)) return false;
  if (isSet(set)) return size(set) === 4;
  return secretRunMin > 0 && size(set) >= secretRunMin && isConsecutive(set);
}

/** Returns whether a hand holds a secret meld, in any arrangement. */
export function hasSecret(hand: Set5, secretRunMin: number): boolean {
  if (ranksWith(hand, 4).length > 0) return true;
  if (secretRunMin === 0) return false;
  return placesOf(naturals(hand)).some(
    ({ suit, rank }) => runFrom(hand[suit as 0], rank) >= secretRunMin,
  );
}

/** Returns the cards that may be added to an open meld, one at a time (rule 3.5). */
export function additions(meld: Set5): Set5 {
  if (!isEmpty(jokers(meld))) return additionsBesideJoker(naturals(meld));
  const [first] = placesOf(meld);
  if (!first) return meld;
  const bits = meld[first.suit as 0];
  const isRun = ones(bits) > 1;
  const more = isRun
    ? inSuit(first.suit, ((bits << 1) | (bits >> 1)) & 0x1fff & ~bits)
    : difference(ofRank(STANDARD, first.rank), meld);
  return isEmpty(more) ? more : union(more, BOTH_JOKERS);
}

/** Returns every meld in a hand, each once; melds may overlap. */
export function meldsOf(hand: Set5): Set5[] {
  const melds: Set5[] = [];
  for (const rank of ranksWith(hand, 3)) {
    const set = ofRank(hand, rank);
    melds.push(set);
    if (size(set) === 4) melds.push(...placesOf(set).map((place) => difference(set, only(place))));
  }
  for (const { suit, rank } of placesOf(inRuns(hand))) {
    const most = runFrom(hand[suit as 0], rank);
    for (let length = 3; length <= most; length += 1) melds.push(inSuit(suit, span(rank, length)));
  }
  for (const joker of placesOf(jokers(hand))) {
    melds.push(...partsOf(hand, RANKS_IN_SUIT).map((part) => union(part, only(joker))));
  }
  return melds;
}

/** Returns every choice of hand cards that forms a new meld with a discard (rule 3.2). */
export function chowsOf(hand: Set5, discard: Place): Set5[] {
  const chows: Set5[] = [];
  const same = intersection(ofRank(STANDARD, discard.rank), hand);
  const others = difference(same, only(discard));
  if (size(others) >= 2) chows.push(others);
  if (size(others) === 3) {
    chows.push(...placesOf(others).map((place) => difference(others, only(place))));
  }
  const { below, above } = neighbours(hand, discard);
  for (let low = discard.rank - below; low <= discard.rank; low += 1) {
    for (let high = discard.rank; high <= discard.rank + above; high += 1) {
      if (high - low < 2) continue;
      const run = inSuit(discard.suit, span(low, high - low + 1));
      chows.push(difference(run, only(discard)));
    }
  }
  for (const joker of placesOf(jokers(hand))) {
    for (const part of partsOf(union(hand, only(discard)), RANKS_IN_SUIT)) {
      if (has(part, discard)) chows.push(union(difference(part, only(discard)), only(joker)));
    }
  }
  return chows;
}

/**
 * Returns the natural parts of melds with one joker, of at most `most` cards, in the server's order. The
 * joker never stands for a fixed card.
 */
export function partsOf(hand: Set5, most: number): Set5[] {
  const parts: Set5[] = [];
  for (let rank = 0; rank < RANKS_IN_SUIT; rank += 1) {
    const same = suitsOf(hand, rank);
    for (let chosen = same; chosen !== 0; chosen = (chosen - 1) & same) {
      if (ones(chosen) === 2 || ones(chosen) === 3) parts.push(inSuits(chosen, rank));
    }
  }
  for (const place of placesOf(naturals(hand))) runPartsFrom(hand, place, most, parts);
  return parts;
}

/** Returns the natural parts that the arrangement of a hand may need (rule 1.10). */
export function neededPartsOf(hand: Set5): Set5[] {
  return partsOf(hand, 4).filter((part) => {
    const shape = shapeOf(part);
    if (shape === null) return false;
    return shape === "set" ? size(part) === 2 : shape.span > size(part) || size(part) === 2;
  });
}

function runPartsFrom(hand: Set5, { suit, rank: start }: Place, most: number, parts: Set5[]): void {
  const bits = hand[suit as 0];
  for (let end = start + 1; end < Math.min(RANKS_IN_SUIT, start + most + 1); end += 1) {
    const cards = end - start + 1;
    const all = span(start, cards);
    const missing = all & ~bits;
    if (ones(missing) > 1) return;
    if ((missing >> end) & 1) continue;
    if (missing !== 0) {
      parts.push(inSuit(suit, all & ~missing));
      continue;
    }
    if (cards <= Math.min(most, RANKS_IN_SUIT - 1)) parts.push(inSuit(suit, all));
    for (let gap = start + 1; gap < end; gap += 1) parts.push(inSuit(suit, all & ~(1 << gap)));
  }
}

/** Returns whether these natural cards and one joker form a meld. */
export function takesJoker(part: Set5): boolean {
  const shape = shapeOf(part);
  if (shape === null) return false;
  const cards = size(part);
  if (shape === "set") return cards === 2 || cards === 3;
  return shape.span === cards + 1 || (shape.span === cards && cards < RANKS_IN_SUIT);
}

function additionsBesideJoker(part: Set5): Set5 {
  let more: Set5 = [0, 0, 0, 0, 0];
  for (const place of placesOf(difference(STANDARD, part))) {
    if (takesJoker(union(part, only(place)))) more = union(more, only(place));
  }
  return isEmpty(part) ? part : more;
}

function shapeOf(part: Set5): "set" | { span: number } | null {
  const places = placesOf(part);
  const [first, last] = [places[0], places.at(-1)];
  if (!first || !last || places.length < 2) return null;
  if (first.suit === last.suit) return { span: last.rank - first.rank + 1 };
  return places.every(({ rank }) => rank === first.rank) ? "set" : null;
}

function isConsecutive(set: Set5): boolean {
  const [first] = placesOf(set);
  return first !== undefined && size(set) === runFrom(set[first.suit as 0], first.rank);
}

/** Returns the number of consecutive hand cards below and above a card in its suit. */
function neighbours(hand: Set5, { suit, rank }: Place): { below: number; above: number } {
  const bits = hand[suit as 0];
  let below = 0;
  while (rank - below > 0 && (bits >> (rank - below - 1)) & 1) below += 1;
  return { below, above: runFrom(bits, rank + 1) };
}

function span(from: number, length: number): number {
  return ((1 << length) - 1) << from;
}

/** Returns the suits that have a card of this rank, as bits. */
function suitsOf(set: Set5, rank: number): number {
  return [0, 1, 2, 3].reduce((bits, suit) => bits | (((set[suit as 0] >> rank) & 1) << suit), 0);
}

function inSuits(suits: number, rank: number): Set5 {
  const bit = (suit: number): number => ((suits >> suit) & 1) << rank;
  return [bit(0), bit(1), bit(2), bit(3), 0];
}

// The same functions for cards in the wire format.

/** Returns the sum of the cards' points. */
export const points = (cards: readonly string[]): number => pointsOf(setOf(cards));

/** Returns every meld in the cards. */
export const melds = (cards: readonly string[]): string[][] => meldsOf(setOf(cards)).map(cardsOf);

/** Returns whether the cards are exactly one meld. */
export const areMeld = (cards: readonly string[]): boolean => isMeld(setOf(cards));

/** Returns the cards that may be added to a meld. */
export const additionsTo = (meld: readonly string[]): string[] => cardsOf(additions(setOf(meld)));

/** Returns whether a card may be added to a meld. */
export const takes = (meld: readonly string[], card: string): boolean =>
  has(additions(setOf(meld)), placeOf(card));

/** Returns a complete deck, in the order of the cards' indices. */
export const deck = (withJokers: boolean): string[] =>
  Array.from({ length: withJokers ? 54 : 52 }, (_, index) => cardOf(index));
