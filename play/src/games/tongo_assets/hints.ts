// Hints for a first game: the meaning of a prompt, and in an assessment a piece that would help, which is
// also marked in the section.
import { CLASSES, COLOURS, colourOf, kindOf, makers, numberOf, readingOf, compare, whyNot } from '../../../../clients/typescript/src/games/tongo_assets/index.ts';
import { pieceName } from './tiles.tsx';
import type { View } from './state.ts';
import { say, type Word } from './words.ts';
import type { Hint } from '../folder.ts';

/** The best improvement of the hand: a slot to take, and a card to discard if necessary. */
export interface Improvement { slot: number; tile: string; out: string | null; swaps: boolean }

/** The class from which a hand often wins. */
const STRONG = CLASSES.indexOf('treasury');

export function isStrong(hand: readonly string[]): boolean {
  return CLASSES.indexOf(readingOf(hand).class) >= STRONG;
}

/** Returns how close a hand is to seven of one number or colour; the reading breaks ties. */
function handWorth(hand: readonly string[]): number {
  const wilds = hand.filter((card) => kindOf(card) === 'W').length;
  const counts = [...COLOURS].map((colour) => hand.filter((card) => colourOf(card) === colour).length);
  for (let number = 1; number <= 7; number += 1) counts.push(hand.filter((card) => numberOf(card) === number).length);
  return Math.max(...counts) + wilds;
}

export function bestImprovement(view: View): Improvement | null {
  const { own, public: open } = view;
  if (!own?.before || open.phase.type !== 'assess') return null;
  const { hand } = own;
  const isFull = hand.length === 7;
  const kept = new Set(makers(hand));
  const spare = hand.filter((card) => kindOf(card) === null).sort((one, other) => Number(kept.has(one)) - Number(kept.has(other)));
  let best: (Improvement & { gain: number; reading: ReturnType<typeof readingOf> }) | null = null;
  own.before.forEach((tile, slot) => {
    if (!tile) return;
    for (const swaps of [false, true]) {
      for (const out of isFull || swaps ? spare : [null]) {
        const action = swaps ? { type: 'swap' as const, discard: out ?? '', slot }
          : { type: 'purchase' as const, slot, ...(out === null ? {} : { discard: out }) };
        if (whyNot(view, action) !== null) continue;
        const next = [...hand.filter((card) => card !== out), tile];
        const gain = handWorth(next) - handWorth(hand);
        const reading = readingOf(next);
        if (gain <= 0 && compare(reading, readingOf(hand)) <= 0) continue;
        if (!best || gain > best.gain || (gain === best.gain && compare(reading, best.reading) > 0)) best = { slot, tile, out, swaps, gain, reading };
      }
    }
  });
  return best;
}

/** The actions that show that a hint is learnt. */
const LEARNT_BY: Partial<Record<Word, readonly string[]>> = {
  hint_offer: ['accept', 'refuse'], hint_open: ['open', 'retreat'], hint_risk: ['pay', 'raise', 'retreat'],
  hint_confront: ['pay', 'raise_confront', 'evade', 'retreat'], hint_assess_confront: ['confront'],
  hint_assess_tile: ['purchase'], hint_assess_swap: ['swap'], hint_assess_acquire: ['acquire'], hint_assess_done: ['done'],
};

/** Returns the hints for this moment, the most useful first. */
export function hints(view: View, asked: boolean): Hint[] {
  const { phase, playing, offer, players } = view.public;
  const seat = view.viewer;
  const hint = (name: Word, fill = {}): Hint => ({ name, text: say(name, fill), by: LEARNT_BY[name] ?? [] });
  if (seat === null) return [];
  if (!playing.includes(seat)) return [hint('hint_out')];
  if (!asked) return [];
  if (offer) return [hint('hint_offer')];
  switch (phase.type) {
    case 'open':
      return [hint('hint_open')];
    case 'risk':
      return [hint('hint_risk')];
    case 'confront':
    case 'debts':
      return [hint('hint_confront')];
    case 'assess': {
      const all: Hint[] = [];
      const mayConfront = whyNot(view, { type: 'confront' }) === null;
      if (mayConfront && isStrong(view.own?.hand ?? [])) all.push(hint('hint_assess_confront'));
      const found = bestImprovement(view);
      if (found && found.out === null) all.push(hint('hint_assess_tile', { card: pieceName(found.tile) }));
      if (found?.swaps && found.out) all.push(hint('hint_assess_swap', { out: pieceName(found.out), in: pieceName(found.tile) }));
      const own = players[seat];
      if (own && own.assets + own.wilds < 7 && whyNot(view, { type: 'acquire' }) === null) all.push(hint('hint_assess_acquire'));
      if (all.length === 0) all.push(hint('hint_assess_done'));
      return all;
    }
    default:
      return [];
  }
}
