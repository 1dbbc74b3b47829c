// The player's possible actions: the selection on the table, the buttons, and the reasons why one is
// disabled. The client's rules decide, also about numbers that the server's list omits.
import { computed, signal } from '@preact/signals';
import {
  answerPrice, bestOf, exchangePrice, FLOORS, hasEvaded, ownHand, price, risk, whyNot,
} from '../../../../clients/typescript/src/games/tongo_options/index.ts';
import { client, online, table } from '../../house.ts';
import type { Card, Seat, TableState, TableView } from '../../model.ts';
import type { Act } from '../../parts/acts.tsx';
import { shortName } from '../../parts/index.tsx';
import { refusalText } from '../../refusals.ts';
import { cardSign, say } from '../../words.ts';
import type { Hint } from '../folder.ts';
import type { Match, Move, View } from './types.ts';
import { chips, word, type TongoWord } from './words.ts';

export const KIND = 'tongo_options';

/** A payment of at most one part in this many is recommended to any hand. */
const CHEAP = 5;

/** True while a sent action has no answer, during which nothing else can be played. */
export const sent = signal(false);
/** The floor turned to the front before the stop. */
export const turned = signal<number | null>(null);
/** The selected card of the facing floor. */
export const picked = signal<number | null>(null);
/** The lifted cards of the hand, to be discarded. */
export const lifted = signal<ReadonlySet<Card>>(new Set());
/** True if the buy-in pays for the next card. */
export const usesBuyIn = signal(false);
/** The chooser that covers the table. */
export const chooser = signal<'none' | 'costs' | 'challenge' | 'more'>('none');

export function resetSelection() {
  picked.value = null;
  lifted.value = new Set();
  usesBuyIn.value = false;
  turned.value = null;
  chooser.value = 'none';
}

/** Returns the parts of the selection that `putBack` resets. */
function selectionParts(): readonly unknown[] {
  return [picked.value, lifted.value, usesBuyIn.value, turned.value, chooser.value];
}

export function gameView(view: TableView | null): View | null {
  return view?.phase.type === 'playing' ? view.phase.view as View : null;
}

export const game = computed<View | null>(() => gameView(table.value?.view ?? null));

/** True if the player has an open prompt. */
export const isPrompted = computed(() => (table.value?.prompt?.legal.length ?? 0) > 0);

/** Returns the reason why nothing can be sent, or null. */
export function blockedReason(): string | null {
  return sent.value ? say('why_sent') : !online.value ? say('why_offline') : null;
}

export async function play(move: Move) {
  if (sent.value) return;
  sent.value = true;
  const chosen = selectionParts();
  try {
    await client.act(move as never);
  } finally {
    sent.value = false;
    // A selection made meanwhile is for the next prompt.
    if (selectionParts().every((one, at) => one === chosen[at])) resetSelection();
  }
}

/** Returns in words the reason against an action, or null if it can be played. */
export function reasonAgainst(move: Move): string | null {
  const off = blockedReason();
  if (off !== null) return off;
  const view = game.value;
  const illegal = view ? whyNot(view, move) : null;
  return illegal && refusalText(illegal.code, null, KIND);
}

/** Returns whether an action is legal, independent of the connection. */
export function isLegal(move: Move): boolean {
  const view = game.value;
  return view !== null && whyNot(view, move) === null;
}

export function nameOf(view: TableView, seat: Seat): string {
  return seat === view.seat ? say('you') : shortName(view.seats[seat]?.name ?? '?');
}

export function wordsOf(matches: readonly Match[]): string {
  if (matches.length === 0) return word('no_match');
  return matches.map((one) => `${word(one.class)} ${cardSign(one.card)}`).join(' + ');
}

/** The strength of the player's hand at its best floor. */
export const bestFloorOfHand = computed(() => {
  const view = game.value;
  const hand = view ? ownHand(view) : [];
  return view && hand.length > 0 ? bestOf(hand, view.public) : null;
});

/** Returns the front floor. */
export function frontOf(view: View | null): number {
  const seat = view?.viewer ?? null;
  if (!view || seat === null) return turned.value ?? 0;
  const { phase } = view.public;
  if (phase.type === 'stop' && phase.seat === seat && turned.value !== null) return turned.value;
  return view.public.players[seat]?.facing ?? 0;
}

/** Turns the ring by one floor, before the stop. */
export function turnBy(steps: number) {
  const view = game.value;
  turned.value = (frontOf(view) + steps + FLOORS) % FLOORS;
}

/** Returns the phase if it is the player's own turn after the stop, otherwise null. */
export function ownTurn(view: View | null) {
  const phase = view?.public.phase;
  return phase?.type === 'turn' && phase.seat === view?.viewer ? phase : null;
}

/** Returns the exchange of the selected card with a card of this floor, or of the free exchange. */
export function swapMove(slot: number, floor: number | null, other: number): Move {
  return { type: 'exchange', slot, other, ...(floor === null ? {} : { floor, ...flag() }) };
}

function flag(): { leverage?: true } {
  return usesBuyIn.value ? { leverage: true } : {};
}

/** Returns the price of a swap with this floor. */
export function swapPrice(view: View, floor: number | null): number {
  const turn = ownTurn(view);
  if (!turn) return 0;
  return price(view.public, exchangePrice(view.public, turn.floor, floor), usesBuyIn.value && floor !== null);
}

/** Returns whether the hand is strong enough to show: more than one pair. */
function isStrong(): boolean {
  const own = bestFloorOfHand.value?.matches ?? [];
  return own.length > 1 || (own[0] !== undefined && own[0].class !== 'pair');
}

interface Made { gold?: boolean; danger?: boolean; note?: string }

function moveButton(key: string, letter: string, label: string, move: Move, { gold = false, danger = false, note = '' }: Made = {}): Act {
  const not = reasonAgainst(move);
  return { key, letter, label, gold: gold && not === null, danger, note: not ?? note, enabled: not === null, act: () => void play(move) };
}

function openAct(key: string, letter: string, label: string, note: string, act: () => void): Act {
  const off = blockedReason();
  return { key, letter, label, note: off ?? note, gold: false, danger: false, enabled: off === null, act };
}

const discards = () => [...lifted.value];

/** Returns the buttons from the left, at most four. */
export function buttons(state: TableState): Act[] {
  const view = gameView(state.view);
  const seat = state.view.seat;
  if (!view || seat === null) return [];
  const { public: open } = view;
  const { phase } = open;
  const me = open.players[seat];
  if (!me || me.folded) return [];
  const drawn = lifted.value.size;
  const evadeNote = drawn > 0 ? word('draws', { n: drawn }) : word('keeps_all');
  const evade: Move = { type: 'evade', ...(drawn > 0 ? { discards: discards() } : {}) };

  if (phase.type === 'stop' && phase.seat === seat) {
    const floor = frontOf(view);
    return [
      openAct('left', 'Q', `‹ ${word('turn_left')}`, word('floor', { n: (floor + 7) % FLOORS + 1 }), () => turnBy(-1)),
      { ...moveButton('stop', 'S', word('stop'), { type: 'stop', floor }, { gold: true, note: word('floor', { n: floor + 1 }) }) },
      openAct('right', 'E', `${word('turn_right')} ›`, word('floor', { n: (floor + 1) % FLOORS + 1 }), () => turnBy(1)),
    ];
  }

  if (phase.type === 'challenge' && phase.asked === seat) {
    const cost = answerPrice(open, seat);
    const note = cost > 0 ? chips(cost) : word('for_free');
    if (phase.target === seat) {
      return [
        moveButton('stand', 'S', word('stand'), { type: 'stand' }, { gold: isStrong(), note }),
        moveButton('evade', 'E', word('evade'), evade, { note: evadeNote }),
      ];
    }
    const isConfront = (phase.target ?? null) === null;
    return [
      moveButton(isConfront ? 'confront' : 'join', 'J', word(isConfront ? 'confront' : 'join'),
        isConfront ? { type: 'confront' } : { type: 'join' }, { gold: isStrong() || cost === 0, note }),
      moveButton('fold', 'F', word('fold'), { type: 'fold' }, { danger: true }),
    ];
  }

  const turn = ownTurn(view);
  if (!turn) return [];
  if (open.reserves && (turn.wager ?? null) === null) {
    const wager = Math.min(me.chips, open.reserves.wager);
    return [
      moveButton('convert_reserves', 'W', word('wager'), { type: 'convert_reserves' }, { gold: isStrong(), note: chips(wager) }),
      moveButton('fold', 'F', word('fold'), { type: 'fold' }, { danger: true }),
    ];
  }

  const slot = picked.value;
  if (slot !== null) {
    const card = open.floors[turn.floor]?.[slot] ?? null;
    const put = openAct('put_back', 'X', say('cancel'), '', () => { picked.value = null; });
    if (card) {
      return [
        moveButton('sell', 'S', word('turn_down'), { type: 'sell', slot, ...flag() },
          { gold: true, note: `${cardSign(card)} · ${chips(price(open, open.costs.sell, usesBuyIn.value))}` }),
        put,
      ];
    }
    const canSwap = swapPartners(slot).length > 0;
    const swapNote = canSwap ? word('touch_glow') : reasonAgainst({ type: 'exchange', slot, other: 0 }) ?? word('not_now');
    return [
      moveButton('buy', 'B', word('turn_up'), { type: 'buy', slot, ...flag() }, { gold: true, note: chips(price(open, open.costs.buy, usesBuyIn.value)) }),
      { ...openAct('swap', 'C', word('swap'), swapNote, () => {}), enabled: false },
      put,
    ];
  }

  const due = risk(open);
  const more = openAct('more', 'M', word('more'), '', () => { chooser.value = 'more'; });
  if (turn.step === 'open' && due > 0) {
    return [
      moveButton('retreat', 'R', word('retreat'), { type: 'retreat' }),
      moveButton('evade', 'E', word('evade'), evade, { note: evadeNote }),
      more,
      moveButton('pay_risk', 'P', word('pay_risk'), { type: 'pay_risk' }, { gold: due * CHEAP <= me.chips || isStrong(), note: chips(due) }),
    ];
  }
  const challenge: Act = { ...openAct('challenge', 'C', word('challenge'), '', () => { chooser.value = 'challenge'; }) };
  const early = reasonAgainst({ type: 'acquire' });
  if (early !== null) { challenge.enabled = false; challenge.note = early; }
  return [
    moveButton('roll', 'R', word('roll'), { type: 'roll' }),
    challenge,
    drawn > 0
      ? moveButton('pay_to_evade', 'E', word('pay_to_evade'), { type: 'pay_to_evade', discards: discards() }, { note: `${chips(due)} · ${word('draws', { n: drawn })}` })
      : more,
    moveButton('end', 'X', word('end'), { type: 'end' }, { gold: true, note: turn.wager ? chips(turn.wager) : '' }),
  ];
}

/** Returns the possible partners of a swap: floor (null: the free exchange) and slot. */
export function swapPartners(slot: number): [number | null, number][] {
  const places: [number | null, number][] = [null, ...Array.from({ length: FLOORS }, (_, floor) => floor)]
    .flatMap((floor) => [0, 1, 2].map((other) => [floor, other] as [number | null, number]));
  return places.filter(([floor, other]) => isLegal(swapMove(slot, floor, other)));
}

/** The actions that show that a hint is learnt. */
const LEARNT_BY: Partial<Record<TongoWord, readonly string[]>> = {
  hint_stop: ['stop'], hint_stand: ['stand', 'evade'], hint_answer: ['join', 'confront', 'fold'],
  hint_reserves: ['convert_reserves', 'fold'], hint_wager: ['end'], hint_challenge: ['acquire', 'confront'],
  hint_risk: ['pay_risk', 'retreat'], hint_buy: ['buy'], hint_costs: ['raise'], hint_roll: ['roll'], hint_end: ['end'],
};

/** Returns the hints for this moment, the most useful first. */
export function hints(state: TableState): Hint[] {
  const view = gameView(state.view);
  const seat = state.view.seat;
  if (!view || seat === null || !isPrompted.value) return [];
  const { public: open } = view;
  const { phase, rules, round } = open;
  const own = bestFloorOfHand.value?.matches ?? [];
  const held = wordsOf(own);
  const hint = (name: TongoWord): Hint => ({ name, text: word(name, { best: held, n: rules.challenge_round }), by: LEARNT_BY[name] ?? [] });
  if (phase.type === 'stop') return [hint('hint_stop')];
  if (phase.type === 'challenge') return [hint(phase.target === seat ? 'hint_stand' : 'hint_answer')];
  const turn = ownTurn(view);
  if (!turn) return [];
  if (open.reserves) return [hint((turn.wager ?? null) === null ? 'hint_reserves' : 'hint_wager')];
  const found: Hint[] = [];
  if (round >= rules.challenge_round && isStrong() && isLegal({ type: 'acquire' })) found.push(hint('hint_challenge'));
  if (turn.step === 'open' && risk(open) > 0) return [...found, hint('hint_risk')];
  if ([0, 1, 2].some((slot) => isLegal({ type: 'buy', slot }))) found.push(hint('hint_buy'));
  if (isLegal({ type: 'raise', sell: open.costs.sell + 1 }) && risk(open) < 2) found.push(hint('hint_costs'));
  if (isLegal({ type: 'roll' })) found.push(hint('hint_roll'));
  return [...found, hint('hint_end')];
}

/** Returns the word for a seat's restriction in its next turn, or null without one. */
export function restrictionWord(view: View, seat: Seat): string | null {
  const one = view.public.players[seat];
  const { phase } = view.public;
  if (!one) return null;
  if (one.folded) return word('folded');
  if (phase.type === 'challenge') {
    if (phase.by === seat) return word((phase.target ?? null) === null ? 'challenge' : 'confront');
    if (phase.joined.includes(seat)) return word('join');
    if (phase.target === seat && phase.asked !== seat) return word('stand');
  }
  if (view.public.reserves?.by === seat) return word('token_reserves');
  return hasEvaded(one) ? word('evade') : one.previous.retreated ? word('retreat') : null;
}
