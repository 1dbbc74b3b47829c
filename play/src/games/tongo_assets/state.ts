// The player's selection: pieces of the hand, slots of the section, and numbers being chosen. It lasts as
// long as its prompt.
import { batch, computed, signal } from '@preact/signals';
import type { TongoAssetsAction, TongoAssetsView } from '../../../../clients/typescript/src/index.ts';
import { isLast, openingRisk, priceBounds, whyNot } from '../../../../clients/typescript/src/games/tongo_assets/index.ts';
import { client, table, showToast } from '../../house.ts';
import type { Seat, TableView } from '../../model.ts';
import { shortName } from '../../parts/index.tsx';
import { refusalText } from '../../refusals.ts';
import { say as sayCommon } from '../../words.ts';

export type View = TongoAssetsView;
export type Public = View['public'];

/** The kind of choice in progress, beside pieces and slots. */
export type Mode =
  | { type: 'none' }
  | { type: 'prices'; risk: number; purchase: number; sell: number }
  | { type: 'raise_confront'; risk: number }
  | { type: 'sell' }
  | { type: 'evade' }
  | { type: 'reveal' }
  | { type: 'index'; margin: number }
  | { type: 'leverage'; percent: number }
  | { type: 'bribe'; to: Seat | null; chips: number };

export const mode = signal<Mode>({ type: 'none' });
/** The selected cards of the hand, and of those kept when cards are offered. */
export const picked = signal<ReadonlySet<string>>(new Set());
export const slots = signal<ReadonlySet<number>>(new Set());
/** True if the next purchase spends a free one. */
export const spendsFree = signal(false);
/** The action that waits for a second touch. */
export const awaitedConfirmation = signal<string | null>(null);
/** True while a sent action has no answer, during which nothing else can be played. */
export const sent = signal(false);
/** The cards that came last into the hand. */
export const newCards = signal<ReadonlySet<string>>(new Set());
/** True if the own section is shown instead of the one of a reveal. */
export const showsOwnSection = signal(false);

export function gameView(view: TableView | null | undefined): View | null {
  return view?.phase.type === 'playing' ? view.phase.view as View : null;
}

export const currentView = computed<View | null>(() => gameView(table.value?.view));

/** True if the player has an open prompt. */
export const isPrompted = computed<boolean>(() => (table.value?.prompt?.legal.length ?? 0) > 0);

export function nameOf(view: TableView, seat: Seat): string {
  return seat === view.seat ? sayCommon('you') : shortName(view.seats[seat]?.name ?? '?');
}

export async function play(action: TongoAssetsAction) {
  if (sent.value) return;
  sent.value = true;
  awaitedConfirmation.value = null;
  try {
    await client.act(action as never);
  } finally {
    sent.value = false;
  }
}

/** Returns whether an action is legal for the player now. */
export function isLegal(action: TongoAssetsAction): boolean {
  return isPrompted.value && currentView.value !== null && whyNot(currentView.value, action) === null;
}

/** Returns the first reason against an action, or null. */
export function illegalReason(action: TongoAssetsAction) {
  return currentView.value === null ? null : whyNot(currentView.value, action);
}

/** Plays an action if it is legal; otherwise shows the rule against it. */
export function tryPlay(action: TongoAssetsAction): boolean {
  if (isLegal(action)) { void play(action); return true; }
  const why = illegalReason(action);
  if (why) showToast(`${refusalText(why.code, null, 'tongo_assets')} (${sayCommon('why_rule', { rule: why.rule })})`);
  return false;
}

/** Returns the proposed prices for a risk: cheap purchases, so that hands grow. */
export function proposePrices(risk: number): { risk: number; purchase: number; sell: number } {
  const { purchaseMin, max } = priceBounds(risk);
  return { risk, purchase: Math.min(max, Math.max(purchaseMin, Math.ceil(risk * 0.6))), sell: Math.max(1, Math.min(max, purchaseMin)) };
}

let promptNumber = -1;
let freesHeld = 0;

/** Resets the selection when the prompt changes, and drops selected pieces that are gone. */
export function updateSelection(view: View | null) {
  const number = view === null ? -1 : view.public.countdown;
  const held = new Set([...view?.own?.hand ?? [], ...view?.own?.kept ?? []]);
  const before = view?.own?.before ?? [];
  batch(() => {
    const keptPicks = [...picked.value].filter((card) => held.has(card));
    if (keptPicks.length !== picked.value.size) picked.value = new Set(keptPicks);
    const keptSlots = [...slots.value].filter((slot) => before[slot]);
    if (keptSlots.length !== slots.value.size) slots.value = new Set(keptSlots);
    const isOpening = view !== null && isPrompted.value && mustOpen(view);
    const frees = (view?.own?.kept ?? []).filter((card) => card.startsWith('F')).length;
    if (frees < freesHeld) spendsFree.value = false;
    freesHeld = frees;
    if (number === promptNumber) {
      if (isOpening && mode.value.type === 'none') mode.value = { type: 'prices', ...proposePrices(openingRisk(view.public)[0]) };
      return;
    }
    promptNumber = number;
    awaitedConfirmation.value = null;
    picked.value = new Set();
    slots.value = new Set();
    spendsFree.value = false;
    showsOwnSection.value = false;
    mode.value = isOpening ? { type: 'prices', ...proposePrices(openingRisk(view.public)[0]) } : { type: 'none' };
  });
}

/** Returns whether the player has to name a risk and its prices. */
function mustOpen({ viewer, public: open }: View): boolean {
  return open.phase.type === 'open' && open.phase.seat === viewer && !isLast(open);
}

export function enter(next: Mode) {
  batch(() => {
    mode.value = next;
    picked.value = new Set();
    slots.value = new Set();
    awaitedConfirmation.value = null;
  });
}

/** Returns how many pieces of the hand, or slots, may be selected together. */
function selectionMax(): { cards: number; slots: number } {
  switch (mode.value.type) {
    case 'evade':
      return { cards: 3, slots: 0 };
    case 'bribe':
      return { cards: 10, slots: 0 };
    case 'sell':
      return { cards: 0, slots: saleSize() };
    default:
      return { cards: 1, slots: 1 };
  }
}

/** Returns the number of assets that a sale takes. */
export function saleSize(): number {
  const lying = (currentView.value?.own?.before ?? []).filter(Boolean).length;
  return Math.min(currentView.value?.own?.hand.length ?? 0, lying);
}

function toggled<T>(all: ReadonlySet<T>, one: T, limit: number): ReadonlySet<T> {
  const next = new Set(all);
  if (next.delete(one)) return next;
  if (limit === 1) return new Set([one]);
  if (next.size < limit) next.add(one);
  return next;
}

export function touchCard(card: string) {
  awaitedConfirmation.value = null;
  const { cards } = selectionMax();
  if (cards > 0) picked.value = toggled(picked.value, card, cards);
}

export function touchSlot(slot: number) {
  awaitedConfirmation.value = null;
  const limit = selectionMax().slots;
  if (limit > 0) slots.value = toggled(slots.value, slot, limit);
}
