//! docs/protocol/tongo_options.md against the code: its tables name every action, event and
//! refusal, and its round is that of a real game. `BLESS=1` rewrites the round.

use std::env;
use std::fs;

use crate::support::variants;
use bahay_bots::simulation::{Habits, Simulation};
use bahay_engine::coins::Coins;
use bahay_engine::game::{Game, GameKind, Refusal, Viewer};
use bahay_engine::games::tongo_options::{Rules, TongoOptions};
use bahay_engine::seat::Seat;
use bahay_engine::table::{Event, Input, Phase};
use bahay_engine::testing;
use bahay_engine::variants;

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/protocol/tongo_options.md");

/// The seed of the shown game, which has every kind of turn and is not too long.
const SEED: u64 = 4;

fn page() -> String {
    fs::read_to_string(PAGE).expect("the page is there")
}

/// Returns a game at a table of three as the client of seat 0 sees it: its view after the deal, and
/// then each action with the events that seat 0 receives.
fn round() -> String {
    let terms = testing::terms(
        Rules { seats_min: 3, seats_max: 3, ..Rules::lively() },
        None,
        Coins::from_whole(1).expect("a bet"),
        1,
    );
    let welcome = Coins::from_whole(1_000).expect("a wallet");
    let mut table = Simulation::<TongoOptions>::new(SEED, terms, Habits::default(), welcome);
    let own = Viewer::Seat(Seat::new(0).expect("a seat"));
    let mut text = String::new();
    let mut is_shown = false;
    loop {
        let seat_asked = match table.table().phase() {
            Phase::Playing(playing) => playing.prompt.seats.iter().next(),
            variants!(Phase: Waiting, Preparing, Opening, Revealing, Settling) => None,
        };
        let happened = table.step();
        let seen: Vec<Event<_>> =
            happened.events.iter().filter_map(|event| event.redact::<TongoOptions>(own)).collect();
        let json = |value: &dyn Fn() -> serde_json::Result<String>| value().expect("it is JSON");
        let events = json(&|| serde_json::to_string(&seen));
        match (&happened.line.input, seat_asked) {
            (Input::Act { action, .. } | Input::AiAction { action, .. }, Some(seat)) => {
                let action = json(&|| serde_json::to_string(action));
                text += &format!("seat {seat}: {action}\n{events}\n");
            }
            _ if !is_shown && matches!(table.table().phase(), Phase::Playing(_)) => {
                is_shown = true;
                text += &format!("The game is dealt:\n\n```json\n{events}\n```\n\n");
                if let Phase::Playing(playing) = table.table().phase() {
                    let view = json(&|| serde_json::to_string(&playing.state.view(own)));
                    text += &format!("The view of seat 0 is then\n\n```json\n{view}\n```\n\n");
                    text += "Each action, and the events that seat 0 receives:\n\n```text\n";
                }
            }
            _ => {}
        }
        if is_shown && !matches!(table.table().phase(), Phase::Playing(_)) {
            return text + "```\n";
        }
    }
}

#[test]
fn the_round_of_the_page_is_one_that_was_played() {
    let page = page();
    let (before, shown) = page.split_once("<!-- round -->\n\n").expect("the mark of the round");
    let round = round();
    if env::var_os("BLESS").is_some() {
        fs::write(PAGE, format!("{before}<!-- round -->\n\n{round}")).expect("a writable page");
        return;
    }
    assert_eq!(shown, round, "BLESS=1 writes the round anew");
    let acts = round.matches("\nseat ").count();
    assert!((10..80).contains(&acts), "a round of {acts} actions");
}

#[test]
fn every_refusal_has_its_row() {
    let page = page();
    for illegal in TongoOptions::refusals() {
        let row = format!("| `{}` | {} | {illegal} |", illegal.code(), illegal.rule());
        assert!(page.contains(&row), "the page lacks {row}");
    }
}

/// Checks the names of the variants as they are serialised.
#[test]
fn every_action_and_event_has_its_row() {
    let page = page();
    let source = |file: &str| {
        let path = format!("{}/src/games/tongo_options/{file}", env!("CARGO_MANIFEST_DIR"));
        fs::read_to_string(path).expect("the source is there")
    };
    for (file, head) in [("action.rs", "pub enum Action {"), ("event.rs", "pub enum Event {")] {
        let named = variants(&source(file), head);
        for name in &named {
            let row = format!("| `{name}`");
            assert!(page.lines().any(|line| line.starts_with(&row)), "{file}: no row {row}");
        }
        assert!(named.len() >= 19, "{file}: {named:?}");
    }
}
