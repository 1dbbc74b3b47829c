// The notices of the house to a player, each marked as read once it was shown.
import { useEffect, useState } from 'preact/hooks';
import { callHouse, countRead } from '../house.ts';
import type { Coins } from '../model.ts';
import { areNoticesShown, shownTournament } from '../overlays.ts';
import { Sheet } from '../parts/index.tsx';
import { acceptRematch } from '../rematch.ts';
import { coinsText, language, say, createSayer } from '../words.ts';

const WORDS = {
  game_voided: ['A game could not be finished. {coins} coins came back to you.', 'Hindi natapos ang isang laro. Naibalik ang {coins} barya mo.'],
  pot_refunded: ['A table is gone. {coins} coins came back to you from its POT.', 'Wala na ang isang mesa. Naibalik ang {coins} barya mo mula sa POT nito.'],
  private_limit: ['A game among friends did not begin: it could have won you more than you may win from friends.', 'Hindi nagsimula ang larong magkakaibigan: lampas sana sa puwede mong mapanalunan sa kanila.'],
  room_limit: ['A game did not begin: you have won as much of the others at that table as one may in a day.', 'Hindi nagsimula ang laro: naabot mo na ang puwedeng mapanalunan sa kanila sa isang araw.'],
  banned: ['You could not come in for a time.', 'Hindi ka nakapasok nang ilang panahon.'],
  ban_lifted: ['A ban was taken back: you may play.', 'Binawi ang pagbabawal: puwede ka nang maglaro.'],
  muted: ['What you say at tables is not heard for a time.', 'Hindi muna maririnig ang sinasabi mo sa mesa.'],
  mute_lifted: ['What you say at tables is heard again.', 'Maririnig na muli ang sinasabi mo sa mesa.'],
  tournament_soon: ['{tournament} starts within five minutes.', 'Magsisimula ang {tournament} sa loob ng limang minuto.'],
  tournament_started: ['{tournament} has started: your table plays.', 'Nagsimula na ang {tournament}: naglalaro na ang mesa mo.'],
  tournament_placed: ['You finished {tournament} in place {place}.', 'Ika-{place} ka sa {tournament}.'],
  tournament_prize: ['You finished {tournament} in place {place} and won {coins} coins.', 'Ika-{place} ka sa {tournament} at nanalo ng {coins} barya.'],
  tournament_refund: ['{tournament} was cancelled. {coins} coins came back to you.', 'Kinansela ang {tournament}. Naibalik ang {coins} barya mo.'],
  tournament_cancelled: ['{tournament} was cancelled.', 'Kinansela ang {tournament}.'],
  pass_granted: ['You have a pass: it pays one tournament with a buy-in of up to {coins} coins.', 'May pass ka: bayad nito ang isang torneo na hanggang {coins} barya ang buy-in.'],
  pass_revoked: ['The house took back a pass for a tournament with a buy-in of up to {coins} coins.', 'Binawi ng bahay ang isang pass para sa torneo na hanggang {coins} barya ang buy-in.'],
  rematch: ['{name} asked for a rematch.', 'Nag-ayang maglaro ulit si {name}.'],
} as const;

const word = createSayer({
  ...WORDS,
  unknown: ['The house has news for you.', 'May balita ang bahay sa iyo.'],
  fresh: ['new', 'bago'],
} as const);

interface Notice {
  id: string;
  kind: string;
  amount: Coins | null;
  created_at: string;
  read_at: string | null;
  code?: string | null;
  name?: string | null;
  tournament?: string | null;
  tournament_name?: string | null;
  place?: number | null;
}
interface Page { items: Notice[]; next_cursor: string | null }

export function Notices({ onClose }: { onClose: () => void }) {
  const [all, setAll] = useState<Notice[] | null>(null);
  const [cursor, setCursor] = useState<string | null>(null);
  const more = async (from: string | null) => {
    const page = await callHouse<Page>('GET /v1/me/notices', { query: { limit: 20, ...(from ? { cursor: from } : {}) } });
    if (!page) { setAll((before) => before ?? []); return; }
    setAll((before) => [...(from ? before ?? [] : []), ...page.items]);
    setCursor(page.next_cursor);
    for (const notice of page.items) if (notice.read_at === null) void markRead(notice);
  };
  useEffect(() => { void more(null); }, []);
  const time = new Intl.DateTimeFormat(language.value, { dateStyle: 'medium', timeStyle: 'short' });
  return (
    <Sheet title={say('notices')} onClose={onClose}>
      {all === null ? <p>{say('loading')}</p> : all.length === 0 ? <p class="quiet">{say('nothing_here')}</p> : (
        <ul class="notices">
          {all.map((notice) => (
            <li key={notice.id}>
              <p>{notice.read_at === null ? <span class="badge won">{word('fresh')}</span> : null} {noticeText(notice)}</p>
              <small>{time.format(new Date(notice.created_at))}</small>
              {notice.kind === 'rematch' && notice.code ? (
                <button type="button" class="act gold" onClick={() => void acceptInvitation(notice.code!)}>{say('rematch_join')}</button>
              ) : null}
              {notice.tournament ? (
                <button type="button" class="plain" onClick={() => { shownTournament.value = { id: notice.tournament! }; areNoticesShown.value = false; }}>{say('to_tournament')}</button>
              ) : null}
            </li>
          ))}
        </ul>
      )}
      {cursor ? <button type="button" class="plain" onClick={() => void more(cursor)}>{say('more')}</button> : null}
    </Sheet>
  );
}

async function acceptInvitation(code: string) {
  if (await acceptRematch(code)) areNoticesShown.value = false;
}

async function markRead({ id }: Notice) {
  if (await callHouse('POST /v1/me/notices/{id}/read', { path: { id } }, true) !== null) countRead();
}

function noticeText({ kind, amount, name, tournament_name, place }: Notice): string {
  return word(kind in WORDS ? kind as keyof typeof WORDS : 'unknown', {
    coins: coinsText(amount ?? 0), name: name ?? '?', tournament: tournament_name ?? say('tournament'), place: place ?? '?',
  });
}
