//! Notices: what a player is to be told once, whenever the next connection comes. An inbox.
//!
//! A notice about coins is written in the transaction that moves them, so it is there exactly if
//! they moved; here notices are read and marked as read. Deliberately absent: words. A notice is
//! a kind with a game and an amount, and clients have the words.

mod cursor;

use bahay_engine::coins::Coins;
use bahay_engine::table::{GameId, PlayerId};
use jiff_sqlx::{Timestamp, ToSqlx as _};
use sqlx::PgPool;
use uuid::Uuid;

use crate::db::{self, Page};

pub use cursor::{Cursor, CursorInvalid};

/// The most that one page holds; a larger wish gets this.
pub const PAGE_MAX: u32 = 100;

/// Something that a player is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    pub id: Uuid,
    /// As in `game_voided`; kinds are added, not changed.
    pub kind: String,
    pub game: Option<GameId>,
    /// What came back to the player.
    pub amount: Option<Coins>,
    pub created_at_ms: i64,
    pub read_at_ms: Option<i64>,
}

/// The notices of all players.
#[derive(Clone, Debug)]
pub struct Notices {
    pool: PgPool,
}

impl Notices {
    pub fn new(pool: PgPool) -> Self {
        Self { pool }
    }

    /// How many a player has not read.
    pub async fn unread(&self, player: PlayerId) -> Result<u32, sqlx::Error> {
        let query = || {
            sqlx::query_scalar!(
                r#"
                select count(*) as "unread!"
                from notices n
                where n.player = $1 and n.read_at is null
                "#,
                player.0
            )
            .fetch_one(&self.pool)
        };
        Ok(u32::try_from(db::retry(query).await?).unwrap_or(u32::MAX))
    }

    /// A player's notices, newest first.
    pub async fn list(
        &self,
        player: PlayerId,
        cursor: Option<Cursor>,
        limit: u32,
    ) -> Result<Page<Notice, Cursor>, sqlx::Error> {
        let limit = limit.clamp(1, PAGE_MAX);
        let Cursor { created_at_ms, notice } = cursor.unwrap_or(Cursor::NEWEST);
        let below = jiff::Timestamp::from_millisecond(created_at_ms);
        let below = below.map_err(|error| sqlx::Error::Encode(error.into()))?.to_sqlx();
        let query = || {
            sqlx::query!(
                r#"
                select n.id, n.kind, n.game, n.amount,
                    n.created_at as "created_at: Timestamp", n.read_at as "read_at: Timestamp"
                from notices n
                where n.player = $1 and (n.created_at, n.id) < ($2::timestamptz, $3::uuid)
                order by n.created_at desc, n.id desc
                limit $4
                "#,
                player.0,
                below as _,
                notice,
                i64::from(limit) + 1
            )
            .fetch_all(&self.pool)
        };
        let rows = db::retry(query).await?;
        let rows = rows.into_iter().map(|row| Notice {
            id: row.id,
            kind: row.kind,
            game: row.game.map(GameId),
            amount: row.amount.map(Coins::from_hundredths),
            created_at_ms: row.created_at.to_jiff().as_millisecond(),
            read_at_ms: row.read_at.map(|read_at| read_at.to_jiff().as_millisecond()),
        });
        Ok(Page::of_one_more(rows.collect(), limit, |last| Cursor {
            created_at_ms: last.created_at_ms,
            notice: last.id,
        }))
    }

    /// Marks a notice as read; the first time stands. False when the player has no such notice.
    pub async fn mark_read(&self, player: PlayerId, notice: Uuid) -> Result<bool, sqlx::Error> {
        let query = || {
            sqlx::query!(
                r#"
                update notices n
                set read_at = coalesce(n.read_at, date_trunc('milliseconds', now()))
                where n.id = $1 and n.player = $2
                "#,
                notice,
                player.0
            )
            .execute(&self.pool)
        };
        Ok(db::retry(query).await?.rows_affected() > 0)
    }
}
