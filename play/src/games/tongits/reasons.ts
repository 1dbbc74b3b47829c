// Explains in a sentence why a bot would choose an action of Tong-its. The reason is computed from what the
// player sees; the bot does not report its own. Loaded where advice is given.
import type { Action, Card, TableState } from '../../model.ts';
import { shortName } from '../../parts/index.tsx';
import { cardSign, createSayer } from '../../words.ts';
import type { View } from './types.ts';

const WHY = {
  draw_no_chow: ['The discard makes no meld with your cards.', 'Hindi nabubuo ng tapon ang bahay mo.'],
  draw_chow_same: ['You could chow, but your loose cards would not cost less: {n} points.', 'Puwede kang mag-chow, pero hindi bababa ang {n} puntos mo.'],
  draw_chow_hidden: ['A chow would show your cards; a new one keeps them hidden.', 'Makikita ang baraha mo sa chow; nakatago pa kapag bumunot.'],
  draw_no_fight: ['{n} points are many for a fight: {name} holds {cards} cards only.', 'Marami ang {n} puntos para sa laban: {cards} baraha na lang si {name}.'],
  chow_open: ['It makes a meld: you are not burned any more, and your loose cards cost {after} instead of {before}.', 'Nabubuo ang bahay: hindi ka na sunog, at {after} na lang ang puntos mo sa halip na {before}.'],
  chow: ['It makes a meld: your loose cards cost {after} points instead of {before}.', 'Nabubuo ang bahay: {after} na lang ang puntos mo sa halip na {before}.'],
  drop_open: ['With a meld on the table you are not burned, and may fight later.', 'Kapag may bahay ka sa mesa, hindi ka sunog, at puwede kang lumaban mamaya.'],
  drop: ['It leaves {n} cards to get rid of.', '{n} baraha na lang ang aalisin mo.'],
  drop_down: ['Face down it stays secret, and you are not burned.', 'Sikreto pa rin kapag nakataob, at hindi ka sunog.'],
  sapaw_other: ['{card} costs {n} in your hand, and {name} may not fight in the next turn.', '{n} ang {card} sa kamay mo, at hindi makakalaban si {name} sa susunod na turno.'],
  sapaw: ['{card} costs {n} in your hand, and nothing on the table.', '{n} ang {card} sa kamay mo, at wala na sa mesa.'],
  dump_alone_high: ['It goes with no other card of yours, and costs most of those: {n} points.', 'Wala itong kapares, at pinakamahal sa mga ganoon: {n} puntos.'],
  dump_alone: ['It goes with no other card of yours.', 'Wala itong kapares sa kamay mo.'],
  dump_high: ['Of your loose cards it costs most: {n} points.', 'Ito ang pinakamahal sa mga natitira mo: {n} puntos.'],
  dump_keeps: ['{kept} costs more, but goes with {partner}: one more card makes a meld.', 'Mas mahal ang {kept}, pero kapares ng {partner}: isa pa at bahay na.'],
  dump_safe: ['Your melds stay whole.', 'Buo pa ang mga bahay mo.'],
  fight_burned: ['You have {n} points, and {name} has laid no meld: without a secret one that hand cannot answer.', '{n} ang puntos mo, at walang naibaba si {name}: kung walang sikreto, hindi makakasabay.'],
  fight: ['{n} points are few: {name} still holds {cards} cards.', 'Kaunti ang {n} puntos: {cards} pa ang baraha ni {name}.'],
  challenge: ['{n} points are few, and {name} holds {cards} cards. To lose costs {price}, to fold {fold}.', 'Kaunti ang {n} puntos, at {cards} ang baraha ni {name}. {price} ang bayad kung matalo, {fold} kung tiklop.'],
  fold: ['With {n} points you are hardly the lowest. To fold costs {fold}, to lose a challenge {price}.', 'Sa {n} puntos, malamang hindi ikaw ang pinakamababa. {fold} ang tiklop, {price} ang talo sa sabay.'],
  tongits: ['Every card is in a meld: it wins at once.', 'Nasa bahay lahat ng baraha: panalo agad.'],
} as const;

const why = createSayer(WHY);

interface Tools {
  arrange: (hand: readonly Card[]) => { leftover: readonly Card[] };
  deadwood: (hand: readonly Card[]) => number;
}

const RANKS = 'A23456789TJQK';
const costOf = (card: Card) => card[0] === 'X' ? 0 : Math.min(10, RANKS.indexOf(card[0] ?? '') + 1);

/** Returns whether one more card can make a meld of these two. */
function canFormMeld(one: Card, other: Card): boolean {
  const apart = Math.abs(RANKS.indexOf(one[0] ?? '') - RANKS.indexOf(other[0] ?? ''));
  return apart === 0 || (one[1] === other[1] && apart <= 2);
}

export function reasons({ arrange, deadwood }: Tools) {
  return (state: TableState, action: Action): string | null => {
    const seat = state.view.seat;
    if (state.view.phase.type !== 'playing' || seat === null) return null;
    const view = state.view.phase.view as View;
    const hand = view.hands[seat] ?? [];
    const legal = state.prompt?.legal ?? [];
    const points = deadwood(hand);
    const { melds, hand_counts, phase, rules } = view.public;
    const isOpen = melds.some((meld) => meld.owner === seat);
    const nameAt = (at: number) => shortName(state.view.seats[at]?.name ?? '?');
    const others = hand_counts.map((_, at) => at).filter((at) => at !== seat);
    const fewest = [...others].sort((a, b) => hand_counts[a]! - hand_counts[b]!)[0] ?? 0;
    const without = (gone: readonly Card[]) => hand.filter((card) => !gone.includes(card));
    const listed = Array.isArray(action['cards']) ? action['cards'] as Card[] : [];
    const card = typeof action['card'] === 'string' ? action['card'] : null;
    const counts = (rules['counts'] ?? {}) as Record<string, number>;
    const fold = counts['normal'] ?? counts['fight'] ?? 1;
    const price = 'normal' in counts ? fold + (counts['challenge'] ?? 0) : counts['challenge'] ?? fold;
    switch (action.type) {
      case 'draw': {
        const chows = legal.filter((one) => one.type === 'chow');
        if (chows.length > 0) {
          const after = Math.min(...chows.map((one) => deadwood(without(one['cards'] as Card[]))));
          return after >= points ? why('draw_chow_same', { n: points }) : why('draw_chow_hidden');
        }
        if (legal.some((one) => one.type === 'fight')) return why('draw_no_fight', { n: points, name: nameAt(fewest), cards: hand_counts[fewest] ?? 0 });
        return view.public.discards.length > 0 ? why('draw_no_chow') : null;
      }
      case 'chow':
        return why(isOpen ? 'chow' : 'chow_open', { before: points, after: deadwood(without(listed)) });
      case 'drop':
        return action['face_down'] === true ? why('drop_down') : isOpen ? why('drop', { n: hand.length - listed.length }) : why('drop_open');
      case 'sapaw': {
        const owner = melds[Number(action['meld'])]?.owner;
        const fill = { card: cardSign(card ?? ''), n: costOf(card ?? '') };
        return owner === undefined || owner === seat ? why('sapaw', fill) : why('sapaw_other', { ...fill, name: nameAt(owner) });
      }
      case 'dump': {
        if (card === null) return null;
        const { leftover } = arrange(hand);
        if (!leftover.includes(card)) return null;
        const alone = (one: Card) => !leftover.some((other) => other !== one && canFormMeld(one, other));
        const dearer = leftover.filter((other) => costOf(other) > costOf(card)).sort((a, b) => costOf(b) - costOf(a));
        if (alone(card)) return dearer.some(alone) ? why('dump_alone') : why('dump_alone_high', { n: costOf(card) });
        if (dearer.length === 0) return why('dump_high', { n: costOf(card) });
        const kept = dearer[0]!;
        const partner = leftover.find((other) => other !== kept && other !== card && canFormMeld(kept, other));
        return partner ? why('dump_keeps', { kept: cardSign(kept), partner: cardSign(partner) }) : why('dump_safe');
      }
      case 'fight': {
        const shut = others.find((at) => !melds.some((meld) => meld.owner === at));
        return shut === undefined ? why('fight', { n: points, name: nameAt(fewest), cards: hand_counts[fewest] ?? 0 })
          : why('fight_burned', { n: points, name: nameAt(shut) });
      }
      case 'challenge':
      case 'fold': {
        if (phase.type !== 'fight') return null;
        const fill = { n: points, price, fold, name: nameAt(phase.fighter), cards: hand_counts[phase.fighter] ?? 0 };
        return why(action.type, fill);
      }
      case 'tongits':
        return why('tongits');
      default:
        return null;
    }
  };
}

