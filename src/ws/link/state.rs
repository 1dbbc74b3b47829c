//! The state of a connection that its session and the link monitor share.

use std::sync::atomic::{AtomicBool, Ordering};

use tokio::sync::Notify;

/// The state of a connection that its session and the monitor share.
#[derive(Debug, Default)]
pub(in crate::ws) struct LinkState {
    /// A frame was received since the last tick.
    is_heard: AtomicBool,
    is_asked: AtomicBool,
    /// The session is reading.
    is_read: AtomicBool,
    lost: Notify,
}

impl LinkState {
    /// Records a frame of the client.
    pub(in crate::ws) fn record_frame(&self) {
        self.is_heard.store(true, Ordering::Relaxed);
    }

    /// Sets whether the player has an open prompt.
    pub(in crate::ws) fn set_prompted(&self, is_asked: bool) {
        self.is_asked.store(is_asked, Ordering::Relaxed);
    }

    /// Sets whether the session is reading, or busy.
    pub(in crate::ws) fn set_reading(&self, is_read: bool) {
        self.is_read.store(is_read, Ordering::Relaxed);
    }

    /// Declares the connection lost.
    pub(in crate::ws) fn declare_lost(&self) {
        self.lost.notify_one();
    }

    /// Waits until the connection is declared lost.
    pub(in crate::ws) async fn wait_until_lost(&self) {
        self.lost.notified().await;
    }

    pub(in crate::ws) fn take_signs(&self) -> Signs {
        let is_heard = self.is_heard.swap(false, Ordering::Relaxed);
        let is_read = self.is_read.load(Ordering::Relaxed);
        Signs { is_alive: is_heard || !is_read, is_asked: self.is_asked.load(Ordering::Relaxed) }
    }
}

/// The signs of life of a connection since the last tick.
#[derive(Clone, Copy, Debug)]
pub(in crate::ws) struct Signs {
    /// A frame was received, or could not have been.
    pub(in crate::ws) is_alive: bool,
    pub(in crate::ws) is_asked: bool,
}
