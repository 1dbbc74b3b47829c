// A private table: opened with a bet and rules, or joined by a code.
import { useState } from 'preact/hooks';
import { GAMES, findGame, ruleSetTitles } from '../games/list.ts';
import { loadGame } from '../games/loading.ts';
import { rooms } from '../house.ts';
import { Choice, Sheet, Toggle } from '../parts/index.tsx';
import { openPrivateTable, joinByCode } from '../table_entry.ts';
import { say } from '../words.ts';

export function Friends({ onClose }: { onClose: () => void }) {
  const [code, setCode] = useState('');
  const [bet, setBet] = useState('5');
  const [kind, setKind] = useState(GAMES[0].kind);
  const [chosen, setChosen] = useState<string | null>(null);
  const [short, setShort] = useState(false);
  const mayBeShort = findGame(kind)?.shortStakes ?? false;
  const sets = ruleSetTitles(findGame(kind) ?? GAMES[0]);
  const set = sets.some(([name]) => name === chosen) ? chosen! : sets[0]![0];
  const room = rooms.value?.find((one) => one.kind === kind) ?? rooms.value?.[0];
  const open = async () => {
    if (!room) return;
    void loadGame(kind);
    const amount = Math.round(Number(bet) * 100);
    const isOpen = await openPrivateTable({ room: room.id, bet: amount, kind, rule_set: set, short_stakes: short && mayBeShort });
    if (isOpen) onClose();
  };
  return (
    <Sheet title={say('friends_title')} onClose={onClose}>
      <form class="list" onSubmit={(event) => { event.preventDefault(); void joinByCode(code).then((ok) => { if (ok) onClose(); }); }}>
        <h3>{say('join_table')}</h3>
        <label>{say('code')}<input value={code} maxLength={16} autocapitalize="characters" autocomplete="off" spellcheck={false}
          onInput={(event) => setCode((event.target as HTMLInputElement).value)} /></label>
        <button type="submit" class="act gold" disabled={code.trim().length < 4}>{say('join')}</button>
      </form>
      <form class="list" onSubmit={(event) => { event.preventDefault(); void open(); }}>
        <h3>{say('open_table')}</h3>
        <label>{say('bet_label')}<input type="number" inputMode="numeric" min={1} max={100000} step={1} value={bet}
          onInput={(event) => setBet((event.target as HTMLInputElement).value)} /></label>
        <Choice label={say('game')} chosen={kind} onChoose={setKind} of={GAMES.map((one) => [one.kind, one.title] as const)} />
        <Choice label={say('rule_set')} chosen={set} onChoose={setChosen} of={sets} />
        {mayBeShort ? <Toggle label={say('short_stakes')} on={short} onChange={setShort} /> : null}
        <button type="submit" class="act gold" disabled={!(Number(bet) >= 1)}>{say('open_table')}</button>
      </form>
    </Sheet>
  );
}
