//! HaltedTable tables as operators see them: one row each time that a table is halted.

use bahay_engine::table::{GameId, TableId};
use jiff_sqlx::Timestamp;
use sqlx::PgPool;
use uuid::Uuid;

use crate::db;

/// How the halt of a table ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HaltOutcome {
    /// It plays on.
    Released,
    /// It is gone, and the coins of its game went back.
    Voided,
}

impl HaltOutcome {
    fn as_str(self) -> &'static str {
        match self {
            Self::Released => "released",
            Self::Voided => "voided",
        }
    }
}

/// Why a table is halted, and as of which version of its journal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Halt {
    pub table: TableId,
    pub room: Option<String>,
    pub version: Option<u64>,
    pub reason: String,
}

/// A table that is halted now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HaltedTable {
    pub table: TableId,
    /// Which game is played there.
    pub kind: Option<String>,
    pub room: Option<String>,
    /// The game that is open there.
    pub game: Option<GameId>,
    pub version: Option<u64>,
    pub reason: String,
    pub halted_at_ms: i64,
}

/// Notes that a table is halted, unless that is noted already. Room, game and its kind are taken from
/// the game that is open there, if one is; otherwise the kind is that of the room.
pub async fn record_halt(pool: &PgPool, halt: &Halt) -> Result<(), sqlx::Error> {
    let version = halt.version.map(|version| i64::try_from(version).unwrap_or(i64::MAX));
    let query = || {
        sqlx::query!(
            r#"
            insert into halted_tables (table_id, kind, room, game, version, reason)
            select h.table_id,
                coalesce(g.kind, (select r.kind from rooms r where r.id = h.room)),
                coalesce(g.room, h.room), g.id, h.version, h.reason
            from (
                select $1::uuid as table_id, $2::text as room, $3::bigint as version,
                    $4::text as reason
            ) h
            left join games g on g.table_id = h.table_id and g.state = 'open'
            on conflict (table_id) where released_at is null do nothing
            "#,
            halt.table.0,
            halt.room,
            version,
            halt.reason
        )
        .execute(pool)
    };
    db::retry(query).await?;
    Ok(())
}

/// Notes how a halt ended. Nothing happens if the table is not noted as halted.
pub async fn record_release(
    pool: &PgPool,
    table: TableId,
    outcome: HaltOutcome,
) -> Result<(), sqlx::Error> {
    let query = || {
        sqlx::query!(
            r#"
            update halted_tables
            set released_at = date_trunc('milliseconds', now()), outcome = $2
            where table_id = $1 and released_at is null
            "#,
            table.0,
            outcome.as_str()
        )
        .execute(pool)
    };
    db::retry(query).await?;
    Ok(())
}

/// The halted tables, longest halted first.
pub async fn list_halted(pool: &PgPool) -> Result<Vec<HaltedTable>, sqlx::Error> {
    let query = || {
        sqlx::query!(
            r#"
            select h.table_id, h.kind, h.room, h.game, h.version, h.reason,
                h.halted_at as "halted_at: Timestamp"
            from halted_tables h
            where h.released_at is null
            order by h.halted_at, h.table_id
            "#
        )
        .fetch_all(pool)
    };
    let rows = db::retry(query).await?;
    let rows = rows.into_iter().map(|row| HaltedTable {
        table: TableId(row.table_id),
        kind: row.kind,
        room: row.room,
        game: row.game.map(GameId),
        version: row.version.and_then(|version| u64::try_from(version).ok()),
        reason: row.reason,
        halted_at_ms: row.halted_at.to_jiff().as_millisecond(),
    });
    Ok(rows.collect())
}

/// Returns the tables, of these, whose halt began with these words and has lasted for its time: 5
/// seconds, and twice as long for each earlier release of the day, up to some hours.
pub async fn due_for_release(
    pool: &PgPool,
    tables: &[TableId],
    beginning: &str,
) -> Result<Vec<TableId>, sqlx::Error> {
    let ids: Vec<Uuid> = tables.iter().map(|table| table.0).collect();
    let query = || {
        sqlx::query_scalar!(
            "
            select h.table_id
            from halted_tables h
            where h.table_id = any($1) and h.released_at is null and starts_with(h.reason, $2)
                and h.halted_at < now() - make_interval(secs => 5 << (
                    select least(count(*), 12)::integer
                    from halted_tables o
                    where o.table_id = h.table_id and o.released_at > now() - interval '1 day'
                ))
            order by h.halted_at
            ",
            &ids,
            beginning
        )
        .fetch_all(pool)
    };
    Ok(db::retry(query).await?.into_iter().map(TableId).collect())
}

/// The game that is open at a table, with its room.
pub async fn open_game_at(
    pool: &PgPool,
    table: TableId,
) -> Result<Option<(GameId, String)>, sqlx::Error> {
    let query = || {
        sqlx::query!(
            "select g.id, g.room from games g where g.table_id = $1 and g.state = 'open'",
            table.0
        )
        .fetch_optional(pool)
    };
    let row = db::retry(query).await?;
    Ok(row.map(|row| (GameId(row.id), row.room)))
}

/// The tables whose halt is not noted, of these.
pub async fn find_unrecorded(pool: &PgPool, tables: &[TableId]) -> Result<Vec<TableId>, sqlx::Error> {
    let ids: Vec<Uuid> = tables.iter().map(|table| table.0).collect();
    let query = || {
        sqlx::query_scalar!(
            r#"
            select t.id as "id!"
            from unnest($1::uuid[]) as t (id)
            where not exists (
                select from halted_tables h where h.table_id = t.id and h.released_at is null
            )
            "#,
            &ids
        )
        .fetch_all(pool)
    };
    Ok(db::retry(query).await?.into_iter().map(TableId).collect())
}
