// The player's possible actions: the buttons, their meaning, and the reasons why one is disabled. The rules
// decide about the same action that a button would send.
import type { TongoAssetsAction } from '../../../../clients/typescript/src/index.ts';
import {
  evasion, indexed, leveraged, numberOf, colourOf, kindOf, openingRisk, isLast, sectionOf,
} from '../../../../clients/typescript/src/games/tongo_assets/index.ts';
import { online, table } from '../../house.ts';
import type { Act } from '../../parts/acts.tsx';
import { refusalText } from '../../refusals.ts';
import { language, say as sayCommon } from '../../words.ts';
import { bestImprovement, isStrong } from './hints.ts';
import {
  isPrompted, currentView, enter, isLegal, mode, picked, play, proposePrices, illegalReason, saleSize, sent, slots, spendsFree, awaitedConfirmation, tryPlay,
  type View,
} from './state.ts';
import { chipsOf, isWord, say } from './words.ts';

export interface Buttons {
  main: Act[];
  /** The rarer actions, in a row above. */
  side: Act[];
}

/** Returns a short name of a card for buttons, such as its number and colour letter. */
function shortCardName(card: string): string {
  return kindOf(card) !== null ? say(`kind_${kindOf(card)}` as never)
    : say('card_asset', { colour: say(`colour_${colourOf(card)}` as never), number: numberOf(card) });
}

/** Returns the reason why an action is disabled, in a few words. */
function shortReason(action: TongoAssetsAction): string {
  const why = illegalReason(action);
  if (!why) return '';
  const word = `why_${why.code}`;
  return isWord(word) ? say(word) : refusalText(why.code, null, 'tongo_assets');
}

interface ButtonSpec { key: string; letter: string; label: string; note?: string; gold?: boolean; danger?: boolean }

function button({ key, letter, label, note = '', gold = false, danger = false }: ButtonSpec, act: (() => void) | null): Act {
  return { key, letter, label, note, gold: gold && act !== null, danger, enabled: act !== null, act: act ?? (() => {}) };
}

/** Returns the button of an action: enabled if the rules allow it, otherwise with the reason. */
function actionButton(made: ButtonSpec, action: TongoAssetsAction): Act {
  const open = isLegal(action);
  return button({ ...made, note: open ? made.note ?? '' : shortReason(action) }, open ? () => void play(action) : null);
}

/** Returns a button that needs a second touch, because the action cannot be undone. */
function confirmedButton(made: ButtonSpec, action: TongoAssetsAction, warning: string): Act {
  if (!isLegal(action)) return actionButton(made, action);
  const isSure = awaitedConfirmation.value === made.key;
  return button({ ...made, label: isSure ? say('sure') : made.label, note: isSure ? warning : made.note ?? '' }, () => {
    if (isSure) void play(action);
    else awaitConfirmation(made.key);
  });
}

const CONFIRMATION_MS = 4000;

function awaitConfirmation(key: string) {
  awaitedConfirmation.value = key;
  setTimeout(() => { if (awaitedConfirmation.value === key) awaitedConfirmation.value = null; }, CONFIRMATION_MS);
}

const cancelButton = (): Act => button({ key: 'cancel', letter: 'X', label: say('cancel') }, () => enter({ type: 'none' }));

/**
 * Returns whether the hand justifies a payment: a part of the chips while hands are built, and a strong hand
 * where hands are shown. Otherwise no payment is recommended.
 */
function isJustified(view: View, due: number): boolean {
  const own = view.public.players[view.viewer ?? 0];
  const hand = view.own?.hand ?? [];
  if (!own) return false;
  if (due === 0 || (hand.length === 7 && isStrong(hand))) return true;
  return view.public.phase.type !== 'confront' && due * CHEAP <= own.chips;
}

/** A payment of at most one part in this many is cheap. */
const CHEAP = 10;

function retreatButton(view: View): Act {
  const own = view.public.players[view.viewer ?? 0];
  return confirmedButton({ key: 'retreat', letter: 'R', label: say('retreat'), note: say('note_keep', { chips: chipsOf(own?.chips ?? 0) }), danger: true },
    { type: 'retreat' }, say('note_lost'));
}

/** Returns the buttons of this moment; none while others are prompted. */
export function buttons(): Buttons {
  void language.value;
  const view = currentView.value;
  if (!view || view.viewer === null || !isPrompted.value) return { main: [], side: [] };
  const made = phaseButtons(view, view.viewer);
  const off = sent.value ? sayCommon('why_sent') : !online.value || !table.value?.current ? sayCommon('why_offline') : null;
  if (off === null) return made;
  const shut = (one: Act): Act => ({ ...one, enabled: false, gold: false, note: off, act: () => {} });
  return { main: made.main.map(shut), side: made.side.map(shut) };
}

function phaseButtons(view: View, seat: number): Buttons {
  const { phase, offer } = view.public;
  if (offer) {
    return { side: [], main: [
      actionButton({ key: 'accept', letter: 'A', label: say('accept'), gold: true }, { type: 'accept' }),
      actionButton({ key: 'refuse', letter: 'F', label: say('refuse') }, { type: 'refuse' }),
    ] };
  }
  if (mode.value.type === 'bribe') return bribeButtons(view, mode.value);
  const made = phase.type === 'open' ? openButtons(view)
    : phase.type === 'risk' ? riskButtons(view, seat)
    : phase.type === 'assess' ? assessButtons(view)
    : phase.type === 'confront' && phase.confronter !== seat ? answerButtons(view, seat)
    : { main: [payButton(view, seat), retreatButton(view)], side: [] };
  const { rules, playing } = view.public;
  if (rules.bribes && (mode.value.type === 'none' || phase.type === 'open')) {
    const other = playing.find((one) => one !== seat) ?? 0;
    const why = isLegal({ type: 'bribe', to: other, chips: 1 });
    made.side.push(button({ key: 'bribe', letter: 'U', label: say('bribe'), note: why ? '' : shortReason({ type: 'bribe', to: other, chips: 1 }) },
      why ? () => enter({ type: 'bribe', to: null, chips: 1 }) : null));
  }
  return made;
}

function openButtons(view: View): Buttons {
  const { public: open } = view;
  if (isLast(open)) {
    return { side: [], main: [
      confirmedButton({ key: 'confront', letter: 'C', label: say('confront'), note: say('note_confront', { n: open.risk }), gold: isJustified(view, open.risk) && isStrong(view.own?.hand ?? []) },
        { type: 'confront' }, say('note_confront', { n: open.risk })),
      retreatButton(view),
    ] };
  }
  const chosen = mode.value.type === 'prices' ? mode.value : { type: 'prices' as const, ...proposePrices(openingRisk(open)[0]) };
  const { risk, purchase, sell } = chosen;
  return { side: [], main: [
    actionButton({ key: 'open', letter: 'O', label: say('open'), note: say('note_more', { n: risk }), gold: isJustified(view, risk) }, { type: 'open', risk, purchase, sell }),
    retreatButton(view),
  ] };
}

function payButton(view: View, seat: number): Act {
  const { phase, risk, players } = view.public;
  const player = players[seat]!;
  const due = phase.type === 'debts' ? player.owes : risk - player.paid;
  return actionButton({ key: 'pay', letter: 'P', label: say('pay'), note: say('note_pay', { chips: chipsOf(due) }), gold: phase.type === 'debts' || isJustified(view, due) }, { type: 'pay' });
}

function riskButtons(view: View, seat: number): Buttons {
  const { risk, rules, players } = view.public;
  const player = players[seat]!;
  if (mode.value.type === 'prices') {
    const { risk: to, purchase, sell } = mode.value;
    return { side: [], main: [
      actionButton({ key: 'raise_now', letter: 'Z', label: say('raise_to', { n: to }), note: say('note_more', { n: to - player.paid }), gold: isJustified(view, to - player.paid) },
        { type: 'raise', risk: to, purchase, sell }),
      cancelButton(),
    ] };
  }
  const least = { type: 'raise' as const, ...proposePrices(risk + 1) };
  const most = Math.min(risk + rules.raise_max, player.chips + player.paid);
  const open = isLegal(least);
  return { side: [], main: [
    payButton(view, seat),
    button({ key: 'raise', letter: 'Z', label: say('raise'), note: open ? say('note_raise', { n: most }) : shortReason(least) },
      open ? () => enter({ type: 'prices', ...proposePrices(risk + 1) }) : null),
    retreatButton(view),
  ] };
}

/** Returns the selected slot and the selected piece of the hand. */
function selectedPieces(view: View): { slot: number | null; tile: string | null; card: string | null } {
  const slot = slots.value.size === 1 ? [...slots.value][0]! : null;
  const card = picked.value.size === 1 ? [...picked.value][0]! : null;
  return { slot, tile: slot === null ? null : view.own?.before?.[slot] ?? null, card };
}

function assessButtons(view: View): Buttons {
  const { public: open, own } = view;
  if (mode.value.type === 'sell') {
    const wanted = saleSize();
    const chosen = [...slots.value].sort((a, b) => a - b);
    const made = actionButton({ key: 'sell_now', letter: 'S', label: say('sell_now'), note: say('note_sell', { chips: chipsOf(open.sell) }), gold: true }, { type: 'sell', slots: chosen });
    if (chosen.length < wanted) made.note = say('note_sell_pick', { n: wanted - chosen.length });
    return { side: [], main: [made, cancelButton()] };
  }
  const { slot, tile, card } = selectedPieces(view);
  const isFull = (own?.hand.length ?? 0) === 7;
  const free = spendsFree.value ? { free: true } : {};
  const price = open.purchase;
  const anySlot = (own?.before ?? []).findIndex(Boolean);

  const swap: TongoAssetsAction = { type: 'swap', discard: card ?? own?.hand.find((one) => kindOf(one) === null) ?? '', slot: slot ?? anySlot };
  const swapNote = slot === null && isLegal(swap) ? say('note_pick_tile') : card === null && isLegal(swap) ? say('note_pick_own') : null;
  const buy: TongoAssetsAction = { type: 'purchase', slot: slot ?? anySlot, ...(isFull ? { discard: card ?? own?.hand[0] ?? null } : {}), ...free };
  const buyNote = slot === null && isLegal(buy) ? say('note_pick_tile') : isFull && card === null && isLegal(buy) ? say('note_pick_part') : null;
  const acquire: TongoAssetsAction = { type: 'acquire', ...(isFull ? { replace: card ?? own?.hand[0] ?? null } : {}), ...free };
  const acquireNote = isFull && card === null && isLegal(acquire) ? say('note_pick_part') : null;
  const confront: TongoAssetsAction = { type: 'confront' };
  const canConfront = isLegal(confront);
  const isWorthy = canConfront && isStrong(own?.hand ?? []);
  const tip = bestImprovement(view);
  const missing = (made: Act, note: string | null): Act => note === null ? made : { ...made, note, enabled: false, gold: false, act: () => {} };

  const main = [
    missing(actionButton({ key: 'swap', letter: 'W', label: say('swap'),
      note: card && tile ? say('note_swap', { out: shortCardName(card), in: shortCardName(tile) }) : '', gold: !!card && !!tile }, swap), swapNote),
    missing(actionButton({ key: 'buy', letter: 'B', label: say('buy'), gold: tile !== null && tip !== null && !tip.swaps && tip.slot === slot && (spendsFree.value || isJustified(view, price)) && (isFull || card === null),
      note: tile === null ? '' : spendsFree.value ? say('note_free', { card: shortCardName(tile) })
        : isFull && card ? say('note_buy_out', { card: shortCardName(tile), n: price, out: shortCardName(card) }) : say('note_buy', { card: shortCardName(tile), n: price }) }, buy), buyNote),
    missing(actionButton({ key: 'acquire', letter: 'Q', label: say('acquire'),
      note: spendsFree.value ? say('note_acquire_free') : say('note_acquire', { n: price }) }, acquire), acquireNote),
    actionButton({ key: 'done', letter: 'D', label: say('done'), note: say('note_done'), gold: tile === null && !isWorthy }, { type: 'done' }),
  ];
  // The reason against a sale is computed for a sale with the required number of slots.
  const all = (own?.before ?? []).flatMap((one, at) => one ? [at] : []).slice(0, saleSize());
  const canSell = isLegal({ type: 'sell', slots: all });
  const side = [
    button({ key: 'sell', letter: 'S', label: say('sell'), note: canSell ? say('note_sell', { chips: chipsOf(open.sell) }) : shortReason({ type: 'sell', slots: all }) },
      canSell ? () => { enter({ type: 'sell' }); if (all.length === (own?.before ?? []).filter(Boolean).length) slots.value = new Set(all); } : null),
    confirmedButton({ key: 'confront', letter: 'C', label: say('confront'), note: say('note_confront', { n: open.risk }), gold: isWorthy }, confront, say('note_confront', { n: open.risk })),
    retreatButton(view),
  ];
  return { main, side };
}

function answerButtons(view: View, seat: number): Buttons {
  const { public: open, own } = view;
  const { risk, rules, unindexed } = open;
  const { chips } = open.players[seat]!;
  const chosen = mode.value;
  if (chosen.type === 'raise_confront') {
    return { side: [], main: [
      actionButton({ key: 'raise_now', letter: 'Z', label: say('raise_to', { n: chosen.risk }), note: say('note_more', { n: chosen.risk }), gold: isJustified(view, chosen.risk) },
        { type: 'raise_confront', risk: chosen.risk }),
      cancelButton(),
    ] };
  }
  if (chosen.type === 'evade') {
    const discards = chosenCards(own?.hand ?? [], picked.value);
    const made = actionButton({ key: 'evade_now', letter: 'E', label: say('evade'), note: say('note_evade', { chips: chipsOf(evasion(open)) }), gold: evasion(open) * CHEAP <= chips }, { type: 'evade', discards });
    if (discards.length < 3) made.note = say('note_pick_three', { n: 3 - discards.length });
    return { side: [], main: [made, cancelButton()] };
  }
  if (chosen.type === 'index') {
    const pay = unindexed ?? risk;
    const to = indexed(risk, chosen.margin);
    return { side: [], main: [
      actionButton({ key: 'index_now', letter: 'I', label: say('index_at', { n: chosen.margin }), note: say('note_index', { pay, owe: to - pay, risk: to }), gold: isJustified(view, to) },
        { type: 'index', margin: chosen.margin }),
      cancelButton(),
    ] };
  }
  if (chosen.type === 'leverage') {
    return { side: [], main: [
      actionButton({ key: 'leverage_now', letter: 'L', label: say('leverage_at', { n: chosen.percent }),
        note: say('note_leverage', { n: leveraged(risk, chosen.percent), of: risk }), gold: isJustified(view, leveraged(risk, chosen.percent)) }, { type: 'leverage', percent: chosen.percent }),
      cancelButton(),
    ] };
  }
  const evade: TongoAssetsAction = { type: 'evade', discards: (own?.hand ?? []).slice(0, 3) };
  const raise: TongoAssetsAction = { type: 'raise_confront', risk: risk + 1 };
  const way = (made: ButtonSpec, action: TongoAssetsAction, next: () => void, note: string): Act =>
    button({ ...made, note: isLegal(action) ? note : shortReason(action) }, isLegal(action) ? next : null);
  const side: Act[] = [];
  if (rules.margins) {
    const least = [5, 10, 15, 20, 25, 30, 35, 40, 45, 50].find((margin) => indexed(risk, margin) > risk) ?? 50;
    side.push(way({ key: 'index', letter: 'I', label: say('index') }, { type: 'index', margin: least },
      () => enter({ type: 'index', margin: least }), say('note_pay', { chips: chipsOf(unindexed ?? risk) })));
  }
  if (rules.leverage) {
    side.push(way({ key: 'leverage', letter: 'L', label: say('leverage') }, { type: 'leverage', percent: 5 },
      () => enter({ type: 'leverage', percent: 50 }), say('note_leverage', { n: leveraged(risk, 5), of: risk })));
  }
  return { side, main: [
    payButton(view, seat),
    way({ key: 'raise', letter: 'Z', label: say('raise') }, raise, () => enter({ type: 'raise_confront', risk: risk + 1 }),
      say('note_raise', { n: Math.min(risk + rules.raise_max, chips) })),
    way({ key: 'evade', letter: 'E', label: say('evade') }, evade, () => enter({ type: 'evade' }), say('note_evade', { chips: chipsOf(evasion(open)) })),
    retreatButton(view),
  ] };
}

function chosenCards(hand: readonly string[], chosen: ReadonlySet<string>): string[] {
  return hand.filter((card) => chosen.has(card));
}

function bribeButtons(view: View, chosen: { to: number | null; chips: number }): Buttons {
  const { own } = view;
  const cards = chosenCards([...own?.hand ?? [], ...own?.kept ?? []], picked.value);
  const what = cards.length > 0 ? { cards } : { chips: chosen.chips };
  const note = cards.length > 0 ? cards.map(shortCardName).join(', ') : chipsOf(chosen.chips);
  const made = chosen.to === null ? button({ key: 'bribe_now', letter: 'U', label: say('bribe_now'), note: say('note_bribe_pick') }, null)
    : actionButton({ key: 'bribe_now', letter: 'U', label: say('bribe_now'), note, gold: true }, { type: 'bribe', to: chosen.to, ...what });
  return { side: [], main: [made, cancelButton()] };
}

/** Plays a touched card of those kept, or prepares it. */
export function touchKept(card: string) {
  const view = currentView.value;
  if (!view) return;
  switch (kindOf(card)) {
    case 'D':
      tryPlay({ type: 'dividend' });
      return;
    case 'V': {
      const away = (sectionOf(view.public, view.viewer ?? 0) + 1) % view.public.rules.sections;
      if (isLegal({ type: 'reveal', section: away })) enter(mode.value.type === 'reveal' ? { type: 'none' } : { type: 'reveal' });
      else tryPlay({ type: 'reveal', section: away });
      return;
    }
    case 'F': {
      if (view.public.phase.type === 'assess' && isPrompted.value) spendsFree.value = !spendsFree.value;
      else tryPlay({ type: 'acquire', free: true });
      return;
    }
    default:
  }
}
