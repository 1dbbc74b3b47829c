//! `bahay-lab arena`: bots against each other at any game of the catalogue, on all processors. The
//! same seed gives the same numbers, whatever the number of threads.
//!
//! The contest itself is defined in `bahay_bots::arena`; this module distributes it over threads
//! and prints the results as a table (`table`) and as a picture (`picture`).
//!
//! Deliberately absent: time, and knowledge of any particular game.

mod picture;
mod progress;
mod table;

use std::io::Write;
use std::num::NonZero;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc;
use std::thread;

use bahay_bots::arena::{Contest, ContestTally};
use bahay_bots::search::Grade;
use bahay_engine::catalog::{self, AnyGame, AnyRules};
use bahay_engine::game::{GameRules, SeatRange};

use crate::rules::{RulesError, SimulatedRules};

pub use progress::Progress;

/// The command-line options of `bahay-lab arena`.
#[derive(Clone, Debug, clap::Args)]
#[group(skip)]
pub struct Arena {
    /// The bots by name, one per seat.
    #[arg(long, value_delimiter = ',', required = true, value_name = "A,B,C")]
    pub bots: Vec<Grade>,

    /// The minimum number of games; it is rounded up to whole series of deals.
    #[arg(long, default_value_t = 20_000, value_parser = clap::value_parser!(u64).range(1..))]
    pub games: u64,

    /// The seed of the deals and of the bots' random choices.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,

    /// Play every deal once for each rotation of the seats, so that no bot has better cards.
    #[arg(long)]
    pub duplicate: bool,

    /// The game, by name (default: the game of the house's first room).
    #[arg(long, value_name = "NAME")]
    pub game: Option<String>,

    /// One of the game's rule sets (default: that of the room, or the first one of another game).
    #[arg(long, alias = "preset", value_name = "NAME")]
    pub rule_set: Option<String>,

    /// Draw the bots' shares of the games, with their intervals, into this SVG file.
    #[arg(long, value_name = "FILE")]
    pub svg: Option<PathBuf>,

    /// The number of threads (default: one per processor).
    #[arg(long, value_name = "NUMBER")]
    pub threads: Option<NonZero<usize>>,
}

/// The error of a contest that cannot be played or printed.
#[derive(Debug, thiserror::Error)]
pub enum ArenaError {
    #[error(transparent)]
    Rules(#[from] RulesError),
    #[error("{title} ({rule_set}) is played by {least} to {most} bots, not by {given}")]
    Seats { title: &'static str, rule_set: String, least: u8, most: u8, given: usize },
    #[error("{path} cannot be written: {error}")]
    Picture { path: String, error: std::io::Error },
    #[error(transparent)]
    Write(#[from] std::io::Error),
}

/// A played contest with the data needed to print it.
struct ContestReport<'a> {
    contest: &'a Contest<AnyRules>,
    rule_set: &'a str,
    title: &'static str,
    tally: &'a ContestTally,
}

/// Plays a contest and writes its results. Calls `on_progress` with the numbers of finished and of
/// all series.
pub fn run(
    options: &Arena,
    out: &mut impl Write,
    on_progress: impl FnMut(u64, u64),
) -> Result<(), ArenaError> {
    let SimulatedRules { terms, rule_set } =
        SimulatedRules::resolve(options.game.as_deref(), options.rule_set.as_deref())?;
    let title = catalog::kind_title(terms.rules.kind());
    let SeatRange { least, most } = terms.rules.seats();
    let given = options.bots.len();
    if !(usize::from(least)..=usize::from(most)).contains(&given) {
        return Err(ArenaError::Seats { title, rule_set, least, most, given });
    }
    let Arena { seed, duplicate: is_duplicate, .. } = *options;
    let contest = Contest { terms, bots: options.bots.clone(), seed, is_duplicate };
    let processors = || thread::available_parallelism().map_or(1, NonZero::get);
    let threads = options.threads.map_or_else(processors, NonZero::get);
    let tally = play_on_threads(&contest, options.games, threads, on_progress);
    let report = ContestReport { contest: &contest, rule_set: &rule_set, title, tally: &tally };
    table::write_table(&report, out)?;
    if let Some(path) = &options.svg {
        let failed = |error| ArenaError::Picture { path: path.display().to_string(), error };
        std::fs::write(path, picture::draw_svg(&report)).map_err(failed)?;
    }
    Ok(())
}

/// Plays as many series as the number of games requires. Idle threads take the next series; the
/// tallies merge to the same result in any order.
fn play_on_threads(
    contest: &Contest<AnyRules>,
    games: u64,
    threads: usize,
    mut on_progress: impl FnMut(u64, u64),
) -> ContestTally {
    let series = games.div_ceil(contest.games_per_series());
    let next = AtomicU64::new(0);
    let mut sum = ContestTally::new(contest.bots.len());
    thread::scope(|scope| {
        let (done, tallies) = mpsc::channel();
        for _ in 0..threads {
            let done = done.clone();
            let next = &next;
            scope.spawn(move || {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= series {
                        return;
                    }
                    if done.send(contest.play_series::<AnyGame>(number)).is_err() {
                        return;
                    }
                }
            });
        }
        drop(done);
        for (count, tally) in (1..).zip(tallies) {
            sum.merge(&tally);
            on_progress(count, series);
        }
    });
    sum
}

#[cfg(test)]
mod tests {
    use super::{Arena, ArenaError, run};
    use crate::cli::parse_options;
    use bahay_engine::catalog;
    use bahay_engine::game::GameRules;

    fn run_line(line: &str) -> Result<String, ArenaError> {
        let mut output = Vec::new();
        run(&parse_options(line).unwrap(), &mut output, |_, _| ())?;
        Ok(String::from_utf8(output).unwrap())
    }

    #[test]
    fn every_rule_set_of_every_game_is_played() {
        for kind in catalog::kinds() {
            for set in &kind.rule_sets {
                let seats = usize::from(set.rules.seats().least);
                let bots: Vec<_> =
                    ["greedy", "random", "clock"].into_iter().cycle().take(seats).collect();
                let line = format!(
                    "--bots {} --games 1 --duplicate --game {} --preset {}",
                    bots.join(","),
                    kind.name,
                    set.name
                );
                let output = run_line(&line).unwrap();
                assert!(
                    output.contains(&format!("games of {} ({})", kind.title, set.name)),
                    "{output}"
                );
                for bot in bots {
                    assert!(output.contains(bot), "{output}");
                }
                assert_eq!(output.contains("POTs"), set.hits.is_some(), "{output}");
            }
        }
    }

    #[test]
    fn the_number_of_threads_changes_nothing() {
        let line = "--bots greedy,random,clock --games 900 --duplicate --seed 3";
        let one = run_line(&format!("{line} --threads 1")).unwrap();
        assert_eq!(run_line(&format!("{line} --threads 4")).unwrap(), one);
        assert_ne!(run_line("--bots greedy,random,clock --games 900 --duplicate").unwrap(), one);
    }

    #[test]
    fn a_misspelt_bot_yields_the_list_of_bots() {
        let error = parse_options::<Arena>("--bots gready,random,clock").unwrap_err().to_string();
        assert!(error.contains("'gready'"), "{error}");
        assert!(error.contains("the bots are random, clock, greedy, quick, strong"), "{error}");
    }

    #[test]
    fn too_few_bots_are_rejected() {
        let error = run_line("--bots greedy,random --game tongits").unwrap_err();
        let expected = "Tong-its (kingdom) is played by 3 to 3 bots, not by 2";
        assert_eq!(error.to_string(), expected);
        assert!(matches!(run_line("--bots clock --game chess"), Err(ArenaError::Rules(_))));
    }

    #[test]
    fn the_picture_names_every_bot_and_is_well_formed() {
        let path = std::env::temp_dir().join(format!("arena-{}.svg", std::process::id()));
        let line = format!("--bots greedy,random,clock --games 1 --svg {}", path.display());
        run_line(&line).unwrap();
        let drawn = std::fs::read_to_string(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        for bot in ["greedy", "random", "clock"] {
            assert!(drawn.contains(&format!(">{bot}<")), "{drawn}");
        }
        let opened = drawn.matches('<').count();
        let closed = drawn.matches("</").count() * 2 + drawn.matches("/>").count();
        assert_eq!(opened, closed, "{drawn}");
    }
}
