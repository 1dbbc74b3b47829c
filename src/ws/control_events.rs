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
use crate::ws::session::wait_for_shutdown;
use crate::ws::writer::MessageWriter;

type SignalFuture = Pin<Box<dyn Future<Output = Signal> + Send>>;

/// What has come.
pub(super) enum ControlEvent {
    /// The client has been silent for too long.
    Lost,
    /// Some session has ended.
    SessionsRevoked,
    /// The server stops, and this connection is to go now.
    Shutdown,
    /// Somebody said something where the connection listens.
    Talk(Arc<str>),
    /// The player is invited to a private table.
    Invited(Arc<Invitation>),
}

/// The same, with what is waited for again.
enum Signal {
    Lost,
    SessionsRevoked(watch::Receiver<u64>),
    Shutdown,
    /// Listened to as this number.
    Talk(u32, Arc<str>, broadcast::Receiver<Arc<str>>),
    /// Nothing more will be said there.
    ChannelClosed,
    Invited(Arc<Invitation>, broadcast::Receiver<Arc<Invitation>>),
}

pub(super) struct ControlEvents {
    waiting: FuturesUnordered<SignalFuture>,
    /// Counts the places that were listened to. What comes from an earlier one is not heard.
    channel: u32,
}

impl ControlEvents {
    pub(super) fn new() -> Self {
        Self { waiting: FuturesUnordered::new(), channel: 0 }
    }

    /// Asks to be told when the link monitor takes the connection for lost.
    pub(super) fn watch_link(&mut self, writer: Arc<MessageWriter>) {
        self.waiting.push(await_loss(writer));
    }

    /// Asks to be told of sessions that end.
    pub(super) fn watch_revocations(&mut self, revocations: watch::Receiver<u64>) {
        self.waiting.push(await_revocation(revocations));
    }

    /// Asks to be told when the server stops, at some time within `over`, so that clients do not
    /// all come to the next one at once.
    pub(super) fn watch_shutdown(&mut self, stopping: watch::Receiver<bool>, over: Duration) {
        self.waiting.push(await_shutdown(stopping, over));
    }

    /// Asks to be told of invitations.
    pub(super) fn watch_invitations(&mut self, invited: broadcast::Receiver<Arc<Invitation>>) {
        self.waiting.push(await_invitation(invited));
    }

    /// Listens here from now on, and nowhere else.
    pub(super) fn listen_to(&mut self, talk: broadcast::Receiver<Arc<str>>) {
        self.stop_listening();
        self.waiting.push(await_talk(self.channel, talk));
    }

    pub(super) fn stop_listening(&mut self) {
        self.channel = self.channel.wrapping_add(1);
    }

    /// The next of them. Nothing is lost when this is dropped before it is ready.
    pub(super) async fn next(&mut self) -> ControlEvent {
        while let Some(signal) = self.waiting.next().await {
            match signal {
                Signal::Lost => return ControlEvent::Lost,
                Signal::SessionsRevoked(revocations) => {
                    self.waiting.push(await_revocation(revocations));
                    return ControlEvent::SessionsRevoked;
                }
                Signal::Shutdown => return ControlEvent::Shutdown,
                Signal::ChannelClosed => {}
                Signal::Invited(invitation, invited) => {
                    self.waiting.push(await_invitation(invited));
                    return ControlEvent::Invited(invitation);
                }
                Signal::Talk(channel, text, talk) => {
                    if channel == self.channel {
                        self.waiting.push(await_talk(channel, talk));
                        return ControlEvent::Talk(text);
                    }
                }
            }
        }
        pending().await
    }
}

// These are no async functions, which keep room twice for what they are given.

fn await_loss(writer: Arc<MessageWriter>) -> SignalFuture {
    Box::pin(async move {
        writer.link().wait_until_lost().await;
        Signal::Lost
    })
}

/// Never, when no session can end any more.
fn await_revocation(mut revocations: watch::Receiver<u64>) -> SignalFuture {
    Box::pin(async move {
        if revocations.changed().await.is_err() {
            pending::<()>().await;
        }
        Signal::SessionsRevoked(revocations)
    })
}

fn await_shutdown(mut stopping: watch::Receiver<bool>, over: Duration) -> SignalFuture {
    Box::pin(async move {
        wait_for_shutdown(&mut stopping).await;
        // There is no room for it until then.
        Box::pin(sleep(entropy::random_duration(over))).await;
        Signal::Shutdown
    })
}

fn await_talk(channel: u32, mut talk: broadcast::Receiver<Arc<str>>) -> SignalFuture {
    Box::pin(async move {
        loop {
            match talk.recv().await {
                Ok(text) => return Signal::Talk(channel, text, talk),
                // What was lost is lost: it was only talk.
                Err(RecvError::Lagged(_)) => {}
                Err(RecvError::Closed) => return Signal::ChannelClosed,
            }
        }
    })
}

fn await_invitation(mut invited: broadcast::Receiver<Arc<Invitation>>) -> SignalFuture {
    Box::pin(async move {
        loop {
            match invited.recv().await {
                Ok(invitation) => return Signal::Invited(invitation, invited),
                // The notices are there.
                Err(RecvError::Lagged(_)) => {}
                Err(RecvError::Closed) => return Signal::ChannelClosed,
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

    async fn next_talk(control: &mut ControlEvents) -> String {
        match control.next().await {
            ControlEvent::Talk(text) => text.to_string(),
            ControlEvent::Lost
            | ControlEvent::SessionsRevoked
            | ControlEvent::Shutdown
            | ControlEvent::Invited(_) => {
                panic!("only talk is watched")
            }
        }
    }

    #[tokio::test]
    async fn only_one_channel_is_followed_at_a_time() {
        let (first, second) = (broadcast::Sender::<Arc<str>>::new(4), broadcast::Sender::new(4));
        let mut control = ControlEvents::new();
        control.listen_to(first.subscribe());
        first.send("one".into()).expect("somebody listens");
        assert_eq!(next_talk(&mut control).await, "one");
        control.listen_to(second.subscribe());
        first.send("two".into()).expect("the old receiver is not dropped yet");
        second.send("three".into()).expect("somebody listens");
        second.send("four".into()).expect("somebody listens");
        assert_eq!(next_talk(&mut control).await, "three");
        assert_eq!(next_talk(&mut control).await, "four");
        assert_eq!(first.receiver_count(), 0);
        // A table that is gone leaves nothing behind.
        drop(second);
        assert!(control.next().now_or_never().is_none());
        assert!(control.waiting.is_empty());
    }

    #[tokio::test]
    async fn revocations_repeat_and_the_shutdown_follows_them() {
        let (revocations, stop) = (watch::Sender::new(0), watch::Sender::new(false));
        let mut control = ControlEvents::new();
        control.watch_revocations(revocations.subscribe());
        for _ in 0..2 {
            revocations.send_modify(|count| *count += 1);
            assert!(matches!(control.next().await, ControlEvent::SessionsRevoked));
        }
        control.watch_shutdown(stop.subscribe(), Duration::from_millis(5));
        stop.send_replace(true);
        assert!(matches!(control.next().await, ControlEvent::Shutdown));
    }
}
