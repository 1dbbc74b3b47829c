//! Control events: what a connection waits for and hardly ever hears, that it is lost, that a session has
//! ended somewhere, that the server stops, and what is said at its table.
//!
//! A connection is woken several times for each move of its table. These are looked at only when
//! they have something to say, and not whenever the connection is.

use std::future::pending;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::{broadcast, watch};
use tokio::time::sleep;

use crate::entropy;
use crate::lobby::Invitation;
use crate::ws::session::stopped;
use crate::ws::writer::MessageWriter;

type Waiting = Pin<Box<dyn Future<Output = Heard> + Send>>;

/// What has come.
pub(super) enum ControlEvent {
    /// The client has been silent for too long.
    Lost,
    /// Some session has ended.
    Ended,
    /// The server stops, and this connection is to go now.
    Stop,
    /// Somebody said something where the connection listens.
    Said(Arc<str>),
    /// The player is invited to a private table.
    Invited(Arc<Invitation>),
}

/// The same, with what is waited for again.
enum Heard {
    Lost,
    Ended(watch::Receiver<u64>),
    Stop,
    /// Listened to as this number.
    Said(u32, Arc<str>, broadcast::Receiver<Arc<str>>),
    /// Nothing more will be said there.
    Silence,
    Invited(Arc<Invitation>, broadcast::Receiver<Arc<Invitation>>),
}

pub(super) struct ControlEvents {
    waiting: FuturesUnordered<Waiting>,
    /// Counts the places that were listened to. What comes from an earlier one is not heard.
    listening: u32,
}

impl ControlEvents {
    pub(super) fn new() -> Self {
        Self { waiting: FuturesUnordered::new(), listening: 0 }
    }

    /// Asks to be told when the link monitor takes the connection for lost.
    pub(super) fn hear_of_loss(&mut self, writer: Arc<MessageWriter>) {
        self.waiting.push(lost(writer));
    }

    /// Asks to be told of sessions that end.
    pub(super) fn hear_of_ended(&mut self, growth: watch::Receiver<u64>) {
        self.waiting.push(ended(growth));
    }

    /// Asks to be told when the server stops, at some time within `over`, so that clients do not
    /// all come to the next one at once.
    pub(super) fn hear_of_stop(&mut self, stopping: watch::Receiver<bool>, over: Duration) {
        self.waiting.push(stop(stopping, over));
    }

    /// Asks to be told of invitations.
    pub(super) fn hear_of_invitations(&mut self, invited: broadcast::Receiver<Arc<Invitation>>) {
        self.waiting.push(self::invited(invited));
    }

    /// Listens here from now on, and nowhere else.
    pub(super) fn listen(&mut self, talk: broadcast::Receiver<Arc<str>>) {
        self.listen_no_more();
        self.waiting.push(said(self.listening, talk));
    }

    pub(super) fn listen_no_more(&mut self) {
        self.listening = self.listening.wrapping_add(1);
    }

    /// The next of them. Nothing is lost when this is dropped before it is ready.
    pub(super) async fn next(&mut self) -> ControlEvent {
        while let Some(heard) = self.waiting.next().await {
            match heard {
                Heard::Lost => return ControlEvent::Lost,
                Heard::Ended(growth) => {
                    self.waiting.push(ended(growth));
                    return ControlEvent::Ended;
                }
                Heard::Stop => return ControlEvent::Stop,
                Heard::Silence => {}
                Heard::Invited(invitation, invited) => {
                    self.waiting.push(self::invited(invited));
                    return ControlEvent::Invited(invitation);
                }
                Heard::Said(place, text, talk) => {
                    if place == self.listening {
                        self.waiting.push(said(place, talk));
                        return ControlEvent::Said(text);
                    }
                }
            }
        }
        pending().await
    }
}

// These are no async functions, which keep room twice for what they are given.

fn lost(writer: Arc<MessageWriter>) -> Waiting {
    Box::pin(async move {
        writer.link().lost().await;
        Heard::Lost
    })
}

/// Never, when no session can end any more.
fn ended(mut growth: watch::Receiver<u64>) -> Waiting {
    Box::pin(async move {
        if growth.changed().await.is_err() {
            pending::<()>().await;
        }
        Heard::Ended(growth)
    })
}

fn stop(mut stopping: watch::Receiver<bool>, over: Duration) -> Waiting {
    Box::pin(async move {
        stopped(&mut stopping).await;
        // There is no room for it until then.
        Box::pin(sleep(entropy::random_duration(over))).await;
        Heard::Stop
    })
}

fn said(place: u32, mut talk: broadcast::Receiver<Arc<str>>) -> Waiting {
    Box::pin(async move {
        loop {
            match talk.recv().await {
                Ok(text) => return Heard::Said(place, text, talk),
                // What was lost is lost: it was only talk.
                Err(RecvError::Lagged(_)) => {}
                Err(RecvError::Closed) => return Heard::Silence,
            }
        }
    })
}

fn invited(mut invited: broadcast::Receiver<Arc<Invitation>>) -> Waiting {
    Box::pin(async move {
        loop {
            match invited.recv().await {
                Ok(invitation) => return Heard::Invited(invitation, invited),
                // The notices are there.
                Err(RecvError::Lagged(_)) => {}
                Err(RecvError::Closed) => return Heard::Silence,
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::{ControlEvent, ControlEvents};
    use futures_util::FutureExt as _;
    use std::sync::Arc;
    use std::time::Duration;
    use tokio::sync::{broadcast, watch};

    async fn said(control: &mut ControlEvents) -> String {
        match control.next().await {
            ControlEvent::Said(text) => text.to_string(),
            ControlEvent::Lost
            | ControlEvent::Ended
            | ControlEvent::Stop
            | ControlEvent::Invited(_) => {
                panic!("only talk was asked for")
            }
        }
    }

    #[tokio::test]
    async fn one_place_is_listened_to_at_a_time() {
        let (first, second) = (broadcast::Sender::<Arc<str>>::new(4), broadcast::Sender::new(4));
        let mut control = ControlEvents::new();
        control.listen(first.subscribe());
        first.send("one".into()).expect("somebody listens");
        assert_eq!(said(&mut control).await, "one");
        control.listen(second.subscribe());
        first.send("two".into()).expect("nobody has looked yet whether to go on");
        second.send("three".into()).expect("somebody listens");
        second.send("four".into()).expect("somebody listens");
        assert_eq!(said(&mut control).await, "three");
        assert_eq!(said(&mut control).await, "four");
        assert_eq!(first.receiver_count(), 0);
        // A table that is gone leaves nothing behind.
        drop(second);
        assert!(control.next().now_or_never().is_none());
        assert!(control.waiting.is_empty());
    }

    #[tokio::test]
    async fn ends_come_again_and_the_stop_comes_after_them() {
        let (growth, stop) = (watch::Sender::new(0), watch::Sender::new(false));
        let mut control = ControlEvents::new();
        control.hear_of_ended(growth.subscribe());
        for _ in 0..2 {
            growth.send_modify(|count| *count += 1);
            assert!(matches!(control.next().await, ControlEvent::Ended));
        }
        control.hear_of_stop(stop.subscribe(), Duration::from_millis(5));
        stop.send_replace(true);
        assert!(matches!(control.next().await, ControlEvent::Stop));
    }
}
