// The standings beside a table of a tournament: the player's rank and points in the bar, and the leaders in a
// panel that opens from it.
import './style.ts';
import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { callHouse, client, me, table } from '../house.ts';
import { finishedGame, shownTournament } from '../overlays.ts';
import { say } from '../words.ts';
import { readTournament } from './follow.ts';
import type { Page, StandingRow, TournamentDetail } from './model.ts';
import { Countdown, StandingsTable } from './parts.tsx';
import { scoreText, word } from './words.ts';

/** The interval of requests for ranks that others change; an own change is pushed. */
const AGAIN_MS = 15_000;
const ROWS = 5;
/** The number of players up to which a wide table has room for the panel. */
const SEATS_BESIDE = 3;
/** The width from which the panel is open at first. */
const WIDE = '(min-width: 900px) and (min-height: 521px)';

/** The tournament of the table as it was last read, with the rows of the panel. */
const shown = signal<{ one: TournamentDetail; rows: readonly StandingRow[] } | null>(null);
const isOpen = signal(false);

/** The player's rank and score in the bar, which opens and closes the panel. */
export function Pill({ id, seats }: { id: string; seats: number }) {
  const open = isOpen.value;
  const ended = finishedGame.value?.game;
  const isPlaying = table.value?.view.phase.type === 'playing';
  useEffect(() => {
    isOpen.value = seats <= SEATS_BESIDE && matchMedia(WIDE).matches;
    return () => { shown.value = null; };
  }, [id]);
  useEffect(() => {
    let alive = true;
    const read = async () => {
      const [one, page] = await Promise.all([readTournament(id),
        open ? callHouse<Page<StandingRow>>('GET /v1/tournaments/{id}/standings', { path: { id }, query: { limit: ROWS, section: 'around' } }, true) : null]);
      if (alive && one) shown.value = { one, rows: page ? withLeader(page.items, one.leaders) : shown.value?.rows ?? [] };
    };
    void read();
    const timer = setInterval(() => { if (document.visibilityState === 'visible') void read(); }, AGAIN_MS);
    const unsubscribe = client.subscribe((_state, notifications) => {
      if (notifications.some((one) => one.type === 'standing' && one.tournament === id)) void read();
    });
    return () => { alive = false; clearInterval(timer); unsubscribe(); };
  }, [id, open, ended, isPlaying]);
  const one = shown.value?.one;
  if (!one) return <span class="pill"><span class="room-name">{say('tournament')}</span></span>;
  const rank = one.entry?.rank ?? '–';
  const score = scoreText(one, one.entry?.score ?? 0);
  return (
    <button type="button" class="pill standing" aria-expanded={open} onClick={() => { isOpen.value = !open; }}>
      <span class="sr">{word('show_standings', { rank, score })}</span><span class="medal small" aria-hidden="true">{rank}</span><b aria-hidden="true">{score}</b><span class="room-name wide-name" aria-hidden="true">{one.name}</span><i aria-hidden="true">{open ? '▴' : '▾'}</i></button>
  );
}

/** The leader and the rows around the player. */
export function Panel() {
  if (!shown.value || !isOpen.value) return null;
  const { one, rows } = shown.value;
  return (
    <section class="beside" aria-label={word('standings')}>
      <h2>{one.name}</h2>
      <p>{word('rank_of', { rank: one.entry?.rank ?? '–', n: one.entrants })}{one.round > 0 ? ` · ${word('round')} ${one.round}` : ''}
        {one.format === 'arena' && one.next_at ? <> · {word('ends')} <Countdown until={one.next_at} /></> : null}</p>
      <StandingsTable of={one} rows={rows.length > 0 ? rows : one.leaders} plain />
      <button type="button" class="plain" onClick={() => { shownTournament.value = { id: one.id }; }}>{say('more')}</button>
    </section>
  );
}

/** Returns the rows around the player, with the leader above them. */
function withLeader(rows: readonly StandingRow[], leaders: readonly StandingRow[]): StandingRow[] {
  const first = leaders[0];
  const isKnown = !first || rows.some(({ player }) => player === first.player);
  const own = rows.findIndex(({ player }) => player === me.value?.id);
  return isKnown ? [...rows] : [first, ...rows.slice(own > 2 ? 1 : 0)];
}
