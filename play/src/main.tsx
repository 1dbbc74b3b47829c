// The entry point: starts the client, and renders the screen for its state.
import { render } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { loadGame } from './games/loading.ts';
import { followGames } from './away.ts';
import { ended, Ending, reading } from './ending.tsx';
import { client, link, lost, openRooms, refreshRooms, refreshWallet, shownTable, table, toast } from './house.ts';
import { installWorker } from './install.ts';
import { Over } from './over.tsx';
import { Sheet } from './parts/index.tsx';
import { Brought } from './screens/index.ts';
import { loadRefusals } from './refusals.ts';
import { Home, Seeking } from './screens/home.tsx';
import { settings } from './settings.ts';
import { Table } from './table.tsx';
import { brought, page, playIn } from './ways.ts';
import { isWord, say } from './words.ts';

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
      {state || brought.value === null ? null : <Brought onClose={dismissInvitation} />}
      {ended.value && reading.value ? <Ending key={ended.value.game} /> : state ? null : <Lost />}
      <Link />
      <Over />
      <div id="air" aria-hidden="true" />
      <div class="toasts" role="status" aria-live="polite">{toast.value ? <p key={toast.value.number}>{toast.value.text}</p> : null}</div>
    </>
  );
}

function dismissInvitation() {
  brought.value = null;
  history.replaceState(history.state, '', '/play');
}

/** The reason for a lost seat, and the way to another one. */
function Lost() {
  const why = lost.value;
  if (why === null) return null;
  const word = `lost_${why}`;
  const close = () => { lost.value = null; };
  return (
    <Sheet title={say('seat_lost')} onClose={close}>
      <p>{isWord(word) ? say(word) : say('lost_not_seated')}</p>
      <div class="list">
        {why === 'cannot_pay' ? <button type="button" class="act gold" onClick={() => { close(); page.value = 'rewards'; }}>{say('rewards')}</button> : null}
        <button type="button" class="act gold" disabled={openRooms.value.length === 0} onClick={() => {
          const room = openRooms.value[0];
          if (room) void playIn([room.id]);
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
  loadRefusals(() => import('./refused.ts').then(({ REFUSALS }) => REFUSALS));
  client.start();
  followGames();
  void refreshRooms();
  installWorker();
  root.replaceChildren();
  render(<App />, root);
  // The game that is probably played next is loaded in advance.
  whenIdle(() => { void loadGame(settings.kind.value); });
}

function whenIdle(act: () => void) {
  if ('requestIdleCallback' in window) requestIdleCallback(act, { timeout: IDLE_MS });
  else setTimeout(act, IDLE_MS);
}
