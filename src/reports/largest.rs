//! The settlements with the largest payments or POTs.
//!
//! The daily counts show down to which amount there are enough settlements, so that only those are
//! read. The games of one player are read from the player's own rows.

use bahay_api::operator::settlements::{SettlementFilter, SettlementOrder};
use sqlx::PgPool;
use uuid::Uuid;

use super::settlement_filter::{SettlementPosition, day, filtered, interval};
use super::to_sql;
use crate::db;

/// Returns the ids of the matching games with the largest amounts, one more than `limit` if there
/// are as many.
pub(super) async fn find_games(
    pool: &PgPool,
    filter: &SettlementFilter,
    order: SettlementOrder,
    below: Option<SettlementPosition>,
    limit: u32,
) -> Result<Vec<Uuid>, sqlx::Error> {
    let below = below.unwrap_or_else(|| (i64::MAX, interval(filter).1, Uuid::max()));
    let wanted = i64::from(limit) + 1;
    match filter.player {
        Some(player) => {
            db::retry(|| find_of_player(pool, player, filter, order, below, wanted)).await
        }
        None if order == SettlementOrder::LargestPot => {
            db::retry(|| find_by_pot(pool, filter, below, wanted)).await
        }
        None => find_by_payments(pool, filter, below, wanted).await,
    }
}

async fn find_of_player(
    pool: &PgPool,
    player: Uuid,
    filter: &SettlementFilter,
    order: SettlementOrder,
    below: SettlementPosition,
    wanted: i64,
) -> Result<Vec<Uuid>, sqlx::Error> {
    let (from, to) = interval(filter);
    let (amount, finished_at, game) = below;
    filtered!(query_scalar!(
        filter,
        "
        select s.game
        from (
            select p.player, p.game, p.finished_at, p.kind, p.room, p.ending, p.gross,
                p.pot is not null as took_pot, p.taken_over,
                case when $11 then p.pot else p.gross end as amount
            from player_settlements p
        ) s
        where
        ",
        "
            and s.player = $8 and s.finished_at >= $9 and s.finished_at < $10
            and (s.amount, s.finished_at, s.game) < ($12::bigint, $13::timestamptz, $14::uuid)
        order by s.amount desc, s.finished_at desc, s.game desc
        limit $15
        ",
        player,
        to_sql(from) as _,
        to_sql(to) as _,
        order == SettlementOrder::LargestPot,
        amount,
        to_sql(finished_at) as _,
        game,
        wanted
    ))
    .fetch_all(pool)
    .await
}

async fn find_by_pot(
    pool: &PgPool,
    filter: &SettlementFilter,
    below: SettlementPosition,
    wanted: i64,
) -> Result<Vec<Uuid>, sqlx::Error> {
    let (from, to) = interval(filter);
    let (pot, finished_at, game) = below;
    filtered!(query_scalar!(
        filter,
        r#"
        select n.game as "game!"
        from (
            select d.day
            from settlement_days d
            where d.took_pot and d.day between $8 and $9
            group by d.day
        ) d
        cross join lateral (
            select s.game, s.finished_at, s.pot
            from settlements s
            where
        "#,
        "
                and s.day = d.day and s.pot is not null
                and s.finished_at >= $10 and s.finished_at < $11
                and (s.pot, s.finished_at, s.game) < ($12::bigint, $13::timestamptz, $14::uuid)
            order by s.pot desc, s.finished_at desc, s.game desc
            limit $15
        ) n
        order by n.pot desc, n.finished_at desc, n.game desc
        limit $15
        ",
        day(from) as _,
        day(to) as _,
        to_sql(from) as _,
        to_sql(to) as _,
        pot,
        to_sql(finished_at) as _,
        game,
        wanted
    ))
    .fetch_all(pool)
    .await
}

/// Reads the games of descending bands of payments. The days at both ends of the interval also count
/// games outside of it, so a band may have fewer games than it counts; each band counts twice as
/// many as the one before.
async fn find_by_payments(
    pool: &PgPool,
    filter: &SettlementFilter,
    below: SettlementPosition,
    wanted: i64,
) -> Result<Vec<Uuid>, sqlx::Error> {
    let mut found = Vec::new();
    let mut ceiling = below.0;
    let mut counted = wanted;
    loop {
        let missing = wanted - i64::try_from(found.len()).unwrap_or(wanted);
        if missing <= 0 {
            return Ok(found);
        }
        let floor = db::retry(|| find_floor(pool, filter, ceiling, counted)).await?;
        let Some(floor) = floor else {
            return Ok(found);
        };
        let band = (floor, ceiling);
        found.extend(db::retry(|| find_in_band(pool, filter, band, below, missing)).await?);
        ceiling = floor - 1;
        counted = counted.saturating_mul(2);
    }
}

/// Returns the payments down to which the daily counts have this number of settlements, from
/// `ceiling` on, or the least payments if there are fewer.
async fn find_floor(
    pool: &PgPool,
    filter: &SettlementFilter,
    ceiling: i64,
    counted: i64,
) -> Result<Option<i64>, sqlx::Error> {
    let (from, to) = interval(filter);
    filtered!(query_scalar!(
        filter,
        "
        select min(g.gross)
        from (
            select d.gross,
                sum(sum(d.games)) over (order by d.gross desc) - sum(d.games) as above
            from settlement_days d
            where
        ",
        "
                and d.day between $8 and $9 and d.games > 0 and d.gross <= $10
            group by d.gross
        ) g
        where g.above < $11::bigint
        ",
        day(from) as _,
        day(to) as _,
        ceiling,
        counted
    ))
    .fetch_one(pool)
    .await
}

/// Returns the ids of the largest matching games whose payments are in a band, bounds included, and
/// which are below a position.
async fn find_in_band(
    pool: &PgPool,
    filter: &SettlementFilter,
    (floor, ceiling): (i64, i64),
    below: SettlementPosition,
    wanted: i64,
) -> Result<Vec<Uuid>, sqlx::Error> {
    let (from, to) = interval(filter);
    let (gross, finished_at, game) = below;
    filtered!(query_scalar!(
        filter,
        "
        select s.game
        from (
            select d.day, d.kind, d.room, d.ending, d.took_pot, d.taken_over, d.gross
            from settlement_days d
            where
        ",
        "
                and d.day between $8 and $9 and d.games > 0 and d.gross between $10 and $11
        ) d
        cross join lateral (
            select s.game, s.finished_at
            from settlements s
            where s.day = d.day and s.gross = d.gross and s.kind = d.kind and s.room = d.room
                and coalesce(s.ending, '') = d.ending and s.took_pot = d.took_pot
                and s.taken_over = d.taken_over
                and s.finished_at >= $12 and s.finished_at < $13
                and (
                    d.gross < $14 or (s.finished_at, s.game) < ($15::timestamptz, $16::uuid)
                )
            order by s.finished_at desc, s.game desc
            limit $17
        ) s
        order by d.gross desc, s.finished_at desc, s.game desc
        limit $17
        ",
        day(from) as _,
        day(to) as _,
        floor,
        ceiling,
        to_sql(from) as _,
        to_sql(to) as _,
        gross,
        to_sql(finished_at) as _,
        game,
        wanted
    ))
    .fetch_all(pool)
    .await
}
