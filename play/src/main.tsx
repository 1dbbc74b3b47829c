// The entry point: starts the client, and renders the screen for its state.
import { effect } from '@preact/signals';
import { render } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { loadGame } from './games/loading.ts';
import { followGames } from './missed_results.ts';
import { Ending, isResultShown } from './ending.tsx';
import { client, link, lostSeat, online, openRooms, refreshRooms, refreshWallet, shownTable, table, toast } from './house.ts';
import { installWorker } from './install.ts';
import { Overlays } from './overlays_view.tsx';
import { Sheet } from './parts/index.tsx';
import { Brought } from './screens/index.ts';
import { loadRefusals } from './refusals.ts';
import { Home, Seeking } from './screens/home.tsx';
import { settings } from './settings.ts';
import { Table } from './table.tsx';
import { incomingCode, page, seekIn } from './table_entry.ts';
import { isWord, say } from './words.ts';
import { finishedGame } from './overlays.ts';

/** The latest time at which the game is loaded, however busy the browser is. */
const IDLE_MS = 400;

function App() {
  const state = shownTable.value;
  const isSeated = table.value !== null;
  const hasSat = useRef(false);
  useEffect(() => {
    if (!isSeated && hasSat.current) { void refreshWallet(); void refreshRooms(); }
    if (isSeated) hasSat.current = true;
  }, [isSeated]);
  return (
    <>
      {state ? <Table state={state} /> : <Home />}
      <Seeking />
      {state || incomingCode.value === null ? null : <Brought onClose={dismissInvitation} />}
      {finishedGame.value && isResultShown.value ? <Ending key={finishedGame.value.game} /> : state ? null : <Lost />}
      <Link />
      <Overlays />
      <div id="air" aria-hidden="true" />
      <div class="toasts" role="status" aria-live="polite">{toast.value ? <p key={toast.value.number}>{toast.value.text}</p> : null}</div>
    </>
  );
}

function dismissInvitation() {
  incomingCode.value = null;
  history.replaceState(history.state, '', '/play');
}

/** The reason for a lost seat, and the way to another one. */
function Lost() {
  const why = lostSeat.value;
  // A player whose table of a tournament is finished waits for the next one.
  if (why === null || why === 'finished') return null;
  const word = `lost_${why}`;
  const close = () => { lostSeat.value = null; };
  return (
    <Sheet title={say('seat_lost')} onClose={close}>
      <p>{isWord(word) ? say(word) : say('lost_not_seated')}</p>
      <div class="list">
        {why === 'cannot_pay' ? <button type="button" class="act gold" onClick={() => { close(); page.value = 'rewards'; }}>{say('rewards')}</button> : null}
        <button type="button" class="act gold" disabled={openRooms.value.length === 0} onClick={() => {
          const room = openRooms.value[0];
          if (room) void seekIn([room.id]);
        }}>{say('find_another')}</button>
      </div>
    </Sheet>
  );
}

/**
 * The connection states that only the player can resolve: another tab plays, the session has ended, or the
 * page is outdated.
 */
function Link() {
  const now = link.value;
  switch (now.type) {
    case 'replaced':
      return (
        <Sheet title={say('replaced')}>
          <p>{say('replaced_note')}</p>
          <button type="button" class="act gold" onClick={() => client.start()}>{say('play_here')}</button>
        </Sheet>
      );
    case 'signed_out':
      return (
        <Sheet title={say('signed_out')}>
          <p>{now.detail}</p>
          <button type="button" class="act gold" onClick={() => client.start()}>{say('sign_in_again')}</button>
        </Sheet>
      );
    case 'broken':
      return (
        <Sheet title={say('broken')}>
          <button type="button" class="act gold" onClick={() => location.reload()}>{say('reload')}</button>
        </Sheet>
      );
    case 'off':
    case 'signing_in':
    case 'connecting':
    case 'joining':
    case 'live':
    case 'weak':
    case 'pausing':
      return null;
  }
}

const root = document.getElementById('app');
if (root) {
  // Requests to the house are sent while the page is drawn.
  loadRefusals(() => import('../../clients/refusals/house.json').then((texts) => texts.default));
  client.start();
  followGames();
  void refreshRooms();
  installWorker();
  root.replaceChildren();
  render(<App />, root);
  // The game that is probably played next is loaded in advance.
  whenIdle(() => {
    void loadGame(settings.kind.value);
    // Without a connection there is nothing to follow, and the file may not be cached.
    effect(() => { if (online.value) void import('./tournaments/follow.ts').then((part) => part.startFollowing(), () => {}); });
  });
}

function whenIdle(act: () => void) {
  if ('requestIdleCallback' in window) requestIdleCallback(act, { timeout: IDLE_MS });
  else setTimeout(act, IDLE_MS);
}
