//! House bots complete tournaments (rule 1.7) over real sockets: they pay nothing, and the prizes are
//! those of the persons.

use bahay::clock::Clock;
use bahay::lobby::Options;
use bahay_engine::tournament::{EntrantLimits, Format};
use serde_json::{Value, json};

use super::{
    WELCOME, announce, available, check_results, coins, ended, led_to_table, play_to_the_end,
    register, sit_and_go, withdraw,
};
use crate::support::checks::check_ledger;
use crate::support::db::read_value;
use crate::support::house::{House, Setup};
use crate::support::play::TestPlay as _;
use crate::support::rest::{get, items};
use crate::support::waiting::wait_until;

async fn house_with_bots(bots: u16) -> House {
    let lobby = Options { bots, ..Setup::default().lobby };
    House::with_setup(Setup { lobby, ..Setup::default() }).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_and_two_bots_play_a_sit_and_go_to_its_prize() {
    let house = house_with_bots(3).await;
    // The nodes complete the tournament at the same time.
    let (_, other) = house.node().await;
    let client = house.guest("Althea").await;
    let mut terms = sit_and_go();
    terms.bots = true;
    terms.bots_after_ms = 1_000;
    let tournament = announce(&house.pool, terms, None).await;
    let listed = get(&client, "/v1/tournaments?state=announced").await.expect(200);
    assert_eq!(items(&listed)[0]["has_bots"], true);
    let mut play = client.play().await.unwrap();
    let entered = register(&client, &tournament).await.expect(200);
    // The guarantee is the prize of the only person.
    assert_eq!(entered["expected_prizes"], json!([20_000]));
    assert_eq!(entered["entrants"], 1, "the player waits first");
    led_to_table(&mut play).await;
    play.confirm_join().await;
    play_to_the_end(&mut play).await.unwrap();

    let shown = ended(&client, &tournament).await;
    assert_eq!((&shown["entrants"], &shown["prizes"]), (&json!(3), &json!([20_000])));
    assert_eq!((&shown["entry"]["place"], &shown["entry"]["prize"]), (&json!(1), &json!(20_000)));
    let standings = get(&client, &format!("{tournament}/standings")).await.expect(200);
    let mut bots = 0;
    for row in items(&standings) {
        let is_own = row["player"] == json!(client.player());
        assert_eq!(row["is_bot"], !is_own);
        assert_eq!(row["rank"], if is_own { json!(1) } else { Value::Null });
        assert_eq!(row["name"].as_str().unwrap().starts_with("Bot "), !is_own);
        bots += u32::from(!is_own);
    }
    assert_eq!(bots, 2);
    let closed = "select count(*) from tournaments t where t.closed_at is not null";
    wait_until("the account is closed", async || read_value::<i64>(&house.pool, closed).await == 1)
        .await;
    assert_eq!(available(&client).await, WELCOME - 5_500 + 20_000);
    let transfers = "select count(*) from transfers t where t.code like 'tournament_entry'";
    assert_eq!(read_value::<i64>(&house.pool, transfers).await, 1, "bots pay nothing");
    let noticed = "select count(*) from notices n join players p on p.id = n.player
        where p.kind = 'bot'";
    assert_eq!(read_value::<i64>(&house.pool, noticed).await, 0);
    let results = get(&client, &format!("{tournament}/results?limit=100")).await.expect(200);
    let results = items(&results).iter();
    let results: Vec<Value> =
        results.flat_map(|item| item["results"].as_array().unwrap().clone()).collect();
    check_results(&results);
    check_ledger(&house.pool).await;
    other.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn bots_complete_the_minimum_of_a_scheduled_tournament_at_its_start() {
    let house = house_with_bots(8).await;
    let (_, other) = house.node().await;
    let clients = house.guests(["Althea", "Benjie", "Carmela"]).await;
    let mut terms = sit_and_go();
    terms.format = Format::Duplicate { rounds: 1, games: 1 };
    terms.entrants = EntrantLimits { least: 6, most: 9 };
    terms.starts_at = Some(Clock::system().now().after_ms(4_000));
    terms.bots = true;
    let tournament = announce(&house.pool, terms.clone(), None).await;
    let abandoned = announce(&house.pool, terms, None).await;
    for client in &clients {
        register(client, &tournament).await.expect(200);
    }
    withdraw(&clients[2], &tournament).await.expect(204);
    let shown = get(&clients[0], &tournament).await.expect(200);
    assert_eq!((&shown["state"], &shown["entrants"]), (&json!("announced"), &json!(2)));
    let state = async |path: &str| {
        get(&clients[0], path).await.expect(200)["state"].as_str().unwrap().to_owned()
    };
    wait_until("the start", async || state(&tournament).await != "announced").await;
    let shown = get(&clients[0], &tournament).await.expect(200);
    assert_eq!(shown["entrants"], 6, "exactly the missing ones");
    // Nobody plays, and the AI plays for all.
    ended(&clients[0], &tournament).await;
    let own = get(&clients[0], &tournament).await.expect(200);
    assert!(own["entry"]["place"].as_u64().unwrap() <= 2);
    wait_until("a tournament without persons is cancelled", async || {
        state(&abandoned).await == "cancelled"
    })
    .await;
    assert_eq!(get(&clients[0], &abandoned).await.expect(200)["entrants"], 0);
    check_ledger(&house.pool).await;
    other.stop().await.unwrap();
}

/// A house with too few bots plays by rule 2.2.
#[tokio::test(flavor = "multi_thread")]
async fn without_enough_bots_a_scheduled_tournament_is_cancelled_and_paid_back() {
    let house = house_with_bots(1).await;
    let client = house.guest("Althea").await;
    let mut terms = sit_and_go();
    terms.format = Format::Duplicate { rounds: 1, games: 1 };
    terms.guarantee = coins(0);
    terms.starts_at = Some(Clock::system().now().after_ms(1_500));
    terms.bots = true;
    let tournament = announce(&house.pool, terms, None).await;
    register(&client, &tournament).await.expect(200);
    wait_until("the tournament is cancelled", async || {
        get(&client, &tournament).await.expect(200)["state"] == "cancelled"
    })
    .await;
    wait_until("the entry is back", async || available(&client).await == WELCOME).await;
    check_ledger(&house.pool).await;
}
