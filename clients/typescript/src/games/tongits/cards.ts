// Sets of cards as five numbers: a bit for each rank of the four suits, C D H S, and one for each joker. On
// the wire a set is the list of its cards in ascending order, which `cardsOf` returns.

import type { Card } from "../../gen/socket.js";

export const RANKS = "A23456789TJQK";
export const SUITS = "CDHS";

/** The index of the jokers in a set. */
const JOKERS = 4;

export type Set5 = readonly [number, number, number, number, number];

export const NONE: Set5 = [0, 0, 0, 0, 0];

export interface Place {
  /** The suit from 0 to 3, or 4 for a joker. */
  readonly suit: number;
  /** The rank from 0, an ace, to 12, a king; 0 or 1 for a joker. */
  readonly rank: number;
}

export function placeOf(card: Card): Place {
  if (card === "X1" || card === "X2") return { suit: JOKERS, rank: card === "X1" ? 0 : 1 };
  const [rank, suit] = [RANKS.indexOf(card[0] ?? "?"), SUITS.indexOf(card[1] ?? "?")];
  if (card.length !== 2 || rank < 0 || suit < 0) throw new Error(`not a card: ${card}`);
  return { suit, rank };
}

export function cardAt({ suit, rank }: Place): Card {
  return suit === JOKERS ? `X${rank + 1}` : `${RANKS[rank]}${SUITS[suit]}`;
}

export function isJoker(card: Card): boolean {
  return card === "X1" || card === "X2";
}

/** Returns the index of a card in a deck: 13 × suit + rank, with the jokers at the end. */
export function indexOf(card: Card): number {
  const { suit, rank } = placeOf(card);
  return 13 * suit + rank;
}

export function cardOf(index: number): Card {
  return cardAt({ suit: Math.floor(index / 13), rank: index % 13 });
}

export function setOf(cards: readonly Card[]): Set5 {
  const set: [number, number, number, number, number] = [0, 0, 0, 0, 0];
  for (const card of cards) {
    const { suit, rank } = placeOf(card);
    set[suit as 0] |= 1 << rank;
  }
  return set;
}

export function only({ suit, rank }: Place): Set5 {
  return each(NONE, NONE, (_a, _b, at) => (at === suit ? 1 << rank : 0));
}

export function cardsOf(set: Set5): Card[] {
  return placesOf(set).map(cardAt);
}

export function placesOf(set: Set5): Place[] {
  const places: Place[] = [];
  set.forEach((bits, suit) => {
    for (let rank = 0; bits >> rank !== 0; rank += 1) {
      if ((bits >> rank) & 1) places.push({ suit, rank });
    }
  });
  return places;
}

export function has(set: Set5, { suit, rank }: Place): boolean {
  return (((set[suit] ?? 0) >> rank) & 1) === 1;
}

export const union = (a: Set5, b: Set5): Set5 => each(a, b, (x, y) => x | y);
export const intersection = (a: Set5, b: Set5): Set5 => each(a, b, (x, y) => x & y);
export const difference = (a: Set5, b: Set5): Set5 => each(a, b, (x, y) => x & ~y);
export const isEmpty = (set: Set5): boolean => set.every((bits) => bits === 0);
export const naturals = (set: Set5): Set5 => [set[0], set[1], set[2], set[3], 0];
export const jokers = (set: Set5): Set5 => [0, 0, 0, 0, set[JOKERS]];
export const containsAll = (set: Set5, part: Set5): boolean => isEmpty(difference(part, set));

export function size(set: Set5): number {
  return set.reduce((sum, bits) => sum + ones(bits), 0);
}

export function ones(bits: number): number {
  let count = 0;
  for (let rest = bits; rest !== 0; rest &= rest - 1) count += 1;
  return count;
}

/** Returns the ranks with at least `count` natural cards. */
export function ranksWith(set: Set5, count: number): number[] {
  const ranks: number[] = [];
  for (let rank = 0; rank < 13; rank += 1) {
    if (size(ofRank(set, rank)) >= count) ranks.push(rank);
  }
  return ranks;
}

/** Returns the natural cards of a rank. */
export function ofRank(set: Set5, rank: number): Set5 {
  const bit = 1 << rank;
  return [set[0] & bit, set[1] & bit, set[2] & bit, set[3] & bit, 0];
}

/** Returns a set with these ranks of one suit. */
export function inSuit(suit: number, bits: number): Set5 {
  return each(NONE, NONE, (_a, _b, at) => (at === suit ? bits : 0));
}

/** Returns the natural cards that belong to three or more consecutive ones. */
export function inRuns(set: Set5): Set5 {
  return each(set, NONE, (bits, _b, suit) => {
    if (suit === JOKERS) return 0;
    const starts = bits & (bits >> 1) & (bits >> 2);
    return starts | (starts << 1) | (starts << 2);
  });
}

/** Returns the number of consecutive ranks in these bits from `rank` on. */
export function runFrom(bits: number, rank: number): number {
  let length = 0;
  while ((bits >> (rank + length)) & 1) length += 1;
  return length;
}

/** Compares two sets as lists of ascending cards: the first difference decides. */
export function compareLists(a: Set5, b: Set5): number {
  const [left, right] = [placesOf(a), placesOf(b)];
  for (let at = 0; at < Math.max(left.length, right.length); at += 1) {
    const [x, y] = [left[at], right[at]];
    if (!x || !y) return x ? 1 : -1;
    const order = 13 * x.suit + x.rank - (13 * y.suit + y.rank);
    if (order !== 0) return order;
  }
  return 0;
}

function each(a: Set5, b: Set5, to: (x: number, y: number, suit: number) => number): Set5 {
  return [to(a[0], b[0], 0), to(a[1], b[1], 1), to(a[2], b[2], 2), to(a[3], b[3], 3), to(a[4], b[4], 4)];
}
