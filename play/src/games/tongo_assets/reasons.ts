// Explains in a sentence why a bot would choose an action of Tongo (assets), from what the player sees.
// Loaded where advice is given.
import type { TongoAssetsView } from '../../../../clients/typescript/src/index.ts';
import type { Action, TableState } from '../../model.ts';
import { createSayer } from '../../words.ts';

const why = createSayer({
  open: ['A low risk lets hands grow before they cost much.', 'Sa mababang risk, lalaki muna ang mga hawak bago magmahal.'],
  pay: ['You hold {n} of 7: {hand}. {pot} chips lie in the pot.', '{n} sa 7 ang hawak mo: {hand}. {pot} chips ang nasa pot.'],
  raise: ['You hold: {hand}. A higher risk makes weaker hands retreat.', 'Hawak mo: {hand}. Aatras ang mahihina kapag mas mataas ang risk.'],
  retreat: ['You hold: {hand}. To stay in costs {due}, and the rest of your chips is yours.', 'Hawak mo: {hand}. {due} ang bayad para manatili, at sa iyo ang natirang chips.'],
  take: ['It brings your hand nearer to seven of one kind.', 'Mas lalapit ang hawak mo sa pitong magkakauri.'],
  acquire: ['Most acquire cards are wilds, and you hold {n} of 7.', 'Karamihan sa acquire ay wild, at {n} sa 7 ang hawak mo.'],
  sell: ['Your hand fits badly together: {hand}. New pieces may fit better.', 'Hindi bagay ang mga hawak mo: {hand}. Baka mas bagay ang bago.'],
  confront: ['You hold: {hand}. The strongest takes half of {pot} chips or more.', 'Hawak mo: {hand}. Kalahati ng {pot} chips o higit ang sa pinakamalakas.'],
  done: ['Nothing here makes your hand better: {hand}.', 'Walang magpapaganda rito sa hawak mo: {hand}.'],
  evade: ['It ends the confront, and costs less than to show: {hand}.', 'Tapos ang hamon, at mas mura kaysa magpakita: {hand}.'],
  dividend: ['It takes {purchase} chips from the pot, for nothing.', 'Libreng {purchase} chips mula sa pot.'],
  reveal: ['To know what lies there costs nothing.', 'Walang bayad ang makita ang naroon.'],
} as const);

interface Tools {
  readingOf: (hand: readonly string[]) => { class: string };
  className: (name: string) => string;
}

export function reasons({ readingOf, className }: Tools) {
  return (state: TableState, action: Action): string | null => {
    if (state.view.phase.type !== 'playing') return null;
    const { public: open, own, viewer } = state.view.phase.view as TongoAssetsView;
    const hand = own?.hand ?? [];
    const due = viewer === null ? 0 : open.risk - (open.players[viewer]?.paid ?? 0);
    const fill = { n: hand.length, hand: className(readingOf(hand).class), pot: open.pot, due, purchase: open.purchase };
    switch (action.type) {
      case 'open': case 'pay': case 'retreat': case 'acquire': case 'sell': case 'confront': case 'done': case 'evade':
      case 'dividend': case 'reveal': case 'raise':
        return why(action.type, fill);
      case 'raise_confront': case 'index':
        return why('raise', fill);
      case 'leverage':
        return why('pay', fill);
      case 'swap': case 'purchase':
        return why('take', fill);
      default:
        return null;
    }
  };
}
