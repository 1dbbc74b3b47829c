// The texts of tournaments, English and Filipino side by side.
import { titleOf } from '../games/list.ts';
import { coinsText, createSayer, language } from '../words.ts';
import type { Stage, Tournament, TournamentDetail } from './model.ts';

const WORDS = {
  tab_open: ['Open', 'Bukas'],
  tab_running: ['Running', 'Nilalaro'],
  tab_mine: ['Mine', 'Akin'],
  tab_over: ['Over', 'Tapos na'],
  none_open: ['No tournament is open now. Look again later.', 'Walang bukas na torneo ngayon. Tumingin ulit mamaya.'],
  none_running: ['No tournament is being played now.', 'Walang nilalarong torneo ngayon.'],
  none_mine: ['You are in no tournament yet.', 'Wala ka pa sa kahit anong torneo.'],
  none_over: ['No tournament is over yet.', 'Wala pang natapos na torneo.'],
  by_code: ['Private tournament? Enter its code', 'Pribadong torneo? Ilagay ang code'],
  code_unknown: ['No tournament has this code.', 'Walang torneo sa code na ito.'],
  find: ['Find', 'Hanapin'],
  private: ['private', 'pribado'],

  format_sit_and_go: ['sit-and-go', 'sit-and-go'],
  format_knock_out: ['knock-out', 'knock-out'],
  format_arena: ['arena', 'arena'],
  format_duplicate: ['duplicate', 'duplicate'],
  state_announced: ['open', 'bukas'],
  state_running: ['running', 'nilalaro'],
  state_ended: ['over', 'tapos na'],
  state_cancelled: ['cancelled', 'kinansela'],
  starts_full: ['when full', 'kapag puno'],
  starts_in: ['in {time}', 'sa {time}'],
  starts_now: ['at once', 'ngayon na'],
  in_it: ['you are in', 'kasali ka'],

  price: ['Entry', 'Bayad'],
  free: ['free', 'libre'],
  pool: ['Prizes', 'Premyo'],
  pool_least: ['from {coins}', 'mula {coins}'],
  guaranteed: ['{coins} guaranteed', '{coins} garantisado'],
  no_prizes: ['none', 'wala'],
  entrants: ['Players', 'Manlalaro'],
  entrants_of: ['{n} of {most}', '{n} sa {most}'],
  start: ['Start', 'Simula'],
  round: ['Round', 'Round'],
  ends: ['Ends', 'Matatapos'],
  next_round: ['Next round', 'Susunod na round'],

  how: ['How it is played', 'Paano lalaruin'],
  how_tables: ['{game}, {seats} at each table, for points instead of coins.', '{game}, {seats} sa bawat mesa, puntos ang laban at hindi barya.'],
  how_sit_and_go: ['It starts when all {n} are in. Each table plays {games} games; its best player goes on, until one is left.',
    'Magsisimula kapag kumpleto ang {n}. {games} laro sa bawat mesa; ang pinakamagaling ang tutuloy, hanggang isa na lang.'],
  how_one_table: ['It starts when all {n} are in. {games} games at one table; the most points win.',
    'Magsisimula kapag kumpleto ang {n}. {games} laro sa iisang mesa; panalo ang may pinakamaraming puntos.'],
  how_stage: ['Stage {stage}: {rounds} rounds of {games} games, then the best {advance} go on.', 'Yugto {stage}: {rounds} round na tig-{games} laro, tapos ang {advance} pinakamagaling ang tutuloy.'],
  how_final: ['Final: {rounds} rounds of {games} games. The most points win.', 'Huling yugto: {rounds} round na tig-{games} laro. Panalo ang may pinakamaraming puntos.'],
  how_arena: ['For {time} you get a new table after every game. A win counts 2, a draw 1; after two wins in a row they count double.',
    'Sa loob ng {time}, may bago kang mesa pagkatapos ng bawat laro. 2 ang panalo, 1 ang tabla; doble pagkatapos ng dalawang sunod na panalo.'],
  how_duplicate: ['{rounds} rounds. All tables get the same cards, and you are compared with those who held yours: luck of the deal does not count.',
    '{rounds} round. Pareho ang baraha ng lahat ng mesa, at ihahambing ka sa mga humawak ng baraha mo: walang suwerte sa pamimigay.'],
  how_late: ['Late entries for {time} after the start.', 'Puwede pang humabol sa loob ng {time} pagkasimula.'],
  how_least: ['With fewer than {n} players it is cancelled, and every entry comes back.', 'Kung kulang sa {n}, kakanselahin at ibabalik ang lahat ng bayad.'],
  how_bots: ['Bots of the house take the entries that are missing; they win no prizes.', 'Pupunan ng mga bot ng bahay ang kulang; wala silang premyo.'],
  with_bots: ['with bots', 'may bot'],
  takes_passes: ['passes accepted', 'tumatanggap ng pass'],
  how_absent: ['Tables wait for nobody: the AI plays for you while you are away.', 'Walang hinihintay ang mesa: AI ang maglalaro para sa iyo kapag wala ka.'],
  prizes: ['Prizes', 'Mga premyo'],
  prizes_least: ['Prizes so far', 'Premyo sa ngayon'],
  place_n: ['Place {n}', 'Puwesto {n}'],
  prizes_more: ['and {n} more prizes', 'at {n} pang premyo'],

  register: ['Register', 'Sumali'],
  register_for: ['Register for {coins} coins', 'Sumali sa {coins} barya'],
  register_free: ['Register for free', 'Sumali nang libre'],
  register_ask: ['{price} coins are held now: {buy_in} for the prizes and {fee} for the house. Until the start you may withdraw, and all of it comes back.',
    '{price} barya ang hahawakan: {buy_in} sa premyo at {fee} sa bahay. Puwede kang umatras bago magsimula, at ibabalik lahat.'],
  register_ask_free: ['It costs nothing. Until the start you may withdraw.', 'Walang bayad. Puwede kang umatras bago magsimula.'],
  register_pass: ['Register with a pass', 'Sumali gamit ang pass'],
  register_pass_ask: ['One of your passes pays the entry (you have {n} for it). Until the start you may withdraw, and the pass comes back.',
    'Isang pass mo ang bayad ({n} ang puwede rito). Puwede kang umatras bago magsimula, at ibabalik ang pass.'],
  withdraw_pass_ask: ['Withdraw and get your pass back?', 'Aatras ka at ibabalik ang pass mo?'],
  withdrawn_pass: ['You are no longer in. Your pass came back.', 'Wala ka na sa torneo. Naibalik ang pass mo.'],
  poor: ['You have {held} of {price} coins.', 'May {held} ka sa {price} barya.'],
  code_ask: ['Code of this tournament', 'Code ng torneong ito'],
  full: ['Every entry is taken.', 'Puno na ang torneo.'],
  closed: ['Registration is closed.', 'Sarado na ang pagsali.'],
  registered: ['You are in. Your table opens by itself.', 'Kasali ka na. Kusang bubukas ang mesa mo.'],
  registered_full: ['You are in. {n} more, and it starts; your table opens by itself.', 'Kasali ka na. {n} pa at magsisimula na; kusang bubukas ang mesa mo.'],
  pending: ['Your entry is being booked…', 'Inaayos pa ang pagsali mo…'],
  withdraw: ['Withdraw', 'Umatras'],
  withdraw_ask: ['Withdraw and get {coins} coins back?', 'Aatras ka at ibabalik ang {coins} barya?'],
  withdraw_ask_free: ['Withdraw from this tournament?', 'Aatras ka sa torneong ito?'],
  withdrawn: ['You are no longer in. {coins} coins came back.', 'Wala ka na sa torneo. Naibalik ang {coins} barya.'],
  stay_in: ['Stay in', 'Manatili'],

  playing: ['Your table is playing.', 'Naglalaro na ang mesa mo.'],
  to_table: ['To my table', 'Sa mesa ko'],
  waiting_round: ['You go on. The other tables finish this round; your next table opens by itself.', 'Tuloy ka pa. Tinatapos pa ng ibang mesa ang round; kusang bubukas ang susunod mong mesa.'],
  waiting_break: ['You go on. The next round begins soon; your table opens by itself.', 'Tuloy ka pa. Malapit na ang susunod na round; kusang bubukas ang mesa mo.'],
  waiting_pairing: ['Looking for opponents near your rank. Your table opens by itself.', 'Naghahanap ng kalabang malapit sa puwesto mo. Kusang bubukas ang mesa mo.'],
  paused: ['You are paused, because the AI played for you at the end of your last game.', 'Nakatigil ka, dahil AI ang naglaro sa dulo ng huli mong laro.'],
  eliminated: ['You are out.', 'Tanggal ka na.'],
  you_won: ['You won the tournament!', 'Panalo ka sa torneo!'],
  your_place: ['You finished in place {n}', 'Ika-{n} ka'],
  your_prize: ['Your prize: {coins} coins', 'Premyo mo: {coins} barya'],
  no_prize: ['No prize this time. Well played.', 'Walang premyo ngayon. Magaling ang laban.'],
  cancelled: ['This tournament was cancelled.', 'Kinansela ang torneong ito.'],
  refunded: ['{coins} coins came back to you.', 'Naibalik sa iyo ang {coins} barya.'],
  continue: ['Continue', 'Magpatuloy'],

  standings: ['Standings', 'Talaan'],
  results: ['Result', 'Resulta'],
  top: ['Top', 'Nangunguna'],
  around: ['Around me', 'Malapit sa akin'],
  out: ['out', 'tanggal'],
  games_n: ['Games', 'Laro'],
  own_rank: ['You: rank {rank}', 'Ikaw: puwesto {rank}'],
  leader: ['Leader: {name}', 'Una: {name}'],
  points: ['{n} points', '{n} puntos'],
  percent: ['{n} %', '{n} %'],
  rank_of: ['{rank} of {n}', '{rank} sa {n}'],
  show_standings: ['Standings: rank {rank}, {score}', 'Talaan: puwesto {rank}, {score}'],
  compare: ['The same cards at the other tables', 'Parehong baraha sa ibang mesa'],
  compare_game: ['Round {round}, game {game}: you made {points}, others with your cards {mean} on average. Better than {fewer}, equal to {equal}, behind {more}.',
    'Round {round}, laro {game}: {points} ang sa iyo, {mean} ang karaniwan ng iba sa baraha mo. Mas mataas sa {fewer}, tabla sa {equal}, mas mababa sa {more}.'],
  compare_alone: ['Round {round}, game {game}: you made {points}. Nobody else played these cards.', 'Round {round}, laro {game}: {points} ang sa iyo. Walang ibang naglaro sa barahang ito.'],
  compare_best: ['At your cards the others made:', 'Sa baraha mo, ito ang nakuha ng iba:'],
  my_games: ['My games here', 'Mga laro ko rito'],
  game_at: ['Round {round}, game {game}', 'Round {round}, laro {game}'],
  rules: ['Rules of tournaments', 'Patakaran ng torneo'],
  soon: ['{name} starts in {time}.', 'Magsisimula ang {name} sa {time}.'],
  table_ready: ['{name}: your table is ready.', '{name}: handa na ang mesa mo.'],
  goes_on: ['{name} goes on with you.', 'Tuloy ang {name} kasama ka.'],
  look: ['Look', 'Tingnan'],
  minutes: ['{n} min', '{n} min'],
  hours: ['{n} h', '{n} oras'],
  days: ['{n} days', '{n} araw'],
} as const satisfies Record<string, readonly [string, string]>;

export const word = createSayer(WORDS);

function isOwnWord(text: string): text is keyof typeof WORDS {
  return text in WORDS;
}

/** Returns the text of a word with a prefix, such as a format, or the name itself. */
export function nameOf(prefix: 'format' | 'state' | 'tab' | 'none', name: string): string {
  const key = `${prefix}_${name}`;
  return isOwnWord(key) ? word(key) : name;
}

/** Returns a duration in words, such as 2 h or 15 min. */
export function durationText(seconds: number): string {
  const minutes = Math.round(seconds / 60);
  return minutes % 60 === 0 && minutes > 0 ? word('hours', { n: minutes / 60 }) : word('minutes', { n: minutes });
}

/** Returns the time that is left as a clock, such as 1:05 or 2:00:00; of more than two days, the days. */
export function clockText(ms: number): string {
  const seconds = Math.max(0, Math.ceil(ms / 1000));
  const days = Math.floor(seconds / 86_400);
  if (days > 1) return word('days', { n: days });
  const two = (n: number) => String(n).padStart(2, '0');
  const hours = Math.floor(seconds / 3600);
  const rest = `${hours > 0 ? two(Math.floor(seconds / 60) % 60) : Math.floor(seconds / 60)}:${two(seconds % 60)}`;
  return hours > 0 ? `${hours}:${rest}` : rest;
}

/** Returns the date and time of a start, in the language of the page. */
export function dateText(at: string): string {
  return new Intl.DateTimeFormat(language.value, { weekday: 'short', day: 'numeric', month: 'short', hour: 'numeric', minute: '2-digit' }).format(new Date(at));
}

/** Returns a score in points; the points of a duplicate are hundredths of all that can be won. */
export function scoreText({ format }: Pick<Tournament, 'format'>, score: number): string {
  return format === 'arena' ? String(score) : coinsText(score);
}

/** Returns the terms in words, a sentence each. */
export function termsText(one: TournamentDetail): string[] {
  const texts = [word('how_tables', { game: titleOf(one.kind), seats: one.seats })];
  const [first] = one.stages;
  if (one.format === 'sit_and_go' && first) {
    texts.push(word(one.stages.length > 1 ? 'how_sit_and_go' : 'how_one_table', { n: one.entrants_max, games: first.games }));
  } else if (one.format === 'arena') {
    texts.push(word('how_arena', { time: durationText(one.duration_s ?? 0) }));
  } else if (one.format === 'duplicate' && first) {
    texts.push(word('how_duplicate', { rounds: first.rounds }));
  } else {
    texts.push(...one.stages.map((stage, at) => stageText(stage, at)));
  }
  if (one.late_registration_s > 0) texts.push(word('how_late', { time: durationText(one.late_registration_s) }));
  if (one.format !== 'sit_and_go') texts.push(word('how_least', { n: one.entrants_min }));
  texts.push(word('how_absent'));
  if (one.has_bots) texts.push(word('how_bots'));
  return texts;
}

function stageText({ rounds, games, advance }: Stage, at: number): string {
  return advance > 0 ? word('how_stage', { stage: at + 1, rounds, games, advance }) : word('how_final', { rounds, games });
}
