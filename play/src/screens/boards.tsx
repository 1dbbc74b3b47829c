// The leaderboards: the most won, and the best rated.
import { useEffect, useState } from 'preact/hooks';
import { GAMES } from '../games/list.ts';
import { callHouse, me } from '../house.ts';
import type { Place } from '../model.ts';
import { shownProfile } from '../overlays.ts';
import { Choice, Sheet } from '../parts/index.tsx';
import { coinsText, say } from '../words.ts';

type Board = 'coins' | 'hits' | 'rating';
type Span = 'day' | 'week' | 'season' | 'ever';
interface Answer { items: Place[]; own: Place | null; total: number }

export function Boards({ onClose }: { onClose: () => void }) {
  const [board, setBoard] = useState<Board>('coins');
  const [span, setSpan] = useState<Span>('week');
  const [kind, setKind] = useState(GAMES[0].kind);
  const [answer, setAnswer] = useState<Answer | null>(null);
  useEffect(() => {
    let alive = true;
    setAnswer(null);
    void callHouse<Answer>('GET /v1/leaderboards/{board}/{span}', { path: { board, span }, query: { limit: 50, kind } })
      .then((got) => { if (alive && got) setAnswer(got); });
    return () => { alive = false; };
  }, [board, span, kind]);
  const score = (place: Place) => board === 'coins' ? coinsText(place.score) : String(place.score);
  const own = answer?.own && !answer.items.some((one) => one.player === me.value?.id) ? answer.own : null;
  return (
    <Sheet title={say('boards')} onClose={onClose} wide>
      <Choice label={say('game')} chosen={kind} onChoose={setKind} of={GAMES.map((one) => [one.kind, one.title] as const)} />
      <Choice label={say('boards')} chosen={board} onChoose={setBoard}
        of={[['coins', say('board_coins')], ['hits', say('board_hits')], ['rating', say('board_rating')]]} />
      <Choice label={say('span_week')} chosen={span} onChoose={setSpan}
        of={[['day', say('span_day')], ['week', say('span_week')], ['season', say('span_season')], ['ever', say('span_ever')]]} />
      {answer === null ? <p>{say('loading')}</p> : answer.items.length === 0 ? <p class="quiet">{say('nothing_here')}</p> : (
        <table class="places">
          <thead><tr><th scope="col">{say('rank')}</th><th scope="col">{say('player')}</th><th scope="col">{say('score')}</th></tr></thead>
          <tbody>
            {[...answer.items, ...(own ? [own] : [])].map((place) => (
              <tr key={place.player} class={place.player === me.value?.id ? 'own' : ''}>
                <td>{place.rank}</td><td><button type="button" class="name" onClick={() => { shownProfile.value = { id: place.player, game: null }; }}>{place.name}</button></td><td>{score(place)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </Sheet>
  );
}
