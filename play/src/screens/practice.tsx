// Practice: any game by any of its rule sets, alone with bots and without coins.
import { loadGame } from '../games/loading.ts';
import { GAMES, setsOf } from '../games/list.ts';
import { client, lost, tell } from '../house.ts';
import { Sheet } from '../parts/index.tsx';
import { refusalText } from '../refusals.ts';
import { readyAtOnce } from '../table.tsx';
import { say } from '../words.ts';

async function practise(kind: string, rule_set: string) {
  lost.value = null;
  readyAtOnce.value = true;
  void loadGame(kind);
  const answer = await client.practise({ kind, rule_set });
  if (answer.ok) return;
  readyAtOnce.value = false;
  tell(refusalText(answer.problem.code, answer.problem.detail));
}

export function Practice({ onClose }: { onClose: () => void }) {
  return (
    <Sheet title={say('practice')} onClose={onClose} wide>
      <p>{say('practice_note')}</p>
      {GAMES.map((game) => (
        <section key={game.kind} class="rooms">
          <h3>{game.title}</h3>
          {setsOf(game).map(([set, title]) => (
            <button type="button" key={set} class="room" data-practice={`${game.kind}/${set}`}
              onClick={() => { onClose(); void practise(game.kind, set); }}>
              <b>{title}</b><small>{say('practice_mark')}</small>
            </button>
          ))}
        </section>
      ))}
    </Sheet>
  );
}
