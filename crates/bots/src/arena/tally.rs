//! The tally of a contest: each bot's wins, coins and POTs, and the endings of the games.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use crate::arena::sample::{Estimate, Sample};

/// The result of a bot in one deal, summed over all rotations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DealScore {
    pub wins: i64,
    /// The coins received after the fee less the coins paid, in hundredths, without antes and POTs.
    pub coins: i64,
    /// The number of POTs won.
    pub pots: i64,
    /// The POTs won less the antes paid, in hundredths.
    pub pot_coins: i64,
}

/// The result of a bot in all deals.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct BotTally {
    wins: Sample,
    coins: Sample,
    pots: Sample,
    pot_coins: Sample,
    /// The number of games won, by the name of the ending.
    won_by: BTreeMap<&'static str, u64>,
}

/// The results of one or more series.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContestTally {
    games: u64,
    /// The number of games per deal.
    rotations: u32,
    rows: Vec<BotTally>,
    endings: BTreeMap<&'static str, u64>,
}

impl ContestTally {
    /// Creates an empty tally for a number of bots.
    pub fn new(bots: usize) -> Self {
        let rows = alloc::vec![BotTally::default(); bots];
        Self { games: 0, rotations: 0, rows, endings: BTreeMap::new() }
    }

    /// Adds the results of other series of the same contest.
    pub fn merge(&mut self, other: &Self) {
        self.games += other.games;
        self.rotations = self.rotations.max(other.rotations);
        for (row, other) in self.rows.iter_mut().zip(&other.rows) {
            row.wins.merge(&other.wins);
            row.coins.merge(&other.coins);
            row.pots.merge(&other.pots);
            row.pot_coins.merge(&other.pot_coins);
            for (ending, count) in &other.won_by {
                *row.won_by.entry(ending).or_default() += count;
            }
        }
        for (ending, count) in &other.endings {
            *self.endings.entry(ending).or_default() += count;
        }
    }

    pub const fn games(&self) -> u64 {
        self.games
    }

    /// Returns the number of games with this ending.
    pub fn games_ended_by(&self, ending: &str) -> u64 {
        self.endings.get(ending).copied().unwrap_or(0)
    }

    /// Returns the number of games that a bot won with this ending.
    pub fn wins_ended_by(&self, bot: usize, ending: &str) -> u64 {
        self.rows.get(bot).and_then(|row| row.won_by.get(ending)).copied().unwrap_or(0)
    }

    /// Returns the number of games that a bot won.
    pub fn wins(&self, bot: usize) -> i128 {
        self.rows.get(bot).map_or(0, |row| row.wins.sum())
    }

    /// Returns a bot's share of the games won, in ten-thousandths.
    pub fn win_share(&self, bot: usize) -> Option<Estimate> {
        self.rows.get(bot)?.wins.estimate(10_000, self.rotations)
    }

    /// Returns a bot's mean result per game without antes and POTs, in ten-thousandths of a coin.
    pub fn coins(&self, bot: usize) -> Option<Estimate> {
        self.rows.get(bot)?.coins.estimate(100, self.rotations)
    }

    /// Returns the number of POTs that a bot won.
    pub fn pots(&self, bot: usize) -> i128 {
        self.rows.get(bot).map_or(0, |row| row.pots.sum())
    }

    /// Returns a bot's mean result per game from POTs less antes, in ten-thousandths of a coin.
    ///
    /// The interval is slightly too narrow, because crowns carry over from game to game.
    pub fn pot_coins(&self, bot: usize) -> Option<Estimate> {
        self.rows.get(bot)?.pot_coins.estimate(100, self.rotations)
    }

    pub(super) fn record_ending(&mut self, ending: &'static str, winner: Option<usize>) {
        self.games += 1;
        *self.endings.entry(ending).or_default() += 1;
        if let Some(row) = winner.and_then(|bot| self.rows.get_mut(bot)) {
            *row.won_by.entry(ending).or_default() += 1;
        }
    }

    pub(super) fn record_deal(&mut self, scores: &[DealScore], rotations: usize) {
        self.rotations = u32::try_from(rotations).expect("a table has at most eight seats");
        for (row, score) in self.rows.iter_mut().zip(scores) {
            row.wins.record(score.wins);
            row.coins.record(score.coins);
            row.pots.record(score.pots);
            row.pot_coins.record(score.pot_coins);
        }
    }
}

#[cfg(test)]
impl ContestTally {
    /// Returns a bot's result without POTs and its result from POTs, in hundredths.
    pub(super) fn coin_sums(&self, bot: usize) -> (i128, i128) {
        (self.rows[bot].coins.sum(), self.rows[bot].pot_coins.sum())
    }
}
