//! Rewards: grants for a return on another day, and relief grants for a wallet that has run nearly
//! empty.
//!
//! A day is a day of the player's own calendar. A player's rewards are one row, which every claim
//! locks first, so claims of one player are serialized across all nodes. The coins are granted in
//! the transaction that changes the row, under idempotency keys with player and day. `daily` and
//! `relief` decide without I/O, `store` reads and writes the row, `calendar` computes days.
//!
//! A claim has an *attempt*, the id of its call. If the answer to a commit is lost and the call is
//! retried, the attempt distinguishes its own claim from another one.
//!
//! Bounds: one daily reward per day and [`ReliefTerms::per_day`] reliefs per day. Changes of the
//! time zone gain at most one day, since a day never precedes the last claimed one.

mod calendar;
mod daily;
mod relief;
mod store;

use bahay_engine::coins::Coins;
use sqlx::{PgConnection, PgPool};
use thiserror::Error;
use uuid::Uuid;

use crate::clock::{Clock, Timestamp};
use crate::db;
use crate::grant_limits::{self, GrantLimits, GrantRecipient, LimitedGrant};
use crate::ids::PlayerId;
use crate::ledger::{Grant, GrantCoins, Ledger, LedgerError, Wallet};

pub use calendar::{Calendar, ParseTimeZoneError};
pub use daily::{STREAK_DAYS, amount as daily_amount};

use store::RewardsRow;

/// The default welcome grant.
pub const WELCOME: Coins = Coins::from_hundredths(1_000 * 100);

/// The terms of rewards.
#[derive(Clone, Debug)]
pub struct Terms {
    /// The rewards by day of the streak; above zero.
    pub daily: [Coins; STREAK_DAYS],
    pub relief: ReliefTerms,
    /// The calendar of players without a time zone.
    pub calendar: Calendar,
}

#[derive(Clone, Copy, Debug)]
pub struct ReliefTerms {
    /// The limit of available and held coins; a player with fewer coins gets relief.
    pub floor: Coins,
    /// The amount of one relief; above zero.
    pub amount: Coins,
    /// The number of reliefs per day; 0 disables relief.
    pub per_day: u8,
}

impl Default for Terms {
    /// Returns the default terms in whole coins: daily rewards of 100, 150, 200, 250, 300, 400 and
    /// 1000; and a relief of 100 below 50, three times a day.
    fn default() -> Self {
        let whole = |coins: i64| Coins::from_hundredths(coins * 100);
        Self {
            daily: [100, 150, 200, 250, 300, 400, 1_000].map(whole),
            relief: ReliefTerms { floor: whole(50), amount: whole(100), per_day: 3 },
            calendar: Calendar::utc(),
        }
    }
}

/// The rewards of all players. Clones share everything.
#[derive(Clone, Debug)]
pub struct Rewards {
    pool: PgPool,
    ledger: Ledger,
    clock: Clock,
    terms: Terms,
    limits: GrantLimits,
}

/// The rewards that a player can claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RewardStatus {
    pub daily: DailyReward,
    pub relief: ReliefStatus,
}

/// The next claim of the daily reward.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DailyReward {
    pub is_claimable: bool,
    /// The time from which it can be claimed.
    pub claimable_at: Timestamp,
    /// The day of the streak, from 1 to [`STREAK_DAYS`], if it is claimed on its day.
    pub streak_day: u8,
    pub amount: Coins,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReliefStatus {
    pub is_claimable: bool,
    pub floor: Coins,
    pub amount: Coins,
    pub left_today: u8,
}

/// A claimed daily reward.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DailyClaim {
    pub amount: Coins,
    pub streak_day: u8,
    /// The balance of the wallet after the grant.
    pub wallet: Coins,
    /// The claim after this one.
    pub next: DailyReward,
}

/// A claimed relief.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReliefClaim {
    pub amount: Coins,
    /// The balance of the wallet after the grant.
    pub wallet: Coins,
    pub left_today: u8,
}

/// A refused claim.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum RewardError {
    #[error("today's reward was claimed; the next is due at {}", crate::clock::to_jiff(*.next_at))]
    DailyClaimed { next_at: Timestamp },
    #[error("{has} is not less than {floor}, stakes included")]
    ReliefNotDue { has: Coins, floor: Coins },
    #[error(
        "today's reliefs were used; the next one is possible at {}",
        crate::clock::to_jiff(*.next_at)
    )]
    ReliefUsedUp { next_at: Timestamp },
    #[error(
        "your network has used its reliefs of the day; the next one is possible at {}",
        crate::clock::to_jiff(*.next_at)
    )]
    NetworkUsedUp { next_at: Timestamp },
    /// The player's welcome grant is still due and comes first.
    #[error(
        "your network had used its welcome grants of the day when you came: sign in again from {} on, \
         or link an identity",
        crate::clock::to_jiff(*.next_at)
    )]
    WelcomeDue { next_at: Timestamp },
    /// A retry of the same call may succeed.
    #[error("rewards are unavailable: {reason}")]
    Unavailable { reason: String },
    /// A bug.
    #[error("rewards are broken: {reason}")]
    Broken { reason: String },
}

crate::db::unavailable_or_broken!(RewardError);

crate::db::unavailable_or_broken!(RewardError, LedgerError);

/// The result of one attempt: an outer error may be retried, an inner one is final.
type AttemptResult<T> = Result<Result<T, RewardError>, sqlx::Error>;

impl Rewards {
    pub fn new(pool: PgPool, ledger: Ledger, clock: Clock, terms: Terms) -> Self {
        Self { pool, ledger, clock, terms, limits: GrantLimits::default() }
    }

    /// Sets the limits of grants per network.
    #[must_use]
    pub fn with_limits(self, limits: GrantLimits) -> Self {
        Self { limits, ..self }
    }

    /// Returns the rewards that a player can claim now.
    pub async fn status(&self, player: PlayerId) -> Result<RewardStatus, RewardError> {
        let row = db::retry(|| store::read_row(&self.pool, player)).await?;
        let wallet = self.ledger.wallet(player).await?;
        let now = self.clock.now();
        let calendar = self.calendar(&row);
        let relief = self.terms.relief;
        let left_today = relief::remaining(&row, calendar.day(now), relief.per_day);
        Ok(RewardStatus {
            daily: self.next_daily(&row, &calendar, now),
            relief: ReliefStatus {
                is_claimable: left_today > 0 && total_coins(wallet)? < relief.floor,
                floor: relief.floor,
                amount: relief.amount,
                left_today,
            },
        })
    }

    /// Grants the daily reward, once per day.
    ///
    /// # Errors
    /// [`RewardError::WelcomeDue`] takes precedence over [`RewardError::DailyClaimed`]; or the
    /// database is unavailable.
    pub async fn claim_daily(
        &self,
        player: PlayerId,
        attempt: Uuid,
    ) -> Result<DailyClaim, RewardError> {
        db::retry(|| self.claim_daily_once(player, attempt)).await?
    }

    async fn claim_daily_once(&self, player: PlayerId, attempt: Uuid) -> AttemptResult<DailyClaim> {
        let mut tx = db::begin(&self.pool).await?;
        let mut row = store::lock_row(&mut tx, player).await?;
        let now = self.clock.now();
        let calendar = self.calendar(&row);
        if row.daily_attempt != Some(attempt) {
            if row.welcome_due {
                let next_at = grant_limits::next_day(now);
                return Ok(Err(RewardError::WelcomeDue { next_at }));
            }
            let due = daily::next_claim(&row, &calendar, now, &self.terms.daily);
            if !due.is_claimable {
                return Ok(Err(RewardError::DailyClaimed { next_at: due.claimable_at }));
            }
            row.daily_date = Some(calendar.day(now));
            row.streak = due.streak_day;
            row.daily_attempt = Some(attempt);
            store::write_row(&mut tx, player, &row).await?;
        }
        let (Some(date), streak_day) = (row.daily_date, row.streak) else {
            return Ok(Err(RewardError::Broken { reason: "a claim without its day".into() }));
        };
        let amount = daily::amount(streak_day, &self.terms.daily);
        let key = format!("{player}:{date}");
        let wallet = match self.grant(&mut tx, player, Grant::Daily, key, amount).await {
            Ok(wallet) => wallet,
            Err(error) => return Ok(Err(error)),
        };
        tx.commit().await?;
        let next = daily::next_claim(&row, &calendar, now, &self.terms.daily);
        Ok(Ok(DailyClaim { amount, streak_day, wallet, next }))
    }

    /// Grants relief to a player with fewer coins than the floor.
    ///
    /// # Errors
    /// The order of precedence is [`RewardError::ReliefNotDue`], [`RewardError::ReliefUsedUp`],
    /// [`RewardError::NetworkUsedUp`]; or the database is unavailable.
    pub async fn claim_relief(
        &self,
        player: PlayerId,
        network: Option<&str>,
        attempt: Uuid,
    ) -> Result<ReliefClaim, RewardError> {
        db::retry(|| self.claim_relief_once(player, network, attempt)).await?
    }

    async fn claim_relief_once(
        &self,
        player: PlayerId,
        network: Option<&str>,
        attempt: Uuid,
    ) -> AttemptResult<ReliefClaim> {
        let terms = self.terms.relief;
        let mut tx = db::begin(&self.pool).await?;
        let mut row = store::lock_row(&mut tx, player).await?;
        let now = self.clock.now();
        let calendar = self.calendar(&row);
        if row.relief_attempt != Some(attempt) {
            let wallet = self.ledger.wallet_in_tx(&mut tx, player).await;
            let has = match wallet.map_err(RewardError::from).and_then(total_coins) {
                Ok(has) => has,
                Err(error) => return Ok(Err(error)),
            };
            if has >= terms.floor {
                return Ok(Err(RewardError::ReliefNotDue { has, floor: terms.floor }));
            }
            let day = relief::relief_day(&row, calendar.day(now));
            if relief::remaining(&row, day, terms.per_day) == 0 {
                let next_at = calendar.start_of(calendar::next_day(day));
                return Ok(Err(RewardError::ReliefUsedUp { next_at }));
            }
            let recipient = network.map_or(GrantRecipient::Unknown, GrantRecipient::Network);
            if !self.limits.count_in_tx(&mut tx, LimitedGrant::Relief, recipient, now).await? {
                let next_at = grant_limits::next_day(now);
                return Ok(Err(RewardError::NetworkUsedUp { next_at }));
            }
            row.relief_count = relief::given_on(&row, day).saturating_add(1);
            row.relief_date = Some(day);
            row.relief_attempt = Some(attempt);
            store::write_row(&mut tx, player, &row).await?;
        }
        let (Some(date), number) = (row.relief_date, row.relief_count) else {
            return Ok(Err(RewardError::Broken { reason: "a relief without its day".into() }));
        };
        let key = format!("{player}:{date}:{number}");
        let granted = self.grant(&mut tx, player, Grant::Relief, key, terms.amount).await;
        let wallet = match granted {
            Ok(wallet) => wallet,
            Err(error) => return Ok(Err(error)),
        };
        tx.commit().await?;
        let left_today = terms.per_day.saturating_sub(number);
        Ok(Ok(ReliefClaim { amount: terms.amount, wallet, left_today }))
    }

    async fn grant(
        &self,
        connection: &mut PgConnection,
        player: PlayerId,
        grant: Grant,
        key: String,
        amount: Coins,
    ) -> Result<Coins, RewardError> {
        let input = GrantCoins { player, grant, key, amount };
        Ok(self.ledger.grant_in_tx(connection, input).await?.wallet)
    }

    /// Returns the next daily claim, which is not claimable as long as the welcome grant is due.
    fn next_daily(&self, row: &RewardsRow, calendar: &Calendar, now: Timestamp) -> DailyReward {
        let next = daily::next_claim(row, calendar, now, &self.terms.daily);
        if !row.welcome_due {
            return next;
        }
        DailyReward { is_claimable: false, claimable_at: grant_limits::next_day(now), ..next }
    }

    fn calendar(&self, row: &RewardsRow) -> Calendar {
        let own = row.time_zone.as_deref().and_then(|zone| zone.parse().ok());
        own.unwrap_or_else(|| self.terms.calendar.clone())
    }
}

/// Returns the available and held coins together.
fn total_coins(wallet: Wallet) -> Result<Coins, RewardError> {
    let has = wallet.available.checked_add(wallet.held);
    has.ok_or_else(|| RewardError::Broken { reason: "a wallet does not fit 64 bits".into() })
}
