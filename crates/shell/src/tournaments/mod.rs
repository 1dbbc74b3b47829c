//! The host of tournaments in one process: it decides on inputs and appends their lines, performs
//! the effects that are due, scores the games that tables have stored, registers house bots, and
//! opens the tables again that live state has lost.
//!
//! A tournament follows from its journal, which any process continues. [`Submission`] takes one
//! input to the journal: of two processes that append a line as the same version one is refused, and
//! decides again. [`TournamentHost`] is one run over a tournament. Both take the answers to their
//! calls and return the next call; a failed call aborts them, and the next run goes on from the
//! journal. [`LineWrite`] names the change that belongs into the transaction of a line, so that the
//! journal, the ledger and the stored games never differ.
//!
//! Bounds: the decisions on one input, and the rounds of effects of one run. Deliberately absent:
//! the tournaments with which a process goes on, their announcement, and every text for players.

mod host;
mod line_write;
mod replica;
mod submission;

pub use host::{
    HostError, StoredGame, TournamentAnswer, TournamentBot, TournamentCall, TournamentHost,
};
pub use line_write::LineWrite;
pub use replica::{ReplayError, TournamentReplica};
pub use submission::{Submission, SubmissionAnswer, SubmissionCall, SubmissionError};
