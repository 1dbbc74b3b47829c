//! The allowance at private tables, in the ledger and through the whole server. The ledger enforces
//! it when a game is opened, also under concurrency.

use bahay::clock::Timestamp;
use bahay::ids::PRIVATE_ROOM;
use bahay::ledger::allowance::Allowance;
use bahay::ledger::{OpenGame, OpeningOutcome};
use bahay::lobby;
use bahay_engine::coins::Coins;
use bahay_engine::seat::SeatSet;
use bahay_engine::table::{PlayerId, TableId};
use serde_json::{Value, json};
use tokio::time::timeout;

use super::private_pots::{Party, play_game};
use crate::support::bank::{Bank, PotGoes, seat, table};
use crate::support::checks::check_ledger;
use crate::support::db::{count_rows, execute};
use crate::support::house::PATIENCE;
use crate::support::play::{become_ready, join_tables};
use crate::support::rest::{get, items, post, post_json};
use crate::support::waiting::{wait_for, wait_until};

const DAY_MS: i64 = 24 * 60 * 60 * 1_000;

fn whole(coins: i64) -> Coins {
    Coins::from_whole(coins).unwrap()
}

/// Returns a game at a private table at which each player can lose this stake, in whole coins.
fn private(bank: &Bank, at: TableId, players: &[PlayerId], stake: i64) -> OpenGame {
    let stake_max = whole(stake);
    OpenGame { room: PRIVATE_ROOM.into(), stake_max, ..bank.deal(at, players) }
}

/// Returns the player's remaining allowance.
async fn left(bank: &Bank, player: PlayerId) -> Coins {
    let now = Timestamp::from_ms(bank.now_ms());
    bank.ledger.allowance_left(player, now).await.unwrap()
}

#[tokio::test]
async fn a_private_game_that_could_bring_too_much_does_not_begin() {
    let (bank, players) = Bank::with_players([100_000; 3]).await;
    // 2 × 149 and the POT of 3 exceed the floor by one coin.
    let game = private(&bank, table(), &players, 149);
    let refused = bank.ledger.open_game(game.clone()).await.unwrap();
    assert_eq!(refused, OpeningOutcome::OverAllowance { seats: SeatSet::first_seats(3) });
    assert_eq!(bank.ledger.open_game(game.clone()).await.unwrap(), refused, "and stays so");
    assert_eq!(bank.wallets(&players).await, [100_000; 3], "nothing has moved");
    // Each player is notified once.
    assert_eq!(count_rows(&bank.pool, "notices where kind = 'private_limit'").await, 3);
    // In a room the matcher chooses the players, and other limits apply.
    bank.open(&OpenGame { room: "barkada".into(), ..private(&bank, table(), &players, 149) }).await;
    bank.audit_clean().await;
    let report = check_ledger(&bank.pool).await;
    assert!(report.games.refused == 1, "{report}");
}

#[tokio::test]
async fn winnings_reduce_the_allowance_for_a_day() {
    let (bank, players) = Bank::with_players([100_000; 3]).await;
    let [winner, one, other] = players[..] else { panic!("three") };
    assert_eq!(left(&bank, winner).await, whole(300));
    // Each loser pays two counts of one coin; the fee is deducted, and the POT is added.
    let won = private(&bank, table(), &players, 148);
    bank.play_out(won, 0, 2, PotGoes::ToWinner).await;
    let net = Coins::from_hundredths(2 * 200 - 20 + 300);
    assert_eq!(left(&bank, winner).await, whole(300).checked_sub(net).unwrap());
    assert_eq!(left(&bank, one).await, whole(302));

    // The winner cannot join the next game; the others can.
    let again = private(&bank, table(), &players, 148);
    let refused = bank.ledger.open_game(again).await.unwrap();
    assert_eq!(refused, OpeningOutcome::OverAllowance { seats: SeatSet::only(seat(0)) });
    let fresh = bank.player(100_000).await;
    let without = private(&bank, table(), &[fresh, one, other], 148);
    bank.play_out(without, 1, 1, PotGoes::Nowhere).await;
    let tomorrow = private(&bank, table(), &players, 148);
    let opened_at_ms = tomorrow.opened_at_ms + DAY_MS;
    bank.open(&OpenGame { opened_at_ms, ..tomorrow }).await;
    bank.audit_clean().await;
}

#[tokio::test]
async fn fees_that_were_paid_in_rooms_give_a_right_that_counts_once() {
    let (bank, players) = Bank::with_players([1_000_000; 3]).await;
    let (game, _) = bank.play(table(), &players, 0, 2, PotGoes::Nowhere).await;
    // As in the reports, if the fee had been 250 coins.
    for (room, fee) in [("newbie", 25_000), (PRIVATE_ROOM, 900_000)] {
        let game = if room == PRIVATE_ROOM {
            let private = private(&bank, table(), &players, 10);
            bank.play_out(private, 1, 1, PotGoes::Nowhere).await.0
        } else {
            game
        };
        let settlement = format!(
            "insert into settlements (game, day, finished_at, booked_at, kind, room, winner, gross,
                fee, ante, seats, taken_over)
            select g.id, '2026-01-01', g.finished_at, g.finished_at, g.kind, '{room}', '{}', 0,
                {fee}, 100, 3, false
            from games g where g.id = '{game}'",
            players[0]
        );
        execute(&bank.pool, &settlement).await;
    }
    // Losses at the private table can be won back; fees paid there give no allowance.
    assert_eq!(left(&bank, players[0]).await, whole(300 + 250 + 1));
    let big = private(&bank, table(), &players, 270);
    // The others have paid no fees.
    let refused = bank.ledger.open_game(big).await.unwrap();
    let others = SeatSet::first_seats(3).without(seat(0));
    assert_eq!(refused, OpeningOutcome::OverAllowance { seats: others });
    bank.audit_clean().await;
}

/// No player sits at two tables, but the ledger does not rely on that.
#[tokio::test(flavor = "multi_thread")]
async fn two_games_at_once_do_not_pass_the_bound_together() {
    let bank = Bank::new().await;
    let (node, _tasks) = bank.node().await;
    for _ in 0..20 {
        let winner = bank.player(1_000_000).await;
        let rest = bank.players([100_000; 4]).await;
        let one = private(&bank, table(), &[winner, rest[0], rest[1]], 140);
        let other = private(&bank, table(), &[winner, rest[2], rest[3]], 140);
        let (one, other) =
            tokio::join!(bank.ledger.open_game(one.clone()), node.open_game(other.clone()));
        let opened = [one.unwrap(), other.unwrap()];
        let begun = opened.iter().filter(|answer| matches!(answer, OpeningOutcome::Opened { .. }));
        assert_eq!(begun.count(), 1, "{opened:?}");
        assert!(left(&bank, winner).await < whole(100));
    }
    bank.audit_clean().await;
}

/// Guests who bring their welcome grants to one account, over HTTP and the socket. The gain in one
/// game without the limit is shown first.
#[tokio::test(flavor = "multi_thread")]
async fn guests_cannot_lose_what_they_were_given_to_one_of_them() {
    let unbounded = Allowance { floor: whole(1_000_000) };
    let options = lobby::Options { allowance: unbounded, ..lobby::Options::default() };
    // Each stakes 14 × 60 coins of its 1,000, and one of them may win 1,680 and the POT.
    let farm = Party::with_options(options, 6_000).await;
    assert_eq!(farm.clients.len(), 3, "all three sit there");

    // With the limit neither the host nor a guest with a code can sit down.
    let party = Party::with_options(lobby::Options::default(), 900).await;
    let body = json!({ "room": "newbie", "bet": 6_000, "rule_set": "kingdom" });
    let stranger = party.house.guest("Dante").await;
    let opened = post_json(&stranger, "/v1/private-tables", &body).await;
    opened.expect_refusal(409, "private_bet_too_high");

    // At a bet of 9 a game may win 279 coins, so a winner is removed from the table.
    let has_won = async {
        loop {
            drop(play_game(&party.clients).await);
            for client in &party.clients {
                if client.wallet().await.unwrap().available.hundredths() > 100_000 {
                    return;
                }
            }
        }
    };
    timeout(PATIENCE, has_won).await.expect("few games end without a winner");
    let mut plays = join_tables(&party.clients).await;
    become_ready(&mut plays).await;
    let winner = wait_for("whoever has won is told", async || {
        for client in &party.clients {
            let notices: Value = client.read("/v1/me/notices").await.unwrap();
            if items(&notices).iter().any(|notice| notice["kind"] == "private_limit") {
                return Some(client.clone());
            }
        }
        None
    })
    .await;
    wait_until("the winner's seat is free", async || get(&winner, "/v1/table").await.status == 404)
        .await;
    let path = format!("/v1/private-tables/{}/seat", party.code);
    post(&winner, &path).await.expect_refusal(409, "private_bet_too_high");
    // At a small bet it plays on with its friends.
    let body = json!({ "room": "newbie", "bet": 100, "rule_set": "kingdom" });
    post_json(&winner, "/v1/private-tables", &body).await.expect(201);
}
