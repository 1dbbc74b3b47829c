//! The number of those who played in a period: people, new and returning ones among them, and house
//! bots.
//!
//! A period's games are read from the list of settlements, which an index orders by day, and from
//! the operations that are not projected yet. Seats, players and earlier games are looked up one by
//! one by their keys, so the work depends on the period's games and not on the age of the house.

use bahay_api::operator::today::PlayerFigures;

use super::booked::Interval;
use super::{ReportError, Reports, to_sql};
use crate::db;

impl Reports {
    /// Counts the players of the settled games that ended in an interval.
    pub async fn active_players(&self, interval: Interval) -> Result<PlayerFigures, ReportError> {
        // `offset 0` keeps a lookup by key from becoming a join that reads the whole table.
        let once = || {
            sqlx::query!(
                r#"
                with settled as (
                    select s.game
                    from settlements s
                    where s.day >= ($1::timestamptz at time zone 'UTC')::date
                        and s.day <= ($2::timestamptz at time zone 'UTC')::date
                        and s.finished_at >= $1 and s.finished_at < $2
                    union
                    select o.game
                    from late_operations l
                    cross join lateral (
                        select o.game
                        from operations o
                        where o.id = l.operation and o.kind = 'settle'
                        offset 0
                    ) o
                ),
                played as (
                    select distinct p.player
                    from settled s
                    cross join lateral (
                        select p.player
                        from game_players p
                        where p.game = s.game and p.finished_at >= $1 and p.finished_at < $2
                        offset 0
                    ) p
                )
                select count(*) filter (where not m.is_bot) as "people!",
                    count(*) filter (where not m.is_bot and m.is_new) as "new!",
                    count(*) filter (where e.played_before) as "returning!",
                    count(*) filter (where m.is_bot) as "bots!"
                from played y
                cross join lateral (
                    select m.kind = 'bot' as is_bot,
                        m.created_at >= $1 and m.created_at < $2 as is_new
                    from players m
                    where m.id = y.player
                    offset 0
                ) m
                cross join lateral (
                    select not m.is_bot and not m.is_new and exists (
                        select
                        from game_players q
                        where q.player = y.player and q.finished_at < $1
                    ) as played_before
                    offset 0
                ) e
                "#,
                to_sql(interval.from) as _,
                to_sql(interval.to) as _
            )
            .fetch_one(&self.pool)
        };
        let row = db::retry(once).await?;
        Ok(PlayerFigures {
            people: row.people,
            new: row.new,
            returning: row.returning,
            bots: row.bots,
        })
    }
}
