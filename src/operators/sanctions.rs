//! Sanctions as acts of operators, recorded in the audit log. `accounts` defines sanctions and
//! their effects.

use serde_json::json;
use sqlx::PgPool;

use super::CanModerate;
use super::audit::{self, Action, Actor};
use crate::accounts::{
    Sanction, SanctionError, SanctionKind, SanctionReader, SanctionRecord, impose_sanction_in_tx,
    lift_sanctions_in_tx,
};
use crate::clock::{self, Clock, Timestamp};
use crate::ids::PlayerId;
use crate::{db, entropy};

/// The sanctions that operators impose. Clones share the pool.
#[derive(Clone, Debug)]
pub struct Sanctions {
    pool: PgPool,
    clock: Clock,
}

impl Sanctions {
    pub fn new(pool: PgPool, clock: Clock) -> Self {
        Self { pool, clock }
    }

    /// Imposes a sanction on a player. A ban also ends the player's sessions, which the nodes
    /// observe within a second.
    pub async fn impose(
        &self,
        by: &CanModerate,
        player: PlayerId,
        kind: SanctionKind,
        sanction: &Sanction,
    ) -> Result<(), SanctionError> {
        self.impose_as(by.actor(), player, kind, sanction).await
    }

    /// Lifts all sanctions of a kind that are in force on a player.
    pub async fn lift(
        &self,
        by: &CanModerate,
        player: PlayerId,
        kind: SanctionKind,
    ) -> Result<(), SanctionError> {
        self.lift_as(by.actor(), player, kind).await
    }

    /// Imposes a sanction as [`Sanctions::impose`] does, for an actor that is authorised by other
    /// means.
    pub async fn impose_as(
        &self,
        by: &Actor,
        player: PlayerId,
        kind: SanctionKind,
        sanction: &Sanction,
    ) -> Result<(), SanctionError> {
        let id = entropy::uuid();
        let subject = format!("player:{player}");
        let now = self.clock.now();
        let ends_at = sanction.ends_at.map(|at| clock::to_jiff(at).to_string());
        let once = || async {
            let mut tx = self.pool.begin().await?;
            let is_known = impose_sanction_in_tx(&mut tx, id, player, kind, sanction, now).await?;
            if is_known {
                let detail = json!({ "reason": sanction.reason.as_str(), "ends_at": ends_at });
                let action = match kind {
                    SanctionKind::Ban => Action::PlayerBanned,
                    SanctionKind::Mute => Action::PlayerMuted,
                };
                audit::record_in_tx(&mut tx, by, action, Some(&subject), detail).await?;
            }
            tx.commit().await?;
            Ok(is_known)
        };
        if db::retry(once).await? { Ok(()) } else { Err(SanctionError::PlayerNotFound) }
    }

    /// Lifts sanctions as [`Sanctions::lift`] does, for an actor that is authorised by other means.
    pub async fn lift_as(
        &self,
        by: &Actor,
        player: PlayerId,
        kind: SanctionKind,
    ) -> Result<(), SanctionError> {
        let subject = format!("player:{player}");
        let now = self.clock.now();
        let once = || async {
            let mut tx = self.pool.begin().await?;
            let lifted = lift_sanctions_in_tx(&mut tx, player, kind, now).await?;
            let was_in_force = !lifted.is_empty();
            if was_in_force {
                let action = match kind {
                    SanctionKind::Ban => Action::BanLifted,
                    SanctionKind::Mute => Action::MuteLifted,
                };
                audit::record_in_tx(&mut tx, by, action, Some(&subject), json!({})).await?;
            }
            tx.commit().await?;
            Ok(was_in_force)
        };
        match (db::retry(once).await?, kind) {
            (true, _) => Ok(()),
            (false, SanctionKind::Ban) => Err(SanctionError::NotBanned),
            (false, SanctionKind::Mute) => Err(SanctionError::NotMuted),
        }
    }

    /// Returns the time by which sanctions end.
    pub fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// Returns all sanctions of a kind that a player has had, newest first.
    pub async fn list(
        &self,
        player: PlayerId,
        kind: SanctionKind,
    ) -> Result<Vec<SanctionRecord>, sqlx::Error> {
        SanctionReader::new(self.pool.clone()).list(player, kind).await
    }
}
