// All texts of the client, English and Filipino side by side. The game's terms are not translated: sapaw,
// bunot, tapon, laban, hit. `{name}` is filled in; of `[plays|play]` the second form is used if the person is
// the player, as `you`.
import { signal } from '@preact/signals';

export type Language = 'en' | 'fil';
export const language = signal<Language>('en');

export const WORDS = {
  // Greeting and sign-in.
  greeting: ['Sit down, the cards are warm.', 'Upo ka na, mainit pa ang baraha.'],
  play: ['Play', 'Maglaro'],
  play_note: ['{game} at once, bet {bet}', '{game} agad, taya {bet}'],
  rooms: ['Rooms', 'Mga kuwarto'],
  friends: ['Friends', 'Kaibigan'],
  rewards: ['Rewards', 'Gantimpala'],
  boards: ['Leaders', 'Nangunguna'],
  history: ['My games', 'Mga laro ko'],
  settings: ['Settings', 'Ayos'],
  rules: ['Rules', 'Patakaran'],
  close: ['Close', 'Isara'],
  home: ['Home', 'Simula'],
  coins: ['coins', 'barya'],
  menu: ['Menu', 'Menu'],
  game_failed: ['This game could not be loaded.', 'Hindi ma-load ang larong ito.'],
  loading: ['One moment…', 'Sandali lang…'],
  nothing_here: ['Nothing here yet.', 'Wala pa rito.'],
  save: ['Save', 'I-save'],
  name_ask: ['What shall they call you?', 'Ano ang itatawag sa iyo?'],
  name_label: ['Your name', 'Pangalan mo'],
  later: ['Later', 'Mamaya na'],
  saved: ['Saved.', 'Na-save na.'],
  copied: ['Copied.', 'Nakopya na.'],

  game_goes_on: ['Your game goes on. The AI plays for you.', 'Tuloy ang laro mo. AI ang naglalaro para sa iyo.'],
  game_over: ['Your game is over.', 'Tapos na ang laro mo.'],
  game_first: ['Your last game still goes on.', 'Tuloy pa ang huling laro mo.'],
  return: ['Return', 'Bumalik'],
  result: ['Result', 'Resulta'],
  screen_failed: ['This could not be loaded.', 'Hindi ito ma-load.'],

  // Tournaments; their own screens have further texts.
  tournament: ['Tournament', 'Torneo'],
  tournaments: ['Tournaments', 'Mga torneo'],
  tournaments_short: ['play for prizes', 'maglaro para sa premyo'],
  tournament_points: ['Points only; your coins are safe', 'Puntos lang; ligtas ang barya mo'],
  to_tournament: ['To the tournament', 'Sa torneo'],
  leave_tournament: ['Leave? The AI plays your games of the tournament until you return.', 'Aalis ka? AI ang maglalaro ng mga laro mo sa torneo hanggang bumalik ka.'],

  // Rooms and waiting.
  loss_max: ['up to {coins} coins at stake', 'hanggang {coins} barya ang taya'],
  loss_note: ['A game can cost you up to {coins} coins.', 'Hanggang {coins} barya ang puwedeng matalo sa isang laro.'],
  bet: ['Bet {coins}', 'Taya {coins}'],
  wallet_from: ['from {coins} coins', 'mula {coins} barya'],
  wallet_to: ['up to {coins}', 'hanggang {coins}'],
  seats_n: ['{n} players', '{n} manlalaro'],
  playing_now: ['{n} playing', '{n} naglalaro'],
  hits_pot: ['{n} wins in a row take the POT', '{n} sunod na panalo ang kukuha ng POT'],
  room_closed_note: ['closed', 'sarado'],
  account_note: ['needs a password', 'kailangan ng password'],
  seeking: ['Looking for a table…', 'Naghahanap ng mesa…'],
  seeking_note: ['Players first; if nobody comes, bots of the house sit down.',
    'Mga manlalaro muna; kung walang darating, uupo ang mga bot ng bahay.'],
  seeking_network: ['Everyone else who is waiting uses the same network as you, and this room keeps such players apart. Choose a room with a lower bet, or another connection.',
    'Iisa ang network mo at ng ibang naghihintay, kaya hindi kayo magkakasama rito. Pumili ng mas mababang taya o ibang koneksiyon.'],
  seeking_room: ['Room {room}, bet {bet}', 'Kuwarto {room}, taya {bet}'],
  cancel: ['Cancel', 'Huwag na'],
  nobody_came: ['Nobody came this time.', 'Walang dumating ngayon.'],
  out_of_coins: ['You do not have enough coins for this room.', 'Kulang ang barya mo sa kuwartong ito.'],

  // Practice.
  practice: ['Practise', 'Magsanay'],
  counts: ['{n} bets', '{n} taya'],
  practice_mark: ['practice, no coins', 'pagsasanay, walang barya'],
  practice_short: ['alone with bots, for nothing', 'mga bot lang ang kalaban, libre'],
  practice_note: ['Play with bots for nothing. At your turn you may ask what a bot would play.',
    'Makipaglaro sa mga bot nang walang taya. Sa turno mo, puwede mong itanong ang galaw ng bot.'],
  advice_ask: ['What would a bot play?', 'Ano ang galaw ng bot?'],
  advice_is: ['A bot would play: {what}', 'Ganito ang bot: {what}'],
  leave_practice: ['Leave during a game? Leaving ends it.', 'Aalis ka habang may laro? Matatapos na ito.'],

  // Private tables.
  friends_title: ['A table for friends', 'Mesa para sa magkakaibigan'],
  open_table: ['Open a table', 'Magbukas ng mesa'],
  join_table: ['Join by code', 'Sumali gamit ang code'],
  code: ['Code', 'Code'],
  join: ['Sit down', 'Umupo'],
  bet_label: ['Bet in coins', 'Taya sa barya'],
  short_stakes: ['Players who run low play on with what they have left', 'Tuloy ang kapos, itataya ang natitira'],
  game: ['Game', 'Laro'],
  rule_set: ['Rules', 'Patakaran'],
  set_kingdom: ['Kingdom', 'Kingdom'],
  set_classic: ['Classic', 'Classic'],
  set_joker: ['Joker', 'Joker'],
  set_standard: ['Standard', 'Standard'],
  set_personal: ['Personal, for four', 'Personal, apat'],
  set_advanced: ['Advanced', 'Advanced'],
  set_lively: ['Lively', 'Masigla'],
  set_seed: ['As first written', 'Orihinal'],
  link: ['Link', 'Link'],
  copy_link: ['Copy the link', 'Kopyahin ang link'],
  share: ['Share', 'Ibahagi'],
  invite: ['Invite', 'Mag-imbita'],
  invite_note: ['Friends scan this, open the link, or type the code.',
    'I-scan ito ng kaibigan, buksan ang link, o i-type ang code.'],
  invited: ['A friend invites you to a table.', 'Iniimbitahan ka ng kaibigan sa mesa.'],
  invited_by: ['{name} invites you', 'Iniimbitahan ka ni {name}'],
  invite_gone: ['This table is gone', 'Wala na ang mesang ito'],
  invite_gone_note: ['The code {code} leads to no table any more. Ask your friend for a new one.',
    'Wala nang mesa ang code na {code}. Humingi ng bago sa kaibigan mo.'],
  invited_terms: ['{game}, bet {bet}. {n} of {seats} sit there.', '{game}, taya {bet}. {n} sa {seats} ang nakaupo.'],
  send_away: ['Remove {name}', 'Paalisin si {name}'],
  waiting_friends: ['Waiting for {n} more', 'Hinihintay pa ang {n}'],

  // The table.
  table: ['Table', 'Mesa'],
  you: ['You', 'Ikaw'],
  your: ['you', 'ikaw'],
  bot: ['BOT', 'BOT'],
  ai: ['AI', 'AI'],
  away: ['away', 'wala'],
  empty_seat: ['Free seat', 'Bakante'],
  cards_n: ['{n} cards', '{n} baraha'],
  stock_left: ['{n} left', '{n} na lang'],
  stock: ['Stock', 'Bunutan'],
  discard: ['Discard', 'Tapon'],
  pot: ['POT', 'POT'],
  pot_more: ['{n} more wins', '{n} panalo pa'],
  pot_one: ['one more win', 'isang panalo pa'],
  crown: ['Crown: {name}', 'Korona: {name}'],
  points_left: ['{n} points left', '{n} puntos pa'],
  sort_suit: ['By suit', 'Suit'],
  sort_meld: ['By meld', 'Bahay'],
  group: ['Group', 'Pagsamahin'],
  hand: ['Your hand', 'Mga baraha mo'],
  melds: ['Melds', 'Mga bahay'],
  meld_of: ['[Meld of {name}|Your meld]: {cards}', 'Bahay [ni {name}|mo]: {cards}'],
  face_down_meld: ['{n} cards face down', '{n} barahang nakataob'],
  opponents: ['The others', 'Mga kalaban'],
  actions: ['What you can do', 'Puwede mong gawin'],
  waiting_players: ['Waiting for players…', 'Naghihintay ng manlalaro…'],
  prepare_note: ['The next game begins when all are ready.', 'Magsisimula kapag handa na ang lahat.'],
  ready: ['Ready', 'Handa na'],
  ready_done: ['Ready. Waiting for the others.', 'Handa ka na. Hinihintay ang iba.'],
  all_ready: ['All are ready. Dealing…', 'Handa na ang lahat. Namimigay…'],
  dealing: ['Dealing…', 'Namimigay…'],
  counting: ['Counting…', 'Nagbibilang…'],
  leave: ['Leave', 'Umalis'],
  leave_ask: ['Leave during a game? The AI plays on, and the result is yours.',
    'Aalis ka habang may laro? Itutuloy ng AI, at sa iyo ang resulta.'],
  leave_table: ['Leave this table?', 'Aalis ka sa mesang ito?'],
  stay: ['Stay', 'Manatili'],
  say: ['Say', 'Magsalita'],
  live: ['Connected', 'Konektado'],

  unknown_game: ['This page does not know this game yet.', 'Hindi pa alam ng pahinang ito ang larong ito.'],

  // Turns.
  turn_draw: ['Your turn: draw, or chow.', 'Ikaw na: bumunot o mag-chow.'],
  turn_draw_fight: ['Your turn: draw, chow or fight.', 'Ikaw na: bunot, chow o laban.'],
  turn_play: ['Lay, sapaw, then dump one.', 'Magbaba, sapaw, saka tapon.'],
  turn_of: ['{name} [plays|play]…', '[Si {name}|Ikaw] na…'],
  fight_called: ['{name} calls a fight! Challenge or fold?', 'Laban ni {name}! Sasabay ka o tiklop?'],
  fight_mine: ['You called a fight. They answer…', 'Tumawag ka ng laban. Sumasagot sila…'],
  fight_others: ['{name} called a fight.', 'Tumawag ng laban si {name}.'],
  fight_answered: ['You have answered.', 'Nakasagot ka na.'],
  draw: ['Draw', 'Bunot'],
  chow: ['Chow', 'Chow'],
  fight: ['Fight', 'Laban'],
  drop: ['Drop', 'Ibaba'],
  drop_down: ['Face down', 'Itaob'],
  sapaw: ['Sapaw', 'Sapaw'],
  sapaw_choose: ['Sapaw to which meld?', 'Saang bahay isasapaw?'],
  dump: ['Dump', 'Tapon'],
  tongits: ['Tongits!', 'Tongits!'],
  challenge: ['Challenge', 'Sabay'],
  fold: ['Fold', 'Tiklop'],
  chow_choose: ['Chow with which cards?', 'Alin ang isasama sa chow?'],
  from_stock: ['from the stock', 'mula sa bunutan'],
  with_cards: ['with {cards}', 'kasama {cards}'],
  to_meld: ['{card} to {name}', '{card} [kay {name}|sa iyo]'],
  ways: ['{n} ways', '{n} paraan'],
  deadwood_now: ['with {n} points', 'sa {n} puntos'],

  // Reasons against an action.
  why_turn: ['when it is your turn', 'kapag ikaw na'],
  why_discard_none: ['no discard', 'walang tapon'],
  why_chow: ['makes no meld', 'hindi nabubuo'],
  why_not_open: ['lay a meld first', 'magbaba muna'],
  why_blocked: ['sapawed: next turn', 'nasapawan: sa susunod'],
  why_first: ['first in your turn', 'sa simula ng turno'],
  why_drawn: ['draw first', 'bumunot muna'],
  why_select_meld: ['choose a meld', 'pumili ng bahay'],
  why_no_meld: ['no meld', 'hindi bahay'],
  why_select_card: ['choose a card', 'pumili ng baraha'],
  why_one_card: ['one card only', 'isa lang'],
  why_no_target: ['fits no meld', 'walang mapagsapawan'],
  why_addable: ['must be sapawed', 'kailangang isapaw'],
  why_joker: ['a joker stays', 'hindi itinatapon ang joker'],
  why_left_over: ['cards are left', 'may natitira pa'],
  why_sent: ['sent…', 'ipinadala…'],
  why_offline: ['no connection', 'walang koneksiyon'],
  why_rule: ['rule {rule}', 'patakaran {rule}'],

  // Events, also for screen readers.
  said_drawn: ['{name} [draws|draw].', 'Bumunot [si {name}|ka].'],
  said_you_drew: ['You draw {card}.', 'Nabunot mo: {card}.'],
  said_dumped: ['{name} [dumps|dump] {card}.', 'Tapon [ni {name}|mo]: {card}.'],
  said_chowed: ['{name} [chows|chow] {card}.', 'Chow [ni {name}|mo]: {card}.'],
  said_dropped: ['{name} [lays|lay] {cards}.', 'Ibinaba [ni {name}|mo]: {cards}.'],
  said_face_down: ['{name} [lays|lay] {n} cards face down.', 'Nagtaob [si {name}|ka] ng {n} baraha.'],
  said_sapawed: ['{name} [adds|add] {card} to [the meld of {owner}|your meld].', 'Sapaw [ni {name}|mo]: {card} [kay {owner}|sa iyo].'],
  said_fought: ['{name} [calls|call] a fight.', 'Tumawag [ng laban si {name}|ka ng laban].'],
  said_tongits: ['{name} [declares|declare] Tongits!', 'Tongits [si {name}|ka]!'],
  said_dealt: ['The cards are dealt. {name} [begins|begin].', 'Naipamigay na. [Si {name}|Ikaw] ang mauuna.'],
  said_sat: ['{name} sits down.', 'Umupo si {name}.'],
  said_left: ['{name} [leaves|leave].', 'Umalis [si {name}|ka].'],
  said_takeover: ['The AI plays for [{name}|you].', 'AI ang naglalaro para [kay {name}|sa iyo].'],
  said_back: ['{name} [is|are] back.', 'Bumalik [si {name}|ka].'],

  // The end.
  you_win: ['You win!', 'Panalo ka!'],
  name_wins: ['{name} wins', 'Panalo si {name}'],
  nobody_wins: ['Nobody wins', 'Walang nanalo'],
  end_tongits: ['Tongits', 'Tongits'],
  end_fight: ['Fight', 'Laban'],
  end_stock: ['The stock is out', 'Ubos ang bunutan'],
  end_spread: ['Spread', 'Spread'],
  end_zero_count_fight: ['Zero-count fight', 'Labang walang puntos'],
  burned: ['burned', 'sunog'],
  showdown: ['showdown', 'nagpakita'],
  points_n: ['{n} points', '{n} puntos'],
  pays: ['[{from} pays|You pay] {to} {coins}', '{from} → {to}: {coins}'],
  of_owed: ['of {coins} owed', 'sa utang na {coins}'],
  item_normal: ['win', 'panalo'],
  item_tongits: ['Tongits', 'Tongits'],
  item_special: ['aces and kings', 'alas at hari'],
  item_secret: ['secret meld', 'sikretong bahay'],
  item_challenge: ['showdown', 'sabay'],
  item_burned: ['burned', 'sunog'],
  item_spread: ['Spread', 'Spread'],
  item_fight: ['fight', 'laban'],
  item_stock: ['stock', 'bunutan'],
  item_zero_count_fight: ['zero count', 'walang puntos'],
  item_variable: ['points', 'puntos'],
  item_second_hit: ['second hit', 'ikalawang hit'],
  fee_of: ['The house keeps {coins} from {name}', 'Kinukuha ng bahay ang {coins} [kay {name}|sa iyo]'],
  pot_taken: ['{name} [takes|take] the POT: {coins}', 'Kinuha [ni {name}|mo] ang POT: {coins}'],
  pot_won: ['The POT is yours!', 'Sa iyo ang POT!'],
  crown_now: ['{name} [wears|wear] the crown: {n} of {of}', '[May korona si {name}|May korona ka]: {n} sa {of}'],
  check_deal: ['Check this deal', 'Suriin ang pamimigay'],
  next_game: ['Next game', 'Susunod na laro'],

  // The check of the deal.
  deal_checked: ['The deal is fair', 'Patas ang pamimigay'],
  deal_wrong: ['The deal does not hold', 'May mali sa pamimigay'],
  deal_note: ['Your browser computed everything again, from what it was shown before the deal.',
    'Kinuwenta muli ng browser mo ang lahat, mula sa ipinakita bago mamigay.'],
  deal_expected: ['shown', 'ipinakita'],
  deal_commitment: ['The house’s seed is the one it committed to', 'Ang binhi ng bahay ay ang ipinangako nito'],
  deal_client_seed: ['A player’s seed is the one committed to', 'Ang binhi ng manlalaro ay ang ipinangako'],
  deal_starter: ['Who begins', 'Kung sino ang mauuna'],
  deal_deck: ['The deck, from all seeds', 'Ang baraha, mula sa lahat ng binhi'],
  deal_shown_commitment: ['What this page was shown before the deal', 'Ang ipinakita sa pahinang ito bago mamigay'],
  deal_shown_commitments: ['What the others committed to before', 'Ang ipinangako ng iba bago mamigay'],
  deal_own_text: ['Your own chance is in it', 'Kasama ang sarili mong suwerte'],
  deal_own_hand: ['Your hand', 'Ang mga baraha mo'],
  step_ok: ['holds', 'tama'],
  step_wrong: ['differs', 'iba'],

  // Connection and lost seats.
  reconnecting: ['Connection lost. Coming back…', 'Naputol. Bumabalik…'],
  weak: ['The line is weak…', 'Mahina ang koneksiyon…'],
  taken_over: ['The AI plays for you.', 'AI ang naglalaro para sa iyo.'],
  take_back: ['Take back', 'Bawiin'],
  replaced: ['You play in another tab.', 'Naglalaro ka sa ibang tab.'],
  replaced_note: ['The newer one plays. You may go on here instead.', 'Ang bago ang naglalaro. Puwedeng dito ka na lang.'],
  play_here: ['Play here', 'Dito maglaro'],
  signed_out: ['You are signed out.', 'Naka-sign out ka.'],
  sign_in_again: ['Sign in again', 'Mag-sign in muli'],
  broken: ['This page is too old for the house. Load it again.', 'Luma na ang pahinang ito. I-load muli.'],
  reload: ['Load again', 'I-load muli'],
  seat_lost: ['You have lost your seat', 'Nawala ang upuan mo'],
  lost_not_ready: ['You were not ready in time.', 'Hindi ka naging handa sa oras.'],
  lost_absent: ['You were away for too long.', 'Matagal kang nawala.'],
  lost_cannot_pay: ['You do not have enough coins for the next game.', 'Kulang ang barya mo sa susunod na laro.'],
  lost_removed: ['The host has removed you.', 'Pinaalis ka ng host.'],
  lost_finished: ['The last game of the tournament at this table is over.', 'Tapos na ang huling laro ng torneo sa mesang ito.'],
  lost_closed: ['The room was closed.', 'Isinara ang kuwarto.'],
  lost_left: ['You have left the table.', 'Umalis ka sa mesa.'],
  lost_voided: ['An operator ended the table. Your coins are back.', 'Tinapos ng operator ang mesa. Naibalik ang barya mo.'],
  lost_lost: ['The table was lost. Your coins come back within half a minute.', 'Nawala ang mesa. Babalik ang barya mo sa loob ng kalahating minuto.'],
  lost_not_seated: ['You no longer sit at a table.', 'Wala ka na sa mesa.'],
  find_another: ['Find another table', 'Maghanap ng ibang mesa'],

  // Rewards.
  daily: ['Daily reward', 'Araw-araw na gantimpala'],
  daily_day: ['Day {n} in a row', 'Ika-{n} araw na sunod'],
  daily_next: ['Next: day {n} in a row', 'Susunod: ika-{n} araw na sunod'],
  claim: ['Take {coins}', 'Kunin ang {coins}'],
  claimed: ['Taken. Come back tomorrow.', 'Nakuha na. Bumalik bukas.'],
  relief: ['Relief', 'Saklolo'],
  relief_note: ['For players with less than {floor} coins; {n} left today.', 'Para sa may kulang sa {floor} barya; {n} pa ngayon.'],
  got_coins: ['You get {coins} coins.', 'Nakakuha ka ng {coins} barya.'],

  // Boards and history.
  board_coins: ['Coins won', 'Baryang napanalunan'],
  board_hits: ['POTs taken', 'POT na nakuha'],
  board_rating: ['Skill', 'Galing'],
  span_day: ['Today', 'Ngayon'],
  span_week: ['Week', 'Linggo'],
  span_season: ['Season', 'Season'],
  span_ever: ['Ever', 'Lahat'],
  rank: ['Rank', 'Puwesto'],
  player: ['Player', 'Manlalaro'],
  score: ['Score', 'Iskor'],
  watch_again: ['Watch again', 'Panoorin muli'],
  won: ['won', 'panalo'],
  lost: ['lost', 'talo'],
  drawn: ['drawn', 'tabla'],
  voided: ['voided', 'walang bisa'],
  more: ['More', 'Higit pa'],
  step: ['Step {n} of {of}', 'Hakbang {n} sa {of}'],
  previous: ['Back one', 'Isa pabalik'],
  next: ['On one', 'Isa pa'],
  auto: ['Play', 'I-play'],
  pause: ['Pause', 'Itigil'],
  all_hands: ['All hands', 'Lahat ng baraha'],
  by_clock: ['the clock played', 'ang orasan ang naglaro'],
  by_ai: ['the AI played', 'ang AI ang naglaro'],
  the_deal: ['The deal', 'Ang pamimigay'],

  // Settings.
  set_language: ['Language', 'Wika'],
  set_sound: ['Sounds', 'Tunog'],
  set_four_colours: ['Four-colour suits', 'Apat na kulay'],
  set_large_cards: ['Large cards', 'Malalaking baraha'],
  set_still: ['Less motion', 'Bawas na galaw'],
  set_hints: ['Hints', 'Mga payo'],
  account: ['Account', 'Account'],
  password_label: ['Password', 'Password'],
  password_set: ['Protect this account with a password', 'Panatilihin ang account gamit ang password'],
  sign_in: ['Sign in', 'Mag-sign in'],
  sign_in_note: ['You have a name and password already?', 'May pangalan at password ka na?'],
  password_note: ['Then you can sign in anywhere, and sit in every room.', 'Makakapag-sign in ka kahit saan, sa lahat ng kuwarto.'],
  avatar: ['Picture', 'Larawan'],

  // Hints of the first game, one a turn.
  hint_draw: ['Draw a card from the stock, or chow the discard when it makes a meld with yours.',
    'Bumunot, o kunin ang tapon kapag nabubuo ang bahay mo.'],
  hint_chow: ['The discard makes a meld with your cards: chow takes it.', 'Nabubuo ang bahay mo sa tapon: i-chow mo.'],
  hint_drop: ['You hold a meld. Touch Drop: a player who lays nothing is burned and pays more.',
    'May bahay ka. Ibaba mo: sunog ang walang nababa at mas malaki ang bayad.'],
  hint_sapaw: ['A card of yours fits a meld on the table. Lift it and touch that meld.',
    'May barahang maisasapaw ka. Iangat at pindutin ang bahay.'],
  hint_dump: ['Lift one card and dump it. High cards cost most at the end.',
    'Iangat ang isa at itapon. Matataas ang mahal sa huli.'],
  hint_fight: ['You have few points. A fight wins if nobody has fewer.', 'Kaunti ang puntos mo. Panalo ang laban kung ikaw ang pinakamababa.'],
  hint_answer: ['Challenge if you think that your points are fewer, else fold.', 'Sumabay kung mas kaunti ang puntos mo, kung hindi tiklop.'],
  hint_tongits: ['Every card of yours is in a meld: Tongits!', 'Buo lahat ng baraha mo: Tongits!'],

  // Phrases at the table.
  phrase_hello: ['Hello!', 'Kumusta!'],
  phrase_good_luck: ['Good luck!', 'Suwertihin ka!'],
  phrase_thanks: ['Thanks!', 'Salamat!'],
  phrase_well_played: ['Well played!', 'Galing!'],
  phrase_sorry: ['Sorry!', 'Pasensiya na!'],
  phrase_hurry: ['Hurry up!', 'Bilis naman!'],
  phrase_nice_fight: ['Nice fight!', 'Ganda ng laban!'],
  phrase_i_surrender: ['I give up!', 'Suko na ako!'],
  phrase_one_more_game: ['One more!', 'Isa pa!'],
  phrase_goodbye: ['Goodbye!', 'Paalam!'],

  // The first game, hints, and sheets.
  learn: ['Learn Tong-its', 'Matuto ng Tong-its'],
  learn_note: ['A first game with a guide, without a clock', 'Unang laro na may gabay, walang orasan'],
  practice_guide: ['with a guide', 'may gabay'],
  unhurried: ['Without a clock', 'Walang orasan'],
  guide: ['Guide', 'Gabay'],
  got_it: ['Got it', 'Sige'],
  profile: ['Profile', 'Profile'],
  profile_of: ['Profile of {name}', 'Profile ni {name}'],
  profile_own: ['My profile', 'Profile ko'],
  notices: ['Notices', 'Mga paunawa'],
  notices_new: ['Notices, {n} unread', 'Mga paunawa, {n} hindi pa nabasa'],
  analysis: ['What a strong bot would have played', 'Ang galaw sana ng malakas na bot'],
  analysis_short: ['My mistakes?', 'Mga mali ko?'],
  fill_bots: ['Fill with bots', 'Punan ng mga bot'],
  rematch: ['Rematch, same people', 'Laro ulit, tayo rin'],
  rematch_from: ['{name} asks for a rematch.', 'Nag-aayang maglaro ulit si {name}.'],
  rematch_join: ['Join', 'Sumali'],
  sound_ask: ['With sound?', 'May tunog?'],
  sound_on: ['Sound on', 'Buksan'],
  sound_no: ['No sound', 'Walang tunog'],
  offline: ['No connection. The page tries again.', 'Walang koneksiyon. Sinusubukan muli.'],

  // Cards for screen readers.
  suit_C: ['clubs', 'trebol'],
  suit_D: ['diamonds', 'diyamante'],
  suit_H: ['hearts', 'puso'],
  suit_S: ['spades', 'espada'],
  rank_A: ['ace', 'alas'],
  rank_T: ['10', '10'],
  rank_J: ['jack', 'jack'],
  rank_Q: ['queen', 'reyna'],
  rank_K: ['king', 'hari'],
  joker: ['joker', 'joker'],
  card_of: ['{rank} of {suit}', '{rank} ng {suit}'],
} as const satisfies Record<string, readonly [string, string]>;

export type Word = keyof typeof WORDS;

export type Fill = Record<string, string | number>;

/** Two alternative forms, of which the second is used if the person is the player. */
const FORMS = /\[([^|\]]*)\|([^\]]*)\]/g;

function fillText(pair: readonly [string, string], fill: Fill): string {
  const at = language.value === 'en' ? 0 : 1;
  const isOwn = (name: string) => fill[name] === WORDS.you[at] || fill[name] === WORDS.your[at];
  // The person is the one named within the form, otherwise the actor.
  const text = pair[at].replace(FORMS, (_, other: string, own: string) => isOwn(/\{(\w+)\}/.exec(other)?.[1] ?? 'name') ? own : other);
  return text.replace(/\{(\w+)\}/g, (whole, name: string) => String(fill[name] ?? whole));
}

/** Returns a text in the chosen language, filled in. */
export function say(word: Word, fill: Fill = {}): string {
  return fillText(WORDS[word], fill);
}

/** Returns a function that reads texts from another list, as a game's folder has one. */
export function createSayer<List extends Record<string, readonly [string, string]>>(list: List) {
  return (word: keyof List & string, fill: Fill = {}): string => fillText(list[word]!, fill);
}

export function isWord(text: string): text is Word {
  return text in WORDS;
}

/** Returns an amount in hundredths as text, such as 1,014.45; whole coins without a fraction. */
export function coinsText(amount: number): string {
  const sign = amount < 0 ? '−' : '';
  const size = Math.abs(Math.round(amount));
  const whole = Math.floor(size / 100).toString().replace(/\B(?=(\d{3})+$)/g, ',');
  const rest = size % 100;
  return `${sign}${whole}${rest === 0 ? '' : `.${String(rest).padStart(2, '0')}`}`;
}

export function signedCoins(amount: number): string {
  return amount > 0 ? `+${coinsText(amount)}` : coinsText(amount);
}

/** Returns the name of a card for screen readers. */
export function cardName(card: string): string {
  const rank = card[0] ?? '';
  if (rank === 'X') return say('joker');
  const ranked = `rank_${rank}`;
  return say('card_of', {
    rank: isWord(ranked) ? say(ranked) : rank,
    suit: say(`suit_${card[1]}` as Word),
  });
}

/** Returns the short name of a card, such as 10♥. */
export function cardSign(card: string): string {
  if (card[0] === 'X') return '★';
  const suits: Record<string, string> = { C: '♣', D: '♦', H: '♥', S: '♠' };
  return `${card[0] === 'T' ? '10' : card[0]}${suits[card[1] ?? '']}`;
}
