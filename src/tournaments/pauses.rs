//! Pauses of players in arena tournaments (rule 4.5).

use bahay_engine::table::{PlayerId, TournamentId};
use bahay_engine::tournament::{Input, Rejection};

use super::{TournamentError, Tournaments};

impl Tournaments {
    /// Keeps a player of a running arena tournament from being paired. A repeated pause changes
    /// nothing.
    ///
    /// # Errors
    /// [`TournamentError::Rejected`] unless the tournament is a running arena and the player is in
    /// it.
    pub async fn pause(&self, id: TournamentId, player: PlayerId) -> Result<(), TournamentError> {
        match self.submit(id, Input::Pause { player }).await {
            Ok(_) | Err(TournamentError::Rejected(Rejection::AlreadyPaused)) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Ends the pause of a player, who waits for a table again. Changes nothing for a player who is
    /// not paused.
    ///
    /// # Errors
    /// Those of [`Tournaments::pause`].
    pub async fn resume(&self, id: TournamentId, player: PlayerId) -> Result<(), TournamentError> {
        match self.submit(id, Input::Resume { player }).await {
            Ok(_) | Err(TournamentError::Rejected(Rejection::NotPaused)) => Ok(()),
            Err(error) => Err(error),
        }
    }
}
