//! Tests of clients that break the protocol, flood the server or do not read. None of them harms
//! another client.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use bahay::archive::halted;
use bahay::lobby::house_rooms;
use bahay::ws::FaultHooks;
use bahay::ws::protocol::close;
use bahay_api::socket::{example_commands, example_messages};
use bahay_client_tokio::Play;
use bahay_engine::catalog::AnyGame;
use bahay_engine::chance::ChanceRng;
use bahay_engine::table::{Event, Table, TableId};
use tokio::task::JoinSet;
use tokio::time::timeout;

use super::player::{Stop, spawn_players, stop_players};
use crate::support::house::{House, PATIENCE, Setup, join_table};
use crate::support::play::{TestPlay as _, rejoin};
use crate::support::raw::{BINARY, Raw, ServerFrame, TEXT, frame};
use crate::support::waiting::wait_for;

fn draw_byte(dice: &mut ChanceRng) -> u8 {
    u8::try_from(dice.below(256)).unwrap()
}

fn draw_bytes(dice: &mut ChanceRng, longest: usize) -> Vec<u8> {
    (0..dice.below(longest)).map(|_| draw_byte(dice)).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn frames_that_break_the_protocol_end_the_connection() {
    let (house, client) = House::with_guest().await;
    let long = vec![b' '; 9_000];
    // This is the first fragment of a text, followed by a second text instead of the remaining
    // fragments.
    let interleaved = [&[0x01, 0x80, 0, 0, 0, 0][..], &frame(TEXT, b"x")].concat();
    for (name, bytes) in [
        ("too long", frame(TEXT, &long)),
        ("a length above the limit", [&[0x81, 0xff, 0x7f][..], &[0xff; 7], &[0; 4]].concat()),
    ] {
        let mut raw = Raw::open(&house.base, client.access_token(), None).await;
        assert!(raw.send(&bytes).await);
        assert_eq!(raw.close_code().await, Some(close::TOO_LONG), "{name}");
    }
    for (name, bytes) in [
        ("binary", frame(BINARY, b"{}")),
        ("not UTF-8", frame(TEXT, b"\xff\xfe")),
        ("an incomplete character", frame(TEXT, b"\xe2\x82")),
        ("an unknown kind", frame(3, b"x")),
        ("reserved bits", [&[0xf1][..], &frame(TEXT, b"x")[1..]].concat()),
        ("without a mask", vec![0x81, 0x01, b'x']),
        ("a long ping", frame(9, &long[..200])),
        ("interleaved", interleaved),
    ] {
        let mut raw = Raw::open(&house.base, client.access_token(), None).await;
        assert!(raw.send(&bytes).await);
        let code = raw.close_code().await;
        assert!(matches!(code, Some(close::PROTOCOL) | None), "{name}: {code:?}");
    }
    // Well-formed frames with unusual JSON are refused, and the connection stays open.
    let mut raw = Raw::open(&house.base, client.access_token(), None).await;
    let bombs = ["[".repeat(8_000), r#"{"type":"#.repeat(900), r#"{"id":1,"a":"#.repeat(600)];
    for bomb in &bombs {
        assert!(raw.send_text(bomb).await);
    }
    let mut malformed = 0;
    while malformed < bombs.len() {
        match raw.next().await {
            ServerFrame::Text(text) => malformed += usize::from(text.contains("malformed")),
            other => panic!("{other:?}"),
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_flood_of_pings_ends_the_connection() {
    let (house, client) = House::with_guest().await;
    let mut raw = Raw::open(&house.base, client.access_token(), None).await;
    let mut is_open = true;
    for _ in 0..400 {
        is_open &= raw.send(&frame(9, b"?")).await;
    }
    let code = raw.close_code().await;
    // Frames that arrive after the close may reset the connection before the client reads the
    // reason.
    assert!(code == Some(close::TOO_FAST) || code.is_none(), "{code:?}");
    println!("open until the end: {is_open}, {code:?}");
}

fn panic_on_marked_text(text: &str) {
    assert!(!text.contains("4096"), "planted");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_panic_ends_only_its_own_connection() {
    let hooks = FaultHooks { before_parse: Some(panic_on_marked_text), ..FaultHooks::default() };
    let house = House::with_setup(Setup { hooks, ..Setup::default() }).await;
    let (_, clients) = house.table().await;
    let mut failing = join_table(&clients[0]).await;
    let mut other = join_table(&clients[1]).await;
    failing.send_text(r#"{"type":"ping","id":4096}"#.to_owned()).await.unwrap();
    assert_eq!(failing.close_code().await, close::INTERNAL);
    // The other players see that this player is away, and continue.
    let seat = failing.view().unwrap().seat.unwrap();
    other.wait_for_event(Event::Presence { seat, connected: false }).await;
    other.ping().await;
    let _back = rejoin(&clients[0], failing.drop_connection()).await;
}

/// The table whose view makes the planted fault panic.
static MARKED_TABLE: OnceLock<TableId> = OnceLock::new();

fn panic_on_marked_table(table: &Table<AnyGame>) {
    assert_ne!(MARKED_TABLE.get(), Some(&table.id()), "planted");
}

async fn assert_join_refused(play: &mut Play) {
    let joining = play.join().await.unwrap();
    assert_eq!(play.refusal_of(joining).await, "table_halted");
}

/// A panic while a view is made halts its table. Players at the table have to join again and are
/// refused with `table_halted`. The node and its other tables continue.
#[tokio::test(flavor = "multi_thread")]
async fn a_panic_in_a_view_halts_the_table() {
    let hooks = FaultHooks { before_showing: Some(panic_on_marked_table), ..FaultHooks::default() };
    let house = House::with_setup(Setup { hooks, ..Setup::default() }).await;
    let (table, clients) = house.table().await;
    let mut there = join_table(&clients[0]).await;
    let (_, others) = house.table().await;
    let mut other = join_table(&others[0]).await;
    MARKED_TABLE.set(table).unwrap();
    // The notice about the newcomer cannot be shown to any player.
    let mut newcomer = clients[1].play().await.unwrap();
    assert_join_refused(&mut newcomer).await;
    let halted = wait_for("the halt is recorded", async || {
        halted::list_halted(&house.pool).await.unwrap().first().cloned()
    })
    .await;
    assert_eq!(halted.table, table);
    assert!(halted.reason.contains("planted"), "{}", halted.reason);
    // Players who were at the table no longer see it, on this connection or on the next one.
    assert_join_refused(&mut there).await;
    other.ping().await;
    assert!(join_table(&others[1]).await.view().is_some());
}

/// An update that cannot be shown ends the connection, and the next connection receives the reason.
#[tokio::test(flavor = "multi_thread")]
async fn a_panic_in_an_update_ends_the_connection() {
    static ARMED: AtomicBool = AtomicBool::new(false);
    fn panic_if_armed(_: &Table<AnyGame>) {
        assert!(!ARMED.load(Ordering::Relaxed), "planted");
    }
    let hooks = FaultHooks { before_showing: Some(panic_if_armed), ..FaultHooks::default() };
    let house = House::with_setup(Setup { hooks, ..Setup::default() }).await;
    let (_, clients) = house.table().await;
    let mut there = join_table(&clients[0]).await;
    ARMED.store(true, Ordering::Relaxed);
    // This update is delivered by another path than the responses of a session.
    clients[1].leave().await.unwrap();
    assert_eq!(there.close_code().await, close::INTERNAL);
    let mut again = clients[0].play().await.unwrap();
    assert_join_refused(&mut again).await;
}

/// Returns the initial texts of the fuzzer: every example of the protocol, including the server's
/// messages.
fn build_corpus() -> Vec<Vec<u8>> {
    let commands = example_commands().into_iter().map(|(_, command)| serde_json::to_vec(&command));
    let messages = example_messages().into_iter().map(|(_, message)| serde_json::to_vec(&message));
    commands.chain(messages).map(|text| text.unwrap()).collect()
}

fn mutate_text(dice: &mut ChanceRng, corpus: &[Vec<u8>]) -> Vec<u8> {
    let mut text = corpus[dice.below(corpus.len())].clone();
    for _ in 0..dice.below(4) {
        let at = dice.below(text.len().max(1)).min(text.len());
        match dice.below(6) {
            0 => text.truncate(at),
            1 => text.insert(at, draw_byte(dice)),
            2 if at < text.len() => text[at] = draw_byte(dice),
            3 if at < text.len() => drop(text.remove(at)),
            4 => {
                let other = &corpus[dice.below(corpus.len())];
                let from = dice.below(other.len());
                text.splice(at..at, other[from..].iter().copied());
            }
            _ => {
                let digits = ["-1", "4294967296", "1e9", "null", "\"\\ud800\"", "{}", "[[", "0.5"];
                text.splice(at..at, digits[dice.below(digits.len())].bytes());
            }
        }
    }
    text
}

const FUZZERS: usize = 6;
const FRAMES: usize = 100_000;
/// The number of frames that one connection sends, which is below the rate limit that closes it.
const FRAMES_EACH: usize = 80;

/// Many connections, some of them at a table, send random and mutated frames. The node continues,
/// no session panics, and a table plays on meanwhile.
#[tokio::test(flavor = "multi_thread")]
async fn a_hundred_thousand_random_frames_harm_no_other_client() {
    let (house, _, players) = House::with_table().await;
    let stop = Stop::default();
    let playing = spawn_players(&players, std::slice::from_ref(&house.base), &stop);
    static SENT: AtomicUsize = AtomicUsize::new(0);
    let mut fuzzers = JoinSet::new();
    for number in 0..FUZZERS {
        let client = house.guest("Dante").await;
        if number % 2 == 0 {
            client.seat("newbie").await.unwrap();
        }
        let (base, seed) = (house.base.clone(), u8::try_from(number).unwrap());
        fuzzers.spawn(async move {
            let corpus = build_corpus();
            let mut dice = ChanceRng::from_number(seed);
            while SENT.load(Ordering::Relaxed) < FRAMES {
                let mut raw = Raw::open(&base, client.access_token(), None).await;
                raw.send_text(r#"{"type":"join","id":1}"#).await;
                for _ in 0..FRAMES_EACH {
                    let payload = if dice.below(8) == 0 {
                        draw_bytes(&mut dice, 300)
                    } else {
                        mutate_text(&mut dice, &corpus)
                    };
                    let bytes = match dice.below(200) {
                        0 => draw_bytes(&mut dice, 40),
                        1 => frame(draw_byte(&mut dice) & 0x0f, &payload),
                        _ => {
                            let text = String::from_utf8_lossy(&payload).into_owned();
                            frame(TEXT, text.as_bytes())
                        }
                    };
                    SENT.fetch_add(1, Ordering::Relaxed);
                    if !raw.send(&bytes).await {
                        break;
                    }
                }
                // An incomplete frame would leave the server waiting for the rest.
                raw.send(&frame(8, &1000_u16.to_be_bytes())).await;
                raw.finish().await;
                let code = raw.close_code().await;
                assert_ne!(code, Some(close::INTERNAL), "a session panicked; seed {seed}");
            }
        });
    }
    while let Some(ended) = fuzzers.join_next().await {
        ended.unwrap();
    }
    stop_players(playing, &stop).await;
    house.guest("Elena").await.wallet().await.unwrap();
}

/// A client that sends commands and does not read is disconnected. The other players continue, and
/// the client later resumes without a missing update.
#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_does_not_read_delays_no_other_client() {
    let clocks = bahay_engine::table::Clocks { think_ms: 20, grace_ms: 1, ..Default::default() };
    let house = House::with_setup(Setup { rooms: house_rooms(clocks), ..Setup::default() }).await;
    let (_, clients) = house.table().await;
    let known = {
        let mut reading = join_table(&clients[0]).await;
        reading.become_ready().await;
        reading.drop_connection()
    };
    let mut deaf = Raw::open(&house.base, clients[0].access_token(), Some(4_096)).await;
    // Each join is answered with the whole table.
    let asking = tokio::spawn(async move {
        let join = frame(TEXT, br#"{"type":"join","id":1}"#);
        let mut pace = tokio::time::interval(std::time::Duration::from_millis(55));
        while deaf.send(&join).await {
            pace.tick().await;
        }
        deaf
    });
    let stop = Stop::default();
    let playing = spawn_players(&clients[1..], std::slice::from_ref(&house.base), &stop);
    let mut deaf = timeout(PATIENCE * 2, asking).await.expect("the client is closed").unwrap();
    let code = deaf.close_code().await;
    assert!(matches!(code, Some(close::TOO_SLOW) | None), "{code:?}");

    // The client reports a missing or repeated update as an error.
    let back = rejoin(&clients[0], known).await;
    drop(back);
    stop_players(playing, &stop).await;
}
