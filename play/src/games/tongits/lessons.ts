// The lessons of a first game of Tong-its: its aim, and each action when it is possible for the first time.
// Loaded at tables without time pressure.
import type { Card, TableState } from '../../model.ts';
import { shortName } from '../../parts/index.tsx';
import { cardSign, createSayer, type Fill } from '../../words.ts';
import type { Lesson } from '../folder.ts';
import type { View } from './types.ts';

const WORDS = {
  goal: ['What it is about', 'Ano ang layunin'],
  goal_text: ['Make melds: three or four of a rank, or three and more of a suit in a row. Cards that are left over cost points, and the fewest points win.',
    'Gumawa ng bahay: tatlo o apat na magkapareho, o tatlo o higit pang magkakasunod na iisang suit. Puntos ang natitira, at panalo ang pinakakaunti.'],
  hand: ['Your hand', 'Ang kamay mo'],
  hand_text: ['A green line marks what is a meld already. {n} points are left over now. Nobody hurries you in this game.',
    'May guhit na berde ang mga bahay na. {n} puntos ang natitira ngayon. Walang nagmamadali sa larong ito.'],
  starter: ['You begin', 'Ikaw ang mauuna'],
  starter_text: ['You have thirteen cards, so you draw none now: lay down what you like, and dump one.', 'Labintatlo ang baraha mo kaya hindi ka na bubunot: magbaba kung gusto, saka magtapon ng isa.'],
  draw: ['Draw', 'Bunot'],
  draw_text: ['Your turn begins: draw a card from the stock.', 'Simula ng turno mo: bumunot ng isa.'],
  chow: ['Chow', 'Chow'],
  chow_text: ['{card} was dumped, and makes a meld with cards of yours. Chow takes it, and lays the meld down. Or draw instead.',
    'Itinapon ang {card}, at mabubuo nito ang bahay mo. Kukunin ito ng chow at ilalapag ang bahay. O bumunot na lang.'],
  drop: ['Lay a meld', 'Magbaba ng bahay'],
  drop_text: ['You hold a meld: {cards}. Drop lays it down. Whoever has no meld on the table at the end is burned: all cards count, and it costs more.',
    'May bahay ka: {cards}. Ilalapag ito ng Ibaba. Sunog ang walang bahay sa mesa sa dulo: bilang lahat ng baraha, at mas mahal.'],
  sapaw: ['Sapaw', 'Sapaw'],
  sapaw_text: ['{card} fits a meld on the table. Lift it and touch that meld: it costs you nothing there. If the meld is another player’s, that player may not fight in the next turn.',
    'Kasya ang {card} sa bahay sa mesa. Iangat at pindutin ang bahay: wala na itong puntos doon. Kung sa iba ang bahay, hindi siya makakalaban sa susunod niyang turno.'],
  dump: ['Dump', 'Tapon'],
  dump_text: ['A turn ends with one card on the discards. Lift a card that goes with no other, best a high one, and touch Dump.',
    'Natatapos ang turno sa isang tapon. Iangat ang barahang walang kapares, mataas kung maaari, at pindutin ang Tapon.'],
  fight: ['Fight', 'Laban'],
  fight_text: ['You are open, so you may fight before you draw: the fewest points win. You have {n}. {name} holds {cards} cards. If that seems too many, draw.',
    'Bukas ka, kaya puwede kang lumaban bago bumunot: panalo ang pinakakaunting puntos. {n} ang sa iyo. {cards} ang baraha ni {name}. Kung parang marami, bumunot.'],
  answer: ['{name} fights', 'Laban ni {name}'],
  answer_text: ['Challenge if you think that your {n} points are fewer, else fold. To lose a challenge costs more than to fold.',
    'Sumabay kung sa tingin mo mas kaunti ang {n} puntos mo, kung hindi tumiklop. Mas mahal ang matalo sa sabay kaysa tumiklop.'],
  tongits: ['Tongits!', 'Tongits!'],
  tongits_text: ['Every card of yours is in a meld. Declare it, and you have won.', 'Nasa bahay lahat ng baraha mo. Ideklara, at panalo ka na.'],
} as const;

const word = createSayer(WORDS);

interface Tools {
  arrange: (hand: readonly Card[]) => { melds: readonly (readonly Card[])[]; leftover: readonly Card[] };
  deadwood: (hand: readonly Card[]) => number;
}

export function lessons({ arrange, deadwood }: Tools) {
  return (state: TableState): Lesson[] => {
    const seat = state.view.seat;
    const legal = state.prompt?.legal ?? [];
    if (state.view.phase.type !== 'playing' || seat === null || legal.length === 0) return [];
    const view = state.view.phase.view as View;
    const { phase, discards, hand_counts } = view.public;
    const hand = view.hands[seat] ?? [];
    const n = deadwood(hand);
    const lesson = (name: keyof typeof WORDS & string, marks: string[], fill: Fill = {}): Lesson =>
      ({ name, title: word(name, fill), text: word(`${name}_text` as keyof typeof WORDS, { n, ...fill }), marks });
    const act = (name: string) => `[data-act="${name}"]`;
    const may = (type: string) => legal.filter((one) => one.type === type);
    const found = [lesson('goal', []), lesson('hand', ['.hand .rack'])];
    if (may('tongits').length > 0) return [...found, lesson('tongits', [act('tongits')])];
    if (phase.type === 'fight') {
      return [...found, lesson('answer', [act('challenge'), act('fold')], { name: shortName(state.view.seats[phase.fighter]?.name ?? '?') })];
    }
    if (phase.type === 'draw') {
      if (may('chow').length > 0) found.push(lesson('chow', [act('chow'), '.discards'], { card: cardSign(discards.at(-1) ?? '') }));
      if (may('fight').length > 0) {
        const few = hand_counts.map((_, at) => at).filter((at) => at !== seat).sort((a, b) => hand_counts[a]! - hand_counts[b]!)[0] ?? 0;
        found.push(lesson('fight', [act('fight')], { name: shortName(state.view.seats[few]?.name ?? '?'), cards: hand_counts[few] ?? 0 }));
      }
      return [...found, lesson('draw', [act('draw'), '.stock'])];
    }
    if (hand.length === 13 && discards.length === 0) found.push(lesson('starter', []));
    const drops = may('drop').map((one) => one['cards'] as Card[]);
    const arranged = arrange(hand).melds.map((one) => [...one].sort().join());
    const meld = drops.find((one) => arranged.includes([...one].sort().join())) ?? drops[0];
    if (meld) found.push(lesson('drop', [act('drop')], { cards: meld.map(cardSign).join(' ') }));
    const fits = may('sapaw')[0];
    if (fits) found.push(lesson('sapaw', [`[data-card="${String(fits['card'])}"]`, `[data-target="meld-${String(fits['meld'])}"]`], { card: cardSign(String(fits['card'])) }));
    return [...found, lesson('dump', [act('dump')])];
  };
}
