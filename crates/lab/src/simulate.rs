//! `bahay-lab simulate`: bots at a table in virtual time, without a network or a database. The same
//! seed yields the same numbers.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::PathBuf;

use bahay_bots::simulation::{Habits, Simulation};
use bahay_engine::catalog::{self, AnyGame};
use bahay_engine::coins::Coins;
use bahay_engine::game::Game;
use bahay_engine::table::{ActionOrigin, InvalidRecordError, Record};

use crate::rules::{RulesError, SimulatedRules};

/// The coins of a new player.
const WELCOME_COINS: i64 = 1_000_000;

/// The options of a simulation.
#[derive(Clone, Debug, clap::Args)]
pub struct Simulate {
    /// The number of games.
    #[arg(long, default_value_t = 1_000)]
    pub games: u64,

    /// The seed of the deals and of the players' actions.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,

    /// Adds players who go silent, disconnect, leave, and send invalid commands.
    #[arg(long)]
    pub rough: bool,

    /// The game, by its name; by default that of the house's first room.
    #[arg(long, value_name = "NAME")]
    pub game: Option<String>,

    /// A rule set of the game; by default the room's own, or the first one of another game.
    #[arg(long, value_name = "NAME")]
    pub rule_set: Option<String>,

    /// Writes the record of each game to this file, one JSON document a line, as `bahay verify` and
    /// the verifiers in docs/ read them. Replaces the file if it exists.
    #[arg(long, value_name = "FILE")]
    pub records: Option<PathBuf>,
}

/// The errors of a simulation.
#[derive(Debug, thiserror::Error)]
pub enum SimulateError {
    #[error("game {game} does not verify: {fault}")]
    Record { game: u64, fault: InvalidRecordError },
    #[error("{0} coins are missing")]
    Coins(Coins),
    #[error(transparent)]
    Rules(#[from] RulesError),
    #[error("{path} cannot be written: {error}", path = path.display())]
    Records { path: PathBuf, error: std::io::Error },
    #[error(transparent)]
    Write(#[from] std::io::Error),
}

#[derive(Default)]
struct SimulationTotals {
    games: u64,
    /// By the name of the ending.
    endings: BTreeMap<&'static str, u64>,
    /// By the name of the counter, for all players together.
    counters: BTreeMap<&'static str, u64>,
    /// The counts that players owed, by the name of the item.
    items: BTreeMap<String, u64>,
    actions: BTreeMap<&'static str, u64>,
    gross: Coins,
    fees: Coins,
    pots: u64,
    pot_coins: Coins,
    play_ms: u64,
}

/// Plays the games, verifies every record, and writes the statistics.
///
/// # Errors
/// A record that does not verify, missing coins, and failures of output.
pub fn run(options: &Simulate, out: &mut impl Write) -> Result<(), SimulateError> {
    let rules = SimulatedRules::resolve(options.game.as_deref(), options.rule_set.as_deref())?;
    let habits = if options.rough { Habits::ROUGH } else { Habits::default() };
    let welcome = Coins::from_whole(WELCOME_COINS).unwrap_or_default();
    let mut house = Simulation::<AnyGame>::new(options.seed, rules.terms.clone(), habits, welcome);
    let mut tally = SimulationTotals::default();
    let mut records = options.records.clone().map(RecordFile::create).transpose()?;
    while tally.games < options.games {
        if let Some(record) = &house.step().record {
            let game = tally.games + 1;
            let fault = |fault| SimulateError::Record { game, fault };
            record.verify().map_err(fault)?;
            let end = record.replay(|_| ()).map_err(fault)?;
            tally.add(record, &end);
            if let Some(records) = &mut records {
                records.append(record)?;
            }
        }
        if !house.missing_coins().is_zero() {
            return Err(SimulateError::Coins(house.missing_coins()));
        }
    }
    if let Some(records) = records {
        records.finish()?;
    }
    tally.write(options, &rules, house.refusal_count(), out)?;
    Ok(())
}

/// A file of records, one JSON document a line.
struct RecordFile {
    path: PathBuf,
    file: BufWriter<File>,
}

impl RecordFile {
    fn create(path: PathBuf) -> Result<Self, SimulateError> {
        match File::create(&path) {
            Ok(file) => Ok(Self { path, file: BufWriter::new(file) }),
            Err(error) => Err(SimulateError::Records { path, error }),
        }
    }

    fn append(&mut self, record: &Record<AnyGame>) -> Result<(), SimulateError> {
        let written = serde_json::to_writer(&mut self.file, record).map_err(std::io::Error::from);
        written.and_then(|()| self.file.write_all(b"\n")).map_err(|error| self.failed(error))
    }

    /// Flushes the buffer. A full disk is an error here and does not shorten the file silently.
    fn finish(mut self) -> Result<(), SimulateError> {
        self.file.flush().map_err(|error| self.failed(error))
    }

    fn failed(&self, error: std::io::Error) -> SimulateError {
        SimulateError::Records { path: self.path.clone(), error }
    }
}

impl SimulationTotals {
    fn add(&mut self, record: &Record<AnyGame>, end: &AnyGame) {
        self.games += 1;
        self.play_ms += record.finished_at.ms_since(record.opened_at);
        if let Some(ending) = end.ending() {
            *self.endings.entry(ending).or_default() += 1;
        }
        for count in end.counts() {
            *self.counters.entry(count.name).or_default() += u64::from(count.more);
        }
        for item in record.outcome.debts.iter().flat_map(|debt| &debt.items) {
            *self.items.entry(item.name.to_string()).or_default() += u64::from(item.counts);
        }
        for taken in &record.actions {
            let by = match taken.by {
                ActionOrigin::Player => "players",
                ActionOrigin::Clock => "the clock",
                ActionOrigin::Ai => "the AI",
            };
            *self.actions.entry(by).or_default() += 1;
        }
        for fee in &record.settlement.fees {
            self.gross = self.gross.checked_add(fee.gross).unwrap_or_default();
            self.fees = self.fees.checked_add(fee.fee).unwrap_or_default();
        }
        if let Some(pot) = record.settlement.pot {
            self.pots += 1;
            self.pot_coins = self.pot_coins.checked_add(pot.amount).unwrap_or_default();
        }
    }

    fn write(
        &self,
        options: &Simulate,
        rules: &SimulatedRules,
        refused: u64,
        out: &mut impl Write,
    ) -> std::io::Result<()> {
        let SimulatedRules { terms, rule_set } = rules;
        let kind = terms.rules.kind();
        let known = catalog::kinds().into_iter().find(|known| known.name == kind);
        let (title, endings, counters) = known
            .map_or((kind, &[][..], &[][..]), |kind| (kind.title, kind.endings, kind.counters));
        let share = |part: u64| {
            // Tenths of a percent, rounded down.
            let tenths = part.saturating_mul(1_000) / self.games.max(1);
            format!("{}.{} %", tenths / 10, tenths % 10)
        };
        let room = &terms.room;
        let seed = options.seed;
        let games = self.games;
        writeln!(out, "{games} games of {title} ({rule_set}) in the {room} room, seed {seed}")?;
        writeln!(out, "every record verified, no coin missing")?;
        writeln!(out)?;
        for ending in endings {
            let count = self.endings.get(ending.name).copied().unwrap_or(0);
            writeln!(out, "ends by {:<16} {count:>8}  {}", ending.title, share(count))?;
        }
        for counter in counters {
            let count = self.counters.get(counter.name).copied().unwrap_or(0);
            writeln!(out, "{:<24} {count:>8}", counter.title)?;
        }
        for (item, counts) in &self.items {
            writeln!(out, "counts for {item:<13} {counts:>8}")?;
        }
        for (by, count) in &self.actions {
            writeln!(out, "actions by {by:<13} {count:>8}")?;
        }
        writeln!(out, "inputs refused           {refused:>8}")?;
        let seconds = self.play_ms / self.games.max(1) / 1_000;
        writeln!(out, "a game takes on average  {seconds:>8} s, rounded down")?;
        writeln!(out)?;
        writeln!(out, "coins paid by losers     {:>12}", self.gross.to_string())?;
        writeln!(out, "fee                      {:>12}", self.fees.to_string())?;
        if terms.hits.is_some() {
            writeln!(out, "POTs taken               {:>9}", self.pots)?;
            writeln!(out, "coins in those POTs      {:>12}", self.pot_coins.to_string())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{Simulate, SimulateError, run};
    use crate::cli::parse_options;
    use crate::rules::{RulesError, first_room};
    use bahay_engine::catalog::{self, AnyGame};
    use bahay_engine::table::Readable as _;

    fn run_line(line: &str) -> Result<String, SimulateError> {
        let options = parse_options(&format!("--games 20 --rough {line}")).unwrap();
        let mut output = Vec::new();
        run(&options, &mut output)?;
        Ok(String::from_utf8(output).unwrap())
    }

    #[test]
    fn every_rule_set_of_every_game_can_be_simulated() {
        for kind in catalog::kinds() {
            for set in &kind.rule_sets {
                let line = format!("--game {} --rule-set {}", kind.name, set.name);
                let output = run_line(&line).unwrap();
                assert!(output.contains(&format!("of {} ({})", kind.title, set.name)), "{output}");
                let ends = output.lines().filter_map(|line| line.strip_prefix("ends by "));
                let ends = ends.map(|line| line.trim_end_matches('%').split_whitespace().rev());
                let ends: u64 =
                    ends.map(|mut words| words.nth(1).unwrap().parse::<u64>().unwrap()).sum();
                assert_eq!(ends, 20, "{output}");
                assert_eq!(output.contains("POTs taken"), set.hits.is_some(), "{output}");
            }
        }
    }

    #[test]
    fn records_of_every_rule_set_are_written_and_verify() {
        let folder = std::env::temp_dir().join(format!("bahay-records-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        for kind in catalog::kinds() {
            for set in &kind.rule_sets {
                let path = folder.join(format!("{}-{}", kind.name, set.name));
                let line = format!("--game {} --rule-set {} --rough", kind.name, set.name);
                let records = Some(path.clone());
                let of_set = parse_options(&line).unwrap();
                let options = Simulate { games: 3, seed: 7, records, ..of_set };
                run(&options, &mut Vec::new()).unwrap();
                let text = std::fs::read_to_string(&path).unwrap();
                assert_eq!(text.lines().count(), 3, "{}", path.display());
                for line in text.lines() {
                    let record = AnyGame::read_record(line).unwrap();
                    record.verify().unwrap();
                    assert_eq!(record.kind, kind.name);
                    assert_eq!(record.terms.rules, set.rules);
                }
            }
        }
        let nowhere = Some(folder.join("none").join("records"));
        let options = Simulate { games: 1, records: nowhere, ..parse_options("--rough").unwrap() };
        let error = run(&options, &mut Vec::new()).unwrap_err();
        assert!(matches!(error, SimulateError::Records { .. }), "{error}");
        std::fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn the_first_room_provides_the_defaults() {
        let room = first_room();
        let plain = run_line("").unwrap();
        assert_eq!(run_line(&format!("--game {}", room.kind())).unwrap(), plain);
        assert_eq!(run_line(&format!("--rule-set {}", room.rule_set())).unwrap(), plain);
        let refused = |line| match run_line(line) {
            Err(SimulateError::Rules(error)) => error,
            other => panic!("{other:?}"),
        };
        assert!(matches!(refused("--game chess"), RulesError::NoGame { .. }));
        assert!(matches!(refused("--rule-set none"), RulesError::NoRuleSet { .. }));
    }
}
