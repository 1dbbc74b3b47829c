//! Rematches: the players of a finished game meet again at a private table that has the bet and the
//! rules of that game. The first to ask opens it and is its host; the others are seated there.
//!
//! The table is claimed under the game's id before it is made, and whoever finds a claim makes its
//! table, so that players who ask at the same moment, at two nodes, come to the same one, also where
//! the process that claimed it has died.

use std::time::Duration;

use bahay_engine::catalog::{AnyGame, AnyRules};
use bahay_engine::game::Game as _;
use bahay_engine::table::{GameId, Input, PlayerId, TableId, Terms};

use crate::live_store::{PrivateTable, StoredRematch};

use super::private::{PrivateSeat, check_bet, new_code};
use super::{Lobby, LobbyError};

/// A rematch may be asked for until so long after the end of the game.
pub const REMATCH_WITHIN: Duration = Duration::from_hours(1);

/// Rematches that turn out to be over before something must be wrong.
const ATTEMPTS: usize = 4;

/// The game that is to be played again.
#[derive(Clone, Debug, PartialEq)]
pub struct FinishedGame {
    pub game: GameId,
    /// The table at which it was played.
    pub table: TableId,
    pub terms: Terms<AnyRules>,
    pub finished_at_ms: i64,
}

/// A seat at the table of a rematch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rematch {
    pub seat: PrivateSeat,
    /// The player has opened it, so the others are to be told.
    pub is_host: bool,
}

impl Lobby {
    /// Seats a player at the table of a game's rematch, and opens it if nobody has, or if that table
    /// is over. A player who sits between two games at the room's table of that game leaves it.
    ///
    /// # Errors
    /// [`LobbyError::RematchOver`] for a game that was over long ago; those of opening and joining a
    /// private table.
    pub async fn rematch(
        &self,
        player: PlayerId,
        finished: &FinishedGame,
    ) -> Result<Rematch, LobbyError> {
        self.let_in(player).await?;
        let now_ms = self.tables.clock().now().ms();
        let within_ms = i64::try_from(REMATCH_WITHIN.as_millis()).unwrap_or(i64::MAX);
        if now_ms.saturating_sub(finished.finished_at_ms) > within_ms {
            return Err(LobbyError::RematchOver);
        }
        let terms = self.rematch_terms(finished)?;
        self.leave_finished(player, finished).await?;
        let mut over = None;
        for _ in 0..ATTEMPTS {
            let stands = self.live.rematch(finished.game).await?;
            let stands = match stands.filter(|stands| Some(stands.table) != over) {
                Some(stands) => stands,
                None => self.claim_rematch(player, finished.game, &terms, over).await?,
            };
            if !stands.is_made {
                self.make_rematch(finished.game, &stands, &terms).await?;
            }
            match self.join_private(player, &stands.code).await {
                Err(LobbyError::CodeUnknown) => over = Some(stands.table),
                Ok(seat) => return Ok(Rematch { seat, is_host: stands.host == player }),
                Err(error) => return Err(error),
            }
        }
        Err(LobbyError::Seating)
    }

    /// Returns the terms of the game's table, as those of a private one.
    fn rematch_terms(&self, finished: &FinishedGame) -> Result<Terms<AnyRules>, LobbyError> {
        let mut terms = finished.terms.clone();
        check_bet(terms.price.bet)?;
        let is_short = terms.private.is_some_and(|private| private.short_stakes);
        let is_short = is_short && AnyGame::may_have_short_stakes(&terms.rules);
        self.make_private(&mut terms, is_short);
        Ok(terms)
    }

    /// Frees the seat that a player still has at the room's table of the game. At a private table the
    /// same seats are asked for the next game anyway, so nobody leaves it.
    async fn leave_finished(
        &self,
        player: PlayerId,
        finished: &FinishedGame,
    ) -> Result<(), LobbyError> {
        if self.seated_at(player).await? != Some(finished.table) {
            return Ok(());
        }
        let table = self.tables.look(finished.table).await?;
        let may_leave = table
            .is_some_and(|table| table.terms().private.is_none() && !table.phase().is_running());
        if may_leave {
            // A game that begins in this moment keeps the seat, and is refused below.
            let _ = self.tables.submit(finished.table, Input::Leave { player }).await;
        }
        Ok(())
    }

    /// Claims the rematch for a player who may open a private table of these terms.
    async fn claim_rematch(
        &self,
        player: PlayerId,
        game: GameId,
        terms: &Terms<AnyRules>,
        over: Option<TableId>,
    ) -> Result<StoredRematch, LobbyError> {
        self.house_is_open()?;
        let table = self.plan_private(player, terms).await?;
        let wanted = StoredRematch { code: new_code(), table, host: player, is_made: false };
        // A table that loses the claim is never made, and forgotten among those of the host.
        Ok(self.live.claim_rematch(game, &wanted, over).await?)
    }

    /// Makes the table of a claim. Done by two, it is made once.
    async fn make_rematch(
        &self,
        game: GameId,
        claim: &StoredRematch,
        terms: &Terms<AnyRules>,
    ) -> Result<(), LobbyError> {
        let private = PrivateTable { table: claim.table, host: claim.host };
        self.tables.create(claim.table, terms.clone()).await?;
        if !self.live.open_private(&claim.code, &private).await? {
            let known = self.live.private(&claim.code).await?;
            if known.is_none_or(|known| known.table != claim.table) {
                // The code is another table's: one chance in a billion. The claim is given up.
                return Err(LobbyError::Seating);
            }
        }
        Ok(self.live.note_rematch_made(game, claim.table).await?)
    }
}
