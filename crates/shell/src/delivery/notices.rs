//! A bounded queue of notices for one watcher of a table, with backpressure by disconnection.
//!
//! Backpressure: sending never blocks, and an empty queue, by far the most common state, holds
//! almost no memory. A sender that finds the queue full drops the watcher: its receiver sees the
//! end of the queue, and the client can reconnect and resume.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use crate::delivery::notice::WatchEnd;

/// The capacity that an empty queue keeps. Mostly one notice is queued at a time.
const EMPTY_CAPACITY: usize = 1;

/// The sending half, held by the table.
#[derive(Debug)]
pub(crate) struct NoticeSender<T>(Arc<Mutex<Queue<T>>>);

/// The receiving half, held by the watcher.
#[derive(Debug)]
pub struct NoticeReceiver<T>(Arc<Mutex<Queue<T>>>);

#[derive(Debug)]
struct Queue<T> {
    waiting: VecDeque<T>,
    /// The waker of a receiver that waits.
    waker: Option<Waker>,
    /// Set when either half is dropped.
    is_closed: bool,
    /// The reason given by the table for closing the queue. `None` if the watcher was too slow.
    ending: Option<WatchEnd>,
}

/// The reason why a notice was not queued.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SendError {
    Full,
    /// The receiver is dropped.
    Closed,
}

pub(crate) fn notice_channel<T>() -> (NoticeSender<T>, NoticeReceiver<T>) {
    let queue = Queue { waiting: VecDeque::new(), waker: None, is_closed: false, ending: None };
    let queue = Arc::new(Mutex::new(queue));
    (NoticeSender(queue.clone()), NoticeReceiver(queue))
}

impl<T> NoticeSender<T> {
    pub(crate) fn send(&self, notice: T, capacity: usize) -> Result<(), SendError> {
        let mut queue = lock(&self.0);
        if queue.is_closed {
            return Err(SendError::Closed);
        }
        if queue.waiting.len() >= capacity {
            return Err(SendError::Full);
        }
        queue.waiting.push_back(notice);
        wake_receiver(queue);
        Ok(())
    }

    /// Wakes the receiver without queueing a notice.
    pub(crate) fn wake(&self) -> Result<(), SendError> {
        let queue = lock(&self.0);
        if queue.is_closed {
            return Err(SendError::Closed);
        }
        wake_receiver(queue);
        Ok(())
    }

    /// Closes the queue. Queued notices are still delivered.
    pub(crate) fn close(self, ending: WatchEnd) {
        lock(&self.0).ending = Some(ending);
    }

    /// Returns true if the receiver is dropped.
    pub(crate) fn is_closed(&self) -> bool {
        lock(&self.0).is_closed
    }
}

impl<T> Drop for NoticeSender<T> {
    fn drop(&mut self) {
        let mut queue = lock(&self.0);
        queue.is_closed = true;
        wake_receiver(queue);
    }
}

impl<T> NoticeReceiver<T> {
    /// Receives the next notice, or `None` if the queue is closed and empty. This method is cancel
    /// safe: dropping the future loses no notice.
    pub async fn recv(&mut self) -> Option<T> {
        poll_fn(|context| self.poll_recv(context)).await
    }

    /// Returns the next notice if one is queued.
    pub fn try_recv(&mut self) -> Option<T> {
        lock(&self.0).next()
    }

    /// Returns why the table closed the queue. `None` while the watch continues, and for a watcher
    /// that was too slow.
    pub fn ending(&self) -> Option<WatchEnd> {
        lock(&self.0).ending
    }

    /// Clears the waker, so that notices do not wake the task before the next poll. A watcher that
    /// is about to act on the table reads the result itself.
    pub fn clear_waker(&mut self) {
        lock(&self.0).waker = None;
    }

    /// Polls for the next notice and registers the task's waker if none is queued.
    pub fn poll_recv(&mut self, context: &mut Context<'_>) -> Poll<Option<T>> {
        let mut queue = lock(&self.0);
        match queue.next() {
            Some(notice) => Poll::Ready(Some(notice)),
            None if queue.is_closed => Poll::Ready(None),
            None => {
                match &mut queue.waker {
                    Some(waker) => waker.clone_from(context.waker()),
                    none => *none = Some(context.waker().clone()),
                }
                Poll::Pending
            }
        }
    }
}

impl<T> Drop for NoticeReceiver<T> {
    fn drop(&mut self) {
        let mut queue = lock(&self.0);
        queue.is_closed = true;
        // The notices are dropped after the lock is released, because one may hold the last
        // reference to a table.
        let waiting = std::mem::take(&mut queue.waiting);
        drop(queue);
        drop(waiting);
    }
}

impl<T> Queue<T> {
    fn next(&mut self) -> Option<T> {
        let next = self.waiting.pop_front();
        if self.waiting.is_empty() {
            self.waiting.shrink_to(EMPTY_CAPACITY);
        }
        next
    }
}

fn lock<T>(queue: &Mutex<Queue<T>>) -> MutexGuard<'_, Queue<T>> {
    queue.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Wakes a receiver that waits, after the lock is released.
fn wake_receiver<T>(mut queue: MutexGuard<'_, Queue<T>>) {
    let waker = queue.waker.take();
    drop(queue);
    waker.into_iter().for_each(Waker::wake);
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::task::{Context, Poll, Wake, Waker};

    use super::{SendError, notice_channel};
    use crate::delivery::notice::WatchEnd;

    const NOTICES_MAX: usize = 64;

    #[derive(Default)]
    struct WakeCount(AtomicUsize);

    impl Wake for WakeCount {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    #[test]
    fn a_receiver_without_a_waker_is_not_woken_and_finds_queued_notices() {
        let (sender, mut notices) = notice_channel();
        let woken = Arc::new(WakeCount::default());
        let waker = woken.clone().into();
        let mut context = Context::from_waker(&waker);
        assert_eq!(notices.poll_recv(&mut context), Poll::Pending);
        notices.clear_waker();
        sender.send(1, NOTICES_MAX).expect("the queue has capacity");
        assert_eq!(woken.0.load(Ordering::Relaxed), 0);
        assert_eq!(notices.poll_recv(&mut context), Poll::Ready(Some(1)));
        assert_eq!(notices.poll_recv(&mut context), Poll::Pending);
        sender.send(2, NOTICES_MAX).expect("the queue has capacity");
        assert_eq!(woken.0.load(Ordering::Relaxed), 1);
    }

    #[test]
    fn a_full_queue_and_a_closed_queue_reject_notices() {
        let (sender, mut notices) = notice_channel();
        (0..NOTICES_MAX)
            .for_each(|number| sender.send(number, NOTICES_MAX).expect("the queue has capacity"));
        assert_eq!(sender.send(NOTICES_MAX, NOTICES_MAX), Err(SendError::Full));
        assert_eq!(notices.try_recv(), Some(0));
        assert_eq!(sender.send(NOTICES_MAX, NOTICES_MAX), Ok(()));
        assert!(!sender.is_closed());
        drop(notices);
        assert!(sender.is_closed());
        assert_eq!(sender.send(0, NOTICES_MAX), Err(SendError::Closed));
    }

    #[test]
    fn queued_notices_are_delivered_after_the_close() {
        let (sender, mut notices) = notice_channel();
        sender.send(1, NOTICES_MAX).expect("the queue has capacity");
        sender.close(WatchEnd::Voided);
        let mut context = Context::from_waker(Waker::noop());
        assert_eq!(notices.poll_recv(&mut context), Poll::Ready(Some(1)));
        assert_eq!(notices.poll_recv(&mut context), Poll::Ready(None));
        assert_eq!(notices.ending(), Some(WatchEnd::Voided));
    }
}
