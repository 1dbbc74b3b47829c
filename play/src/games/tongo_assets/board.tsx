// The table of Tongo (assets): the rotating table, the prices, the player's section and hand, and the
// actions. It is also drawn, empty, during the preparation of a game.
import { useLayoutEffect } from 'preact/hooks';
import type { TableState } from '../../model.ts';
import { animateFlights } from '../../motion.ts';
import { type Act, ActButton, useActionKeys } from '../../parts/acts.tsx';
import { hintsFor } from '../../settings.ts';
import { say as sayCommon } from '../../words.ts';
import { Hand, HowTo } from './handview.tsx';
import { buttons } from './moves.ts';
import { NearArea } from './near.tsx';
import { log, pending } from './show.ts';
import { updateSelection, gameView } from './state.ts';
import { Prices, Wheel } from './wheel.tsx';
import { say } from './words.ts';

export function Board({ state }: { state: TableState }) {
  const view = gameView(state.view);
  updateSelection(view);
  useLayoutEffect(() => {
    const flights = pending.flights;
    pending.flights = null;
    if (flights) animateFlights(flights);
  });
  return (
    <>
      <div class="ta-table"><Wheel state={state} /><Prices view={view} /></div>
      {view || !hintsFor(state.view.kind) ? <NearArea state={state} /> : <section class="ta-near ta-intro" aria-label={say('how')}><HowTo /></section>}
      <Hand view={view} />
      <Acts />
    </>
  );
}

/** The last events; screen readers get them from the frame. */
function Log({ lines }: { lines: number }) {
  const last = log.value.slice(-lines);
  return <ul class="ta-log" aria-hidden="true">{last.map((line, at) => <li key={at}>{line}</li>)}</ul>;
}

function Acts() {
  const { main, side } = buttons();
  useActionKeys([...side, ...main]);
  if (main.length === 0) {
    return <div class="acts ta-acts"><Log lines={5} /></div>;
  }
  const draw = (one: Act) => <ActButton key={one.key} one={one} />;
  return (
    <nav class="acts ta-acts" aria-label={sayCommon('actions')}>
      {side.length > 0 ? <div class="ta-side">{side.map(draw)}</div> : <Log lines={3} />}
      <div class={`ta-main of-${main.length}`}>{main.map(draw)}</div>
    </nav>
  );
}
