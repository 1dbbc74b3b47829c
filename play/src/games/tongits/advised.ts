// A bot's actions of Tong-its in words, with their places on the table.
import { mark } from '../../advice.tsx';
import type { Action, TableState } from '../../model.ts';
import { cardSign, isWord, say } from '../../words.ts';
import type { Advised } from '../folder.ts';
import { cards } from './moves.ts';
import { gameView, nameOf } from './show.ts';

export function advised(state: TableState, action: Action): Advised {
  const one = typeof action['card'] === 'string' ? action['card'] : null;
  const own = one === null ? cards(action) : [one];
  const meld = typeof action['meld'] === 'number' ? action['meld'] : null;
  const deed = action.type === 'drop' && action['face_down'] === true ? 'drop_down' : action.type;
  const owner = meld === null ? undefined : gameView(state.view)?.public.melds[meld]?.owner;
  const what = owner !== undefined && one !== null
    ? say('to_meld', { card: cardSign(one), name: nameOf(state.view, owner) })
    : own.map(cardSign).join(' ');
  return {
    words: `${isWord(deed) ? say(deed) : deed} ${what}`.trim(),
    marks: [mark('act', deed), ...own.map((card) => mark('card', card)), ...(meld === null ? [] : [mark('target', `meld-${meld}`)])],
  };
}
