//! `bahay collusion`: how well the signs of collusion that operators see tell those who collude from
//! those who do not. Bots that collude are planted among others, pairs play so many games with a
//! third player, and each pair is scored by what the records of its games say.
//!
//! Phases: honest pairs are played to learn what is usual and where the line is to be drawn; then
//! other honest pairs, and pairs that collude in each way (`play`), are judged by it (`signs`).
//! Everything follows from the seed. Honest players are not all alike: each has a share of turns in
//! which it plays anything, and of fights and challenges that it does not dare.
//!
//! What it cannot tell: how people play. They differ more than these bots, and who colludes may
//! know this text. Deliberately absent: any judgement of a player of the house.

mod play;
mod signs;

use std::io::Write;

use bahay_engine::chance::{self, Answer, Key, Request};
use bahay_engine::hex::Hex;

use play::{Character, Way, game};
use signs::{Seen, Signs, Usual};

/// What to simulate.
#[derive(Clone, Copy, Debug, clap::Args)]
#[group(skip)]
pub struct Collusion {
    /// How many honest pairs are judged; as many others draw the line.
    #[arg(long, default_value_t = 1_000, value_parser = clap::value_parser!(u32).range(100..))]
    pub pairs: u32,

    /// How many games each pair plays together.
    #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..))]
    pub games: u32,

    /// The share of honest pairs that the line is drawn for, in thousandths.
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=500))]
    pub false_positives: u32,

    /// Decides everything.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
}

/// What came of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// Of the honest pairs that were judged, in thousandths.
    pub false_positives: u32,
    /// Of each way to collude, and of all together, how many pairs of a thousand were found.
    pub recall: Vec<(&'static str, u32)>,
    pub recall_of_all: u32,
}

/// Randomness from a seed, as much as is asked for.
pub(crate) struct Dice(chance::Dice);

impl Dice {
    fn new(seed: u64, series: u64) -> Self {
        let mut key = [0; 32];
        key[..8].copy_from_slice(&seed.to_le_bytes());
        key[8..16].copy_from_slice(&series.to_le_bytes());
        Self(chance::Dice::new(Key(Hex(key))))
    }

    pub(crate) fn answer(&mut self, request: Request) -> Answer {
        self.0.draw(request)
    }

    pub(crate) fn below(&mut self, bound: u32) -> u32 {
        match self.0.draw(Request::Number(bound.max(1))) {
            Answer::Number(number) => number,
            Answer::Order(_) => 0,
        }
    }

    pub(crate) fn per_mille(&mut self, share: u32) -> bool {
        share > 0 && self.below(1_000) < share
    }
}

/// Plays, judges, and writes what came of it.
pub fn run(what: Collusion, out: &mut impl Write) -> std::io::Result<Found> {
    let learned = pairs(what, 0, what.pairs, None);
    let usual = Usual::of(learned.iter().flatten());
    let mut scores: Vec<i64> =
        learned.iter().map(|games| Signs::of(games, &usual).score()).collect();
    scores.sort_unstable();
    let above = what.pairs as usize * what.false_positives as usize / 1_000;
    // As many honest pairs as are allowed for lie above the line.
    let line = scores[scores.len().saturating_sub(above + 1)];
    let found = |pairs: &[Vec<Seen>]| {
        let above = pairs.iter().filter(|games| Signs::of(games, &usual).score() > line).count();
        u32::try_from(above * 1_000 / pairs.len().max(1)).unwrap_or(u32::MAX)
    };
    let false_positives = found(&pairs(what, 1, what.pairs, None));
    let mut recall = Vec::new();
    for (series, way) in (2..).zip(Way::ALL) {
        let planted = pairs(what, series, (what.pairs / 3).max(1), Some(way));
        recall.push((way.name(), found(&planted)));
    }
    let sum: u32 = recall.iter().map(|(_, share)| share).sum();
    let recall_of_all = sum / u32::try_from(recall.len()).unwrap_or(1).max(1);
    let told = Found { false_positives, recall, recall_of_all };
    told.write(what, out)?;
    Ok(told)
}

/// Pairs of a series, each with what is seen in its games.
fn pairs(what: Collusion, series: u64, count: u32, way: Option<Way>) -> Vec<Vec<Seen>> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let play = |pair: u32| {
        let number = series << 32 | u64::from(pair);
        let mut dice = Dice::new(what.seed, number);
        let characters = [Character::random(&mut dice), Character::random(&mut dice)];
        let games = (0..what.games).map(|_| game(&mut dice, characters, way));
        games.collect::<Vec<_>>()
    };
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

impl Found {
    fn write(&self, what: Collusion, out: &mut impl Write) -> std::io::Result<()> {
        let share = |thousandths: u32| format!("{}.{} %", thousandths / 10, thousandths % 10);
        writeln!(out, "pairs of {} games, seed {}", what.games, what.seed)?;
        let allowed = share(what.false_positives);
        writeln!(
            out,
            "the line is drawn where {allowed} of {} honest pairs are above",
            what.pairs
        )?;
        writeln!(out)?;
        let judged = share(self.false_positives);
        writeln!(out, "honest pairs above it, of others {judged:>12}")?;
        for (way, found) in &self.recall {
            writeln!(out, "found: {way:<26} {:>10}", share(*found))?;
        }
        writeln!(out, "found of all               {:>16}", share(self.recall_of_all))
    }
}

#[cfg(test)]
mod tests {
    use super::{Collusion, run};

    #[test]
    fn those_who_dump_their_coins_are_told_from_others() {
        let what = Collusion { pairs: 100, games: 50, false_positives: 50, seed: 4 };
        let mut said = Vec::new();
        let found = run(what, &mut said).unwrap();
        let said = String::from_utf8(said).unwrap();
        let dumping = found.recall.iter().find(|(way, _)| *way == "chip dumping").unwrap().1;
        assert!(dumping > 5 * found.false_positives.max(50), "{said}");
        assert!(found.false_positives < 200, "{said}");
        let mut again = Vec::new();
        assert_eq!(run(what, &mut again).unwrap(), found, "the same seed gives the same numbers");
    }
}
