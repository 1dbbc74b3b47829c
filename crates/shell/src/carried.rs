//! Time that is carried: told now and then from outside, and in between counted on by a clock
//! that nobody can set.
//!
//! Small differences are worked off a little at a time. Time never goes back; it stands still
//! when it has not been told for [`TRUST`], and goes on from there when it is told again. Only a
//! telling that is far ahead is followed at once: then it was this process that was away.

use std::time::Duration;

use super::Timestamp;

/// How long a telling is trusted. The house's own time stands still as long after its last beat,
/// so a node that has lost Redis and the house agree when it is back.
const TRUST: Duration = Duration::from_secs(2);

/// A telling that took longer than this on the way says little about the time.
const PRECISE: Duration = Duration::from_millis(250);

/// A process that has not asked for the time for so long was asleep: it asks every second.
const ASLEEP: Duration = Duration::from_secs(3);

/// A difference larger than this is not worked off. In less time than this nobody is given up.
const FAR_US: i64 = 3_000_000;

/// The part of the time that passes by which a difference is worked off: a twentieth.
const WORK_OFF: i64 = 20;

/// Time as it was last told, and how it goes on. All points are on the counting clock.
#[derive(Clone, Copy, Debug)]
pub(super) struct Carried {
    /// When the time was `shown_us`, in microseconds since the epoch.
    from: Duration,
    shown_us: i64,
    /// What is to be worked off from then on; below zero when ahead.
    difference_us: i64,
    trusted_until: Duration,
    /// It has been told at all.
    pub(super) is_told: bool,
    /// When the time was last asked for, answered or not; `None` where nobody asks for it regularly.
    asked: Option<Duration>,
    /// It was not asked for so long that this process was asleep, and has not been told since.
    was_asleep: bool,
}

/// What became of a telling.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Told {
    /// What is left is worked off.
    Near,
    /// This process was away: its time has leapt ahead by so many milliseconds.
    Leapt(i64),
    /// The time told is behind by so many milliseconds: ours stands until it is reached.
    Behind(i64),
}

impl Carried {
    /// Time as it is told at the beginning.
    pub(super) fn new(time: Timestamp, at: Duration) -> Self {
        Self {
            from: at,
            shown_us: time.ms().saturating_mul(1_000),
            difference_us: 0,
            trusted_until: at + TRUST,
            is_told: true,
            asked: None,
            was_asleep: false,
        }
    }

    /// Time of which nothing is known yet: it stands at the beginning until it is told.
    pub(super) fn untold() -> Self {
        let (from, trusted_until) = (Duration::ZERO, Duration::ZERO);
        let (is_told, asked, was_asleep) = (false, None, false);
        Self { from, shown_us: 0, difference_us: 0, trusted_until, is_told, asked, was_asleep }
    }

    /// The time is asked for now.
    pub(super) fn ask(&mut self, at: Duration) {
        self.was_asleep |= self.is_asleep(at);
        self.asked = Some(at);
    }

    /// Whether it shows the time: it has been told, and not slept since. While nobody answers it does,
    /// because the house's own time stands then as well.
    pub(super) fn is_current(&self, at: Duration) -> bool {
        self.is_told && !self.was_asleep && !self.is_asleep(at)
    }

    fn is_asleep(&self, at: Duration) -> bool {
        self.asked.is_some_and(|asked| at.saturating_sub(asked) > ASLEEP)
    }

    pub(super) fn now(&self, at: Duration) -> Timestamp {
        Timestamp::from_ms(self.now_us(at).div_euclid(1_000))
    }

    fn now_us(&self, at: Duration) -> i64 {
        let passed = at.min(self.trusted_until).saturating_sub(self.from);
        let passed_us = i64::try_from(passed.as_micros()).unwrap_or(i64::MAX / 2);
        let most = match self.difference_us < -FAR_US {
            true => passed_us,
            false => passed_us / WORK_OFF,
        };
        self.shown_us + passed_us + self.difference_us.clamp(-most, most)
    }

    /// Takes in that the time was `time` at some moment between `asked` and `answered`.
    pub(super) fn tell(&mut self, time: Timestamp, asked: Duration, answered: Duration) -> Told {
        if !self.is_told {
            *self = Self { asked: self.asked, ..Self::new(time, answered) };
            return Told::Near;
        }
        let shown_us = self.now_us(answered);
        let took = answered.saturating_sub(asked);
        let took_us = i64::try_from(took.as_micros()).unwrap_or(i64::MAX / 2);
        let told_us = time.ms().saturating_mul(1_000) + took_us / 2;
        let difference_us = told_us - shown_us;
        *self = Self {
            from: answered,
            shown_us,
            difference_us: 0,
            trusted_until: (asked + TRUST).max(self.trusted_until),
            is_told: true,
            asked: self.asked,
            was_asleep: false,
        };
        if difference_us > FAR_US + took_us {
            self.shown_us += difference_us;
            Told::Leapt(difference_us / 1_000)
        } else if difference_us < -FAR_US - took_us {
            self.difference_us = difference_us;
            Told::Behind(-difference_us / 1_000)
        } else {
            if took <= PRECISE {
                self.difference_us = difference_us;
            }
            Told::Near
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Carried, Told};
    use crate::clock::Timestamp;
    use std::time::Duration;

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    fn at(ms: i64) -> Timestamp {
        Timestamp::from_ms(ms)
    }

    /// Told every second from 0 to `seconds` what `told` says, looked at every 50 ms: the times
    /// shown, which never go back.
    fn shown(seconds: u64, told: impl Fn(u64) -> i64) -> Vec<i64> {
        let mut carried = Carried::new(at(told(0)), ms(0));
        let mut shown = vec![];
        for second in 0..seconds {
            for part in 0..20 {
                shown.push(carried.now(ms(second * 1_000 + part * 50)).ms());
            }
            let next = (second + 1) * 1_000;
            carried.tell(at(told(next)), ms(next), ms(next));
        }
        assert!(shown.is_sorted(), "time never goes back");
        shown
    }

    #[test]
    fn time_goes_on_between_two_tellings() {
        let steady = shown(5, |ms| 1_000_000 + i64::try_from(ms).unwrap());
        assert_eq!(steady[0], 1_000_000);
        assert_eq!(steady[99], 1_004_950);
    }

    #[test]
    fn a_small_difference_is_worked_off() {
        for step in [-800, 800] {
            let stepped =
                |ms| 1_000_000 + i64::try_from(ms).unwrap() + if ms > 2_000 { step } else { 0 };
            let shown = shown(30, stepped);
            let greatest = shown.windows(2).map(|pair| pair[1] - pair[0]).max().unwrap();
            let least = shown.windows(2).map(|pair| pair[1] - pair[0]).min().unwrap();
            assert!(
                (47..=53).contains(&greatest) && (47..=53).contains(&least),
                "{greatest} {least}"
            );
            assert_eq!(*shown.last().unwrap(), 1_000_000 + 29_950 + step);
        }
    }

    #[test]
    fn untold_it_stands_still_and_goes_on_from_there() {
        let mut carried = Carried::new(at(1_000_000), ms(0));
        assert_eq!(carried.now(ms(9_000)), at(1_002_000));
        assert_eq!(carried.tell(at(1_002_100), ms(9_000), ms(9_000)), Told::Near);
        assert_eq!(carried.now(ms(9_000)), at(1_002_000));
        assert_eq!(carried.now(ms(10_000)), at(1_003_050));
    }

    #[test]
    fn far_ahead_is_followed_and_far_behind_is_waited_for() {
        let mut carried = Carried::new(at(1_000_000), ms(0));
        assert_eq!(carried.tell(at(1_060_000), ms(1_000), ms(1_000)), Told::Leapt(59_000));
        assert_eq!(carried.now(ms(1_000)), at(1_060_000));
        assert_eq!(carried.tell(at(1_050_000), ms(1_000), ms(1_000)), Told::Behind(10_000));
        assert_eq!(carried.now(ms(2_000)), at(1_060_000));
    }

    /// A node is stopped for seven seconds and goes on; another one has lost Redis for as long.
    #[test]
    fn who_was_asleep_does_not_know_the_time_before_it_is_told() {
        let mut carried = Carried::new(at(1_000_000), ms(0));
        carried.ask(ms(1_000));
        carried.tell(at(1_001_000), ms(1_000), ms(1_000));
        assert!(carried.is_current(ms(1_900)) && carried.is_current(ms(4_000)));
        assert!(!carried.is_current(ms(8_000)), "nothing has run since");
        carried.ask(ms(8_000));
        assert!(!carried.is_current(ms(8_000)), "asked is not told");
        assert_eq!(carried.tell(at(1_008_000), ms(8_000), ms(8_000)), Told::Leapt(5_000));
        assert!(carried.is_current(ms(8_000)));

        let mut carried = Carried::new(at(1_000_000), ms(0));
        for second in 1..8 {
            carried.ask(ms(second * 1_000));
            assert!(carried.is_current(ms(second * 1_000 + 999)), "the house's time stands too");
        }
        assert!(!Carried::untold().is_current(ms(1)));
        assert!(Carried::new(at(1_000_000), ms(0)).is_current(ms(9_000)), "nobody asks here");
    }

    #[test]
    fn an_answer_that_was_long_on_the_way_proves_only_that_somebody_is_there() {
        let mut carried = Carried::new(at(1_000_000), ms(0));
        assert_eq!(carried.tell(at(1_000_400), ms(1_000), ms(1_900)), Told::Near);
        assert_eq!(carried.now(ms(2_900)), at(1_002_900));
    }
}
