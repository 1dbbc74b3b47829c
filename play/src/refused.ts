// What a player is told when the house refuses something, by its stable code, in both languages; loaded when
// something is refused. The test of the client holds this list, and those of the games, against asyncapi.yaml
// and openapi.yaml: every code that a player can meet is here.

const BUSY = ['The house is busy. Try again.', 'Abala ang bahay. Subukan muli.'] as const;
const OLD = ['This page is too old. Load it again.', 'Luma na ang pahina. I-load muli.'] as const;
const SIGN_IN = ['Sign in again, please.', 'Mag-sign in muli.'] as const;
const PASSED = ['Too late: the table has gone on.', 'Huli na: tuloy na ang mesa.'] as const;

export const REFUSALS: Record<string, readonly [string, string]> = {
  // Asked wrongly: a newer page would not.
  malformed: OLD, route_not_found: OLD, method_not_allowed: OLD, path_invalid: OLD, host_invalid: OLD, query_invalid: OLD,
  cursor_invalid: OLD, body_not_json: OLD, body_too_large: OLD, body_unreadable: OLD,
  body_malformed: OLD, body_invalid: ['That is not what is asked for.', 'Hindi iyan ang hinihingi.'],
  time_zone_unknown: OLD, idempotency_key_missing: OLD, idempotency_key_invalid: OLD,
  idempotency_key_reused: OLD, rooms_invalid: OLD, already_authenticated: OLD, already_joined: OLD,
  origin_refused: ['Pages of this address may not play here.', 'Hindi puwedeng maglaro mula sa address na ito.'],

  // Who one is.
  not_authenticated: SIGN_IN, ticket_unknown: SIGN_IN, token_missing: SIGN_IN, token_malformed: SIGN_IN,
  token_forged: SIGN_IN, token_expired: SIGN_IN, token_revoked: SIGN_IN, refresh_token_unknown: SIGN_IN,
  refresh_token_reused: SIGN_IN, refresh_token_expired: SIGN_IN, session_ended: SIGN_IN,
  id_token_refused: SIGN_IN, issuer_unknown: OLD, issuer_unavailable: BUSY, archive_unreachable: BUSY,
  identity_taken: ['This account belongs to another player.', 'Sa ibang manlalaro ang account na iyan.'],
  issuer_linked: ['You have linked another account there.', 'May naka-link ka nang ibang account doon.'],
  last_sign_in: ['This is your only way to sign in.', 'Ito lang ang paraan mo para mag-sign in.'],
  session_not_found: ['There is no such session.', 'Walang ganoong session.'],
  credentials_wrong: ['Name or password is wrong.', 'Mali ang pangalan o password.'],
  sign_in_locked: ['Too many tries. Wait a minute.', 'Sobrang daming subok. Maghintay ng isang minuto.'],
  sign_in_busy: BUSY,
  banned: ['You may not come in.', 'Hindi ka maaaring pumasok.'],
  proof_missing: OLD,
  proof_refused: ['That took too long. Try again.', 'Masyadong natagalan. Subukan muli.'],
  proof_insufficient: ['Give your password for this.', 'Ibigay ang password mo para rito.'],
  device_wrong: ['This device is not yours.', 'Hindi sa iyo ang device na ito.'],
  device_taken: ['Another player signs in by this device.', 'Ibang manlalaro ang nagsa-sign in sa device na ito.'],
  identity_wrong: ['This account is not linked to you.', 'Hindi naka-link sa iyo ang account na iyan.'],
  password_wrong: ['This is not your password.', 'Hindi iyan ang password mo.'],
  password_easy: ['This password is guessed early. Take another.', 'Madaling hulaan ang password. Pumili ng iba.'],
  password_set: ['You have a password already.', 'May password ka na.'],
  password_not_set: ['You have no password yet.', 'Wala ka pang password.'],
  name_reserved: ['This name is the house’s.', 'Sa bahay ang pangalang iyan.'],
  name_taken: ['Somebody has this name, or one that looks like it.', 'May gumagamit na ng pangalang iyan o katulad nito.'],
  name_changed_lately: ['You have changed your name lately.', 'Kakapalit mo lang ng pangalan.'],
  account_required: ['This room is for players with a password. Set one in the settings.',
    'Para sa may password ang kuwartong ito. Maglagay nito sa Ayos.'],
  in_game: ['Finish your game first.', 'Tapusin muna ang laro mo.'],

  // How often, and whether the house can.
  too_fast: ['Slowly, please.', 'Dahan-dahan lang.'],
  too_many_requests: ['Slowly, please.', 'Dahan-dahan lang.'],
  exported_lately: ['You have your data already. Ask again in an hour.', 'Nakuha mo na ang datos mo. Humiling muli pagkalipas ng isang oras.'],
  upgrade_required: OLD, upgrade_invalid: OLD, too_many_idempotency_keys: BUSY, idempotency_key_in_use: BUSY, request_timeout: BUSY, timed_out: BUSY, unavailable: BUSY, internal: ['The house made a mistake. Try again.',
    'Nagkamali ang bahay. Subukan muli.'],
  other_version: BUSY, seating: BUSY,

  // Rooms and tables.
  room_not_found: ['There is no such room.', 'Walang ganoong kuwarto.'],
  socket_required: BUSY,
  not_ready_before: ['You were not ready before. Wait a little for the next seat.',
    'Hindi ka handa noong huli. Maghintay nang kaunti bago umupo muli.'],
  room_closed: ['This room is closed.', 'Sarado ang kuwartong ito.'],
  too_few_coins: ['This room asks for more coins than you have.', 'Kulang ang barya mo sa kuwartong ito.'],
  too_many_coins: ['This room is for players with fewer coins.', 'Para sa mas kaunti ang barya ang kuwartong ito.'],
  room_limit: ['You have won as much as one may in a day. Play on tomorrow.',
    'Naabot mo na ang puwedeng mapanalunan sa isang araw. Bukas na ulit.'],
  seated_elsewhere: ['You sit at another table.', 'Nakaupo ka sa ibang mesa.'],
  ticket_not_found: ['You are not looking for a table.', 'Hindi ka naghahanap ng mesa.'],
  ticket_matched: ['A table has been found already.', 'May mesa na para sa iyo.'],
  code_not_found: ['No table has this code.', 'Walang mesa na may ganitong code.'],
  rules_invalid: ['No game can be dealt by these rules.', 'Hindi malalaro sa ganyang patakaran.'],
  bet_invalid: ['A private table is not for such a bet.', 'Hindi puwede ang ganyang taya sa pribadong mesa.'],
  private_bet_too_high: ['This bet could win more than you may win from friends today. Take a lower one.',
    'Lampas sa puwede mong mapanalunan sa mga kaibigan ngayon. Babaan ang taya.'],
  too_many_private_tables: ['You have opened enough tables for now.', 'Sapat na ang binuksan mong mesa ngayon.'],
  practice_full: ['All practice tables are in use. Try again later.', 'Ginagamit lahat ng mesang pagsasanay. Subukan mamaya.'],
  not_practice: ['A bot gives advice at practice tables alone.', 'Sa mesang pagsasanay lang may payo ang bot.'],
  table_full: ['There is no free seat at this table.', 'Puno na ang mesa.'],
  barred: ['The host has sent you away.', 'Pinaalis ka ng host.'],
  bots_unavailable: ['The house has no bots for this table now.', 'Walang bot ang bahay para sa mesang ito ngayon.'],
  not_host: ['Only the host may do this.', 'Host lang ang puwede.'],
  game_running: ['A game goes on.', 'May laro pa.'],
  not_joined: ['You are not at the table yet.', 'Wala ka pa sa mesa.'],
  not_seated: ['You sit at no table.', 'Wala ka sa mesa.'],
  table_not_found: ['There is no such table.', 'Walang ganoong mesa.'],
  not_watchable: ['Only its players see this table.', 'Mga manlalaro lang ang nakakakita ng mesang ito.'],
  table_halted: ['This table was stopped. An operator looks after it.', 'Itinigil ang mesang ito. May operator na titingin.'],
  wrong_phase: PASSED, other_game: PASSED, stale_prompt: PASSED, not_asked: ['It is not for you to answer now.', 'Hindi ikaw ang tinatanong ngayon.'],
  already_ready: ['You are ready already.', 'Handa ka na.'],
  already_revealed: PASSED, seed_text_too_long: OLD, other_seed_text: OLD,
  not_taken_over: ['You play this seat yourself.', 'Ikaw ang naglalaro sa upuang ito.'],
  other_connection: ['The table takes you for away. Come back to it.', 'Akala ng mesa ay wala ka. Bumalik ka rito.'],

  // Saying something, and other players.
  too_talkative: ['One phrase every two seconds.', 'Isang salita kada dalawang segundo.'],
  muted: ['The house has muted you.', 'Pinatahimik ka ng bahay.'],
  own_player: ['That is you.', 'Ikaw iyan.'],
  too_many_relations: ['Your list is full.', 'Puno na ang listahan mo.'],
  player_not_found: ['There is no such player.', 'Walang ganoong manlalaro.'],
  notice_not_found: ['There is no such notice.', 'Walang ganoong paunawa.'],
  already_reported: ['You have reported this player for this game.', 'Naiulat mo na ang manlalarong ito sa larong ito.'],

  // Rewards, and games that are over.
  daily_claimed: ['You have taken today’s reward.', 'Nakuha mo na ang gantimpala ngayon.'],
  relief_not_due: ['You have too many coins for relief.', 'Marami ka pang barya para sa saklolo.'],
  relief_used_up: ['You have taken today’s reliefs.', 'Ubos na ang saklolo mo ngayon.'],
  network_used_up: ['Your network has got today’s relief.', 'Nakakuha na ang network mo ng saklolo ngayon.'],
  welcome_due: ['Your welcome comes first, on another day.', 'Sa ibang araw ang pambungad mong barya.'],
  game_not_found: ['You have played no such game.', 'Wala kang nilarong ganyan.'],
  game_not_finished: ['This game is not finished.', 'Hindi pa tapos ang larong ito.'],
  game_voided: ['This game was voided: all coins went back.', 'Walang bisa ang larong ito: naibalik ang mga barya.'],
};
