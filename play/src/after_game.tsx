// The options after a game with coins: its analysis, and a rematch with the same players.
import { useState } from 'preact/hooks';
import type { FinishedGame } from './games/folder.ts';
import { me, table } from './house.ts';
import { analysedGame } from './overlays.ts';
import { askRematch } from './rematch.ts';
import { say } from './words.ts';

/** `onGone` is called once the player sits at the table of the rematch. */
export function AfterGame({ game: { game, kind, seats, table: at }, onGone }: { game: FinishedGame; onGone: () => void }) {
  const [busy, setBusy] = useState(false);
  // At a private table the next game has the same players without a rematch.
  const isPrivate = table.value?.view.terms.private !== undefined && table.value.view.table === at;
  const hasPeople = !isPrivate && seats.some((seat) => seat && !seat.bot && seat.player !== me.value?.id);
  const rematch = async () => {
    setBusy(true);
    if (await askRematch(game)) onGone();
    else setBusy(false);
  };
  return (
    <>
      <button type="button" class="plain" onClick={() => { analysedGame.value = { id: game, kind }; }}>{say('analysis_short')}</button>
      {hasPeople ? <button type="button" class="plain" disabled={busy} data-act="rematch" onClick={() => void rematch()}>{say('rematch')}</button> : null}
    </>
  );
}
