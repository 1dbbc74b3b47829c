// "Fill with bots": the host of a private table need not wait for further players.
import { useEffect, useState } from 'preact/hooks';
import { callHouse, me } from '../house.ts';
import type { PrivateTable, TableState } from '../model.ts';
import { seatBots } from '../rematch.ts';
import { ownInvitation } from '../table_entry.ts';
import { say } from '../words.ts';

/** The button for the host, shown while seats are free and no game is running. */
export function FillWithBots({ state }: { state: TableState }) {
  const { view } = state;
  const code = view.terms.private && ownInvitation.value?.table === view.table ? ownInvitation.value.code : null;
  const [host, setHost] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);
  useEffect(() => {
    let alive = true;
    if (code) void callHouse<PrivateTable>('GET /v1/private-tables/{code}', { path: { code } }, true).then((seen) => { if (alive) setHost(seen?.host ?? null); });
    return () => { alive = false; };
  }, [code]);
  const isFree = view.seats.some((seat) => seat === null) && view.phase.type === 'waiting';
  if (!code || !isFree || host === null || host !== me.value?.id) return null;
  const fill = async () => {
    setBusy(true);
    await seatBots(code);
    setBusy(false);
  };
  return <button type="button" class="act" disabled={busy} data-act="bots" onClick={() => void fill()}>{say('fill_bots')}</button>;
}
