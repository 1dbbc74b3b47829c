// The player's end in a tournament: the final place with its prize, as the moment that it is.
import { useEffect, useRef } from 'preact/hooks';
import { refreshWallet } from '../house.ts';
import { animateBurst } from '../motion.ts';
import { Amount, Coin } from '../parts/index.tsx';
import { settings } from '../settings.ts';
import { sound, vibrate } from '../sound.ts';
import { coinsText } from '../words.ts';
import { noteShownEnd } from './follow.ts';
import type { TournamentDetail } from './model.ts';
import { word } from './words.ts';

/** The ends that this page has celebrated. */
const celebrated = new Set<string>();

export function OwnEnd({ one }: { one: TournamentDetail }) {
  const box = useRef<HTMLDivElement>(null);
  const place = one.entry?.place ?? null;
  const prize = one.entry?.prize ?? 0;
  useEffect(() => {
    if (place === null || celebrated.has(one.id)) return;
    celebrated.add(one.id);
    noteShownEnd(one.id);
    void refreshWallet();
    if (prize === 0 && place !== 1) return;
    sound.win();
    vibrate([40, 60, 40, 60, 80]);
    if (!settings.still.value) animateBurst(box.current);
  }, [one.id, place]);
  if (place === null) return null;
  return (
    <div class={`own-end ${place <= 3 ? `medal-${place}` : ''} ${prize > 0 ? 'paid' : ''}`} role="status" ref={box}>
      <span class="medal" aria-hidden="true">{place}</span>
      <p><b>{place === 1 ? word('you_won') : word('your_place', { n: place })}</b></p>
      {prize > 0 ? <p class="own-prize"><Coin /> <span class="sr">{word('your_prize', { coins: coinsText(prize) })}</span><span aria-hidden="true"><Amount value={prize} /></span></p> : <p>{word('no_prize')}</p>}
    </div>
  );
}
