//! What time it is. The only place that asks the operating system for it.
//!
//! Time is whole milliseconds since the Unix epoch, the unit of deadlines, journals and records:
//! the [`Timestamp`] of the engine. A [`Clock`] is handed to whoever needs the present; everything
//! else takes a time as an argument. A test sets its own clock and moves it, so nothing sleeps.
//!
//! The house has a clock of its own, which all nodes share and tables live by: see
//! [`Clock::house`]. It never goes back, whatever becomes of the clocks of operating systems.
//!
//! Leap seconds are absent, as in Unix time. The system's clock may step back: nothing here
//! promises that a later reading of it is not smaller.

mod bounded;

use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

pub use bahay_engine::table::Timestamp;

use bahay_shell::SyncedClock;

pub use bahay_shell::SyncOutcome;
pub use bounded::{BoundedDate, BoundedTimestamp, DateError, TimestampError, YEARS};

/// Tells the time: the system's, the house's, or the one that a test has set.
#[derive(Clone, Debug)]
pub struct Clock(Source);

/// A moment on the clock that nobody can set, to say when the house was asked for its time, and to
/// measure how long something took.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Moment(Instant);

impl Moment {
    pub fn now() -> Self {
        Self(Instant::now())
    }

    /// The time since then.
    pub fn elapsed(self) -> Duration {
        self.0.elapsed()
    }

    /// None, when the other one is later.
    pub fn since(self, earlier: Self) -> Duration {
        self.0.saturating_duration_since(earlier.0)
    }

    /// This moment, when the sum lies beyond what the clock can tell.
    #[must_use]
    pub fn after(self, duration: Duration) -> Self {
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

/// The house's time, and the moment from which its counting clock counts.
#[derive(Debug)]
struct HouseClock {
    start: Instant,
    carried: Mutex<SyncedClock>,
}

impl Clock {
    pub const fn system() -> Self {
        Self(Source::System)
    }

    /// A clock that stands still until [`Clock::advance`] moves it.
    pub fn set_to(now: Timestamp) -> Self {
        Self(Source::Set(Arc::new(AtomicI64::new(now.ms()))))
    }

    /// The house's clock: told now and counted on, by a clock that nobody can set, until it is
    /// told again. It stands still when it is not told for two seconds.
    pub fn house(time: Timestamp) -> Self {
        let start = Instant::now();
        let carried = Mutex::new(SyncedClock::new(time, Duration::ZERO));
        Self(Source::House(Arc::new(HouseClock { start, carried })))
    }

    /// The house's clock before anybody could be asked: it stands at the beginning of time until it
    /// is told.
    pub fn unsynced_house() -> Self {
        let carried = Mutex::new(SyncedClock::unsynced());
        Self(Source::House(Arc::new(HouseClock { start: Instant::now(), carried })))
    }

    /// Whether it shows the time, and not only the beginning of it.
    pub fn is_synced(&self) -> bool {
        match &self.0 {
            Source::System | Source::Set(_) => true,
            Source::House(house) => {
                house.carried.lock().unwrap_or_else(PoisonError::into_inner).is_synced()
            }
        }
    }

    /// Whether it shows the time now: it was told, and this process has not been asleep since. One
    /// that was stopped and goes on is behind until it is told again.
    pub fn is_current(&self) -> bool {
        match &self.0 {
            Source::System | Source::Set(_) => true,
            Source::House(house) => {
                let carried = house.carried.lock().unwrap_or_else(PoisonError::into_inner);
                carried.is_current(house.start.elapsed())
            }
        }
    }

    /// Notes that the house is asked for its time now, and returns the moment for [`Clock::record_time`].
    pub fn record_request(&self) -> Moment {
        let asked = Moment::now();
        if let Source::House(house) = &self.0 {
            let mut carried = house.carried.lock().unwrap_or_else(PoisonError::into_inner);
            carried.record_request(asked.0.saturating_duration_since(house.start));
        }
        asked
    }

    /// Notes the time that the house had between a moment and now. The system's and a
    /// clock that was set are not to be told anything.
    pub fn record_time(&self, time: Timestamp, asked: Moment) -> SyncOutcome {
        let Source::House(house) = &self.0 else {
            return SyncOutcome::Near;
        };
        let mut carried = house.carried.lock().unwrap_or_else(PoisonError::into_inner);
        carried.record_time(
            time,
            asked.0.saturating_duration_since(house.start),
            house.start.elapsed(),
        )
    }

    /// Raises the house's clock to a time that the house had just now, if it is behind that. Unlike a
    /// telling this does not say that the house goes on.
    pub fn raise_to(&self, time: Timestamp) {
        if let Source::House(house) = &self.0 {
            let mut carried = house.carried.lock().unwrap_or_else(PoisonError::into_inner);
            carried.raise_to(time, house.start.elapsed());
        }
    }

    pub fn now(&self) -> Timestamp {
        match &self.0 {
            Source::System => from_jiff(jiff::Timestamp::now()),
            Source::Set(ms) => Timestamp::from_ms(ms.load(Ordering::Relaxed)),
            Source::House(house) => {
                let carried = house.carried.lock().unwrap_or_else(PoisonError::into_inner);
                carried.now(house.start.elapsed())
            }
        }
    }

    /// Sets this clock and all its clones to any time, an earlier one too.
    ///
    /// # Panics
    /// When it is the system's or the house's, which nobody sets.
    pub fn step_to(&self, time: Timestamp) {
        match &self.0 {
            Source::System | Source::House(_) => panic!("only a clock that was set can be set"),
            Source::Set(ms) => ms.store(time.ms(), Ordering::Relaxed),
        }
    }

    /// Moves this clock and all its clones forward.
    ///
    /// # Panics
    /// When it is the system's or the house's, which nobody moves.
    pub fn advance(&self, duration: Duration) {
        match &self.0 {
            Source::System | Source::House(_) => {
                panic!("only a clock that was set can be advanced")
            }
            Source::Set(ms) => ms.store(after(self.now(), duration).ms(), Ordering::Relaxed),
        }
    }
}

/// The end of time, when the sum lies beyond it.
#[must_use]
pub fn after(time: Timestamp, duration: Duration) -> Timestamp {
    Timestamp::from_ms(time.ms().saturating_add(whole_ms(duration)))
}

/// The beginning of time, when the difference lies beyond it.
#[must_use]
pub fn before(time: Timestamp, duration: Duration) -> Timestamp {
    Timestamp::from_ms(time.ms().saturating_sub(whole_ms(duration)))
}

/// For calendars, RFC 3339 and the database. What lies outside the years −9999 to 9999 becomes
/// their first or last instant.
pub fn to_jiff(time: Timestamp) -> jiff::Timestamp {
    let bound = if time.ms() < 0 { jiff::Timestamp::MIN } else { jiff::Timestamp::MAX };
    jiff::Timestamp::from_millisecond(time.ms()).unwrap_or(bound)
}

/// Rounded down to the millisecond.
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
    use super::{Clock, Timestamp, after, before, from_jiff, to_jiff};
    use std::time::Duration;

    #[test]
    fn a_set_clock_moves_with_all_its_clones() {
        let clock = Clock::set_to(Timestamp::from_ms(1_000));
        clock.clone().advance(Duration::from_millis(25));
        assert_eq!(clock.now(), Timestamp::from_ms(1_025));
    }

    #[test]
    fn times_stay_within_their_bounds() {
        let last = Timestamp::from_ms(i64::MAX);
        assert_eq!(after(last, Duration::from_secs(1)), last);
        assert_eq!(
            before(Timestamp::from_ms(-1), Duration::MAX),
            Timestamp::from_ms(-i64::MAX - 1)
        );
        assert_eq!(to_jiff(last), jiff::Timestamp::MAX);
        assert_eq!(to_jiff(Timestamp::from_ms(i64::MIN)), jiff::Timestamp::MIN);
    }

    #[test]
    fn rounds_down_on_both_sides_of_1970() {
        let [past, future] = [-1_500_000, 1_500_000]
            .map(|nanosecond| from_jiff(jiff::Timestamp::from_nanosecond(nanosecond).unwrap()));
        assert_eq!((past.ms(), future.ms()), (-2, 1));
    }
}
