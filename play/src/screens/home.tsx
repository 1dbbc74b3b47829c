// The first page: a table is being dealt behind the greeting, and one button leads to it.
import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { Back, Face } from '../cards.tsx';
import { GAMES, listed, setsOf, titleOf } from '../games/list.ts';
import { loadGame } from '../games/loading.ts';
import type { Room } from '../model.ts';
import { client, lost, me, openRooms, refreshRewards, refreshRooms, rewards, roomName, rooms, seek, tell, wallet } from '../house.ts';
import { Amount, Avatar, Coin, Sheet } from '../parts/index.tsx';
import { readyAtOnce } from '../table.tsx';
import { coins, say } from '../words.ts';
import { refusalText } from '../refusals.ts';
import { settings } from '../settings.ts';
import { Boards } from './boards.tsx';
import { Friends } from './friends.tsx';
import { History } from './history.tsx';
import { Practice } from './practice.tsx';
import { RewardsSheet } from './rewards.tsx';
import { NameAsk, SettingsSheet } from './settings.tsx';

export const page = signal<'none' | 'practice' | 'rooms' | 'friends' | 'rewards' | 'boards' | 'history' | 'settings'>('none');

/** Play was touched before it was known where. */
const eager = signal(false);

/** Plays in these rooms: the house finds a table, and the first game begins by itself. */
export async function playIn(ids: string[]) {
  page.value = 'none';
  lost.value = null;
  readyAtOnce.value = true;
  // Its game is loaded while a table is looked for.
  for (const room of rooms.value ?? []) if (ids.includes(room.id)) void loadGame(room.kind);
  const outcome = await client.seek(ids);
  if (outcome.type === 'refused' && outcome.code === 'too_few_coins') page.value = 'rewards';
}

export function Home() {
  const room = openRooms.value.find((one) => one.kind === GAMES[0].kind) ?? openRooms.value[0];
  useEffect(() => { if (me.value) void refreshRewards(); }, [me.value?.id]);
  const claimable = rewards.value?.daily.claimable || rewards.value?.relief.claimable;
  const close = () => { page.value = 'none'; };
  // Who touches it at once plays as soon as the rooms are known. What it has decides which of them are
  // open to it; who has not played yet has its welcome, and the house says otherwise.
  const mayAsk = wallet.value !== null || !settings.played.value;
  const none = rooms.value !== null && wallet.value !== null && !room;
  useEffect(() => {
    if (!eager.value || !room || !mayAsk) return;
    eager.value = false;
    void playIn([room.id]);
  }, [eager.value, room?.id, mayAsk]);
  return (
    <main class="home">
      <header class="bar">
        <button type="button" class="pill who" onClick={() => { page.value = 'settings'; }}>
          <Avatar name={me.value?.name ?? ''} picture={me.value?.avatar ?? null} /> <span class="sr">{say('settings')}:</span> <span>{me.value?.name ?? ' '}</span></button>
        <span class="pill"><Coin /> <Amount value={wallet.value ?? 0} /></span>
      </header>
      <div class="deal-behind" aria-hidden="true">
        {['AS', 'KH', '7D', '8D', '9D', 'QC', '5H'].map((card, i) => (
          <span class={`card fall fall-${i}`} key={card}>{i % 3 === 2 ? <Back /> : <Face card={card} />}</span>
        ))}
      </div>
      <section class="welcome">
        <h1>Bahay</h1>
        <p>{say('greeting')}</p>
        <NameAsk />
        <button type="button" class="act gold huge" disabled={eager.value}
          onClick={() => { if (none) page.value = 'rewards'; else eager.value = true; }}>
          <span>{say('play')}</span>
          <small>{eager.value ? say('loading') : none ? say('out_of_coins') : room ? say('play_note', { game: room.game, bet: coins(room.bet) }) : 'Tong-its'}</small>
        </button>
        <div class="ways-in">
        <Others but={room?.kind ?? null} />
        <button type="button" class="act practise" onClick={() => { page.value = 'practice'; }}>
          <span>{say('practice')}</span><small>{say('practice_mark')}</small>
        </button>
        </div>
        <nav class="tiles" aria-label={say('menu')}>
          {(['rooms', 'friends', 'rewards', 'boards', 'history', 'settings'] as const).map((name) => (
            <button type="button" class={`tile ${name === 'rewards' && claimable ? 'glow' : ''}`} key={name} onClick={() => { page.value = name; }}>
              <Icon name={name} /><span>{say(name)}</span>
            </button>
          ))}
        </nav>
      </section>
      {page.value === 'practice' ? <Practice onClose={close} /> : null}
      {page.value === 'rooms' ? <Rooms onClose={close} /> : null}
      {page.value === 'friends' ? <Friends onClose={close} /> : null}
      {page.value === 'rewards' ? <RewardsSheet onClose={close} /> : null}
      {page.value === 'boards' ? <Boards onClose={close} /> : null}
      {page.value === 'history' ? <History onClose={close} /> : null}
      {page.value === 'settings' ? <SettingsSheet onClose={close} whole /> : null}
    </main>
  );
}

/** The other games, each in its cheapest room that this wallet may sit in. */
function Others({ but }: { but: string | null }) {
  const found = GAMES.filter(({ kind }) => kind !== but)
    .flatMap(({ kind }) => openRooms.value.find((one) => one.kind === kind) ?? []);
  if (found.length === 0) return null;
  return (
    <div class="others">
      {found.map((room) => (
        <button type="button" key={room.kind} class="act" onClick={() => void playIn([room.id])}>
          <span>{titleOf(room.kind)}</span><small>{say('bet', { coins: coins(room.bet) })} · {seatsOf(room)}</small>
        </button>
      ))}
    </div>
  );
}

function seatsOf(room: Room): string {
  return say('seats_n', { n: room.seats_min === room.seats ? room.seats : `${room.seats_min}–${room.seats}` });
}

/** What its rules are called, as its game says. */
function rulesOf(room: Room): string {
  const game = listed(room.kind);
  return game && setsOf(game).find(([name]) => name === room.rule_set)?.[1] || '';
}

const ICONS: Record<string, string> = {
  rooms: 'M4 20V9l8-6 8 6v11h-5v-6H9v6H4Z',
  friends: 'M8 11a4 4 0 1 1 0-8 4 4 0 0 1 0 8Zm9 1a3 3 0 1 1 0-6 3 3 0 0 1 0 6ZM1 21c0-5 3-8 7-8s7 3 7 8H1Zm15 0c0-3-1-5-2-6 1-1 2-1 3-1 3 0 6 2 6 7h-7Z',
  rewards: 'M3 11h18v10H3V11Zm0-1V7h5c-2-1-3-3-1-4 2-2 4 1 5 3 1-2 3-5 5-3 2 1 1 3-1 4h5v3H3Zm8 1h2v10h-2V11Z',
  boards: 'M7 3h10v2h4c0 5-2 7-5 7-1 2-2 3-3 3v3h4v3H7v-3h4v-3c-1 0-2-1-3-3-3 0-5-2-5-7h4V3Z',
  history: 'M12 3a9 9 0 1 1-8 5l2 1a7 7 0 1 0 6-4v3L7 4l5-4v3Zm-1 4h2v5l4 2-1 2-5-3V7Z',
  settings: 'M10 2h4l.6 3 2.400 1.400L20 5l2 3.500-2.300 2.100v2.800L22 15.500 20 19l-3-1.400L14.600 19l-.6 3h-4l-.6-3L7 17.600 4 19l-2-3.500 2.300-2.100v-2.800L2 8.500 4 5l3 1.400L9.400 5 10 2Zm2 6.500a3.500 3.500 0 1 0 0 7 3.500 3.500 0 0 0 0-7Z',
};

function Icon({ name }: { name: string }) {
  return <svg class="icon" viewBox="0 0 24 24" aria-hidden="true"><path d={ICONS[name] ?? ''} /></svg>;
}

function Rooms({ onClose }: { onClose: () => void }) {
  useEffect(() => { void refreshRooms(); }, []);
  const all = rooms.value;
  const kinds = [...new Set((all ?? []).map((room) => room.game))];
  const why = (id: string): string | null => {
    const room = all?.find((one) => one.id === id);
    if (!room) return null;
    if (!room.is_open) return say('room_closed_note');
    if (room.needs_account) return say('account_note');
    const held = wallet.value ?? 0;
    if (held < room.wallet_min) return say('wallet_from', { coins: coins(room.wallet_min) });
    return room.wallet_max !== null && held > room.wallet_max ? say('wallet_to', { coins: coins(room.wallet_max) }) : null;
  };
  return (
    <Sheet title={say('rooms')} onClose={onClose} wide>
      {all === null ? <p>{say('loading')}</p> : kinds.map((game) => (
        <section key={game} class="rooms">
          <h3>{game}</h3>
          {all.filter((room) => room.game === game).map((room) => {
            const not = why(room.id);
            return (
              <button type="button" key={room.id} class="room" disabled={not !== null && not !== say('account_note')}
                onClick={() => { if (not) tell(refusalText('account_required')); else void playIn([room.id]); }}>
                <b>{roomName(room)}</b>
                <span class="room-bet"><Coin /> {coins(room.bet)}</span>
                <small>{not ?? (room.players > 0 ? say('playing_now', { n: room.players }) : say('wallet_from', { coins: coins(room.wallet_min) }))}</small>
                <small>{[room.hits_to_win ? say('hits_pot', { n: room.hits_to_win }) : seatsOf(room), rulesOf(room)].filter((text) => text !== '').join(' · ')}</small>
              </button>
            );
          })}
        </section>
      ))}
    </Sheet>
  );
}

/** While a table is looked for. */
export function Seeking() {
  const now = seek.value;
  if (!now || (now.state !== 'waiting' && now.state !== 'asking')) return null;
  const room = rooms.value?.find((one) => one.id === now.rooms[0]);
  return (
    <Sheet title={say('seeking')}>
      <div class="seeking" role="status">
        <i class="shuffle" aria-hidden="true"><i /><i /><i /></i>
        {room ? <p><b>{say('seeking_room', { room: roomName(room), bet: coins(room.bet) })}</b></p> : null}
        <p>{say(now.reason === 'only_same_network' ? 'seeking_network' : 'seeking_note')}</p>
        <button type="button" class="plain" onClick={() => { readyAtOnce.value = false; void client.cancelSeek(); }}>{say('cancel')}</button>
      </div>
    </Sheet>
  );
}
