//! The filtered list of settled games, newest first.
//!
//! A filter may match one game in a hundred thousand, so days without a match are skipped: the
//! daily counts show which days have matches and, where these are rare, with which attributes. The
//! games of one player are read from the player's own rows. The list has the eventual consistency
//! of the projection, some seconds late.

use std::fmt;
use std::str::FromStr;

use bahay_engine::coins::Coins;
use bahay_engine::table::{GameId, PlayerId, TableId};
use jiff_sqlx::{Date, Timestamp as SqlTimestamp, ToSqlx as _};
use sqlx::PgPool;
use thiserror::Error;
use uuid::Uuid;

use super::{PAGE_MAX, ReportError, Reports, from_sql, to_sql};
use crate::clock::{self, BoundedTimestamp, Timestamp};
use crate::db::{self, Page};

/// The number of days per search for days with matches.
const DAYS_AT_ONCE: i64 = 64;

/// The number of days up to which the newest settlements of each day are read. If a page spans more
/// days, each has few matches, and they are searched by their attributes.
const DAYS_READ_WHOLE: usize = 4;

/// A filter of settlements; `None` accepts everything.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SettlementFilter {
    /// The earliest time of finishing, inclusive.
    pub from: Option<Timestamp>,
    /// The latest time of finishing, exclusive.
    pub to: Option<Timestamp>,
    /// The kind of the game.
    pub kind: Option<String>,
    pub room: Option<String>,
    /// One of the players.
    pub player: Option<PlayerId>,
    pub ending: Option<String>,
    /// The bounds of the losers' payments before the fee.
    pub gross_min: Option<Coins>,
    pub gross_max: Option<Coins>,
    /// True if the POT was won.
    pub took_pot: Option<bool>,
    /// True if the AI has acted for a player.
    pub taken_over: Option<bool>,
}

/// A settled game in the list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettlementRow {
    pub game: GameId,
    pub table: TableId,
    /// The kind of the game.
    pub kind: String,
    pub room: String,
    pub finished_at: Timestamp,
    /// The ending; `None` if the record cannot be replayed.
    pub ending: Option<String>,
    pub winner: Option<PlayerId>,
    /// The payments of the losers before the fee. Zero after a reversal, like the fee and the nets.
    pub gross: Coins,
    pub fee: Coins,
    /// The amount of the POT, if it was won.
    pub pot: Option<Coins>,
    pub taken_over: bool,
    /// The players by seat.
    pub players: Vec<PlayerId>,
    /// The current names of the players, by seat.
    pub names: Vec<String>,
    /// By seat, the change by the game without the ante.
    pub nets: Vec<Coins>,
    /// The time at which a reversal of the settlement was booked.
    pub reversed_at: Option<Timestamp>,
}

/// A cursor of a list of settlements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SettlementCursor {
    finished_at: Timestamp,
    game: Uuid,
}

/// The text is not a cursor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("not a cursor of this list")]
pub struct ParseSettlementCursorError;

impl fmt::Display for SettlementCursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:x}.{}", self.finished_at.ms(), self.game.simple())
    }
}

impl FromStr for SettlementCursor {
    type Err = ParseSettlementCursorError;

    fn from_str(text: &str) -> Result<Self, ParseSettlementCursorError> {
        let (ms, game) = text.split_once('.').ok_or(ParseSettlementCursorError)?;
        let ms = i64::from_str_radix(ms, 16).map_err(|_| ParseSettlementCursorError)?;
        let game = Uuid::try_parse(game).map_err(|_| ParseSettlementCursorError)?;
        let finished_at = BoundedTimestamp::new(Timestamp::from_ms(ms))
            .map_err(|_| ParseSettlementCursorError)?;
        Ok(Self { finished_at: finished_at.into(), game })
    }
}

impl SettlementFilter {
    pub(super) fn gross(&self) -> (Option<i64>, Option<i64>) {
        (self.gross_min.map(Coins::hundredths), self.gross_max.map(Coins::hundredths))
    }

    pub(super) fn between(&self) -> (Timestamp, Timestamp) {
        let earliest = BoundedTimestamp::MIN.into();
        let latest = BoundedTimestamp::MAX.into();
        let from = self.from.unwrap_or(earliest).clamp(earliest, latest);
        (from, self.to.unwrap_or(latest).clamp(from, latest))
    }
}

impl Reports {
    /// Returns a page of the settlements that match the filter, newest first.
    pub async fn settlements(
        &self,
        filter: &SettlementFilter,
        cursor: Option<SettlementCursor>,
        limit: u32,
    ) -> Result<Page<SettlementRow, SettlementCursor>, ReportError> {
        self.settlements_up_to(filter, cursor, limit.clamp(1, PAGE_MAX)).await
    }

    pub(super) async fn settlements_up_to(
        &self,
        filter: &SettlementFilter,
        cursor: Option<SettlementCursor>,
        limit: u32,
    ) -> Result<Page<SettlementRow, SettlementCursor>, ReportError> {
        let games = match filter.player {
            Some(player) => {
                db::retry(|| find_for_player(&self.pool, player, filter, cursor, limit)).await?
            }
            None => {
                let days = db::retry(|| find_days(&self.pool, filter, cursor, limit)).await?;
                if days.len() > DAYS_READ_WHOLE {
                    db::retry(|| find_by_group(&self.pool, &days, filter, cursor, limit)).await?
                } else {
                    db::retry(|| find_on_days(&self.pool, &days, filter, cursor, limit)).await?
                }
            }
        };
        let rows = db::retry(|| read_rows(&self.pool, &games)).await?;
        Ok(Page::from_rows(rows, limit, |last| SettlementCursor {
            finished_at: last.finished_at,
            game: last.game.0,
        }))
    }
}

/// Returns the newest days from the cursor on that have enough settlements for a page. The cursor's
/// day may have no further match, and the first and last day may have matches outside of the
/// interval, so these days do not count.
async fn find_days(
    pool: &PgPool,
    filter: &SettlementFilter,
    cursor: Option<SettlementCursor>,
    limit: u32,
) -> Result<Vec<Date>, sqlx::Error> {
    let (from, to) = filter.between();
    let to = cursor.map_or(to, |cursor| cursor.finished_at.min(to));
    let first = day(from);
    let mut last = day(to);
    let partial = last;
    let (gross_min, gross_max) = filter.gross();
    let mut found = Vec::new();
    let mut games = 0_i64;
    loop {
        let rows = sqlx::query!(
            r#"
            select d.day as "day: Date", sum(d.games)::bigint as "games!"
            from settlement_days d
            where d.day >= $1 and d.day <= $2 and d.games > 0
                and ($3::text is null or d.room = $3)
                and ($4::text is null or d.ending = $4)
                and ($5::boolean is null or d.took_pot = $5)
                and ($6::boolean is null or d.taken_over = $6)
                and ($7::bigint is null or d.gross >= $7)
                and ($8::bigint is null or d.gross <= $8)
                and ($10::text is null or d.kind = $10)
            group by d.day
            order by d.day desc
            limit $9
            "#,
            first as _,
            last as _,
            filter.room,
            filter.ending,
            filter.took_pot,
            filter.taken_over,
            gross_min,
            gross_max,
            DAYS_AT_ONCE,
            filter.kind
        )
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

/// A row of the query.
#[derive(Debug)]
struct Row {
    game: Uuid,
    table_id: Uuid,
    kind: String,
    room: String,
    finished_at: SqlTimestamp,
    ending: Option<String>,
    winner: Option<Uuid>,
    gross: i64,
    fee: i64,
    pot: Option<i64>,
    taken_over: bool,
    players: Vec<Uuid>,
    names: Vec<String>,
    nets: Vec<i64>,
    reversed_at: Option<SqlTimestamp>,
}

impl TryFrom<Row> for SettlementRow {
    type Error = sqlx::Error;

    fn try_from(row: Row) -> Result<Self, sqlx::Error> {
        Ok(Self {
            game: GameId(row.game),
            table: TableId(row.table_id),
            kind: row.kind,
            room: row.room,
            finished_at: from_sql(row.finished_at),
            ending: row.ending,
            winner: row.winner.map(PlayerId),
            gross: Coins::from_hundredths(row.gross),
            fee: Coins::from_hundredths(row.fee),
            pot: row.pot.map(Coins::from_hundredths),
            taken_over: row.taken_over,
            players: row.players.into_iter().map(PlayerId).collect(),
            names: row.names,
            nets: row.nets.into_iter().map(Coins::from_hundredths).collect(),
            reversed_at: row.reversed_at.map(from_sql),
        })
    }
}

/// Returns the ids of the newest matching games on these days.
async fn find_on_days(
    pool: &PgPool,
    days: &[Date],
    filter: &SettlementFilter,
    cursor: Option<SettlementCursor>,
    limit: u32,
) -> Result<Vec<Uuid>, sqlx::Error> {
    let (from, to) = filter.between();
    let below = upper_bound(cursor, to);
    let (gross_min, gross_max) = filter.gross();
    sqlx::query_scalar!(
        r#"
        select n.game as "game!"
        from unnest($1::date[]) as d (day)
        cross join lateral (
            select s.game, s.finished_at
            from settlements s
            where s.day = d.day and s.finished_at >= $2 and s.finished_at < $3
                and (s.finished_at, s.game) < ($4::timestamptz, $5::uuid)
                and ($6::text is null or s.room = $6)
                and ($7::text is null or s.ending = $7)
                and ($8::boolean is null or s.took_pot = $8)
                and ($9::boolean is null or s.taken_over = $9)
                and ($10::bigint is null or s.gross >= $10)
                and ($11::bigint is null or s.gross <= $11)
                and ($13::text is null or s.kind = $13)
            order by s.day desc, s.finished_at desc, s.game desc
            limit $12
        ) n
        order by n.finished_at desc, n.game desc
        limit $12
        "#,
        days as _,
        to_sql(from) as _,
        to_sql(to) as _,
        to_sql(below.finished_at) as _,
        below.game,
        filter.room,
        filter.ending,
        filter.took_pot,
        filter.taken_over,
        gross_min,
        gross_max,
        i64::from(limit) + 1,
        filter.kind
    )
    .fetch_all(pool)
    .await
}

/// Returns the ids of the newest matching games by the combinations of attributes that each day
/// has. Suits days with few matches.
async fn find_by_group(
    pool: &PgPool,
    days: &[Date],
    filter: &SettlementFilter,
    cursor: Option<SettlementCursor>,
    limit: u32,
) -> Result<Vec<Uuid>, sqlx::Error> {
    let (from, to) = filter.between();
    let below = upper_bound(cursor, to);
    let (gross_min, gross_max) = filter.gross();
    sqlx::query_scalar!(
        r#"
        select s.game
        from (
            select d.day, d.kind, d.room, d.ending, d.took_pot, d.taken_over, d.gross
            from settlement_days d
            where d.day = any($1) and d.games > 0
                and ($6::text is null or d.room = $6)
                and ($7::text is null or d.ending = $7)
                and ($8::boolean is null or d.took_pot = $8)
                and ($9::boolean is null or d.taken_over = $9)
                and ($10::bigint is null or d.gross >= $10)
                and ($11::bigint is null or d.gross <= $11)
                and ($13::text is null or d.kind = $13)
        ) d
        cross join lateral (
            select s.game, s.finished_at
            from settlements s
            where s.day = d.day and s.gross = d.gross and s.kind = d.kind and s.room = d.room
                and coalesce(s.ending, '') = d.ending and s.took_pot = d.took_pot
                and s.taken_over = d.taken_over
                and s.finished_at >= $2 and s.finished_at < $3
                and (s.finished_at, s.game) < ($4::timestamptz, $5::uuid)
            -- An optimization fence: each combination is searched by its index.
            offset 0
        ) s
        order by s.finished_at desc, s.game desc
        limit $12
        "#,
        days as _,
        to_sql(from) as _,
        to_sql(to) as _,
        to_sql(below.finished_at) as _,
        below.game,
        filter.room,
        filter.ending,
        filter.took_pot,
        filter.taken_over,
        gross_min,
        gross_max,
        i64::from(limit) + 1,
        filter.kind
    )
    .fetch_all(pool)
    .await
}

/// Returns the ids of the newest matching games of a player.
async fn find_for_player(
    pool: &PgPool,
    player: PlayerId,
    filter: &SettlementFilter,
    cursor: Option<SettlementCursor>,
    limit: u32,
) -> Result<Vec<Uuid>, sqlx::Error> {
    let (from, to) = filter.between();
    let below = upper_bound(cursor, to);
    let (gross_min, gross_max) = filter.gross();
    sqlx::query_scalar!(
        r#"
        select s.game
        from player_settlements s
        where s.player = $1 and s.finished_at >= $2 and s.finished_at < $3
            and (s.finished_at, s.game) < ($4::timestamptz, $5::uuid)
            and ($6::text is null or s.room = $6)
            and ($7::text is null or s.ending = $7)
            and ($8::boolean is null or (s.pot is not null) = $8)
            and ($9::boolean is null or s.taken_over = $9)
            and ($10::bigint is null or s.gross >= $10)
            and ($11::bigint is null or s.gross <= $11)
            and ($13::text is null or s.kind = $13)
        order by s.finished_at desc, s.game desc
        limit $12
        "#,
        player.0,
        to_sql(from) as _,
        to_sql(to) as _,
        to_sql(below.finished_at) as _,
        below.game,
        filter.room,
        filter.ending,
        filter.took_pot,
        filter.taken_over,
        gross_min,
        gross_max,
        i64::from(limit) + 1,
        filter.kind
    )
    .fetch_all(pool)
    .await
}

/// Reads these settlements, newest first.
async fn read_rows(pool: &PgPool, games: &[Uuid]) -> Result<Vec<SettlementRow>, sqlx::Error> {
    let rows = sqlx::query_as!(
        Row,
        r#"
        select s.game as "game!",
            (select g.table_id from games g where g.id = f.game) as "table_id!",
            s.kind as "kind!", s.room as "room!",
            s.finished_at as "finished_at!: SqlTimestamp", s.ending as "ending?",
            s.winner as "winner?", s.gross as "gross!", s.fee as "fee!", s.pot as "pot?",
            s.taken_over as "taken_over!", p.players as "players!", p.names as "names!",
            p.nets as "nets!", s.reversed_at as "reversed_at?: SqlTimestamp"
        from unnest($1::uuid[]) as f (game)
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
        order by s.finished_at desc, s.game desc
        "#,
        games
    )
    .fetch_all(pool)
    .await?;
    rows.into_iter().map(SettlementRow::try_from).collect()
}

fn upper_bound(cursor: Option<SettlementCursor>, to: Timestamp) -> SettlementCursor {
    cursor.unwrap_or(SettlementCursor { finished_at: to, game: Uuid::max() })
}

/// Returns the UTC day of an instant.
pub(super) fn day(at: Timestamp) -> Date {
    clock::to_jiff(at).to_zoned(jiff::tz::TimeZone::UTC).date().to_sqlx()
}

#[cfg(test)]
mod tests {
    use super::SettlementCursor;
    use crate::clock::Timestamp;
    use uuid::Uuid;

    #[test]
    fn a_cursor_round_trips() {
        let at = Timestamp::from_ms(1_772_366_400_123);
        let cursor = SettlementCursor { finished_at: at, game: Uuid::from_u128(7) };
        assert_eq!(cursor.to_string().parse(), Ok(cursor));
        for text in ["", "1", "x.00000000000000000000000000000007", "-1.7", "5."] {
            assert!(text.parse::<SettlementCursor>().is_err(), "{text}");
        }
    }
}
