// A bot's actions of Tongo (options) in words, with their places on the table.
import { selectorOf } from '../../advice.tsx';
import type { Action, TableState } from '../../model.ts';
import { cardSign } from '../../words.ts';
import type { DescribedAction } from '../folder.ts';
import { gameView, nameOf, ownTurn } from './moves.ts';
import { isTongoWord, word, type TongoWord } from './words.ts';

const COSTS = ['buy', 'sell', 'exchange'] as const;

export function describeAction(state: TableState, action: Action): DescribedAction {
  const number = (name: string) => typeof action[name] === 'number' ? action[name] : null;
  const [slot, floor, other, target, percent] = ['slot', 'floor', 'other', 'target', 'percent'].map(number);
  const view = gameView(state.view);
  const own = view && ownTurn(view);
  const discards = Array.isArray(action['discards']) ? action['discards'] as string[] : [];
  const act = selectorOf('act', action.type);
  const describe = (text: string, marks: string[] = [act]): DescribedAction => ({ words: text, marks });
  switch (action.type) {
    case 'stop':
      return describe(`${word('stop')}: ${word('floor', { n: (floor ?? 0) + 1 })}`, [act, selectorOf('floor', floor ?? 0)]);
    case 'buy':
    case 'sell': {
      const text = word(action.type === 'buy' ? 'turn_up' : 'turn_down');
      const lever = action['leverage'] === true ? ` · ${word('token_leverage')}` : '';
      return describe(`${text}: ${cardOf(view?.public.floors[own?.floor ?? 0]?.[slot ?? 0] ?? null, slot ?? 0)}${lever}`, [act, selectorOf('slot', slot ?? 0)]);
    }
    case 'exchange': {
      const place = floor === null || floor === undefined ? word('free_card', { n: (other ?? 0) + 1 })
        : `${word('floor', { n: floor + 1 })}, ${cardOf(null, other ?? 0)}`;
      return describe(`${word('swap')}: ${cardOf(null, slot ?? 0)} – ${place}`, [selectorOf('slot', slot ?? 0), selectorOf('place', `${floor ?? 'free'}-${other ?? 0}`)]);
    }
    case 'acquire':
      return describe(word('acquire', { n: (own?.floor ?? 0) + 1 }), [selectorOf('act', 'challenge'), selectorOf('deed', 'acquire')]);
    case 'confront':
      return target === null || target === undefined ? describe(word('confront'))
        : describe(word('confront_name', { name: nameOf(state.view, target) }), [selectorOf('act', 'challenge'), selectorOf('deed', `confront-${target}`)]);
    case 'lower':
    case 'raise': {
      const costs = COSTS.flatMap((name) => number(name) === null ? [] : [`${word(name)} ${String(number(name))}`]);
      return describe(`${word(action.type)}: ${costs.join(', ')}`, [selectorOf('act', 'more'), selectorOf('deed', 'costs'), selectorOf('act', 'change')]);
    }
    case 'index_margin':
      return describe(`${word('index_margin')}: ${String(percent ?? 0)} %`, [selectorOf('act', 'more'), selectorOf('deed', 'costs'), selectorOf('act', 'index')]);
    case 'evade':
    case 'pay_to_evade':
      return describe(`${word(action.type)}: ${discards.length > 0 ? discards.map(cardSign).join(' ') : word('keeps_all')}`,
        [act, selectorOf('deed', action.type), ...discards.map((card) => selectorOf('card', card))]);
    case 'convert_reserves':
      // The first seat converts its reserves, and answering seats wager theirs.
      return describe(word(view?.public.reserves ? 'wager' : 'convert_reserves'), [act, selectorOf('act', 'more'), selectorOf('deed', action.type)]);
    default:
      return describe(isTongoWord(action.type) ? word(action.type as TongoWord) : action.type, [act, selectorOf('deed', action.type)]);
  }
}

function cardOf(card: string | null, slot: number): string {
  return word('card_at', { n: slot + 1, card: card === null ? word('face_down') : cardSign(card) });
}
