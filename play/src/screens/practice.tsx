// Practice: any game by any of its rule sets, with bots and without coins; and a first game with a guide.
import { useState } from 'preact/hooks';
import { GAMES, ruleSetTitles } from '../games/list.ts';
import { shownRules } from '../overlays.ts';
import { Sheet, Toggle } from '../parts/index.tsx';
import { practise } from '../table_entry.ts';
import { say } from '../words.ts';

/** The game that has a guide, with its usual rules. */
const GUIDED = GAMES[0];

export function Practice({ onClose }: { onClose: () => void }) {
  const [isUnhurried, setUnhurried] = useState(false);
  const begin = (kind: string, set: string, withoutClock: boolean) => { onClose(); void practise(kind, set, withoutClock); };
  return (
    <Sheet title={say('practice')} onClose={onClose} wide>
      <button type="button" class="act gold" data-practice="guide" onClick={() => begin(GUIDED.kind, ruleSetTitles(GUIDED)[0]![0], true)}>
        <span>{say('learn')}</span><small>{say('learn_note')}</small>
      </button>
      <p>{say('practice_note')}</p>
      <Toggle label={say('unhurried')} on={isUnhurried} onChange={setUnhurried} />
      {GAMES.map((game) => (
        <section key={game.kind} class="rooms">
          <h3>{game.title}</h3>
          {ruleSetTitles(game).map(([set, title]) => (
            <button type="button" key={set} class="room" data-practice={`${game.kind}/${set}`} onClick={() => begin(game.kind, set, isUnhurried)}>
              <b>{title}</b>
            </button>
          ))}
          <button type="button" class="plain" onClick={() => { shownRules.value = { kind: game.kind, terms: null }; }}>{say('rules')}: {game.title}</button>
        </section>
      ))}
    </Sheet>
  );
}
