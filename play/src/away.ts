// Games that end in the player's absence: the game's id is kept, and its result is read from the house's
// record when the player returns.
import { effect } from '@preact/signals';
import { ended, reading } from './ending.tsx';
import { online, player, table } from './house.ts';
import { keepIn, kept } from './kept.ts';
import type { TableView } from './model.ts';

interface Begun { game: string; player: string }

/** The last game for coins that this player began on this device, until its result was read. */
let begun: Begun | null = kept('local', 'game');
/** The game whose result is being requested, or was requested in vain. */
let asked: string | null = null;

function note(now: Begun | null) {
  begun = now;
  keepIn('local', 'game', now);
}

function gameOf({ phase }: TableView): string | null {
  return 'game' in phase && phase.type !== 'preparing' ? phase.game : null;
}

/** Follows the games that begin, and requests the result of a game whose end was missed. */
export function followGames() {
  effect(() => {
    const view = table.value?.view ?? null;
    const me = player.value?.id;
    const running = view === null ? null : gameOf(view);
    // The next game has begun, so the last result is no longer shown.
    if (view?.phase.type === 'playing' && ended.peek() && ended.peek()?.game !== running) ended.value = null;
    if (me && view?.phase.type === 'playing' && view.seat !== null && !view.terms.practice && begun?.game !== running) {
      note({ game: view.phase.game, player: me });
    }
    if (!online.value || !begun || begun.player !== me || begun.game === running || begun.game === asked) return;
    if (ended.peek()?.game !== begun.game) void look(begun.game);
  });
  // A result that was shown is not requested again.
  effect(() => {
    const read = reading.value ? ended.value?.game : null;
    if (begun && read === begun.game) note(null);
  });
}

async function look(game: string) {
  asked = game;
  const { recorded } = await import('./recorded.ts');
  const found = await recorded(game);
  if (!found || begun?.game !== game || ended.peek() || table.peek()?.view.phase.type === 'playing') return;
  reading.value = true;
  ended.value = found;
}
