// A bot's actions of Tongo (options) in words, with their places on the table.
import { mark } from '../../advice.tsx';
import type { Action, TableState } from '../../model.ts';
import { cardSign } from '../../words.ts';
import type { Advised } from '../folder.ts';
import { gameView, nameOf, ownTurn } from './moves.ts';
import { isTongoWord, word, type TongoWord } from './words.ts';

const COSTS = ['buy', 'sell', 'exchange'] as const;

export function advised(state: TableState, action: Action): Advised {
  const number = (name: string) => typeof action[name] === 'number' ? action[name] : null;
  const [slot, floor, other, target, percent] = ['slot', 'floor', 'other', 'target', 'percent'].map(number);
  const view = gameView(state.view);
  const own = view && ownTurn(view);
  const discards = Array.isArray(action['discards']) ? action['discards'] as string[] : [];
  const act = mark('act', action.type);
  const told = (text: string, marks: string[] = [act]): Advised => ({ words: text, marks });
  switch (action.type) {
    case 'stop':
      return told(`${word('stop')}: ${word('floor', { n: (floor ?? 0) + 1 })}`, [act, mark('floor', floor ?? 0)]);
    case 'buy':
    case 'sell': {
      const text = word(action.type === 'buy' ? 'turn_up' : 'turn_down');
      const lever = action['leverage'] === true ? ` · ${word('token_leverage')}` : '';
      return told(`${text}: ${cardOf(view?.public.floors[own?.floor ?? 0]?.[slot ?? 0] ?? null, slot ?? 0)}${lever}`, [act, mark('slot', slot ?? 0)]);
    }
    case 'exchange': {
      const place = floor === null || floor === undefined ? word('free_card', { n: (other ?? 0) + 1 })
        : `${word('floor', { n: floor + 1 })}, ${cardOf(null, other ?? 0)}`;
      return told(`${word('swap')}: ${cardOf(null, slot ?? 0)} – ${place}`, [mark('slot', slot ?? 0), mark('place', `${floor ?? 'free'}-${other ?? 0}`)]);
    }
    case 'acquire':
      return told(word('acquire', { n: (own?.floor ?? 0) + 1 }), [mark('act', 'challenge'), mark('deed', 'acquire')]);
    case 'confront':
      return target === null || target === undefined ? told(word('confront'))
        : told(word('confront_name', { name: nameOf(state.view, target) }), [mark('act', 'challenge'), mark('deed', `confront-${target}`)]);
    case 'lower':
    case 'raise': {
      const costs = COSTS.flatMap((name) => number(name) === null ? [] : [`${word(name)} ${String(number(name))}`]);
      return told(`${word(action.type)}: ${costs.join(', ')}`, [mark('act', 'more'), mark('deed', 'costs'), mark('act', 'change')]);
    }
    case 'index_margin':
      return told(`${word('index_margin')}: ${String(percent ?? 0)} %`, [mark('act', 'more'), mark('deed', 'costs'), mark('act', 'index')]);
    case 'evade':
    case 'pay_to_evade':
      return told(`${word(action.type)}: ${discards.length > 0 ? discards.map(cardSign).join(' ') : word('keeps_all')}`,
        [act, mark('deed', action.type), ...discards.map((card) => mark('card', card))]);
    case 'convert_reserves':
      // The first seat converts its reserves, and answering seats wager theirs.
      return told(word(view?.public.reserves ? 'wager' : 'convert_reserves'), [act, mark('act', 'more'), mark('deed', action.type)]);
    default:
      return told(isTongoWord(action.type) ? word(action.type as TongoWord) : action.type, [act, mark('deed', action.type)]);
  }
}

function cardOf(card: string | null, slot: number): string {
  return word('card_at', { n: slot + 1, card: card === null ? word('face_down') : cardSign(card) });
}
