// The first page: a dealt table behind the greeting, and one button that leads to a table.
import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { Back, Face } from '../cards.tsx';
import { GAMES, titleOf } from '../games/list.ts';
import { byBet, client, lossMax, me, openRooms, refreshRewards, rewards, roomName, rooms, seatsOf, seek, unread, wallet, closedReason } from '../house.ts';
import type { Room } from '../model.ts';
import { areNoticesShown } from '../overlays.ts';
import { Amount, Avatar, Coin, Sheet } from '../parts/index.tsx';
import { settings } from '../settings.ts';
import { page, seekIn, readyAtOnce } from '../table_entry.ts';
import { coinsText, say } from '../words.ts';
import { Boards, Friends, History, Practice, RewardsSheet, Rooms, SettingsSheet, Tournaments } from './index.ts';
import { asksName, NameAsk } from './name.tsx';
import { Strip } from './strip.tsx';

/** True if Play was touched before the rooms were known. */
const wantsToPlay = signal(false);

export function Home() {
  const room = openRooms.value.find((one) => one.kind === GAMES[0].kind) ?? openRooms.value[0];
  useEffect(() => { if (me.value) void refreshRewards(); }, [me.value?.id]);
  const claimable = rewards.value?.daily.claimable || rewards.value?.relief.claimable;
  const close = () => { page.value = 'none'; };
  // An early touch takes effect once the rooms are known. The wallet decides which rooms are open; a new
  // player has the welcome grant, and the house refuses otherwise.
  const mayAsk = wallet.value !== null || !settings.played.value;
  const none = rooms.value !== null && wallet.value !== null && !room;
  useEffect(() => {
    if (!wantsToPlay.value || !room || !mayAsk) return;
    wantsToPlay.value = false;
    void seekIn([room.id]);
  }, [wantsToPlay.value, room?.id, mayAsk]);
  return (
    <main class={`home ${asksName() ? 'asks' : ''}`}>
      <header class="bar">
        <button type="button" class="pill who" onClick={() => { page.value = 'settings'; }}>
          <Avatar name={me.value?.name ?? ''} picture={me.value?.avatar ?? null} /> <span class="sr">{say('settings')}:</span> <span>{me.value?.name ?? ' '}</span></button>
        <span class="pill"><Coin /> <Amount value={wallet.value ?? 0} /></span>
        <NoticesButton />
      </header>
      <div class="deal-behind" aria-hidden="true">
        {['AS', 'KH', '7D', '8D', '9D', 'QC', '5H'].map((card, i) => (
          <span class={`card fall fall-${i}`} key={card}>{i % 3 === 2 ? <Back /> : <Face card={card} />}</span>
        ))}
      </div>
      <section class="welcome">
        <Strip />
        <h1>Bahay</h1>
        <p>{say('greeting')}</p>
        <NameAsk />
        <button type="button" class="act gold huge" disabled={wantsToPlay.value}
          onClick={() => { if (none) page.value = 'rewards'; else wantsToPlay.value = true; }}>
          <span>{say('play')}</span>
          <small>{wantsToPlay.value ? say('loading') : none ? say('out_of_coins') : room ? playNote(room) : 'Tong-its'}</small>
        </button>
        <div class="ways-in">
        <OtherGames but={room?.kind ?? null} />
        <div class="two-ways">
          <button type="button" class="act practise" onClick={() => { page.value = 'practice'; }}>
            <span>{say('practice')}</span><small>{say(settings.played.value ? 'practice_short' : 'practice_guide')}</small>
          </button>
          <button type="button" class="act" onClick={() => { page.value = 'tournaments'; }}>
            <span>{say('tournaments')}</span><small>{say('tournaments_short')}</small>
          </button>
        </div>
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
      {page.value === 'tournaments' ? <Tournaments onClose={close} /> : null}
      {page.value === 'rooms' ? <Rooms onClose={close} /> : null}
      {page.value === 'friends' ? <Friends onClose={close} /> : null}
      {page.value === 'rewards' ? <RewardsSheet onClose={close} /> : null}
      {page.value === 'boards' ? <Boards onClose={close} /> : null}
      {page.value === 'history' ? <History onClose={close} /> : null}
      {page.value === 'settings' ? <SettingsSheet onClose={close} whole /> : null}
    </main>
  );
}

function playNote(room: Room): string {
  const note = say('play_note', { game: room.game, bet: coinsText(room.bet) });
  const loss = lossMax(room);
  return loss ? `${note} · ${say('loss_max', { coins: coinsText(loss) })}` : note;
}

/** The other games, each with its cheapest open room, or with the requirement of that room. */
function OtherGames({ but }: { but: string | null }) {
  const held = wallet.value;
  const found = GAMES.filter(({ kind }) => kind !== but).flatMap(({ kind }) => {
    const all = byBet(rooms.value ?? []).filter((room) => room.kind === kind);
    return all.find((room) => openRooms.value.includes(room)) ?? all[0] ?? [];
  });
  if (found.length === 0) return null;
  return (
    <div class="others">
      {found.map((room) => {
        const why = held === null ? null : closedReason(room, held);
        return (
          <button type="button" key={room.kind} class="act" disabled={why !== null} onClick={() => void seekIn([room.id])}>
            <span>{titleOf(room.kind)}</span><small>{why ? why.text : roomTerms(room)}</small>
          </button>
        );
      })}
    </div>
  );
}

/** Returns the stakes and the number of players of a room. */
function roomTerms(room: Room): string {
  const loss = lossMax(room);
  return [say('bet', { coins: coinsText(room.bet) }), loss ? say('loss_max', { coins: coinsText(loss) }) : '', seatsOf(room)].filter((text) => text !== '').join(' · ');
}

/** The button to the notices, with the number of unread ones. */
function NoticesButton() {
  const count = unread.value;
  return (
    <button type="button" class="round bell" aria-label={count > 0 ? say('notices_new', { n: count }) : say('notices')} onClick={() => { areNoticesShown.value = true; }}>
      <svg viewBox="0 0 24 24" aria-hidden="true"><path d="M12 2a2 2 0 0 1 2 2c3 1 5 4 5 7v5l2 2v1H3v-1l2-2v-5c0-3 2-6 5-7a2 2 0 0 1 2-2Zm-3 18h6a3 3 0 0 1-6 0Z" /></svg>
      {count > 0 ? <i aria-hidden="true">{count}</i> : null}
    </button>
  );
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

/** The page shown while a table is sought. */
export function Seeking() {
  const now = seek.value;
  if (!now || (now.state !== 'waiting' && now.state !== 'asking')) return null;
  const room = rooms.value?.find((one) => one.id === now.rooms[0]);
  return (
    <Sheet title={say('seeking')}>
      <div class="seeking" role="status">
        <i class="shuffle" aria-hidden="true"><i /><i /><i /></i>
        {room ? <p><b>{say('seeking_room', { room: roomName(room), bet: coinsText(room.bet) })}</b></p> : null}
        {room && lossMax(room) ? <p>{say('loss_note', { coins: coinsText(lossMax(room)!) })}</p> : null}
        <p>{say(now.reason === 'only_same_network' ? 'seeking_network' : 'seeking_note')}</p>
        <button type="button" class="plain" onClick={() => { readyAtOnce.value = false; void client.cancelSeek(); }}>{say('cancel')}</button>
      </div>
    </Sheet>
  );
}
