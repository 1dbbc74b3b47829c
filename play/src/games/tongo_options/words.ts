// The texts of Tongo (options), English and Filipino side by side. Floors are numbered from 1 here; the
// server's floor 0 is floor 1 on the page.
import { createSayer } from '../../words.ts';

const WORDS = {

  // The table.
  board: ['The ring of floors', 'Ang bilog ng mga palapag'],
  floor: ['Floor {n}', 'Palapag {n}'],
  floor_holds: ['{floor}: {cards}', '{floor}: {cards}'],
  floor_facing: ['faces you', 'nakaharap sa iyo'],
  face_down: ['face down', 'nakataob'],
  die: ['die {value}', 'dado {value}'],
  treasury: ['Divine Treasury', 'Banal na Yaman'],
  chips: ['{n} chips', '{n} tsip'],
  chip_one: ['1 chip', '1 tsip'],
  round: ['Round {n}', 'Ikot {n}'],
  buy: ['Buy', 'Bili'],
  sell: ['Sell', 'Benta'],
  exchange: ['Swap', 'Palit'],
  risk: ['Risk', 'Panganib'],
  costs: ['Costs: buy {buy}, sell {sell}, swap {exchange}. Risk {risk}.', 'Halaga: bili {buy}, benta {sell}, palit {exchange}. Panganib {risk}.'],
  your_chips: ['Your chips: {n}', 'Mga tsip mo: {n}'],
  free_swap: ['free swap', 'libreng palit'],
  free_card: ['Card {n} of the free swap', 'Baraha {n} ng libreng palit'],
  token_evade: ['Evade token', 'Pang-ilag'],
  token_reserves: ['Reserves token', 'Pang-reserba'],
  token_leverage: ['Buy-in pays once', 'Minsang bayad ng buy-in'],
  token_left: ['{token}: unspent', '{token}: hindi pa gamit'],
  token_spent: ['{token}: spent', '{token}: nagamit na'],
  lever_on: ['The buy-in pays for the next card. Touch to take back.', 'Ang buy-in ang magbabayad sa susunod. Pindutin para bawiin.'],
  lever_off: ['Let the buy-in pay for the next card, once a game', 'Ipabayad sa buy-in ang susunod na baraha, minsan sa laro'],

  // The strength of a hand.
  pair: ['pair', 'pares'],
  exact_pair: ['exact pair', 'eksaktong pares'],
  chain: ['chain', 'kadena'],
  exact_chain: ['exact chain', 'eksaktong kadena'],
  four: ['four', 'apat'],
  exact_four: ['exact four', 'eksaktong apat'],
  no_match: ['no match', 'walang tugma'],
  best_at: ['{best} at floor {n}', '{best} sa palapag {n}'],
  best_none: ['Nothing of yours matches yet.', 'Wala pang tumutugma sa iyo.'],

  // Turns.
  turn_stop: ['Your turn: stop at a floor.', 'Ikaw na: huminto sa isang palapag.'],
  turn_open: ['Pay the risk, or step back.', 'Bayaran ang panganib, o umatras.'],
  turn_free: ['No risk: play your floor.', 'Walang panganib: laruin ang palapag.'],
  turn_go: ['Play your floor, then end.', 'Laruin ang palapag, saka tapusin.'],
  turn_challenge_left: ['Challenge, or end your turn.', 'Humamon, o tapusin ang turno.'],
  turn_reserves: ['{name} [converts|convert] reserves: wager {n} or fold?', 'Nag-reserba [si {name}|ka]: tumaya ng {n} o tiklop?'],
  turn_wagered: ['Spend of your wager, then end.', 'Gastusin ang taya, saka tapusin.'],
  turn_of: ['{name} [plays|play]…', '[Si {name}|Ikaw] na…'],
  at_floor: ['{name} [is|are] at floor {n}', 'Nasa palapag {n} [si {name}|ka]'],
  asked_stand: ['{name} confronts you! Stand or evade?', 'Hinahamon ka ni {name}! Tindig o ilag?'],
  asked_join: ['{name} confronts {target}. Join or fold?', 'Hinahamon ni {name} si {target}. Sali o tiklop?'],
  asked_confront: ['{name} acquires floor {n}! Confront or fold?', 'Inaangkin ni {name} ang palapag {n}! Lumaban o tiklop?'],
  waits_answer: ['{name} [answers|answer]…', 'Sumasagot [si {name}|ka]…'],
  rolling: ['The dice roll…', 'Gumugulong ang dado…'],
  shuffling: ['The deck is shuffled…', 'Binabalasa…'],
  out_now: ['You have folded.', 'Tumiklop ka na.'],

  // Actions.
  stop: ['Stop here', 'Huminto rito'],
  turn_left: ['Turn', 'Ikot'],
  turn_right: ['Turn', 'Ikot'],
  pay_risk: ['Pay the risk', 'Bayad panganib'],
  retreat: ['Retreat', 'Umatras'],
  evade: ['Evade', 'Umilag'],
  pay_to_evade: ['Pay to evade', 'Bayad-ilag'],
  convert_reserves: ['Convert reserves', 'Mag-reserba'],
  confront: ['Confront', 'Humamon'],
  confront_name: ['Confront {name}', 'Hamunin si {name}'],
  acquire: ['Acquire floor {n}', 'Angkinin ang palapag {n}'],
  fold: ['Fold', 'Tiklop'],
  lower: ['Lower', 'Ibaba'],
  raise: ['Raise', 'Itaas'],
  index_margin: ['Index of the margin', 'Indise ng margin'],
  roll: ['Roll', 'Igulong'],
  end: ['End turn', 'Tapusin'],
  stand: ['Stand', 'Tumindig'],
  join: ['Join', 'Sumali'],
  wager: ['Wager', 'Tumaya'],
  more: ['More', 'Iba pa'],
  challenge: ['Challenge', 'Hamon'],
  change_costs: ['Change costs', 'Baguhin ang halaga'],
  turn_up: ['Turn up', 'Buksan'],
  turn_down: ['Turn down', 'Itaob'],
  swap: ['Swap', 'Ipalit'],
  card_at: ['card {n}: {card}', 'baraha {n}: {card}'],
  keeps_all: ['keep all cards', 'walang itatapon'],
  draws: ['draw {n} new', 'kukuha ng {n}'],
  for_free: ['free', 'libre'],
  touch_glow: ['touch a glowing card', 'pindutin ang umiilaw'],
  choose: ['choose', 'pumili'],
  what_next: ['What will you do?', 'Ano ang gagawin mo?'],
  new_costs: ['New costs', 'Bagong halaga'],
  less_of: ['{cost}: less', '{cost}: bawasan'],
  more_of: ['{cost}: more', '{cost}: dagdagan'],
  either_way: ['Either down or up, not both at once.', 'Pababa o pataas, hindi sabay.'],
  change_first: ['change a cost', 'baguhin muna'],
  who_wins: ['The strongest hand takes {pot}', 'Ang pinakamalakas ang kukuha ng {pot}'],
  you_hold: ['You hold: {best}', 'Hawak mo: {best}'],
  not_now: ['not now', 'hindi ngayon'],

  // Events.
  said_dealt: ['The cards are dealt. {name} [begins|begin].', 'Naipamigay na. [Si {name}|Ikaw] ang mauuna.'],
  said_stopped: ['{name} [stops|stop] at floor {n}.', 'Huminto [si {name}|ka] sa palapag {n}.'],
  said_risk: ['{name} [pays|pay] the risk: {chips}.', 'Nagbayad [si {name}|ka] ng panganib: {chips}.'],
  said_retreated: ['{name} [retreats|retreat].', 'Umatras [si {name}|ka].'],
  said_folded: ['{name} [folds|fold].', 'Tumiklop [si {name}|ka].'],
  said_costs: ['{name} [changes|change] the costs to {buy}, {sell}, {exchange}.', 'Binago [ni {name}|mo] ang halaga: {buy}, {sell}, {exchange}.'],
  said_bought: ['{name} [turns|turn] up {card}.', 'Binuksan [ni {name}|mo]: {card}.'],
  said_sold: ['{name} [turns|turn] {card} down.', 'Itinaob [ni {name}|mo] ang {card}.'],
  said_exchanged: ['{name} [swaps|swap] two hidden cards.', 'Nagpalit [si {name}|ka] ng nakataob.'],
  said_rolled: ['{name} [rolls|roll]: {values}.', 'Iginulong [ni {name}|mo]: {values}.'],
  said_evaded: ['{name} [evades and draws|evade and draw] {n}.', 'Umilag [si {name}|ka], kumuha ng {n}.'],
  said_you_drew: ['You draw {cards}.', 'Nakuha mo: {cards}.'],
  said_reserves: ['{name} [converts|convert] reserves: a wager of {n}!', 'Nag-reserba [si {name}|ka]: taya na {n}!'],
  said_confronted: ['{name} [confronts|confront] [{target}|you]!', 'Hamon [ni {name}|mo] [kay {target}|sa iyo]!'],
  said_acquired: ['{name} [acquires|acquire] floor {n}!', 'Inaangkin [ni {name}|mo] ang palapag {n}!'],
  said_stand: ['{name} [stands|stand].', 'Tumindig [si {name}|ka].'],
  said_join: ['{name} [joins|join].', 'Sumali [si {name}|ka].'],
  said_confront: ['{name} [confronts|confront].', 'Lumaban [si {name}|ka].'],
  said_ended: ['{name} [ends|end] the turn.', 'Tapos [si {name}|ka na].'],

  // The end.
  end_last_in: ['All others folded', 'Tumiklop ang lahat'],
  end_confront: ['Confrontation', 'Hamunan'],
  end_acquire: ['Acquired', 'Inangkin'],
  end_reserves: ['Reserves converted', 'Nag-reserba'],
  end_rounds: ['Last round', 'Huling ikot'],
  item_buy_in: ['buy-in', 'buy-in'],
  item_risk: ['risk', 'panganib'],
  item_buys: ['turned up', 'binuksan'],
  item_sells: ['turned down', 'itinaob'],
  item_exchanges: ['swaps', 'palit'],
  item_rates: ['costs', 'halaga'],
  item_evasion: ['evasion', 'ilag'],
  item_answer: ['answer', 'sagot'],
  item_reserves: ['wager', 'taya'],
  pot_was: ['The treasury held {n} chips', '{n} tsip ang nasa yaman'],
  folded: ['folded', 'tumiklop'],
  winner: ['winner', 'panalo'],
  with_floor: ['with floor {n}', 'sa palapag {n}'],
  hands_later: ['The cards of those who folded come with the seed…', 'Darating kasama ng binhi ang baraha ng tumiklop…'],

  // The check of the deal.
  deal_dealer: ['The dealer', 'Ang tagabigay'],
  deal_options_deck: ['The cards of the floors', 'Ang mga baraha ng palapag'],
  deal_dice: ['Where the dice lay', 'Kung saan nahulog ang dado'],
  deal_rolled: ['A roll of the dice', 'Isang gulong ng dado'],
  deal_shuffle: ['A shuffle of the deck', 'Isang balasa'],

  // Hints of the first game.
  hint_stop: ['Stop where a card up has the number of one of yours: that is a pair. Marked floors match.',
    'Huminto kung saan may kapareho ng numero mo: pares iyon. May marka ang tugma.'],
  hint_risk: ['Pay the risk to use this floor. Retreat costs nothing, but not twice in a row.',
    'Magbayad para magamit ang palapag. Libre ang umatras, pero hindi sunod.'],
  hint_buy: ['Touch a hidden card of your floor to turn it up: it may match a card of yours.',
    'Pindutin ang nakataob sa palapag mo para buksan: baka tumugma.'],
  hint_roll: ['A die faces your floor, so you may roll. A die with your pair’s number makes it a chain.',
    'May dado sa palapag mo, puwedeng igulong. Kadena ang pares na may kaparehong dado.'],
  hint_costs: ['Touch the costs to raise “sell”: the next ones pay more risk into the treasury.',
    'Pindutin ang halaga at itaas ang benta: mas malaki ang panganib ng iba.'],
  hint_challenge: ['{best}: strong enough for a challenge. The strongest hand takes the treasury.',
    '{best}: sapat para humamon. Kukunin ng pinakamalakas ang yaman.'],
  hint_end: ['Nothing more to do here? End your turn. From round {n} on you may challenge.',
    'Wala nang gagawin? Tapusin ang turno. Puwedeng humamon mula ikot {n}.'],
  hint_stand: ['You hold: {best}. Stand if you think it wins; your token lets you evade once.',
    'Hawak mo: {best}. Tumindig kung mananalo; minsan lang makakailag.'],
  hint_answer: ['You hold: {best}. Who folds is out, and loses only what is paid.',
    'Hawak mo: {best}. Ang tumiklop, naibayad lang ang talo.'],
  hint_reserves: ['The wager goes into the treasury, and then all show. You hold: {best}.',
    'Mapupunta sa yaman ang taya, saka magpapakita lahat. Hawak mo: {best}.'],
  hint_wager: ['What you do not spend of your wager goes into the treasury at the end of your turn.',
    'Mapupunta sa yaman ang hindi mo nagastos sa taya.'],
} as const satisfies Record<string, readonly [string, string]>;

export type TongoWord = keyof typeof WORDS;

export const word = createSayer(WORDS);

export function isTongoWord(text: string): text is TongoWord {
  return text in WORDS;
}

export function chips(n: number): string {
  return n === 1 ? word('chip_one') : word('chips', { n });
}

/** Returns the rank on a card of this number: A, 2 to 10, J, K. */
export function rankOf(number: number): string {
  return ['A', '2', '3', '4', '5', '6', '7', '8', '9', '10', 'J', 'K'][number - 1] ?? String(number);
}
