//! The settlements in the order of an amount, of a text by its rank, or of their reversals.
//!
//! The daily counts show up to which amount and day there are enough settlements, so that only those
//! are read. The games of one player are read from the player's own rows, POTs and reversals by
//! indexes of their own.

use bahay_api::operator::settlements::SettlementKey;
use jiff_sqlx::{Date, ToSqlx as _};
use sqlx::PgPool;
use uuid::Uuid;

use crate::db;
use crate::reports::settlements::filter::{SettlementScan, day, directed, filtered, interval};
use crate::reports::to_sql;

/// A place among the daily counts in the order of a list: an amount in hundredths of a coin and a
/// day. Settlements of equal amounts are in the order of their days.
type CountPosition = (i64, Date);

/// A part of the daily counts in the order of a list, bounds included.
#[derive(Clone, Copy, Debug)]
pub(super) struct CountBand {
    pub(super) first: CountPosition,
    pub(super) last: CountPosition,
    /// The least and the greatest day of the band.
    pub(super) days: (Date, Date),
}

/// Returns the ids of the first games of a scan, except in the order of time.
pub(super) async fn find_games(
    pool: &PgPool,
    scan: SettlementScan<'_>,
) -> Result<Vec<Uuid>, sqlx::Error> {
    match (scan.filter.player, scan.order.key()) {
        (Some(player), _) => db::retry(|| find_of_player(pool, player, scan)).await,
        (None, SettlementKey::Pot) => db::retry(|| find_by_pot(pool, scan)).await,
        (None, SettlementKey::ReversedAt) => db::retry(|| find_reversed(pool, scan)).await,
        (
            None,
            SettlementKey::FinishedAt
            | SettlementKey::Gross
            | SettlementKey::Fee
            | SettlementKey::Ante
            | SettlementKey::Kind
            | SettlementKey::Room
            | SettlementKey::Ending
            | SettlementKey::TakenOver,
        ) => find_by_counts(pool, scan).await,
    }
}

async fn find_of_player(
    pool: &PgPool,
    player: Uuid,
    scan: SettlementScan<'_>,
) -> Result<Vec<Uuid>, sqlx::Error> {
    let (from, to) = interval(scan.filter);
    let (amount, finished_at, game) = scan.after;
    macro_rules! find {
        ($follows:tt, $direction:tt, $reverse:tt) => {
            filtered!(query_scalar!(
                scan.filter,
                [
                    "
                    select s.game
                    from (
                        select p.player, p.game, p.finished_at, p.kind, p.room, p.ending, p.gross,
                            p.pot is not null as took_pot, p.taken_over,
                            case $8::text
                                when 'pot' then p.pot
                                -- As precise as the position in the list.
                                when 'reversed_at'
                                    then floor(extract(epoch from p.reversed_at) * 1000)::bigint
                                else settlement_order(
                                    $8::text, p.gross, p.fee, p.ante, p.taken_over, p.kind, p.room,
                                    p.ending, $16::text[]
                                )
                            end as amount
                        from player_settlements p
                    ) s
                    where
                    "
                ],
                [
                    "
                        and s.player = $9 and s.finished_at >= $10 and s.finished_at < $11
                        and (s.amount, s.finished_at, s.game) " $follows
                    " ($12::bigint, $13::timestamptz, $14::uuid)
                    order by s.amount " $direction ", s.finished_at " $direction
                    ", s.game " $direction "
                    limit $15
                    "
                ],
                scan.order.key().as_str(),
                player,
                to_sql(from) as _,
                to_sql(to) as _,
                amount,
                to_sql(finished_at) as _,
                game,
                scan.wanted,
                scan.ranks
            ))
            .fetch_all(pool)
            .await
        };
    }
    directed!(scan.order, find)
}

async fn find_by_pot(pool: &PgPool, scan: SettlementScan<'_>) -> Result<Vec<Uuid>, sqlx::Error> {
    let (from, to) = interval(scan.filter);
    let (pot, finished_at, game) = scan.after;
    macro_rules! find {
        ($follows:tt, $direction:tt, $reverse:tt) => {
            filtered!(query_scalar!(
                scan.filter,
                [
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
                    "#
                ],
                [
                    "
                            and s.day = d.day and s.pot is not null
                            and s.finished_at >= $10 and s.finished_at < $11
                            and (s.pot, s.finished_at, s.game) " $follows
                    " ($12::bigint, $13::timestamptz, $14::uuid)
                        order by s.pot " $direction ", s.finished_at " $direction
                    ", s.game " $direction "
                        limit $15
                    ) n
                    order by n.pot " $direction ", n.finished_at " $direction
                    ", n.game " $direction "
                    limit $15
                    "
                ],
                day(from) as _,
                day(to) as _,
                to_sql(from) as _,
                to_sql(to) as _,
                pot,
                to_sql(finished_at) as _,
                game,
                scan.wanted
            ))
            .fetch_all(pool)
            .await
        };
    }
    directed!(scan.order, find)
}

async fn find_reversed(pool: &PgPool, scan: SettlementScan<'_>) -> Result<Vec<Uuid>, sqlx::Error> {
    let (from, to) = interval(scan.filter);
    let (reversed_ms, finished_at, game) = scan.after;
    macro_rules! find {
        ($follows:tt, $direction:tt, $reverse:tt) => {
            filtered!(query_scalar!(
                scan.filter,
                [
                    "
                    select s.game
                    from (
                        select s.game, s.finished_at, s.kind, s.room, s.ending, s.gross,
                            s.took_pot, s.taken_over,
                            floor(extract(epoch from s.reversed_at) * 1000)::bigint as reversed_ms
                        from settlements s
                        where s.reversed_at is not null
                    ) s
                    where
                    "
                ],
                [
                    "
                        and s.finished_at >= $8 and s.finished_at < $9
                        and (s.reversed_ms, s.finished_at, s.game) " $follows
                    " ($10::bigint, $11::timestamptz, $12::uuid)
                    order by s.reversed_ms " $direction ", s.finished_at " $direction
                    ", s.game " $direction "
                    limit $13
                    "
                ],
                to_sql(from) as _,
                to_sql(to) as _,
                reversed_ms,
                to_sql(finished_at) as _,
                game,
                scan.wanted
            ))
            .fetch_all(pool)
            .await
        };
    }
    directed!(scan.order, find)
}

/// Reads the games of successive bands. The days at both ends of the interval also count games
/// outside of it, and the first day games before the position, so a band may have fewer games than
/// it counts; each band counts twice as many as the one before.
async fn find_by_counts(pool: &PgPool, scan: SettlementScan<'_>) -> Result<Vec<Uuid>, sqlx::Error> {
    let (from, to) = interval(scan.filter);
    let days = (day(from), day(to));
    let (amount, finished_at, _) = scan.after;
    let mut first = (amount, day(finished_at));
    let mut found = Vec::new();
    let mut counted = scan.wanted;
    loop {
        let missing = scan.wanted - i64::try_from(found.len()).unwrap_or(scan.wanted);
        if missing <= 0 {
            return Ok(found);
        }
        let last = db::retry(|| find_band_end(pool, scan, first, counted)).await?;
        let Some(last) = last else {
            return Ok(found);
        };
        let band = CountBand { first, last, days };
        let rest = SettlementScan { wanted: missing, ..scan };
        found.extend(db::retry(|| find_in_band(pool, rest, band)).await?);
        let (amount, end) = last;
        let next = match scan.order.is_descending() {
            true => end.to_jiff().yesterday(),
            false => end.to_jiff().tomorrow(),
        };
        let Ok(next) = next else {
            return Ok(found);
        };
        first = (amount, next.to_sqlx());
        counted = counted.saturating_mul(2);
    }
}

/// Returns the position up to which the daily counts have this number of settlements, from `first`
/// on, or the last position if there are fewer.
async fn find_band_end(
    pool: &PgPool,
    scan: SettlementScan<'_>,
    first: CountPosition,
    counted: i64,
) -> Result<Option<CountPosition>, sqlx::Error> {
    let (from, to) = interval(scan.filter);
    let (first_amount, first_day) = first;
    // Of the settlements with the last amount, which may be most of all, only some days are read.
    macro_rules! find {
        ($follows:tt, $direction:tt, $reverse:tt) => {{
            let last = filtered!(query!(
                scan.filter,
                [
                    r#"
                    select g.amount as "amount!", g.before::bigint as "before!"
                    from (
                        select d.amount,
                            sum(sum(d.games)) over (order by d.amount "# $direction r#")
                                - sum(d.games) as before
                        from (
                            select d.day, d.games,
                                settlement_order(
                                    $8::text, d.gross, d.fee, d.ante, d.taken_over, d.kind, d.room,
                                    d.ending, $14::text[]
                                ) as amount
                            from settlement_days d
                            where
                    "#
                ],
                [
                    "
                                and d.day between $9 and $10 and d.games > 0
                        ) d
                        where (d.amount, d.day) " $follows "= ($11::bigint, $12::date)
                        group by d.amount
                    ) g
                    where g.before < $13::bigint
                    order by g.amount " $reverse "
                    limit 1
                    "
                ],
                scan.order.key().as_str(),
                day(from) as _,
                day(to) as _,
                first_amount,
                first_day as _,
                counted,
                scan.ranks
            ))
            .fetch_optional(pool)
            .await?;
            let Some(last) = last else {
                return Ok(None);
            };
            let end: Option<Date> = filtered!(query_scalar!(
                scan.filter,
                [
                    r#"
                    select g.day as "day!: Date"
                    from (
                        select d.day,
                            sum(sum(d.games)) over (order by d.day "# $direction r#")
                                - sum(d.games) as before
                        from (
                            select d.day, d.games,
                                settlement_order(
                                    $8::text, d.gross, d.fee, d.ante, d.taken_over, d.kind, d.room,
                                    d.ending, $15::text[]
                                ) as amount
                            from settlement_days d
                            where
                    "#
                ],
                [
                    "
                                and d.day between $9 and $10 and d.games > 0
                        ) d
                        where d.amount = $14
                            and (d.amount, d.day) " $follows "= ($11::bigint, $12::date)
                        group by d.day
                    ) g
                    where g.before < $13::bigint
                    order by g.day " $reverse "
                    limit 1
                    "
                ],
                scan.order.key().as_str(),
                day(from) as _,
                day(to) as _,
                first_amount,
                first_day as _,
                counted - last.before,
                last.amount,
                scan.ranks
            ))
            .fetch_optional(pool)
            .await?;
            // The counts may have changed between the queries.
            let end = end.unwrap_or(if scan.order.is_descending() { day(from) } else { day(to) });
            Ok(Some((last.amount, end)))
        }};
    }
    directed!(scan.order, find)
}

/// Returns the ids of the first games of a scan whose daily counts are in a band. In the order of
/// time, which has no ranks, the amounts of the band are 0.
pub(super) async fn find_in_band(
    pool: &PgPool,
    scan: SettlementScan<'_>,
    band: CountBand,
) -> Result<Vec<Uuid>, sqlx::Error> {
    let (from, to) = interval(scan.filter);
    let (amount, finished_at, game) = scan.after;
    macro_rules! find {
        ($follows:tt, $direction:tt, $reverse:tt) => {
            filtered!(query_scalar!(
                scan.filter,
                [
                    "
                    select s.game
                    from (
                        select d.day, d.kind, d.room, d.ending, d.took_pot, d.taken_over, d.gross,
                            d.fee, d.ante,
                            settlement_order(
                                $8::text, d.gross, d.fee, d.ante, d.taken_over, d.kind, d.room,
                                d.ending, $21::text[]
                            ) as amount
                        from settlement_days d
                        where
                    "
                ],
                [
                    "
                            and d.day between $9 and $10 and d.games > 0
                    ) d
                    cross join lateral (
                        select s.game, s.finished_at
                        from settlements s
                        where s.day = d.day and s.gross = d.gross and s.kind = d.kind
                            and s.room = d.room and coalesce(s.ending, '') = d.ending
                            and s.took_pot = d.took_pot and s.taken_over = d.taken_over
                            and s.fee = d.fee and s.ante = d.ante
                            and s.finished_at >= $11 and s.finished_at < $12
                            and (d.amount, s.finished_at, s.game) " $follows
                    " ($13::bigint, $14::timestamptz, $15::uuid)
                        order by s.finished_at " $direction ", s.game " $direction "
                        limit $16
                    ) s
                    where (d.amount, d.day) " $follows "= ($17::bigint, $18::date)
                        and ($19::bigint, $20::date) " $follows "= (d.amount, d.day)
                    order by d.amount " $direction ", s.finished_at " $direction
                    ", s.game " $direction "
                    limit $16
                    "
                ],
                scan.order.key().as_str(),
                band.days.0 as _,
                band.days.1 as _,
                to_sql(from) as _,
                to_sql(to) as _,
                amount,
                to_sql(finished_at) as _,
                game,
                scan.wanted,
                band.first.0,
                band.first.1 as _,
                band.last.0,
                band.last.1 as _,
                scan.ranks
            ))
            .fetch_all(pool)
            .await
        };
    }
    directed!(scan.order, find)
}
