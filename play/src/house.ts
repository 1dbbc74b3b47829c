// The house as the pages see it: one client, its state as signals, and the resources read over REST. The
// client has all network behaviour.
import { computed, effect, signal } from '@preact/signals';
import { Client } from '../../clients/typescript/src/driver/client.ts';
import { browserPlatform } from '../../clients/typescript/src/driver/platform.ts';
import { findGame } from './games/list.ts';
import { loadGame } from './games/loading.ts';
import { storeValue, loadStored } from './storage.ts';
import type { Action, Me, Rewards, Room, TableState, TableEvent, TableView } from './model.ts';
import { refusalWords } from './refusals.ts';
import { rematchOffer } from './overlays.ts';
import { coinsText, isWord, say } from './words.ts';

export const client = new Client({
  base: location.origin,
  platform: browserPlatform(),
  games: [],
  loadGame: (kind) => loadGame(kind).then((folder) => folder?.model ?? null),
});

const clientState = signal(client.state);
export const link = computed(() => clientState.value.link);
export const player = computed(() => clientState.value.player);
export const table = computed(() => clientState.value.table as unknown as TableState | null);
export const hint = computed(() => clientState.value.hint as unknown as { action: Action } | null);
export const seek = computed(() => clientState.value.seek);
/** The number of notices read on this page since the house counted them. */
const readOnPage = signal(0);
/** The number of unread notices. */
export const unread = computed(() => Math.max(0, (clientState.value.notices ?? 0) - readOnPage.value));

export function countRead() {
  readOnPage.value += 1;
}

export const busy = computed(() => clientState.value.open.length > 0);

/** The message that is shown to the player for a moment, and read out. */
export const toast = signal<{ text: string; number: number } | null>(null);
let toasts = 0;
export function showToast(text: string) {
  toasts += 1;
  const number = toasts;
  toast.value = { text, number };
  setTimeout(() => { if (toast.value?.number === number) toast.value = null; }, 4000);
}

/** Shows the text of a refusal. */
export function tellRefusal(code: string, detail?: string | null, kind?: string) {
  void refusalWords(code, detail, kind).then(showToast);
}

/** The phrases of players, until they fade. */
export const speech = signal<Record<string, { phrase: string; number: number }>>({});
let speeches = 0;

/** True if the connection is open, though it may be weak; sent commands are in flight. */
export const online = computed(() => link.value.type === 'live' || isWeak.value);
/** True if an answer has been missing for a while. */
export const isWeak = computed(() => link.value.type === 'weak');

/** The reason for the loss of a seat, until it was read. */
export const lostSeat = signal<string | null>(null);
let leaving = false;
let lastLeft: string | null = null;

/** The table's page sets this listener, as it knows the game. */
type TableListener = (change: TableChange) => void;
export interface TableChange {
  events: readonly TableEvent[];
  before: TableView | null;
  after: TableView;
  quiet: boolean;
}
let listener: TableListener | null = null;
let onActed: ((action: Action) => void) | null = null;

/** Calls `acts` with each of the player's actions that the table accepted. */
export function subscribeActions(acts: (action: Action) => void) {
  onActed = acts;
}

export function setTableListener(listens: TableListener) {
  listener = listens;
}

client.subscribe((state, notifications) => {
  for (const one of notifications) {
    if (one.type !== 'table') continue;
    const after = one.after as unknown as TableView;
    const before = one.before as unknown as TableView | null;
    for (const event of one.events as readonly TableEvent[]) {
      if (event.type === 'left' && before && event['seat'] === before.seat) lastLeft = String(event['reason']);
    }
    listener?.({ events: one.events as readonly TableEvent[], before, after, quiet: one.snapshot || one.catchingUp });
  }
  clientState.value = state;
  for (const one of notifications) {
    switch (one.type) {
      case 'unseated': {
        const why = one.reason === 'not_seated' ? lastLeft ?? 'not_seated' : one.reason;
        lostSeat.value = leaving ? null : why;
        leaving = false;
        setLeftTable(null);
        lastLeft = null;
        void refreshWallet();
        break;
      }
      case 'said': {
        speeches += 1;
        const number = speeches;
        speech.value = { ...speech.value, [one.player]: { phrase: one.phrase, number } };
        setTimeout(() => {
          if (speech.value[one.player]?.number !== number) return;
          const { [one.player]: _, ...rest } = speech.value;
          speech.value = rest;
        }, 3500);
        break;
      }
      case 'seek':
        if (one.state === 'expired') showToast(say('nobody_came'));
        break;
      case 'ended':
        if (one.outcome.type === 'done' && one.intent.type === 'act') onActed?.(one.intent.action as Action);
        if (one.outcome.type === 'refused') tellRefusal(one.outcome.code, one.outcome.detail, clientState.value.table?.view.kind);
        break;
      case 'invited':
        rematchOffer.value = one;
        break;
      case 'link':
      case 'table':
      case 'watched':
      case 'hint':
      case 'deal':
        break;
    }
  }
});

/** The table that the player left while its game continues; the first page is shown instead of it. */
export const leftTable = signal<string | null>(loadStored('session', 'aside'));

function setLeftTable(id: string | null) {
  leftTable.value = id;
  storeValue('session', 'aside', id);
}

/** The table that is shown. */
export const shownTable = computed(() => table.value && table.value.view.table !== leftTable.value ? table.value : null);

export function leaveTable() {
  leaving = true;
  setLeftTable(table.value?.view.table ?? null);
  void client.leave().then((outcome) => {
    if (outcome.type === 'done' || outcome.type === 'overtaken') return;
    leaving = false;
    setLeftTable(null);
  });
}

/** Returns to the game that was left, and continues it. */
export function returnToTable() {
  leaving = false;
  setLeftTable(null);
  void client.takeBack();
}

/** Calls an operation of the house. A refusal is shown to the player, and null is returned. */
export async function callHouse<T>(operation: string, given: Record<string, unknown> = {}, quietly = false): Promise<T | null> {
  const call = client.rest as unknown as (operation: string, given: unknown) =>
    Promise<{ ok: true; data: T } | { ok: false; problem: { code: string; detail?: string } }>;
  const answer = await call.call(client, operation, given);
  // An answer without a body counts as an answer.
  if (answer.ok) return answer.data ?? {} as T;
  if (!quietly) tellRefusal(answer.problem.code, answer.problem.detail);
  return null;
}

export const me = signal<Me | null>(null);
export const wallet = signal<number | null>(null);
export const rooms = signal<Room[] | null>(null);
export const rewards = signal<Rewards | null>(null);

export async function refreshMe() {
  if (me.value && me.value.id === player.value?.id) return;
  const [mine] = await Promise.all([callHouse<Me>('GET /v1/me', {}, true), refreshWallet()]);
  if (mine) me.value = mine;
}

export async function refreshWallet() {
  const held = await callHouse<{ available: number }>('GET /v1/me/wallet', {}, true);
  if (held) wallet.value = held.available;
}

let askingRooms: Promise<void> | null = null;

/** Refreshes the rooms, which need no authentication, so that the first call does not wait for a sign-in. */
export function refreshRooms(): Promise<void> {
  askingRooms ??= callHouse<{ items: Room[] }>('GET /v1/rooms', {}, true).then((all) => {
    askingRooms = null;
    // Rooms of games that this page does not know are not offered.
    if (all) rooms.value = all.items.filter((room) => findGame(room.kind) !== null);
  });
  return askingRooms;
}

export async function refreshRewards() {
  const now = await callHouse<Rewards>('GET /v1/me/rewards', {}, true);
  if (now) rewards.value = now;
}

// Runs as soon as the player is known, in parallel with the socket.
effect(() => {
  if (player.value) void refreshMe();
});

/** Returns why a room is not open to a wallet, too few coins first; null if it is open. */
export function closedReason(room: Room, held: number): { type: 'closed' | 'poor' | 'rich' | 'account'; text: string } | null {
  if (!room.is_open) return { type: 'closed', text: say('room_closed_note') };
  if (held < room.wallet_min) return { type: 'poor', text: say('wallet_from', { coins: coinsText(room.wallet_min) }) };
  if (room.wallet_max !== null && held > room.wallet_max) return { type: 'rich', text: say('wallet_to', { coins: coinsText(room.wallet_max) }) };
  return room.needs_account ? { type: 'account', text: say('account_note') } : null;
}

/** Returns the rooms by their bet, the cheapest first. */
export function byBet(all: readonly Room[]): Room[] {
  return [...all].sort((a, b) => a.bet * a.multiplier - b.bet * b.multiplier);
}

/**
 * The rooms that are open to this wallet, in the house's order; before the wallet is known, all that need no
 * password.
 */
export const openRooms = computed(() => {
  const held = wallet.value;
  return (rooms.value ?? []).filter((room) => held === null ? room.is_open && !room.needs_account : closedReason(room, held) === null);
});

/** Returns the most that one game can cost, if the house states it. */
export function lossMax({ loss_max }: { loss_max?: number }): number | null {
  return loss_max !== undefined && loss_max > 0 ? loss_max : null;
}

export function seatsOf(room: Room): string {
  return say('seats_n', { n: room.seats_min === room.seats ? room.seats : `${room.seats_min}–${room.seats}` });
}

/** Returns the name of a room; the house's own room names begin with the game. */
export function roomName(room: Room): string {
  return translateName('room', room.name.replace(`${room.game}, `, ''));
}

/** Returns the translation of a name from the server's lists, or the name itself. */
export function translateName(prefix: string, name: string): string {
  const word = `${prefix}_${name}`;
  return isWord(word) ? say(word) : name;
}
