// The end of a game from the house's record, in the form in which the table would have reported it.
import type { FinishedGame, GameFolder } from './games/folder.ts';
import { loadGame } from './games/loading.ts';
import { callHouse, me } from './house.ts';
import type { Game, GameStep, Seat, TableView } from './model.ts';

/** The record of a game: its settlement, and its steps as its player saw them. */
export interface GameRecord { game: Game; steps: readonly GameStep[] }

/** Returns the end of a game; null if the game was voided, is running, or is unknown. */
export async function loadRecordedEnd(id: string): Promise<FinishedGame | null> {
  const path = { id };
  const [game, steps] = await Promise.all([
    callHouse<Game>('GET /v1/games/{id}', { path }, true), callHouse<{ items: GameStep[] }>('GET /v1/games/{id}/steps', { path }, true),
  ]);
  const folder = game && await loadGame(game.kind);
  return game && folder ? toFinishedGame({ game, steps: steps?.items ?? [] }, folder) : null;
}

export function toFinishedGame({ game, steps }: GameRecord, folder: GameFolder): FinishedGame | null {
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
  return folder.endDetail({ events, before: playing(before.view), after: playing(last.view), quiet: true });
}
