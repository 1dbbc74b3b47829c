// The player's games, and the replay of each, step by step.
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { DealSheet } from '../deal.tsx';
import { loadedFolder, hasFailed, loadGame } from '../games/loading.ts';
import { callHouse, translateName, rooms } from '../house.ts';
import type { Game, GameStep, MyGame, Seat } from '../model.ts';
import { analysedGame } from '../overlays.ts';
import { Sheet, Toggle } from '../parts/index.tsx';
import { toFinishedGame } from '../recorded_end.ts';
import { Result, titleOf } from '../result.tsx';
import { language, say, signedCoins } from '../words.ts';

interface Page { items: MyGame[]; next_cursor: string | null }

export function History({ onClose }: { onClose: () => void }) {
  const [games, setGames] = useState<MyGame[] | null>(null);
  const [cursor, setCursor] = useState<string | null>(null);
  const [open, setOpen] = useState<MyGame | null>(null);
  const more = async (from: string | null) => {
    const page = await callHouse<Page>('GET /v1/me/games', { query: { limit: 20, ...(from ? { cursor: from } : {}) } });
    if (!page) return;
    setGames((before) => [...(from ? before ?? [] : []), ...page.items]);
    setCursor(page.next_cursor);
    for (const kind of new Set(page.items.map((game) => game.kind))) void loadGame(kind);
  };
  useEffect(() => { void more(null); }, []);
  if (open) return <Replay game={open} onClose={() => setOpen(null)} />;
  const time = new Intl.DateTimeFormat(language.value, { dateStyle: 'medium', timeStyle: 'short' });
  return (
    <Sheet title={say('history')} onClose={onClose} wide>
      {games === null ? <p>{say('loading')}</p> : games.length === 0 ? <p class="quiet">{say('nothing_here')}</p> : (
        <ul class="games">
          {games.map((game) => (
            <li key={game.id}>
              <button type="button" class="game" disabled={game.state !== 'settled'} onClick={() => setOpen(game)}>
                <span class="sr">{say('watch_again')}:</span>
                <span class={`badge ${game.outcome}`}>{say(game.outcome)}</span>
                <span><b>{game.ending ? loadedFolder(game.kind)?.endingName(game.ending) ?? game.ending : ' '}</b>
                  <small>{translateName('room', rooms.value?.find((room) => room.id === game.room)?.name ?? game.room)} · {time.format(new Date(game.finished_at))}</small></span>
                <span class={`net ${game.net >= 0 ? 'plus' : 'minus'}`}>{signedCoins(game.net)}</span>
              </button>
            </li>
          ))}
        </ul>
      )}
      {cursor ? <button type="button" class="plain" onClick={() => void more(cursor)}>{say('more')}</button> : null}
    </Sheet>
  );
}

interface Steps { items: GameStep[]; seat: Seat; total: number }

/** The replay of a game; `from` is the number of the first step shown. */
export function Replay({ game, from = 0, onClose }: { game: { id: string; kind: string }; from?: number; onClose: () => void }) {
  const [all, setAll] = useState(false);
  const [steps, setSteps] = useState<Steps | null>(null);
  /** The steps as the player saw them, and the full game with its ending. */
  const [own, setOwn] = useState<readonly GameStep[] | null>(null);
  const [full, setFull] = useState<Game | null>(null);
  const names = [...full?.seats ?? []].sort((a, b) => a.seat - b.seat).map((seat) => seat.name);
  const [at, setAt] = useState(from);
  const [plays, setPlays] = useState(false);
  const [checks, setChecks] = useState(false);
  const timer = useRef(0);
  useEffect(() => {
    void callHouse<Steps>('GET /v1/games/{id}/steps', { path: { id: game.id }, query: all ? { hands: 'all' } : {} }).then((got) => {
      if (!got) return;
      setSteps(got);
      if (!all) setOwn(got.items);
    });
  }, [all]);
  useEffect(() => {
    void callHouse<Game>('GET /v1/games/{id}', { path: { id: game.id } }, true).then(setFull);
  }, []);
  const last = (steps?.items.length ?? 1) - 1;
  useEffect(() => {
    if (!plays) return;
    timer.current = window.setInterval(() => setAt((now) => Math.min(last, now + 1)), 1200);
    return () => clearInterval(timer.current);
  }, [plays, last]);
  const folder = loadedFolder(game.kind);
  const step = steps?.items[at];
  const ended = useMemo(() => folder && full && own ? toFinishedGame({ game: full, steps: own }, folder) : null, [folder, full, own]);
  if (checks) return <DealSheet game={game.id} seats={names} onClose={() => setChecks(false)} />;
  return (
    <Sheet title={say('watch_again')} onClose={onClose} wide>
      {hasFailed(game.kind) ? <><p role="alert">{say('game_failed')}</p><button type="button" class="act gold" onClick={() => location.reload()}>{say('reload')}</button></>
        : !step || !folder || !steps ? <p>{say('loading')}</p> : (
        <>
          <folder.Step step={step} seats={names} viewer={steps.seat} />
          <div class="replay-bar">
            <button type="button" class="round" aria-label={say('previous')} disabled={at === 0} onClick={() => setAt(at - 1)}>‹</button>
            <button type="button" class="plain" onClick={() => setPlays(!plays)}>{say(plays ? 'pause' : 'auto')}</button>
            <button type="button" class="round" aria-label={say('next')} disabled={at >= last} onClick={() => setAt(at + 1)}>›</button>
            <input type="range" min={0} max={last} value={at} aria-label={say('step', { n: at + 1, of: last + 1 })}
              onInput={(event) => setAt(Number((event.target as HTMLInputElement).value))} />
            <span>{say('step', { n: at + 1, of: last + 1 })}</span>
          </div>
          {at === last && ended ? <section class="ending"><h3>{titleOf(ended)}</h3><Result ended={ended} /></section> : null}
          <div class="list">
            <Toggle label={say('all_hands')} on={all} onChange={setAll} />
            <button type="button" class="plain" onClick={() => { analysedGame.value = { id: game.id, kind: game.kind }; }}>{say('analysis')}</button>
            <button type="button" class="plain" onClick={() => setChecks(true)}>{say('check_deal')}</button>
          </div>
        </>
      )}
    </Sheet>
  );
}
