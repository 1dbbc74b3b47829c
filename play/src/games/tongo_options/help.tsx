// How it is played, on one page: for who has never heard of it.
import { Face } from '../../cards.tsx';
import { Sheet } from '../../parts/index.tsx';
import { chooser } from './moves.ts';
import { Stone } from './ring.tsx';
import { word } from './words.ts';

const EXAMPLES = [
  ['pair', 'help_pair', ['7H', '7C'], null],
  ['exact_pair', 'help_exact', ['7H', '7H'], null],
  ['chain', 'help_chain', ['7H', '7C'], 7],
  ['exact_chain', 'help_chain', ['7H', '7H'], 7],
] as const;

export function Help({ round }: { round: number }) {
  if (chooser.value !== 'help') return null;
  return (
    <Sheet title={word('help')} onClose={() => { chooser.value = 'none'; }} wide>
      <div class="tongo-help">
        <p class="help-goal">{word('help_goal')}</p>
        <p>{word('help_match')}</p>
        <ul class="ladder">
          {EXAMPLES.map(([name, note, cards, die]) => (
            <li key={name}>
              <span class="ladder-cards">{cards.map((card, i) => <span class="card mini" key={i}><Face card={card} small named /></span>)}
                {die === null ? null : <span class="die"><Stone number={die} /></span>}</span>
              <b>{word(name)}</b><small>{word(note)}</small>
            </li>
          ))}
        </ul>
        <p>{word('help_turn')}</p>
        <p>{word('help_challenge', { n: round })}</p>
        <p>{word('help_tokens')}</p>
        <p class="quiet">{word('help_remember')}</p>
      </div>
    </Sheet>
  );
}
