// Games that end in the player's absence: the game's id is kept, and its result is read from the house's
// record when the player returns.
import { effect } from '@preact/signals';
import { isResultShown } from './ending.tsx';
import { online, player, table } from './house.ts';
import { storeValue, loadStored } from './storage.ts';
import type { TableView } from './model.ts';
import { finishedGame } from './overlays.ts';

interface BegunGame { game: string; player: string }

/** The last game for coins that this player began on this device, until its result was read. */
let begun: BegunGame | null = loadStored('local', 'game');
/** The game whose result is being requested, or was requested in vain. */
let asked: string | null = null;

function setBegun(now: BegunGame | null) {
  begun = now;
  storeValue('local', 'game', now);
}

function runningGame({ phase }: TableView): string | null {
  return 'game' in phase && phase.type !== 'preparing' ? phase.game : null;
}

/** Follows the games that begin, and requests the result of a game whose end was missed. */
export function followGames() {
  effect(() => {
    const view = table.value?.view ?? null;
    const me = player.value?.id;
    const running = view === null ? null : runningGame(view);
    // The next game has begun, so the last result is no longer shown.
    if (view?.phase.type === 'playing' && finishedGame.peek() && finishedGame.peek()?.game !== running) finishedGame.value = null;
    if (me && view?.phase.type === 'playing' && view.seat !== null && !view.terms.practice && !view.terms.tournament && begun?.game !== running) {
      setBegun({ game: view.phase.game, player: me });
    }
    if (!online.value || !begun || begun.player !== me || begun.game === running || begun.game === asked) return;
    if (finishedGame.peek()?.game !== begun.game) void showResult(begun.game);
  });
  // A result that was shown is not requested again.
  effect(() => {
    const read = isResultShown.value ? finishedGame.value?.game : null;
    if (begun && read === begun.game) setBegun(null);
  });
}

async function showResult(game: string) {
  asked = game;
  const { loadRecordedEnd: recorded } = await import('./recorded_end.ts');
  const found = await recorded(game);
  if (!found || begun?.game !== game || finishedGame.peek() || table.peek()?.view.phase.type === 'playing') return;
  isResultShown.value = true;
  finishedGame.value = found;
}
