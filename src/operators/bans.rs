//! Keeping players out, or silent, and taking that back, noted as what an operator did. What a ban is and
//! does is told in `accounts`.

use serde_json::json;
use sqlx::PgPool;

use super::Guardian;
use super::audit::{self, Action, Trail};
use crate::accounts::{Ban, BanError, Bans, Bar, ListedBan, ban_in_tx, lift_bans_in_tx};
use crate::clock::{self, Clock, Timestamp};
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

    /// Bans a player. From coming in also ends its sessions, of which the nodes hear within a
    /// second.
    pub async fn ban(
        &self,
        by: &Guardian,
        player: PlayerId,
        bar: Bar,
        ban: &Ban,
    ) -> Result<(), BanError> {
        self.ban_by(by.trail(), player, bar, ban).await
    }

    /// Lifts whatever bans of a kind a player is under.
    pub async fn lift(&self, by: &Guardian, player: PlayerId, bar: Bar) -> Result<(), BanError> {
        self.lift_by(by.trail(), player, bar).await
    }

    /// As [`Barring::ban`], for whoever has the right by other means.
    pub async fn ban_by(
        &self,
        by: &Trail,
        player: PlayerId,
        bar: Bar,
        ban: &Ban,
    ) -> Result<(), BanError> {
        let (id, subject, now) = (entropy::uuid(), format!("player:{player}"), self.clock.now());
        let ends_at = ban.ends_at.map(|at| clock::to_jiff(at).to_string());
        let once = || async {
            let mut tx = self.pool.begin().await?;
            let is_there = ban_in_tx(&mut tx, id, player, bar, ban, now).await?;
            if is_there {
                let detail = json!({ "reason": ban.reason.as_str(), "ends_at": ends_at });
                let action = match bar {
                    Bar::Entry => Action::PlayerBanned,
                    Bar::Speech => Action::PlayerMuted,
                };
                audit::note_in_tx(&mut tx, by, action, Some(&subject), detail).await?;
            }
            tx.commit().await?;
            Ok(is_there)
        };
        if db::retry(once).await? { Ok(()) } else { Err(BanError::PlayerNotFound) }
    }

    /// As [`Barring::lift`], for whoever has the right by other means.
    pub async fn lift_by(&self, by: &Trail, player: PlayerId, bar: Bar) -> Result<(), BanError> {
        let (subject, now) = (format!("player:{player}"), self.clock.now());
        let once = || async {
            let mut tx = self.pool.begin().await?;
            let was_banned = lift_bans_in_tx(&mut tx, player, bar, now).await?;
            if was_banned {
                let action = match bar {
                    Bar::Entry => Action::BanLifted,
                    Bar::Speech => Action::MuteLifted,
                };
                audit::note_in_tx(&mut tx, by, action, Some(&subject), json!({})).await?;
            }
            tx.commit().await?;
            Ok(was_banned)
        };
        match (db::retry(once).await?, bar) {
            (true, _) => Ok(()),
            (false, Bar::Entry) => Err(BanError::NotBanned),
            (false, Bar::Speech) => Err(BanError::NotMuted),
        }
    }

    /// By whose clock bans end.
    pub fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// All bans of a kind that a player has had, newest first.
    pub async fn of(&self, player: PlayerId, bar: Bar) -> Result<Vec<ListedBan>, sqlx::Error> {
        Bans::new(self.pool.clone()).of(player, bar).await
    }
}
