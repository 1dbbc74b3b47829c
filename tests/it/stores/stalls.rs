//! Stalls, crashes and recoveries of Redis and PostgreSQL during a game.

use std::time::Duration;

use bahay::lobby::{Room, house_rooms};
use bahay::ws::protocol::{Closing, Message};
use bahay_client_tokio::{Client, Play};
use bahay_engine::catalog::AnyGame;
use bahay_engine::games::tongits::Countdowns;
use bahay_engine::table::{ActionOrigin, Event, GameId, Record};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use crate::support::checks::{audit_books, read_game, read_record};
use crate::support::db::TestDatabase;
use crate::support::house::{House, PATIENCE, unhurried_clocks, with_tongits_rules};
use crate::support::live::TestLive;
use crate::support::play::{TestPlay as _, asked_player, deal_game, join_tables};
use crate::support::services::{Service, Services};
use crate::support::waiting::wait_until;

/// Shorter than the outage.
const COUNTDOWN_MS: u32 = 8_000;
const OUTAGE: Duration = Duration::from_secs(12);

/// A client's back-off after an unavailable command.
const AGAIN: Duration = Duration::from_millis(500);

/// Returns the newbie room with other countdowns.
pub(crate) fn rooms(countdown_ms: u32) -> Vec<Room> {
    let countdowns =
        Countdowns { draw_ms: countdown_ms, play_ms: countdown_ms, fight_ms: countdown_ms };
    let newbie = &house_rooms(unhurried_clocks())[0];
    vec![with_tongits_rules(newbie, |rules| rules.countdowns = countdowns)]
}

/// Starts one of the services and a house that uses it.
pub(crate) async fn house(wanted: Service, countdown_ms: u32) -> (Services, House) {
    let services = Services::start(&[wanted]).await;
    let (live, database) = match wanted {
        Service::Redis => (TestLive::with_url(services.redis_url()), TestDatabase::new().await),
        Service::Postgres => {
            let server = services.database_url().parse().unwrap();
            (TestLive::new(), TestDatabase::create_on(server).await)
        }
    };
    (services, House::with_services(database, live, rooms(countdown_ms)).await)
}

/// Returns a game whose cards are dealt.
pub(crate) async fn dealt(clients: &[Client]) -> (GameId, Vec<Play>) {
    let mut plays = join_tables(clients).await;
    (deal_game(&mut plays).await, plays)
}

/// Lets every player play until the game is settled. A move that is refused as unavailable is
/// retried; it may have been stored all the same, as may an earlier one if it `is_unanswered`.
pub(crate) async fn play_on(plays: Vec<Play>, is_unanswered: bool) {
    let mut playing = JoinSet::new();
    for mut play in plays {
        playing.spawn(async move {
            let mut answered = None;
            let mut may_be_stored = is_unanswered;
            loop {
                play.answer_prompt(&mut answered).await;
                match play.next_message().await {
                    Message::Update { events, .. } => {
                        let is_settled = |event: &Event<_>| matches!(event, Event::Settled { .. });
                        if events.iter().any(is_settled) {
                            return;
                        }
                    }
                    // The first attempt was stored after all.
                    Message::Refusal { code, .. } if may_be_stored && code == "stale_prompt" => {}
                    Message::Refusal { code, .. } => {
                        assert_eq!(code, "unavailable");
                        may_be_stored = true;
                        answered = None;
                        sleep(AGAIN).await;
                    }
                    _ => {}
                }
            }
        });
    }
    playing.join_all().await;
}

/// Asserts that neither the clock nor the AI took a turn.
fn assert_no_takeover(record: &Record<AnyGame>) {
    let origins: Vec<_> = record.actions.iter().map(|taken| taken.by).collect();
    assert!(origins.iter().all(|by| *by == ActionOrigin::Player), "{origins:?}");
}

/// Redis is paused during a game for longer than a countdown: moves are refused, the clocks stand
/// still, and afterwards the same prompt accepts the player's answer.
#[tokio::test(flavor = "multi_thread")]
async fn a_stalled_redis_costs_nobody_time() {
    let (services, mut house) = house(Service::Redis, COUNTDOWN_MS).await;
    let (_, clients) = house.table().await;
    let (game, mut plays) = dealt(&clients).await;
    let turn = asked_player(&plays);
    let prompt = plays[turn].prompt().unwrap().number;
    services.pause(Service::Redis);
    let action = plays[turn].advice().unwrap();
    let acting = plays[turn].act(action).await.unwrap();
    assert_eq!(plays[turn].refusal_of(acting).await, "unavailable");
    sleep(OUTAGE).await;
    assert_eq!(plays[turn].prompt().unwrap().number, prompt, "the clock stood");
    services.resume();
    play_on(plays, true).await;
    assert_no_takeover(&read_record(&clients[0], game).await);
    house.stop().await;
}

/// A disconnection during an outage of Redis cannot be recorded, and is recorded after it.
#[tokio::test(flavor = "multi_thread")]
async fn a_player_lost_during_an_outage_of_redis_is_away_after_it() {
    let (services, mut house) = house(Service::Redis, 20_000).await;
    let (_, clients) = house.table().await;
    let (_, mut plays) = dealt(&clients).await;
    let goes = plays.pop().unwrap();
    let seat = goes.view().unwrap().seat.unwrap();
    services.pause(Service::Redis);
    drop(goes.drop_connection());
    // Three times as long as the session waits for the table.
    for _ in 0..3 {
        let leaving = plays[0].leave().await.unwrap();
        assert_eq!(plays[0].refusal_of(leaving).await, "unavailable");
    }
    services.resume();
    let is_here = |play: &Play| {
        let seats = &play.view().unwrap().seats;
        seats[seat.index()].as_ref().unwrap().connected
    };
    // Shown by an update or by a fresh snapshot.
    while is_here(&plays[1]) {
        plays[1].next_message().await;
    }
    house.stop().await;
}

/// Redis is killed and restarted with its data: scripts, connections and subscriptions recover on
/// every node, and no acknowledged move is lost.
#[tokio::test(flavor = "multi_thread")]
async fn a_killed_redis_that_comes_back_is_played_on() {
    let (mut services, mut house) = house(Service::Redis, 20_000).await;
    let (base, other) = house.node().await;
    let (_, clients) = house.table().await;
    let clients = [clients[0].clone(), clients[1].with_base(&base), clients[2].with_base(&base)];
    let (game, mut plays) = dealt(&clients).await;
    let turn = plays.iter().position(|play| play.advice().is_some()).unwrap();
    let action = plays[turn].advice().unwrap();
    plays[turn].confirm_action(action).await;
    let acknowledged = plays[turn].version().unwrap();
    services.kill(Service::Redis).await;
    let leaving = plays[turn].leave().await.unwrap();
    assert_eq!(plays[turn].refusal_of(leaving).await, "unavailable");
    services.start_again().await;
    play_on(plays, true).await;
    let record = read_record(&clients[0], game).await;
    assert!(record.actions.len() > 1);
    assert!(acknowledged > 0);
    assert_no_takeover(&record);
    other.stop().await.unwrap();
    house.stop().await;
}

/// PostgreSQL crashes during a game: play continues, the settlement waits, and is posted once.
#[tokio::test(flavor = "multi_thread")]
async fn a_killed_postgres_delays_the_settlement_and_nothing_else() {
    let (mut services, mut house) = house(Service::Postgres, 20_000).await;
    let (_, clients) = house.table().await;
    let (game, plays) = dealt(&clients).await;
    services.kill(Service::Postgres).await;
    let playing = tokio::spawn(play_on(plays, false));
    sleep(Duration::from_secs(3)).await;
    services.start_again().await;
    timeout(PATIENCE, playing).await.expect("the game is settled").unwrap();
    read_record(&clients[0], game).await;
    audit_books(&house.pool).await;
    house.stop().await;
}

/// Redis loses all data: the game is voided, and its players are notified at once and in their
/// inbox.
#[tokio::test(flavor = "multi_thread")]
async fn an_emptied_redis_gives_every_coin_back_once() {
    let (mut services, mut house) = house(Service::Redis, 20_000).await;
    let (base, other) = house.node().await;
    let (_, clients) = house.table().await;
    let clients = [clients[0].clone(), clients[1].with_base(&base), clients[2].with_base(&base)];
    let (game, plays) = dealt(&clients).await;
    services.start_redis_empty().await;
    for mut play in plays {
        let reason = loop {
            if let Message::Closed { reason, .. } = play.next_message().await {
                break reason;
            }
        };
        assert_eq!(reason, Closing::Lost);
    }
    wait_until("the game is voided", async || {
        read_game(&house.pool, game).await.state != bahay::archive::GameState::Open
    })
    .await;
    for client in &clients {
        let wallet = client.wallet().await.unwrap();
        assert_eq!((wallet.available.hundredths(), wallet.held.hundredths()), (100_000, 0));
        let mut play = client.play().await.unwrap();
        let Message::Hello { notices, .. } = play.next_message().await else {
            panic!("the first message is a greeting");
        };
        assert_eq!(notices, Some(1));
        client.seat("newbie").await.unwrap();
    }
    audit_books(&house.pool).await;
    other.stop().await.unwrap();
    house.stop().await;
}
