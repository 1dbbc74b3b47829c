// The end of a game from the house's record, in the form in which the table would have reported it.
import type { Ended, GameFolder } from './games/folder.ts';
import { loadGame } from './games/loading.ts';
import { ask, me } from './house.ts';
import type { Game, GameStep, Seat, TableView } from './model.ts';

/** The record of a game: its settlement, and its steps as its player saw them. */
export interface Record { game: Game; steps: readonly GameStep[] }

/** Returns the end of a game; null if the game was voided, is running, or is unknown. */
export async function recorded(id: string): Promise<Ended | null> {
  const path = { id };
  const [game, steps] = await Promise.all([
    ask<Game>('GET /v1/games/{id}', { path }, true), ask<{ items: GameStep[] }>('GET /v1/games/{id}/steps', { path }, true),
  ]);
  const folder = game && await loadGame(game.kind);
  return game && folder ? endOf({ game, steps: steps?.items ?? [] }, folder) : null;
}

export function endOf({ game, steps }: Record, folder: GameFolder): Ended | null {
  if (!game.settlement) return null;
  const seats = [...game.seats].sort((a, b) => a.seat - b.seat).map(({ player, name, is_bot }) =>
    ({ player, name, bot: is_bot, connected: true, taken_over: false }));
  const found = game.seats.find(({ player }) => player === me.value?.id)?.seat ?? null;
  return {
    game: game.id, kind: game.kind, table: game.table, room: game.room, viewer: found, seats, settlement: game.settlement,
    hitsToWin: null, practice: false, pot: 0, crown: null, detail: detailOf(steps, found, folder) ?? {},
  };
}

/** Returns the game's own details of its end from its last step. */
function detailOf(steps: readonly GameStep[], seat: Seat | null, folder: GameFolder): unknown {
  const last = steps.at(-1);
  const before = steps.at(-2) ?? last;
  if (!last || !before) return null;
  const playing = (view: unknown) => ({ seat, seats: [], phase: { type: 'playing', view } }) as unknown as TableView;
  const events = last.events.map((event) => ({ type: 'game', event }));
  return folder.ended({ events, before: playing(before.view), after: playing(last.view), quiet: true });
}
