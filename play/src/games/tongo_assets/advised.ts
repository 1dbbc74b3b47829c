// A bot's actions of Tongo (assets) in words, with their places on the table.
import { mark } from '../../advice.tsx';
import type { Action, TableState } from '../../model.ts';
import type { Advised } from '../folder.ts';
import { gameView, nameOf } from './state.ts';
import { pieceName } from './tiles.tsx';
import { chipsOf, isWord, say } from './words.ts';

export function advised(state: TableState, action: Action): Advised {
  const number = (name: string) => typeof action[name] === 'number' ? action[name] : 0;
  const text = (name: string) => typeof action[name] === 'string' ? action[name] : null;
  const list = (name: string) => Array.isArray(action[name]) ? action[name] as (string | number)[] : [];
  const view = gameView(state.view);
  const tile = (slot: number) => pieceName(view?.own?.before?.[slot] ?? 'asset');
  const act = mark('act', action.type);
  const told = (words: string, marks: string[] = [act]): Advised => ({ words, marks });
  const with_ = (deed: string, what: string) => what === '' ? deed : `${deed}: ${what}`;
  switch (action.type) {
    case 'open':
    case 'raise': {
      const prices = `${say('risk')} ${number('risk')}, ${say('purchase')} ${number('purchase')}, ${say('sell_price')} ${number('sell')}`;
      const steps = ['risk', 'purchase', 'sell'].map((name) => mark('step', name));
      return told(with_(say(action.type), prices), [act, mark('act', 'raise_now'), ...steps]);
    }
    case 'raise_confront':
      return told(say('raise_to', { n: number('risk') }), [mark('act', 'raise'), mark('act', 'raise_now'), mark('step', 'risk')]);
    case 'swap': {
      const out = text('discard');
      const what = say('note_swap', { out: out === null ? '?' : pieceName(out), in: tile(number('slot')) });
      return told(with_(say('swap'), what), [act, mark('slot', number('slot')), ...(out === null ? [] : [mark('card', out)])]);
    }
    case 'purchase': {
      const out = text('discard');
      const less = out === null ? '' : ` (${say('note_swap', { out: pieceName(out), in: tile(number('slot')) })})`;
      const free = action['free'] === true ? `${say('free')}, ` : '';
      return told(with_(say('buy'), `${free}${tile(number('slot'))}${less}`),
        [mark('act', 'buy'), mark('slot', number('slot')), ...(out === null ? [] : [mark('card', out)]), ...(action['free'] === true ? [mark('kept', 'F')] : [])]);
    }
    case 'acquire': {
      const out = text('replace');
      return told(with_(say('acquire'), [action['free'] === true ? say('free') : '', out === null ? '' : pieceName(out)].filter((part) => part !== '').join(', ')),
        [act, ...(out === null ? [] : [mark('card', out)])]);
    }
    case 'sell': {
      const slots = list('slots').map(Number);
      return told(with_(say('sell'), slots.map(tile).join(', ')), [act, mark('act', 'sell_now'), ...slots.map((slot) => mark('slot', slot))]);
    }
    case 'reveal':
      return told(with_(say('reveal'), say('section', { n: number('section') + 1 })), [mark('section', number('section'))]);
    case 'evade': {
      const cards = list('discards').map(String);
      return told(with_(say('evade'), cards.map(pieceName).join(', ')), [act, mark('act', 'evade_now'), ...cards.map((card) => mark('card', card))]);
    }
    case 'index':
      return told(say('index_at', { n: number('margin') }), [act, mark('act', 'index_now')]);
    case 'leverage':
      return told(say('leverage_at', { n: number('percent') }), [act, mark('act', 'leverage_now')]);
    case 'bribe': {
      const cards = list('cards').map(String);
      const what = cards.length > 0 ? cards.map(pieceName).join(', ') : chipsOf(number('chips'));
      return told(with_(say('bribe'), `${nameOf(state.view, number('to'))}, ${what}`), [act, mark('seat', number('to'))]);
    }
    default:
      return told(isWord(action.type) ? say(action.type) : action.type);
  }
}
