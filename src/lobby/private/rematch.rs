//! Rematches: the players of a finished game meet again at a private table with the bet and the
//! rules of that game. The first player to ask opens the table and is its host; the others are
//! seated there.
//!
//! The table is claimed under the id of the game before it is created, and every request that finds
//! a claim creates its table. Players who ask at the same moment at two nodes therefore reach the
//! same table, also if the process that claimed it has died.

use std::time::Duration;

use bahay_engine::catalog::AnyRules;
use bahay_engine::game::GameRules;
use bahay_engine::table::{GameId, Input, PlayerId, TableId, Terms};

use crate::live_store::{PrivateTable, StoredRematch};
use crate::lobby::{Lobby, LobbyError};

use super::{PrivateSeat, check_bet, generate_code};

/// The time after the end of a game in which a rematch may be requested.
pub const REMATCH_WITHIN: Duration = Duration::from_hours(1);

/// The number of ended rematch tables that are tried before the request fails.
const ATTEMPTS: usize = 4;

/// The finished game to be played again.
#[derive(Clone, Debug, PartialEq)]
pub struct FinishedGame {
    pub game: GameId,
    /// The table at which the game was played.
    pub table: TableId,
    pub terms: Terms<AnyRules>,
    pub finished_at_ms: i64,
}

/// A seat at the table of a rematch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rematch {
    pub seat: PrivateSeat,
    /// Marks the player who opened the table, so that the caller invites the others.
    pub is_host: bool,
}

impl Lobby {
    /// Seats a player at the table of a game's rematch, and opens that table if there is none or if
    /// it has ended. A player who still sits at the game's table in a room, between two games,
    /// leaves it.
    ///
    /// # Errors
    /// [`LobbyError::RematchOver`] for a game that ended longer than [`REMATCH_WITHIN`] ago; the
    /// errors of opening and joining a private table.
    pub async fn join_rematch(
        &self,
        player: PlayerId,
        finished: &FinishedGame,
    ) -> Result<Rematch, LobbyError> {
        self.check_not_banned(player).await?;
        let now_ms = self.tables.clock().now().ms();
        let within_ms = i64::try_from(REMATCH_WITHIN.as_millis()).unwrap_or(i64::MAX);
        if now_ms.saturating_sub(finished.finished_at_ms) > within_ms {
            return Err(LobbyError::RematchOver);
        }
        let terms = self.rematch_terms(finished)?;
        self.leave_finished_table(player, finished).await?;
        let mut over = None;
        for _ in 0..ATTEMPTS {
            let claim = self.live.rematch(finished.game).await?;
            let claim = match claim.filter(|claim| Some(claim.table) != over) {
                Some(claim) => claim,
                None => self.claim_rematch(player, finished.game, &terms, over).await?,
            };
            if !claim.is_created {
                self.create_rematch_table(finished.game, &claim, &terms).await?;
            }
            match self.join_private(player, &claim.code).await {
                Err(LobbyError::CodeUnknown) => over = Some(claim.table),
                Ok(seat) => return Ok(Rematch { seat, is_host: claim.host == player }),
                Err(error) => return Err(error),
            }
        }
        Err(LobbyError::Seating)
    }

    /// Returns the terms of the finished game's table as those of a private table.
    fn rematch_terms(&self, finished: &FinishedGame) -> Result<Terms<AnyRules>, LobbyError> {
        let mut terms = finished.terms.clone();
        check_bet(terms.price.bet)?;
        let is_short = terms.private.is_some_and(|private| private.short_stakes);
        let is_short = is_short && terms.rules.may_have_short_stakes();
        self.apply_private_terms(&mut terms, is_short);
        Ok(terms)
    }

    /// Leaves the game's table in a room. A private table is not left, because its seats are asked
    /// for the next game anyway.
    async fn leave_finished_table(
        &self,
        player: PlayerId,
        finished: &FinishedGame,
    ) -> Result<(), LobbyError> {
        if self.seated_at(player).await? != Some(finished.table) {
            return Ok(());
        }
        let table = self.tables.read_table(finished.table).await?;
        let may_leave = table
            .is_some_and(|table| table.terms().private.is_none() && !table.phase().is_running());
        if may_leave {
            // A game that begins at this moment keeps the seat; the request is rejected later.
            let _ = self.tables.submit(finished.table, Input::Leave { player }).await;
        }
        Ok(())
    }

    /// Claims the rematch for a player who may open a private table under these terms.
    async fn claim_rematch(
        &self,
        player: PlayerId,
        game: GameId,
        terms: &Terms<AnyRules>,
        over: Option<TableId>,
    ) -> Result<StoredRematch, LobbyError> {
        self.require_open_house()?;
        let table = self.plan_private_table(player, terms).await?;
        let wanted =
            StoredRematch { code: generate_code(), table, host: player, is_created: false };
        // A table that loses the claim is never created, and expires from the list of its host.
        Ok(self.live.claim_rematch(game, &wanted, over).await?)
    }

    /// Creates the table of a claim. Idempotent, so concurrent requests create it once.
    async fn create_rematch_table(
        &self,
        game: GameId,
        claim: &StoredRematch,
        terms: &Terms<AnyRules>,
    ) -> Result<(), LobbyError> {
        let private = PrivateTable { table: claim.table, host: claim.host };
        self.tables.create(claim.table, terms.clone()).await?;
        if !self.live.open_private(&claim.code, &private).await? {
            let existing = self.live.private_table(&claim.code).await?;
            if existing.is_none_or(|existing| existing.table != claim.table) {
                // The code belongs to another table, with a probability of one in a billion. The
                // claim is given up.
                return Err(LobbyError::Seating);
            }
        }
        Ok(self.live.mark_rematch_created(game, claim.table).await?)
    }
}
