//! Sanctions as acts of operators, recorded in the audit log. `accounts` defines sanctions and
//! their effects.

use std::collections::BTreeMap;

use bahay_api::operator::sanctions::SanctionInForce;
use serde_json::json;
use sqlx::PgPool;
use uuid::Uuid;

use super::CanModerate;
use super::audit::{self, Action, Actor};
use crate::accounts::{
    Sanction, SanctionError, SanctionKind, SanctionReader, SanctionRecord, impose_sanction_in_tx,
    lift_sanction_in_tx, lift_sanctions_in_tx,
};
use crate::clock::{self, Clock, Timestamp};
use crate::db::{self, Page};
use crate::entropy;
use crate::ids::PlayerId;

/// A player's name, and whether the player is banned, muted or deleted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlayerSummary {
    pub name: String,
    pub is_banned: bool,
    pub is_muted: bool,
    pub is_deleted: bool,
}

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
            let mut tx = db::begin(&self.pool).await?;
            let is_known =
                impose_sanction_in_tx(&mut tx, id, player, kind, sanction, by.operator, now)
                    .await?;
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
            let mut tx = db::begin(&self.pool).await?;
            let lifted = lift_sanctions_in_tx(&mut tx, player, kind, by.operator, now).await?;
            let was_in_force = !lifted.is_empty();
            if was_in_force {
                let action = lift_action(kind);
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

    /// Lifts one sanction that is in force. Returns its player and kind.
    pub async fn lift_one(
        &self,
        by: &CanModerate,
        id: Uuid,
    ) -> Result<(PlayerId, SanctionKind), SanctionError> {
        let by = by.actor();
        let now = self.clock.now();
        let once = || async {
            let mut tx = db::begin(&self.pool).await?;
            let lifted = lift_sanction_in_tx(&mut tx, id, by.operator, now).await?;
            if let Some((player, kind)) = lifted {
                let subject = format!("player:{player}");
                let detail = json!({ "sanction": id });
                audit::record_in_tx(&mut tx, by, lift_action(kind), Some(&subject), detail).await?;
            }
            tx.commit().await?;
            Ok(lifted)
        };
        db::retry(once).await?.ok_or(SanctionError::SanctionNotFound)
    }

    /// Returns the time by which sanctions end.
    pub fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// Returns the summaries of players that exist.
    pub async fn summarize_players(
        &self,
        players: impl IntoIterator<Item = Uuid>,
    ) -> Result<BTreeMap<Uuid, PlayerSummary>, sqlx::Error> {
        let players: Vec<Uuid> = players.into_iter().collect();
        let now = self.clock.now();
        let once = || {
            sqlx::query!(
                r#"
                select p.id, p.name, p.deleted_at is not null as "is_deleted!",
                    'ban' = any(f.kinds) as "is_banned!", 'mute' = any(f.kinds) as "is_muted!"
                from players p
                cross join lateral (
                    select array(
                        select s.kind
                        from sanctions s
                        where s.player = p.id and s.lifted_at is null
                            and (s.ends_at is null or s.ends_at > $2)
                    ) as kinds
                ) f
                where p.id = any($1)
                "#,
                &players,
                db::to_sql(now) as _
            )
            .fetch_all(&self.pool)
        };
        let rows = db::retry(once).await?.into_iter().map(|row| {
            let summary = PlayerSummary {
                name: row.name,
                is_banned: row.is_banned,
                is_muted: row.is_muted,
                is_deleted: row.is_deleted,
            };
            (row.id, summary)
        });
        Ok(rows.collect())
    }

    /// Returns a page of the sanctions in force, newest first, starting below `below`.
    pub async fn list_in_force(
        &self,
        kind: Option<SanctionKind>,
        below: Option<Uuid>,
        limit: u32,
    ) -> Result<Page<SanctionInForce, Uuid>, sqlx::Error> {
        let reader = SanctionReader::new(self.pool.clone());
        reader.list_in_force(kind, self.clock.now(), below, limit).await
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

/// Returns the act of lifting a sanction, as the audit names it.
const fn lift_action(kind: SanctionKind) -> Action {
    match kind {
        SanctionKind::Ban => Action::BanLifted,
        SanctionKind::Mute => Action::MuteLifted,
    }
}
