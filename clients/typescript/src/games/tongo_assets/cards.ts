// The cards of Tongo (assets): an asset is its number, colour and copy, such as 4Ra; an acquire card its kind
// and number, such as W0. On the wire a set is the list of its cards in ascending order.

import type { TongoAssetsCard as Card, TongoAssetsFace as Face } from "../../gen/socket.js";

/** The colours by rank, red the highest (rule 1.2). */
export const COLOURS = "RBYGPOK";

/** The kinds of acquire cards, each with its first index among all 30 (rule 1.3). */
const KINDS = { W: 0, F: 14, V: 20, D: 24, X: 28 } as const;

const ASSETS = 98;

/** The kinds: `W` wild, `F` free purchase, `V` reveal, `D` dividend, `X` audit. */
export type Kind = keyof typeof KINDS;

export function isAsset(card: Face): boolean {
  return card === "asset" || /^[1-7]/.test(card);
}

export function isWild(card: Card): boolean {
  return card.startsWith("W");
}

/** Returns the number of an asset, from 1; 0 for an acquire card. */
export function numberOf(card: Card): number {
  return isAsset(card) ? Number(card[0]) : 0;
}

/** Returns the letter of an asset's colour; empty for an acquire card. */
export function colourOf(card: Card): string {
  return isAsset(card) ? (card[1] ?? "") : "";
}

/** Returns the kind of an acquire card; null for an asset. */
export function kindOf(card: Card): Kind | null {
  const letter = card[0] ?? "";
  return letter in KINDS && /^[A-Z]\d/.test(card) ? (letter as Kind) : null;
}

/** Returns a card's index in the order of all cards (rules 1.2 and 1.3). */
export function indexOf(card: Card): number {
  const kind = kindOf(card);
  if (kind !== null) return ASSETS + KINDS[kind] + Number(card.slice(1));
  const [number, colour] = [Number(card[0]), COLOURS.indexOf(card[1] ?? "?")];
  const copy = "ab".indexOf(card[2] ?? "?");
  if (!(number >= 1 && number <= 7) || colour < 0 || copy < 0) throw new Error(`not a card: ${card}`);
  return copy * 49 + colour * 7 + number - 1;
}

/** Returns the card of an index; acquire cards follow the assets. */
export function cardOf(index: number): Card {
  const acquire = index - ASSETS;
  if (acquire < 0) {
    const [copy, type] = [index < 49 ? "a" : "b", index % 49];
    return `${(type % 7) + 1}${COLOURS[Math.floor(type / 7)]}${copy}`;
  }
  const kinds = Object.entries(KINDS).reverse();
  const [kind, first] = kinds.find(([, from]) => from <= acquire) ?? ["?", 0];
  return `${kind}${acquire - first}`;
}

export function sorted(cards: readonly Card[]): Card[] {
  return [...cards].sort((one, other) => indexOf(one) - indexOf(other));
}

/** Returns the cards whose face is known; a shape alone is not. */
export function seen(faces: readonly (Face | null | undefined)[]): Card[] {
  return faces.filter((face): face is Card => !!face && face !== "asset" && face !== "acquire");
}

export function without(cards: readonly Card[], gone: readonly Card[]): Card[] {
  return cards.filter((card) => !gone.includes(card));
}

/** Returns the first card of a kind by index, which is the one that is played (rule 1.3). */
export function firstOf(cards: readonly Card[], kind: Kind): Card | null {
  return cards.find((card) => kindOf(card) === kind) ?? null;
}

/** Separates the cards held in the hand from those kept apart (rule 1.5). */
export function apart(cards: readonly Card[]): readonly [Card[], Card[]] {
  const isOfHand = (card: Card) => isAsset(card) || isWild(card);
  return [cards.filter(isOfHand), cards.filter((card) => !isOfHand(card))];
}
