//! Keeping players out, or silent, and taking that back, noted as what an operator did. What a ban is and
//! does is told in `accounts`.

use serde_json::json;
use sqlx::PgPool;

use super::CanModerate;
use super::audit::{self, Action, Actor};
use crate::accounts::{Sanction, SanctionError, SanctionReader, SanctionKind, SanctionRecord, impose_sanction_in_tx, lift_sanctions_in_tx};
use crate::clock::{self, Clock, Timestamp};
use crate::ids::PlayerId;
use crate::{db, entropy};

/// Bans as operators make them. Clones share the pool.
#[derive(Clone, Debug)]
pub struct Sanctions {
    pool: PgPool,
    clock: Clock,
}

impl Sanctions {
    pub fn new(pool: PgPool, clock: Clock) -> Self {
        Self { pool, clock }
    }

    /// Bans a player. From coming in also ends its sessions, of which the nodes hear within a
    /// second.
    pub async fn impose(
        &self,
        by: &CanModerate,
        player: PlayerId,
        kind: SanctionKind,
        sanction: &Sanction,
    ) -> Result<(), SanctionError> {
        self.impose_as(by.actor(), player, kind, sanction).await
    }

    /// Lifts whatever bans of a kind a player is under.
    pub async fn lift(&self, by: &CanModerate, player: PlayerId, kind: SanctionKind) -> Result<(), SanctionError> {
        self.lift_as(by.actor(), player, kind).await
    }

    /// As [`Sanctions::impose`], for whoever has the right by other means.
    pub async fn impose_as(
        &self,
        by: &Actor,
        player: PlayerId,
        kind: SanctionKind,
        sanction: &Sanction,
    ) -> Result<(), SanctionError> {
        let (id, subject, now) = (entropy::uuid(), format!("player:{player}"), self.clock.now());
        let ends_at = sanction.ends_at.map(|at| clock::to_jiff(at).to_string());
        let once = || async {
            let mut tx = self.pool.begin().await?;
            let is_there = impose_sanction_in_tx(&mut tx, id, player, kind, sanction, now).await?;
            if is_there {
                let detail = json!({ "reason": sanction.reason.as_str(), "ends_at": ends_at });
                let action = match kind {
                    SanctionKind::Ban => Action::PlayerBanned,
                    SanctionKind::Mute => Action::PlayerMuted,
                };
                audit::record_in_tx(&mut tx, by, action, Some(&subject), detail).await?;
            }
            tx.commit().await?;
            Ok(is_there)
        };
        if db::retry(once).await? { Ok(()) } else { Err(SanctionError::PlayerNotFound) }
    }

    /// As [`Sanctions::lift`], for whoever has the right by other means.
    pub async fn lift_as(&self, by: &Actor, player: PlayerId, kind: SanctionKind) -> Result<(), SanctionError> {
        let (subject, now) = (format!("player:{player}"), self.clock.now());
        let once = || async {
            let mut tx = self.pool.begin().await?;
            let was_banned = lift_sanctions_in_tx(&mut tx, player, kind, now).await?;
            if was_banned {
                let action = match kind {
                    SanctionKind::Ban => Action::BanLifted,
                    SanctionKind::Mute => Action::MuteLifted,
                };
                audit::record_in_tx(&mut tx, by, action, Some(&subject), json!({})).await?;
            }
            tx.commit().await?;
            Ok(was_banned)
        };
        match (db::retry(once).await?, kind) {
            (true, _) => Ok(()),
            (false, SanctionKind::Ban) => Err(SanctionError::NotBanned),
            (false, SanctionKind::Mute) => Err(SanctionError::NotMuted),
        }
    }

    /// By whose clock bans end.
    pub fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// All bans of a kind that a player has had, newest first.
    pub async fn list(&self, player: PlayerId, kind: SanctionKind) -> Result<Vec<SanctionRecord>, sqlx::Error> {
        SanctionReader::new(self.pool.clone()).list(player, kind).await
    }
}
