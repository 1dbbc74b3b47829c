//! A tournament in the memory of one process.

use std::sync::Arc;

use bahay_engine::tournament::{Line, Rejection, Tournament};

/// A line of a journal that its tournament refuses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {version}: {rejection}")]
pub struct ReplayError {
    pub version: i64,
    pub rejection: Rejection,
}

/// A tournament at a version of its journal. Copies share the tournament until one of them follows
/// further lines.
#[derive(Clone, Debug)]
pub struct TournamentReplica {
    /// The number of lines that the tournament follows from.
    pub version: i64,
    pub tournament: Arc<Tournament>,
}

impl TournamentReplica {
    /// Returns the replica of a tournament that is announced and has no lines.
    pub fn new(announced: Tournament) -> Self {
        Self { version: 0, tournament: Arc::new(announced) }
    }

    /// Applies the next lines of the journal.
    ///
    /// # Errors
    /// The line that the tournament refuses. The replica stays at the version before it.
    pub fn follow(&mut self, lines: &[Line]) -> Result<(), ReplayError> {
        if lines.is_empty() {
            return Ok(());
        }
        let tournament = Arc::make_mut(&mut self.tournament);
        for line in lines {
            let version = self.version + 1;
            tournament.advance(line).map_err(|rejection| ReplayError { version, rejection })?;
            self.version = version;
        }
        Ok(())
    }
}
