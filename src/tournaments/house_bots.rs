//! House bots that complete the entrants of a tournament (rule 1.7).
//!
//! Every node has the same bots in the same order, and registers the first ones that are not
//! entrants. Two nodes that do so at the same time decide on the same bots, of which each registers
//! once. A bot can play in several tournaments: its tables play it, and it needs no seat claim. A
//! house with too few bots registers those that it has.

use bahay_engine::table::{PlayerId, TournamentId};
use bahay_engine::tournament::Input;
use sqlx::PgPool;

use super::{TournamentError, Tournaments};
use crate::db;

impl Tournaments {
    /// Completes the sit-and-go tournaments whose players have waited for their time.
    pub(super) async fn complete_waiting(&self) -> Result<(), TournamentError> {
        for id in waiting_with_bots(&self.inner.pool).await? {
            if let Err(error) = self.complete_with_bots(id).await {
                tracing::warn!(tournament = %id, %error, "bots complete a tournament later");
            }
        }
        Ok(())
    }

    async fn complete_with_bots(&self, id: TournamentId) -> Result<(), TournamentError> {
        if self.register_bots(id).await? {
            self.run_effects(id).await?;
        }
        Ok(())
    }

    /// Registers the bots that are missing now. Returns whether any has registered.
    pub(super) async fn register_bots(&self, id: TournamentId) -> Result<bool, TournamentError> {
        let mut has_registered = false;
        loop {
            let tournament = self.read(id).await?;
            if tournament.missing_bots(self.now()) == 0 {
                return Ok(has_registered);
            }
            let bots = self.inner.lobby.house_bots().iter();
            let mut free = bots.filter(|bot| !tournament.is_registered(bot.player));
            let Some(bot) = free.next() else { return Ok(has_registered) };
            match self.register_bot(id, bot.player, bot.name.clone()).await {
                Ok(()) => has_registered = true,
                // Another node has registered it, or a player has taken the entry.
                Err(TournamentError::Rejected(_)) => {}
                Err(error) => return Err(error),
            }
        }
    }

    async fn register_bot(
        &self,
        id: TournamentId,
        player: PlayerId,
        name: String,
    ) -> Result<(), TournamentError> {
        let conflict_keys = Vec::new();
        let input = Input::Register { player, name, pass: false, bot: true, conflict_keys };
        self.submit(id, input).await.map(drop)
    }
}

/// Returns the tournaments with bots and without a start for which players have registered.
async fn waiting_with_bots(pool: &PgPool) -> Result<Vec<TournamentId>, sqlx::Error> {
    let query = || {
        sqlx::query_scalar!(
            "
            select t.id
            from tournaments t
            where t.state = 'announced' and t.entrants > 0 and (t.terms ->> 'bots')::boolean
                and t.terms -> 'starts_at' is null
            "
        )
        .fetch_all(pool)
    };
    Ok(db::retry(query).await?.into_iter().map(TournamentId).collect())
}
