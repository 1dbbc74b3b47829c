// The player's finished games of a tournament, and for a duplicate the results of others at the same cards.
import { useEffect, useState } from 'preact/hooks';
import { callHouse, me } from '../house.ts';
import { shortName } from '../parts/index.tsx';
import { say, signedCoins } from '../words.ts';
import type { Page, TournamentDetail, TournamentGame } from './model.ts';
import { word } from './words.ts';

const PAGE = 100;
/** The number of pages that are read in search of the player's games. */
const PAGES_MAX = 10;
/** The number of others at the same cards who are listed. */
const OTHERS_SHOWN = 5;

/** Reads the games of the player. The list has those of all players in the order of their ends. */
async function readOwnGames(id: string): Promise<TournamentGame[]> {
  const own: TournamentGame[] = [];
  let cursor: string | null = null;
  for (let number = 0; number < PAGES_MAX; number += 1) {
    const query: Record<string, unknown> = { limit: PAGE, ...(cursor ? { cursor } : {}) };
    const page: Page<TournamentGame> | null = await callHouse<Page<TournamentGame>>('GET /v1/tournaments/{id}/games', { path: { id }, query }, true);
    own.push(...(page?.items ?? []).filter(({ scores }) => scores.some(({ player }) => player === me.value?.id)));
    cursor = page?.next_cursor ?? null;
    if (cursor === null) break;
  }
  return own;
}

export function OwnGames({ one }: { one: TournamentDetail }) {
  const [open, setOpen] = useState(false);
  const [games, setGames] = useState<readonly TournamentGame[] | null>(null);
  const count = one.entry?.games ?? 0;
  useEffect(() => {
    let alive = true;
    if (open) void readOwnGames(one.id).then((all) => { if (alive) setGames(all); });
    return () => { alive = false; };
  }, [open, count]);
  const points = ({ scores }: TournamentGame) => scores.find(({ player }) => player === me.value?.id)?.points ?? 0;
  return (
    <details class="own-games" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{word('my_games')}</summary>
      {games === null ? <p>{say('loading')}</p> : (
        <ul>
          {games.map((game) => (
            <li key={game.id}><span>{word('game_at', { round: game.round, game: game.number })}</span>
              <b class={points(game) >= 0 ? 'plus' : 'minus'}>{signedCoins(points(game))}</b></li>
          ))}
        </ul>
      )}
    </details>
  );
}

interface ComparedPlayer { player: string; name: string; points: number }
interface GameComparison { number: number; points: number; fewer: number; equal: number; more: number; others_mean: number | null; others: ComparedPlayer[] }
interface RoundComparison { round: number; games: GameComparison[] }

/** The results of others at the player's cards, in the last round of a duplicate that is over. */
export function Comparison({ one }: { one: TournamentDetail }) {
  const [round, setRound] = useState<RoundComparison | null>(null);
  useEffect(() => {
    let alive = true;
    const read = (number: number) => callHouse<RoundComparison>('GET /v1/tournaments/{id}/rounds/{round}/comparison', { path: { id: one.id, round: number } }, true);
    const find = async () => {
      // The present round may not be over at all tables.
      const found = await read(one.round) ?? (one.round > 1 ? await read(one.round - 1) : null);
      if (alive && found) setRound(found);
    };
    void find();
    return () => { alive = false; };
  }, [one.id, one.round, one.state, one.entry?.games]);
  if (!round || round.games.length === 0) return null;
  return (
    <section class="compared">
      <h3>{word('compare')}</h3>
      {round.games.map((game) => (
        <div key={game.number}>
          <p>{game.others_mean === null ? word('compare_alone', { round: round.round, game: game.number, points: signedCoins(game.points) })
            : word('compare_game', {
              round: round.round, game: game.number, points: signedCoins(game.points), mean: signedCoins(game.others_mean),
              fewer: game.fewer, equal: game.equal, more: game.more,
            })}</p>
          {game.others.length > 0 ? (
            <><p class="quiet">{word('compare_best')}</p>
              <ul>{game.others.slice(0, OTHERS_SHOWN).map((other) => (
                <li key={other.player}><span>{shortName(other.name)}</span><b class={other.points > game.points ? 'plus' : ''}>{signedCoins(other.points)}</b></li>
              ))}</ul></>
          ) : null}
        </div>
      ))}
    </section>
  );
}
