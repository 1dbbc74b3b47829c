//! A takeover's memory equals the events that its seat has seen, in every kind and for every seat.

use bahay_bots::Ai;
use bahay_bots::simulation::{Habits, Simulation};
use bahay_engine::game::{GameKind, Viewer};
use bahay_engine::games::tongits::Tongits;
use bahay_engine::games::tongo_assets::TongoAssets;
use bahay_engine::games::tongo_options::TongoOptions;
use bahay_engine::seat::Seat;
use bahay_engine::table::{Event, Phase};
use bahay_engine::testing;

use crate::support::desk::coins;
use crate::support::play_games;

/// Plays at a table of each rule set and after every line compares the table's restored memory with
/// the events sent to the seats.
fn remembers_all_that_was_shown<G: Ai + GameKind>() {
    for set in G::rule_sets() {
        let terms = testing::terms((set.rules)(), set.hits, coins(1), 1);
        let mut tables = Simulation::<G>::new(9, terms, Habits::ROUGH, coins(1_000_000));
        let mut told: Vec<G::Event> = vec![];
        let mut compared = 0;
        play_games(&mut tables, 2, |tables, happened| {
            for event in happened.events {
                match event {
                    Event::Opening { .. } => told.clear(),
                    Event::Game { event } => told.push(event),
                    _ => {}
                }
            }
            let table = tables.table();
            if let Phase::Playing(playing) = table.phase() {
                for seat in Seat::all(u8::try_from(playing.stakes.len()).expect("few seats")) {
                    let shown =
                        told.iter().filter_map(|event| G::redact(event, Viewer::Seat(seat)));
                    assert_eq!(
                        table.events_seen_by(seat),
                        shown.collect::<Vec<_>>(),
                        "{}",
                        set.name
                    );
                    compared += 1;
                }
            } else {
                assert!(Seat::all(2).all(|seat| table.events_seen_by(seat).is_empty()));
            }
        });
        assert!(compared > 20, "{} of {}", compared, set.name);
    }
}

#[test]
fn at_tongits() {
    remembers_all_that_was_shown::<Tongits>();
}

#[test]
fn at_tongo_options() {
    remembers_all_that_was_shown::<TongoOptions>();
}

#[test]
fn at_tongo_assets() {
    remembers_all_that_was_shown::<TongoAssets>();
}
