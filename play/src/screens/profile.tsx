// A player's public profile: name, picture and record, with muting, blocking and reporting.
import { useEffect, useState } from 'preact/hooks';
import { callHouse, me, showToast } from '../house.ts';
import type { Coins } from '../model.ts';
import { Avatar, Choice, Coin, Sheet, shortName, Toggle } from '../parts/index.tsx';
import { coinsText, language, say, createSayer } from '../words.ts';

const word = createSayer({
  since: ['Here since {date}', 'Narito mula {date}'],
  bot: ['A bot of the house', 'Bot ng bahay'],
  no_games: ['No games yet.', 'Wala pang laro.'],
  games: ['Games', 'Mga laro'],
  wins: ['Won', 'Panalo'],
  best_streak: ['Most in a row', 'Pinakamahabang sunod'],
  hits: ['POTs taken', 'POT na nakuha'],
  best_pot: ['Largest POT', 'Pinakamalaking POT'],
  mute: ['Mute: do not hear what this player says', 'I-mute: huwag marinig ang sinasabi'],
  block: ['Block: never sit at the same table of the house', 'I-block: huwag magkasama sa mesa ng bahay'],
  report: ['Report this player…', 'I-ulat ang manlalaro…'],
  report_why: ['For what?', 'Dahil saan?'],
  cheating: ['Cheating', 'Pandaraya'],
  collusion: ['Playing together', 'Sabwatan'],
  abuse: ['Abuse', 'Pang-aabuso'],
  name: ['The name', 'Ang pangalan'],
  stalling: ['Stalling', 'Pagpapabagal'],
  other: ['Something else', 'Iba pa'],
  words: ['In your own words, if you like', 'Sa sarili mong salita, kung gusto'],
  send: ['Send the report', 'Ipadala ang ulat'],
  sent: ['Reported. People will look at this game.', 'Naiulat na. May titingin sa larong ito.'],
  no_game: ['You may report a player after a game together.', 'Puwedeng mag-ulat pagkatapos ng larong magkasama.'],
} as const);

interface Statistics { kind: string; game: string; games: number; wins: number; hits: number; best_pot: Coins; best_streak: number }
interface PlayerProfile { id: string; name: string; avatar: string; is_bot: boolean; created_at: string; statistics: Statistics[] }
interface ListedPlayers { items: { player: string }[] }

/** A profile; `game` is one that both have played, for reports, or null. */
export function Profile({ id, game, onClose }: { id: string; game: string | null; onClose: () => void }) {
  const [seen, setSeen] = useState<PlayerProfile | null>(null);
  const [failed, setFailed] = useState(false);
  useEffect(() => {
    let alive = true;
    void callHouse<PlayerProfile>('GET /v1/players/{id}', { path: { id } }).then((got) => {
      if (!alive) return;
      if (got) setSeen(got);
      else setFailed(true);
    });
    return () => { alive = false; };
  }, [id]);
  if (!seen) return <Sheet title={say('profile')} onClose={onClose}><p>{say(failed ? 'screen_failed' : 'loading')}</p></Sheet>;
  const isOwn = id === me.value?.id;
  const date = new Intl.DateTimeFormat(language.value, { dateStyle: 'medium' }).format(new Date(seen.created_at));
  return (
    <Sheet title={shortName(seen.name)} onClose={onClose}>
      <div class="profile">
        <div class="profile-head">
          <span class="profile-face"><Avatar name={seen.name} picture={seen.avatar} /></span>
          <span>{seen.is_bot ? <span class="badge">{word('bot')}</span> : <small>{word('since', { date })}</small>}</span>
        </div>
        <Record all={seen.statistics} />
        {isOwn || seen.is_bot ? null : <PlayerActions id={id} game={game} />}
      </div>
    </Sheet>
  );
}

function Record({ all }: { all: readonly Statistics[] }) {
  const played = all.filter((one) => one.games > 0);
  if (played.length === 0) return <p class="quiet">{word('no_games')}</p>;
  return (
    <>
      {played.map((one) => (
        <section key={one.kind} class="record">
          <h3>{one.game}</h3>
          <dl>
            <div><dt>{word('games')}</dt><dd>{one.games}</dd></div>
            <div><dt>{word('wins')}</dt><dd>{one.wins} <small>({Math.round(100 * one.wins / one.games)} %)</small></dd></div>
            <div><dt>{word('best_streak')}</dt><dd>{one.best_streak}</dd></div>
            {one.hits > 0 ? <div><dt>{word('hits')}</dt><dd>{one.hits}</dd></div> : null}
            {one.best_pot > 0 ? <div><dt>{word('best_pot')}</dt><dd><Coin /> {coinsText(one.best_pot)}</dd></div> : null}
          </dl>
        </section>
      ))}
    </>
  );
}

/** Returns whether the player is on one of the own lists, and a function to change that. */
function useListed(list: 'mutes' | 'blocks', id: string): [boolean | null, (on: boolean) => void] {
  const [isOn, setOn] = useState<boolean | null>(null);
  useEffect(() => {
    let alive = true;
    void callHouse<ListedPlayers>(`GET /v1/me/${list}`, {}, true).then((got) => { if (alive && got) setOn(got.items.some((one) => one.player === id)); });
    return () => { alive = false; };
  }, [id]);
  const change = (on: boolean) => {
    setOn(on);
    void callHouse(`${on ? 'PUT' : 'DELETE'} /v1/me/${list}/{id}`, { path: { id } }).then((done) => { if (done === null) setOn(!on); });
  };
  return [isOn, change];
}

function PlayerActions({ id, game }: { id: string; game: string | null }) {
  const [isMuted, mute] = useListed('mutes', id);
  const [isBlocked, block] = useListed('blocks', id);
  return (
    <div class="list">
      {isMuted === null ? null : <Toggle label={word('mute')} on={isMuted} onChange={mute} />}
      {isBlocked === null ? null : <Toggle label={word('block')} on={isBlocked} onChange={block} />}
      {game === null ? <p class="quiet">{word('no_game')}</p> : <Report id={id} game={game} />}
    </div>
  );
}

const REASONS = ['cheating', 'collusion', 'abuse', 'name', 'stalling', 'other'] as const;
type Reason = typeof REASONS[number];

function Report({ id, game }: { id: string; game: string }) {
  const [reason, setReason] = useState<Reason>('cheating');
  const [text, setText] = useState('');
  const [isSent, setSent] = useState(false);
  const send = async () => {
    const words = text.trim();
    const done = await callHouse('POST /v1/games/{id}/reports', { path: { id: game }, body: { player: id, reason, ...(words ? { words } : {}) } });
    if (done === null) return;
    setSent(true);
    showToast(word('sent'));
  };
  if (isSent) return <p role="status">{word('sent')}</p>;
  return (
    <details class="report">
      <summary>{word('report')}</summary>
      <form onSubmit={(event) => { event.preventDefault(); void send(); }}>
        <Choice<Reason> label={word('report_why')} chosen={reason} onChoose={setReason} of={REASONS.map((one) => [one, word(one)] as const)} />
        <label>{word('words')}<input value={text} maxLength={500} onInput={(event) => setText((event.target as HTMLInputElement).value)} /></label>
        <button type="submit" class="plain warn">{word('send')}</button>
      </form>
    </details>
  );
}
