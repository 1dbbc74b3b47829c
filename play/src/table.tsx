// The table: seats, clock, banners and phrases, and between games the waiting state and the ready button. The
// game's folder draws the game itself.
import { signal } from '@preact/signals';
import { useEffect, useState } from 'preact/hooks';
import { currentAdvice, AskAdvice, isUnhurried, lessonMarks, useMarks, useReason } from './advice.tsx';
import { recordEnd } from './ending.tsx';
import type { Hint } from './games/folder.ts';
import { findGame } from './games/list.ts';
import { loadedFolder, hasFailed } from './games/loading.ts';
import { client, isWeak, leaveTable, link, lossMax, subscribeActions, online, setTableListener, roomName, rooms, speech, wallet } from './house.ts';
import { EMOJI, PHRASES, type Seat, type SeatView, type TableState, type TableView } from './model.ts';
import { skipMotion } from './motion.ts';
import { finishedGame, shownProfile, shownRules } from './overlays.ts';
import { Amount, Avatar, Coin, Ring, Sheet, shortName } from './parts/index.tsx';
import { Face as Emoji } from './parts/emoji.tsx';
import { useLayer } from './parts/layers.ts';
import { Guide, TournamentPanel, TournamentPill } from './overlays_view.tsx';
import { FillWithBots } from './screens/bots.tsx';
import { Invitation, SettingsSheet } from './screens/index.ts';
import { countLearnt, needsHint, settings } from './settings.ts';
import { readyAtOnce } from './table_entry.ts';
import { coinsText, say } from './words.ts';

/** The last events in words, read out as they come. */
const announcements = signal<{ text: string; number: number }[]>([]);
let announcementCount = 0;
/** The hint that is shown, or would be if it were not learnt. */
let currentHints: { kind: string; hints: readonly Hint[] } | null = null;
const sheet = signal<'none' | 'menu' | 'settings' | 'say' | 'leave' | 'invite'>('none');

/** The last finished game of a table that this page has seen. */
let lastGame: { table: string; game: string } | null = null;

setTableListener((change) => {
  for (const event of change.events) if (event.type === 'over') lastGame = { table: change.after.table, game: String(event['game']) };
  const folder = loadedFolder(change.after.kind);
  if (!folder) return;
  const words = change.quiet ? [] : folder.showChange(change);
  for (const event of change.events) {
    const seat = Number(event['seat']);
    const name = seat === change.after.seat ? say('you') : shortName((change.after.seats[seat] ?? change.before?.seats[seat])?.name ?? '');
    if (change.quiet) break;
    if (event.type === 'sat' && seat !== change.after.seat) words.push(say('said_sat', { name: shortName(String(event['name'])) }));
    if (event.type === 'left') words.push(say('said_left', { name }));
    if (event.type === 'takeover') words.push(say(event['on'] ? 'said_takeover' : 'said_back', { name }));
  }
  if (words.length > 0) {
    const news = words.map((text) => ({ text, number: announcementCount += 1 }));
    announcements.value = [...announcements.value, ...news].slice(-3);
  }
  recordEnd(change, folder);
});

subscribeActions((action) => {
  const done = currentHints?.hints.find((hint) => hint.by.includes(action.type));
  if (currentHints && done) countLearnt(currentHints.kind, done.name);
});

export function Table({ state }: { state: TableState }) {
  const { view } = state;
  const folder = loadedFolder(view.kind);
  const count = view.seats.length;
  const mine = view.seat ?? 0;
  const isPlaying = view.phase.type === 'playing';
  // A game may begin before every seat is taken; its players sit on the first seats.
  const playing = view.phase.type === 'playing' ? view.phase.stakes.length : count;
  const others = Array.from({ length: count - 1 }, (_, i) => (mine + 1 + i) % count).filter((seat) => seat < playing);
  // A request for a game implies being ready.
  const preparing = view.phase.type === 'preparing' ? view.phase : null;
  // A table of a tournament waits for nobody, so its first game needs no touch.
  const beginsTournament = Boolean(view.terms.tournament) && finishedGame.value === null;
  const isReady = preparing !== null && view.seat !== null && preparing.ready.includes(view.seat);
  useEffect(() => {
    if (isPlaying) readyAtOnce.value = false;
    else if (preparing && (readyAtOnce.value || beginsTournament) && !isReady) void client.ready();
  }, [preparing?.game, isReady, isPlaying, beginsTournament]);
  useEffect(() => {
    document.title = (state.prompt?.legal.length ?? 0) > 0 ? `● ${say('you')} · Bahay` : 'Bahay';
    return () => { document.title = 'Bahay'; };
  }, [state.prompt]);
  useEffect(() => { if (findGame(view.kind)) settings.kind.value = view.kind; }, [view.kind]);
  // The announcements of a game belong to its table.
  useEffect(() => () => {
    announcements.value = [];
    sheet.value = 'none';
  }, []);
  const isBegun = inGame(view) || view.phase.type === 'opening';
  useEffect(() => { if (isBegun && sheet.value === 'invite') sheet.value = 'none'; }, [isBegun]);
  useLayer(() => { sheet.value = 'leave'; });
  useLeaveWarning(inGame(view) && !view.terms.practice);
  if (!folder) {
    return (
      <main class="table"><h1 class="sr">{say('table')}</h1><Bar state={state} />
        <LoadingGame kind={view.kind} />
        <Sheets state={state} /></main>
    );
  }
  return (
    <main class={`table kind-${view.kind} ${state.current ? '' : 'stale'} phase-${view.phase.type}`} aria-label={say('table')} onPointerDown={() => skipMotion()}>
      <h1 class="sr">{say('table')}</h1>
      <Bar state={state} />
      <section class={`seats ${others.length > 2 ? 'seats-many' : ''} seats-${others.length}`} aria-label={say('opponents')}>
        {[...others].reverse().map((seat, i) => (
          <SeatPlate key={seat} state={state} seat={seat} side={i >= others.length / 2 ? 'right' : 'left'} />
        ))}
      </section>
      <folder.Board state={state} />
      {view.terms.tournament ? <TournamentPanel /> : null}
      <StatusLine state={state} />
      {isPlaying || view.phase.type === 'settling' ? null : <BetweenGames state={state} ready={isReady} />}
      {isUnhurried(view) && isPlaying ? <Guide state={state} /> : null}
      <Banner state={state} />
      <ul class="sr" aria-live="polite" aria-atomic="false">{announcements.value.slice(-2).map(({ text, number }) => <li key={number}>{text}</li>)}</ul>
      <Sheets state={state} />
    </main>
  );
}

/** Returns whether a game is running, so that leaving now leaves the game. */
function inGame({ phase }: TableView): boolean {
  return phase.type === 'playing' || phase.type === 'revealing';
}

/** Makes the browser ask before it closes or reloads the page. */
function useLeaveWarning(isAsked: boolean) {
  useEffect(() => {
    if (!isAsked) return;
    const ask = (event: BeforeUnloadEvent) => { event.preventDefault(); };
    addEventListener('beforeunload', ask);
    return () => removeEventListener('beforeunload', ask);
  }, [isAsked]);
}

/** The table while its game is loaded, or after loading has failed. */
function LoadingGame({ kind }: { kind: string }) {
  const isListed = findGame(kind) !== null;
  if (isListed && !hasFailed(kind)) return <section class="between" role="status"><i class="spin" aria-hidden="true" /><p>{say('loading')}</p></section>;
  return (
    <section class="between" role="alert">
      <p>{say(isListed ? 'game_failed' : 'unknown_game')}</p>
      {isListed ? <button type="button" class="act gold" onClick={() => location.reload()}>{say('reload')}</button> : null}
      <button type="button" class="act" onClick={leaveTable}>{say('leave')}</button>
    </section>
  );
}

function Bar({ state }: { state: TableState }) {
  const { terms } = state.view;
  const room = rooms.value?.find((one) => one.id === terms.room);
  return (
    <header class="bar">
      {terms.practice ? <span class="pill practice-mark"><span class="room-name">{say('practice_mark')}</span></span>
        : terms.tournament ? <TournamentPill id={terms.tournament.tournament} seats={state.view.seats.length} /> : <>
      <span class="pill"><span class="room-name">{terms.private ? say('friends') : room ? roomName(room) : terms.room}</span> · {say('bet', { coins: coinsText(terms.price.bet) })}</span>
      <span class="pill" data-anchor="wallet"><Coin /> <Amount value={wallet.value ?? 0} /></span></>}
      <span class="bar-buttons">
        <button type="button" class="round help-mark" aria-label={say('rules')} onClick={() => { shownRules.value = { kind: state.view.kind, terms }; }}>?</button>
        <button type="button" class="round" aria-label={say('say')} onClick={() => { sheet.value = 'say'; }}>
          <svg viewBox="0 0 24 24" aria-hidden="true"><path d="M4 5h16a1 1 0 0 1 1 1v10a1 1 0 0 1-1 1h-9l-5 4v-4H4a1 1 0 0 1-1-1V6a1 1 0 0 1 1-1Z" /></svg></button>
        <button type="button" class="round" aria-label={say('menu')} onClick={() => { sheet.value = 'menu'; }}>
          <svg viewBox="0 0 24 24" aria-hidden="true"><path d="M4 6h16v2.500H4zM4 11h16v2.500H4zM4 16h16v2.500H4z" /></svg></button>
      </span>
    </header>
  );
}

function badges(seat: SeatView, { crown }: TableView) {
  return (
    <>
      {crown?.player === seat.player ? <span class="crown" title={say('crown', { name: seat.name })} role="img" aria-label={say('crown', { name: seat.name })}>♛<i>{crown.wins}</i></span> : null}
      {seat.bot ? <span class="badge">{say('bot')}</span> : seat.taken_over ? <span class="badge ai">{say('ai')}</span> : null}
      {!seat.connected && !seat.bot ? <span class="badge away">{say('away')}</span> : null}
    </>
  );
}

function SeatPlate({ state, seat, side }: { state: TableState; seat: Seat; side: string }) {
  const { view } = state;
  const who = view.seats[seat] ?? null;
  const folder = loadedFolder(view.kind)!;
  const info = folder.seatInfo(view, seat);
  const deadline = view.phase.type === 'playing' ? state.prompt?.deadline_ms ?? view.phase.deadline_ms : null;
  const said = who ? speech.value[who.player] : undefined;
  return (
    <div class={`seat seat-${side} ${info.acting ? 'acting' : ''} ${info.out ? 'out' : ''} ${who ? '' : 'free'} ${who && !who.connected && !who.bot ? 'gone' : ''}`}>
      <button type="button" class="seat-face" data-anchor={`seat-${seat}`} disabled={!who}
        onClick={() => { if (who) shownProfile.value = { id: who.player, game: reportableGame(view) }; }}>
        <span class="sr">{who ? say('profile_of', { name: who.name }) : say('empty_seat')}</span>
        <Avatar name={who?.name ?? ''} picture={who?.avatar ?? null} />
        {info.acting && deadline && !isUnhurried(view) ? <Ring key={deadline} deadline={deadline} total={folder.countdownMs(view)} /> : null}
      </button>
      <span class="seat-words">
        <b class="seat-name">{who ? shortName(who.name) : say('empty_seat')}</b>
        <span class="badges">{who ? badges(who, view) : null}{info.note ? <span class="badge hot">{info.note}</span> : null}</span>
        {info.cards !== null ? <span class="held"><i class="fan" aria-hidden="true"><i /><i /><i /></i><span class="sr">{say('cards_n', { n: info.cards })}</span><span aria-hidden="true">{info.cards}</span></span> : null}
        {info.more}
      </span>
      {said ? <Bubble key={said.number} phrase={said.phrase} /> : null}
    </div>
  );
}

/** Returns the game for reports: the running or the last one; null at practice tables. */
function reportableGame({ phase, terms, table: id }: TableView): string | null {
  if (terms.practice) return null;
  return phase.type === 'playing' || phase.type === 'settling' ? phase.game : lastGame?.table === id ? lastGame.game : null;
}

function Bubble({ phrase }: { phrase: string }) {
  return <span class="bubble" role="status">{phrase in EMOJI ? <Emoji name={phrase} /> : say(`phrase_${phrase}` as never)}</span>;
}

/**
 * The line above the hand: whose turn it is or what the player has to do, with the player's clock. The
 * player's own prompt is read out; the turns of others follow from the events.
 */
function StatusLine({ state }: { state: TableState }) {
  const { view } = state;
  const folder = loadedFolder(view.kind)!;
  const { text, urgent } = folder.status(state);
  const deadline = state.prompt?.deadline_ms ?? null;
  const own = view.seat === null ? null : view.seats[view.seat] ?? null;
  const said = own ? speech.value[own.player] : undefined;
  const last = announcements.value.at(-1)?.text;
  const advised = currentAdvice(state);
  useMarks(advised?.marks ?? lessonMarks.value ?? []);
  const reason = useReason(state);
  const hints = state.current && view.phase.type === 'playing' ? folder.hints(state) : [];
  currentHints = hints.length > 0 ? { kind: view.kind, hints } : null;
  // A lesson explains the same in detail.
  const advice = lessonMarks.value !== null ? null : hints.find((hint) => needsHint(view.kind, hint.name))?.text ?? null;
  return (
    <div class={`say ${urgent ? 'urgent' : ''}`} data-anchor={`seat-${view.seat}`}>
      {own ? <span class="own-badges">{badges(own, view)}</span> : null}
      <p class="say-words"><b role="status">{urgent ? text : ''}</b>{urgent ? null : <b>{text}</b>}{advised ? <small class="hint advised" role="status">{say('advice_is', { what: advised.words })}{reason ? <i> {reason}</i> : null}</small> : advice ? <small class="hint">{advice}</small> : last && view.phase.type === 'playing' ? <small>{last}</small> : null}</p>
      <AskAdvice state={state} />
      {urgent && deadline && !isUnhurried(view) ? <Ring key={deadline} deadline={deadline} total={folder.countdownMs(view)} loud /> : null}
      {said ? <Bubble key={said.number} phrase={said.phrase} /> : null}
    </div>
  );
}

/** The table without cards: the missing players, or the ready button. */
function BetweenGames({ state, ready }: { state: TableState; ready: boolean }) {
  const { view } = state;
  if (finishedGame.value && !ready) return null;
  const free = view.seats.filter((seat) => seat === null).length;
  const { phase } = view;
  return (
    <section class="between" aria-live="polite">
      {phase.type === 'waiting' ? (
        <>
          <i class="shuffle" aria-hidden="true"><i /><i /><i /></i>
          <Stake view={view} />
          <p>{free > 0 && view.terms.private ? say('waiting_friends', { n: free }) : say('waiting_players')}</p>
          {view.terms.private ? <button type="button" class="act gold" onClick={() => { sheet.value = 'invite'; }}>{say('invite')}</button> : null}
          <FillWithBots state={state} />
        </>
      ) : phase.type === 'preparing' ? (
        <>
          {ready ? <p>{say('ready_done')}</p> : (
            <>
              <p>{say('prepare_note')}</p>
              <Stake view={view} />
              <button type="button" class="act gold big ready" onClick={() => void client.ready()}>
                <span>{say('ready')}</span>
                <Ring key={phase.deadline_ms} deadline={phase.deadline_ms} total={view.terms.clocks.prepare_ms} loud />
              </button>
            </>
          )}
        </>
      ) : <><i class="shuffle" aria-hidden="true"><i /><i /><i /></i><p>{say('all_ready')}</p></>}
    </section>
  );
}

/** The most that a game in this room can cost, shown before it begins. */
function Stake({ view }: { view: TableView }) {
  const room = rooms.value?.find((one) => one.id === view.terms.room);
  if (view.terms.tournament) return <p class="stake">{say('tournament_points')}</p>;
  const loss = view.terms.practice || view.terms.private || !room ? null : lossMax(room);
  return loss ? <p class="stake">{say('loss_note', { coins: coinsText(loss) })}</p> : null;
}

function Banner({ state }: { state: TableState }) {
  const { view } = state;
  const own = view.seat === null ? null : view.seats[view.seat];
  const [late, setLate] = useState(false);
  const away = !online.value;
  useEffect(() => {
    if (!away) { setLate(false); return; }
    const timer = setTimeout(() => setLate(true), 400);
    return () => clearTimeout(timer);
  }, [away]);
  if (away && late && link.value.type !== 'replaced') return <p class="banner lost" role="status"><i class="spin" aria-hidden="true" />{say('reconnecting')}</p>;
  if (isWeak.value) return <p class="banner weak" role="status"><i class="spin" aria-hidden="true" />{say('weak')}</p>;
  if (own?.taken_over && view.phase.type === 'playing') {
    return <p class="banner mine" role="status">{say('taken_over')} <button type="button" class="act gold" onClick={() => void client.takeBack()}>{say('take_back')}</button></p>;
  }
  return null;
}

function Sheets({ state }: { state: TableState }) {
  const close = () => { sheet.value = 'none'; };
  switch (sheet.value) {
    case 'none':
      return null;
    case 'menu':
      return (
        <Sheet title={say('menu')} onClose={close}>
          <div class="list">
            {state.view.terms.private ? <button type="button" class="plain" onClick={() => { sheet.value = 'invite'; }}>{say('invite')}</button> : null}
            <button type="button" class="plain" onClick={() => { sheet.value = 'settings'; }}>{say('settings')}</button>
            <button type="button" class="plain warn" onClick={() => { if (inGame(state.view)) sheet.value = 'leave'; else { close(); leaveTable(); } }}>{say('leave')}</button>
          </div>
        </Sheet>
      );
    case 'settings':
      return <SettingsSheet onClose={close} kind={state.view.kind} />;
    case 'invite':
      return <Invitation onClose={close} table={state} />;
    case 'leave':
      return (
        <Sheet title={say('leave')} onClose={close}>
          <p>{say(!inGame(state.view) ? 'leave_table' : state.view.terms.practice ? 'leave_practice' : state.view.terms.tournament ? 'leave_tournament' : 'leave_ask')}</p>
          <div class="list">
            <button type="button" class="act gold" onClick={close}>{say('stay')}</button>
            <button type="button" class="plain warn" onClick={() => { close(); leaveTable(); }}>{say('leave')}</button>
          </div>
        </Sheet>
      );
    case 'say':
      return (
        <Sheet title={say('say')} onClose={close}>
          <div class="emojis">{Object.keys(EMOJI).map((name) => (
            <button type="button" key={name} class="round" aria-label={name.slice(6)} onClick={() => { close(); void client.say(name as never); }}><Emoji name={name} /></button>
          ))}</div>
          <div class="phrases">{PHRASES.map((phrase) => (
            <button type="button" key={phrase} class="plain" onClick={() => { close(); void client.say(phrase); }}>{say(`phrase_${phrase}`)}</button>
          ))}</div>
        </Sheet>
      );
  }
}
