//! The link monitor: detects connections that are dead although TCP still takes them for open, as
//! when a phone changes networks. It pings a connection that has been silent for a while, and
//! declares it lost if it stays silent.
//!
//! A player with an open prompt has a countdown of some seconds, so its connection has short times
//! ([`LinkTimes::asked`]); all others have long ones. A connection that sends frames is not pinged.
//!
//! One task of the process checks all connections every [`TICK`] and writes the pings itself.
//! Sessions are not woken for them and have no timers. Silence is counted in ticks, and nothing is
//! counted while the process is suspended, so a pause of the server ends no connection. Nor does a
//! session that is busy with a command, because it does not read meanwhile.
//!
//! Bounds: 3 bytes of state and a notification per connection, 16 bytes in the monitor's list.

use std::mem;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use tokio::task::yield_now;
use tokio::time::{MissedTickBehavior, interval};

use crate::entropy;
use crate::ws::link::state::Signs;
use crate::ws::link::writer::MessageWriter;
use crate::ws::protocol::limits::{LinkTimes, Silence};

/// The interval of the checks.
const TICK: Duration = Duration::from_millis(500);

/// The number of connections that are checked before other tasks may run.
const BATCH: usize = 256;

/// A [`Silence`] in ticks: each value is the last tick before the time has passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct TickLimits {
    ping: u32,
    lost: u32,
}

impl From<Silence> for TickLimits {
    fn from(Silence { ping_after, lost_after }: Silence) -> Self {
        // The first tick that counts a silence is up to one tick after its beginning.
        let ticks = |time: Duration| {
            let ticks = time.as_millis() / TICK.as_millis();
            u32::try_from(ticks).unwrap_or(u32::MAX).saturating_sub(1)
        };
        let ping = ticks(ping_after).clamp(1, u32::MAX - 1);
        Self { ping, lost: ticks(lost_after).max(ping + 1) }
    }
}

/// An action of the monitor on a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LinkAction {
    None,
    Ping,
    Close,
}

/// The silence of one connection in ticks.
#[derive(Clone, Copy, Debug, Default)]
struct SilenceCount {
    ticks: u32,
    was_asked: bool,
}

impl SilenceCount {
    fn next_action(&mut self, signs: Signs, asked: TickLimits, other: TickLimits) -> LinkAction {
        // Silence before the prompt is measured by the longer times.
        let is_new_question = signs.is_asked && !self.was_asked;
        self.was_asked = signs.is_asked;
        if signs.is_alive || is_new_question {
            self.ticks = 0;
            return LinkAction::None;
        }
        self.ticks = self.ticks.saturating_add(1);
        let limits = if signs.is_asked { asked } else { other };
        if self.ticks >= limits.lost {
            LinkAction::Close
        } else if self.ticks == limits.ping {
            LinkAction::Ping
        } else {
            LinkAction::None
        }
    }
}

/// The monitor of all connections. Clones share the state.
#[derive(Clone, Debug)]
pub struct LinkMonitor {
    times: LinkTimes,
    /// The connections that were added since the last tick.
    arrivals: Arc<Mutex<Vec<Weak<MessageWriter>>>>,
}

/// A connection in the monitor's list.
#[derive(Debug)]
struct MonitoredLink {
    writer: Weak<MessageWriter>,
    silence: SilenceCount,
}

impl LinkMonitor {
    pub fn new(times: LinkTimes) -> Self {
        Self { times, arrivals: Arc::default() }
    }

    /// Monitors a connection from the next tick on, until it is dropped.
    pub(in crate::ws) fn watch(&self, writer: &Arc<MessageWriter>) {
        let mut arrivals = self.arrivals.lock().unwrap_or_else(PoisonError::into_inner);
        arrivals.push(Arc::downgrade(writer));
    }

    /// Monitors all connections. One such task runs per process.
    pub async fn run(self) {
        let asked = TickLimits::from(self.times.asked);
        let other = TickLimits::from(self.times.other);
        let mut ticks = interval(TICK);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut watched = Vec::new();
        loop {
            ticks.tick().await;
            let arrivals =
                mem::take(&mut *self.arrivals.lock().unwrap_or_else(PoisonError::into_inner));
            watched.extend(arrivals.into_iter().map(|writer| {
                // A random start spreads the pings of connections that opened together.
                let early = entropy::random_duration(self.times.other.ping_after).as_millis();
                let ticks = u32::try_from(early / TICK.as_millis()).unwrap_or_default();
                let ticks = ticks.min(other.ping.saturating_sub(1));
                MonitoredLink { writer, silence: SilenceCount { ticks, was_asked: false } }
            }));
            let mut index = 0;
            while let Some(MonitoredLink { writer, silence }) = watched.get_mut(index) {
                let Some(writer) = writer.upgrade() else {
                    watched.swap_remove(index);
                    continue;
                };
                let link = writer.link();
                match silence.next_action(link.take_signs(), asked, other) {
                    LinkAction::None => {}
                    LinkAction::Ping => writer.ping(),
                    LinkAction::Close => link.declare_lost(),
                }
                index += 1;
                if index % BATCH == 0 {
                    yield_now().await;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{LinkAction, LinkTimes, Signs, Silence, SilenceCount, TICK, TickLimits};
    use crate::ws::link::state::LinkState;
    use std::time::Duration;

    const ASKED: Signs = Signs { is_alive: false, is_asked: true };
    const WAITING: Signs = Signs { is_alive: false, is_asked: false };

    fn limits() -> (TickLimits, TickLimits) {
        (LinkTimes::SERVICE.asked.into(), LinkTimes::SERVICE.other.into())
    }

    /// Returns the number of ticks until an action, with these signs at each tick.
    fn ticks_until(action: LinkAction, silence: &mut SilenceCount, signs: Signs) -> u32 {
        let (asked, other) = limits();
        (1..1_000).find(|_| silence.next_action(signs, asked, other) == action).expect("it comes")
    }

    #[test]
    fn a_silent_connection_is_pinged_and_then_lost_in_time() {
        for (signs, times) in
            [(ASKED, LinkTimes::SERVICE.asked), (WAITING, LinkTimes::SERVICE.other)]
        {
            let Silence { ping_after, lost_after } = times;
            // A frame arrived just after a tick and is counted at the following ticks; a new prompt
            // restarts the count at the first.
            let mut silence = SilenceCount::default();
            let pinged = ticks_until(LinkAction::Ping, &mut silence, signs);
            let lost = pinged + ticks_until(LinkAction::Close, &mut silence, signs);
            let first = u32::from(signs.is_asked);
            assert!(TICK * (pinged - first + 1) <= ping_after, "{pinged}");
            assert!(TICK * (lost - first + 1) <= lost_after, "{lost}");
            // The answer to the ping has nearly all of the time between the two.
            assert!(TICK * (lost - pinged) >= lost_after - ping_after, "{pinged} {lost}");
        }
    }

    #[test]
    fn a_sign_of_life_and_a_new_prompt_restart_the_count() {
        let (asked, other) = limits();
        let mut silence = SilenceCount::default();
        let alive = Signs { is_alive: true, is_asked: true };
        for _ in 0..10 {
            ticks_until(LinkAction::Ping, &mut silence, ASKED);
            assert_eq!(silence.next_action(alive, asked, other), LinkAction::None);
        }
        // After a long silence without a prompt, the ping comes as late as after any prompt.
        let mut silence = SilenceCount::default();
        ticks_until(LinkAction::Ping, &mut silence, WAITING);
        assert_eq!(ticks_until(LinkAction::Ping, &mut silence, ASKED), asked.ping + 1);
        // When the prompt closes, the silence continues towards the longer time.
        assert_eq!(ticks_until(LinkAction::Close, &mut silence, WAITING), other.lost - asked.ping);
    }

    #[test]
    fn a_busy_session_is_not_silent() {
        let link = LinkState::default();
        assert!(link.take_signs().is_alive, "the session is not reading yet");
        link.set_reading(true);
        assert!(!link.take_signs().is_alive);
        link.record_frame();
        assert!(link.take_signs().is_alive);
        assert!(!link.take_signs().is_alive, "a frame counts once");
        link.set_reading(false);
        assert!(link.take_signs().is_alive);
    }

    #[test]
    fn any_durations_give_ordered_limits() {
        for (ping_ms, lost_ms) in [(0, 0), (1, 1), (600, 500), (1_000, 1_000), (u64::MAX, 0)] {
            let ping_after = Duration::from_millis(ping_ms);
            let silence = Silence { ping_after, lost_after: Duration::from_millis(lost_ms) };
            let TickLimits { ping, lost } = silence.into();
            assert!(1 <= ping && ping < lost, "{ping} {lost}");
        }
    }
}
