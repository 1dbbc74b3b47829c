// The arrangement of a hand (rule 1.10): the one partition into melds and leftover cards with the fewest
// points left over, then the most secret melds, then the most melds, then the least list of melds.
//
// The search is exact and bounded: for each rank with three cards or more a set is chosen or not, and the
// runs in the remaining cards follow without search. Jokers are tried in every position that may be needed.

import {
  type Set5, NONE, cardsOf, compareLists, difference, inRuns, inSuit, intersection, isEmpty, jokers,
  naturals, ofRank, only, placeOf, placesOf, ranksWith, runFrom, setOf, size, union,
} from "./cards.js";
import { isSecret, neededPartsOf, pointsOf } from "./melds.js";

/** The shortest secret run of the house's first rule set; a hand alone does not determine the rules. */
const SECRET_RUN_MIN = 5;

export interface Arrangement {
  /** The melds in ascending order of their lists of cards. */
  readonly melds: readonly (readonly string[])[];
  readonly leftover: readonly string[];
  /** The points of the leftover cards. */
  readonly deadwood: number;
}

interface Partition {
  readonly deadwood: number;
  readonly secrets: number;
  readonly melds: readonly Set5[];
}

/** Returns the arrangement of a hand; `secretRunMin` is that of the rules. */
export function arrange(hand: readonly string[], secretRunMin = SECRET_RUN_MIN): Arrangement {
  const set = setOf(hand);
  const { melds, deadwood } = best(set, secretRunMin);
  const melded = melds.reduce(union, NONE);
  return { melds: melds.map(cardsOf), leftover: cardsOf(difference(set, melded)), deadwood };
}

/** Returns the points left over by the arrangement. */
export function deadwood(hand: readonly string[]): number {
  return best(setOf(hand), 0).deadwood;
}

/** Returns whether the arrangement leaves over no card but jokers (rules 3.7, 11.1). */
export function leavesNothing(hand: Set5): boolean {
  const natural = naturals(hand);
  if (isEmpty(jokers(hand))) {
    const inSets = ranksWith(natural, 3).map((rank) => ofRank(natural, rank)).reduce(union, NONE);
    if (!isEmpty(difference(natural, union(inSets, inRuns(natural))))) return false;
  }
  return best(hand, 0).deadwood === 0;
}

/** Groups a hand by suit; jokers are a group of their own. */
export function sortBySuit(hand: readonly string[]): string[][] {
  const set = setOf(hand);
  const suits = [0, 1, 2, 3].map((suit) => cardsOf(inSuit(suit, set[suit as 0])));
  return [...suits, cardsOf(jokers(set))].filter((group) => group.length > 0);
}

/** Groups a hand by the melds of its arrangement, followed by the leftover cards, the most points first. */
export function sortByArrangement(hand: readonly string[]): string[][] {
  const { melds, leftover } = arrange(hand);
  const height = (card: string): number => {
    const { suit, rank } = placeOf(card);
    return suit === 4 ? -1 : 4 * rank + suit;
  };
  const left = [...leftover].sort((one, other) => height(other) - height(one));
  return [...melds.map((meld) => [...meld]), left].filter((group) => group.length > 0);
}

function best(hand: Set5, secretRunMin: number): Partition {
  const [natural, held] = [naturals(hand), placesOf(jokers(hand))];
  let found = withoutJokers(natural, secretRunMin);
  const consider = (parts: readonly Set5[]): void => {
    const rest = withoutJokers(parts.reduce(difference, natural), secretRunMin);
    const beside = parts.map((part, at) => union(part, only(held[at] ?? { suit: 4, rank: 0 })));
    const melds = [...rest.melds, ...beside].sort(compareLists);
    found = better({ ...rest, melds }, found);
  };
  if (held.length === 0) return found;
  for (const part of neededPartsOf(natural)) {
    consider([part]);
    if (held.length < 2) continue;
    for (const next of neededPartsOf(difference(natural, part))) {
      if (compareLists(part, next) < 0) consider([part, next]);
    }
  }
  return found;
}

function withoutJokers(hand: Set5, secretRunMin: number): Partition {
  const ranks = ranksWith(hand, 3);
  const runs = inRuns(hand);
  let found: Partition | null = null;
  const choose = (at: number, sets: readonly Set5[]): void => {
    const rank = ranks[at];
    if (rank === undefined) {
      const partition = withSets(hand, sets, secretRunMin);
      found = found === null ? partition : better(partition, found);
      return;
    }
    for (const set of choices(ofRank(hand, rank), runs)) {
      choose(at + 1, isEmpty(set) ? sets : [...sets, set]);
    }
  };
  choose(0, []);
  return found ?? withSets(hand, [], secretRunMin);
}

/**
 * Returns the sets of a rank that are worth choosing: a card in no run is left over unless a set takes it.
 */
function choices(cards: Set5, runs: Set5): Set5[] {
  const list: Set5[] = [];
  if (size(difference(cards, runs)) < 3) list.push(NONE);
  list.push(cards);
  if (size(cards) === 4) {
    const spare = placesOf(intersection(cards, runs));
    list.push(...spare.map((place) => difference(cards, only(place))));
  }
  return list;
}

function withSets(hand: Set5, sets: readonly Set5[], secretRunMin: number): Partition {
  const rest = sets.reduce(difference, hand);
  const runs = inRuns(rest);
  const melds = [...sets];
  for (const { suit, rank } of placesOf(runs)) {
    const bits = runs[suit as 0];
    if (rank > 0 && (bits >> (rank - 1)) & 1) continue;
    let from = rank;
    for (const length of split(runFrom(bits, rank), secretRunMin)) {
      melds.push(inSuit(suit, ((1 << length) - 1) << from));
      from += length;
    }
  }
  const secrets = melds.filter((meld) => isSecret(meld, secretRunMin)).length;
  return { deadwood: pointsOf(difference(rest, runs)), secrets, melds: melds.sort(compareLists) };
}

/**
 * Returns the lengths into which a run splits: the most secret runs, then the most runs, the shortest first.
 */
function split(length: number, secretRunMin: number): number[] {
  const secrets = secretRunMin > 0 ? Math.floor(length / secretRunMin) : 0;
  const shorts = Math.floor((length - secrets * secretRunMin) / 3);
  const lengths = [
    ...Array.from({ length: shorts }, () => 3),
    ...Array.from({ length: secrets }, () => secretRunMin),
  ];
  const sum = lengths.reduce((all, one) => all + one, 0);
  const last = lengths.length - 1;
  return lengths.map((one, at) => (at === last ? one + length - sum : one));
}

function better(one: Partition, other: Partition): Partition {
  const order =
    one.deadwood - other.deadwood ||
    other.secrets - one.secrets ||
    other.melds.length - one.melds.length;
  if (order !== 0) return order < 0 ? one : other;
  for (const [at, meld] of one.melds.entries()) {
    const before = compareLists(meld, other.melds[at] ?? NONE);
    if (before !== 0) return before < 0 ? one : other;
  }
  return other;
}
