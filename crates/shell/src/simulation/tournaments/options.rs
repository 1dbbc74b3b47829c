//! The parameters of a simulated tournament.

use bahay_engine::tournament::TournamentTerms;

/// The parameters of a simulated tournament.
#[derive(Clone, Debug)]
pub struct TournamentOptions {
    pub terms: TournamentTerms,
    /// The number of players who try to register.
    pub players: u32,
    /// The seed that determines the run.
    pub seed: u64,
    pub nodes: usize,
    /// True if nodes are killed, calls and answers are lost, and live state loses tables.
    pub has_faults: bool,
    /// The time after the announcement at which the house cancels the tournament.
    pub cancel_after_ms: Option<u32>,
    /// The time within which the players register, in milliseconds.
    pub registration_ms: u32,
    pub mutation: Option<TournamentMutation>,
}

/// A mutation: a defect of the house that the simulator plants, to prove that its checks detect it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TournamentMutation {
    /// The journal appends without comparing versions.
    AppendsBlindly,
    /// A transfer is booked in a transaction of its own, before that of its line.
    BooksApart,
    /// A game is marked as scored in a transaction of its own, before that of its line.
    MarksApart,
    /// Tables that live state has lost stay lost.
    ForgetsLostTables,
}

impl TournamentMutation {
    pub const ALL: [Self; 4] =
        [Self::AppendsBlindly, Self::BooksApart, Self::MarksApart, Self::ForgetsLostTables];
}
