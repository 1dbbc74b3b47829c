// The ways to a table: by a room, by the code of a private table, or to a practice table. Taking one implies
// being ready for the first game.
import { signal } from '@preact/signals';
import { GAMES, findGame, ruleSetTitles } from './games/list.ts';
import { loadGame } from './games/loading.ts';
import { leftTable, client, lostSeat, rooms, table, showToast, tellRefusal } from './house.ts';
import { storeValue, loadStored } from './storage.ts';
import { say } from './words.ts';

export const page = signal<'none' | 'practice' | 'tournaments' | 'rooms' | 'friends' | 'rewards' | 'boards' | 'history' | 'settings'>('none');

/** True if the player has asked to play, and is ready for the first game. */
export const readyAtOnce = signal(false);

export interface PrivateInvitation { code: string; link: string; table: string }

/** The code of the private table where the player sits, if this page knows it. */
export const ownInvitation = signal<PrivateInvitation | null>(loadStored('session', 'invited'));

/** The code of an invitation in the page's address. */
export const incomingCode = signal<string | null>(/\/play\/join\/([A-Za-z0-9]{4,16})\/?$/.exec(location.pathname)?.[1]?.toUpperCase() ?? null);

/** The practised rule set, and its changed rules. */
let practisedRules: { kind: string; rule_set: string; rules?: Record<string, unknown> } | null = null;

export function storeInvitation(seat: PrivateInvitation) {
  ownInvitation.value = seat;
  storeValue('session', 'invited', seat);
}

/**
 * Begins a way to a table, and returns whether it may be taken; it may not while a game that was left is
 * running.
 */
export function beginEntry(): boolean {
  if (leftTable.value !== null && table.value) {
    showToast(say('game_first'));
    return false;
  }
  lostSeat.value = null;
  readyAtOnce.value = true;
  return true;
}

function reportRefusal(problem: { code: string; detail?: string }) {
  readyAtOnce.value = false;
  tellRefusal(problem.code, problem.detail);
}

/** Seeks a table in these rooms; the first game begins by itself. */
export async function seekIn(ids: string[]) {
  page.value = 'none';
  if (!beginEntry()) return;
  // The game is loaded while a table is sought.
  for (const room of rooms.value ?? []) if (ids.includes(room.id)) void loadGame(room.kind);
  const outcome = await client.seek(ids);
  if (outcome.type === 'refused' && outcome.code === 'too_few_coins') page.value = 'rewards';
}

/** Takes a seat at the table of a code, and returns whether that succeeded. */
export async function joinByCode(code: string): Promise<boolean> {
  if (!beginEntry()) return false;
  const answer = await client.takePrivateSeat(code.trim().toUpperCase());
  if (answer.ok) storeInvitation(answer.data as PrivateInvitation);
  else reportRefusal(answer.problem);
  return answer.ok;
}

/** Opens a private table, and returns whether that succeeded. */
export async function openPrivateTable(asked: Parameters<typeof client.openPrivateTable>[0]): Promise<boolean> {
  if (!beginEntry()) return false;
  const answer = await client.openPrivateTable(asked);
  if (answer.ok) storeInvitation(answer.data);
  else reportRefusal(answer.problem);
  return answer.ok;
}

/** Takes a seat at a practice table with bots. With `isUnhurried`, the countdowns are the longest. */
export async function practise(kind: string, rule_set: string, isUnhurried = false) {
  if (!beginEntry()) return;
  practisedRules = { kind, rule_set, ...(isUnhurried ? { rules: findGame(kind)?.unhurried ?? {} } : {}) };
  void loadGame(kind);
  const answer = await client.practise(practisedRules);
  if (!answer.ok) reportRefusal(answer.problem);
}

/** Seeks a game like the last one. */
export function playAgain({ room, kind, practice, table: last }: { room: string; kind: string; practice: boolean; table: string }) {
  if (practice) {
    const last = practisedRules?.kind === kind ? practisedRules : null;
    void practise(kind, last?.rule_set ?? ruleSetTitles(findGame(kind) ?? GAMES[0])[0]![0], last?.rules !== undefined);
  }
  else if (ownInvitation.value?.table === last) void joinByCode(ownInvitation.value.code);
  else void seekIn([room]);
}
