//! The filtered list of settled games, in the order of their ends or of their amounts.
//!
//! A filter may match one game in a hundred thousand, so days without a match are skipped: the
//! daily counts show which days have matches and, where these are rare, with which attributes. The
//! games of one player are read from the player's own rows. The list has the eventual consistency
//! of the projection, some seconds late.

use bahay_api::Coins;
use bahay_api::operator::settlements::{Settled, SettledSeat, SettlementFilter};
use bahay_api::operator::settlements::{SettlementKey, SettlementOrder};
use jiff_sqlx::{Date, Timestamp as SqlTimestamp, ToSqlx as _};
use sqlx::PgPool;
use uuid::Uuid;

use crate::clock::Timestamp;
use crate::db::{self, Page};
use crate::reports::settlements::filter::{
    SettlementPosition, SettlementScan, day, directed, filtered, interval,
};
use crate::reports::settlements::order::{CountBand, find_games, find_in_band};
use crate::reports::settlements::ranks::TextRanks;
use crate::reports::{PAGE_MAX, ReportError, Reports, from_sql, to_sql};

/// The number of days per search for days with matches.
const DAYS_AT_ONCE: usize = 64;

/// The number of days up to which the settlements of each day are read in the order of time. If a
/// page spans more days, each has few matches, and they are searched by their attributes.
const DAYS_READ_WHOLE: usize = 4;

impl Reports {
    /// Returns a page of the settlements that match the filter, in its order.
    pub async fn settlements(
        &self,
        filter: &SettlementFilter,
        after: Option<SettlementPosition>,
        limit: u32,
    ) -> Result<Page<Settled, SettlementPosition>, ReportError> {
        self.settlements_up_to(filter, after, limit.clamp(1, PAGE_MAX)).await
    }

    pub(super) async fn settlements_up_to(
        &self,
        filter: &SettlementFilter,
        after: Option<SettlementPosition>,
        limit: u32,
    ) -> Result<Page<Settled, SettlementPosition>, ReportError> {
        let pool = &self.pool;
        let ranks = TextRanks::load(pool, filter.order.unwrap_or_default().key()).await?;
        let scan = SettlementScan::of_page(filter, after, limit, ranks.as_slice());
        let games = match scan.order.key() {
            SettlementKey::FinishedAt => find_by_time(pool, scan).await?,
            SettlementKey::Gross
            | SettlementKey::Fee
            | SettlementKey::Pot
            | SettlementKey::Ante
            | SettlementKey::ReversedAt
            | SettlementKey::Kind
            | SettlementKey::Room
            | SettlementKey::Ending
            | SettlementKey::TakenOver => find_games(pool, scan).await?,
        };
        let rows = db::retry(|| read_settled(pool, &games)).await?;
        Ok(Page::from_rows(rows, limit, |last| position(scan.order, &ranks, last)))
    }
}

/// Returns the position of a settlement in the list of an order.
fn position(order: SettlementOrder, ranks: &TextRanks, settled: &Settled) -> SettlementPosition {
    let amount = match order.key() {
        SettlementKey::FinishedAt => 0,
        SettlementKey::Gross => settled.gross.hundredths(),
        SettlementKey::Fee => settled.fee.hundredths(),
        SettlementKey::Pot => settled.pot.map_or(0, |pot| pot.hundredths()),
        SettlementKey::Ante => settled.ante.hundredths(),
        SettlementKey::ReversedAt => settled.reversed_at.map_or(0, |at| Timestamp::from(at).ms()),
        SettlementKey::Kind => ranks.rank(&settled.kind),
        SettlementKey::Room => ranks.rank(&settled.room),
        SettlementKey::Ending => ranks.rank(settled.ending.as_deref().unwrap_or_default()),
        SettlementKey::TakenOver => i64::from(settled.taken_over),
    };
    (amount, settled.finished_at.into(), settled.game)
}

/// Returns the ids of the first games of a scan in the order of time.
async fn find_by_time(pool: &PgPool, scan: SettlementScan<'_>) -> Result<Vec<Uuid>, sqlx::Error> {
    if let Some(player) = scan.filter.player {
        return db::retry(|| find_of_player(pool, player, scan)).await;
    }
    let days = db::retry(|| find_days(pool, scan)).await?;
    match days.as_slice() {
        [first, .., last] if days.len() > DAYS_READ_WHOLE => {
            let (least, greatest) =
                if scan.order.is_descending() { (*last, *first) } else { (*first, *last) };
            let days = (least, greatest);
            let band = CountBand { first: (0, *first), last: (0, *last), days };
            db::retry(|| find_in_band(pool, scan, band)).await
        }
        _ => db::retry(|| find_on_days(pool, &days, scan)).await,
    }
}

/// Returns the days from the position of a scan on, in its order, that have enough settlements for
/// it. The position's day may have no further match, and the first and last day may have matches
/// outside of the interval, so these days do not count.
async fn find_days(pool: &PgPool, scan: SettlementScan<'_>) -> Result<Vec<Date>, sqlx::Error> {
    let (from, to) = interval(scan.filter);
    let (_, finished_at, _) = scan.after;
    let is_descending = scan.order.is_descending();
    let mut least = day(if is_descending { from } else { finished_at.max(from) });
    let mut greatest = day(if is_descending { finished_at.min(to) } else { to });
    let partial = [least, greatest].map(Date::to_jiff);
    let mut found = Vec::new();
    let mut games = 0_i64;
    loop {
        let rows = read_day_counts(pool, scan, least, greatest).await?;
        let count = rows.len();
        for (day, day_games) in rows {
            found.push(day);
            if !partial.contains(&day.to_jiff()) {
                games = games.saturating_add(day_games);
            }
            if games >= scan.wanted {
                return Ok(found);
            }
        }
        let last = found.last().copied().filter(|_| count == DAYS_AT_ONCE);
        let Some(last) = last.map(Date::to_jiff) else {
            return Ok(found);
        };
        let next = if is_descending { last.yesterday() } else { last.tomorrow() };
        let Ok(next) = next else {
            return Ok(found);
        };
        *(if is_descending { &mut greatest } else { &mut least }) = next.to_sqlx();
    }
}

/// Returns the first days between two days, in the order of a scan, with the number of settlements
/// that match its filter.
async fn read_day_counts(
    pool: &PgPool,
    scan: SettlementScan<'_>,
    least: Date,
    greatest: Date,
) -> Result<Vec<(Date, i64)>, sqlx::Error> {
    let limit = i64::try_from(DAYS_AT_ONCE).unwrap_or(i64::MAX);
    macro_rules! find {
        ($follows:tt, $direction:tt, $reverse:tt) => {{
            let rows = filtered!(query!(
                scan.filter,
                [
                    r#"
                    select d.day as "day: Date", sum(d.games)::bigint as "games!"
                    from settlement_days d
                    where
                    "#
                ],
                [
                    "
                        and d.day >= $8 and d.day <= $9 and d.games > 0
                    group by d.day
                    order by d.day " $direction "
                    limit $10
                    "
                ],
                least as _,
                greatest as _,
                limit
            ))
            .fetch_all(pool)
            .await?;
            Ok(rows.into_iter().map(|row| (row.day, row.games)).collect())
        }};
    }
    directed!(scan.order, find)
}

async fn find_of_player(
    pool: &PgPool,
    player: Uuid,
    scan: SettlementScan<'_>,
) -> Result<Vec<Uuid>, sqlx::Error> {
    let (from, to) = interval(scan.filter);
    let (_, finished_at, game) = scan.after;
    macro_rules! find {
        ($follows:tt, $direction:tt, $reverse:tt) => {
            filtered!(query_scalar!(
                scan.filter,
                [
                    "
                    select s.game
                    from (
                        select p.player, p.game, p.finished_at, p.kind, p.room, p.ending, p.gross,
                            p.pot is not null as took_pot, p.taken_over
                        from player_settlements p
                    ) s
                    where
                    "
                ],
                [
                    "
                        and s.player = $13 and s.finished_at >= $8 and s.finished_at < $9
                        and (s.finished_at, s.game) " $follows " ($10::timestamptz, $11::uuid)
                    order by s.finished_at " $direction ", s.game " $direction "
                    limit $12
                    "
                ],
                to_sql(from) as _,
                to_sql(to) as _,
                to_sql(finished_at) as _,
                game,
                scan.wanted,
                player
            ))
            .fetch_all(pool)
            .await
        };
    }
    directed!(scan.order, find)
}

/// Returns the ids of the first games of a scan, all of which finished on these days.
async fn find_on_days(
    pool: &PgPool,
    days: &[Date],
    scan: SettlementScan<'_>,
) -> Result<Vec<Uuid>, sqlx::Error> {
    let (from, to) = interval(scan.filter);
    let (_, finished_at, game) = scan.after;
    macro_rules! find {
        ($follows:tt, $direction:tt, $reverse:tt) => {
            filtered!(query_scalar!(
                scan.filter,
                [
                    r#"
                    select n.game as "game!"
                    from unnest($13::date[]) as d (day)
                    cross join lateral (
                        select s.game, s.finished_at
                        from settlements s
                        where
                    "#
                ],
                [
                    "
                            and s.day = d.day and s.finished_at >= $8 and s.finished_at < $9
                            and (s.finished_at, s.game) " $follows
                    " ($10::timestamptz, $11::uuid)
                        order by s.day " $direction ", s.finished_at " $direction
                    ", s.game " $direction "
                        limit $12
                    ) n
                    order by n.finished_at " $direction ", n.game " $direction "
                    limit $12
                    "
                ],
                to_sql(from) as _,
                to_sql(to) as _,
                to_sql(finished_at) as _,
                game,
                scan.wanted,
                days as _
            ))
            .fetch_all(pool)
            .await
        };
    }
    directed!(scan.order, find)
}

/// Reads these settlements, in their order.
async fn read_settled(pool: &PgPool, games: &[Uuid]) -> Result<Vec<Settled>, sqlx::Error> {
    let rows = sqlx::query!(
        r#"
        select s.game as "game!",
            (select g.table_id from games g where g.id = f.game) as "table_id!",
            s.kind as "kind!", s.room as "room!",
            s.finished_at as "finished_at!: SqlTimestamp", s.ending as "ending?",
            s.winner as "winner?", s.gross as "gross!", s.fee as "fee!", s.pot as "pot?",
            s.ante as "ante!", s.taken_over as "taken_over!", p.players as "players!: Vec<Uuid>",
            p.names as "names!: Vec<String>",
            p.nets as "nets!: Vec<i64>", s.reversed_at as "reversed_at?: SqlTimestamp"
        from unnest($1::uuid[]) with ordinality as f (game, place)
        -- The limit makes the planner look up each game by its key.
        cross join lateral (
            select s.game, s.kind, s.room, s.finished_at, s.ending, s.winner, s.gross, s.fee,
                s.pot, s.ante, s.taken_over, s.reversed_at
            from settlements s
            where s.game = f.game
            limit 1
        ) s
        cross join lateral (
            select array_agg(p.player order by p.seat) as players,
                array_agg(
                    (select n.name from players n where n.id = p.player) order by p.seat
                ) as names,
                array_agg(
                    case when s.reversed_at is null then p.net else 0 end order by p.seat
                ) as nets
            from game_players p
            where p.game = f.game
        ) p
        order by f.place
        "#,
        games
    )
    .fetch_all(pool)
    .await?;
    let rows = rows.into_iter().map(|row| Settled {
        game: row.game,
        table: row.table_id,
        kind: row.kind,
        room: row.room,
        finished_at: from_sql(row.finished_at).into(),
        ending: row.ending,
        winner: row.winner,
        gross: Coins::from_hundredths(row.gross),
        fee: Coins::from_hundredths(row.fee),
        pot: row.pot.map(Coins::from_hundredths),
        ante: Coins::from_hundredths(row.ante),
        taken_over: row.taken_over,
        reversed_at: row.reversed_at.map(|at| from_sql(at).into()),
        seats: row
            .players
            .into_iter()
            .zip(row.names)
            .zip(row.nets)
            .map(|((player, name), net)| SettledSeat {
                player,
                name,
                net: Coins::from_hundredths(net),
            })
            .collect(),
    });
    Ok(rows.collect())
}
