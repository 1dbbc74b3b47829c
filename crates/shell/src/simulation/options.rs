//! The parameters of a run.

use crate::simulation::Mutation;

/// The parameters of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// The seed that determines the run.
    pub seed: u64,
    /// The number of games to settle under faults before the calm.
    pub games: u64,
    pub nodes: usize,
    pub players: usize,
    /// The tables are private, and their hosts kick players.
    pub is_private: bool,
    pub mutation: Option<Mutation>,
    /// Keeps a log of the last events, which is slow.
    pub keeps_story: bool,
}

impl Options {
    /// Returns the options of a small house: two to four nodes, and players for three to five
    /// tables of this many seats.
    pub const fn from_seed(seed: u64, seats: u8) -> Self {
        let (nodes, tables) = match seed % 3 {
            0 => (2, 3),
            1 => (3, 4),
            _ => (4, 5),
        };
        let is_private = seed % 4 == 3;
        let players = seats as usize * tables;
        Self { seed, games: 24, nodes, players, is_private, mutation: None, keeps_story: false }
    }
}
