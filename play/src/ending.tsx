// The end of a game: its result, the check of the deal, and the way to the next one. It stays until the
// player continues, even if the seat is lost meanwhile.
import { signal } from '@preact/signals';
import { useEffect, useState } from 'preact/hooks';
import { DealSheet } from './deal.tsx';
import type { FinishedGame, GameFolder } from './games/folder.ts';
import { leftTable, client, leaveTable, lostSeat, me, online, refreshWallet, shownTable, table, type TableChange } from './house.ts';
import type { Seat, Settlement, TableView } from './model.ts';
import { anchor, animateBurst, throwGhost } from './motion.ts';
import { AfterGame } from './after_game.tsx';
import { finishedGame, shownTournament } from './overlays.ts';
import { Ring, Sheet } from './parts/index.tsx';
import { Result, titleOf } from './result.tsx';
import { settings } from './settings.ts';
import { vibrate, sound } from './sound.ts';
import { playAgain } from './table_entry.ts';
import { isWord, say } from './words.ts';

/** True while the result is shown in full; false while only a notice of it is shown. */
export const isResultShown = signal(true);
/** The game's own details of its end, until the table reports that the game is over. */
let detail: unknown = null;
/** The game whose coins have been animated. */
let animatedGame: string | null = null;

/** Records the end of a game from a table's changes. */
export function recordEnd(change: TableChange, folder: GameFolder) {
  const found = folder.endDetail(change);
  if (found) detail = found;
  for (const event of change.events) {
    if (event.type === 'over') {
      const { terms, kind, seat, table: id } = change.after;
      isResultShown.value = leftTable.value === null;
      finishedGame.value = {
        game: String(event['game']), kind, table: id, room: terms.room, viewer: seat, seats: [...(change.before ?? change.after).seats],
        settlement: event['settlement'] as Settlement, hitsToWin: terms.hits?.to_win ?? null, practice: terms.practice === true,
        tournament: terms.tournament?.tournament ?? null,
        pot: null, crown: null, detail: detail ?? {},
      };
      detail = null;
    }
    const known = finishedGame.value;
    if (event.type === 'settled' && known && known.game === event['game']) {
      finishedGame.value = { ...known, pot: Number(event['pot']), crown: event['crown'] as FinishedGame['crown'] };
      void refreshWallet();
    }
    if (event.type === 'game' && (event['event'] as { type: string }).type === 'dealt') finishedGame.value = null;
  }
}

const LOOK_MS = 1100;

function close() {
  finishedGame.value = null;
  lostSeat.value = null;
}

export function Ending() {
  const now = finishedGame.value;
  // The cards are shown first, if they are visible.
  const isSeen = now?.game === animatedGame || settings.still.value || shownTable.value === null;
  const [open, setOpen] = useState(isSeen);
  const [checks, setChecks] = useState(false);
  useEffect(() => {
    if (!now || animatedGame === now.game) return;
    animatedGame = now.game;
    if (shownTable.value) flyCoins(now);
    const won = now.settlement.winner === now.viewer;
    (won ? sound.win : sound.lose)();
    if (won) vibrate([40, 60, 40]);
    settings.played.value = true;
    const timer = setTimeout(() => setOpen(true), LOOK_MS);
    return () => clearTimeout(timer);
  }, [now?.game]);
  if (!now || !open) return null;
  if (checks) return <DealSheet game={now.game} seats={now.seats.map((seat) => seat?.name ?? '')} onClose={() => setChecks(false)} />;
  const view = shownTable.value?.view ?? null;
  const go = () => { close(); leaveTable(); };
  const why = lostSeat.value === null || isAlone(now) || (now.tournament && lostSeat.value === 'finished') ? null : `lost_${lostSeat.value}`;
  return (
    <Sheet title={titleOf(now)} wide onClose={view ? undefined : close} onBack={view ? go : close}>
      <div class={`ending ${now.settlement.winner !== null && now.settlement.winner === now.viewer ? 'won' : ''}`}>
        {why ? <p class="ending-lost" role="status">{isWord(why) ? say(why) : say('lost_not_seated')}</p> : null}
        <Result ended={now} />
        <div class="ending-foot">
          {now.practice ? null : <button type="button" class="plain" onClick={() => setChecks(true)}>{say('check_deal')}</button>}
          {now.practice || now.tournament ? null : <AfterGame game={now} onGone={close} />}
          {view ? <button type="button" class="plain warn" onClick={go}>{say('leave')}</button>
            : <button type="button" class="plain" onClick={close}>{say('home')}</button>}
          {view ? <ReadyButton view={view} hurries={!isAlone(now)} /> : now.tournament ? <TournamentButton id={now.tournament} /> : <AgainButton ended={now} />}
        </div>
      </div>
    </Sheet>
  );
}

/** Returns whether all other players are bots. */
function isAlone({ seats }: FinishedGame): boolean {
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
  const words = phase.type === 'waiting' ? say('waiting_players') : phase.type === 'settling' ? say('counting') : say('all_ready');
  return <button type="button" class="act big" disabled><span>{words}</span></button>;
}

/** The button after the last game at a table of a tournament. */
function TournamentButton({ id }: { id: string }) {
  return (
    <button type="button" class="act gold big ready" onClick={() => { close(); shownTournament.value = { id }; }}><span>{say('to_tournament')}</span></button>
  );
}

/** The button after the seat was lost: it seeks the next game as the last one was found. */
function AgainButton({ ended: last }: { ended: FinishedGame }) {
  return (
    <button type="button" class="act gold big ready" disabled={!online.value || table.value !== null}
      onClick={() => { close(); playAgain(last); }}><span>{say(isAlone(last) ? 'next_game' : 'find_another')}</span></button>
  );
}

/** Animates the coins from losers to winners one by one, the fee to the house, and the POT to its winner. */
function flyCoins({ settlement, viewer }: FinishedGame) {
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
    animateBurst(document.querySelector('[data-anchor="pot"]'));
    for (let i = 0; i < 12 && pot && to; i += 1) throwGhost('coin-ghost', pot, to, { delay: delay + 250 + i * 45, duration: 520 });
  }
}
