//! Sums of the settlements that match a filter.
//!
//! Whole days come from the daily counts, and single games are read only at both ends; the games of
//! one player are read from the player's own rows.

use bahay_api::Coins;
use bahay_api::operator::settlements::{PlayerTotals, SettledTotals, SettlementFilter};
use jiff_sqlx::{Date, ToSqlx as _};

use crate::clock::Timestamp;
use crate::db;
use crate::reports::settlements::filter::{day, filtered, interval};
use crate::reports::{ReportError, Reports, to_sql};

impl Reports {
    /// Sums all settlements that match the filter.
    pub async fn totals(&self, filter: &SettlementFilter) -> Result<SettledTotals, ReportError> {
        Ok(self.totals_with_seats(filter).await?.0)
    }

    /// Sums all settlements that match the filter, and returns the number of seats of the largest
    /// ones, which may also be that of a larger settlement that was reversed.
    pub(super) async fn totals_with_seats(
        &self,
        filter: &SettlementFilter,
    ) -> Result<(SettledTotals, usize), ReportError> {
        let (from, to) = interval(filter);
        // The whole days, from the first one until before the last one.
        let first = first_whole_day(from);
        let last = day(to);
        let (first, last) =
            if first.to_jiff() < last.to_jiff() { (first, last) } else { (last, last) };
        let once = || {
            filtered!(query!(
                filter,
                [r#"
                select coalesce(sum(a.games), 0)::bigint as "games!",
                    coalesce(sum(a.gross * a.games), 0)::bigint as "gross!",
                    coalesce(sum(a.fee * a.games), 0)::bigint as "fees!",
                    coalesce(sum(a.pots), 0)::bigint as "pots!",
                    coalesce(sum(a.games) filter (where a.took_pot), 0)::bigint as "pots_taken!",
                    coalesce(sum(a.games) filter (where a.taken_over), 0)::bigint as "taken_over!",
                    coalesce(sum(a.reversed), 0)::bigint as "reversed!",
                    coalesce(sum(a.net), 0)::bigint as "net!",
                    coalesce(sum(a.ante), 0)::bigint as "antes!",
                    coalesce(max(a.seats) filter (where a.games > 0), 0)::smallint as "seats!"
                from (
                    select d.games, d.kind, d.room, d.ending, d.gross, d.fee, d.pots, d.took_pot,
                        d.taken_over, d.reversed, 0::bigint as net, 0::bigint as ante,
                        d.seats_max as seats
                    from settlement_days d
                    where $13::uuid is null and d.day >= $8 and d.day < $9
                    union all
                    select 1::bigint, s.kind, s.room, s.ending, s.gross, s.fee, coalesce(s.pot, 0),
                        s.took_pot, s.taken_over, (s.reversed_at is not null)::int, 0, 0,
                        s.seats
                    from settlements s
                    where $13 is null and (s.day = $12 or s.day = $9)
                        and not (s.day >= $8 and s.day < $9)
                        and s.finished_at >= $10 and s.finished_at < $11
                    union all
                    select 1::bigint, s.kind, s.room, s.ending, s.gross, s.fee, coalesce(s.pot, 0),
                        s.pot is not null, s.taken_over, (s.reversed_at is not null)::int, s.net,
                        s.ante, s.seats
                    from player_settlements s
                    where s.player = $13 and s.finished_at >= $10 and s.finished_at < $11
                ) a
                where
                "#],
                [""],
                first as _,
                last as _,
                to_sql(from) as _,
                to_sql(to) as _,
                day(from) as _,
                filter.player
            ))
            .fetch_one(&self.pool)
        };
        let row = db::retry(once).await?;
        let totals = SettledTotals {
            games: row.games,
            gross: Coins::from_hundredths(row.gross),
            fees: Coins::from_hundredths(row.fees),
            pots: Coins::from_hundredths(row.pots),
            pots_taken: row.pots_taken,
            taken_over: row.taken_over,
            reversed: row.reversed,
            player: filter.player.map(|_| PlayerTotals {
                net: Coins::from_hundredths(row.net),
                antes: Coins::from_hundredths(row.antes),
                change: Coins::from_hundredths(row.net - row.antes),
            }),
        };
        Ok((totals, usize::try_from(row.seats).unwrap_or(0)))
    }
}

/// Returns the first day that begins at or after an instant.
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
