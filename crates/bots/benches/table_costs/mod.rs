//! The costs of a table's work at any game: deciding on a move, following it, views, redaction,
//! reading a journal, verifying a record, and the serialised sizes.

#[path = "../../../engine/benches/rows/mod.rs"]
mod rows;

use bahay_bots::Ai;
use bahay_bots::simulation::{Habits, Simulation, SimulationStep};
use bahay_engine::chance::ServerSeed;
use bahay_engine::coins::Coins;
use bahay_engine::game::{Game, GameKind, Viewer};
use bahay_engine::hex::Hex;
use bahay_engine::seat::Seat;
use bahay_engine::table::{Event, GameEntropy, GameId, Hits, Input, Line, Record, Table};
use bahay_engine::testing::{self, TestRng, step};

pub use rows::Rows;

/// A line of a journal, with the table before it.
pub type Step<G> = (Table<G>, SimulationStep<G>);

/// A table at which some games were played.
pub struct PlayedTable<G: Game> {
    first: Table<G>,
    last: Table<G>,
    lines: Vec<String>,
    /// The steps in which players acted.
    pub moves: Vec<Step<G>>,
    record: Record<G>,
}

impl<G: Ai + GameKind> PlayedTable<G> {
    /// Plays this many games, the same each time.
    pub fn play(rules: G::Rules, hits: Option<Hits>, games: usize) -> Self {
        let terms = testing::terms(rules, hits, Coins::from_whole(1).expect("one fits"), 1);
        let welcome = Coins::from_whole(1_000).expect("a thousand fits");
        let mut simulation = Simulation::<G>::new(1, terms, Habits::default(), welcome);
        let first = simulation.table().clone();
        let (mut lines, mut moves, mut records) = (Vec::new(), Vec::new(), Vec::new());
        while records.len() < games {
            let before = simulation.table().clone();
            let happened = simulation.step();
            records.extend(happened.record.clone());
            lines.push(text(&happened.line));
            if matches!(happened.line.input, Input::Act { .. }) {
                moves.push((before, happened));
            }
        }
        let record = records.pop().expect("some games were played");
        Self { first, last: simulation.table().clone(), lines, moves, record }
    }

    pub fn print(&self, rows: &Rows) {
        let Self { first, last, lines, moves, record } = self;
        let seed = ServerSeed(Hex([0; 32]));
        let fresh = || GameEntropy { seed, game: GameId(uuid::Uuid::nil()) };
        rows.each("decide on a move", moves, |(table, happened)| {
            let Line { at, input, .. } = happened.line.clone();
            table.decide(at, input, fresh).is_ok()
        });
        rows.each("follow a line of a move", moves, |(table, happened)| {
            table.apply_line(&happened.line).is_ok()
        });
        let seat = Seat::new(0).expect("there is a first seat");
        let player = moves.iter().find_map(|(table, _)| table.occupant(seat));
        let player = player.map(|occupant| occupant.player);
        rows.each("view of a table", moves, |(table, _)| table.view(player));
        rows.each("redact a move for a seat", moves, |(_, happened)| {
            let seen = |event: &Event<_>| event.redact::<G>(Viewer::Seat(seat));
            happened.events.iter().filter_map(seen).collect::<Vec<_>>()
        });
        let read = |line: &String| serde_json::from_str::<Line<G::Action>>(line);
        rows.each("read a line", lines, |line| read(line).is_ok());
        rows.each(&format!("replay a journal of {} lines", lines.len()), &[()], |()| {
            lines.iter().fold(first.clone(), |table, line| {
                let line = read(line).expect("a line that was written");
                table.apply_line(&line).expect("a line that was accepted").0
            })
        });
        rows.each(&format!("verify a record of {} actions", record.actions.len()), &[()], |()| {
            record.verify().is_ok()
        });
        let bytes = lines.iter().map(String::len).sum::<usize>() / lines.len();
        rows.bytes("a line on paper", bytes);
        rows.bytes("a table on paper", text(last).len());
        rows.bytes("a record on paper", text(record).len());
        rows.bytes("a table in memory, without what it points to", size_of::<Table<G>>());
        rows.bytes("a game in memory", size_of::<G>());
    }
}

/// Plays random games, the same each time. Returns steps, players' decisions and games; the time
/// includes the decisions of chance.
pub fn random_play<G: Game>(rules: &G::Rules, seats: u8, games: u64) -> (u64, u64, u64) {
    let (mut events, mut actions) = (Vec::new(), Vec::new());
    let mut dice = TestRng::new(1);
    let (mut steps, mut decisions) = (0, 0);
    for _ in 0..games {
        let mut game = G::new(rules, seats, None);
        while let Some(next) = step(&game, &mut dice, &mut events, |seat, dice| {
            decisions += 1;
            actions.clear();
            game.legal_actions(seat, &mut actions);
            dice.choose(&actions).expect("a seat that is asked can act").clone()
        }) {
            game = next;
            steps += 1;
        }
    }
    (steps, decisions, games)
}

pub fn text(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).expect("what the engine writes is JSON")
}
