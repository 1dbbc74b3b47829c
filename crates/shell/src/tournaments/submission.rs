//! The sequence of calls that takes one input to the journal of a tournament: read the lines of other
//! processes, decide, and append the line as the next version, under optimistic concurrency.

use std::sync::Arc;

use bahay_engine::table::Timestamp;
use bahay_engine::tournament::{Input, Line, Rejection, Tournament};

use super::line_write::LineWrite;
use super::replica::{ReplayError, TournamentReplica};

/// The number of decisions on an input before it is given up because other processes were faster.
const ATTEMPTS: usize = 32;

/// A call that takes an input to the journal.
#[derive(Clone, Copy, Debug)]
pub enum SubmissionCall<'a> {
    /// Reads the lines after a version, in order. Answered by [`SubmissionAnswer::Lines`].
    ReadLines { after: i64 },
    /// Appends a line as this version and performs its write, in one transaction.
    /// Nothing is written unless the journal ends at the version before. Answered by
    /// [`SubmissionAnswer::Appended`], [`SubmissionAnswer::VersionTaken`] or
    /// [`SubmissionAnswer::Overdrawn`].
    Append {
        version: i64,
        /// The tournament before the line.
        before: &'a TournamentReplica,
        line: &'a Line,
        write: &'a LineWrite,
    },
}

/// The result of a [`SubmissionCall`].
#[derive(Clone, Debug, PartialEq)]
pub enum SubmissionAnswer {
    Lines(Vec<Line>),
    /// The line and its write are stored.
    Appended {
        /// The tournament after the line, if the transaction has required it. Otherwise the
        /// sequence applies the line.
        after: Option<Arc<Tournament>>,
    },
    /// Another process has appended this version, and nothing is stored.
    VersionTaken,
    /// The paying account of the booking does not cover it, and nothing is stored.
    Overdrawn,
}

/// The reason for which the journal has no line of the input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SubmissionError {
    #[error(transparent)]
    Rejected(#[from] Rejection),
    #[error("the paying account does not cover the transfer")]
    Overdrawn,
    #[error("other processes appended lines faster")]
    Contended,
    #[error(transparent)]
    Broken(#[from] ReplayError),
}

#[derive(Debug)]
enum Step {
    Reading,
    Appending(Line),
    Ended(Result<(), SubmissionError>),
}

/// The sequence for one input. The driver performs each call and hands its result back until there is
/// no further call. A failed call aborts the sequence: the line may be stored.
#[derive(Debug)]
pub struct Submission {
    replica: TournamentReplica,
    input: Input,
    write: LineWrite,
    attempts: usize,
    step: Step,
}

impl Submission {
    /// Submits an input to the tournament of a replica, which may be at an earlier version.
    pub const fn new(replica: TournamentReplica, input: Input, write: LineWrite) -> Self {
        Self { replica, input, write, attempts: 0, step: Step::Reading }
    }

    /// Returns the next call, or `None` at the end.
    pub fn next_call(&self) -> Option<SubmissionCall<'_>> {
        match &self.step {
            Step::Reading => Some(SubmissionCall::ReadLines { after: self.replica.version }),
            Step::Appending(line) => Some(SubmissionCall::Append {
                version: self.replica.version + 1,
                before: &self.replica,
                line,
                write: &self.write,
            }),
            Step::Ended(_) => None,
        }
    }

    /// Returns the end, once there is no further call.
    pub const fn end(&self) -> Option<Result<(), SubmissionError>> {
        match &self.step {
            Step::Ended(end) => Some(*end),
            Step::Reading | Step::Appending(_) => None,
        }
    }

    /// Returns the newest replica that the sequence knows: with the line of the input, if it is
    /// stored.
    pub fn into_replica(self) -> TournamentReplica {
        self.replica
    }

    /// Handles the result of the last call at a time.
    pub fn handle_answer(&mut self, answer: SubmissionAnswer, now: Timestamp) {
        let step = std::mem::replace(&mut self.step, Step::Reading);
        self.step = match (step, answer) {
            (Step::Reading, SubmissionAnswer::Lines(lines)) => match self.decide(&lines, now) {
                Ok(line) => Step::Appending(line),
                Err(error) => Step::Ended(Err(error)),
            },
            (Step::Appending(line), SubmissionAnswer::Appended { after }) => {
                Step::Ended(self.follow_own(line, after))
            }
            (Step::Appending(_), SubmissionAnswer::VersionTaken) if self.attempts < ATTEMPTS => {
                Step::Reading
            }
            (Step::Appending(_), SubmissionAnswer::Overdrawn) => {
                Step::Ended(Err(SubmissionError::Overdrawn))
            }
            (Step::Ended(end), _) => Step::Ended(end),
            // The attempts are used up. No driver answers otherwise.
            (Step::Reading | Step::Appending(_), _) => Step::Ended(Err(SubmissionError::Contended)),
        };
    }

    fn decide(&mut self, lines: &[Line], now: Timestamp) -> Result<Line, SubmissionError> {
        self.attempts += 1;
        self.replica.follow(lines)?;
        Ok(self.replica.tournament.decide_line(now, self.input.clone())?)
    }

    /// Advances the replica by the line that is stored.
    fn follow_own(
        &mut self,
        line: Line,
        after: Option<Arc<Tournament>>,
    ) -> Result<(), SubmissionError> {
        match after {
            Some(tournament) => {
                let version = self.replica.version + 1;
                self.replica = TournamentReplica { version, tournament };
            }
            None => self.replica.follow(&[line])?,
        }
        Ok(())
    }
}
