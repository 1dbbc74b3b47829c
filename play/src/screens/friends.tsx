// A table for friends: opened with a bet and rules, joined by a code, a link or a picture of it.
import { signal } from '@preact/signals';
import { useEffect, useState } from 'preact/hooks';
import type { QrCodeGenerateResult } from 'uqr';
import { GAMES, listed, setsOf, titleOf } from '../games/list.ts';
import { loadGame } from '../games/loading.ts';
import { ask, client, lost, me, rooms, tell } from '../house.ts';
import type { TableState } from '../model.ts';
import { Choice, Sheet, Toggle } from '../parts/index.tsx';
import { refusalText } from '../refusals.ts';
import { readyAtOnce } from '../table.tsx';
import { coins, say } from '../words.ts';

interface Invited { code: string; link: string; table: string }
interface PrivateTable { code: string; link: string; table: string; host: string; bet: number; seats: number; players: string[]; kind: string }

/** The code of the private table where one sits, as far as this page knows it. */
const invited = signal<Invited | null>(kept());
/** A code that an address brought. */
export const brought = signal<string | null>(/\/play\/join\/([A-Za-z0-9]{4,16})\/?$/.exec(location.pathname)?.[1]?.toUpperCase() ?? null);

function kept(): Invited | null {
  try {
    return JSON.parse(sessionStorage.getItem('bahay.invited') ?? 'null') as Invited | null;
  } catch {
    return null;
  }
}

function keep(seat: Invited) {
  invited.value = seat;
  try {
    sessionStorage.setItem('bahay.invited', JSON.stringify(seat));
  } catch {
    // Then the link is gone with the page.
  }
}

async function sit(code: string): Promise<boolean> {
  lost.value = null;
  readyAtOnce.value = true;
  const answer = await client.takePrivateSeat(code.trim().toUpperCase());
  if (!answer.ok) {
    readyAtOnce.value = false;
    tell(refusalText(answer.problem.code, answer.problem.detail));
    return false;
  }
  keep(answer.data as Invited);
  return true;
}

export function Friends({ onClose }: { onClose: () => void }) {
  const [code, setCode] = useState('');
  const [bet, setBet] = useState('5');
  const [kind, setKind] = useState(GAMES[0].kind);
  const [chosen, setChosen] = useState<string | null>(null);
  const [short, setShort] = useState(false);
  const mayBeShort = listed(kind)?.shortStakes ?? false;
  const sets = setsOf(listed(kind) ?? GAMES[0]);
  const set = sets.some(([name]) => name === chosen) ? chosen! : sets[0]![0];
  const room = rooms.value?.find((one) => one.kind === kind) ?? rooms.value?.[0];
  const open = async () => {
    if (!room) return;
    lost.value = null;
    readyAtOnce.value = true;
    void loadGame(kind);
    const amount = Math.round(Number(bet) * 100);
    const answer = await client.openPrivateTable({
      room: room.id, bet: amount, kind, rule_set: set, short_stakes: short && mayBeShort,
    });
    if (!answer.ok) {
      readyAtOnce.value = false;
      tell(refusalText(answer.problem.code, answer.problem.detail));
      return;
    }
    keep(answer.data);
    onClose();
  };
  return (
    <Sheet title={say('friends_title')} onClose={onClose}>
      <form class="list" onSubmit={(event) => { event.preventDefault(); void sit(code).then((ok) => { if (ok) onClose(); }); }}>
        <h3>{say('join_table')}</h3>
        <label>{say('code')}<input value={code} maxLength={16} autocapitalize="characters" autocomplete="off" spellcheck={false}
          onInput={(event) => setCode((event.target as HTMLInputElement).value)} /></label>
        <button type="submit" class="act gold" disabled={code.trim().length < 4}>{say('join')}</button>
      </form>
      <form class="list" onSubmit={(event) => { event.preventDefault(); void open(); }}>
        <h3>{say('open_table')}</h3>
        <label>{say('bet_label')}<input type="number" inputMode="numeric" min={1} max={100000} step={1} value={bet}
          onInput={(event) => setBet((event.target as HTMLInputElement).value)} /></label>
        <Choice label={say('game')} chosen={kind} onChoose={setKind} of={GAMES.map((one) => [one.kind, one.title] as const)} />
        <Choice label={say('rule_set')} chosen={set} onChoose={setChosen} of={sets} />
        {mayBeShort ? <Toggle label={say('short_stakes')} on={short} onChange={setShort} /> : null}
        <button type="submit" class="act gold" disabled={!(Number(bet) >= 1)}>{say('open_table')}</button>
      </form>
    </Sheet>
  );
}

/** The picture of a link. What draws it is loaded here first, so that no first hand waits for it; where it
 * cannot be loaded, the code and the link are there. */
function useQr(link: string | null): QrCodeGenerateResult | null {
  const [matrix, setMatrix] = useState<QrCodeGenerateResult | null>(null);
  useEffect(() => {
    let alive = true;
    if (link) {
      void import('uqr').then(
        ({ encode }) => { if (alive) setMatrix(encode(link, { ecc: 'M', border: 2 })); },
        () => {},
      );
    }
    return () => { alive = false; };
  }, [link]);
  return matrix;
}

/** Code, link and picture of the table, to be sent or scanned; the host may send guests away. */
export function Invitation({ onClose, table }: { onClose: () => void; table: TableState }) {
  const known = invited.value?.table === table.view.table ? invited.value : null;
  const [seen, setSeen] = useState<PrivateTable | null>(null);
  useEffect(() => {
    if (known) void ask<PrivateTable>('GET /v1/private-tables/{code}', { path: { code: known.code } }, true).then(setSeen);
  }, [known?.code]);
  const matrix = useQr(known?.link ?? null);
  if (!known) return <Sheet title={say('invite')} onClose={onClose}><p>{say('nothing_here')}</p></Sheet>;
  const copy = () => { void navigator.clipboard?.writeText(known.link).then(() => tell(say('copied'))); };
  const isHost = seen?.host === me.value?.id;
  const quiet = table.view.phase.type !== 'playing';
  return (
    <Sheet title={say('invite')} onClose={onClose}>
      <p>{say('invite_note')}</p>
      {matrix ? (
        <svg class="qr" viewBox={`0 0 ${matrix.size} ${matrix.size}`} role="img" aria-label={known.link} shape-rendering="crispEdges">
          <rect width={matrix.size} height={matrix.size} class="qr-paper" />
          <path d={matrix.data.flatMap((row, y) => row.map((on, x) => on ? `M${x} ${y}h1v1h-1z` : '')).join('')} class="qr-ink" />
        </svg>
      ) : null}
      <p class="code-big"><b>{known.code}</b></p>
      <p class="code-link"><a href={known.link}>{known.link}</a></p>
      <div class="list">
        {'share' in navigator ? <button type="button" class="act gold" onClick={() => { void navigator.share({ url: known.link }).catch(() => {}); }}>{say('share')}</button> : null}
        <button type="button" class="plain" onClick={copy}>{say('copy_link')}</button>
        {isHost && quiet ? table.view.seats.map((seat) => !seat || seat.player === me.value?.id ? null : (
          <button type="button" class="plain warn" key={seat.player}
            onClick={() => { void ask('DELETE /v1/private-tables/{code}/players/{id}', { path: { code: known.code, id: seat.player } }); }}>{say('send_away', { name: seat.name })}</button>
        )) : null}
      </div>
    </Sheet>
  );
}

/** What a link leads to: the table as it is, and a button to sit down. */
export function Brought() {
  const code = brought.value;
  const [seen, setSeen] = useState<PrivateTable | null>(null);
  const [gone, setGone] = useState(false);
  const signedIn = me.value?.id;
  useEffect(() => {
    if (!code || !signedIn) return;
    void ask<PrivateTable>('GET /v1/private-tables/{code}', { path: { code } }).then((got) => {
      if (!got) { setGone(true); return; }
      setSeen(got);
      void loadGame(got.kind);
    });
  }, [code, signedIn]);
  const close = () => {
    brought.value = null;
    history.replaceState(null, '', '/play');
  };
  if (!code || gone) return null;
  return (
    <Sheet title={say('invited')} onClose={close}>
      {seen ? <p>{say('invited_terms', { game: titleOf(seen.kind), bet: coins(seen.bet), n: seen.players.length, seats: seen.seats })}</p> : <p>{say('loading')}</p>}
      <div class="list">
        <p class="code-big"><b>{code}</b></p>
        <button type="button" class="act gold" disabled={!seen} onClick={() => { void sit(code).then((ok) => { if (ok) close(); }); }}>{say('join')}</button>
      </div>
    </Sheet>
  );
}
