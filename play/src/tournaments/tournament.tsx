// A tournament: its terms and prizes, the entry with its price, the wait, the standings, and the player's end.
import './style.ts';
import { useEffect, useState } from 'preact/hooks';
import { callHouse, client, leftTable, refreshWallet, returnToTable, showToast, table, wallet } from '../house.ts';
import { titleOf } from '../games/list.ts';
import { areTournamentRulesShown, shownTournament } from '../overlays.ts';
import { Coin, Sheet } from '../parts/index.tsx';
import { page } from '../table_entry.ts';
import { coinsText, say } from '../words.ts';
import { followNow, noteShownEnd, readTournament } from './follow.ts';
import { isOver, type TournamentDetail } from './model.ts';
import { OwnEnd } from './own_end.tsx';
import { Countdown, ownStateText } from './parts.tsx';
import { Comparison, OwnGames } from './own_games.tsx';
import { Standings } from './standings.tsx';
import { dateText, nameOf, termsText, word } from './words.ts';

const AGAIN_MS = 3_000;
/** The number of prizes that are listed one by one. */
const PRIZES_SHOWN = 10;

export function TournamentSheet({ id, onClose }: { id: string; onClose: () => void }) {
  const [one, setOne] = useState<TournamentDetail | null>(null);
  const [isMissing, setMissing] = useState(false);
  const at = table.value?.view;
  useEffect(() => {
    let alive = true;
    const read = async () => {
      const got = await readTournament(id);
      if (!alive) return;
      if (got) setOne(got);
      else setMissing(true);
    };
    void read();
    const timer = setInterval(() => { if (document.visibilityState === 'visible') void read(); }, AGAIN_MS);
    return () => { alive = false; clearInterval(timer); };
  }, [id]);
  // The player was led to a table of this tournament.
  const isLed = at?.terms.tournament?.tournament === id && leftTable.value === null;
  useEffect(() => { if (isLed) onClose(); }, [isLed]);
  if (!one) return <Sheet title={say('tournament')} onClose={onClose}><p role="status">{isMissing ? say('screen_failed') : say('loading')}</p></Sheet>;
  return (
    <Sheet title={one.name} onClose={onClose} wide>
      <p class="tournament-line"><span class={`badge ${one.state === 'running' ? 'ok' : ''}`}>{nameOf('state', one.state)}</span> {titleOf(one.kind)} · {nameOf('format', one.format)}{one.is_private ? ` · ${word('private')}` : ''}{one.has_bots ? ` · ${word('with_bots')}` : ''}{one.accepts_passes ? ` · ${word('takes_passes')}` : ''}</p>
      {one.state === 'cancelled' ? <Cancelled one={one} /> : <OwnEnd one={one} />}
      <OwnState one={one} />
      <Facts one={one} />
      {one.state === 'announced' || one.is_registration_open ? <EntryForm one={one} onChange={setOne} /> : null}
      {one.state === 'announced' ? null : <Standings one={one} />}
      {one.entry && one.entry.games > 0 ? <>{one.format === 'duplicate' ? <Comparison one={one} /> : null}<OwnGames one={one} /></> : null}
      <Prizes one={one} />
      <section class="terms"><h3>{word('how')}</h3>{termsText(one).map((text) => <p key={text}>{text}</p>)}
        <button type="button" class="plain" onClick={() => { areTournamentRulesShown.value = true; }}>{word('rules')}</button></section>
    </Sheet>
  );
}

/** The player's own state while it is not over, with the way to the table. */
function OwnState({ one }: { one: TournamentDetail }) {
  const text = ownStateText(one);
  if (text === null) return null;
  const isWaiting = one.entry?.state === 'waiting';
  const go = () => { if (leftTable.value !== null) returnToTable(); else void client.takeTournamentSeat(one.id); };
  return (
    <div class={`own-state ${isWaiting ? 'waits' : ''}`} role="status">
      {isWaiting ? <i class="spin" aria-hidden="true" /> : null}
      <p>{text}</p>
      {one.entry?.table ? <button type="button" class="act gold" onClick={go}>{word('to_table')}</button> : null}
    </div>
  );
}

function Cancelled({ one }: { one: TournamentDetail }) {
  const refund = one.entry?.refund;
  useEffect(() => { noteShownEnd(one.id); if (refund) void refreshWallet(); }, [refund]);
  return <div class="own-state" role="status"><p><b>{word('cancelled')}</b>{refund ? ` ${word('refunded', { coins: coinsText(refund) })}` : ''}</p></div>;
}

function Facts({ one }: { one: TournamentDetail }) {
  const price = one.buy_in + one.fee;
  return (
    <dl class="facts">
      <div><dt>{word('price')}</dt><dd>{price === 0 ? word('free') : <><Coin /> {coinsText(price)}</>}</dd></div>
      <div><dt>{word('pool')}</dt><dd>{one.expected_pool === 0 ? word('no_prizes') : <><Coin /> {one.pool === null && !isOver(one) ? word('pool_least', { coins: coinsText(one.expected_pool) }) : coinsText(one.expected_pool)}</>}</dd></div>
      <div><dt>{word('entrants')}</dt><dd>{word('entrants_of', { n: one.entrants, most: one.entrants_max })}</dd></div>
      {one.state === 'announced' ? (
        <div><dt>{word('start')}</dt><dd>{one.starts_at === null ? word('starts_full') : <><Countdown until={one.starts_at} /> <small>{dateText(one.starts_at)}</small></>}</dd></div>
      ) : one.state === 'running' && one.next_at ? (
        <div><dt>{word(one.format === 'arena' ? 'ends' : 'next_round')}</dt><dd><Countdown until={one.next_at} /> <small class="sr">{dateText(one.next_at)}</small></dd></div>
      ) : one.round > 0 ? <div><dt>{word('round')}</dt><dd>{one.round}</dd></div> : null}
    </dl>
  );
}

/** Registration with its price, or the withdrawal. Both are confirmed. */
function EntryForm({ one, onChange }: { one: TournamentDetail; onChange: (now: TournamentDetail) => void }) {
  const known = shownTournament.value?.code ?? '';
  /** The payment that is asked about, also for a withdrawal; null before. */
  const [asking, setAsking] = useState<'coins' | 'pass' | null>(null);
  const [code, setCode] = useState(known);
  const [isBusy, setBusy] = useState(false);
  const price = one.buy_in + one.fee;
  const held = wallet.value ?? 0;
  const isIn = one.entry !== null;
  const hasPass = one.passes.length > 0;
  const path = { id: one.id };
  useEffect(() => { setAsking(null); }, [isIn]);
  const submit = async () => {
    setBusy(true);
    const name = isIn ? 'DELETE /v1/tournaments/{id}/entry' : 'PUT /v1/tournaments/{id}/entry';
    const body = { ...(one.is_private ? { code: code.trim().toUpperCase() } : {}), ...(asking === 'pass' ? { payment: 'pass' } : {}) };
    const done = await callHouse(name, isIn ? { path } : { path, body });
    if (done !== null && isIn) showToast(word(asking === 'pass' ? 'withdrawn_pass' : 'withdrawn', { coins: coinsText(price) }));
    const now = await readTournament(one.id);
    if (now) onChange(now);
    void refreshWallet();
    void followNow();
    setBusy(false);
    setAsking(null);
  };
  if (isIn && one.state !== 'announced') return null;
  if (!isIn && !one.is_registration_open) return <p class="quiet">{word(one.entrants >= one.entrants_max ? 'full' : 'closed')}</p>;
  const byPass = hasPass ? <button type="button" class="act gold big" onClick={() => setAsking('pass')}>{word('register_pass')}</button> : null;
  if (!isIn && held < price && asking !== 'pass') {
    return (
      <div class="entry-form">{byPass}<p>{word('poor', { held: coinsText(held), price: coinsText(price) })}</p>
        <button type="button" class={hasPass ? 'plain' : 'act gold'} onClick={() => { shownTournament.value = null; page.value = 'rewards'; }}>{say('rewards')}</button></div>
    );
  }
  if (asking === null) {
    return isIn ? <button type="button" class="plain warn" onClick={() => setAsking(one.entry?.is_paid_by_pass ? 'pass' : 'coins')}>{word('withdraw')}</button> : (
      <>{byPass}<button type="button" class={hasPass ? 'plain' : 'act gold big'} onClick={() => setAsking('coins')}>{price === 0 ? word('register_free') : word('register_for', { coins: coinsText(price) })}</button></>
    );
  }
  const question = asking === 'pass' ? word(isIn ? 'withdraw_pass_ask' : 'register_pass_ask', { n: one.passes.length })
    : isIn ? word(price === 0 ? 'withdraw_ask_free' : 'withdraw_ask', { coins: coinsText(price) })
    : word(price === 0 ? 'register_ask_free' : 'register_ask', { price: coinsText(price), buy_in: coinsText(one.buy_in), fee: coinsText(one.fee) });
  return (
    <form class="entry-form" onSubmit={(event) => { event.preventDefault(); void submit(); }}>
      <p role="status">{question}</p>
      {!isIn && one.is_private ? (
        <label>{word('code_ask')}<input value={code} maxLength={16} autocomplete="off" autocapitalize="characters" onInput={(event) => setCode(event.currentTarget.value)} /></label>
      ) : null}
      <div class="entry-buttons">
        <button type="button" class="plain" onClick={() => setAsking(null)}>{isIn ? word('stay_in') : say('cancel')}</button>
        <button type="submit" class={isIn ? 'plain warn' : 'act gold'} disabled={isBusy || (one.is_private && !isIn && code.trim() === '')}>{word(isIn ? 'withdraw' : 'register')}</button>
      </div>
    </form>
  );
}

function Prizes({ one }: { one: TournamentDetail }) {
  const all = one.expected_prizes;
  if (all.length === 0 || one.state === 'cancelled') return null;
  const own = one.entry?.place;
  return (
    <section class="prizes">
      <h3>{word(one.pool === null ? 'prizes_least' : 'prizes')}</h3>
      <ol>
        {all.slice(0, PRIZES_SHOWN).map((prize, at) => (
          <li key={at} class={own === at + 1 ? 'own' : ''}><span>{word('place_n', { n: at + 1 })}</span><b><Coin /> {coinsText(prize)}</b></li>
        ))}
      </ol>
      {all.length > PRIZES_SHOWN ? <p class="quiet">{word('prizes_more', { n: all.length - PRIZES_SHOWN })}</p> : null}
    </section>
  );
}
