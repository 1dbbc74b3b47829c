//! A knock-out and an arena over real sockets, and the pauses of an arena. The books are exact at the
//! end, and the verifier in Python accepts the results.

use std::collections::BTreeMap;

use bahay::clock::Clock;
use bahay_client_tokio::{Client, Play};
use bahay_engine::table::Clocks;
use bahay_engine::tournament::{EntrantLimits, Format, PayoutStep, Stage, TournamentTerms};
use futures_util::future::join_all;
use serde_json::{Value, json};
use sqlx::PgPool;

use super::{
    WELCOME, announce, available, check_results, coins, play_to_the_end, register, sit_and_go,
};
use crate::support::checks::check_ledger;
use crate::support::db::read_value;
use crate::support::house::House;
use crate::support::rest::{call, get, items};
use crate::support::waiting::wait_until;

/// The names of the players of a tournament of three tables.
const PLAYERS: [&str; 9] =
    ["Althea", "Benjie", "Carmela", "Delfin", "Efren", "Fe", "Gloria", "Hernan", "Imelda"];

/// The price of an entry, in hundredths: a buy-in of 50 coins and a fee of 5.
const PRICE: i64 = 5_500;

/// Returns a tournament of up to nine players that starts in some seconds, with prizes for three.
fn scheduled(name: &str, format: Format, least: u32) -> TournamentTerms {
    let mut terms = sit_and_go();
    terms.name = name.to_owned();
    terms.format = format;
    terms.entrants = EntrantLimits { least, most: 9 };
    terms.guarantee = coins(0);
    terms.payouts = vec![
        PayoutStep { entrants_from: 0, shares: vec![100] },
        PayoutStep { entrants_from: 9, shares: vec![50, 30, 20] },
    ];
    terms.starts_at = Some(Clock::system().now().after_ms(4_000));
    // The players have time to join before the AI plays for them.
    terms.game.clocks =
        Clocks { prepare_ms: 5_000, think_ms: 20, grace_ms: 4_000, ..Clocks::default() };
    terms
}

/// Returns whether the tournament is over.
async fn is_over(client: &Client, tournament: &str) -> bool {
    get(client, tournament).await.expect(200)["state"] == "ended"
}

/// Plays at each table to which the tournament leads the player, until it is over.
async fn play_tournament(client: &Client, play: &mut Play, tournament: &str) {
    let own_table = format!("{tournament}/table");
    loop {
        wait_until("a table or the end", async || {
            get(client, &own_table).await.status == 200 || is_over(client, tournament).await
        })
        .await;
        // The table may be over meanwhile.
        if get(client, &own_table).await.status == 200 {
            let joining = play.join().await.unwrap();
            if play.wait_for_answer(joining).await.is_ok() {
                play_to_the_end(play).await.unwrap();
            }
        } else if is_over(client, tournament).await {
            return;
        }
    }
}

/// Returns the whole list of results.
async fn results_of(client: &Client, tournament: &str) -> Vec<Value> {
    let mut results = vec![];
    let mut path = format!("{tournament}/results?limit=100");
    loop {
        let page = get(client, &path).await.expect(200);
        for item in items(&page) {
            results.extend(item["results"].as_array().unwrap().iter().cloned());
        }
        let Some(cursor) = page["next_cursor"].as_str() else { return results };
        path = format!("{tournament}/results?limit=100&cursor={cursor}");
    }
}

/// Checks that the tournament is paid out: everybody has a place, wallets are exact, the account is
/// empty, and the verifier accepts the results. Returns the results.
async fn check_paid_out(pool: &PgPool, clients: &[Client], tournament: &str) -> Vec<Value> {
    let closed = format!(
        "select count(*) from tournaments t
        join accounts a on a.code = 'tournament:' || t.id
        where '/v1/tournaments/' || t.id = '{tournament}' and t.closed_at is not null
            and a.is_closed and a.balance = 0"
    );
    wait_until("the account is closed", async || read_value::<i64>(pool, &closed).await == 1).await;
    let results = results_of(&clients[0], tournament).await;
    check_results(&results);
    let mut prizes = BTreeMap::new();
    for result in results.iter().filter(|result| result["type"] == "placed") {
        for place in result["places"].as_array().unwrap() {
            let player = place["player"].as_str().unwrap().to_owned();
            let prize = place["prize"].as_i64().unwrap();
            assert!(prizes.insert(player, prize).is_none(), "one place each");
        }
    }
    assert_eq!(prizes.len(), clients.len());
    for client in clients {
        let prize = prizes[&client.player().to_string()];
        assert_eq!(available(client).await, WELCOME - PRICE + prize);
    }
    let players = i64::try_from(clients.len()).unwrap();
    assert_eq!(prizes.values().sum::<i64>(), players * 5_000);
    let fees = "select sum(t.amount)::bigint from transfers t where t.code = 'tournament_fee'";
    assert_eq!(read_value::<i64>(pool, fees).await, players * 500);
    check_ledger(pool).await;
    results
}

/// Plays a tournament of nine players to the prizes, and returns its results.
async fn play_to_the_prizes(format: Format) -> Vec<Value> {
    let house = House::new().await;
    let clients = house.guests(PLAYERS).await;
    let mut plays = vec![];
    for client in &clients {
        plays.push(client.play().await.unwrap());
    }
    let tournament = announce(&house.pool, scheduled("Nine", format, 9), None).await;
    for client in &clients {
        register(client, &tournament).await.expect(200);
    }
    let playing = clients.iter().zip(&mut plays);
    join_all(playing.map(|(client, play)| play_tournament(client, play, &tournament))).await;
    check_paid_out(&house.pool, &clients, &tournament).await
}

fn count(results: &[Value], kind: &str) -> usize {
    results.iter().filter(|result| result["type"] == kind).count()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_knock_out_of_two_stages_is_played_to_the_prizes() {
    let stage = |rounds, advance| Stage { groups: 1, rounds, games: 1, advance };
    let format = Format::KnockOut { stages: vec![stage(2, 3), stage(1, 0)] };
    let results = play_to_the_prizes(format).await;
    assert_eq!(count(&results, "game_scored"), 7);
    assert_eq!(count(&results, "cut"), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_arena_is_played_to_the_prizes() {
    let format = Format::Arena { duration_ms: 10_000, pairing_ms: 500 };
    let results = play_to_the_prizes(format).await;
    assert!(count(&results, "game_scored") >= 3, "{}", count(&results, "game_scored"));
    assert_eq!(count(&results, "paused"), 0, "everybody has played");
}

/// Rule 4.5, over REST: pauses and their ends are idempotent, and a player for whom the AI played is
/// paused until the player resumes.
#[tokio::test(flavor = "multi_thread")]
async fn a_player_of_an_arena_pauses_and_resumes() {
    let house = House::new().await;
    let clients = house.guests(["Althea", "Benjie", "Carmela"]).await;
    let late = house.guest("Delfin").await;
    let mut terms = scheduled("Absent", Format::Arena { duration_ms: 60_000, pairing_ms: 500 }, 3);
    terms.game.clocks.grace_ms = 1;
    let tournament = announce(&house.pool, terms, None).await;
    let pause = format!("{tournament}/pause");
    for client in &clients {
        register(client, &tournament).await.expect(200);
    }
    call(&clients[0], "PUT", &pause, None).await.expect_refusal(409, "not_arena");
    let is_paused = async |client: &Client| {
        get(client, &tournament).await.expect(200)["entry"]["is_paused"].clone()
    };
    // Nobody is connected, so the AI plays for all.
    for client in &clients {
        wait_until("the AI has played", async || is_paused(client).await == true).await;
    }
    call(&late, "PUT", &pause, None).await.expect_refusal(409, "not_registered");
    for _ in 0..2 {
        call(&clients[0], "DELETE", &pause, None).await.expect(204);
        assert_eq!(is_paused(&clients[0]).await, json!(false));
    }
    for _ in 0..2 {
        call(&clients[0], "PUT", &pause, None).await.expect(204);
        assert_eq!(is_paused(&clients[0]).await, json!(true));
    }
    let results = results_of(&clients[0], &tournament).await;
    assert_eq!((count(&results, "paused"), count(&results, "resumed")), (4, 1));

    let sit_and_go = announce(&house.pool, sit_and_go(), None).await;
    let pause = format!("{sit_and_go}/pause");
    call(&clients[0], "DELETE", &pause, None).await.expect_refusal(409, "not_arena");
}
