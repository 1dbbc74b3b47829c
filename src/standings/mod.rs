//! Standings: the statistics of each player in the settled games of a kind, and leaderboards of
//! each kind by day, week, season and all time.
//!
//! PostgreSQL is the source of truth. `projection` applies each settled game once, some seconds
//! late and without delaying settlements ([`Projection`]); `statistics` computes the changes, and
//! `check` recomputes everything and compares. Boards are read from Redis. A board that is missing
//! there, because Redis was emptied or the board expired, is filled from PostgreSQL on request.
//!
//! Scores only grow, so a board is updated by raising scores, in any order. Equal scores share a
//! rank, as in competitions (1, 2, 2, 4), and are listed in the order in which they were reached.
//! The board by rating differs: ratings may fall, so `rating` reads it from PostgreSQL.
//!
//! Bounds: a page has at most [`LIMIT_MAX`] ranks, among the first [`PLACES_MAX`]; days range from
//! the first projected one to today ([`Standings::has_day`]). An empty board is not stored in
//! Redis. A board is filled again after an hour, which repairs lost updates. A reversal by
//! operators corrects coins and not standings.

mod backfill;
mod check;
mod projection;
mod rating;
mod season;
mod settled_game;
mod statistics;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, OnceLock};

use bahay_api::player::leaderboards::LeaderboardRank;
use bahay_engine::catalog;
use bahay_engine::table::PlayerId;
use futures_util::TryStreamExt as _;
use jiff::civil::Date;
use jiff_sqlx::{Date as SqlDate, Timestamp as SqlTimestamp, ToSqlx as _};
use sqlx::PgPool;
use tokio::sync::Mutex;

use crate::clock::{self, Timestamp};
use crate::db;
use crate::live_store::{BoardRank, LiveStore, ReachedScore, Unavailable};
use crate::projections::{self, Projection};
use crate::records::{RecordError, Records};

pub use crate::live_store::BoardSection as Section;
pub use backfill::{StandingsBackfill, StandingsBatch};
pub use check::{StandingsCheck, check};
pub use season::{Calendar, ParseSeasonError, Season, Span};
pub use statistics::Statistics;

/// The maximum page size.
pub const LIMIT_MAX: u32 = 100;

/// The number of ranks that pages from the top can reach. Lower ranks are shown around their
/// players.
pub const PLACES_MAX: u32 = 10_000;

/// The number of scores raised per call.
const RAISED_AT_ONCE: usize = 1_000;

bahay_base::text_enum! {
    /// The subject of a competition.
    pub enum Board {
        /// The winnings of won games, in hundredths of a coin: after fees, with POTs.
        Coins = "coins",
        /// The number of POTs won.
        Hits = "hits",
    }
}

/// A request for a page of a board, and the player who makes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BoardPageQuery {
    pub section: Section,
    /// The page size, limited to [`LIMIT_MAX`].
    pub limit: u32,
    pub player: PlayerId,
}

/// A page of a board.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BoardPage {
    pub starts_on: Date,
    /// The number of players with a rank.
    pub total: u64,
    /// The rank of the requesting player.
    pub own: Option<LeaderboardRank>,
    pub places: Vec<LeaderboardRank>,
}

/// An error of reading or projecting standings.
#[derive(Debug, thiserror::Error)]
pub enum StandingsError {
    #[error(transparent)]
    Database(#[from] sqlx::Error),
    #[error(transparent)]
    LiveStore(#[from] Unavailable),
    #[error(transparent)]
    Records(#[from] RecordError),
    #[error("a settlement cannot be read: {0}")]
    Unreadable(String),
}

/// The standings. Clones share everything.
#[derive(Clone, Debug)]
pub struct Standings {
    inner: Arc<Inner>,
    records: Records,
}

#[derive(Debug)]
struct Inner {
    pool: PgPool,
    live: LiveStore,
    calendar: Calendar,
    /// The generation of the projected data; 0 while it is unknown.
    generation: AtomicI64,
    /// The lock under which boards are filled, so that concurrent requests do not fill the same
    /// board.
    filling: Mutex<()>,
    /// The first day with a score, once there is one.
    first_day: OnceLock<Date>,
}

/// The identity of a board of one span, as in Redis.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct BoardId {
    kind: String,
    board: Board,
    span: Span,
    starts_on: Date,
}

impl BoardId {
    fn key(&self, generation: i64) -> String {
        let Self { kind, board, span, starts_on } = self;
        format!("{generation}:{kind}:{}:{}:{starts_on}", board.as_str(), span.as_str())
    }
}

impl Standings {
    pub fn new(pool: PgPool, live: LiveStore, calendar: Calendar) -> Self {
        let generation = AtomicI64::new(0);
        let filling = Mutex::new(());
        let first_day = OnceLock::new();
        let inner = Arc::new(Inner { pool, live, calendar, generation, filling, first_day });
        Self { inner, records: Records::without_archive() }
    }

    /// Sets the access to archived records, for a recomputation.
    #[must_use]
    pub fn with_records(self, records: Records) -> Self {
        Self { records, ..self }
    }

    pub fn calendar(&self) -> &Calendar {
        &self.inner.calendar
    }

    /// Returns a player's statistics in games of a kind; all zero for an unknown kind.
    pub async fn statistics(
        &self,
        player: PlayerId,
        kind: &str,
    ) -> Result<Statistics, StandingsError> {
        Ok(db::retry(|| projection::statistics(&self.inner.pool, player, kind)).await?)
    }

    /// Returns a page of a kind's board, of the span that contains `day`.
    pub async fn board(
        &self,
        kind: &str,
        board: Board,
        span: Span,
        day: Date,
        query: BoardPageQuery,
    ) -> Result<BoardPage, StandingsError> {
        let starts_on = self.inner.calendar.start_of_day(span, day);
        let board_id = BoardId { kind: kind.to_owned(), board, span, starts_on };
        let BoardPageQuery { section, limit, player } = query;
        let limit = limit.clamp(1, LIMIT_MAX);
        let section = match section {
            Section::Top { offset } => Section::Top { offset: offset.min(PLACES_MAX) },
            Section::Around => Section::Around,
        };
        let key = board_id.key(self.generation().await?);
        let live = &self.inner.live;
        let page = match live.board_page(&key, section, limit, player).await? {
            Some(page) => page,
            None if !self.has_scores(&board_id).await? => {
                return Ok(BoardPage { starts_on, total: 0, own: None, places: Vec::new() });
            }
            None => {
                self.fill(&board_id, &key).await?;
                let missing =
                    || Unavailable::new("a board expired as soon as it was filled".into());
                live.board_page(&key, section, limit, player).await?.ok_or_else(missing)?
            }
        };
        self.resolve_names(starts_on, page.total, page.own, page.places).await
    }

    /// Adds the players' names to ranks.
    async fn resolve_names(
        &self,
        starts_on: Date,
        total: u64,
        own: Option<BoardRank>,
        places: Vec<BoardRank>,
    ) -> Result<BoardPage, StandingsError> {
        let mut names = self.read_names(places.iter().chain(&own)).await?;
        let mut ranked = |place: BoardRank| LeaderboardRank {
            rank: place.rank,
            player: place.player.0,
            name: names.entry(place.player).or_default().clone(),
            score: place.score,
        };
        Ok(BoardPage {
            starts_on,
            total,
            own: own.map(&mut ranked),
            places: places.into_iter().map(ranked).collect(),
        })
    }

    /// Returns the current day in the leaderboards' time zone.
    pub fn today(&self, now: Timestamp) -> Date {
        self.inner.calendar.start(Span::Day, now)
    }

    /// Returns whether a span that contains `day` can have scores: `day` is neither before the span
    /// of the first projected game nor after today.
    pub async fn has_day(
        &self,
        span: Span,
        day: Date,
        now: Timestamp,
    ) -> Result<bool, StandingsError> {
        let today = self.today(now);
        if day > today {
            return Ok(false);
        }
        let first = self.first_day().await?.unwrap_or(today);
        Ok(day >= self.inner.calendar.start_of_day(span, first))
    }

    /// Returns the first day with a score; every projected game gives its winner coins.
    async fn first_day(&self) -> Result<Option<Date>, sqlx::Error> {
        if let Some(first) = self.inner.first_day.get() {
            return Ok(Some(*first));
        }
        let kinds = catalog::kinds().into_iter().map(|kind| kind.name.to_owned());
        let kinds: Vec<String> = kinds.collect();
        let query = || {
            sqlx::query_scalar!(
                r#"
                select min(f.starts_on) as "first: SqlDate"
                from unnest($1::text[]) as k (kind)
                cross join lateral (
                    select s.starts_on
                    from board_scores s
                    where s.kind = k.kind and s.board = 'coins' and s.span = 'day'
                    order by s.starts_on
                    limit 1
                ) as f
                "#,
                &kinds
            )
            .fetch_one(&self.inner.pool)
        };
        let first = db::retry(query).await?.map(SqlDate::to_jiff);
        Ok(first.map(|first| *self.inner.first_day.get_or_init(|| first)))
    }

    /// Projects all sealed operations, and raises the scores in Redis.
    pub async fn catch_up(&self) -> Result<(), StandingsError> {
        projections::catch_up(self).await.map(|_| ())
    }

    /// Raises scores in Redis. A failure is repaired when the board is filled again.
    async fn raise(&self, key: &str, scores: &[ReachedScore]) {
        let live = &self.inner.live;
        for scores in scores.chunks(RAISED_AT_ONCE) {
            if let Err(error) = live.raise_scores(key, scores).await {
                tracing::warn!(board = key, %error, "a leaderboard in Redis was not updated");
            }
        }
    }

    /// Returns whether a board has any score.
    async fn has_scores(&self, board_id: &BoardId) -> Result<bool, sqlx::Error> {
        let starts_on = board_id.starts_on.to_sqlx();
        let query = || {
            sqlx::query_scalar!(
                r#"
                select exists (
                    select
                    from board_scores s
                    where s.kind = $1 and s.board = $2 and s.span = $3 and s.starts_on = $4
                ) as "exists!"
                "#,
                board_id.kind,
                board_id.board.as_str(),
                board_id.span.as_str(),
                starts_on as _
            )
            .fetch_one(&self.inner.pool)
        };
        db::retry(query).await
    }

    /// Fills a board in Redis. Scores that rise meanwhile are raised there by the projection, and
    /// this call only raises scores, so no update is lost.
    async fn fill(&self, board_id: &BoardId, key: &str) -> Result<(), StandingsError> {
        let _filling = self.inner.filling.lock().await;
        let live = &self.inner.live;
        if live.is_board_filled(key).await? {
            return Ok(());
        }
        let starts_on = board_id.starts_on.to_sqlx();
        let rows = sqlx::query!(
            r#"
            select s.player, s.score, s.reached_at as "reached_at: SqlTimestamp"
            from board_scores s
            where s.kind = $1 and s.board = $2 and s.span = $3 and s.starts_on = $4
            "#,
            board_id.kind,
            board_id.board.as_str(),
            board_id.span.as_str(),
            starts_on as _
        )
        .fetch(&self.inner.pool);
        let rows = rows.map_ok(|row| ReachedScore {
            player: PlayerId(row.player),
            score: row.score,
            reached_at: clock::from_jiff(row.reached_at.to_jiff()),
        });
        let mut chunks = rows.try_chunks(RAISED_AT_ONCE);
        while let Some(scores) = chunks.try_next().await.map_err(|error| error.1)? {
            live.raise_scores(key, &scores).await?;
        }
        live.mark_board_filled(key).await?;
        tracing::info!(board = key, "a leaderboard was filled");
        Ok(())
    }

    async fn generation(&self) -> Result<i64, sqlx::Error> {
        let generation = self.inner.generation.load(Ordering::Acquire);
        if generation > 0 {
            return Ok(generation);
        }
        let query = || async {
            let mut connection = self.inner.pool.acquire().await?;
            projections::read_position(&mut connection, Self::NAME).await
        };
        let generation = db::retry(query).await?.generation;
        self.inner.generation.store(generation, Ordering::Release);
        Ok(generation)
    }

    async fn read_names(
        &self,
        places: impl Iterator<Item = &BoardRank>,
    ) -> Result<BTreeMap<PlayerId, String>, sqlx::Error> {
        let players: Vec<_> = places.map(|place| place.player.0).collect();
        let query = || {
            sqlx::query!("select p.id, p.name from players p where p.id = any($1)", &players)
                .fetch_all(&self.inner.pool)
        };
        let rows = db::retry(query).await?;
        Ok(rows.into_iter().map(|row| (PlayerId(row.id), row.name)).collect())
    }
}
