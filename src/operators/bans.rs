//! Keeping players out and letting them in again, noted as what an operator did. What a ban is and
//! does is told in `accounts`.

use serde_json::json;
use sqlx::PgPool;

use super::Guardian;
use super::audit::{self, Action, Trail};
use crate::accounts::{Ban, BanError, Bans, ListedBan, ban_in_tx, lift_bans_in_tx};
use crate::clock::{self, Clock};
use crate::ids::PlayerId;
use crate::{db, entropy};

/// Bans as operators make them. Clones share the pool.
#[derive(Clone, Debug)]
pub struct Barring {
    pool: PgPool,
    clock: Clock,
}

impl Barring {
    pub fn new(pool: PgPool, clock: Clock) -> Self {
        Self { pool, clock }
    }

    /// Bans a player and ends its sessions, of which the nodes hear within a second.
    pub async fn ban(&self, by: &Guardian, player: PlayerId, ban: &Ban) -> Result<(), BanError> {
        self.ban_by(by.trail(), player, ban).await
    }

    /// Lifts whatever bans a player is under.
    pub async fn lift(&self, by: &Guardian, player: PlayerId) -> Result<(), BanError> {
        self.lift_by(by.trail(), player).await
    }

    /// As [`Barring::ban`], for whoever has the right by other means.
    pub async fn ban_by(&self, by: &Trail, player: PlayerId, ban: &Ban) -> Result<(), BanError> {
        ban.check()?;
        let (id, subject, now) = (entropy::uuid(), format!("player:{player}"), self.clock.now());
        let ends_at = ban.ends_at.map(|at| clock::to_jiff(at).to_string());
        let once = || async {
            let mut tx = self.pool.begin().await?;
            let is_there = ban_in_tx(&mut tx, id, player, ban, now).await?;
            if is_there {
                let detail = json!({ "reason": ban.reason, "ends_at": ends_at });
                let action = Action::PlayerBanned;
                audit::note_in_tx(&mut tx, by, action, Some(&subject), detail).await?;
            }
            tx.commit().await?;
            Ok(is_there)
        };
        if db::retry(once).await? { Ok(()) } else { Err(BanError::PlayerNotFound) }
    }

    /// As [`Barring::lift`], for whoever has the right by other means.
    pub async fn lift_by(&self, by: &Trail, player: PlayerId) -> Result<(), BanError> {
        let (subject, now) = (format!("player:{player}"), self.clock.now());
        let once = || async {
            let mut tx = self.pool.begin().await?;
            let was_banned = lift_bans_in_tx(&mut tx, player, now).await?;
            if was_banned {
                let (action, detail) = (Action::BanLifted, json!({}));
                audit::note_in_tx(&mut tx, by, action, Some(&subject), detail).await?;
            }
            tx.commit().await?;
            Ok(was_banned)
        };
        if db::retry(once).await? { Ok(()) } else { Err(BanError::NotBanned) }
    }

    /// All bans that a player has had, newest first.
    pub async fn of(&self, player: PlayerId) -> Result<Vec<ListedBan>, sqlx::Error> {
        Bans::new(self.pool.clone()).of(player).await
    }
}
