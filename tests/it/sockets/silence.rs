//! Connections that have gone dead: TCP takes them for open, and the client neither reads nor answers.
//! A [`Play`] that nobody looks at is such a client: it answers pings when it is read.

use std::slice;
use std::time::Duration;

use bahay::client::Play;
use bahay::lobby::{Room, house_rooms};
use bahay::ws::{LinkTimes, Silence};
use bahay_engine::catalog::AnyRules;
use bahay_engine::table::{Clocks, PhaseView, PlayerId};
use tokio::time::timeout;

use crate::support::house::{House, PATIENCE, Setup, joined, patient_links};
use crate::support::raw::{Heard, PONG, Raw, frame};

/// Longer than the service takes to notice silence, and shorter than it took with pings of 20 s.
const COUNTDOWN_MS: u32 = 30_000;

/// Rooms whose turns last [`COUNTDOWN_MS`].
fn unhurried_rooms() -> Vec<Room> {
    let unhurried = |room: Room| {
        let mut terms = room.terms().clone();
        if let AnyRules::Tongits(rules) = &mut terms.rules {
            rules.countdowns.play_ms = COUNTDOWN_MS;
            rules.countdowns.draw_ms = COUNTDOWN_MS;
        }
        Room::new(room.name(), room.rule_set(), terms).unwrap()
    };
    // Nobody loses a seat for not being ready, nor at once for being away.
    let clocks = Clocks { prepare_ms: 300_000, absence_ms: 300_000, ..Clocks::default() };
    house_rooms(clocks).into_iter().map(unhurried).collect()
}

async fn house_with(links: LinkTimes) -> House {
    House::with(Setup { rooms: unhurried_rooms(), links, ..Setup::default() }).await
}

/// Whether the player is shown to be there; none where it has no seat.
fn is_here(play: &Play, player: PlayerId) -> Option<bool> {
    let seats = &play.view()?.seats;
    seats.iter().flatten().find(|seat| seat.player == player).map(|seat| seat.connected)
}

/// Reads what comes to each in turn until this holds.
async fn read_until(plays: &mut [Play], holds: impl Fn(&[Play]) -> bool) {
    let reading = async {
        while !holds(plays) {
            for play in plays.iter_mut() {
                let soon = Duration::from_millis(5);
                if let Ok(message) = timeout(soon, play.next()).await {
                    message.unwrap();
                }
            }
        }
    };
    timeout(PATIENCE * 4, reading).await.expect("it comes to that");
}

/// Three players in a game: the one who is asked, and the others.
async fn game(house: &House) -> (PlayerId, Play, Vec<Play>) {
    let (_, clients) = house.table().await;
    let mut plays = vec![];
    for client in &clients {
        plays.push(joined(client).await);
    }
    for play in &mut plays {
        let Some(PhaseView::Preparing { game, .. }) = play.view().map(|view| &view.phase) else {
            panic!("a full table prepares");
        };
        let game = *game;
        let ready = play.ready(game, None).await.unwrap();
        play.wait_for_answer(ready).await.unwrap();
    }
    let asked = |play: &Play| play.advice().is_some();
    read_until(&mut plays, |plays| plays.iter().any(asked)).await;
    let turn = plays.iter().position(asked).unwrap();
    (clients[turn].player(), plays.remove(turn), plays)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_player_whose_line_dies_in_its_turn_is_away_before_its_countdown_ends() {
    let links = LinkTimes { other: patient_links().other, ..LinkTimes::SERVICE };
    let house = house_with(links).await;
    let (player, dead, mut plays) = game(&house).await;
    let number = dead.prompt().unwrap().number;
    let is_away = |play: &Play| is_here(play, player) == Some(false);
    let is_over = |play: &Play| play.prompt().is_some_and(|prompt| prompt.number > number);
    read_until(&mut plays, |plays| plays.iter().any(|play| is_away(play) || is_over(play))).await;
    assert!(plays.iter().any(is_away), "the countdown has ended before the silence was noticed");
    drop(dead);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_line_that_dies_out_of_turn_is_noticed_too() {
    let house = house_with(LinkTimes::SERVICE).await;
    let (_, clients) = house.table().await;
    let dead = joined(&clients[0]).await;
    let mut watcher = joined(&clients[1]).await;
    let here = |play: &Play| is_here(play, clients[0].player()).expect("the seat is kept");
    assert!(here(&watcher));
    read_until(slice::from_mut(&mut watcher), |plays| !here(&plays[0])).await;
    drop(dead);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_silent_client_is_pinged_again_and_again_and_stays_if_it_answers() {
    let second = Duration::from_secs(1);
    let silence = Silence { ping_after: second, lost_after: PATIENCE };
    let house = house_with(LinkTimes { asked: silence, other: silence }).await;
    let client = house.guest("Althea").await;
    let mut raw = Raw::open(&house.base, client.access_token(), None).await;
    for _ in 0..3 {
        while raw.next().await != Heard::Ping {}
        assert!(raw.send(&frame(PONG, b"")).await);
    }
    assert!(raw.send_text(r#"{"type":"ping","id":7}"#).await);
    let is_answer = |heard: &Heard| matches!(heard, Heard::Text(text) if text.contains("\"ack\""));
    while !is_answer(&raw.next().await) {}
}
