//! The house's time in one process: read at intervals, and advanced in between by a monotonic
//! clock.
//!
//! This clock is never ahead of the house's own time, except by the amount that the house's time
//! loses while it is corrected. A reading is a lower bound: the house's time is not earlier when
//! the response arrives. A clock that is behind the reading jumps forward at once; one that is
//! ahead of every time that the response allows is slewed back gradually. Time therefore never goes
//! back, and a client that changes nodes never sees an earlier time, because its new node reads the
//! time once more before it shows anything ([`SyncedClock::raise_to`]).
//!
//! Time stops when there was no reading for [`TRUST_PERIOD`], and resumes with the next reading.

use core::time::Duration;

use bahay_engine::table::Timestamp;

/// How long a reading is trusted. The house's own time stops as long after its last heartbeat, so a
/// node that lost Redis and the house agree when Redis is back.
const TRUST_PERIOD: Duration = Duration::from_secs(2);

/// The age of the last request from which a process counts as suspended; it sends a request every
/// second.
const SLEEP_THRESHOLD: Duration = Duration::from_secs(3);

/// An offset that only a suspended process can have, in microseconds. No player is given up in less
/// time.
const LARGE_OFFSET_US: i64 = 3_000_000;

/// A clock that is ahead loses one part in twenty of the time that passes.
const SLEW_DIVISOR: i64 = 20;

/// Microseconds per millisecond. Readings are whole milliseconds, rounded down.
const US_PER_MS: i64 = 1_000;

/// The last reading and the state of the correction. All instants are those of the monotonic clock.
#[derive(Clone, Copy, Debug)]
pub struct SyncedClock {
    /// The instant at which the time was `shown_us`, in microseconds since the epoch.
    from: Duration,
    shown_us: i64,
    /// By how much the clock was ahead at that instant; this part is slewed back.
    ahead_us: i64,
    trusted_until: Duration,
    /// Set once there was a reading.
    is_synced: bool,
    /// The instant of the last request, answered or not; `None` if the time is not requested
    /// regularly.
    requested: Option<Duration>,
    /// The process was suspended, and there was no reading since.
    was_asleep: bool,
}

/// The result of a reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SyncOutcome {
    /// The clock agrees with the reading, or is slewed towards it.
    Near,
    /// The process was suspended: the clock jumped ahead by this many milliseconds.
    Leapt(i64),
    /// The reading is behind by this many milliseconds: the clock stops until the house's time has
    /// caught up.
    Behind(i64),
}

impl SyncedClock {
    /// Creates a clock with a first reading.
    pub fn new(time: Timestamp, at: Duration) -> Self {
        Self {
            from: at,
            shown_us: time.ms().saturating_mul(1_000),
            ahead_us: 0,
            trusted_until: at + TRUST_PERIOD,
            is_synced: true,
            requested: None,
            was_asleep: false,
        }
    }

    /// Creates a clock without a reading: it shows the epoch and does not advance.
    pub fn unsynced() -> Self {
        let epoch = Self::new(Timestamp::default(), Duration::ZERO);
        Self { trusted_until: Duration::ZERO, is_synced: false, ..epoch }
    }

    /// Returns true once there was a reading.
    pub fn is_synced(&self) -> bool {
        self.is_synced
    }

    /// Records that the time is requested at this instant.
    pub fn record_request(&mut self, at: Duration) {
        self.was_asleep |= self.is_asleep(at);
        self.requested = Some(at);
    }

    /// Returns true if the clock shows the time: there was a reading, and the process was not
    /// suspended since. An unanswered request does not change this, because the house's own time
    /// stops then as well.
    pub fn is_current(&self, at: Duration) -> bool {
        self.is_synced && !self.was_asleep && !self.is_asleep(at)
    }

    fn is_asleep(&self, at: Duration) -> bool {
        self.requested.is_some_and(|requested| at.saturating_sub(requested) > SLEEP_THRESHOLD)
    }

    pub fn now(&self, at: Duration) -> Timestamp {
        Timestamp::from_ms(self.now_us(at).div_euclid(1_000))
    }

    fn now_us(&self, at: Duration) -> i64 {
        let passed = micros(at.min(self.trusted_until).saturating_sub(self.from));
        let slew_divisor = if self.ahead_us > LARGE_OFFSET_US { 1 } else { SLEW_DIVISOR };
        self.shown_us + passed - self.ahead_us.min(passed / slew_divisor)
    }

    /// Records a reading: the house's time was `time` at some instant between `asked` and
    /// `answered`. At `answered` it is at least that, and at most later by the duration of the
    /// request.
    pub fn record_time(
        &mut self,
        time: Timestamp,
        asked: Duration,
        answered: Duration,
    ) -> SyncOutcome {
        if !self.is_synced {
            *self = Self { requested: self.requested, ..Self::new(time, answered) };
            return SyncOutcome::Near;
        }
        let shown_us = self.now_us(answered);
        let least_us = time.ms().saturating_mul(1_000);
        let most_us = least_us.saturating_add(US_PER_MS + micros(answered.saturating_sub(asked)));
        *self = Self {
            from: answered,
            shown_us: shown_us.max(least_us),
            ahead_us: (shown_us - most_us).max(0),
            trusted_until: (asked + TRUST_PERIOD).max(self.trusted_until),
            was_asleep: false,
            ..*self
        };
        if least_us - shown_us > LARGE_OFFSET_US {
            SyncOutcome::Leapt((least_us - shown_us) / 1_000)
        } else if self.ahead_us > LARGE_OFFSET_US {
            SyncOutcome::Behind(self.ahead_us / 1_000)
        } else {
            SyncOutcome::Near
        }
    }

    /// Raises the clock to a time that the house had before `at`, if the clock is behind it. This
    /// does not extend the trust period.
    pub fn raise_to(&mut self, time: Timestamp, at: Duration) {
        let least_us = time.ms().saturating_mul(1_000);
        if self.is_synced && self.now_us(at) < least_us {
            (self.from, self.shown_us, self.ahead_us) = (at, least_us, 0);
        }
    }
}

fn micros(duration: Duration) -> i64 {
    i64::try_from(duration.as_micros()).unwrap_or(i64::MAX / 2)
}

#[cfg(test)]
mod tests {
    use super::SyncOutcome::{Behind, Leapt, Near};
    use super::SyncedClock;
    use bahay_engine::table::Timestamp;
    use core::time::Duration;

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    fn timestamp(ms: i64) -> Timestamp {
        Timestamp::from_ms(ms)
    }

    fn now_ms(clock: &SyncedClock, at_ms: u64) -> i64 {
        clock.now(ms(at_ms)).ms()
    }

    /// Returns the times that a clock shows every 50 ms, which never go back, if it reads `told`
    /// every second from 0 to `seconds`.
    fn show_times(seconds: u64, told: impl Fn(u64) -> i64) -> Vec<i64> {
        let mut clock = SyncedClock::new(timestamp(told(0)), ms(0));
        let mut shown = vec![];
        for second in 0..seconds {
            for part in 0..20 {
                shown.push(now_ms(&clock, second * 1_000 + part * 50));
            }
            let next = (second + 1) * 1_000;
            clock.record_time(timestamp(told(next)), ms(next), ms(next));
        }
        assert!(shown.is_sorted(), "time never goes back");
        shown
    }

    #[test]
    fn time_advances_between_two_readings() {
        let steady = show_times(5, |ms| 1_000_000 + i64::try_from(ms).unwrap());
        assert_eq!(steady[0], 1_000_000);
        assert_eq!(steady[99], 1_004_950);
    }

    /// Returns readings that from 2 s on differ by `step` from the monotonic clock.
    fn stepped_readings(step: i64) -> impl Fn(u64) -> i64 {
        move |ms| 1_000_000 + i64::try_from(ms).unwrap() + if ms > 2_000 { step } else { 0 }
    }

    #[test]
    fn a_clock_that_is_ahead_is_slewed_back() {
        let shown = show_times(30, stepped_readings(-800));
        let steps = shown.windows(2).map(|pair| pair[1] - pair[0]);
        assert!(steps.clone().all(|step| (47..=51).contains(&step)), "{steps:?}");
        // One millisecond may be the rounding of the reading.
        assert_eq!(*shown.last().unwrap(), 1_000_000 + 29_950 - 800 + 1);
    }

    #[test]
    fn a_clock_that_is_behind_jumps_to_the_reading() {
        let shown = show_times(5, stepped_readings(800));
        assert_eq!((shown[59], shown[60]), (1_002_950, 1_003_800));
        assert_eq!(*shown.last().unwrap(), 1_000_000 + 4_950 + 800);
    }

    #[test]
    fn without_readings_the_clock_stops_and_resumes_with_the_next() {
        let mut clock = SyncedClock::new(timestamp(1_000_000), ms(0));
        assert_eq!(now_ms(&clock, 9_000), 1_002_000);
        assert_eq!(clock.record_time(timestamp(1_002_100), ms(9_000), ms(9_000)), Near);
        assert_eq!(now_ms(&clock, 9_000), 1_002_100);
        assert_eq!(now_ms(&clock, 10_000), 1_003_100);
    }

    #[test]
    fn raising_the_clock_does_not_extend_its_trust() {
        let mut clock = SyncedClock::new(timestamp(1_000_000), ms(0));
        clock.raise_to(timestamp(1_000_900), ms(1_000));
        assert_eq!(now_ms(&clock, 1_000), 1_001_000, "the clock is ahead of that time already");
        clock.raise_to(timestamp(1_001_700), ms(1_000));
        assert_eq!(now_ms(&clock, 1_000), 1_001_700);
        assert_eq!(now_ms(&clock, 9_000), 1_002_700, "the clock stops one second later");
        clock.raise_to(timestamp(1_004_000), ms(9_000));
        assert_eq!(now_ms(&clock, 9_500), 1_004_000, "the clock advances with the next reading");
        let mut untold = SyncedClock::unsynced();
        untold.raise_to(timestamp(1_000_000), ms(0));
        assert_eq!(now_ms(&untold, 0), 0);
    }

    #[test]
    fn a_large_jump_ahead_is_followed_and_one_back_is_waited_out() {
        let mut clock = SyncedClock::new(timestamp(1_000_000), ms(0));
        assert_eq!(clock.record_time(timestamp(1_060_000), ms(1_000), ms(1_000)), Leapt(59_000));
        assert_eq!(now_ms(&clock, 1_000), 1_060_000);
        assert_eq!(clock.record_time(timestamp(1_050_000), ms(1_000), ms(1_000)), Behind(9_999));
        assert_eq!(now_ms(&clock, 2_000), 1_060_000);
    }

    /// A node is suspended for seven seconds and resumes; another one loses Redis for as long.
    #[test]
    fn a_process_that_slept_has_no_time_before_the_next_reading() {
        let mut clock = SyncedClock::new(timestamp(1_000_000), ms(0));
        clock.record_request(ms(1_000));
        clock.record_time(timestamp(1_001_000), ms(1_000), ms(1_000));
        assert!(clock.is_current(ms(1_900)) && clock.is_current(ms(4_000)));
        assert!(!clock.is_current(ms(8_000)), "the process has not run since");
        clock.record_request(ms(8_000));
        assert!(!clock.is_current(ms(8_000)), "a request is not a reading");
        assert_eq!(clock.record_time(timestamp(1_008_000), ms(8_000), ms(8_000)), Leapt(5_000));
        assert!(clock.is_current(ms(8_000)));

        let mut clock = SyncedClock::new(timestamp(1_000_000), ms(0));
        for second in 1..8 {
            clock.record_request(ms(second * 1_000));
            assert!(clock.is_current(ms(second * 1_000 + 999)), "the house's time stops too");
        }
        assert!(!SyncedClock::unsynced().is_current(ms(1)));
        assert!(
            SyncedClock::new(timestamp(1_000_000), ms(0)).is_current(ms(9_000)),
            "this clock is not polled"
        );
    }

    /// The house's time may be anything between the reading and the reading plus the time of the
    /// response.
    #[test]
    fn a_slow_response_bounds_the_time_only_as_far_as_it_can() {
        let mut clock = SyncedClock::new(timestamp(1_000_000), ms(0));
        for told in [1_001_000, 1_001_500, 1_001_900] {
            assert_eq!(clock.record_time(timestamp(told), ms(1_000), ms(1_900)), Near);
            assert_eq!(now_ms(&clock, 2_900), 1_002_900, "{told}");
        }
        clock.record_time(timestamp(1_000_400), ms(1_000), ms(1_900));
        assert_eq!(now_ms(&clock, 2_900), 1_002_850, "the clock was ahead of every possible time");
    }
}
