// Strips along the top of the page: small offers that can be accepted or dismissed. They cover neither the
// hand nor the buttons.
import { signal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { link, shownTable, table } from './house.ts';
import { finishedGame, rematchOffer, shownTournament, tournamentNews } from './overlays.ts';
import { shortName } from './parts/index.tsx';
import { acceptRematch } from './rematch.ts';
import { settings } from './settings.ts';
import { sound } from './sound.ts';
import { say } from './words.ts';

/** The number of touches after which an ignored offer of sound disappears for good. */
const PASSED_OVER = 8;

/** The number of touches on the page. */
const touches = signal(0);
addEventListener('pointerdown', () => { touches.value += 1; });

export function Strips() {
  const offered = rematchOffer.value;
  return (
    <div class={`strips ${shownTable.value ? 'below-seats' : ''}`}>
      {offered ? (
        <p class="strip" role="status">
          <span>{say('rematch_from', { name: shortName(offered.name) })}</span>
          <button type="button" class="act gold" onClick={() => void acceptRematchOffer(offered.code)}>{say('rematch_join')}</button>
          <button type="button" class="round" aria-label={say('later')} onClick={() => { rematchOffer.value = null; }}>✕</button>
        </p>
      ) : null}
      <TournamentStrip />
      <SoundOffer />
      <Offline />
    </div>
  );
}

/** The strip about an own tournament that starts soon or goes on. */
function TournamentStrip() {
  const news = tournamentNews.value;
  const isHidden = shownTable.value !== null || shownTournament.value !== null || finishedGame.value !== null;
  if (!news || isHidden) return null;
  return (
    <p class="strip" role="status">
      <span>{news.text}</span>
      <button type="button" class="act gold" onClick={() => { shownTournament.value = { id: news.id }; }}>{say('to_tournament')}</button>
    </p>
  );
}

async function acceptRematchOffer(code: string) {
  rematchOffer.value = null;
  // A player who continues has read the last result.
  if (await acceptRematch(code)) finishedGame.value = null;
}

/**
 * The strip of the first page while the house is unreachable, including retries. A table shows this itself.
 */
function Offline() {
  const isOut = useRef(false);
  const { type } = link.value;
  if (type === 'pausing') isOut.current = true;
  else if (type !== 'connecting' && type !== 'signing_in') isOut.current = false;
  if (table.value !== null || !isOut.current) return null;
  return <p class="strip lost" role="status"><i class="spin" aria-hidden="true" /><span>{say('offline')}</span></p>;
}

/**
 * The offer of sound, which is off until it is wanted: browsers play none before a touch, and players may not
 * be alone.
 */
function SoundOffer() {
  const isOpen = touches.value > 0 && shownTable.value !== null && !settings.sound.value && !settings.soundAsked.value;
  const close = () => { settings.soundAsked.value = true; };
  useEffect(() => { if (isOpen && touches.value > PASSED_OVER) close(); }, [isOpen, touches.value]);
  if (!isOpen) return null;
  return (
    <p class="strip" role="status">
      <span>{say('sound_ask')}</span>
      <button type="button" class="act gold" onClick={() => { settings.sound.value = true; close(); sound.chip(); }}>{say('sound_on')}</button>
      <button type="button" class="round" aria-label={say('sound_no')} onClick={close}>✕</button>
    </p>
  );
}
