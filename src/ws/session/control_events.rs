//! Control events: rare events that a connection waits for. The link is lost, sessions are revoked,
//! the server shuts down, a talk message or news arrive.
//!
//! A connection wakes several times per action of its table. These sources are polled only when
//! they have an event, not at every wake-up.

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
use crate::lobby::PlayerNews;
use crate::ws::link::writer::MessageWriter;

type SignalFuture = Pin<Box<dyn Future<Output = Signal> + Send>>;

/// A control event.
pub(super) enum ControlEvent {
    /// The client was silent for too long.
    Lost,
    /// At least one session was revoked.
    SessionsRevoked,
    /// The server shuts down, and it is this connection's turn to close.
    Shutdown,
    /// A talk message at the followed table.
    Talk(Arc<str>),
    /// News for the player.
    News(Arc<PlayerNews>),
}

/// An event with the source to wait for again.
enum Signal {
    Lost,
    SessionsRevoked(watch::Receiver<u64>),
    Shutdown,
    /// With the number of the followed channel.
    Talk(u32, Arc<str>, broadcast::Receiver<Arc<str>>),
    /// The channel has no sender any more.
    ChannelClosed,
    News(Arc<PlayerNews>, broadcast::Receiver<Arc<PlayerNews>>),
}

/// The sources of control events of one connection.
pub(super) struct ControlEvents {
    waiting: FuturesUnordered<SignalFuture>,
    /// The number of followed channels. Messages of earlier ones are ignored.
    channel: u32,
}

impl ControlEvents {
    pub(super) fn new() -> Self {
        Self { waiting: FuturesUnordered::new(), channel: 0 }
    }

    /// Reports when the link monitor declares the connection lost.
    pub(super) fn watch_link(&mut self, writer: Arc<MessageWriter>) {
        self.waiting.push(Box::pin(async move {
            writer.link().wait_until_lost().await;
            Signal::Lost
        }));
    }

    /// Reports revoked sessions.
    pub(super) fn watch_revocations(&mut self, revocations: watch::Receiver<u64>) {
        self.waiting.push(await_revocation(revocations));
    }

    /// Reports the shutdown of the server after a random delay within `over`, so that clients do
    /// not all reconnect at once.
    pub(super) fn watch_shutdown(&mut self, mut stopping: watch::Receiver<bool>, over: Duration) {
        self.waiting.push(Box::pin(async move {
            wait_for_shutdown(&mut stopping).await;
            // Boxed, so that the timer takes no space before the shutdown.
            Box::pin(sleep(entropy::random_duration(over))).await;
            Signal::Shutdown
        }));
    }

    /// Reports news.
    pub(super) fn watch_news(&mut self, news: broadcast::Receiver<Arc<PlayerNews>>) {
        self.waiting.push(await_message(news, Signal::News));
    }

    /// Follows this talk channel and no other from now on.
    pub(super) fn listen_to(&mut self, talk: broadcast::Receiver<Arc<str>>) {
        self.stop_listening();
        self.waiting.push(await_talk(self.channel, talk));
    }

    pub(super) fn stop_listening(&mut self) {
        self.channel = self.channel.wrapping_add(1);
    }

    /// Waits for the next event. This method is cancel safe.
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
                Signal::News(news, more) => {
                    self.waiting.push(await_message(more, Signal::News));
                    return ControlEvent::News(news);
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

// These are not async functions, which would reserve space for their arguments twice.

/// Never completes if no session can be revoked any more.
fn await_revocation(mut revocations: watch::Receiver<u64>) -> SignalFuture {
    Box::pin(async move {
        if revocations.changed().await.is_err() {
            pending::<()>().await;
        }
        Signal::SessionsRevoked(revocations)
    })
}

fn await_talk(channel: u32, talk: broadcast::Receiver<Arc<str>>) -> SignalFuture {
    await_message(talk, move |text, talk| Signal::Talk(channel, text, talk))
}

fn await_message<T: ?Sized + Send + Sync + 'static>(
    mut messages: broadcast::Receiver<Arc<T>>,
    to_signal: impl FnOnce(Arc<T>, broadcast::Receiver<Arc<T>>) -> Signal + Send + 'static,
) -> SignalFuture {
    Box::pin(async move {
        loop {
            match messages.recv().await {
                Ok(message) => return to_signal(message, messages),
                // Lost talk is not made up for. The notices of lost invitations remain in the
                // inbox.
                Err(RecvError::Lagged(_)) => {}
                Err(RecvError::Closed) => return Signal::ChannelClosed,
            }
        }
    })
}

/// Waits until the server shuts down.
pub(in crate::ws) async fn wait_for_shutdown(stopping: &mut watch::Receiver<bool>) {
    // A dropped sender means that the server has shut down.
    let _ = stopping.wait_for(|stopping| *stopping).await;
}

#[cfg(test)]
mod tests {
    use super::{ControlEvent, ControlEvents};
    use bahay_engine::variants;
    use futures_util::FutureExt as _;
    use std::sync::Arc;
    use std::time::Duration;
    use tokio::sync::{broadcast, watch};

    async fn next_talk(control: &mut ControlEvents) -> String {
        match control.next().await {
            ControlEvent::Talk(text) => text.to_string(),
            variants!(ControlEvent: Lost, SessionsRevoked, Shutdown, News) => {
                panic!("only talk is watched")
            }
        }
    }

    #[tokio::test]
    async fn only_one_channel_is_followed_at_a_time() {
        let first = broadcast::Sender::<Arc<str>>::new(4);
        let second = broadcast::Sender::new(4);
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
        // A dropped table leaves nothing behind.
        drop(second);
        assert!(control.next().now_or_never().is_none());
        assert!(control.waiting.is_empty());
    }

    #[tokio::test]
    async fn revocations_repeat_and_the_shutdown_follows_them() {
        let revocations = watch::Sender::new(0);
        let stop = watch::Sender::new(false);
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
