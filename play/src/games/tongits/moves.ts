// The player's possible actions: the buttons, the cards that they use, and the reasons why one is disabled.
// The prompt lists the legal actions; the rules give the reasons.
import { computed, signal } from '@preact/signals';
import { arrange, deadwood, targets, whyNot } from '../../../../clients/typescript/src/games/tongits/index.ts';
import { client, online, table } from '../../house.ts';
import type { Action, Card, TableState } from '../../model.ts';
import type { Act } from '../../parts/acts.tsx';
import { shortName } from '../../parts/index.tsx';
import { refusalText } from '../../refusals.ts';
import { cardSign, say, type Word } from '../../words.ts';
import type { Hint } from '../folder.ts';
import { selected } from './hand.ts';
import { gameView } from './show.ts';
import type { View } from './types.ts';

const KIND = 'tongits';

/** The number of points up to which a challenge is recommended. */
const FEW_POINTS = 10;

/** True while a sent action has no answer, during which nothing else can be played. */
export const sent = signal(false);
/** The actions to choose from: ways to chow, or melds for one card. */
export const choices = signal<readonly Action[] | null>(null);

export async function play(action: Action) {
  if (sent.value) return;
  sent.value = true;
  choices.value = null;
  try {
    await client.act(action as never);
  } finally {
    sent.value = false;
  }
}

export const legal = computed<readonly Action[]>(() => table.value?.prompt?.legal ?? []);

export function cardsOf(action: Action): Card[] {
  const list = action['cards'];
  return Array.isArray(list) ? list as Card[] : [];
}

const hasSameCards = (a: readonly Card[], b: ReadonlySet<Card>) => a.length === b.size && a.every((card) => b.has(card));

export function legalOf(type: string): Action[] {
  return legal.value.filter((action) => action.type === type);
}

/** The melds of the table that take one of the lifted cards. */
export const takingMelds = computed<ReadonlySet<number>>(() => {
  const chosen = selected.value;
  const fits = legalOf('sapaw').filter((action) => chosen.size === 0 || chosen.has(String(action['card'])));
  return new Set(fits.map((action) => Number(action['meld'])));
});

/** Returns the sapaw to a meld with the lifted cards, or with any card of the hand if none is lifted. */
export function sapawTo(meld: number): Action | null {
  const chosen = selected.value;
  const fits = legalOf('sapaw').filter((action) => action['meld'] === meld);
  if (chosen.size === 0) return null;
  return fits.find((action) => chosen.has(String(action['card']))) ?? null;
}

function button(key: string, letter: string, word: Word, note: string, act: (() => void) | null, gold = false, danger = false): Act {
  return { key, label: say(word), letter, note, gold: gold && act !== null, danger, enabled: act !== null, act: act ?? (() => {}) };
}

function shortReason(view: View, action: Action): string {
  const illegal = whyNot(view as never, action as never);
  if (!illegal) return '';
  const short: Record<string, Word> = {
    not_your_turn: 'why_turn', nothing_to_chow: 'why_discard_none', chow_no_meld: 'why_chow',
    not_open: 'why_not_open', fight_blocked: 'why_blocked', not_draw_phase: 'why_first',
    not_play_phase: 'why_drawn', drop_no_meld: 'why_no_meld', sapaw_no_meld: 'why_no_target',
    card_addable: 'why_addable', joker_dumped: 'why_joker', cards_left_over: 'why_left_over',
    fight_open: 'fight', no_fight: 'why_turn', not_asked: 'why_turn', already_answered: 'fight_answered',
    not_first_action: 'why_drawn',
  };
  const word = short[illegal.code];
  return word ? say(word) : refusalText(illegal.code, null, KIND);
}

/** Returns the sentence that explains, with its rule, why a card, a meld or a fight is not possible. */
export function fullReason(view: View, action: Action): string | null {
  const illegal = whyNot(view as never, action as never);
  return illegal && `${refusalText(illegal.code, null, KIND)} (${say('why_rule', { rule: illegal.rule })})`;
}

/** Returns the best meld to drop: the lifted cards, or the first meld of the hand's arrangement. */
function meldToDrop(hand: readonly Card[]): { action: Action | null; chosen: boolean } {
  const drops = legalOf('drop').filter((action) => action['face_down'] !== true);
  const chosen = selected.value;
  if (chosen.size > 1) return { action: drops.find((action) => hasSameCards(cardsOf(action), chosen)) ?? null, chosen: true };
  const holding = chosen.size === 1 ? drops.filter((action) => cardsOf(action).some((card) => chosen.has(card))) : drops;
  if (holding.length === 0) return { action: null, chosen: false };
  const arranged = arrange(hand).melds.map((meld) => new Set(meld));
  const best = holding.find((action) => arranged.some((meld) => hasSameCards(cardsOf(action), meld)));
  return { action: best ?? holding.reduce((a, b) => cardsOf(b).length > cardsOf(a).length ? b : a), chosen: false };
}

/** Returns the buttons from the left, at most four. */
export function buttons(state: TableState): Act[] {
  const view = gameView(state.view);
  const seat = state.view.seat;
  if (!view || seat === null) return [];
  const hand = view.hands[seat] ?? [];
  const { phase } = view.public;
  const off = sent.value ? say('why_sent') : !online.value ? say('why_offline') : null;
  const open = (made: Act[]): Act[] => off === null ? made
    : made.map((one) => ({ ...one, enabled: false, gold: false, note: off, act: () => {} }));

  if (phase.type === 'fight') {
    const asked = legalOf('challenge').length > 0;
    if (!asked && !phase.asked.includes(seat) && !phase.asked_secretly.includes(seat)) return [];
    const points = say('deadwood_now', { n: deadwood(hand) });
    const none = phase.answered.includes(seat) ? say('fight_answered') : '';
    return open([
      button('challenge', 'C', 'challenge', asked ? points : none, asked ? () => void play({ type: 'challenge' }) : null, deadwood(hand) <= FEW_POINTS),
      button('fold', 'F', 'fold', asked ? '' : none, asked ? () => void play({ type: 'fold' }) : null, false, true),
    ]);
  }

  if (phase.type !== 'play' || phase.seat !== seat) {
    const canDraw = legalOf('draw').length > 0;
    const chows = legalOf('chow');
    const canFight = legalOf('fight').length > 0;
    const lifted = chows.find((action) => hasSameCards(cardsOf(action), selected.value));
    const chow = lifted ?? (chows.length === 1 ? chows[0]! : null);
    const discard = view.public.discards.at(-1);
    const made = [
      button('draw', 'D', 'draw', canDraw ? say('from_stock') : shortReason(view, { type: 'draw' }),
        canDraw ? () => void play({ type: 'draw' }) : null, chows.length === 0),
      button('chow', 'C', 'chow',
        chow ? say('with_cards', { cards: cardsOf(chow).map(cardSign).join(' ') })
          : chows.length > 1 ? say('ways', { n: chows.length })
          : canDraw ? say(discard ? 'why_chow' : 'why_discard_none') : shortReason(view, { type: 'draw' }),
        chow ? () => void play(chow) : chows.length > 1 ? () => { choices.value = chows; } : null, true),
      button('fight', 'F', 'fight',
        canFight ? say('deadwood_now', { n: deadwood(hand) }) : fightNote(view, seat),
        canFight ? () => void play({ type: 'fight' }) : null, false, true),
    ];
    if (legalOf('tongits').length > 0) made.push(button('tongits', 'T', 'tongits', '', () => void play({ type: 'tongits' }), true));
    return open(made);
  }

  const one = selected.value.size === 1 ? [...selected.value][0]! : null;
  const drop = meldToDrop(hand);
  const sapaws = legalOf('sapaw').filter((action) => one === null || action['card'] === one);
  const dumps = legalOf('dump');
  const dump = one === null ? null : dumps.find((action) => action['card'] === one) ?? null;
  const canTongits = legalOf('tongits').length > 0;
  const melds = view.public.melds;
  const to = (action: Action) => say('to_meld', {
    card: cardSign(String(action['card'])), name: ownerName(state, melds[Number(action['meld'])]?.owner) });
  const made = [
    button('drop', 'B', 'drop',
      drop.action ? cardsOf(drop.action).map(cardSign).join(' ')
        : say(drop.chosen ? 'why_no_meld' : 'why_select_meld'),
      drop.action ? () => void play(drop.action!) : null, false),
    button('sapaw', 'S', 'sapaw',
      sapaws.length === 1 ? to(sapaws[0]!) : sapaws.length > 1 ? say('ways', { n: sapaws.length })
        : one ? say('why_no_target') : say('why_no_target'),
      sapaws.length === 1 ? () => void play(sapaws[0]!)
        : sapaws.length > 1 ? () => { choices.value = sapaws; } : null),
    button('dump', 'X', 'dump',
      dump ? cardSign(one!) : one ? shortReason(view, { type: 'dump', card: one })
        : selected.value.size > 1 ? say('why_one_card') : say('why_select_card'),
      dump ? () => void play(dump) : null, !canTongits),
  ];
  // The rules may allow a secret meld to lie face down.
  const down = drop.action && legalOf('drop').find((action) =>
    action['face_down'] === true && hasSameCards(cardsOf(action), new Set(cardsOf(drop.action!))));
  made.push(down && !canTongits
    ? button('drop_down', 'T', 'drop_down', cardsOf(down).map(cardSign).join(' '), () => void play(down))
    : canTongits
    ? button('tongits', 'T', 'tongits', '', () => void play({ type: 'tongits' }), true)
    : button('fight', 'F', 'fight', fightNote(view, seat), null, false, true));
  return open(made);
}

function ownerName(state: TableState, owner: number | undefined): string {
  if (owner === undefined) return '?';
  return owner === state.view.seat ? say('your') : shortName(state.view.seats[owner]?.name ?? '?');
}

function fightNote(view: View, seat: number): string {
  const { melds, phase, added_to } = view.public;
  const isOpen = melds.some((meld) => meld.owner === seat && (meld.face_down ?? null) === null);
  if (!isOpen) return say('why_not_open');
  if (phase.type === 'draw' && phase.seat === seat) return phase.fight_blocked ? say('why_blocked') : '';
  return added_to.includes(seat) ? say('why_blocked') : say('why_first');
}

/** Returns the hints for this moment, the most useful first. */
export function hints(state: TableState): Hint[] {
  const view = gameView(state.view);
  const seat = state.view.seat;
  if (!view || seat === null || legal.value.length === 0) return [];
  const hand = view.hands[seat] ?? [];
  const { phase } = view.public;
  const hint = (word: Word, ...by: string[]): Hint => ({ name: word, text: say(word), by });
  if (legalOf('tongits').length > 0) return [hint('hint_tongits', 'tongits')];
  if (phase.type === 'fight') return [hint('hint_answer', 'challenge', 'fold')];
  if (phase.type === 'draw') {
    return [
      ...legalOf('fight').length > 0 && deadwood(hand) <= 8 ? [hint('hint_fight', 'fight')] : [],
      ...legalOf('chow').length > 0 ? [hint('hint_chow', 'chow')] : [],
      hint('hint_draw', 'draw', 'chow', 'fight'),
    ];
  }
  const isOpen = view.public.melds.some((meld) => meld.owner === seat);
  return [
    ...!isOpen && legalOf('drop').length > 0 ? [hint('hint_drop', 'drop')] : [],
    ...hand.some((card) => targets(view as never, card).length > 0) ? [hint('hint_sapaw', 'sapaw')] : [],
    hint('hint_dump', 'dump'),
  ];
}
