// The table of Tongo (options): the ring, the player's own area, and the actions. It is also drawn, empty,
// during the preparation of a game.
import { useEffect, useLayoutEffect } from 'preact/hooks';
import type { TableState } from '../../model.ts';
import { animateFlights } from '../../motion.ts';
import { Acts } from '../../parts/acts.tsx';
import { Choosers } from './choosers.tsx';
import { buttons, chooser, gameView, picked, resetSelection } from './moves.ts';
import { Ring } from './ring.tsx';
import { pending } from './show.ts';
import { Side } from './side.tsx';

export function Board({ state }: { state: TableState }) {
  const view = gameView(state.view);
  useLayoutEffect(() => {
    const flights = pending.flights;
    pending.flights = null;
    if (flights) animateFlights(flights);
  });
  // A new prompt resets the choices of the previous one. This runs before painting, so that no choice of the
  // new prompt is reset.
  const countdown = view?.public.countdown;
  const phase = view?.public.phase.type;
  useLayoutEffect(() => { resetSelection(); }, [countdown, phase]);
  useEffect(() => () => { resetSelection(); chooser.value = 'none'; }, []);
  useEffect(() => {
    const press = (event: KeyboardEvent) => { if (event.key === 'Escape' && chooser.value === 'none') picked.value = null; };
    addEventListener('keydown', press);
    return () => removeEventListener('keydown', press);
  }, []);
  return (
    <>
      <div class="ring-area">
        <Ring state={state} view={view} />
      </div>
      {view ? <Side view={view} /> : <section class="hand empty" aria-hidden="true" />}
      <Acts all={buttons(state)} closed=".veil,.chooser" />
      <Choosers state={state} />
    </>
  );
}
