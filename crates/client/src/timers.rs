//! Timers in the time of the caller's monotonic clock.

use crate::rest::PendingCall;

/// An action that is due at a time.
#[derive(Clone, Debug)]
pub(crate) enum Timer {
    /// A request has had no answer for too long.
    RequestTimeout { request: u64 },
    /// The access token is renewed before it expires.
    RenewAhead,
    /// A stored refresh token is used, unless another client of the session has shared newer ones.
    RefreshStored { attempt: u32, refresh: String },
    /// A `GET` is repeated.
    RepeatCall(Box<PendingCall>),
    /// The back-off has ended.
    EndPause,
    /// The table has not arrived in time.
    AttemptTimeout,
    /// A socket is still opening.
    Hedge { socket: u64 },
    /// The server is pinged, if this socket is still in use.
    Ping { socket: u64 },
    /// The watchdog's next check.
    Watchdog(Check),
    /// The table is joined again.
    Rejoin,
    /// The same, unless it has been joined meanwhile.
    RejoinIfWanted,
    /// Commands that were refused for a time are sent again.
    SendCommands,
}

/// A check of the watchdog.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Check {
    /// The silence has been long enough for a ping.
    Silence,
    /// The answer to a command or to the authentication is missing.
    Missing,
    /// The answer to a ping may be missing.
    Doubt,
}

#[derive(Clone, Debug)]
struct Entry {
    at_ms: i64,
    number: u64,
    timer: Timer,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Timers {
    entries: Vec<Entry>,
    last: u64,
}

impl Timers {
    /// Returns the time of the next timer.
    pub(crate) fn next_time(&self) -> Option<i64> {
        self.entries.iter().map(|entry| entry.at_ms).min()
    }

    pub(crate) fn schedule(&mut self, at_ms: i64, timer: Timer) {
        self.last += 1;
        self.entries.push(Entry { at_ms, number: self.last, timer });
    }

    /// Cancels the timers that match.
    pub(crate) fn cancel_timers(&mut self, is_cancelled: impl Fn(&Timer) -> bool) {
        self.entries.retain(|entry| !is_cancelled(&entry.timer));
    }

    /// Returns the numbers of the timers that are due, the earliest first.
    pub(crate) fn due_timers(&self, now_ms: i64) -> Vec<u64> {
        let mut due: Vec<(i64, u64)> = self
            .entries
            .iter()
            .filter(|entry| entry.at_ms <= now_ms)
            .map(|entry| (entry.at_ms, entry.number))
            .collect();
        due.sort_unstable();
        due.into_iter().map(|(_, number)| number).collect()
    }

    /// Removes a timer; `None` if it was cancelled.
    pub(crate) fn take_timer(&mut self, number: u64) -> Option<Timer> {
        let place = self.entries.iter().position(|entry| entry.number == number)?;
        Some(self.entries.remove(place).timer)
    }
}

#[cfg(test)]
mod tests {
    use super::{Timer, Timers};

    #[test]
    fn the_earliest_timer_runs_first_and_a_cancelled_one_never() {
        let mut timers = Timers::default();
        timers.schedule(20, Timer::EndPause);
        timers.schedule(10, Timer::AttemptTimeout);
        timers.schedule(10, Timer::Rejoin);
        timers.schedule(30, Timer::SendCommands);
        assert_eq!(timers.next_time(), Some(10));
        let due = timers.due_timers(20);
        timers.cancel_timers(|timer| matches!(timer, Timer::Rejoin));
        let run: Vec<_> = due.into_iter().filter_map(|number| timers.take_timer(number)).collect();
        assert!(matches!(run[..], [Timer::AttemptTimeout, Timer::EndPause]), "{run:?}");
        assert_eq!(timers.next_time(), Some(30));
    }
}
