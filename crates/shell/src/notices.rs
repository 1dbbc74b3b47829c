//! What waits for one watcher of a table: a queue that is bounded, never waits to take something
//! in, and takes hardly any memory while it is empty, as it nearly always is. A watcher that lets too
//! much gather is dropped: it sees the end of its notices, and can come back and resume.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use crate::notice::WatchEnd;

/// An empty queue keeps room for so many: one is what mostly comes.
const EMPTY_CAPACITY: usize = 1;

/// The table's end.
#[derive(Debug)]
pub(crate) struct NoticeSender<T>(Arc<Mutex<Queue<T>>>);

/// The watcher's end.
#[derive(Debug)]
pub struct NoticeReceiver<T>(Arc<Mutex<Queue<T>>>);

#[derive(Debug)]
struct Queue<T> {
    waiting: VecDeque<T>,
    /// Of the watcher, where it waits.
    waker: Option<Waker>,
    /// Either end is gone.
    is_closed: bool,
    /// Why the table has ended the watch; unset where the watcher did not keep up.
    ending: Option<WatchEnd>,
}

/// Why something was not taken in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SendError {
    Full,
    /// The watcher is gone.
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
        let waker = queue.waker.take();
        drop(queue);
        waker.into_iter().for_each(Waker::wake);
        Ok(())
    }

    /// Wakes the watcher without anything for it here.
    pub(crate) fn wake(&self) -> Result<(), SendError> {
        let mut queue = lock(&self.0);
        if queue.is_closed {
            return Err(SendError::Closed);
        }
        let waker = queue.waker.take();
        drop(queue);
        waker.into_iter().for_each(Waker::wake);
        Ok(())
    }

    /// Ends the watch, after what waits.
    pub(crate) fn close(self, ending: WatchEnd) {
        lock(&self.0).ending = Some(ending);
    }

    /// Whether the watcher is gone.
    pub(crate) fn is_closed(&self) -> bool {
        lock(&self.0).is_closed
    }
}

impl<T> Drop for NoticeSender<T> {
    fn drop(&mut self) {
        let mut queue = lock(&self.0);
        queue.is_closed = true;
        let waker = queue.waker.take();
        drop(queue);
        waker.into_iter().for_each(Waker::wake);
    }
}

impl<T> NoticeReceiver<T> {
    /// The next one; `None` once the table has ended the watch and nothing waits any more. Nothing
    /// is lost when this is dropped before it is ready.
    pub async fn recv(&mut self) -> Option<T> {
        poll_fn(|context| self.poll_recv(context)).await
    }

    /// The next one, if it is there already.
    pub fn try_recv(&mut self) -> Option<T> {
        lock(&self.0).next()
    }

    /// Why the table has ended the watch. `None` while it goes on, and where the watcher did not
    /// keep up.
    pub fn ending(&self) -> Option<WatchEnd> {
        lock(&self.0).ending
    }

    /// Whether the table has ended the watch and nothing waits any more.
    pub fn is_finished(&self) -> bool {
        let queue = lock(&self.0);
        queue.is_closed && queue.waiting.is_empty()
    }

    /// Is not woken until the next one is asked for: for a watcher that is about to do something to
    /// the table, and will look by itself for what that has brought.
    pub fn clear_waker(&mut self) {
        lock(&self.0).waker = None;
    }

    /// The next one, or has the task woken when it comes.
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
        // Dropped behind the lock: a notice may hold the last of a table.
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

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::task::{Context, Poll, Wake};

    use super::{SendError, notice_channel};
    use crate::notice::WatchEnd;

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
        sender.send(1, NOTICES_MAX).expect("there is room");
        assert_eq!(woken.0.load(Ordering::Relaxed), 0);
        assert_eq!(notices.poll_recv(&mut context), Poll::Ready(Some(1)));
        assert_eq!(notices.poll_recv(&mut context), Poll::Pending);
        sender.send(2, NOTICES_MAX).expect("there is room");
        assert_eq!(woken.0.load(Ordering::Relaxed), 1);
    }

    #[test]
    fn a_full_queue_and_a_closed_queue_reject_notices() {
        let (sender, mut notices) = notice_channel();
        (0..NOTICES_MAX)
            .for_each(|number| sender.send(number, NOTICES_MAX).expect("there is room"));
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
        sender.send(1, NOTICES_MAX).expect("there is room");
        assert!(!notices.is_finished());
        sender.close(WatchEnd::Voided);
        assert_eq!((notices.try_recv(), notices.try_recv()), (Some(1), None));
        assert_eq!((notices.ending(), notices.is_finished()), (Some(WatchEnd::Voided), true));
    }
}
