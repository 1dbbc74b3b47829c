// The standings of a tournament: the top or the rows around the player, by pages.
import { useEffect, useState } from 'preact/hooks';
import { callHouse, me } from '../house.ts';
import { Choice } from '../parts/index.tsx';
import { say } from '../words.ts';
import { isOver, type Page, type StandingRow, type TournamentDetail } from './model.ts';
import { StandingsTable } from './parts.tsx';
import { word } from './words.ts';

type Section = 'top' | 'around';
const PAGE = 10;

export function Standings({ one }: { one: TournamentDetail }) {
  const [section, setSection] = useState<Section>('top');
  const [rows, setRows] = useState<readonly StandingRow[]>(one.leaders);
  const [cursor, setCursor] = useState<string | null>(null);
  const read = (query: Record<string, unknown>) =>
    callHouse<Page<StandingRow>>('GET /v1/tournaments/{id}/standings', { path: { id: one.id }, query: { limit: PAGE, section, ...query } }, true);
  // The document of the tournament changes with the standings; a list that was continued stays.
  const changes = JSON.stringify([one.state, one.round, one.entry, one.leaders]);
  useEffect(() => {
    let alive = true;
    void read({}).then((page) => {
      if (!alive || !page || rows.length > PAGE) return;
      setRows(page.items);
      setCursor(page.next_cursor);
    });
    return () => { alive = false; };
  }, [section, changes]);
  const more = async () => {
    const page = await read({ cursor });
    if (!page) return;
    setRows([...rows, ...page.items]);
    setCursor(page.next_cursor);
  };
  const isOwnShown = rows.some((row) => row.player === me.value?.id);
  const rank = one.entry?.rank;
  return (
    <section>
      <h3>{word(isOver(one) ? 'results' : 'standings')}</h3>
      {one.entrants > PAGE && one.entry ? (
        <Choice label={word('standings')} chosen={section} onChoose={(chosen) => { setRows([]); setSection(chosen); }} of={[['top', word('top')], ['around', word('around')]]} />
      ) : null}
      <StandingsTable of={one} rows={rows} />
      {rank && !isOwnShown ? <p class="own-rank">{word('own_rank', { rank })}</p> : null}
      {cursor ? <button type="button" class="plain" onClick={() => void more()}>{say('more')}</button> : null}
    </section>
  );
}
