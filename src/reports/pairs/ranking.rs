//! Pairs of players, ranked by signs of collusion over a period of days. `signs` has the
//! function that scores a pair, `projection` the figures by day. Signs are indications and no
//! proof: friends meet, and families share a phone.
//!
//! A projection maintains the figures, because the payments between two players are in the
//! settlements of their games: a query would parse those of every game of the period for each page.
//! The rows of the period's days are summed up instead, found by the primary keys of `pair_days` and
//! `player_days` however long the history is. Pairs with few games together are left out before
//! anything else is read of them, and at most [`CANDIDATES_MAX`] pairs are scored, those with the
//! most games together. Devices and addresses are those of the sessions at the time of the query,
//! since sessions expire.
//!
//! `retention` removes the games of pairs after 184 days. Those of players are kept permanently.

use std::time::Duration;

use bahay_api::Coins;
use bahay_api::operator::collusion::{
    PairGame, PairReport, PairReview, PairSign, PairSignKind, PairState, ScoredPair,
};
use bahay_api::operator::players::{PlayerMatch, SharedSignal};
use bahay_engine::coins;
use jiff::tz::TimeZone;
use jiff_sqlx::{Timestamp as SqlTimestamp, ToSqlx as _};
use sqlx::PgPool;
use uuid::Uuid;

use crate::clock::{self, Timestamp};
use crate::db::{self, Page};
use crate::projections;
use crate::reports::booked::Interval;
use crate::reports::days::{PeriodDays, add_days, day_of};
use crate::reports::pairs::signs::{GAMES_MIN, PairEvidence, PairPoints};
use crate::reports::pairs::suspected::SuspectedPairs;
use crate::reports::{PAGE_MAX, ReportError, Reports, from_sql, to_sql};

/// The number of days of a period without bounds.
const DAYS_DEFAULT: i64 = 7;

/// The maximum number of days of a period.
pub const PAIR_DAYS_MAX: i64 = 92;

/// The maximum number of pairs that are scored.
const CANDIDATES_MAX: i64 = 20_000;

/// The parts of a hundredth of a coin in which net transfers are compared with their deviations, whose
/// roots are rounded.
const PRECISION: i64 = 1_000;

/// The maximum number of games of a pair that are listed.
const PAIR_GAMES_MAX: i64 = 100;

/// The place of a pair in the ranking: its score, and its players.
pub type PairPosition = (i64, Uuid, Uuid);

/// The ranking of pairs. Clones share the pool.
#[derive(Clone, Debug)]
pub struct Pairs {
    pub(super) pool: PgPool,
    /// The house's zone, whose days the rows have.
    zone: TimeZone,
    /// The score from which a pair is an alert.
    alert_score: i64,
    suspected: SuspectedPairs,
}

impl Pairs {
    /// Creates the ranking with the connections of `reports`.
    pub fn new(reports: &Reports, zone: &TimeZone, alert_score: i64) -> Self {
        let pool = reports.pool.clone();
        Self { pool, zone: zone.clone(), alert_score, suspected: SuspectedPairs::default() }
    }

    /// Returns the score from which a pair is an alert.
    pub fn alert_score(&self) -> i64 {
        self.alert_score
    }

    /// Projects all sealed games.
    pub async fn catch_up(&self) -> Result<(), ReportError> {
        projections::catch_up(self).await.map(|_| ())
    }

    pub(super) fn zone_name(&self) -> &str {
        self.zone.iana_name().unwrap_or("UTC")
    }

    /// Returns the days of a period that ends before `to`. Without `from` it has seven days.
    pub fn days(&self, from: Option<Timestamp>, to: Timestamp) -> PeriodDays {
        let day = |at| day_of(at, &self.zone);
        let last = day(clock::subtract(to, Duration::from_millis(1)));
        let default = add_days(last, 1 - DAYS_DEFAULT);
        PeriodDays { first: from.map_or(default, day), last }
    }

    /// Returns a page of the pairs with at least one point, highest score first.
    pub async fn list(
        &self,
        days: PeriodDays,
        state: Option<PairState>,
        below: Option<PairPosition>,
        limit: u32,
    ) -> Result<Page<ScoredPair, PairPosition>, ReportError> {
        let limit = limit.clamp(1, PAGE_MAX);
        let mut pairs = self.read_pairs(days, None).await?;
        pairs.retain(|pair| {
            let is_below = below.is_none_or(|below| rank(position(pair)) > rank(below));
            pair.score > 0 && state.is_none_or(|state| state == pair.state) && is_below
        });
        pairs.sort_by_key(|pair| rank(position(pair)));
        pairs.truncate(limit as usize + 1);
        Ok(Page::from_rows(pairs, limit, position))
    }

    /// Returns a pair in the period, or `None` if the players have not played together in it.
    pub async fn find(
        &self,
        days: PeriodDays,
        players: [Uuid; 2],
    ) -> Result<Option<ScoredPair>, ReportError> {
        Ok(self.read_pairs(days, Some(players)).await?.pop())
    }

    /// Returns a pair with its newest games in the period.
    pub async fn report(
        &self,
        days: PeriodDays,
        players: [Uuid; 2],
    ) -> Result<Option<PairReport>, ReportError> {
        let Some(pair) = self.find(days, players).await? else {
            return Ok(None);
        };
        let games = self.read_games(days, [pair.first.id, pair.second.id]).await?;
        Ok(Some(PairReport { pair, games }))
    }

    /// Returns the number of open pairs of the last seven days with at least the alert score, at most a
    /// minute old unless counting takes longer than a second. Returns `None` if they could not be
    /// counted.
    pub async fn count_suspected(&self, now: Timestamp) -> Option<i64> {
        let count = || {
            let pairs = self.clone();
            async move { pairs.count_suspected_now(now).await }
        };
        self.suspected.read(count).await
    }

    async fn count_suspected_now(&self, now: Timestamp) -> Result<i64, ReportError> {
        let pairs = self.read_pairs(self.days(None, now), None).await?;
        let is_suspected =
            |pair: &&ScoredPair| pair.state == PairState::Open && pair.score >= self.alert_score;
        let count = pairs.iter().filter(is_suspected).count();
        Ok(i64::try_from(count).unwrap_or(i64::MAX))
    }

    /// Lets the next request count the suspected pairs again, after a review.
    pub fn forget_count(&self) {
        self.suspected.forget();
    }

    /// Reads the figures of a period and scores them: of one pair, or of all pairs with enough games
    /// together.
    async fn read_pairs(
        &self,
        days: PeriodDays,
        only: Option<[Uuid; 2]>,
    ) -> Result<Vec<ScoredPair>, ReportError> {
        let only = only.map(|[one, other]| [one.min(other), one.max(other)]);
        let games_min = if only.is_some() { 1 } else { GAMES_MIN };
        let once = || {
            sqlx::query_as!(
                PairRow,
                r#"
                with pairs as materialized (
                    select d.first, d.second, sum(d.games)::bigint as games,
                        sum(d.paid)::bigint as paid, sum(d.received)::bigint as received,
                        sum(d.games_paid)::bigint as games_paid,
                        sum(d.games_received)::bigint as games_received,
                        trunc($7::bigint * sqrt(sum(d.squares)))::bigint as deviation
                    from pair_days d
                    where d.day between $1 and $2
                        and ($3::uuid is null or (d.first = $3 and d.second = $4))
                    group by d.first, d.second
                    having sum(d.games) >= $5::bigint
                    order by sum(d.games) desc, d.first, d.second
                    limit $6
                ),
                members as materialized (
                    select p.first as player from pairs p
                    union
                    select p.second from pairs p
                ),
                played as materialized (
                    select d.player, sum(d.games)::bigint as games
                    from player_days d
                    join members m on m.player = d.player
                    where d.day between $1 and $2
                    group by d.player
                ),
                sources as materialized (
                    select distinct s.player, s.device, s.network
                    from members m
                    join sessions s on s.player = m.player
                ),
                shared as materialized (
                    select p.first, p.second, bool_or(a.device is not null and a.device = b.device)
                        as is_device
                    from pairs p
                    join sources a on a.player = p.first
                    join sources b on b.player = p.second
                    where a.device = b.device or a.network = b.network
                    group by p.first, p.second
                )
                select p.first as "first!", p.second as "second!", f.name as first_name,
                    s.name as second_name, p.games as "games!",
                    least(o.games, t.games) as "of!", p.paid as "paid!",
                    p.received as "received!", p.games_paid as "games_paid!",
                    p.games_received as "games_received!", p.deviation as "deviation!",
                    h.is_device as "is_device?", r.score as "review_score?",
                    r.reason as "review_reason?", w.name as "reviewed_by?",
                    r.reviewed_at as "reviewed_at?: SqlTimestamp"
                from pairs p
                join players f on f.id = p.first
                join players s on s.id = p.second
                join played o on o.player = p.first
                join played t on t.player = p.second
                left join shared h on h.first = p.first and h.second = p.second
                left join pair_reviews r on r.first = p.first and r.second = p.second
                left join operators w on w.id = r.reviewed_by
                "#,
                days.first.to_sqlx() as _,
                days.last.to_sqlx() as _,
                only.map(|[first, _]| first),
                only.map(|[_, second]| second),
                games_min,
                CANDIDATES_MAX,
                PRECISION
            )
            .fetch_all(&self.pool)
        };
        Ok(db::retry(once).await?.into_iter().map(ScoredPair::from).collect())
    }

    /// Reads the newest games of a pair in the period. Only the first player's games in the period
    /// are searched.
    async fn read_games(
        &self,
        days: PeriodDays,
        [first, second]: [Uuid; 2],
    ) -> Result<Vec<PairGame>, ReportError> {
        let Interval { from, to } = days.interval(&self.zone);
        let once = || {
            sqlx::query!(
                r#"
                select v.game as "game!", g.room, v.finished_at as "finished_at!: SqlTimestamp",
                    v.paid as "paid!", v.received as "received!",
                    exists (
                        select from settlements s
                        where s.game = v.game and s.reversed_at is not null
                    ) as "is_reversed!"
                from (
                    select o.game, o.finished_at
                    from game_players o
                    join game_players p on p.game = o.game and p.player = $2
                    where o.player = $1 and o.finished_at >= $3 and o.finished_at < $4
                    order by o.finished_at desc, o.game desc
                    limit $5
                ) n
                join pair_payments v on v.game = n.game and v.first = $1 and v.second = $2
                join games g on g.id = v.game
                order by v.finished_at desc, v.game desc
                "#,
                first,
                second,
                to_sql(from) as _,
                to_sql(to) as _,
                PAIR_GAMES_MAX
            )
            .fetch_all(&self.pool)
        };
        let rows = db::retry(once).await?.into_iter().map(|row| PairGame {
            game: row.game,
            room: row.room,
            finished_at: from_sql(row.finished_at).into(),
            paid: Coins::from_hundredths(row.paid),
            received: Coins::from_hundredths(row.received),
            is_reversed: row.is_reversed,
        });
        Ok(rows.collect())
    }
}

/// The figures of a pair in a period.
struct PairRow {
    first: Uuid,
    second: Uuid,
    first_name: String,
    second_name: String,
    games: i64,
    of: i64,
    paid: i64,
    received: i64,
    games_paid: i64,
    games_received: i64,
    /// In thousandths of a hundredth of a coin.
    deviation: i64,
    is_device: Option<bool>,
    review_score: Option<i64>,
    review_reason: Option<String>,
    reviewed_by: Option<String>,
    reviewed_at: Option<SqlTimestamp>,
}

impl PairRow {
    fn evidence(&self) -> PairEvidence {
        let shared = self.is_device.map(|is_device| match is_device {
            true => SharedSignal::Device,
            false => SharedSignal::Address,
        });
        let &Self { games, of, deviation, .. } = self;
        let net_transfer = self.net_transfer().saturating_mul(PRECISION);
        PairEvidence { games, of, net_transfer, deviation, shared }
    }

    /// Returns the coins that the first paid the second less those that it received, in hundredths.
    fn net_transfer(&self) -> i64 {
        self.paid - self.received
    }

    /// Returns the signs with at least one point, each in words.
    fn signs(&self, evidence: &PairEvidence) -> Vec<PairSign> {
        let PairPoints { together, net_transfer, shared } = evidence.points();
        let names = match self.net_transfer() < 0 {
            true => [&self.second_name, &self.first_name],
            false => [&self.first_name, &self.second_name],
        };
        let net = coins::Coins::from_hundredths(self.net_transfer().saturating_abs());
        let tenths = evidence.deviations() / 100;
        let source = match evidence.shared {
            Some(SharedSignal::Device) => "same device".to_owned(),
            Some(SharedSignal::Address) => "same address".to_owned(),
            None => String::new(),
        };
        let signs = [
            (
                PairSignKind::Together,
                together,
                format!("{} of {} games together", self.games, self.of),
            ),
            (
                PairSignKind::NetTransfer,
                net_transfer,
                format!(
                    "{net} coins net from {} to {}, {}.{} times the deviation by chance",
                    names[0],
                    names[1],
                    tenths / 10,
                    tenths % 10
                ),
            ),
            (PairSignKind::Source, shared, source),
        ];
        let signs = signs.into_iter().filter(|(_, points, _)| *points > 0);
        signs.map(|(kind, points, words)| PairSign { kind, points, words }).collect()
    }
}

impl From<PairRow> for ScoredPair {
    fn from(row: PairRow) -> Self {
        let evidence = row.evidence();
        let score = evidence.score();
        let signs = row.signs(&evidence);
        let review = match (row.reviewed_at, row.reviewed_by, row.review_reason, row.review_score) {
            (Some(at), Some(reviewed_by), Some(reason), Some(score)) => {
                Some(PairReview { reviewed_at: from_sql(at).into(), reviewed_by, reason, score })
            }
            _ => None,
        };
        let is_reviewed = review.as_ref().is_some_and(|review| review.score >= score);
        Self {
            first: PlayerMatch { id: row.first, name: row.first_name },
            second: PlayerMatch { id: row.second, name: row.second_name },
            score,
            signs,
            games: row.games,
            of: row.of,
            paid: Coins::from_hundredths(row.paid),
            games_paid: row.games_paid,
            received: Coins::from_hundredths(row.received),
            games_received: row.games_received,
            net_transfer_thousandths: evidence.deviations(),
            shared: evidence.shared,
            state: if is_reviewed { PairState::Reviewed } else { PairState::Open },
            review,
        }
    }
}

fn position(pair: &ScoredPair) -> PairPosition {
    (pair.score, pair.first.id, pair.second.id)
}

/// Returns a key that sorts the highest score first.
fn rank((score, first, second): PairPosition) -> (std::cmp::Reverse<i64>, Uuid, Uuid) {
    (std::cmp::Reverse(score), first, second)
}
