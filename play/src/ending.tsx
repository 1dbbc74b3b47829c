// The end of a game: who won by what, everybody's cards, who pays whom and for what, the POT, the
// crown; the check of the deal; and the ring to be ready for the next game.
import { signal } from '@preact/signals';
import { useEffect, useRef, useState } from 'preact/hooks';
import { DealSheet } from './deal.tsx';
import type { Ended, GameFolder } from './games/folder.ts';
import { folderOf } from './games/loading.ts';
import { client, leaveTable, me, refreshWallet, table, type TableTold } from './house.ts';
import type { Seat, Settlement } from './model.ts';
import { anchor, burst, throwGhost } from './motion.ts';
import { Ring, Sheet, shortName } from './parts/index.tsx';
import { firstGameOver, settings } from './settings.ts';
import { buzz, sound } from './sound.ts';
import { coins, isWord, say, signed } from './words.ts';

export const ended = signal<Ended | null>(null);
/** Its cards have been looked at: the money may fly. */
let detail: unknown = null;

/** Follows what the table tells of an end. */
export function onEnd(told: TableTold, folder: GameFolder) {
  const found = folder.ended(told);
  if (found) detail = found;
  for (const event of told.events) {
    if (event.type === 'over') {
      const before = told.before ?? told.after;
      ended.value = {
        game: String(event['game']), kind: told.after.kind, viewer: told.after.seat, seats: [...before.seats],
        settlement: event['settlement'] as Settlement, hitsToWin: told.after.terms.hits?.to_win ?? null, practice: told.after.terms.practice === true,
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

/** What a seat has won or lost, without its ante. */
export function netOf(settlement: Settlement, seat: Seat): number {
  const { payments, fees, pot } = settlement;
  const paid = payments.reduce((sum, one) => sum + (one.to === seat ? one.paid : 0) - (one.from === seat ? one.paid : 0), 0);
  const fee = fees.reduce((sum, one) => sum + (one.seat === seat ? one.fee : 0), 0);
  return paid - fee + (pot?.seat === seat ? pot.amount : 0);
}

const LOOK_MS = 1100;

export function Ending() {
  const [open, setOpen] = useState(settings.still.value);
  const [checks, setChecks] = useState(false);
  const flown = useRef(false);
  const now = ended.value;
  useEffect(() => {
    if (!now || flown.current) return;
    flown.current = true;
    flyCoins(now);
    const won = now.settlement.winner === now.viewer;
    (won ? sound.win : sound.lose)();
    if (won) buzz([40, 60, 40]);
    const timer = setTimeout(() => setOpen(true), LOOK_MS);
    return () => clearTimeout(timer);
  }, [now?.game]);
  if (!now || !open) return null;
  const folder = folderOf(now.kind)!;
  const { settlement, viewer } = now;
  const name = (seat: Seat) => seat === viewer ? say('you') : shortName(now.seats[seat]?.name ?? '?');
  const won = settlement.winner !== null && settlement.winner === viewer;
  const title = settlement.winner === null ? say('nobody_wins') : won ? say('you_win') : say('name_wins', { name: name(settlement.winner) });
  const net = viewer === null ? 0 : netOf(settlement, viewer);
  if (checks) return <DealSheet game={now.game} seats={now.seats.map((seat) => seat?.name ?? '')} onClose={() => setChecks(false)} />;
  return (
    <Sheet title={title} wide>
      <div class={`ending ${won ? 'won' : ''}`}>
        <p class="ending-how"><span class="badge">{folder.ending(now)}</span>
          {now.practice ? <span class="badge">{say('practice_mark')}</span> : viewer === null ? null : <span class={`net ${net >= 0 ? 'plus' : 'minus'}`}>{signed(net)}</span>}
          {settlement.pot ? <span class="badge pot-badge">{settlement.pot.seat === viewer ? say('pot_won') : say('pot_taken', { name: name(settlement.pot.seat), coins: coins(settlement.pot.amount) })}</span> : null}
        </p>
        <folder.Showdown ended={now} />
        <ul class="payments">
          {settlement.payments.map((payment) => (
            <li key={payment.from}>
              <b>{now.practice ? name(payment.from) : say(payment.from === viewer ? 'you_pay' : 'pays', {
                from: name(payment.from), to: payment.to === viewer ? say('your') : name(payment.to), coins: coins(payment.paid) })}</b>
              <small>{payment.items.map((item) => `${folder.itemName?.(item.name) ?? itemName(item.name)} ${item.counts}`).join(' · ')}
                {payment.paid < payment.owed ? ` · ${say('of_owed', { coins: coins(payment.owed) })}` : ''}</small>
            </li>
          ))}
          {settlement.fees.filter((one) => one.fee > 0).map((one) => (
            <li key={`fee${one.seat}`} class="quiet"><small>{say('fee_of', { coins: coins(one.fee), name: one.seat === viewer ? say('your') : name(one.seat) })}</small></li>
          ))}
          {settlement.pot ? <li class="gold-line"><b>{say(settlement.pot.seat === viewer ? 'you_take_pot' : 'pot_taken', { name: name(settlement.pot.seat), coins: coins(settlement.pot.amount) })}</b></li> : null}
          {now.crown && !settlement.pot ? <li><small>♛ {say('crown_now', { name: nameOfPlayer(now, now.crown.player), n: now.crown.wins, of: now.hitsToWin ?? 2 })}</small></li> : null}
        </ul>
        <div class="ending-foot">
          {now.practice ? null : <button type="button" class="plain" onClick={() => setChecks(true)}>{say('check_deal')}</button>}
          <button type="button" class="plain warn" onClick={() => { ended.value = null; leaveTable(); }}>{say('leave')}</button>
          <ReadyButton kind={now.kind} />
        </div>
      </div>
    </Sheet>
  );
}

function nameOfPlayer(now: Ended, player: string): string {
  if (player === me.value?.id) return say('you');
  return shortName(now.seats.find((seat) => seat?.player === player)?.name ?? '?');
}

export function itemName(name: string): string {
  const word = `item_${name}`;
  return isWord(word) ? say(word) : name;
}

function ReadyButton({ kind }: { kind: string }) {
  const view = table.value?.view;
  const phase = view?.phase;
  useEffect(() => {
    settings.played.value = true;
    firstGameOver(kind);
  }, []);
  if (!view || !phase) return null;
  if (phase.type === 'preparing') {
    const ready = view.seat !== null && phase.ready.includes(view.seat);
    if (ready) return <button type="button" class="act gold big" disabled><span>{say('ready_done')}</span></button>;
    return (
      <button type="button" class="act gold big ready" onClick={() => void client.ready()}>
        <span>{say('next_game')}</span>
        <Ring key={phase.deadline_ms} deadline={phase.deadline_ms} total={view.terms.clocks.prepare_ms} loud />
      </button>
    );
  }
  const words = phase.type === 'waiting' ? say('waiting_players') : phase.type === 'settling' ? say('counting') : say('dealing');
  return <button type="button" class="act big" disabled onClick={() => { ended.value = null; }}><span>{words}</span></button>;
}

/** Coins from loser to winner one by one, the fee to the house, the POT to whoever takes it. */
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
