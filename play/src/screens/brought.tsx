// An invitation from the page's address: the table, the inviting player, and a button to take a seat.
import { useEffect, useState } from 'preact/hooks';
import { titleOf } from '../games/list.ts';
import { loadGame } from '../games/loading.ts';
import { ask, lossOf, me } from '../house.ts';
import type { PrivateTable } from '../model.ts';
import { Sheet, shortName } from '../parts/index.tsx';
import { brought, sit } from '../ways.ts';
import { coins, say } from '../words.ts';

export function Brought({ onClose }: { onClose: () => void }) {
  const code = brought.value;
  const [seen, setSeen] = useState<PrivateTable | null>(null);
  const [host, setHost] = useState<string | null>(null);
  const [gone, setGone] = useState(false);
  const signedIn = me.value?.id;
  useEffect(() => {
    if (!code || !signedIn) return;
    void ask<PrivateTable>('GET /v1/private-tables/{code}', { path: { code } }, true).then(async (got) => {
      if (!got) { setGone(true); return; }
      setSeen(got);
      void loadGame(got.kind);
      const player = await ask<{ name: string }>('GET /v1/players/{id}', { path: { id: got.host } }, true);
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
  const loss = seen && lossOf(seen);
  return (
    <Sheet title={host ? say('invited_by', { name: host }) : say('invited')} onClose={onClose}>
      {seen ? <p>{say('invited_terms', { game: titleOf(seen.kind), bet: coins(seen.bet), n: seen.players.length, seats: seen.seats })}</p> : <p>{say('loading')}</p>}
      {loss ? <p>{say('loss_note', { coins: coins(loss) })}</p> : null}
      <div class="list">
        <p class="code-big"><b>{code}</b></p>
        <button type="button" class="act gold" disabled={!seen} onClick={() => { void sit(code).then((ok) => { if (ok) onClose(); }); }}>{say('join')}</button>
      </div>
    </Sheet>
  );
}
