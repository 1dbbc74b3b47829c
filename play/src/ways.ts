// The ways to a table: by a room, by the code of a private table, or to a practice table. Taking one implies
// being ready for the first game.
import { signal } from '@preact/signals';
import { GAMES, listed, setsOf } from './games/list.ts';
import { loadGame } from './games/loading.ts';
import { aside, client, lost, rooms, table, tell, tellRefusal } from './house.ts';
import { keepIn, kept } from './kept.ts';
import { say } from './words.ts';

export const page = signal<'none' | 'practice' | 'rooms' | 'friends' | 'rewards' | 'boards' | 'history' | 'settings'>('none');

/** Whether the player has asked to play, and is ready for the first game. */
export const readyAtOnce = signal(false);

export interface Invited { code: string; link: string; table: string }

/** The code of the private table where the player sits, if this page knows it. */
export const invited = signal<Invited | null>(kept('session', 'invited'));

/** The code of an invitation in the page's address. */
export const brought = signal<string | null>(/\/play\/join\/([A-Za-z0-9]{4,16})\/?$/.exec(location.pathname)?.[1]?.toUpperCase() ?? null);

/** The practised rule set, and its changed rules. */
let practised: { kind: string; rule_set: string; rules?: Record<string, unknown> } | null = null;

export function keep(seat: Invited) {
  invited.value = seat;
  keepIn('session', 'invited', seat);
}

/**
 * Begins a way to a table, and returns whether it may be taken; it may not while a game that was left is
 * running.
 */
export function begin(): boolean {
  if (aside.value !== null && table.value) {
    tell(say('game_first'));
    return false;
  }
  lost.value = null;
  readyAtOnce.value = true;
  return true;
}

function refused(problem: { code: string; detail?: string }) {
  readyAtOnce.value = false;
  tellRefusal(problem.code, problem.detail);
}

/** Seeks a table in these rooms; the first game begins by itself. */
export async function playIn(ids: string[]) {
  page.value = 'none';
  if (!begin()) return;
  // The game is loaded while a table is sought.
  for (const room of rooms.value ?? []) if (ids.includes(room.id)) void loadGame(room.kind);
  const outcome = await client.seek(ids);
  if (outcome.type === 'refused' && outcome.code === 'too_few_coins') page.value = 'rewards';
}

/** Takes a seat at the table of a code, and returns whether that succeeded. */
export async function sit(code: string): Promise<boolean> {
  if (!begin()) return false;
  const answer = await client.takePrivateSeat(code.trim().toUpperCase());
  if (answer.ok) keep(answer.data as Invited);
  else refused(answer.problem);
  return answer.ok;
}

/** Opens a private table, and returns whether that succeeded. */
export async function openTable(asked: Parameters<typeof client.openPrivateTable>[0]): Promise<boolean> {
  if (!begin()) return false;
  const answer = await client.openPrivateTable(asked);
  if (answer.ok) keep(answer.data);
  else refused(answer.problem);
  return answer.ok;
}

/** Takes a seat at a practice table with bots. With `isUnhurried`, the countdowns are the longest. */
export async function practise(kind: string, rule_set: string, isUnhurried = false) {
  if (!begin()) return;
  practised = { kind, rule_set, ...(isUnhurried ? { rules: listed(kind)?.unhurried ?? {} } : {}) };
  void loadGame(kind);
  const answer = await client.practise(practised);
  if (!answer.ok) refused(answer.problem);
}

/** Seeks a game like the last one. */
export function again({ room, kind, practice, table: last }: { room: string; kind: string; practice: boolean; table: string }) {
  if (practice) {
    const last = practised?.kind === kind ? practised : null;
    void practise(kind, last?.rule_set ?? setsOf(listed(kind) ?? GAMES[0])[0]![0], last?.rules !== undefined);
  }
  else if (invited.value?.table === last) void sit(invited.value.code);
  else void playIn([room]);
}
