//! What settlements come to together, by the filters by which they are listed.
//!
//! Whole days are taken from what was counted by day, and single games are read only at both ends;
//! those of one player are read from the player's.

use bahay_engine::coins::Coins;
use bahay_engine::table::PlayerId;
use jiff_sqlx::{Date, ToSqlx as _};
use sqlx::{Executor as _, PgConnection};

use super::settlements::{SettlementFilter, day};
use super::{ReportError, Reports, to_sql};
use crate::clock::Timestamp;
use crate::db;

/// What settlements come to together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    pub games: i64,
    pub gross: Coins,
    pub fees: Coins,
    pub pots: Coins,
    pub pots_taken: i64,
    pub taken_over: i64,
}

impl Reports {
    /// What all settlements that pass the filter come to.
    pub async fn totals(&self, filter: &SettlementFilter) -> Result<Totals, ReportError> {
        db::retry(|| async {
            // Two statements of one moment.
            let mut tx = self.pool.begin().await?;
            tx.execute("set transaction isolation level repeatable read, read only").await?;
            match filter.player {
                Some(player) => totals_of_player(&mut tx, player, filter).await,
                None => totals(&mut tx, filter).await,
            }
        })
        .await
    }
}

async fn totals(
    connection: &mut PgConnection,
    filter: &SettlementFilter,
) -> Result<Totals, sqlx::Error> {
    let (from, to) = filter.between();
    // Whole days from the first one on, up to before the last one.
    let (first, last) = (first_whole_day(from), day(to));
    let (first, last) = if first.to_jiff() < last.to_jiff() { (first, last) } else { (last, last) };
    let (gross_min, gross_max) = filter.gross();
    let row = sqlx::query!(
        r#"
        select coalesce(sum(a.games), 0)::bigint as "games!",
            coalesce(sum(a.gross * a.games), 0)::bigint as "gross!",
            coalesce(sum(a.fees), 0)::bigint as "fees!",
            coalesce(sum(a.pots), 0)::bigint as "pots!",
            coalesce(sum(a.games) filter (where a.took_pot), 0)::bigint as "pots_taken!",
            coalesce(sum(a.games) filter (where a.taken_over), 0)::bigint as "taken_over!"
        from (
            select d.games, d.gross, d.fees, d.pots, d.took_pot, d.taken_over
            from settlement_days d
            where d.day >= $1 and d.day < $2
                and ($5::text is null or d.room = $5)
                and ($6::text is null or d.ending = $6)
                and ($7::boolean is null or d.took_pot = $7)
                and ($8::boolean is null or d.taken_over = $8)
                and ($9::bigint is null or d.gross >= $9)
                and ($10::bigint is null or d.gross <= $10)
            union all
            select 1, s.gross, s.fee, coalesce(s.pot, 0), s.took_pot, s.taken_over
            from settlements s
            where (s.day = $11 or s.day = $2) and not (s.day >= $1 and s.day < $2)
                and s.finished_at >= $3 and s.finished_at < $4
                and ($5::text is null or s.room = $5)
                and ($6::text is null or s.ending = $6)
                and ($7::boolean is null or s.took_pot = $7)
                and ($8::boolean is null or s.taken_over = $8)
                and ($9::bigint is null or s.gross >= $9)
                and ($10::bigint is null or s.gross <= $10)
        ) a
        "#,
        first as _,
        last as _,
        to_sql(from) as _,
        to_sql(to) as _,
        filter.room,
        filter.ending(),
        filter.took_pot,
        filter.taken_over,
        gross_min,
        gross_max,
        day(from) as _
    )
    .fetch_one(connection)
    .await?;
    Ok(Totals {
        games: row.games,
        gross: Coins::from_hundredths(row.gross),
        fees: Coins::from_hundredths(row.fees),
        pots: Coins::from_hundredths(row.pots),
        pots_taken: row.pots_taken,
        taken_over: row.taken_over,
    })
}

async fn totals_of_player(
    connection: &mut PgConnection,
    player: PlayerId,
    filter: &SettlementFilter,
) -> Result<Totals, sqlx::Error> {
    let (from, to) = filter.between();
    let (gross_min, gross_max) = filter.gross();
    let row = sqlx::query!(
        r#"
        select count(*) as "games!", coalesce(sum(s.gross), 0)::bigint as "gross!",
            coalesce(sum(s.fee), 0)::bigint as "fees!",
            coalesce(sum(s.pot), 0)::bigint as "pots!",
            count(s.pot) as "pots_taken!",
            count(*) filter (where s.taken_over) as "taken_over!"
        from player_settlements s
        where s.player = $1 and s.finished_at >= $2 and s.finished_at < $3
            and ($4::text is null or s.room = $4)
            and ($5::text is null or s.ending = $5)
            and ($6::boolean is null or (s.pot is not null) = $6)
            and ($7::boolean is null or s.taken_over = $7)
            and ($8::bigint is null or s.gross >= $8)
            and ($9::bigint is null or s.gross <= $9)
        "#,
        player.0,
        to_sql(from) as _,
        to_sql(to) as _,
        filter.room,
        filter.ending(),
        filter.took_pot,
        filter.taken_over,
        gross_min,
        gross_max
    )
    .fetch_one(connection)
    .await?;
    Ok(Totals {
        games: row.games,
        gross: Coins::from_hundredths(row.gross),
        fees: Coins::from_hundredths(row.fees),
        pots: Coins::from_hundredths(row.pots),
        pots_taken: row.pots_taken,
        taken_over: row.taken_over,
    })
}

/// The first day that begins at an instant or after it.
fn first_whole_day(at: Timestamp) -> Date {
    const DAY_MS: i64 = 24 * 3_600_000;
    let begins = at.ms().rem_euclid(DAY_MS) == 0;
    let date = day(at);
    if begins { date } else { date.to_jiff().tomorrow().unwrap_or(date.to_jiff()).to_sqlx() }
}

#[cfg(test)]
mod tests {
    use super::first_whole_day;
    use crate::clock::Timestamp;

    #[test]
    fn a_day_is_whole_from_midnight_on() {
        let first = |ms| first_whole_day(Timestamp::from_ms(ms)).to_jiff().to_string();
        assert_eq!(first(0), "1970-01-01");
        assert_eq!(first(1), "1970-01-02");
    }
}
