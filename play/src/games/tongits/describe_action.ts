// A bot's actions of Tong-its in words, with their places on the table.
import { selectorOf } from '../../advice.tsx';
import type { Action, TableState } from '../../model.ts';
import { cardSign, isWord, say } from '../../words.ts';
import type { DescribedAction } from '../folder.ts';
import { cardsOf } from './moves.ts';
import { gameView, nameOf } from './show.ts';

export function describeAction(state: TableState, action: Action): DescribedAction {
  const one = typeof action['card'] === 'string' ? action['card'] : null;
  const own = one === null ? cardsOf(action) : [one];
  const meld = typeof action['meld'] === 'number' ? action['meld'] : null;
  const deed = action.type === 'drop' && action['face_down'] === true ? 'drop_down' : action.type;
  const owner = meld === null ? undefined : gameView(state.view)?.public.melds[meld]?.owner;
  const what = owner !== undefined && one !== null
    ? say('to_meld', { card: cardSign(one), name: nameOf(state.view, owner) })
    : own.map(cardSign).join(' ');
  return {
    words: `${isWord(deed) ? say(deed) : deed} ${what}`.trim(),
    marks: [selectorOf('act', deed), ...own.map((card) => selectorOf('card', card)), ...(meld === null ? [] : [selectorOf('target', `meld-${meld}`)])],
  };
}
