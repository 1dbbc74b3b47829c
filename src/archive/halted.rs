//! Halted tables as operators see them: one row for each halt.

use bahay_engine::table::{GameId, TableId};
use bahay_shell::Halt;
use jiff_sqlx::Timestamp;
use sqlx::PgPool;
use uuid::Uuid;

use crate::db;

bahay_base::text_enum! {
    /// The end of a halt.
    pub enum HaltOutcome {
        /// The table continues.
        Released = "released",
        /// The table was deleted, and the coins of its game were refunded.
        Voided = "voided",
    }
}

/// A table that is currently halted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HaltedTable {
    pub table: TableId,
    /// The kind of the table's game.
    pub kind: Option<String>,
    pub room: Option<String>,
    /// The game that is open at the table.
    pub game: Option<GameId>,
    pub version: Option<u64>,
    pub reason: String,
    pub halted_at_ms: i64,
}

/// Records a halt, unless the table already has an open one. Room, game and kind come from the game
/// that is open at the table; without one the kind comes from the room.
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

/// Records the end of a halt. Does nothing if the table has no open halt.
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

/// Lists the halted tables in the order of their halts.
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

/// Returns those of `tables` whose halt reason starts with `beginning` and whose back-off has
/// passed: 5 seconds, doubled for each earlier release within a day, up to some hours.
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

/// Returns the game that is open at a table, with its room.
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

/// Returns those of `tables` without a recorded halt.
pub async fn find_unrecorded(
    pool: &PgPool,
    tables: &[TableId],
) -> Result<Vec<TableId>, sqlx::Error> {
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
