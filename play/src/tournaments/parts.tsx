// The parts that the screens of tournaments share: a countdown, a table of the standings, and the player's
// own state in words.
import { useEffect, useState } from 'preact/hooks';
import { client, me } from '../house.ts';
import { shownProfile } from '../overlays.ts';
import { shortName } from '../parts/index.tsx';
import { say } from '../words.ts';
import type { StandingRow, Tournament, TournamentDetail } from './model.ts';
import { clockText, scoreText, word } from './words.ts';

const SECOND_MS = 1000;

/** The time until a moment, in the server's time. Screen readers get the date beside it instead. */
export function Countdown({ until }: { until: string }) {
  const [left, setLeft] = useState(() => new Date(until).getTime() - client.serverNow());
  useEffect(() => {
    const draw = () => setLeft(new Date(until).getTime() - client.serverNow());
    draw();
    const timer = setInterval(draw, SECOND_MS);
    return () => clearInterval(timer);
  }, [until]);
  return <b class="countdown" aria-hidden="true">{left > 0 ? clockText(left) : word('starts_now')}</b>;
}

/** A table of rows of the standings; the player's own row is marked. */
export function StandingsTable({ of, rows, plain = false }: { of: Tournament; rows: readonly StandingRow[]; plain?: boolean }) {
  return (
    <table class="places standings">
      <thead><tr><th scope="col">{say('rank')}</th><th scope="col">{say('player')}</th>{plain ? null : <th scope="col">{word('games_n')}</th>}<th scope="col">{say('score')}</th></tr></thead>
      <tbody>
        {rows.map((row) => (
          <tr key={row.player} class={`${row.player === me.value?.id ? 'own' : ''} ${row.is_eliminated ? 'gone' : ''}`}>
            <td>{row.rank ?? '–'}</td>
            <td>
              {plain ? <span>{shortName(row.name)}</span>
                : <button type="button" class="name" onClick={() => { shownProfile.value = { id: row.player, game: null }; }}>{shortName(row.name)}</button>}
              {row.is_bot ? <> <span class="badge">{say('bot')}</span></> : null}
              {row.is_eliminated ? <> <span class="badge">{word('out')}</span></> : null}
            </td>
            {plain ? null : <td>{row.games}</td>}
            <td>{scoreText(of, row.score)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** Returns the player's own state in a sentence; null without an entry, and once the place is final. */
export function ownStateText(one: TournamentDetail): string | null {
  const { entry } = one;
  if (!entry || entry.place !== null) return null;
  switch (entry.state) {
    case 'pending':
      return word('pending');
    case 'registered':
      return one.starts_at === null ? word('registered_full', { n: one.entrants_max - one.entrants }) : word('registered');
    case 'playing':
      return word('playing');
    case 'waiting':
      return word(one.format === 'arena' ? 'waiting_pairing' : one.next_at ? 'waiting_break' : 'waiting_round');
    case 'paused':
      return word('paused');
    case 'eliminated':
      return word('eliminated');
    case 'finished':
      return null;
  }
}
