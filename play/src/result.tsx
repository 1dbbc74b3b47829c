// The result of a game: every hand, who pays whom and why, the POT and the crown. Shown at the table, in the
// history and at the end of a replay.
import type { FinishedGame, GameFolder } from './games/folder.ts';
import { loadedFolder } from './games/loading.ts';
import { me } from './house.ts';
import type { Item, Payment, Seat, Settlement } from './model.ts';
import { shortName } from './parts/index.tsx';
import { coinsText, isWord, say, signedCoins } from './words.ts';

/** Returns the coins that a seat has won or lost, in hundredths, without its ante. */
export function netCoins(settlement: Settlement, seat: Seat): number {
  const { payments, fees, pot } = settlement;
  const paid = payments.reduce((sum, one) => sum + (one.to === seat ? one.paid : 0) - (one.from === seat ? one.paid : 0), 0);
  const fee = fees.reduce((sum, one) => sum + (one.seat === seat ? one.fee : 0), 0);
  return paid - fee + (pot?.seat === seat ? pot.amount : 0);
}

/** Returns the counts that a seat has won or lost in practice, where no coins move. */
function netCount({ payments }: Settlement, seat: Seat): number {
  const sum = ({ items }: Payment) => items.reduce((all, one) => all + one.counts, 0);
  return payments.reduce((all, one) => all + (one.to === seat ? sum(one) : 0) - (one.from === seat ? sum(one) : 0), 0);
}

export function seatName(ended: FinishedGame, seat: Seat): string {
  return seat === ended.viewer ? say('you') : shortName(ended.seats[seat]?.name ?? '?');
}

export function titleOf(ended: FinishedGame): string {
  const { winner } = ended.settlement;
  if (winner === null) return say('nobody_wins');
  return winner === ended.viewer ? say('you_win') : say('name_wins', { name: seatName(ended, winner) });
}

export function itemName(name: string): string {
  const word = `item_${name}`;
  return isWord(word) ? say(word) : name;
}

function itemWords(folder: GameFolder, item: Item): string {
  return folder.itemWords?.(item) ?? `${folder.itemName?.(item.name) ?? itemName(item.name)} ${item.counts}`;
}

function Net({ ended, folder }: { ended: FinishedGame; folder: GameFolder }) {
  const { viewer, settlement, practice } = ended;
  if (viewer === null) return practice ? <span class="badge">{say('practice_mark')}</span> : null;
  const net = practice ? netCount(settlement, viewer) : netCoins(settlement, viewer);
  const shown = <span class={`net ${net >= 0 ? 'plus' : 'minus'}`}>{practice ? folder.countWords?.(net) ?? say('counts', { n: signedCount(net) }) : signedCoins(net)}</span>;
  return practice ? <>{shown}<span class="badge">{say('practice_mark')}</span></> : shown;
}

export function signedCount(count: number): string {
  return count > 0 ? `+${count}` : String(count).replace('-', '−');
}

export function Result({ ended }: { ended: FinishedGame }) {
  const folder = loadedFolder(ended.kind);
  if (!folder) return null;
  const { settlement, viewer } = ended;
  const { pot } = settlement;
  const name = (seat: Seat) => seatName(ended, seat);
  const taken = pot && say('pot_taken', { name: name(pot.seat), coins: coinsText(pot.amount) });
  return (
    <>
      <p class="ending-how"><span class="badge">{folder.ending(ended)}</span>
        <Net ended={ended} folder={folder} />
        {pot ? <span class="badge pot-badge">{pot.seat === viewer ? say('pot_won') : taken}</span> : null}
      </p>
      <folder.Showdown ended={ended} />
      <ul class="payments">
        {settlement.payments.map((payment) => (
          <li key={payment.from}>
            <b>{ended.practice ? name(payment.from) : say('pays', {
              from: name(payment.from), to: payment.to === viewer ? say('your') : name(payment.to), coins: coinsText(payment.paid) })}</b>
            <small>{payment.items.map((item) => itemWords(folder, item)).join(' · ')}
              {payment.paid < payment.owed ? ` · ${say('of_owed', { coins: coinsText(payment.owed) })}` : ''}</small>
          </li>
        ))}
        {settlement.fees.filter((one) => one.fee > 0).map((one) => (
          <li key={`fee${one.seat}`} class="quiet"><small>{say('fee_of', { coins: coinsText(one.fee), name: one.seat === viewer ? say('your') : name(one.seat) })}</small></li>
        ))}
        {pot ? <li class="gold-line"><b>{taken}</b></li> : null}
        {ended.crown && !pot ? <li><small>♛ {say('crown_now', { name: nameOfPlayer(ended, ended.crown.player), n: ended.crown.wins, of: ended.hitsToWin ?? 2 })}</small></li> : null}
      </ul>
    </>
  );
}

function nameOfPlayer(ended: FinishedGame, player: string): string {
  if (player === me.value?.id) return say('you');
  return shortName(ended.seats.find((seat) => seat?.player === player)?.name ?? '?');
}
