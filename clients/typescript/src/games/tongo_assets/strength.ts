// The strength of a hand of Tongo (assets) (rule 5), evaluated as on the server. For display, it also finds
// the cards that form the class and the next better class.

import type {
  TongoAssetsCard as Card, TongoAssetsClass as Class, TongoAssetsReading as Reading,
} from "../../gen/socket.js";
import { COLOURS, colourOf, isAsset, isWild, numberOf } from "./cards.js";
import { HAND_MAX } from "./public.js";

/** The classes, the weakest first. */
export const CLASSES: readonly Class[] = [
  "nothing", "reserve", "treasury", "material_continuum", "consortium", "full_consortium", "monopoly",
  "full_monopoly",
];

const NOTHING: Reading = { class: "nothing", number: 0, colour: null, wilds: 0 };
const NUMBERS = [1, 2, 3, 4, 5, 6, 7] as const;

interface Natural {
  readonly assets: readonly Card[];
  readonly wilds: number;
}

/** The assets of one number or of one colour. */
interface Group {
  readonly number: number | null;
  readonly colour: string | null;
}

const GROUPS: readonly Group[] = [
  ...NUMBERS.map((number) => ({ number, colour: null })),
  ...[...COLOURS].map((colour) => ({ number: null, colour })),
];

const isIn = ({ number, colour }: Group) => (card: Card): boolean =>
  number === null ? colourOf(card) === colour : numberOf(card) === number;

/** Returns the best reading of a hand. */
export function readingOf(hand: readonly Card[]): Reading {
  return best(naturalOf(hand));
}

/** Compares two readings: positive if the first is stronger, 0 if they are equal (rule 5.3). */
export function compare(one: Reading, other: Reading): number {
  const rank = (colour: string | null) => (colour === null ? -1 : 6 - COLOURS.indexOf(colour));
  return CLASSES.indexOf(one.class) - CLASSES.indexOf(other.class) || one.number - other.number
    || rank(one.colour) - rank(other.colour) || other.wilds - one.wilds;
}

function naturalOf(hand: readonly Card[]): Natural {
  return { assets: hand.filter(isAsset), wilds: hand.filter(isWild).length };
}

function best(natural: Natural): Reading {
  const isSeven = natural.assets.length + natural.wilds >= HAND_MAX;
  const seven = !isSeven ? null
    : natural.wilds === 0 ? fullMonopoly(natural) ?? sevenNatural(natural)
    : ofGroup(natural, "consortium", HAND_MAX);
  return seven ?? continuum(natural) ?? ofGroup(natural, "treasury", 5) ?? ofGroup(natural, "reserve", 2)
    ?? NOTHING;
}

/** Reads seven cards with every number once and every colour once. */
function fullMonopoly({ assets }: Natural): Reading | null {
  const isFull = GROUPS.every((group) => assets.filter(isIn(group)).length === 1);
  return isFull ? naturalReading("full_monopoly", assets) : null;
}

/** Reads seven cards of one group: a Monopoly if all differ. */
function sevenNatural({ assets }: Natural): Reading | null {
  if (!GROUPS.some((group) => assets.every(isIn(group)))) return null;
  return naturalReading(typesOf(assets).size === HAND_MAX ? "monopoly" : "full_consortium", assets);
}

function typesOf(assets: readonly Card[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const card of assets) counts.set(card.slice(0, 2), (counts.get(card.slice(0, 2)) ?? 0) + 1);
  return counts;
}

/** Reads two different types, both twice: the first type from the top for which the wilds suffice. */
function continuum({ assets, wilds }: Natural): Reading | null {
  const counts = typesOf(assets);
  const cost = (type: string) => 2 - Math.min(2, counts.get(type) ?? 0);
  for (const number of [...NUMBERS].reverse()) {
    for (const colour of COLOURS) {
      const one = `${number}${colour}`;
      const rest = [...counts.keys()].filter((type) => type !== one).map(cost);
      const needed = cost(one) + Math.min(2, ...rest);
      if (needed <= wilds) return { class: "material_continuum", number, colour, wilds: needed };
    }
  }
  return null;
}

/** Returns the best reading of `wanted` cards of one number or one colour. */
function ofGroup(natural: Natural, name: Class, wanted: number): Reading | null {
  let found: Reading | null = null;
  for (const group of GROUPS) {
    const reading = groupReading(natural, name, wanted, group);
    if (reading && (!found || compare(reading, found) > 0)) found = reading;
  }
  return found;
}

function groupReading({ assets, wilds }: Natural, name: Class, wanted: number, group: Group): Reading | null {
  const cards = assets.filter(isIn(group));
  const missing = Math.max(0, wanted - cards.length);
  if (missing > wilds) return null;
  // A further wild may replace a card to reach the highest number or colour.
  const isTop = group.number === null ? cards.some((card) => numberOf(card) === 7)
    : cards.some((card) => colourOf(card) === "R");
  const used = isTop || wilds === 0 ? missing : Math.max(1, missing);
  const natural = naturalReading(name, cards);
  const number = group.number ?? (used > 0 ? 7 : natural.number);
  const colour = group.colour ?? (used > 0 ? "R" : natural.colour);
  return { class: name, number, colour, wilds: used };
}

/** Returns a reading without wilds to which all these cards belong. */
function naturalReading(name: Class, cards: readonly Card[]): Reading {
  const number = Math.max(0, ...cards.map(numberOf));
  const colours = cards.filter((card) => numberOf(card) === number).map(colourOf);
  const colour = [...COLOURS].find((one) => colours.includes(one)) ?? null;
  return { class: name, number, colour, wilds: 0 };
}

/** Returns the cards that form a hand's reading, including the wilds that serve in it. */
export function makers(hand: readonly Card[]): Card[] {
  const reading = readingOf(hand);
  const { assets } = naturalOf(hand);
  const wilds = hand.filter(isWild).slice(0, reading.wilds);
  const size = reading.class === "treasury" ? 5 : reading.class === "reserve" ? 2 : 0;
  switch (reading.class) {
    case "nothing":
      return [];
    case "material_continuum": {
      const counts = [...typesOf(assets)].filter(([, count]) => count > 0)
        .sort(([a, one], [b, other]) => Number(b === top(reading)) - Number(a === top(reading)) || other - one);
      const types = counts.slice(0, 2).map(([type]) => type);
      return [...assets.filter((card) => types.includes(card.slice(0, 2))), ...wilds];
    }
    case "treasury":
    case "reserve": {
      const group = GROUPS.filter((one) => assets.filter(isIn(one)).length + wilds.length >= size)
        .find((one) => (one.number ?? reading.number) === reading.number
          && (one.colour ?? reading.colour) === reading.colour
          && compare(best({ assets: assets.filter(isIn(one)), wilds: wilds.length }), reading) === 0);
      const cards = group ? assets.filter(isIn(group)) : [];
      const high = [...cards].sort((one, other) => numberOf(other) - numberOf(one));
      return [...high.slice(0, size - wilds.length), ...wilds];
    }
    default:
      return [...hand];
  }
}

const top = ({ number, colour }: Reading): string => `${number}${colour}`;

/** Returns the next better class of a hand, and the number of cards that it lacks. */
export function nextBetter(hand: readonly Card[]): { readonly class: Class; readonly lacks: number } | null {
  const now = CLASSES.indexOf(readingOf(hand).class);
  const { assets, wilds } = naturalOf(hand);
  const inGroup = Math.max(0, ...GROUPS.map((group) => assets.filter(isIn(group)).length));
  const pairs = [...typesOf(assets).values()].map((count) => Math.min(2, count)).sort((a, b) => b - a);
  const lacks: Partial<Record<Class, number>> = {
    reserve: 2 - inGroup - wilds,
    treasury: 5 - inGroup - wilds,
    material_continuum: 4 - (pairs[0] ?? 0) - (pairs[1] ?? 0) - wilds,
    consortium: HAND_MAX - inGroup - Math.max(1, wilds),
    full_consortium: HAND_MAX - inGroup,
    monopoly: HAND_MAX - Math.max(0, ...GROUPS.map((group) => typesOf(assets.filter(isIn(group))).size)),
  };
  const steps = CLASSES.slice(now + 1).flatMap((name) => {
    const count = lacks[name];
    return count === undefined ? [] : [{ class: name, lacks: Math.max(1, count) }];
  });
  return steps.sort((one, other) => one.lacks - other.lacks)[0] ?? null;
}
