// The layout of the player's hand: in groups, sorted by suit or by melds until the player moves a card; then
// as the player left it. Also computes the position of each card on the screen.
import { batch, signal } from '@preact/signals';
import { arrange, areMeld, sortBySuit } from '../../../../clients/typescript/src/games/tongits/index.ts';
import type { Card } from '../../model.ts';
import { settings } from '../../settings.ts';

export const groups = signal<Card[][]>([]);
export const selected = signal<ReadonlySet<Card>>(new Set());
/** The card that was drawn last, while it is new. */
export const newCard = signal<Card | null>(null);
let manual = false;

const RANKS = 'A23456789TJQK';
const height = (card: Card) => RANKS.indexOf(card[0] ?? '') * 4 + 'CDHS'.indexOf(card[1] ?? '');

function sorted(hand: readonly Card[]): Card[][] {
  if (!settings.byMeld.value) return sortBySuit(hand).map((group) => [...group]);
  const { melds, leftover } = arrange(hand);
  // Equal ranks of the leftover cards lie side by side, so that pairs are visible.
  const left = [...leftover].sort((a, b) => height(a) - height(b));
  return [...melds.map((meld) => [...meld]), ...(left.length > 0 ? [left] : [])];
}

/** Updates the groups to the present hand. */
export function updateGroups(hand: readonly Card[]) {
  const held = new Set(hand);
  const known = new Set(groups.value.flat());
  const same = held.size === known.size && hand.every((card) => known.has(card));
  batch(() => {
    const chosen = [...selected.value].filter((card) => held.has(card));
    if (chosen.length !== selected.value.size) selected.value = new Set(chosen);
    if (newCard.value && !held.has(newCard.value)) newCard.value = null;
    if (same) return;
    if (!manual || [...known].every((card) => !held.has(card))) {
      manual = false;
      groups.value = sorted(hand);
      return;
    }
    const kept = groups.value.map((group) => group.filter((card) => held.has(card)));
    const added = hand.filter((card) => !known.has(card));
    groups.value = [...kept, ...added.map((card) => [card])].filter((group) => group.length > 0);
  });
}

export function sortHand(byMeld: boolean, hand: readonly Card[]) {
  manual = false;
  settings.byMeld.value = byMeld;
  groups.value = sorted(hand);
}

/** Moves the cards into a group of their own at the left. */
export function groupCards(cards: readonly Card[]) {
  manual = true;
  const moved = new Set(cards);
  const rest = groups.value.map((one) => one.filter((card) => !moved.has(card)));
  groups.value = [[...cards], ...rest].filter((one) => one.length > 0);
}

/** Moves a card before another one, to the end of a group, or into a group of its own. */
export function moveCard(card: Card, to: { group: number; at: number } | null) {
  manual = true;
  const next = groups.value.map((one) => [...one]);
  const from = next.findIndex((one) => one.includes(card));
  const place = next[from]?.indexOf(card) ?? -1;
  if (from < 0 || place < 0) return;
  next[from]!.splice(place, 1);
  if (to === null) next.push([card]);
  else {
    const at = to.group === from && to.at > place ? to.at - 1 : to.at;
    (next[to.group] ??= []).splice(at, 0, card);
  }
  groups.value = next.filter((one) => one.length > 0);
}

export function toggleCard(card: Card) {
  const next = new Set(selected.value);
  if (!next.delete(card)) next.add(card);
  selected.value = next;
  if (newCard.value === card) newCard.value = null;
}

export function selectCards(cards: readonly Card[]) {
  selected.value = new Set(cards);
}

export interface Slot { card: Card; x: number; y: number; row: number; group: number; at: number }
export interface Line { x: number; y: number; row: number; width: number; meld: boolean }
export interface Layout { slots: Slot[]; lines: Line[]; height: number; card: number }

/** Returns the width of a card for the widths of the hand and the height of the screen. */
export function cardWidth(width: number, screenHeight: number, large: boolean): number {
  const size = screenHeight < 480 ? Math.min(66, Math.max(44, width * 0.16))
    : width < 620 ? Math.min(76, Math.max(52, width * 0.178))
    : screenHeight < 760 ? 76 : 92;
  return Math.round(size * (large ? 1.16 : 1));
}

const RATIO = 1.42;

/**
 * Returns the position of each card: two rows if there are more than eight cards and the screen is narrow.
 */
export function layout(all: readonly Card[][], width: number, card: number): Layout {
  const count = all.reduce((sum, one) => sum + one.length, 0);
  const twoRows = count > 8 && width < card * 9.2;
  const rows = twoRows ? splitRows(all) : [all.map((cards, group) => ({ cards, group, from: 0 }))];
  const slots: Slot[] = [];
  const lines: Line[] = [];
  const rowStep = card * RATIO * 0.62;
  rows.forEach((parts, row) => {
    const steps = parts.reduce((sum, { cards }) => sum + cards.length - 1, 0);
    const gap = Math.min(14, card * 0.22);
    const room = width - parts.length * card - (parts.length - 1) * gap;
    const step = steps === 0 ? 0 : Math.max(card * 0.24, Math.min(card * (twoRows ? 0.66 : 0.72), room / steps));
    const used = parts.length * card + (parts.length - 1) * gap + steps * step;
    let x = Math.max(0, (width - used) / 2);
    const y = row * rowStep;
    for (const { cards, group, from } of parts) {
      const begin = x;
      cards.forEach((one, i) => {
        slots.push({ card: one, x: x + i * step, y, row, group, at: from + i });
      });
      const wide = card + (cards.length - 1) * step;
      if (cards.length >= 3 || manual && cards.length === 2) {
        const meld = areMeld(cards);
        if (meld || manual) lines.push({ x: begin + 4, y: y - 7, row, width: wide - 8, meld });
      }
      x += wide + gap;
    }
  });
  return { slots, lines, height: card * RATIO + (rows.length - 1) * rowStep, card };
}

interface Part { cards: Card[]; group: number; from: number }

/**
 * Splits the groups into two rows of about the same length, the longer one below, between groups if possible.
 */
function splitRows(all: readonly Card[][]): Part[][] {
  const whole = all.map((cards, group) => ({ cards, group, from: 0 }));
  const count = whole.reduce((sum, { cards }) => sum + cards.length, 0);
  let best = 1;
  let least = Infinity;
  let before = 0;
  for (let i = 1; i < whole.length; i += 1) {
    before += whole[i - 1]!.cards.length;
    const apart = Math.abs(count - 2 * before);
    if (apart < least) { least = apart; best = i; }
  }
  if (whole.length > 1 && least <= 4) return [whole.slice(0, best), whole.slice(best)];
  // A group is too long for that, so it is split where the row is half full.
  const half = Math.floor(count / 2);
  const rows: Part[][] = [[], []];
  let used = 0;
  for (const { cards, group } of whole) {
    const room = Math.max(0, Math.min(cards.length, half - used));
    if (room > 0) rows[0]!.push({ cards: cards.slice(0, room), group, from: 0 });
    if (room < cards.length) rows[1]!.push({ cards: cards.slice(room), group, from: room });
    used += cards.length;
  }
  return rows;
}
