//! The deals that all tables of a round of a duplicate play: committed to when the round begins, and
//! secret until it is over at all tables (rules 5.5 and 5.7).

use alloc::vec::Vec;

use crate::chance::{Commitment, ServerSeed};
use crate::tournament::Tournament;
use crate::tournament::lots;
use crate::tournament::phase::Phase;
use crate::tournament::terms::Format;

/// The deals of a round by game.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RoundDeals {
    pub commitments: Vec<Commitment>,
    /// The seeds; `None` until the round is over at all tables.
    pub seeds: Option<Vec<ServerSeed>>,
}

impl Tournament {
    /// Returns whether all tables of a round play the same deals (rule 5.1).
    pub fn has_shared_deals(&self) -> bool {
        matches!(self.terms.format, Format::Duplicate { .. })
    }

    /// Returns the secret round: the first whose deals, games and results are not shown (rule 5.7);
    /// `None` if all are.
    pub fn secret_round(&self) -> Option<u32> {
        if !self.has_shared_deals() {
            return None;
        }
        match self.phase {
            Phase::Round => Some(self.round),
            variants!(Phase: Announced, Break, Arena) => Some(self.round + 1),
            variants!(Phase: Ended, Cancelled) => None,
        }
    }

    /// Returns whether a round is played whose results are secret until it is over (rule 5.7).
    pub fn plays_secret_round(&self) -> bool {
        self.has_shared_deals() && self.phase == Phase::Round
    }

    /// Returns the deals of a round that has begun; `None` for any other round, and if the tables do
    /// not play the same deals.
    pub fn round_deals(&self, round: u32) -> Option<RoundDeals> {
        let Format::Duplicate { games, .. } = self.terms.format else { return None };
        if !(1..=self.round).contains(&round) {
            return None;
        }
        let seeds = self.deal_seeds(round, games);
        let commitments = seeds.iter().map(ServerSeed::commitment).collect();
        let is_over = self.secret_round().is_none_or(|secret| round < secret);
        Some(RoundDeals { commitments, seeds: is_over.then_some(seeds) })
    }

    /// Returns the seeds of the deals of a round by game; empty unless all tables play the same.
    pub(super) fn deal_seeds(&self, round: u32, games: u32) -> Vec<ServerSeed> {
        if !self.has_shared_deals() {
            return Vec::new();
        }
        (1..=games).map(|game| lots::deal_seed(&self.seed, self.id, round, game)).collect()
    }
}
