// The lobby of tournaments: those that are open, running, the player's own, and over.
import './style.ts';
import { useEffect, useRef, useState } from 'preact/hooks';
import { callHouse } from '../house.ts';
import { titleOf } from '../games/list.ts';
import { areTournamentRulesShown, shownTournament } from '../overlays.ts';
import { Choice, Coin, Sheet } from '../parts/index.tsx';
import { coinsText, say } from '../words.ts';
import type { Page, Tournament } from './model.ts';
import { Countdown } from './parts.tsx';
import { nameOf, word } from './words.ts';

type Tab = 'open' | 'running' | 'mine' | 'over';
const TABS: readonly Tab[] = ['open', 'running', 'mine', 'over'];
const QUERIES: Record<Tab, Record<string, unknown>> = {
  open: { state: 'announced' }, running: { state: 'running' }, mine: { mine: true }, over: { state: 'ended' },
};
const PAGE = 20;
const AGAIN_MS = 5_000;

function readTournaments(query: Record<string, unknown>): Promise<Page<Tournament> | null> {
  return callHouse<Page<Tournament>>('GET /v1/tournaments', { query: { limit: PAGE, ...query } }, true);
}

/** Orders open tournaments by their start, those that start when they are full first. */
function byStart(all: readonly Tournament[]): Tournament[] {
  const time = ({ starts_at }: Tournament) => starts_at === null ? 0 : new Date(starts_at).getTime();
  return [...all].sort((a, b) => time(a) - time(b));
}

export function Lobby({ onClose }: { onClose: () => void }) {
  const [tab, setTab] = useState<Tab>('open');
  const [items, setItems] = useState<readonly Tournament[] | null>(null);
  const [own, setOwn] = useState<ReadonlySet<string>>(new Set());
  const [cursor, setCursor] = useState<string | null>(null);
  /** True once later pages are shown, which a new reading of the first one would lose. */
  const isContinued = useRef(false);
  const isCovered = shownTournament.value !== null;
  useEffect(() => {
    let alive = true;
    isContinued.current = false;
    const read = async () => {
      const [page, mine] = await Promise.all([readTournaments(QUERIES[tab]), readTournaments({ mine: true })]);
      if (!alive || !page) return;
      if (!isContinued.current) {
        setItems(page.items);
        setCursor(page.next_cursor);
      }
      if (mine) setOwn(new Set(mine.items.map(({ id }) => id)));
    };
    void read();
    const timer = setInterval(() => { if (document.visibilityState === 'visible' && !isCovered) void read(); }, AGAIN_MS);
    return () => { alive = false; clearInterval(timer); };
  }, [tab, isCovered]);
  const more = async () => {
    const page = await readTournaments({ ...QUERIES[tab], cursor });
    if (!page) return;
    isContinued.current = true;
    setItems([...items ?? [], ...page.items]);
    setCursor(page.next_cursor);
  };
  const shown = items && (tab === 'open' ? byStart(items) : items);
  return (
    <Sheet title={say('tournaments')} onClose={onClose} wide>
      <Choice label={say('tournaments')} chosen={tab} onChoose={(chosen) => { setItems(null); setTab(chosen); }} of={TABS.map((one) => [one, nameOf('tab', one)] as const)} />
      {shown === null ? <p>{say('loading')}</p> : shown.length === 0 ? <p class="quiet">{nameOf('none', tab)}</p> : (
        <ul class="tournaments">
          {shown.map((one) => <li key={one.id}><Offer one={one} isOwn={own.has(one.id)} /></li>)}
        </ul>
      )}
      {cursor ? <button type="button" class="plain" onClick={() => void more()}>{say('more')}</button> : null}
      <ByCode />
      <button type="button" class="plain" onClick={() => { areTournamentRulesShown.value = true; }}>{word('rules')}</button>
    </Sheet>
  );
}

function Offer({ one, isOwn }: { one: Tournament; isOwn: boolean }) {
  const price = one.buy_in + one.fee;
  return (
    <button type="button" class={`tournament ${isOwn ? 'own' : ''}`} onClick={() => { shownTournament.value = { id: one.id }; }}>
      <span class="tournament-name"><b>{one.name}</b>{isOwn ? <> <span class="badge ok">{word('in_it')}</span></> : null}</span>
      <span class="tournament-when">
        {one.state !== 'announced' ? <span class="badge">{nameOf('state', one.state)}</span>
          : one.starts_at === null ? word('starts_full') : <Countdown until={one.starts_at} />}
      </span>
      <small>{titleOf(one.kind)} · {nameOf('format', one.format)} · {word('entrants_of', { n: one.entrants, most: one.entrants_max })}{one.has_bots ? ` · ${word('with_bots')}` : ''}</small>
      <small class="tournament-price">
        {price === 0 ? word('free') : <><Coin /> {coinsText(price)}</>}
        {one.guarantee > 0 ? ` · ${word('guaranteed', { coins: coinsText(one.guarantee) })}` : ''}
      </small>
    </button>
  );
}

/** The form for the code of a private tournament. */
function ByCode() {
  const [code, setCode] = useState('');
  const [isUnknown, setUnknown] = useState(false);
  const find = async () => {
    const page = await readTournaments({ code: code.trim().toUpperCase() });
    const [found] = page?.items ?? [];
    setUnknown(page !== null && !found);
    if (found) shownTournament.value = { id: found.id, code: code.trim().toUpperCase() };
  };
  return (
    <form class="by-code" onSubmit={(event) => { event.preventDefault(); void find(); }}>
      <label>{word('by_code')}<input value={code} maxLength={16} autocomplete="off" autocapitalize="characters" onInput={(event) => { setCode(event.currentTarget.value); setUnknown(false); }} /></label>
      <button type="submit" class="plain" disabled={code.trim() === ''}>{word('find')}</button>
      {isUnknown ? <p role="alert">{word('code_unknown')}</p> : null}
    </form>
  );
}
