//! How players stand: what each has done in all settled games of a kind, and leaderboards of each
//! kind by day, week, season and all time.
//!
//! PostgreSQL is the truth. `fold` follows the seals of the ledger some seconds behind, counts each
//! settled game once, and slows no settlement; `update` is the counting itself, `check` counts
//! everything anew and compares. Boards are read from Redis: a board that is not there, because
//! Redis was emptied or nobody has asked for it lately, is filled from PostgreSQL by whoever asks.
//!
//! Scores only grow, so a board is brought up to date by raising scores, in whatever order. Equal
//! scores have one rank, as in competitions (1, 2, 2, 4), and stand in the order in which they were
//! reached. The board by rating is another thing: ratings may fall, so `rating` reads it as it is.
//!
//! Bounds: a page of [`LIMIT_MAX`] places, among the first [`PLACES_MAX`]; the days from the first that was
//! counted to today ([`Standings::has_day`]); an empty board is not put into Redis; a board is filled again after an hour, which puts right
//! whatever was lost meanwhile. A reversal by operators corrects coins and not what was played.

mod backfill;
mod check;
mod settled_game;
mod projection;
mod rating;
mod season;
mod statistics;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use bahay_engine::catalog;
use bahay_engine::table::PlayerId;
use futures_util::TryStreamExt as _;
use jiff::civil::Date;
use jiff_sqlx::{Date as SqlDate, Timestamp as SqlTimestamp, ToSqlx as _};
use sqlx::PgPool;
use tokio::sync::{Mutex, watch};
use tokio::time::{MissedTickBehavior, interval};

use crate::clock::{self, Timestamp};
use crate::db;
use crate::live_store::{LiveStore, BoardRank, BoardSection, ReachedScore, Unavailable};
use crate::records::{RecordError, Records};

pub use backfill::{StandingsBackfill, StandingsBatch};
pub use check::{StandingsCheck, check};
pub use season::{Calendar, ParseSeasonError, ParseZoneError, Season, Span, Zone};
pub use statistics::Statistics;

use projection::ProjectionStep;
use statistics::{Score, ScoreKey};

/// The most places that one page shows.
pub const LIMIT_MAX: u32 = 100;

/// The places of a board that pages from the top reach; others are found around their players.
pub const PLACES_MAX: u32 = 10_000;

/// How often it is looked whether the ledger has sealed something.
const LOOK: Duration = Duration::from_secs(1);

/// Scores that are raised in one call.
const RAISED_AT_ONCE: usize = 1_000;

/// What players compete in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Board {
    /// What won games have brought, in hundredths of a coin: fees taken off, POTs in it.
    Coins,
    /// How often the POT was taken.
    Hits,
}

impl Board {
    pub const ALL: [Self; 2] = [Self::Coins, Self::Hits];

    /// As in paths and in the column `board`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Coins => "coins",
            Self::Hits => "hits",
        }
    }
}

/// Which places of a board to show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Section {
    /// From the first place on, after so many.
    Top { offset: u32 },
    /// Around a player; nothing when the player has no place.
    Around,
}

/// What of a board is asked for, and by whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BoardPageQuery {
    pub section: Section,
    /// Places at most, of which there are [`LIMIT_MAX`] at most.
    pub limit: u32,
    pub player: PlayerId,
}

/// Part of a board.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BoardPage {
    pub starts_on: Date,
    /// How many players have a place.
    pub total: u64,
    /// The place of the player who asks.
    pub own: Option<RankedPlayer>,
    pub places: Vec<RankedPlayer>,
}

/// A player's place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RankedPlayer {
    /// From 1; that of the best of equal scores for all of them.
    pub rank: u64,
    pub player: PlayerId,
    pub name: String,
    pub score: i64,
}

/// Why standings cannot be read or counted.
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

/// How players stand; clones share everything.
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
    /// Of what is counted; 0 while it is not known.
    generation: AtomicI64,
    /// Boards are filled one at a time, so that many who ask do not all fill the same one.
    filling: Mutex<()>,
    /// The first day that has a score, once there is one.
    first_day: OnceLock<Date>,
}

/// A board of one span, as Redis has it.
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
        let (generation, filling) = (AtomicI64::new(0), Mutex::new(()));
        let first_day = OnceLock::new();
        let inner = Arc::new(Inner { pool, live, calendar, generation, filling, first_day });
        Self { inner, records: Records::without_archive() }
    }

    /// With where old records are, for when all is counted anew.
    #[must_use]
    pub fn with_records(self, records: Records) -> Self {
        Self { records, ..self }
    }

    pub fn calendar(&self) -> &Calendar {
        &self.inner.calendar
    }

    /// What a player has done in games of a kind; nothing yet for one that nobody knows.
    pub async fn statistics(
        &self,
        player: PlayerId,
        kind: &str,
    ) -> Result<Statistics, StandingsError> {
        Ok(db::retry(|| projection::statistics(&self.inner.pool, player, kind)).await?)
    }

    /// Part of a kind's board of the span that holds this day.
    pub async fn board(
        &self,
        kind: &str,
        board: Board,
        span: Span,
        day: Date,
        asked: BoardPageQuery,
    ) -> Result<BoardPage, StandingsError> {
        let starts_on = self.inner.calendar.start_of_day(span, day);
        let of = BoardId { kind: kind.to_owned(), board, span, starts_on };
        let BoardPageQuery { section, limit, player } = asked;
        let limit = limit.clamp(1, LIMIT_MAX);
        let asked = match section {
            Section::Top { offset } => BoardSection::Top { offset: offset.min(PLACES_MAX) },
            Section::Around => BoardSection::Around,
        };
        let key = of.key(self.generation().await?);
        let live = &self.inner.live;
        let found = match live.board_page(&key, asked, limit, player).await? {
            Some(found) => found,
            None if !self.has_scores(&of).await? => {
                return Ok(BoardPage { starts_on, total: 0, own: None, places: Vec::new() });
            }
            None => {
                self.fill(&of, &key).await?;
                let missing = || Unavailable::new("a board went as soon as it was filled".into());
                live.board_page(&key, asked, limit, player).await?.ok_or_else(missing)?
            }
        };
        self.resolve_names(starts_on, found.total, found.own, found.places).await
    }

    /// Places with the names of their players.
    async fn resolve_names(
        &self,
        starts_on: Date,
        total: u64,
        own: Option<BoardRank>,
        places: Vec<BoardRank>,
    ) -> Result<BoardPage, StandingsError> {
        let mut names = self.read_names(places.iter().chain(&own)).await?;
        let mut ranked = |place: BoardRank| RankedPlayer {
            rank: place.rank,
            player: place.player,
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

    /// The day that it is in the leaderboards' zone.
    pub fn today(&self, now: Timestamp) -> Date {
        self.inner.calendar.start(Span::Day, now)
    }

    /// Returns whether a span that holds this day can have scores: not before the first game that was
    /// counted, and not after today.
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

    /// The first day that has a score; every game that counts gives its winner coins.
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

    /// Counts whatever is sealed, until the server stops.
    pub async fn run(self, mut stopping: watch::Receiver<bool>) {
        let mut looks = interval(LOOK);
        looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                // Without its sender the server has stopped as well.
                _ = stopping.wait_for(|stop| *stop) => return,
                _ = looks.tick() => {}
            }
            let counted = tokio::select! {
                // A transaction that breaks off counts nothing.
                _ = stopping.wait_for(|stop| *stop) => return,
                counted = self.catch_up() => counted,
            };
            if let Err(error) = counted {
                tracing::warn!(%error, "standings are late");
            }
        }
    }

    /// Counts everything that is sealed, and raises the scores in Redis.
    pub async fn catch_up(&self) -> Result<(), StandingsError> {
        loop {
            match projection::project_next_seal(&self.inner.pool, &self.records, &self.inner.calendar).await? {
                ProjectionStep::Busy => return Ok(()),
                ProjectionStep::UpToDate { generation } => {
                    self.inner.generation.store(generation, Ordering::Release);
                    return Ok(());
                }
                ProjectionStep::Applied { generation, scores } => {
                    self.inner.generation.store(generation, Ordering::Release);
                    let mut boards = BTreeMap::<_, Vec<_>>::new();
                    for (ScoreKey { kind, board, span, starts_on, player }, score) in scores {
                        let of = BoardId { kind, board, span, starts_on };
                        let Score { points: score, reached_at } = score;
                        boards.entry(of).or_default().push(ReachedScore { player, score, reached_at });
                    }
                    for (of, scores) in boards {
                        self.raise(&of.key(generation), &scores).await;
                    }
                }
            }
        }
    }

    /// What cannot be raised is put right when the board is filled again.
    async fn raise(&self, key: &str, scores: &[ReachedScore]) {
        let live = &self.inner.live;
        for scores in scores.chunks(RAISED_AT_ONCE) {
            if let Err(error) = live.raise_scores(key, scores).await {
                tracing::warn!(board = key, %error, "a leaderboard in Redis is late");
            }
        }
    }

    /// Returns whether anybody has a place on a board.
    async fn has_scores(&self, of: &BoardId) -> Result<bool, sqlx::Error> {
        let starts_on = of.starts_on.to_sqlx();
        let query = || {
            sqlx::query_scalar!(
                r#"
                select exists (
                    select
                    from board_scores s
                    where s.kind = $1 and s.board = $2 and s.span = $3 and s.starts_on = $4
                ) as "exists!"
                "#,
                of.kind,
                of.board.as_str(),
                of.span.as_str(),
                starts_on as _
            )
            .fetch_one(&self.inner.pool)
        };
        db::retry(query).await
    }

    /// Puts a whole board into Redis. Scores that rise meanwhile are raised there by whoever counts
    /// them, so what is read here never takes anything back.
    async fn fill(&self, of: &BoardId, key: &str) -> Result<(), StandingsError> {
        let _filling = self.inner.filling.lock().await;
        let live = &self.inner.live;
        if live.is_board_filled(key).await? {
            return Ok(());
        }
        let starts_on = of.starts_on.to_sqlx();
        let rows = sqlx::query!(
            r#"
            select s.player, s.score, s.reached_at as "reached_at: SqlTimestamp"
            from board_scores s
            where s.kind = $1 and s.board = $2 and s.span = $3 and s.starts_on = $4
            "#,
            of.kind,
            of.board.as_str(),
            of.span.as_str(),
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
        let known = self.inner.generation.load(Ordering::Acquire);
        if known > 0 {
            return Ok(known);
        }
        let progress = db::retry(|| projection::read_position(&self.inner.pool)).await?;
        let generation = progress.map_or(0, |progress| progress.generation);
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
