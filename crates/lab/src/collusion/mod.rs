//! `bahay-lab collusion`: measures how well the signs of collusion that operators see separate
//! colluding players from others. Colluding bots are planted among others, pairs play a number of
//! games with a third player, and each pair is scored from the records of its games.
//!
//! Phases: honest pairs are played to learn the baseline and the threshold; then other honest
//! pairs, and pairs that collude in each way (`play`), are judged by it (`signs`). Everything
//! follows from the seed. Honest players differ: each plays a share of its turns at random, and
//! declines a share of fights and challenges.
//!
//! `desk` measures in the same way the score by which the desk ranks pairs, which has no record of a
//! game: only its coins. `tournament` measures the ranks of pairs within a tournament, by the points
//! and the conduct of its games, which `tournament_games` plays.
//!
//! Limits: people differ more than these bots, and colluding players may know this text.
//! Deliberately absent: any judgement of a player of the house.

mod desk;
mod hands;
mod play;
mod signs;
mod tournament;
mod tournament_games;

use std::io::Write;

use bahay::reports::pairs::signs::ALERT_SCORE_DEFAULT;
use bahay_engine::chance::{ChanceRng, Key};
use bahay_engine::hex::Hex;

pub use desk::DeskDetection;
use play::{Character, CollusionKind, play_game};
use signs::{HonestBaseline, PairGame, Signs};
pub use tournament::TournamentDetection;

/// The options of the simulation.
#[derive(Clone, Copy, Debug, clap::Args)]
#[group(skip)]
pub struct Collusion {
    /// Number of honest pairs that are judged; as many others set the threshold.
    #[arg(long, default_value_t = 1_000, value_parser = clap::value_parser!(u32).range(100..))]
    pub pairs: u32,

    /// Number of games that each pair plays together.
    #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..))]
    pub games: u32,

    /// Share of honest pairs above the threshold, in thousandths.
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=500))]
    pub false_positives: u32,

    /// Bound on the share of random actions of a player of a tournament, in thousandths.
    #[arg(long, default_value_t = play::CARELESS_MAX, value_parser = clap::value_parser!(u32).range(1..=1_000))]
    pub careless: u32,

    /// Seed that decides everything.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
}

/// The result of the simulation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DetectionReport {
    /// The share of judged honest pairs above the threshold, in thousandths.
    pub false_positives: u32,
    /// For each way to collude, the share of pairs above the threshold, in thousandths.
    pub recall: Vec<(&'static str, u32)>,
    pub recall_of_all: u32,
    /// The score of the desk, at each game.
    pub desk: Vec<DeskDetection>,
    /// The ranks of dumping pairs in tournaments, at each game and format.
    pub tournaments: Vec<TournamentDetection>,
}

/// Plays and judges the pairs, and writes the report.
pub fn run(options: Collusion, out: &mut impl Write) -> std::io::Result<DetectionReport> {
    let learned = play_pairs(options, 0, options.pairs, None);
    let baseline = HonestBaseline::from_games(learned.iter().flatten());
    let mut scores: Vec<i64> =
        learned.iter().map(|games| Signs::from_games(games, &baseline).score()).collect();
    scores.sort_unstable();
    let above = options.pairs as usize * options.false_positives as usize / 1_000;
    // Exactly the allowed number of honest pairs lies above the threshold.
    let line = scores[scores.len().saturating_sub(above + 1)];
    let found = |pairs: &[Vec<PairGame>]| {
        let above =
            pairs.iter().filter(|games| Signs::from_games(games, &baseline).score() > line).count();
        u32::try_from(above * 1_000 / pairs.len().max(1)).unwrap_or(u32::MAX)
    };
    let false_positives = found(&play_pairs(options, 1, options.pairs, None));
    let mut recall = Vec::new();
    for (series, kind) in (2..).zip(CollusionKind::ALL) {
        let planted = play_pairs(options, series, (options.pairs / 3).max(1), Some(*kind));
        recall.push((kind.as_str(), found(&planted)));
    }
    let sum: u32 = recall.iter().map(|(_, share)| share).sum();
    let recall_of_all = sum / u32::try_from(recall.len()).unwrap_or(1).max(1);
    let desk = desk::measure_games(options);
    let tournaments = tournament::measure_tournaments(options);
    let report = DetectionReport { false_positives, recall, recall_of_all, desk, tournaments };
    report.write_report(options, out)?;
    Ok(report)
}

/// Plays a series of pairs, and returns the observations of each pair's games.
fn play_pairs(
    options: Collusion,
    series: u64,
    count: u32,
    kind: Option<CollusionKind>,
) -> Vec<Vec<PairGame>> {
    play_in_threads(options, series, count, |dice| {
        let characters = [Character::random(dice), Character::random(dice)];
        (0..options.games).map(|_| play_game(dice, characters, kind)).collect()
    })
}

/// Plays pairs on all processors, each with dice that follow from the seed, the series and its
/// number.
fn play_in_threads<T: Send>(
    options: Collusion,
    series: u64,
    count: u32,
    play_pair: impl Fn(&mut ChanceRng) -> T + Sync,
) -> Vec<T> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let play = |pair: u32| {
        let number = series << 32 | u64::from(pair);
        let mut key = [0; 32];
        key[..8].copy_from_slice(&options.seed.to_le_bytes());
        key[8..16].copy_from_slice(&number.to_le_bytes());
        play_pair(&mut ChanceRng::new(Key(Hex(key))))
    };
    let play = &play;
    let numbers: Vec<u32> = (0..count).collect();
    let each = numbers.len().div_ceil(threads).max(1);
    std::thread::scope(|scope| {
        let parts: Vec<_> = numbers
            .chunks(each)
            .map(|part| {
                scope.spawn(move || part.iter().map(|pair| play(*pair)).collect::<Vec<_>>())
            })
            .collect();
        parts.into_iter().flat_map(|part| part.join().unwrap_or_default()).collect()
    })
}

impl DetectionReport {
    fn write_report(&self, options: Collusion, out: &mut impl Write) -> std::io::Result<()> {
        let share = |thousandths: u32| format!("{}.{} %", thousandths / 10, thousandths % 10);
        writeln!(out, "pairs of {} games, seed {}", options.games, options.seed)?;
        let allowed = share(options.false_positives);
        writeln!(
            out,
            "the line is drawn where {allowed} of {} honest pairs are above",
            options.pairs
        )?;
        writeln!(out)?;
        let judged = share(self.false_positives);
        writeln!(out, "honest pairs above it, of others {judged:>12}")?;
        for (kind, found) in &self.recall {
            writeln!(out, "found: {kind:<26} {:>10}", share(*found))?;
        }
        writeln!(out, "found of all               {:>16}", share(self.recall_of_all))?;
        writeln!(out)?;
        writeln!(
            out,
            "the score of the desk, at {ALERT_SCORE_DEFAULT} points, of pairs who always meet"
        )?;
        for DeskDetection { game, false_positives, one_address, dumping } in &self.desk {
            writeln!(out, "{game}: honest pairs above it {:>8}", share(*false_positives))?;
            writeln!(out, "{game}: found: chip dumping   {:>8}", share(*dumping))?;
            writeln!(out, "{game}: found: one address    {:>8}", share(*one_address))?;
        }
        writeln!(out)?;
        writeln!(out, "ranks of dumping pairs among the pairs of a tournament of 60 players")?;
        for detection in &self.tournaments {
            let TournamentDetection { game, format, tournaments, pairs, .. } = detection;
            let found = share(detection.first_hundredth);
            let together = format!("{}.{}", detection.games / 10, detection.games % 10);
            let ranks: Vec<String> = detection.ranks.iter().map(usize::to_string).collect();
            let ranks = ranks.join(" ");
            let unranked = detection.unranked;
            writeln!(out, "{game}, {tournaments} tournaments ({format}), {pairs} pairs each")?;
            writeln!(out, "    in the first hundredth    {found:>8}")?;
            writeln!(out, "    games together            {together:>8}")?;
            writeln!(out, "    ranks: {ranks}; met too seldom: {unranked}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{Collusion, run};

    #[test]
    fn those_who_dump_their_coins_are_told_from_others() {
        let options =
            Collusion { pairs: 100, games: 50, false_positives: 50, careless: 80, seed: 4 };
        let mut text = Vec::new();
        let found = run(options, &mut text).unwrap();
        let text = String::from_utf8(text).unwrap();
        let dumping = found.recall.iter().find(|(kind, _)| *kind == "chip dumping").unwrap().1;
        assert!(dumping > 5 * found.false_positives.max(50), "{text}");
        assert!(found.false_positives < 200, "{text}");
        for desk in &found.desk {
            assert!(desk.dumping > 5 * desk.false_positives.max(50), "{text}");
            assert_eq!(desk.one_address, 1_000, "{text}");
        }
        // The players of a pair wait for each other in an arena, so that all of them are ranked.
        for arena in found.tournaments.iter().filter(|one| one.format == "arena") {
            assert_eq!((arena.ranks.len(), arena.unranked), (6, 0), "{text}");
            let median = arena.ranks[arena.ranks.len() / 2];
            assert!(median * 10 < arena.pairs, "{text}");
        }
        let mut again = Vec::new();
        assert_eq!(
            run(options, &mut again).unwrap(),
            found,
            "the same seed gives the same numbers"
        );
    }
}
