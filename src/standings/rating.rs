//! The leaderboard by rating. Ratings rise and fall, so there is nothing to count on: the board is
//! read from PostgreSQL, by an index, as it is now. Over a span it has those who were rated in it.

use bahay_engine::table::PlayerId;
use jiff::civil::Date;
use jiff_sqlx::ToSqlx as _;

use super::{Asked, Section, Span, Standing, Standings, StandingsError};
use crate::clock::Timestamp;
use crate::db;
use crate::live_store::Place;

impl Standings {
    /// Part of a kind's board by rating, of the span that holds this instant. A score is what a
    /// player is at least as good as, in thousandths: it may be below zero.
    pub async fn rating_board(
        &self,
        kind: &str,
        span: Span,
        now: Timestamp,
        asked: Asked,
    ) -> Result<Standing, StandingsError> {
        let calendar = self.calendar();
        let (starts_on, since) = (calendar.start(span, now), calendar.instant_of(span, now));
        let since = since.to_sqlx();
        let Asked { section, limit, player } = asked;
        let limit = limit.clamp(1, super::LIMIT_MAX);
        let counted = || {
            sqlx::query!(
                r#"
                select count(*) as "total!", (
                    select o.at_least
                    from ratings o
                    where o.player = $2 and o.kind = $3 and o.rated_at >= $1
                ) as "own?"
                from ratings r
                where r.kind = $3 and r.rated_at >= $1
                "#,
                since as _,
                player.0,
                kind
            )
            .fetch_one(&self.inner.pool)
        };
        let counted = db::retry(counted).await?;
        let own = match counted.own {
            None => None,
            Some(score) => Some(self.place_of(kind, player, score, since).await?),
        };
        let before = match (section, &own) {
            (Section::Top, _) => 0,
            (Section::Around, None) => {
                return self.standing(starts_on, counted.total, None, vec![]).await;
            }
            (Section::Around, Some(own)) => (own.rank - 1).saturating_sub(u64::from(limit / 2)),
        };
        let listed = || {
            sqlx::query!(
                r#"
                select r.player, r.at_least as "score!"
                from ratings r
                where r.kind = $4 and r.rated_at >= $1
                order by r.at_least desc, r.player
                offset $2 limit $3
                "#,
                since as _,
                i64::try_from(before).unwrap_or(i64::MAX),
                i64::from(limit),
                kind
            )
            .fetch_all(&self.inner.pool)
        };
        let places = (before + 1..).zip(db::retry(listed).await?).map(|(rank, row)| Place {
            rank,
            player: PlayerId(row.player),
            score: i64::from(row.score),
        });
        self.standing(starts_on, counted.total, own, places.collect()).await
    }

    async fn place_of(
        &self,
        kind: &str,
        player: PlayerId,
        score: i32,
        since: jiff_sqlx::Timestamp,
    ) -> Result<Place, sqlx::Error> {
        let before = || {
            sqlx::query_scalar!(
                r#"
                select count(*) as "before!"
                from ratings r
                where r.kind = $4 and r.rated_at >= $1
                    and (r.at_least > $2 or (r.at_least = $2 and r.player < $3::uuid))
                "#,
                since as _,
                score,
                player.0,
                kind
            )
            .fetch_one(&self.inner.pool)
        };
        let before = u64::try_from(db::retry(before).await?).unwrap_or_default();
        Ok(Place { rank: before + 1, player, score: i64::from(score) })
    }

    async fn standing(
        &self,
        starts_on: Date,
        total: i64,
        own: Option<Place>,
        places: Vec<Place>,
    ) -> Result<Standing, StandingsError> {
        let total = u64::try_from(total).unwrap_or_default();
        self.named(starts_on, total, own, places).await
    }
}
