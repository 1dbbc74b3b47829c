// Practice: any game by any of its rule sets, alone with bots and without coins.
import { GAMES, setsOf } from '../games/list.ts';
import { Sheet } from '../parts/index.tsx';
import { practise } from '../ways.ts';
import { say } from '../words.ts';

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
              <b>{title}</b>
            </button>
          ))}
        </section>
      ))}
    </Sheet>
  );
}
