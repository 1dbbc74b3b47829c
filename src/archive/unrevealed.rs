//! The house's commitments whose seeds were never revealed (rule 9.1a): those of voided games and
//! of games that have not ended. A settled game reveals its seed in its record.

use bahay_engine::chance::Commitment;
use bahay_engine::table::{GameId, TableId};
use jiff_sqlx::Timestamp as SqlTimestamp;
use sqlx::PgPool;
use uuid::Uuid;

use super::{PAGE_MAX, parse_commitment};
use crate::clock::{BoundedTimestamp, Timestamp};
use crate::db::{self, Page, from_sql, to_sql};

/// A filter of commitments by the instant at which the game was voided, or was opened if it has not
/// ended.
#[derive(Clone, Copy, Debug)]
pub struct UnrevealedFilter {
    /// The earliest instant, inclusive.
    pub from: Timestamp,
    /// The latest instant, exclusive.
    pub to: Timestamp,
    /// The bound of open games: one opened at or after this instant is assumed to be running and is
    /// omitted.
    pub unended_before: Timestamp,
    pub table: Option<TableId>,
}

/// A commitment of the house, and its game.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnrevealedCommitment {
    pub game: GameId,
    /// The kind of the game, as in records.
    pub kind: String,
    pub table: TableId,
    pub commitment: Commitment,
    pub opened_at: Timestamp,
    /// The time of the void; `None` if the game has not ended.
    pub voided_at: Option<Timestamp>,
}

/// Returns a page of the commitments that match `filter`, newest first, from below the time and the
/// id of a game.
///
/// # Errors
/// Database errors, after retries; and a decoding error if a stored commitment is not 32 bytes
/// long.
pub async fn unrevealed_commitments(
    pool: &PgPool,
    filter: UnrevealedFilter,
    below: Option<(Timestamp, Uuid)>,
    limit: u32,
) -> Result<Page<UnrevealedCommitment, (Timestamp, Uuid)>, sqlx::Error> {
    let limit = limit.clamp(1, PAGE_MAX);
    let (time, game) = below.unwrap_or((BoundedTimestamp::MAX.into(), Uuid::max()));
    let query = || async {
        sqlx::query!(
            r#"
            select u.id as "id!", u.kind as "kind!", u.table_id as "table_id!",
                u.commitment as "commitment!", u.opened_at as "opened_at!: SqlTimestamp",
                u.finished_at as "finished_at?: SqlTimestamp"
            from (
                (
                    select g.id, g.kind, g.table_id, g.commitment, g.opened_at, g.finished_at,
                        g.finished_at as listed_at
                    from games g
                    where g.state = 'voided' and g.finished_at >= $1 and g.finished_at < $2
                        and (g.finished_at, g.id) < ($3::timestamptz, $4::uuid)
                        and ($5::uuid is null or g.table_id = $5)
                    order by g.finished_at desc, g.id desc
                    limit $7
                )
                union all
                (
                    select g.id, g.kind, g.table_id, g.commitment, g.opened_at, g.finished_at,
                        g.opened_at as listed_at
                    from games g
                    where g.state = 'open' and g.opened_at >= $1 and g.opened_at < $2
                        and g.opened_at < $6
                        and (g.opened_at, g.id) < ($3::timestamptz, $4::uuid)
                        and ($5::uuid is null or g.table_id = $5)
                    order by g.opened_at desc, g.id desc
                    limit $7
                )
            ) u
            order by u.listed_at desc, u.id desc
            limit $7
            "#,
            to_sql(filter.from) as _,
            to_sql(filter.to) as _,
            to_sql(time) as _,
            game,
            filter.table.map(|table| table.0),
            to_sql(filter.unended_before) as _,
            i64::from(limit) + 1
        )
        .fetch_all(pool)
        .await
    };
    let mut commitments = Vec::new();
    for row in db::retry(query).await? {
        commitments.push(UnrevealedCommitment {
            game: GameId(row.id),
            kind: row.kind,
            table: TableId(row.table_id),
            commitment: parse_commitment(&row.commitment)?,
            opened_at: from_sql(row.opened_at),
            voided_at: row.finished_at.map(from_sql),
        });
    }
    Ok(Page::from_rows(commitments, limit, |last| {
        (last.voided_at.unwrap_or(last.opened_at), last.game.0)
    }))
}
