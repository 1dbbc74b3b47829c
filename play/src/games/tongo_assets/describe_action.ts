// A bot's actions of Tongo (assets) in words, with their places on the table.
import { selectorOf } from '../../advice.tsx';
import type { Action, TableState } from '../../model.ts';
import type { DescribedAction } from '../folder.ts';
import { gameView, nameOf } from './state.ts';
import { pieceName } from './tiles.tsx';
import { chipsOf, isWord, say } from './words.ts';

export function describeAction(state: TableState, action: Action): DescribedAction {
  const number = (name: string) => typeof action[name] === 'number' ? action[name] : 0;
  const text = (name: string) => typeof action[name] === 'string' ? action[name] : null;
  const list = (name: string) => Array.isArray(action[name]) ? action[name] as (string | number)[] : [];
  const view = gameView(state.view);
  const tile = (slot: number) => pieceName(view?.own?.before?.[slot] ?? 'asset');
  const act = selectorOf('act', action.type);
  const describe = (words: string, marks: string[] = [act]): DescribedAction => ({ words, marks });
  const with_ = (deed: string, what: string) => what === '' ? deed : `${deed}: ${what}`;
  switch (action.type) {
    case 'open':
    case 'raise': {
      const prices = `${say('risk')} ${number('risk')}, ${say('purchase')} ${number('purchase')}, ${say('sell_price')} ${number('sell')}`;
      const steps = ['risk', 'purchase', 'sell'].map((name) => selectorOf('step', name));
      return describe(with_(say(action.type), prices), [act, selectorOf('act', 'raise_now'), ...steps]);
    }
    case 'raise_confront':
      return describe(say('raise_to', { n: number('risk') }), [selectorOf('act', 'raise'), selectorOf('act', 'raise_now'), selectorOf('step', 'risk')]);
    case 'swap': {
      const out = text('discard');
      const what = say('note_swap', { out: out === null ? '?' : pieceName(out), in: tile(number('slot')) });
      return describe(with_(say('swap'), what), [act, selectorOf('slot', number('slot')), ...(out === null ? [] : [selectorOf('card', out)])]);
    }
    case 'purchase': {
      const out = text('discard');
      const less = out === null ? '' : ` (${say('note_swap', { out: pieceName(out), in: tile(number('slot')) })})`;
      const free = action['free'] === true ? `${say('free')}, ` : '';
      return describe(with_(say('buy'), `${free}${tile(number('slot'))}${less}`),
        [selectorOf('act', 'buy'), selectorOf('slot', number('slot')), ...(out === null ? [] : [selectorOf('card', out)]), ...(action['free'] === true ? [selectorOf('kept', 'F')] : [])]);
    }
    case 'acquire': {
      const out = text('replace');
      return describe(with_(say('acquire'), [action['free'] === true ? say('free') : '', out === null ? '' : pieceName(out)].filter((part) => part !== '').join(', ')),
        [act, ...(out === null ? [] : [selectorOf('card', out)])]);
    }
    case 'sell': {
      const slots = list('slots').map(Number);
      return describe(with_(say('sell'), slots.map(tile).join(', ')), [act, selectorOf('act', 'sell_now'), ...slots.map((slot) => selectorOf('slot', slot))]);
    }
    case 'reveal':
      return describe(with_(say('reveal'), say('section', { n: number('section') + 1 })), [selectorOf('section', number('section'))]);
    case 'evade': {
      const cards = list('discards').map(String);
      return describe(with_(say('evade'), cards.map(pieceName).join(', ')), [act, selectorOf('act', 'evade_now'), ...cards.map((card) => selectorOf('card', card))]);
    }
    case 'index':
      return describe(say('index_at', { n: number('margin') }), [act, selectorOf('act', 'index_now')]);
    case 'leverage':
      return describe(say('leverage_at', { n: number('percent') }), [act, selectorOf('act', 'leverage_now')]);
    case 'bribe': {
      const cards = list('cards').map(String);
      const what = cards.length > 0 ? cards.map(pieceName).join(', ') : chipsOf(number('chips'));
      return describe(with_(say('bribe'), `${nameOf(state.view, number('to'))}, ${what}`), [act, selectorOf('seat', number('to'))]);
    }
    default:
      return describe(isWord(action.type) ? say(action.type) : action.type);
  }
}
