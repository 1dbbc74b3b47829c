//! The report of a player: the account, its sign-ins, and what other players and operators say.
//! Coins, games and statistics are reported by their own modules.

use bahay_api::Time;
use bahay_api::operator::players::{Complaint, PlayerDevice, PlayerNote, PlayerSession};
use bahay_engine::table::PlayerId;
use jiff_sqlx::Timestamp as SqlTimestamp;

use crate::db;
use crate::reports::{ReportError, Reports, from_sql};

/// The maximum number of listed devices, sessions, notes and reports, the newest of each.
const LISTED_MAX: i64 = 50;

/// A player's account as operators see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlayerReport {
    pub name: String,
    pub created_at: Time,
    /// The time of the deletion. A deleted player keeps the id and the history of coins.
    pub deleted_at: Option<Time>,
    /// The sign-in methods: devices with the last used one first, a password, and linked
    /// identities.
    pub devices: Vec<PlayerDevice>,
    pub has_password: bool,
    pub identities: i64,
    /// The sessions, newest first.
    pub sessions: Vec<PlayerSession>,
    /// The operators' notes, newest first.
    pub notes: Vec<PlayerNote>,
    /// The reports by other players about this one, newest first.
    pub complaints: Vec<Complaint>,
}

/// Converts a time of a row.
fn to_time(at: SqlTimestamp) -> Time {
    from_sql(at).into()
}

impl Reports {
    /// Returns the report of a player; `None` if there is no such player.
    pub async fn player(&self, player: PlayerId) -> Result<Option<PlayerReport>, ReportError> {
        let once = || {
            sqlx::query!(
                r#"
                select p.name, p.created_at as "created_at: SqlTimestamp",
                    p.deleted_at as "deleted_at: SqlTimestamp",
                    exists (
                        select from passwords w where w.player = p.id
                    ) as "has_password!",
                    (select count(*) from identities i where i.player = p.id) as "identities!"
                from players p
                where p.id = $1
                "#,
                player.0
            )
            .fetch_optional(&self.pool)
        };
        let Some(row) = db::retry(once).await? else {
            return Ok(None);
        };
        Ok(Some(PlayerReport {
            name: row.name,
            created_at: to_time(row.created_at),
            deleted_at: row.deleted_at.map(to_time),
            devices: self.devices(player).await?,
            has_password: row.has_password,
            identities: row.identities,
            sessions: self.sessions(player).await?,
            notes: self.notes(player).await?,
            complaints: self.complaints(player).await?,
        }))
    }

    async fn devices(&self, player: PlayerId) -> Result<Vec<PlayerDevice>, ReportError> {
        let once = || {
            sqlx::query!(
                r#"
                select d.created_at as "first_seen_at: SqlTimestamp",
                    d.last_seen_at as "last_seen_at: SqlTimestamp"
                from devices d
                where d.player = $1
                order by d.last_seen_at desc, d.id_hash
                limit $2
                "#,
                player.0,
                LISTED_MAX
            )
            .fetch_all(&self.pool)
        };
        let rows = db::retry(once).await?.into_iter().map(|row| PlayerDevice {
            first_seen_at: to_time(row.first_seen_at),
            last_seen_at: to_time(row.last_seen_at),
        });
        Ok(rows.collect())
    }

    async fn sessions(&self, player: PlayerId) -> Result<Vec<PlayerSession>, ReportError> {
        let once = || {
            sqlx::query!(
                r#"
                select s.id, s.method, s.user_agent, s.address,
                    s.created_at as "created_at: SqlTimestamp",
                    s.last_seen_at as "last_seen_at: SqlTimestamp",
                    s.expires_at as "expires_at: SqlTimestamp",
                    s.revoked_at as "revoked_at: SqlTimestamp"
                from sessions s
                where s.player = $1
                order by s.created_at desc, s.id desc
                limit $2
                "#,
                player.0,
                LISTED_MAX
            )
            .fetch_all(&self.pool)
        };
        let rows = db::retry(once).await?.into_iter().map(|row| PlayerSession {
            id: row.id,
            method: row.method,
            user_agent: row.user_agent,
            address: row.address,
            created_at: to_time(row.created_at),
            last_seen_at: to_time(row.last_seen_at),
            expires_at: to_time(row.expires_at),
            ended_at: row.revoked_at.map(to_time),
        });
        Ok(rows.collect())
    }

    /// Returns the operators' notes about a player, newest first.
    pub async fn notes(&self, player: PlayerId) -> Result<Vec<PlayerNote>, ReportError> {
        let once = || {
            sqlx::query!(
                r#"
                select n.id, o.name, n.words, n.created_at as "created_at: SqlTimestamp"
                from player_notes n
                join operators o on o.id = n.written_by
                where n.player = $1
                order by n.created_at desc, n.id desc
                limit $2
                "#,
                player.0,
                LISTED_MAX
            )
            .fetch_all(&self.pool)
        };
        let rows = db::retry(once).await?.into_iter().map(|row| PlayerNote {
            id: row.id,
            written_by: row.name,
            written_at: to_time(row.created_at),
            words: row.words,
        });
        Ok(rows.collect())
    }

    async fn complaints(&self, player: PlayerId) -> Result<Vec<Complaint>, ReportError> {
        let once = || {
            sqlx::query!(
                r#"
                select r.reporter, r.game, r.reason, r.words,
                    r.created_at as "created_at: SqlTimestamp"
                from player_reports r
                where r.reported = $1
                order by r.created_at desc
                limit $2
                "#,
                player.0,
                LISTED_MAX
            )
            .fetch_all(&self.pool)
        };
        let rows = db::retry(once).await?.into_iter().map(|row| Complaint {
            reporter: row.reporter,
            game: row.game,
            reason: row.reason,
            words: row.words,
            created_at: to_time(row.created_at),
        });
        Ok(rows.collect())
    }
}
