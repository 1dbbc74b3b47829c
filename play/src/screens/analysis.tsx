// The analysis after a game: at most three decisions of the player where a strong bot would have chosen
// otherwise, the most expensive first, each with its value and a link to the replay.
import { useEffect, useState } from 'preact/hooks';
import { loadedFolder, loadGame } from '../games/loading.ts';
import { callHouse } from '../house.ts';
import type { Action, GameStep, Seat, TableState } from '../model.ts';
import { replayedGame } from '../overlays.ts';
import { Sheet } from '../parts/index.tsx';
import { say, createSayer } from '../words.ts';

const word = createSayer({
  none: ['Nothing better was seen. Well played!', 'Walang nakitang mas mabuti. Galing!'],
  not_judged: ['No bot judges games by these rules.', 'Walang bot na sumusuri sa ganitong patakaran.'],
  again: ['Try again', 'Subukan muli'],
  not_yet: ['There is nothing to tell of this game.', 'Walang masasabi tungkol sa larong ito.'],
  note: ['A strong bot has looked at your decisions, knowing what you could see. It judges by many games played on from there: it may be wrong, and luck decides too.',
    'Tiningnan ng malakas na bot ang mga pasya mo, ayon sa nakita mo lang. Batay ito sa maraming larong itinuloy mula roon: puwede itong magkamali, at may suwerte rin.'],
  yours: ['You: {what}', 'Ikaw: {what}'],
  advised: ['Better: {what}', 'Mas mabuti: {what}'],
  loss: ['costs {n} bets on average', '{n} taya ang lugi sa karaniwan'],
  values: ['{value} instead of {advised}', '{value} sa halip na {advised}'],
  look: ['Look at step {n}', 'Tingnan ang hakbang {n}'],
} as const);

interface AnalysedDecision { step: number; action: Action; advised: Action; value: number; advised_value: number; loss: number }
/** The analysis of a game; `engine` is null if no bot analyses these rules. */
interface GameAnalysis { game: string; seat: Seat; engine: string | null; items: AnalysedDecision[] }
interface Steps { items: GameStep[]; seat: Seat }
interface Detail { seats: { seat: Seat; player: string; name: string }[] }

/** Returns hundredths of a bet in bets. */
const bets = (hundredths: number) => `${hundredths < 0 ? '−' : ''}${(Math.abs(hundredths) / 100).toFixed(2)}`;

export function Analysis({ id, kind, onClose }: { id: string; kind: string; onClose: () => void }) {
  const [seen, setSeen] = useState<{ judged: GameAnalysis; steps: GameStep[]; names: Detail } | 'none' | 'not_judged' | 'refused' | null>(null);
  const [tries, setTries] = useState(0);
  useEffect(() => {
    let alive = true;
    setSeen(null);
    void loadAnalysis(id, kind).then((got) => { if (alive) setSeen(got); });
    return () => { alive = false; };
  }, [id, tries]);
  const folder = loadedFolder(kind);
  return (
    <Sheet title={say('analysis')} onClose={onClose} wide>
      {seen === null ? <p role="status">{say('loading')}</p>
        : typeof seen === 'string' || !folder ? (
        <>
          <p role="status">{word(seen === 'none' || seen === 'not_judged' ? seen : 'not_yet')}</p>
          {seen === 'refused' ? <button type="button" class="plain" onClick={() => setTries(tries + 1)}>{word('again')}</button> : null}
        </>
      ) : (
        <>
          <p class="quiet">{word('note')}</p>
          <ol class="judged">
            {seen.judged.items.map((one) => {
              const state = stateBefore(one.step, kind, seen);
              const describe = (action: Action) => state ? folder.describeAction(state, action).words : action.type;
              return (
                <li key={one.step}>
                  <p>{word('yours', { what: describe(one.action) })}</p>
                  <p class="judged-better">{word('advised', { what: describe(one.advised) })}</p>
                  <small>{word('loss', { n: bets(one.loss) })} · {word('values', { value: bets(one.value), advised: bets(one.advised_value) })}</small>
                  <button type="button" class="plain" onClick={() => { replayedGame.value = { id, kind, from: one.step }; }}>{word('look', { n: one.step + 1 })}</button>
                </li>
              );
            })}
          </ol>
        </>
      )}
    </Sheet>
  );
}

async function loadAnalysis(id: string, kind: string) {
  const path = { id };
  const judged = await callHouse<GameAnalysis>('GET /v1/games/{id}/analysis', { path }, true);
  if (!judged || !Array.isArray(judged.items)) return 'refused' as const;
  if (judged.items.length === 0) return judged.engine === null ? 'not_judged' as const : 'none' as const;
  const [steps, names] = await Promise.all([
    callHouse<Steps>('GET /v1/games/{id}/steps', { path }, true),
    callHouse<Detail>('GET /v1/games/{id}', { path }, true),
    loadGame(kind),
  ]);
  return { judged, steps: steps?.items ?? [], names: names ?? { seats: [] } };
}

/** Returns the table as the player saw it before a step, as far as the words for an action need it. */
function stateBefore(step: number, kind: string, { judged, steps, names }: { judged: GameAnalysis; steps: GameStep[]; names: Detail }): TableState | null {
  const at = steps.findIndex((one) => one.number === step);
  const before = steps[at - 1];
  if (!before) return null;
  const seats = [...names.seats].sort((a, b) => a.seat - b.seat)
    .map(({ player, name }) => ({ player, name, bot: false, connected: true, taken_over: false }));
  const view = { kind, seat: judged.seat, seats, phase: { type: 'playing', game: judged.game, stakes: [], deadline_ms: null, view: before.view } };
  return { view, version: 0, prompt: null, current: true } as unknown as TableState;
}
