//! The filtered list of settled games, newest or largest first.
//!
//! A filter may match one game in a hundred thousand, so days without a match are skipped: the
//! daily counts show which days have matches and, where these are rare, with which attributes. The
//! games of one player are read from the player's own rows. The list has the eventual consistency
//! of the projection, some seconds late.

use bahay_api::Coins;
use bahay_api::operator::settlements::{Settled, SettledSeat, SettlementFilter, SettlementOrder};
use jiff_sqlx::{Date, Timestamp as SqlTimestamp, ToSqlx as _};
use sqlx::PgPool;
use uuid::Uuid;

use super::settlement_filter::{SettlementPosition, day, filtered, interval};
use super::{PAGE_MAX, ReportError, Reports, from_sql, largest, to_sql};
use crate::db::{self, Page};

/// The number of days per search for days with matches.
const DAYS_AT_ONCE: i64 = 64;

/// The number of days up to which the newest settlements of each day are read. If a page spans more
/// days, each has few matches, and they are searched by their attributes.
const DAYS_READ_WHOLE: usize = 4;

impl Reports {
    /// Returns a page of the settlements that match the filter, in its order.
    pub async fn settlements(
        &self,
        filter: &SettlementFilter,
        below: Option<SettlementPosition>,
        limit: u32,
    ) -> Result<Page<Settled, SettlementPosition>, ReportError> {
        self.settlements_up_to(filter, below, limit.clamp(1, PAGE_MAX)).await
    }

    pub(super) async fn settlements_up_to(
        &self,
        filter: &SettlementFilter,
        below: Option<SettlementPosition>,
        limit: u32,
    ) -> Result<Page<Settled, SettlementPosition>, ReportError> {
        let order = filter.order.unwrap_or(SettlementOrder::Newest);
        let pool = &self.pool;
        let games = match order {
            SettlementOrder::Newest => {
                let days = match filter.player {
                    Some(_) => Vec::new(),
                    None => db::retry(|| find_days(pool, filter, below, limit)).await?,
                };
                db::retry(|| find_newest_games(pool, &days, filter, below, limit)).await?
            }
            SettlementOrder::Largest | SettlementOrder::LargestPot => {
                largest::find_games(pool, filter, order, below, limit).await?
            }
        };
        let rows = db::retry(|| read_settled(pool, &games)).await?;
        Ok(Page::from_rows(rows, limit, |last| position(order, last)))
    }
}

/// Returns the position of a settlement in the list of an order.
fn position(order: SettlementOrder, settled: &Settled) -> SettlementPosition {
    let amount = match order {
        SettlementOrder::Newest => 0,
        SettlementOrder::Largest => settled.gross.hundredths(),
        SettlementOrder::LargestPot => settled.pot.map_or(0, |pot| pot.hundredths()),
    };
    (amount, settled.finished_at.into(), settled.game)
}

/// Returns the newest days from the cursor on that have enough settlements for a page. The cursor's
/// day may have no further match, and the first and last day may have matches outside of the
/// interval, so these days do not count.
async fn find_days(
    pool: &PgPool,
    filter: &SettlementFilter,
    below: Option<SettlementPosition>,
    limit: u32,
) -> Result<Vec<Date>, sqlx::Error> {
    let (from, to) = interval(filter);
    let to = below.map_or(to, |(_, finished_at, _)| finished_at.min(to));
    let first = day(from);
    let mut last = day(to);
    let partial = last;
    let mut found = Vec::new();
    let mut games = 0_i64;
    loop {
        let rows = filtered!(query!(
            filter,
            r#"
            select d.day as "day: Date", sum(d.games)::bigint as "games!"
            from settlement_days d
            where
            "#,
            "
                and d.day >= $8 and d.day <= $9 and d.games > 0
            group by d.day
            order by d.day desc
            limit $10
            ",
            first as _,
            last as _,
            DAYS_AT_ONCE
        ))
        .fetch_all(pool)
        .await?;
        let count = rows.len();
        for row in rows {
            last = row.day;
            found.push(row.day);
            if row.day.to_jiff() != partial.to_jiff() && row.day.to_jiff() != first.to_jiff() {
                games = games.saturating_add(row.games);
            }
            if games > i64::from(limit) {
                return Ok(found);
            }
        }
        if i64::try_from(count).unwrap_or(i64::MAX) < DAYS_AT_ONCE {
            return Ok(found);
        }
        let Ok(before) = last.to_jiff().yesterday() else {
            return Ok(found);
        };
        last = before.to_sqlx();
    }
}

/// Returns the ids of the newest matching games: those of the filter's player, or those on these
/// days.
async fn find_newest_games(
    pool: &PgPool,
    days: &[Date],
    filter: &SettlementFilter,
    below: Option<SettlementPosition>,
    limit: u32,
) -> Result<Vec<Uuid>, sqlx::Error> {
    let (from, to) = interval(filter);
    let (_, below, below_game) = below.unwrap_or((0, to, Uuid::max()));
    macro_rules! find {
        ($before:tt, $after:tt, $source:expr) => {
            filtered!(query_scalar!(
                filter,
                $before,
                $after,
                to_sql(from) as _,
                to_sql(to) as _,
                to_sql(below) as _,
                below_game,
                i64::from(limit) + 1,
                $source as _
            ))
            .fetch_all(pool)
            .await
        };
    }
    if let Some(player) = filter.player {
        return find!(
            "
            select s.game
            from (
                select p.player, p.game, p.finished_at, p.kind, p.room, p.ending, p.gross,
                    p.pot is not null as took_pot, p.taken_over
                from player_settlements p
            ) s
            where
            ",
            "
                and s.player = $13 and s.finished_at >= $8 and s.finished_at < $9
                and (s.finished_at, s.game) < ($10::timestamptz, $11::uuid)
            order by s.finished_at desc, s.game desc
            limit $12
            ",
            player
        );
    }
    if days.len() <= DAYS_READ_WHOLE {
        return find!(
            r#"
            select n.game as "game!"
            from unnest($13::date[]) as d (day)
            cross join lateral (
                select s.game, s.finished_at
                from settlements s
                where
            "#,
            "
                    and s.day = d.day and s.finished_at >= $8 and s.finished_at < $9
                    and (s.finished_at, s.game) < ($10::timestamptz, $11::uuid)
                order by s.day desc, s.finished_at desc, s.game desc
                limit $12
            ) n
            order by n.finished_at desc, n.game desc
            limit $12
            ",
            days
        );
    }
    // By the combinations of attributes that each day has. Suits days with few matches.
    find!(
        "
        select s.game
        from (
            select d.day, d.kind, d.room, d.ending, d.took_pot, d.taken_over, d.gross
            from settlement_days d
            where
        ",
        "
                and d.day = any($13) and d.games > 0
        ) d
        cross join lateral (
            select s.game, s.finished_at
            from settlements s
            where s.day = d.day and s.gross = d.gross and s.kind = d.kind and s.room = d.room
                and coalesce(s.ending, '') = d.ending and s.took_pot = d.took_pot
                and s.taken_over = d.taken_over
                and s.finished_at >= $8 and s.finished_at < $9
                and (s.finished_at, s.game) < ($10::timestamptz, $11::uuid)
            -- An optimization fence: each combination is searched by its index.
            offset 0
        ) s
        order by s.finished_at desc, s.game desc
        limit $12
        ",
        days
    )
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
            s.taken_over as "taken_over!", p.players as "players!: Vec<Uuid>",
            p.names as "names!: Vec<String>",
            p.nets as "nets!: Vec<i64>", s.reversed_at as "reversed_at?: SqlTimestamp"
        from unnest($1::uuid[]) with ordinality as f (game, place)
        -- The limit makes the planner look up each game by its key.
        cross join lateral (
            select s.game, s.kind, s.room, s.finished_at, s.ending, s.winner, s.gross, s.fee,
                s.pot, s.taken_over, s.reversed_at
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
