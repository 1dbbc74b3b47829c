//! The pages of docs/protocol against the code: they name every action and event, and their lists
//! of refusals and rounds are those of real games. `BLESS=1 cargo nextest run -p bahay-engine`
//! rewrites both, but for the refusals of Tongo (options), which are compared row by row.

use std::env;
use std::fmt::Write;
use std::fs;
use std::path::PathBuf;

use crate::support::desk::coins;
use crate::support::{json, variants};
use bahay_bots::Ai;
use bahay_bots::simulation::{Habits, Simulation};
use bahay_engine::chance::{Key, Stream};
use bahay_engine::game::{Game, GameKind, Refusal, Turn, Viewer};
use bahay_engine::games::tongo_assets::{self, TongoAssets};
use bahay_engine::games::tongo_options::{self, TongoOptions};
use bahay_engine::hex::Hex;
use bahay_engine::seat::Seat;
use bahay_engine::table::{Event, Input, Phase, Playing, Table};
use bahay_engine::{testing, variants};

/// The viewer whose traffic the pages show.
const VIEWER: Viewer = Viewer::Seat(Seat::new(0).expect("every table has seat 0"));

/// The seed of the shown game of Tongo (options), which has every kind of turn and is not too long.
const SEED: u64 = 4;

fn path(kind: &str) -> PathBuf {
    format!("{}/../../docs/protocol/{kind}.md", env!("CARGO_MANIFEST_DIR")).into()
}

fn page(kind: &str) -> String {
    fs::read_to_string(path(kind)).expect("the page is there")
}

/// Replaces the part between a mark and the next heading, or the end.
fn replace_part(page: &str, mark: &str, with: &str) -> String {
    let (before, after) = page.split_once(mark).unwrap_or_else(|| panic!("the page has no {mark}"));
    let rest = after.find("\n## ").map_or("", |at| &after[at..]);
    format!("{before}{mark}\n\n{with}{rest}")
}

/// Compares the parts of a page after these marks with the code, or rewrites them.
fn check_parts(kind: &str, parts: &[(&str, &str)]) {
    let page = page(kind);
    let replace = |page: String, (mark, part): &(&str, &str)| replace_part(&page, mark, part);
    let told = parts.iter().fold(page.clone(), replace);
    if env::var_os("BLESS").is_some() {
        fs::write(path(kind), told).expect("a writable page");
        return;
    }
    let differ = page.lines().zip(told.lines()).find(|(kept, now)| kept != now);
    assert!(differ.is_none() && page.len() == told.len(), "BLESS=1 rewrites {kind}: {differ:?}");
}

/// Checks that a page names every variant of the enums of actions and events, after this text.
fn check_names(kind: &str, before: &str, least: usize) {
    let page = page(kind);
    for (file, head) in [("action.rs", "pub enum Action {"), ("event.rs", "pub enum Event {")] {
        let source = format!("{}/src/games/{kind}/{file}", env!("CARGO_MANIFEST_DIR"));
        let source = fs::read_to_string(source).expect("the source is there");
        let named = variants(&source, head);
        for name in &named {
            let name = format!("{before}`{name}`");
            assert!(page.contains(&name), "{kind}, {file}: the page lacks {name}");
        }
        assert!(named.len() >= least, "{kind}, {file}: {named:?}");
    }
}

fn refusals<G: GameKind>() -> String {
    let mut table = String::from("| code | rule | what it says |\n|---|---|---|\n");
    for illegal in G::refusals() {
        let (code, rule) = (illegal.code(), illegal.rule());
        writeln!(table, "| `{code}` | {rule} | {illegal} |").expect("a string takes any text");
    }
    table
}

fn playing<G: Game>(table: &Table<G>) -> Option<&Playing<G>> {
    match table.phase() {
        Phase::Playing(playing) => Some(playing),
        variants!(Phase: Waiting, Preparing, Opening, Revealing, Settling) => None,
    }
}

/// Returns a game at a table of three as the client of seat 0 sees it: its view after the deal, and
/// then each action with the events that seat 0 receives.
fn round_of_options() -> String {
    let rules = tongo_options::Rules::lively();
    let rules = tongo_options::Rules { seats_min: 3, seats_max: 3, ..rules };
    let terms = testing::terms(rules, None, coins(1), 1);
    let mut house = Simulation::<TongoOptions>::new(SEED, terms, Habits::default(), coins(1_000));
    let (mut text, mut is_shown) = (String::new(), false);
    loop {
        let asked = playing(house.table()).and_then(|playing| playing.prompt.seats.first());
        let happened = house.step();
        let seen = happened.events.iter().filter_map(|event| event.redact::<TongoOptions>(VIEWER));
        let events = json(&seen.collect::<Vec<Event<_>>>());
        let playing = playing(house.table());
        match (&happened.line.input, asked, playing) {
            (Input::Act { action, .. } | Input::AiAction { action, .. }, Some(seat), _) => {
                text += &format!("seat {seat}: {}\n{events}\n", json(action));
            }
            (_, _, Some(playing)) if !is_shown => {
                is_shown = true;
                let view = json(&playing.state.view(VIEWER));
                text += &format!("The game is dealt:\n\n```json\n{events}\n```\n\n");
                text += &format!("The view of seat 0 is then\n\n```json\n{view}\n```\n\n");
                text += "Each action, and the events that seat 0 receives:\n\n```text\n";
            }
            _ => {}
        }
        if is_shown && playing.is_none() {
            return text + "```\n";
        }
    }
}

/// Returns the traffic of seat 0 from the deal to the second opening; the AI plays every seat.
fn round_of_assets() -> String {
    let mut stream = Stream::new(Key(Hex([0x22; 32])));
    let mut game = TongoAssets::new(&tongo_assets::Rules::personal(), 4, None);
    let (mut text, mut openings) = (String::from("```text\n"), 0);
    while openings < 2 {
        let mut events = Vec::new();
        game = match game.turn() {
            Turn::Over => break,
            Turn::Chance(request) => game.resolve(&stream.draw(request), &mut events),
            Turn::Wait(_) => game.expire(&mut events),
            Turn::Players(prompt) => {
                let seat = prompt.seats.first().expect("somebody is asked");
                let action = TongoAssets::choose_action(&game.view(Viewer::Seat(seat)));
                let action = action.expect("a seat that is asked can act");
                text += &format!("seat {seat}: {}\n", json(&action));
                game.act(seat, &action, &mut events).expect("advice is legal")
            }
        };
        for event in events {
            openings += i32::from(matches!(event, tongo_assets::Event::Opened { .. }));
            text += &format!("{}\n", json(&TongoAssets::redact(&event, VIEWER)));
        }
    }
    text + "```\n"
}

#[test]
fn the_page_of_tongo_options_shows_a_round_that_was_played() {
    let round = round_of_options();
    let acts = round.matches("\nseat ").count();
    assert!((10..80).contains(&acts), "a round of {acts} actions");
    check_parts("tongo_options", &[("<!-- round -->", &round)]);
}

#[test]
fn the_page_of_tongo_assets_tells_the_refusals_and_a_real_round() {
    let refusals = refusals::<TongoAssets>();
    let round = round_of_assets();
    let parts = [("<!-- refusals -->", &*refusals), ("<!-- round -->", &*round)];
    check_parts("tongo_assets", &parts);
}

#[test]
fn every_refusal_of_tongo_options_has_its_row() {
    let page = page("tongo_options");
    for row in refusals::<TongoOptions>().lines().skip(2) {
        assert!(page.contains(row), "the page lacks {row}");
    }
}

#[test]
fn the_pages_name_every_action_and_event() {
    check_names("tongo_options", "\n| ", 19);
    check_names("tongo_assets", "", 11);
}
