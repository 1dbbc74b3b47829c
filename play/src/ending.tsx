// The end of a game: its result, the check of the deal, and the way to the next one. It stays until the
// player continues, even if the seat is lost meanwhile.
import { signal } from '@preact/signals';
import { useEffect, useState } from 'preact/hooks';
import { DealSheet } from './deal.tsx';
import type { Ended, GameFolder } from './games/folder.ts';
import { aside, client, leaveTable, lost, me, online, refreshWallet, shownTable, table, type TableTold } from './house.ts';
import type { Seat, Settlement, TableView } from './model.ts';
import { anchor, burst, throwGhost } from './motion.ts';
import { After } from './after.tsx';
import { Ring, Sheet } from './parts/index.tsx';
import { Result, titleOf } from './result.tsx';
import { settings } from './settings.ts';
import { buzz, sound } from './sound.ts';
import { again } from './ways.ts';
import { isWord, say } from './words.ts';

/** The last finished game, until the player continues. */
export const ended = signal<Ended | null>(null);
/** True while the result is shown in full; false while only a notice of it is shown. */
export const reading = signal(true);
/** The game's own details of its end, until the table reports that the game is over. */
let detail: unknown = null;
/** The game whose coins have been animated. */
let flown: string | null = null;

/** Records the end of a game from a table's changes. */
export function onEnd(told: TableTold, folder: GameFolder) {
  const found = folder.ended(told);
  if (found) detail = found;
  for (const event of told.events) {
    if (event.type === 'over') {
      const { terms, kind, seat, table: id } = told.after;
      reading.value = aside.value === null;
      ended.value = {
        game: String(event['game']), kind, table: id, room: terms.room, viewer: seat, seats: [...(told.before ?? told.after).seats],
        settlement: event['settlement'] as Settlement, hitsToWin: terms.hits?.to_win ?? null, practice: terms.practice === true,
        pot: null, crown: null, detail: detail ?? {},
      };
      detail = null;
    }
    const known = ended.value;
    if (event.type === 'settled' && known && known.game === event['game']) {
      ended.value = { ...known, pot: Number(event['pot']), crown: event['crown'] as Ended['crown'] };
      void refreshWallet();
    }
    if (event.type === 'game' && (event['event'] as { type: string }).type === 'dealt') ended.value = null;
  }
}

const LOOK_MS = 1100;

function close() {
  ended.value = null;
  lost.value = null;
}

export function Ending() {
  const now = ended.value;
  // The cards are shown first, if they are visible.
  const isSeen = now?.game === flown || settings.still.value || shownTable.value === null;
  const [open, setOpen] = useState(isSeen);
  const [checks, setChecks] = useState(false);
  useEffect(() => {
    if (!now || flown === now.game) return;
    flown = now.game;
    if (shownTable.value) flyCoins(now);
    const won = now.settlement.winner === now.viewer;
    (won ? sound.win : sound.lose)();
    if (won) buzz([40, 60, 40]);
    settings.played.value = true;
    const timer = setTimeout(() => setOpen(true), LOOK_MS);
    return () => clearTimeout(timer);
  }, [now?.game]);
  if (!now || !open) return null;
  if (checks) return <DealSheet game={now.game} seats={now.seats.map((seat) => seat?.name ?? '')} onClose={() => setChecks(false)} />;
  const view = shownTable.value?.view ?? null;
  const go = () => { close(); leaveTable(); };
  const why = lost.value === null || isAlone(now) ? null : `lost_${lost.value}`;
  return (
    <Sheet title={titleOf(now)} wide onClose={view ? undefined : close} onBack={view ? go : close}>
      <div class={`ending ${now.settlement.winner !== null && now.settlement.winner === now.viewer ? 'won' : ''}`}>
        {why ? <p class="ending-lost" role="status">{isWord(why) ? say(why) : say('lost_not_seated')}</p> : null}
        <Result ended={now} />
        <div class="ending-foot">
          {now.practice ? null : <button type="button" class="plain" onClick={() => setChecks(true)}>{say('check_deal')}</button>}
          {now.practice ? null : <After game={now} onGone={close} />}
          {view ? <button type="button" class="plain warn" onClick={go}>{say('leave')}</button>
            : <button type="button" class="plain" onClick={close}>{say('home')}</button>}
          {view ? <ReadyButton view={view} hurries={!isAlone(now)} /> : <AgainButton ended={now} />}
        </div>
      </div>
    </Sheet>
  );
}

/** Returns whether all other players are bots. */
function isAlone({ seats }: Ended): boolean {
  return seats.every((seat) => seat === null || seat.bot || seat.player === me.value?.id);
}

function ReadyButton({ view, hurries }: { view: TableView; hurries: boolean }) {
  const { phase } = view;
  if (phase.type === 'preparing') {
    const ready = view.seat !== null && phase.ready.includes(view.seat);
    if (ready) return <button type="button" class="act gold big" disabled><span>{say('ready_done')}</span></button>;
    return (
      <button type="button" class="act gold big ready" disabled={!online.value} onClick={() => void client.ready()}>
        <span>{say('next_game')}</span>
        {online.value ? hurries ? <Ring key={phase.deadline_ms} deadline={phase.deadline_ms} total={view.terms.clocks.prepare_ms} loud /> : null
          : <small>{say('why_offline')}</small>}
      </button>
    );
  }
  const words = phase.type === 'waiting' ? say('waiting_players') : phase.type === 'settling' ? say('counting') : say('dealing');
  return <button type="button" class="act big" disabled><span>{words}</span></button>;
}

/** The button after the seat was lost: it seeks the next game as the last one was found. */
function AgainButton({ ended: last }: { ended: Ended }) {
  return (
    <button type="button" class="act gold big ready" disabled={!online.value || table.value !== null}
      onClick={() => { close(); again(last); }}><span>{say(isAlone(last) ? 'next_game' : 'find_another')}</span></button>
  );
}

/** Animates the coins from losers to winners one by one, the fee to the house, and the POT to its winner. */
function flyCoins({ settlement, viewer }: Ended) {
  const place = (seat: Seat) => anchor(`seat-${seat}`) ?? (seat === viewer ? anchor('wallet') : null);
  let delay = 250;
  for (const { from, to, paid } of settlement.payments) {
    const [begin, end] = [place(from), place(to)];
    if (!begin || !end || paid === 0) continue;
    const flying = Math.min(7, Math.max(1, Math.round(paid / 100)));
    for (let i = 0; i < flying; i += 1) {
      throwGhost('coin-ghost', begin, end, { delay: delay + i * 70, duration: 420 });
      setTimeout(sound.chip, delay + i * 70);
    }
    delay += 180;
  }
  if (settlement.pot) {
    const [pot, to] = [anchor('pot'), place(settlement.pot.seat)];
    burst(document.querySelector('[data-anchor="pot"]'));
    for (let i = 0; i < 12 && pot && to; i += 1) throwGhost('coin-ghost', pot, to, { delay: delay + 250 + i * 45, duration: 520 });
  }
}
