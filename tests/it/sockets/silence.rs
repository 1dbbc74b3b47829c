//! Tests of dead connections, which TCP still reports as open while the client neither reads nor
//! answers. A [`Play`] that is not polled is such a client, since it answers pings only when it is
//! read.

use std::slice;
use std::time::Duration;

use bahay::lobby::{Room, house_rooms};
use bahay::ws::{LinkTimes, Silence};
use bahay_client_tokio::Play;
use bahay_engine::games::tongits::Rules;
use bahay_engine::table::PlayerId;

use crate::support::house::{
    House, PATIENCE, Setup, join_table, patient_links, unhurried_clocks, with_tongits_rules,
};
use crate::support::play::{become_ready, join_new_table, read_all_until};
use crate::support::raw::{PONG, Raw, ServerFrame, frame};

/// A countdown longer than the service takes to notice silence, and shorter than it took with pings
/// every 20 s, in milliseconds.
const COUNTDOWN_MS: u32 = 30_000;

/// Returns rooms whose turns last [`COUNTDOWN_MS`].
fn unhurried_rooms() -> Vec<Room> {
    let slow_down = |rules: &mut Rules| {
        rules.countdowns.play_ms = COUNTDOWN_MS;
        rules.countdowns.draw_ms = COUNTDOWN_MS;
    };
    let rooms = house_rooms(unhurried_clocks());
    rooms.iter().map(|room| with_tongits_rules(room, slow_down)).collect()
}

async fn start_house(links: LinkTimes) -> House {
    House::with_setup(Setup { rooms: unhurried_rooms(), links, ..Setup::default() }).await
}

/// Returns whether the player is shown as connected, or `None` if it has no seat.
fn is_connected(play: &Play, player: PlayerId) -> Option<bool> {
    let seats = &play.view()?.seats;
    seats.iter().flatten().find(|seat| seat.player == player).map(|seat| seat.connected)
}

/// Starts a game of three players, and returns the prompted player, its connection, and the other
/// connections.
async fn start_game(house: &House) -> (PlayerId, Play, Vec<Play>) {
    let (_, clients, mut plays) = join_new_table(house).await;
    become_ready(&mut plays).await;
    let is_prompted = |play: &Play| play.advice().is_some();
    read_all_until(&mut plays, |plays| plays.iter().any(is_prompted)).await;
    let turn = plays.iter().position(is_prompted).unwrap();
    (clients[turn].player(), plays.remove(turn), plays)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_player_with_a_dead_connection_is_away_before_its_countdown_ends() {
    let links = LinkTimes { other: patient_links().other, ..LinkTimes::SERVICE };
    let house = start_house(links).await;
    let (player, dead, mut plays) = start_game(&house).await;
    let number = dead.prompt().unwrap().number;
    let is_away = |play: &Play| is_connected(play, player) == Some(false);
    let is_over = |play: &Play| play.prompt().is_some_and(|prompt| prompt.number > number);
    read_all_until(&mut plays, |plays| plays.iter().any(|play| is_away(play) || is_over(play)))
        .await;
    assert!(plays.iter().any(is_away), "the silence is noticed before the countdown ends");
    drop(dead);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dead_connection_out_of_turn_is_noticed() {
    let house = start_house(LinkTimes::SERVICE).await;
    let (_, clients) = house.table().await;
    let dead = join_table(&clients[0]).await;
    let mut watcher = join_table(&clients[1]).await;
    let player = clients[0].player();
    let is_present = |play: &Play| is_connected(play, player).expect("the player keeps its seat");
    assert!(is_present(&watcher));
    read_all_until(slice::from_mut(&mut watcher), |plays| !is_present(&plays[0])).await;
    drop(dead);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_silent_client_that_answers_pings_stays_connected() {
    let second = Duration::from_secs(1);
    let silence = Silence { ping_after: second, lost_after: PATIENCE };
    let house = start_house(LinkTimes { asked: silence, other: silence }).await;
    let client = house.guest("Althea").await;
    let mut raw = Raw::open(&house.base, client.access_token(), None).await;
    for _ in 0..3 {
        while raw.next().await != ServerFrame::Ping {}
        assert!(raw.send(&frame(PONG, b"")).await);
    }
    assert!(raw.send_text(r#"{"type":"ping","id":7}"#).await);
    let is_answer =
        |frame: &ServerFrame| matches!(frame, ServerFrame::Text(text) if text.contains("\"ack\""));
    while !is_answer(&raw.next().await) {}
}
