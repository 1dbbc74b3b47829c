//! docs/protocol/tongo_assets.md against the code: it names the game's refusals, and its round is
//! that of a real game. `BLESS=1 cargo nextest run -p bahay-engine` rewrites both.

use std::env;
use std::fmt::Write;
use std::fs;
use std::path::Path;

use crate::support::variants;
use bahay_bots::Ai;
use bahay_engine::chance::{Key, Stream};
use bahay_engine::game::{Game, GameKind, Refusal, Turn, Viewer};
use bahay_engine::games::tongo_assets::{Event, Rules, TongoAssets};
use bahay_engine::hex::Hex;
use bahay_engine::seat::Seat;

fn refusals() -> String {
    let mut table = String::from("| code | rule | what it says |\n|---|---|---|\n");
    for illegal in TongoAssets::refusals() {
        let (code, rule) = (illegal.code(), illegal.rule());
        writeln!(table, "| `{code}` | {rule} | {illegal} |").expect("a string takes any text");
    }
    table
}

/// Returns the traffic of seat 0 from the deal to the second opening; the AI plays every seat.
fn round() -> String {
    let mut stream = Stream::new(Key(Hex([0x22; 32])));
    let viewer = Viewer::Seat(Seat::new(0).expect("a seat"));
    let mut game = TongoAssets::new(&Rules::personal(), 4, None);
    let (mut text, mut openings) = (String::from("```text\n"), 0);
    let mut tell = |what: &str| writeln!(text, "{what}").expect("a string takes any text");
    while openings < 2 {
        let mut events = Vec::new();
        game = match game.turn() {
            Turn::Over => break,
            Turn::Chance(request) => game.resolve(&stream.draw(request), &mut events),
            Turn::Wait(_) => game.expire(&mut events),
            Turn::Players(prompt) => {
                let seat = prompt.seats.iter().next().expect("somebody is asked");
                let action = TongoAssets::choose_action(&game.view(Viewer::Seat(seat)));
                let action = action.expect("a seat that is asked can act");
                tell(&format!("seat {seat}: {}", serde_json::to_string(&action).expect("JSON")));
                game.act(seat, &action, &mut events).expect("advice is legal")
            }
        };
        for event in events {
            openings += i32::from(matches!(event, Event::Opened { .. }));
            let seen = TongoAssets::redact(&event, viewer);
            tell(&serde_json::to_string(&seen).expect("JSON"));
        }
    }
    text.push_str("```\n");
    text
}

/// Replaces the part between a mark and the next heading, or the end.
fn replaced(page: &str, mark: &str, with: &str) -> String {
    let (before, after) = page.split_once(mark).unwrap_or_else(|| panic!("the page has no {mark}"));
    let rest = after.find("\n## ").map_or("", |at| &after[at..]);
    format!("{before}{mark}\n\n{with}{rest}")
}

#[test]
fn the_page_tells_the_refusals_and_a_real_round() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/protocol/tongo_assets.md");
    let page = fs::read_to_string(&path).expect("the page is there");
    let told = replaced(&page, "<!-- refusals -->", &refusals());
    let told = replaced(&told, "<!-- round -->", &round());
    if env::var_os("BLESS").is_some() {
        fs::write(&path, told).expect("a writable file");
        return;
    }
    let differ = page.lines().zip(told.lines()).find(|(kept, now)| kept != now);
    assert!(differ.is_none() && page.len() == told.len(), "BLESS=1 rewrites it: {differ:?}");
}

/// Every type of action and event has a line.
#[test]
fn the_page_names_every_action_and_event() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/protocol/tongo_assets.md");
    let page = fs::read_to_string(path).expect("the page is there");
    for (file, of) in [
        (include_str!("../../src/games/tongo_assets/action.rs"), "pub enum Action {"),
        (include_str!("../../src/games/tongo_assets/event.rs"), "pub enum Event {"),
    ] {
        let named = variants(file, of);
        for name in &named {
            assert!(page.contains(&format!("`{name}`")), "{name} is not on the page");
        }
        assert!(named.len() > 10, "{of} was not found");
    }
}
