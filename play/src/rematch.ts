// A rematch with the same players: a private table with the terms of a finished game, opened by the first of
// its players who asks, to which the others are invited.
import { callHouse, client, lostSeat, table, tellRefusal } from './house.ts';
import { beginEntry, storeInvitation, readyAtOnce, type PrivateInvitation } from './table_entry.ts';

type Seating = Awaited<ReturnType<typeof client.takePrivateSeat>>;

/**
 * Takes a seat. A player who sits at another table between two games leaves that one first; a running game is
 * not left.
 */
async function takeSeat(seat: () => Promise<Seating>): Promise<boolean> {
  if (!beginEntry()) return false;
  let answer = await seat();
  const phase = table.value?.view.phase.type;
  if (!answer.ok && answer.problem.code === 'seated_elsewhere' && (phase === 'waiting' || phase === 'preparing')) {
    const left = await client.leave();
    if (left.type === 'done') answer = await seat();
  }
  // The seat that was left on purpose is not reported as lost.
  lostSeat.value = null;
  if (!answer.ok) {
    readyAtOnce.value = false;
    tellRefusal(answer.problem.code, answer.problem.detail);
    return false;
  }
  storeInvitation(answer.data as PrivateInvitation);
  return true;
}

/** Asks the players of a finished game for a rematch. */
export function askRematch(game: string): Promise<boolean> {
  return takeSeat(() => client.rematch(game));
}

/** Takes a seat at an offered rematch. */
export function acceptRematch(code: string): Promise<boolean> {
  return takeSeat(() => client.takePrivateSeat(code));
}

/** Seats house bots at the player's private table, as many as a game needs. */
export async function seatBots(code: string): Promise<void> {
  await callHouse('POST /v1/private-tables/{code}/bots', { path: { code } });
}
