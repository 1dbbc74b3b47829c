// The invitation to a private table: its code, its link, and a QR code of the link.
import { useEffect, useState } from 'preact/hooks';
import type { QrCodeGenerateResult } from 'uqr';
import { callHouse, me, showToast } from '../house.ts';
import type { PrivateTable, TableState } from '../model.ts';
import { Sheet } from '../parts/index.tsx';
import { ownInvitation } from '../table_entry.ts';
import { say } from '../words.ts';
import { FillWithBots } from './bots.tsx';

/**
 * Returns the QR code of a link. Its encoder is loaded on demand, so that no first hand waits for it; without
 * it, the code and the link remain.
 */
function useQr(link: string | null): QrCodeGenerateResult | null {
  const [matrix, setMatrix] = useState<QrCodeGenerateResult | null>(null);
  useEffect(() => {
    let alive = true;
    if (link) {
      void import('uqr').then(
        ({ encode }) => { if (alive) setMatrix(encode(link, { ecc: 'M', border: 2 })); },
        () => {},
      );
    }
    return () => { alive = false; };
  }, [link]);
  return matrix;
}

/** Code, link and QR code of the table, to be sent or scanned; the host may kick guests. */
export function Invitation({ onClose, table }: { onClose: () => void; table: TableState }) {
  const known = ownInvitation.value?.table === table.view.table ? ownInvitation.value : null;
  const [seen, setSeen] = useState<PrivateTable | null>(null);
  useEffect(() => {
    if (known) void callHouse<PrivateTable>('GET /v1/private-tables/{code}', { path: { code: known.code } }, true).then(setSeen);
  }, [known?.code]);
  const matrix = useQr(known?.link ?? null);
  if (!known) return <Sheet title={say('invite')} onClose={onClose}><p>{say('nothing_here')}</p></Sheet>;
  const copy = () => { void navigator.clipboard?.writeText(known.link).then(() => showToast(say('copied'))); };
  const isHost = seen?.host === me.value?.id;
  const quiet = table.view.phase.type !== 'playing';
  return (
    <Sheet title={say('invite')} onClose={onClose}>
      <p>{say('invite_note')}</p>
      {matrix ? (
        <svg class="qr" viewBox={`0 0 ${matrix.size} ${matrix.size}`} role="img" aria-label={known.link} shape-rendering="crispEdges">
          <rect width={matrix.size} height={matrix.size} class="qr-paper" />
          <path d={matrix.data.flatMap((row, y) => row.map((on, x) => on ? `M${x} ${y}h1v1h-1z` : '')).join('')} class="qr-ink" />
        </svg>
      ) : null}
      <p class="code-big"><b>{known.code}</b></p>
      <p class="code-link"><a href={known.link}>{known.link}</a></p>
      <div class="list">
        {'share' in navigator ? <button type="button" class="act gold" onClick={() => { void navigator.share({ url: known.link }).catch(() => {}); }}>{say('share')}</button> : null}
        <button type="button" class="plain" onClick={copy}>{say('copy_link')}</button>
        <FillWithBots state={table} />
        {isHost && quiet ? table.view.seats.map((seat) => !seat || seat.player === me.value?.id ? null : (
          <button type="button" class="plain warn" key={seat.player}
            onClick={() => { void callHouse('DELETE /v1/private-tables/{code}/players/{id}', { path: { code: known.code, id: seat.player } }); }}>{say('send_away', { name: seat.name })}</button>
        )) : null}
      </div>
    </Sheet>
  );
}
