//! The values of earlier messages from which the short forms write differences.

use bahay_engine::game::Game;
use bahay_engine::table::{Event, GameId, Timestamp};
use bahay_engine::variants;

use crate::Message;

/// The last values that were sent on a connection. Both ends know the same ones, because messages
/// arrive in the order in which they are sent. A message refers to the values before it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Baseline {
    /// The server's time in the last hello, snapshot or update.
    pub(crate) time: Timestamp,
    /// The version of the last snapshot or update.
    version: Option<u64>,
    /// The game that an event of the table named last.
    pub(crate) game: Option<GameId>,
    /// The length of the last countdown, in milliseconds.
    pub(crate) countdown_ms: i64,
}

impl Baseline {
    /// Returns the version of an update that follows on the last message of the table.
    pub(crate) fn next_version(&self) -> Option<u64> {
        self.version?.checked_add(1)
    }

    /// Takes over the values of a message after it was written or read.
    pub(crate) fn observe<G: Game>(&mut self, message: &Message<G>) {
        match message {
            Message::Hello { server_time_ms, .. } => self.time = *server_time_ms,
            Message::Snapshot { version, server_time_ms, .. } => {
                self.version = Some(*version);
                self.time = *server_time_ms;
            }
            Message::Update { version, server_time_ms, events, .. } => {
                self.version = Some(*version);
                self.time = *server_time_ms;
                events.iter().for_each(|event| self.observe_event(event));
            }
            variants!(Message: Said, Advice, Closed, Ticket, Invited, Ack, Refusal) => {}
        }
    }

    fn observe_event<E>(&mut self, event: &Event<E>) {
        match event {
            Event::Preparing { game, .. }
            | Event::Opening { game }
            | Event::Revealing { game, .. }
            | Event::Opened { game, .. }
            | Event::Over { game, .. }
            | Event::Settled { game, .. } => self.game = Some(*game),
            Event::Countdown { deadline_ms } => {
                self.countdown_ms = elapsed_ms(self.time, *deadline_ms);
            }
            variants!(Event: Sat, Left, Moved, Presence, Takeover, Waiting, Ready, Revealed, Game,
                PotRefunded, TermsUpdated) => {}
        }
    }
}

/// Returns the milliseconds from one time to another, from which [`add_ms`] restores the other,
/// also where the difference wraps around.
pub(crate) fn elapsed_ms(then: Timestamp, now: Timestamp) -> i64 {
    now.ms().wrapping_sub(then.ms())
}

pub(crate) fn add_ms(then: Timestamp, ms: i64) -> Timestamp {
    Timestamp::from_ms(then.ms().wrapping_add(ms))
}
