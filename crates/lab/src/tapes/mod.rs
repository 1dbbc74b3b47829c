//! `bahay-lab tapes`: records the messages of simulated games, and what a client must make of them,
//! as files against which clients in any language can be tested. `clients/tapes/README.md`
//! describes the files.
//!
//! Games, players and clock come from the engine's simulation, and every message is encoded by the
//! server's code. Lost connections and answers between them are drawn from the same seed, so a seed
//! always gives the same file.

mod messages;
mod network;
mod script;

use std::fs;
use std::io;
use std::path::PathBuf;

use bahay_bots::simulation::{Habits, Simulation};
use bahay_engine::catalog::{self, AnyGame, AnyRules};
use bahay_engine::chance::ServerSeed;
use bahay_engine::coins::Coins;
use bahay_engine::game::GameRules;
use bahay_engine::hex::Hex;
use bahay_engine::table::{Clocks, PlayerId, Terms, TournamentId, TournamentSeating};
use bahay_protocol::brief::Form;
use uuid::Uuid;

use crate::rules::first_room;
use crate::tapes::network::Recorder;

/// The wallet of a new player, in whole coins.
const WELCOME_COINS: i64 = 1_000_000;

/// Players lose their connection often, because tapes test reconnection.
const HABITS: Habits = Habits { silent: 30, disconnect: 120, leave: 4, noise: 0, removed: 0 };

/// One tape in this number is of a table of a tournament, and every other one of these of a
/// duplicate, whose deals are not shown.
const TOURNAMENT_EVERY: u64 = 5;

/// The number of games of a table of a tournament.
const TOURNAMENT_GAMES: u32 = 2;

/// The number of steps after which a game is given up, far more than any game takes.
const STEPS_MAX: u32 = 20_000;

/// The options of the tapes.
#[derive(Clone, Debug, clap::Args)]
pub struct Tapes {
    /// Folder that the tapes are written to, one file each.
    #[arg(value_name = "FOLDER")]
    pub folder: PathBuf,

    /// Number of tapes.
    #[arg(long, default_value_t = 20)]
    pub count: u64,

    /// Seed of the first tape; each other has the next one.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,

    /// Name of the game.
    #[arg(long, value_name = "NAME", default_value = "tongits")]
    pub game: String,
}

/// An error that leaves the tapes incomplete.
#[derive(Debug, thiserror::Error)]
pub enum TapesError {
    #[error("there is no game {0}")]
    NoGame(String),
    #[error("seed {0}: a message could not be written")]
    Unwritable(u64),
    #[error("seed {0}: no game ended")]
    Endless(u64),
    #[error(transparent)]
    Write(#[from] io::Error),
}

/// Records the tapes and writes them.
pub fn run(options: &Tapes) -> Result<(), TapesError> {
    fs::create_dir_all(&options.folder)?;
    for seed in options.seed..options.seed.saturating_add(options.count) {
        let tape = record_tape(&options.game, seed)?;
        fs::write(options.folder.join(format!("{}-{seed:04}.jsonl", options.game)), tape)?;
    }
    Ok(())
}

/// Records one tape, from the seat of its first player: a game, or the table of a tournament.
///
/// # Errors
/// If there is no such game, or the game does not end.
pub fn record_tape(game: &str, seed: u64) -> Result<String, TapesError> {
    let kinds = catalog::kinds();
    let kind = kinds.iter().find(|kind| kind.name == game);
    let kind = kind.ok_or_else(|| TapesError::NoGame(game.to_owned()))?;
    // Cycles through all rule sets in all forms.
    let sets = kind.rule_sets.iter().cycle();
    let set = sets.clone().nth(wrap_index(seed / Form::ALL.len() as u64, kind.rule_sets.len()));
    let set = set.ok_or_else(|| TapesError::NoGame(game.to_owned()))?;
    let form = Form::ALL[wrap_index(seed, Form::ALL.len())];
    let simulation = if seed.is_multiple_of(TOURNAMENT_EVERY) {
        simulate_tournament_table(seed, set.rules.clone())
    } else {
        let room = first_room().terms().clone();
        let terms = Terms { rules: set.rules.clone(), hits: set.hits, ..room };
        let welcome = Coins::from_whole(WELCOME_COINS).unwrap_or_default();
        Simulation::new(seed, terms, HABITS, welcome)
    };
    let mut recorder = Recorder::new(simulation, seed, form, (kind.name, set.name));
    for _ in 0..STEPS_MAX {
        if recorder.step().map_err(|_| TapesError::Unwritable(seed))? {
            return Ok(recorder.finish());
        }
    }
    Err(TapesError::Endless(seed))
}

/// Creates a table of a tournament with as many players as its game has seats. Nobody leaves it:
/// such a player keeps the seat, and a tape ends with the seat.
fn simulate_tournament_table(seed: u64, rules: AnyRules) -> Simulation<AnyGame> {
    let is_duplicate = seed.is_multiple_of(2 * TOURNAMENT_EVERY);
    let games = u8::try_from(TOURNAMENT_GAMES).unwrap_or_default();
    let seeds = (0..games).map(|game| ServerSeed(Hex([game; 32]))).filter(|_| is_duplicate);
    let seeds: Vec<ServerSeed> = seeds.collect();
    let players = 1..=u64::from(rules.seats().most);
    let seating = TournamentSeating {
        tournament: TournamentId(Uuid::from_u64_pair(seed, u64::MAX)),
        round: 1,
        number: 1,
        games: TOURNAMENT_GAMES,
        players: players.map(|number| PlayerId(Uuid::from_u64_pair(!seed, number))).collect(),
        commitments: seeds.iter().map(ServerSeed::commitment).collect(),
    };
    let bet = first_room().terms().price.bet;
    let terms = Terms::for_tournament("tournament", rules, bet, Clocks::default(), seating);
    Simulation::at_tournament(seed, terms, Habits { leave: 0, ..HABITS }, seeds)
}

fn wrap_index(number: u64, length: usize) -> usize {
    usize::try_from(number).unwrap_or_default() % length
}

#[cfg(test)]
mod tests {
    use super::record_tape;

    #[test]
    fn the_same_seed_gives_the_same_tape_and_another_one_another() {
        let first = record_tape("tongits", 1).unwrap();
        assert_eq!(record_tape("tongits", 1).unwrap(), first);
        assert_ne!(record_tape("tongits", 2).unwrap(), first);
    }

    #[test]
    fn tapes_hold_what_they_are_for() {
        let all: String = (1..60).map(|seed| record_tape("tongits", seed).unwrap()).collect();
        for content in [
            r#""close":1001"#,
            r#""close":1006"#,
            r#""close":4008"#,
            r#""net":"down""#,
            r#""sleep":true"#,
            r#""expire":true"#,
            r#""net":"dead""#,
            r#""net":"portal""#,
            r#""noticed":true"#,
            r#""stops":true"#,
            r#""clock":3600000"#,
            r#""clock":-3600000"#,
            r#""refresh":"elsewhere""#,
            r#""refresh":"unanswered""#,
            r#""on":"before""#,
            r#""outcome":"overtaken""#,
            r#""type":"reveal""#,
            r#"{\"type\":\"ack\",\"id\":"#,
            r#",\"ack\":"#,
            r#""link":"replaced""#,
            r#""link":"signed_out""#,
            r#""unseated":true"#,
            r#"\"tournament\":{"#,
        ] {
            assert!(all.contains(content), "no tape has {content}");
        }
    }
}
