//! House bots at private tables: they fill the seats that a game lacks, give their seats to guests,
//! take their share of the POT along, and stay within the limits of the house's coins.

use std::time::Duration;

use bahay::lobby::{
    BotsUnavailable, HouseBot, Lobby, LobbyError, Options, PrivateTableRequest, RuleSetRequest,
};
use bahay_client_tokio::Client;
use bahay_engine::coins::Coins;
use bahay_engine::table::{Clocks, PlayerId};
use serde_json::{Value, json};

use super::house_bots::house_bots;
use super::private_pots::play_game;
use crate::support::checks::check_ledger;
use crate::support::db::{count_rows, execute, read_row, read_value};
use crate::support::house::{House, Setup, join_table, unhurried_clocks};
use crate::support::node::Node;
use crate::support::play::become_ready;
use crate::support::rest::{delete, get, post, post_json};
use crate::support::waiting::wait_until;

/// The bet, in hundredths of a coin.
const BET: i64 = 300;

/// Starts a house with this many bots, and opens a private table. Returns its host and code.
async fn open_hosted_table(bots: u16) -> (House, Client, String) {
    let lobby = Options { bots, bots_after: Duration::from_secs(3_600), ..Options::default() };
    let clocks = Clocks { think_ms: 20, prepare_ms: 20_000, ..unhurried_clocks() };
    let rooms = bahay::lobby::house_rooms(clocks);
    let house = House::with_setup(Setup { rooms, lobby, ..Setup::default() }).await;
    let host = house.guest("Althea").await;
    let body = json!({ "room": "newbie", "bet": BET });
    let opened = post_json(&host, "/v1/private-tables", &body).await.expect(201);
    let code = opened["code"].as_str().unwrap().to_owned();
    (house, host, code)
}

fn path(code: &str, rest: &str) -> String {
    format!("/v1/private-tables/{code}{rest}")
}

/// Returns the ids of the players at a private table except these.
fn bots(table: &Value, players: &[PlayerId]) -> Vec<String> {
    let ids = table["players"].as_array().unwrap().iter();
    let ids = ids.map(|id| id.as_str().unwrap().to_owned());
    ids.filter(|id| players.iter().all(|player| player.to_string() != *id)).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn bots_fill_a_private_table_and_give_their_seats_to_guests() {
    let (house, host, code) = open_hosted_table(3).await;
    let fill = path(&code, "/bots");
    let other = house.guest("Benjie").await;
    post(&other, &fill).await.expect_refusal(403, "not_host");
    let table = post(&host, &fill).await.expect(200);
    assert_eq!(bots(&table, &[host.player()]).len(), 2);
    // The maximum loss is one ante of one bet and 14 bets (rule 6.9).
    assert_eq!(table["loss_max"], 15 * BET);
    let again = post(&host, &fill).await;
    assert_eq!(again.expect(200), table, "a table with enough players stays unchanged");

    // Before a game the guest gets the seat at once.
    post(&other, &path(&code, "/seat")).await.expect(200);
    let table = get(&host, &path(&code, "")).await.body;
    let players = [host.player(), other.player()];
    assert_eq!(bots(&table, &players).len(), 1, "{table}");
    assert_eq!(table["players"].as_array().unwrap().len(), 3);

    // During a game the guest gets the seat after the game.
    let mut plays = vec![join_table(&host).await, join_table(&other).await];
    become_ready(&mut plays).await;
    let guest = house.guest("Carmela").await;
    post(&guest, &path(&code, "/seat")).await.expect_refusal(409, "seat_after_game");
    post(&host, &fill).await.expect_refusal(409, "game_running");
    // The AI plays for both players to the end of the game.
    plays.into_iter().for_each(|play| drop(play.drop_connection()));
    wait_until("the guest has the seat", async || {
        post(&guest, &path(&code, "/seat")).await.status == 200
    })
    .await;
    let table = get(&host, &path(&code, "")).await.body;
    let players = [host.player(), other.player(), guest.player()];
    assert_eq!(bots(&table, &players), Vec::<String>::new(), "{table}");
}

/// A bot that is kicked, or gives its seat away, takes its share of the POT along. The share is
/// swept with its other coins and does not count as a loss.
#[tokio::test(flavor = "multi_thread")]
async fn the_shares_of_bots_in_a_pot_return_to_the_house() {
    let (house, host, code) = open_hosted_table(2).await;
    let table = post(&host, &path(&code, "/bots")).await.expect(200);
    let seated = bots(&table, &[host.player()]);
    let play = play_game([&host]).await;
    assert_eq!(play.view().unwrap().pot.hundredths(), 3 * BET);
    drop(play);
    let guest = house.guest("Benjie").await;
    post(&guest, &path(&code, "/seat")).await.expect(200);
    let table = get(&host, &path(&code, "")).await.body;
    let left = bots(&table, &[host.player(), guest.player()]);
    let gone = seated.iter().find(|bot| !left.contains(bot)).unwrap();
    let away = path(&code, &format!("/players/{}", left[0]));
    delete(&host, &away).await.expect(204);
    let returned = format!(
        "notices n where n.kind = 'pot_refunded' and n.amount = {BET}
        and n.player in ('{gone}', '{}')",
        left[0]
    );
    let in_wallets = "select coalesce(sum(a.balance), 0)::bigint from accounts a
        join players p on p.id = a.player and p.kind = 'bot'";
    wait_until("both bots have their parts, and the house has their coins", async || {
        count_rows(&house.pool, &returned).await == 2
            && read_value::<i64>(&house.pool, in_wallets).await == 0
    })
    .await;
    check_ledger(&house.pool).await;
    // The losses of the bots are exactly the winnings of the host.
    let lost = "select (
            select sum(case t.code when 'house_bot' then t.amount when 'sweep' then -t.amount else 0 end)
            from transfers t
        )::bigint, (
            select -sum(p.net) from game_players p join players b on b.id = p.player and b.kind = 'bot'
        )::bigint";
    let (lost, owed): (i64, i64) = read_row(&house.pool, lost).await;
    assert_eq!(lost, owed);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_house_without_bots_refuses_to_seat_any() {
    let (_house, host, code) = open_hosted_table(0).await;
    post(&host, &path(&code, "/bots")).await.expect_refusal(409, "bots_unavailable");
    host.leave().await.unwrap();
    post(&host, &path(&code, "/bots")).await.expect_refusal(404, "not_seated");
}

/// Returns the lobby of a node with these bots and this daily limit.
fn lobby(node: &Node, bots: &[HouseBot], bots_day_max: Coins) -> Lobby {
    let private_bots_bet_max = Coins::from_hundredths(BET + 100);
    let options = Options { bots_day_max, private_bots_bet_max, ..Options::default() };
    node.lobby_with(bots, options)
}

fn request(bet: i64) -> PrivateTableRequest {
    let bet = Coins::from_hundredths(bet);
    PrivateTableRequest { room: "newbie".into(), rules: None, bet, short_stakes: false }
}

#[tokio::test]
async fn bots_join_only_tables_whose_host_cannot_choose_their_losses() {
    let (bank, _live, node) = Node::with_stores(unhurried_clocks()).await;
    let bots = house_bots(&bank, 2).await;
    let lobby = lobby(&node, &bots, Coins::from_hundredths(2_000_000));
    let own = RuleSetRequest {
        switches: json!({ "countdowns": { "draw_ms": 19_000 } }),
        ..RuleSetRequest::default()
    };
    let short = PrivateTableRequest { short_stakes: true, ..request(BET) };
    let most = Coins::from_hundredths(BET + 100);
    for (request, expected) in [
        (request(BET + 101), BotsUnavailable::BetTooHigh { most }),
        (PrivateTableRequest { rules: Some(own), ..request(BET) }, BotsUnavailable::OwnRules),
        (short, BotsUnavailable::ShortStakes),
    ] {
        let host = bank.player(100_000_000).await;
        let code = lobby.open_private(host, request).await.unwrap().code;
        let refused = lobby.fill_private_table(host, &code).await.unwrap_err();
        let is_expected = matches!(&refused, LobbyError::BotsUnavailable(why) if *why == expected);
        assert!(is_expected, "{expected}: {refused}");
    }
}

/// Concurrent hosts at two nodes get at most the coins that may be lost at private tables, and no
/// bot sits at two tables.
#[tokio::test(flavor = "multi_thread")]
async fn concurrent_hosts_stay_within_the_limit_of_private_tables() {
    let (bank, _live, nodes) = Node::pair().await;
    let bots = house_bots(&bank, 16).await;
    // Half of the limit covers three bots with the minimum.
    let needed = 15 * BET;
    let bots_day_max = Coins::from_hundredths(2 * 3 * needed);
    let mut hosts = vec![];
    for number in 0..6 {
        let lobby = lobby(&nodes[number % 2], &bots, bots_day_max);
        let host = bank.player(1_000_000).await;
        let code = lobby.open_private(host, request(BET)).await.unwrap().code;
        hosts.push((lobby, host, code));
    }
    let asked = hosts.iter().map(|(lobby, host, code)| lobby.fill_private_table(*host, code));
    let answers = futures_util::future::join_all(asked).await;
    let mut filled = 0;
    for answer in answers {
        match answer {
            Ok(view) => {
                assert_eq!(view.players.len(), 3);
                filled += 1;
            }
            Err(LobbyError::BotsUnavailable(
                BotsUnavailable::DayIsOver | BotsUnavailable::AllPlaying,
            )) => {}
            // Grants to other bots held the lock all the while.
            Err(LobbyError::Unavailable(_)) => {}
            Err(error) => panic!("{error}"),
        }
    }
    assert!(filled <= 1, "{filled} tables were filled");
    let coins = bank.ledger.house_bot_coins(bahay::clock::Timestamp::from_ms(0)).await.unwrap();
    assert!(coins.held.hundredths() <= 3 * needed, "{coins:?}");
}

/// Bots with winnings above the allowance at private tables continue to play.
#[tokio::test(flavor = "multi_thread")]
async fn the_allowance_does_not_apply_to_bots() {
    let (house, host, code) = open_hosted_table(2).await;
    let table = post(&host, &path(&code, "/bots")).await.expect(200);
    // Inserts games of another table with winnings far above the floor of 300 coins.
    let owner = house.database.owner_pool().await;
    for bot in bots(&table, &[host.player()]) {
        let game = format!(
            "with game as (
                insert into games (id, table_id, kind, room, ante, state, commitment, opened_at, finished_at)
                select gen_random_uuid(), gen_random_uuid(), 'tongits', 'private', 0, 'settled',
                    decode(repeat('5e', 32), 'hex'), now(), now()
                returning id
            )
            insert into game_players (game, seat, player, stake, net, finished_at)
            select g.id, 0, '{bot}', 100, 10000000, now() from game g"
        );
        execute(&owner, &game).await;
    }
    let play = play_game([&host]).await;
    assert_eq!(play.view().unwrap().seats.iter().flatten().filter(|seat| seat.bot).count(), 2);
}
