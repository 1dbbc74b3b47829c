//! Many things at once in one thread: the tasks of nodes and clients, and what they wait for.
//!
//! A task is a future; it waits for a [`Wait`], a [`Mailbox`] or a [`Lock`], each of which knows
//! the task that waits for it. Tasks go on in the order in which they were woken, so that a run
//! depends on nothing but its seed. The tasks of an owner can be paused, and ended all at once in
//! whatever they were doing, as the memory of a process ends.

use alloc::boxed::Box;
use alloc::collections::{BTreeMap, VecDeque};
use alloc::rc::Rc;
use alloc::vec::Vec;
use core::cell::{Cell, RefCell, RefMut};
use core::future::Future;
use core::ops::{Deref, DerefMut};
use core::pin::Pin;
use core::task::{Context, Poll, Waker};

/// Whose task it is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Owner {
    /// The world itself: the faults and the course of a run.
    World,
    /// A node, by its number.
    Node(usize),
    /// A client, by its number.
    Client(usize),
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct TaskId(u64);

struct Task {
    owner: Owner,
    future: Pin<Box<dyn Future<Output = ()>>>,
}

/// Every task of a run.
#[derive(Default)]
pub(super) struct Tasks {
    next: Cell<u64>,
    current: Cell<Option<TaskId>>,
    tasks: RefCell<BTreeMap<TaskId, Task>>,
    ready: RefCell<VecDeque<TaskId>>,
    /// What was woken while its owner was paused.
    paused: RefCell<BTreeMap<Owner, Vec<TaskId>>>,
}

impl Tasks {
    pub(super) fn spawn(&self, owner: Owner, future: impl Future<Output = ()> + 'static) {
        let id = TaskId(self.next.get());
        self.next.set(id.0 + 1);
        self.tasks.borrow_mut().insert(id, Task { owner, future: Box::pin(future) });
        self.wake(id);
    }

    /// Lets every task that was woken go on until it waits again.
    pub(super) fn run(&self) {
        loop {
            let Some(id) = self.ready.borrow_mut().pop_front() else {
                return;
            };
            // Ended meanwhile, or woken twice.
            let Some(mut task) = self.tasks.borrow_mut().remove(&id) else {
                continue;
            };
            if let Some(held) = self.paused.borrow_mut().get_mut(&task.owner) {
                held.push(id);
                self.tasks.borrow_mut().insert(id, task);
                continue;
            }
            self.current.set(Some(id));
            let polled = task.future.as_mut().poll(&mut Context::from_waker(Waker::noop()));
            self.current.set(None);
            if polled.is_pending() {
                self.tasks.borrow_mut().insert(id, task);
            }
        }
    }

    /// Ends every task of an owner where it stands.
    pub(super) fn end(&self, owner: Owner) {
        let tasks = core::mem::take(&mut *self.tasks.borrow_mut());
        let (ended, left) = tasks.into_iter().partition(|(_, task)| task.owner == owner);
        *self.tasks.borrow_mut() = left;
        self.paused.borrow_mut().remove(&owner);
        // Last, because what a task held may wake others when it is let go.
        drop::<BTreeMap<TaskId, Task>>(ended);
    }

    /// Ends everything: tasks hold the world that holds them.
    pub(super) fn clear(&self) {
        let tasks = core::mem::take(&mut *self.tasks.borrow_mut());
        drop(tasks);
        self.ready.borrow_mut().clear();
    }

    pub(super) fn pause(&self, owner: Owner) {
        self.paused.borrow_mut().entry(owner).or_default();
    }

    pub(super) fn resume(&self, owner: Owner) {
        let held = self.paused.borrow_mut().remove(&owner).unwrap_or_default();
        self.ready.borrow_mut().extend(held);
    }

    fn wake(&self, id: TaskId) {
        self.ready.borrow_mut().push_back(id);
    }

    fn current(&self) -> TaskId {
        self.current.get().expect("only a task waits")
    }
}

/// The two ends of something that comes once.
pub(super) fn promise<T>(tasks: &Rc<Tasks>) -> (Promise<T>, Wait<T>) {
    let state = Rc::new(Once {
        value: RefCell::new(None),
        kept: Cell::new(false),
        waiter: Cell::new(None),
    });
    let promise = Promise { state: state.clone(), tasks: tasks.clone() };
    (promise, Wait { state, tasks: tasks.clone() })
}

struct Once<T> {
    value: RefCell<Option<T>>,
    kept: Cell<bool>,
    waiter: Cell<Option<TaskId>>,
}

/// Gives the value; the first one counts.
pub(super) struct Promise<T> {
    state: Rc<Once<T>>,
    tasks: Rc<Tasks>,
}

impl<T> Clone for Promise<T> {
    fn clone(&self) -> Self {
        Self { state: self.state.clone(), tasks: self.tasks.clone() }
    }
}

impl<T> Promise<T> {
    pub(super) fn keep(&self, value: T) {
        if self.state.kept.replace(true) {
            return;
        }
        *self.state.value.borrow_mut() = Some(value);
        if let Some(waiter) = self.state.waiter.get() {
            self.tasks.wake(waiter);
        }
    }
}

/// Waits for the value.
pub(super) struct Wait<T> {
    state: Rc<Once<T>>,
    tasks: Rc<Tasks>,
}

impl<T> Future for Wait<T> {
    type Output = T;

    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<T> {
        match self.state.value.borrow_mut().take() {
            Some(value) => Poll::Ready(value),
            None => {
                self.state.waiter.set(Some(self.tasks.current()));
                Poll::Pending
            }
        }
    }
}

/// A queue that one task reads.
pub(super) struct Mailbox<T> {
    queue: RefCell<VecDeque<T>>,
    waiter: Cell<Option<TaskId>>,
    tasks: Rc<Tasks>,
}

impl<T> Mailbox<T> {
    pub(super) fn new(tasks: &Rc<Tasks>) -> Self {
        Self { queue: RefCell::default(), waiter: Cell::new(None), tasks: tasks.clone() }
    }

    pub(super) fn push(&self, item: T) {
        self.queue.borrow_mut().push_back(item);
        if let Some(waiter) = self.waiter.take() {
            self.tasks.wake(waiter);
        }
    }

    pub(super) fn len(&self) -> usize {
        self.queue.borrow().len()
    }

    pub(super) fn try_pop(&self) -> Option<T> {
        self.queue.borrow_mut().pop_front()
    }

    /// Has the current task woken by the next push.
    pub(super) fn watch(&self) {
        self.waiter.set(Some(self.tasks.current()));
    }

    pub(super) async fn pop(&self) -> T {
        core::future::poll_fn(|_| match self.try_pop() {
            Some(item) => Poll::Ready(item),
            None => {
                self.watch();
                Poll::Pending
            }
        })
        .await
    }
}

/// Something that one task has at a time, first come, first served.
pub(super) struct Lock<T> {
    value: RefCell<T>,
    held: Cell<bool>,
    waiting: RefCell<VecDeque<Promise<()>>>,
    tasks: Rc<Tasks>,
}

/// Has it until dropped.
pub(super) struct Held<'a, T> {
    lock: &'a Lock<T>,
    value: Option<RefMut<'a, T>>,
}

impl<T> Lock<T> {
    pub(super) fn new(tasks: &Rc<Tasks>, value: T) -> Self {
        Self {
            value: RefCell::new(value),
            held: Cell::new(false),
            waiting: RefCell::default(),
            tasks: tasks.clone(),
        }
    }

    pub(super) async fn lock(&self) -> Held<'_, T> {
        if self.held.replace(true) {
            let (promise, turn) = promise(&self.tasks);
            self.waiting.borrow_mut().push_back(promise);
            turn.await;
        }
        Held { lock: self, value: Some(self.value.borrow_mut()) }
    }
}

impl<T> Deref for Held<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.value.as_ref().expect("it is given back only when dropped")
    }
}

impl<T> DerefMut for Held<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        self.value.as_mut().expect("it is given back only when dropped")
    }
}

impl<T> Drop for Held<'_, T> {
    fn drop(&mut self) {
        self.value = None;
        let next = self.lock.waiting.borrow_mut().pop_front();
        match next {
            Some(next) => next.keep(()),
            None => self.lock.held.set(false),
        }
    }
}
