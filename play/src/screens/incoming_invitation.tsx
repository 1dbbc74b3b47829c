// An invitation from the page's address: the table, the inviting player, and a button to take a seat.
import { useEffect, useState } from 'preact/hooks';
import { titleOf } from '../games/list.ts';
import { loadGame } from '../games/loading.ts';
import { callHouse, lossMax, me } from '../house.ts';
import type { PrivateTable } from '../model.ts';
import { Sheet, shortName } from '../parts/index.tsx';
import { incomingCode, joinByCode } from '../table_entry.ts';
import { coinsText, say } from '../words.ts';

export function IncomingInvitation({ onClose }: { onClose: () => void }) {
  const code = incomingCode.value;
  const [seen, setSeen] = useState<PrivateTable | null>(null);
  const [host, setHost] = useState<string | null>(null);
  const [gone, setGone] = useState(false);
  const signedIn = me.value?.id;
  useEffect(() => {
    if (!code || !signedIn) return;
    void callHouse<PrivateTable>('GET /v1/private-tables/{code}', { path: { code } }, true).then(async (got) => {
      if (!got) { setGone(true); return; }
      setSeen(got);
      void loadGame(got.kind);
      const player = await callHouse<{ name: string }>('GET /v1/players/{id}', { path: { id: got.host } }, true);
      if (player) setHost(shortName(player.name));
    });
  }, [code, signedIn]);
  if (!code) return null;
  if (gone) {
    return (
      <Sheet title={say('invite_gone')} onClose={onClose}>
        <p>{say('invite_gone_note', { code })}</p>
        <button type="button" class="act gold" onClick={onClose}>{say('home')}</button>
      </Sheet>
    );
  }
  const loss = seen && lossMax(seen);
  return (
    <Sheet title={host ? say('invited_by', { name: host }) : say('invited')} onClose={onClose}>
      {seen ? <p>{say('invited_terms', { game: titleOf(seen.kind), bet: coinsText(seen.bet), n: seen.players.length, seats: seen.seats })}</p> : <p>{say('loading')}</p>}
      {loss ? <p>{say('loss_note', { coins: coinsText(loss) })}</p> : null}
      <div class="list">
        <p class="code-big"><b>{code}</b></p>
        <button type="button" class="act gold" disabled={!seen} onClick={() => { void joinByCode(code).then((ok) => { if (ok) onClose(); }); }}>{say('join')}</button>
      </div>
    </Sheet>
  );
}
