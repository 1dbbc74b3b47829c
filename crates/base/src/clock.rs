//! Clocks. Only this module asks the operating system for the time.
//!
//! Time is in whole milliseconds since the Unix epoch, the unit of deadlines, journals and records:
//! the [`Timestamp`] of the engine. Code that needs the present receives a [`Clock`]; all other
//! code takes times as arguments. A test sets its own clock and advances it, so no test sleeps.
//!
//! The house has a clock of its own, which all nodes share and by which tables run: see
//! [`Clock::house`]. It never goes back, whatever the clocks of operating systems do.
//!
//! Leap seconds are ignored, as in Unix time. The system's clock may step back, so a later reading
//! of it may be smaller.

mod bounded;

use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

pub use bahay_engine::table::Timestamp;

use bahay_shell::SyncedClock;

pub use bahay_shell::SyncOutcome;
pub use bounded::{BoundedDate, BoundedTimestamp, DateError, TimestampError, YEARS};

/// A clock: the system's, the house's, or one set by a test.
#[derive(Clone, Debug)]
pub struct Clock(Source);

/// An instant of the monotonic clock, for recording a time request and for measuring durations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Moment(Instant);

impl Moment {
    pub fn now() -> Self {
        Self(Instant::now())
    }

    /// Returns the time since this moment.
    pub fn elapsed(self) -> Duration {
        self.0.elapsed()
    }

    /// Returns the time since `earlier`, or zero if `earlier` is later.
    pub fn since(self, earlier: Self) -> Duration {
        self.0.saturating_duration_since(earlier.0)
    }

    /// Returns the moment after a duration, or this moment if the result is out of range.
    #[must_use]
    pub fn saturating_add(self, duration: Duration) -> Self {
        Self(self.0.checked_add(duration).unwrap_or(self.0))
    }
}

#[derive(Clone, Debug)]
enum Source {
    System,
    /// Milliseconds since the epoch, shared by all clones.
    Set(Arc<AtomicI64>),
    House(Arc<HouseClock>),
}

/// The house's time, and the moment from which the monotonic clock is read.
#[derive(Debug)]
struct HouseClock {
    start: Instant,
    synced: Mutex<SyncedClock>,
}

impl HouseClock {
    fn start(synced: SyncedClock) -> Clock {
        Clock(Source::House(Arc::new(Self { start: Instant::now(), synced: Mutex::new(synced) })))
    }

    fn synced(&self) -> MutexGuard<'_, SyncedClock> {
        self.synced.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Clock {
    pub const fn system() -> Self {
        Self(Source::System)
    }

    /// Creates a clock that stands still until [`Clock::advance`] moves it.
    pub fn set_to(now: Timestamp) -> Self {
        Self(Source::Set(Arc::new(AtomicI64::new(now.ms()))))
    }

    /// Creates the house's clock: synchronized to a time, and advanced by the monotonic clock until
    /// the next synchronization. It stops if it is not synchronized for two seconds.
    pub fn house(time: Timestamp) -> Self {
        HouseClock::start(SyncedClock::new(time, Duration::ZERO))
    }

    /// Creates the house's clock before the first synchronization. It stands at the beginning of
    /// time until then.
    pub fn unsynced_house() -> Self {
        HouseClock::start(SyncedClock::unsynced())
    }

    /// Returns whether the clock has been synchronized.
    pub fn is_synced(&self) -> bool {
        match &self.0 {
            Source::System | Source::Set(_) => true,
            Source::House(house) => house.synced().is_synced(),
        }
    }

    /// Returns whether the clock shows the present time: it has been synchronized, and the process
    /// has not been suspended since. A process that resumes after a suspension is behind until the
    /// next synchronization.
    pub fn is_current(&self) -> bool {
        match &self.0 {
            Source::System | Source::Set(_) => true,
            Source::House(house) => house.synced().is_current(house.start.elapsed()),
        }
    }

    /// Records that the house is asked for its time, and returns the moment for
    /// [`Clock::record_time`].
    pub fn record_request(&self) -> Moment {
        let requested_at = Moment::now();
        if let Source::House(house) = &self.0 {
            house.synced().record_request(requested_at.0.saturating_duration_since(house.start));
        }
        requested_at
    }

    /// Records the house's time, which was read between `requested_at` and now. Has no effect on
    /// the system's clock and on one set by a test.
    pub fn record_time(&self, time: Timestamp, requested_at: Moment) -> SyncOutcome {
        let Source::House(house) = &self.0 else {
            return SyncOutcome::Near;
        };
        let requested_at = requested_at.0.saturating_duration_since(house.start);
        house.synced().record_time(time, requested_at, house.start.elapsed())
    }

    /// Raises the house's clock to a recent time of the house, if the clock is behind it. Unlike a
    /// synchronization, this does not keep the clock running.
    pub fn raise_to(&self, time: Timestamp) {
        if let Source::House(house) = &self.0 {
            house.synced().raise_to(time, house.start.elapsed());
        }
    }

    pub fn now(&self) -> Timestamp {
        match &self.0 {
            Source::System => from_jiff(jiff::Timestamp::now()),
            Source::Set(ms) => Timestamp::from_ms(ms.load(Ordering::Relaxed)),
            Source::House(house) => house.synced().now(house.start.elapsed()),
        }
    }

    /// Sets this clock and its clones to any time, even an earlier one.
    ///
    /// # Panics
    /// If the clock is the system's or the house's.
    pub fn step_to(&self, time: Timestamp) {
        match &self.0 {
            Source::System | Source::House(_) => panic!("only a test clock can be set"),
            Source::Set(ms) => ms.store(time.ms(), Ordering::Relaxed),
        }
    }

    /// Advances this clock and its clones.
    ///
    /// # Panics
    /// If the clock is the system's or the house's.
    pub fn advance(&self, duration: Duration) {
        match &self.0 {
            Source::System | Source::House(_) => panic!("only a test clock can be advanced"),
            Source::Set(ms) => ms.store(add(self.now(), duration).ms(), Ordering::Relaxed),
        }
    }
}

/// Returns the sum, saturating at the end of time.
#[must_use]
pub fn add(time: Timestamp, duration: Duration) -> Timestamp {
    Timestamp::from_ms(time.ms().saturating_add(whole_ms(duration)))
}

/// Returns the difference, saturating at the beginning of time.
#[must_use]
pub fn subtract(time: Timestamp, duration: Duration) -> Timestamp {
    Timestamp::from_ms(time.ms().saturating_sub(whole_ms(duration)))
}

/// Converts a time for calendars, RFC 3339 and the database. A time outside of the years −9999 to
/// 9999 becomes their first or last instant.
pub fn to_jiff(time: Timestamp) -> jiff::Timestamp {
    let bound = if time.ms() < 0 { jiff::Timestamp::MIN } else { jiff::Timestamp::MAX };
    jiff::Timestamp::from_millisecond(time.ms()).unwrap_or(bound)
}

/// Converts a time and rounds it down to the millisecond.
pub fn from_jiff(time: jiff::Timestamp) -> Timestamp {
    let ms = time.as_millisecond();
    // jiff rounds towards 1970.
    let is_rounded_up = time.subsec_nanosecond() < 0 && time.subsec_nanosecond() % 1_000_000 != 0;
    Timestamp::from_ms(if is_rounded_up { ms - 1 } else { ms })
}

fn whole_ms(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::{Clock, Timestamp, add, from_jiff, subtract, to_jiff};
    use std::time::Duration;

    #[test]
    fn a_test_clock_advances_all_its_clones() {
        let clock = Clock::set_to(Timestamp::from_ms(1_000));
        clock.clone().advance(Duration::from_millis(25));
        assert_eq!(clock.now(), Timestamp::from_ms(1_025));
    }

    #[test]
    fn arithmetic_saturates_at_the_bounds() {
        let last = Timestamp::from_ms(i64::MAX);
        assert_eq!(add(last, Duration::from_secs(1)), last);
        assert_eq!(
            subtract(Timestamp::from_ms(-1), Duration::MAX),
            Timestamp::from_ms(-i64::MAX - 1)
        );
        assert_eq!(to_jiff(last), jiff::Timestamp::MAX);
        assert_eq!(to_jiff(Timestamp::from_ms(i64::MIN)), jiff::Timestamp::MIN);
    }

    #[test]
    fn times_are_rounded_down_on_both_sides_of_1970() {
        let [past, future] = [-1_500_000, 1_500_000]
            .map(|nanosecond| from_jiff(jiff::Timestamp::from_nanosecond(nanosecond).unwrap()));
        assert_eq!((past.ms(), future.ms()), (-2, 1));
    }
}
