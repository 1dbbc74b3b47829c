// Explains in a sentence why a bot would choose an action of Tongo (options), from what the player sees.
// Loaded where advice is given.
import type { Action, TableState } from '../../model.ts';
import { createSayer } from '../../words.ts';
import type { Open, View } from './types.ts';

const why = createSayer({
  stop: ['Your best at any floor is: {best}.', 'Ang pinakamaganda mo sa alinmang palapag: {best}.'],
  buy: ['Another open card here may match a card of yours.', 'Baka tumugma sa baraha mo ang isa pang nakabukas.'],
  sell: ['An open card that helps others is out of their way.', 'Hindi na makikinabang ang iba sa barahang itataob.'],
  exchange: ['A card that you know may come to a floor where it matches.', 'Maaaring mapunta sa tugmang palapag ang barahang kilala mo.'],
  pay_risk: ['The risk is {risk}, and {pot} chips lie in the treasury.', '{risk} ang panganib, at {pot} chips ang nasa yaman.'],
  retreat: ['It costs nothing. To pay would cost {risk}.', 'Wala itong bayad. {risk} kung babayaran ang panganib.'],
  fold: ['You hold: {best}. To go on costs more than that is worth.', 'Hawak mo: {best}. Mas mahal ang magpatuloy.'],
  join: ['You hold: {best}, and {pot} chips lie in the treasury.', 'Hawak mo: {best}, at {pot} chips ang nasa yaman.'],
  challenge: ['You hold: {best}. {pot} chips lie in the treasury.', 'Hawak mo: {best}. {pot} chips ang nasa yaman.'],
  evade: ['You hold: {best}. New cards may match more.', 'Hawak mo: {best}. Baka mas tumugma ang bagong baraha.'],
  raise: ['The next ones pay more risk into the treasury.', 'Mas malaking panganib ang babayaran ng susunod.'],
  lower: ['What you do next costs less.', 'Mas mura ang susunod mong gagawin.'],
  roll: ['A die with the number of your pair makes it a chain.', 'Magiging kadena ang pares kapag tumugma ang dado.'],
  end: ['Nothing more here is worth its price.', 'Wala nang sulit gawin dito.'],
  convert_reserves: ['You hold: {best}. All must wager as much, or fold.', 'Hawak mo: {best}. Tataya ng ganoon ang lahat, o titiklop.'],
} as const);

interface Tools { best: () => string; risk: (open: Open) => number }

export function reasons({ best, risk }: Tools) {
  return (state: TableState, action: Action): string | null => {
    if (state.view.phase.type !== 'playing') return null;
    const { public: open } = state.view.phase.view as View;
    const fill = { best: best(), risk: risk(open), pot: open.pot };
    switch (action.type) {
      case 'stop': case 'buy': case 'sell': case 'exchange': case 'pay_risk': case 'retreat': case 'fold': case 'join':
      case 'evade': case 'raise': case 'lower': case 'roll': case 'end': case 'convert_reserves':
        return why(action.type, fill);
      case 'stand':
        return why('join', fill);
      case 'acquire': case 'confront':
        return why('challenge', fill);
      case 'pay_to_evade':
        return why('evade', fill);
      default:
        return null;
    }
  };
}
