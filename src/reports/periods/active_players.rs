//! The number of those who played in a period: people, new and returning ones among them, and house
//! bots. They are counted from one row a player and day, which the projection of pairs maintains,
//! so they lag by seconds, and the days are those of its zone.

use bahay_api::operator::today::PlayerFigures;
use jiff_sqlx::ToSqlx as _;

use crate::clock::Timestamp;
use crate::db;
use crate::reports::days::PeriodDays;
use crate::reports::{ReportError, Reports, to_sql};

impl Reports {
    /// Counts the players of the settled games that ended on some days and before an instant.
    pub(super) async fn active_players(
        &self,
        days: PeriodDays,
        to: Timestamp,
    ) -> Result<PlayerFigures, ReportError> {
        let once = || {
            sqlx::query!(
                r#"
                select count(*) filter (where not d.is_bot) as "people!",
                    count(*) filter (where not d.is_bot and d.created_on >= $1) as "new!",
                    count(*) filter (
                        where not d.is_bot and d.created_on < $1 and d.played_before
                    ) as "returning!",
                    count(*) filter (where d.is_bot) as "bots!"
                from (
                    select distinct on (p.player) p.is_bot, p.created_on, p.played_before
                    from player_days p
                    where p.day between $1 and $2 and p.first_at < $3
                    order by p.player, p.day
                ) d
                "#,
                days.first.to_sqlx() as _,
                days.last.to_sqlx() as _,
                to_sql(to) as _
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
