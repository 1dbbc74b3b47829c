// The rooms of each game, the cheapest first, with the reason why one is not open to this wallet.
import { useEffect } from 'preact/hooks';
import { findGame, ruleSetTitles } from '../games/list.ts';
import { byBet, lossMax, refreshRooms, roomName, rooms, seatsOf, tellRefusal, wallet, closedReason } from '../house.ts';
import type { Room } from '../model.ts';
import { Coin, Sheet } from '../parts/index.tsx';
import { seekIn } from '../table_entry.ts';
import { coinsText, say } from '../words.ts';

/** Returns the title of a room's rule set. */
function rulesOf(room: Room): string {
  const game = findGame(room.kind);
  return game && ruleSetTitles(game).find(([name]) => name === room.rule_set)?.[1] || '';
}

function roomSummary(room: Room): string {
  return [room.hits_to_win ? say('hits_pot', { n: room.hits_to_win }) : seatsOf(room), rulesOf(room)].filter((text) => text !== '').join(' · ');
}

export function Rooms({ onClose }: { onClose: () => void }) {
  useEffect(() => { void refreshRooms(); }, []);
  const all = rooms.value;
  const games = [...new Set((all ?? []).map((room) => room.game))];
  return (
    <Sheet title={say('rooms')} onClose={onClose} wide>
      {all === null ? <p>{say('loading')}</p> : games.map((game) => (
        <section key={game} class="rooms">
          <h3>{game}</h3>
          {byBet(all.filter((room) => room.game === game)).map((room) => <RoomOffer key={room.id} room={room} />)}
        </section>
      ))}
    </Sheet>
  );
}

function RoomOffer({ room }: { room: Room }) {
  const why = closedReason(room, wallet.value ?? 0);
  // A missing password can be set at once, as the house's refusal explains.
  const mayAsk = why === null || why.type === 'account';
  return (
    <button type="button" class={`room ${why ? 'barred' : ''}`} disabled={!mayAsk}
      onClick={() => { if (why) tellRefusal('account_required'); else void seekIn([room.id]); }}>
      <b>{roomName(room)}</b>
      <span class="room-bet"><Coin /> {coinsText(room.bet)}</span>
      <small>{why ? why.text : room.players > 0 ? say('playing_now', { n: room.players }) : say('wallet_from', { coins: coinsText(room.wallet_min) })}</small>
      {lossMax(room) ? <small>{say('loss_max', { coins: coinsText(lossMax(room)!) })}</small> : null}
      <small>{roomSummary(room)}</small>
    </button>
  );
}
