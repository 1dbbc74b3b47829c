//! The leaderboard by rating. Ratings rise and fall, so the board is not accumulated; it is read
//! from PostgreSQL by an index. The board of a span has the players who were rated within it.

use bahay_engine::table::PlayerId;
use jiff_sqlx::{Timestamp as SqlTimestamp, ToSqlx as _};

use super::{BoardPage, BoardPageQuery, PLACES_MAX, Section, Span, Standings, StandingsError};
use crate::clock::Timestamp;
use crate::db;
use crate::live_store::{BoardRank, rank_scores};

/// A player's own rank, and the number of players listed before.
struct OwnRank {
    place: BoardRank,
    before: u64,
}

impl Standings {
    /// Returns a page of a kind's board by rating, of the span that contains `now`. A score is the
    /// rating's lower bound in thousandths; it may be negative.
    pub async fn rating_board(
        &self,
        kind: &str,
        span: Span,
        now: Timestamp,
        query: BoardPageQuery,
    ) -> Result<BoardPage, StandingsError> {
        let calendar = self.calendar();
        let starts_on = calendar.start(span, now);
        let since = calendar.start_instant(span, now);
        let since = since.to_sqlx();
        let BoardPageQuery { section, limit, player } = query;
        let limit = limit.clamp(1, super::LIMIT_MAX);
        let counted = || {
            sqlx::query_scalar!(
                r#"
                select count(*) as "total!"
                from ratings r
                where r.kind = $2 and r.rated_at >= $1
                "#,
                since as _,
                kind
            )
            .fetch_one(&self.inner.pool)
        };
        let total = u64::try_from(db::retry(counted).await?).unwrap_or_default();
        let own = self.own_rating(kind, player, since).await?;
        let before = match (section, &own) {
            (Section::Top { offset }, _) => u64::from(offset.min(PLACES_MAX)),
            (Section::Around, None) => {
                return self.resolve_names(starts_on, total, None, vec![]).await;
            }
            (Section::Around, Some(own)) => own.before.saturating_sub(u64::from(limit / 2)),
        };
        let listed = || {
            sqlx::query!(
                r#"
                select r.player, r.at_least as "score!"
                from ratings r
                where r.kind = $4 and r.rated_at >= $1
                order by r.at_least desc, r.rated_at, reverse(r.player::text)
                offset $2 limit $3
                "#,
                since as _,
                i64::try_from(before).unwrap_or(i64::MAX),
                i64::from(limit),
                kind
            )
            .fetch_all(&self.inner.pool)
        };
        let rows = db::retry(listed).await?;
        let better = match rows.first() {
            Some(first) => self.rated_better(kind, first.score, since).await?,
            None => 0,
        };
        let scores = rows.into_iter().map(|row| (PlayerId(row.player), i64::from(row.score)));
        let places = rank_scores(before, better, scores);
        self.resolve_names(starts_on, total, own.map(|own| own.place), places).await
    }

    /// Returns the rank of a player who was rated since then.
    async fn own_rating(
        &self,
        kind: &str,
        player: PlayerId,
        since: SqlTimestamp,
    ) -> Result<Option<OwnRank>, sqlx::Error> {
        let own = || {
            sqlx::query!(
                r#"
                select o.at_least as "score!",
                    count(r.player) filter (where r.at_least > o.at_least) as "better!",
                    count(r.player) as "before!"
                from ratings o
                left join ratings r on r.kind = o.kind and r.rated_at >= $1
                    and r.at_least >= o.at_least
                    and (
                        r.at_least > o.at_least
                        or (r.rated_at, reverse(r.player::text))
                            < (o.rated_at, reverse(o.player::text))
                    )
                where o.player = $2 and o.kind = $3 and o.rated_at >= $1
                group by o.at_least
                "#,
                since as _,
                player.0,
                kind
            )
            .fetch_optional(&self.inner.pool)
        };
        let own = db::retry(own).await?.map(|row| {
            let count = |number| u64::try_from(number).unwrap_or_default();
            let score = i64::from(row.score);
            let place = BoardRank { rank: count(row.better) + 1, player, score };
            OwnRank { place, before: count(row.before) }
        });
        Ok(own)
    }

    /// Counts the players with a better rating since then.
    async fn rated_better(
        &self,
        kind: &str,
        score: i32,
        since: SqlTimestamp,
    ) -> Result<u64, sqlx::Error> {
        let better = || {
            sqlx::query_scalar!(
                r#"
                select count(*) as "better!"
                from ratings r
                where r.kind = $3 and r.rated_at >= $1 and r.at_least > $2
                "#,
                since as _,
                score,
                kind
            )
            .fetch_one(&self.inner.pool)
        };
        Ok(u64::try_from(db::retry(better).await?).unwrap_or_default())
    }
}
