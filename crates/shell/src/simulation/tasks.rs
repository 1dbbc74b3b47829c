//! A cooperative executor: the tasks of nodes and clients in one thread.
//!
//! A task is a future that waits for a [`Wait`] or a [`Mailbox`], which record the waiting task, or
//! for a future of the shell, which records its waker. Tasks run in the order in which they were
//! woken, so a run depends only on its seed. The tasks of an owner can be paused, and cancelled at
//! any point, as the memory of a process is lost.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, VecDeque};
use std::pin::Pin;
use std::rc::Rc;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Wake, Waker};

/// The owner of a task.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Owner {
    /// The world: the faults and the phases of a run.
    World,
    /// A node, by its slot.
    Node(usize),
    /// A client, by its number.
    Client(usize),
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct TaskId(u64);

struct Task {
    owner: Owner,
    waker: Waker,
    future: Pin<Box<dyn Future<Output = ()>>>,
}

/// The waker of a task, for futures of the shell.
struct TaskWaker {
    id: TaskId,
    woken: Arc<Mutex<Vec<TaskId>>>,
}

impl Wake for TaskWaker {
    fn wake(self: Arc<Self>) {
        lock_woken(&self.woken).push(self.id);
    }
}

fn lock_woken(woken: &Mutex<Vec<TaskId>>) -> MutexGuard<'_, Vec<TaskId>> {
    woken.lock().unwrap_or_else(PoisonError::into_inner)
}

/// All tasks of a run.
#[derive(Default)]
pub(super) struct Tasks {
    next: Cell<u64>,
    current: Cell<Option<TaskId>>,
    tasks: RefCell<BTreeMap<TaskId, Task>>,
    ready: RefCell<VecDeque<TaskId>>,
    /// The tasks that were woken by their wakers.
    woken: Arc<Mutex<Vec<TaskId>>>,
    /// The tasks that were woken while their owner was paused.
    paused: RefCell<BTreeMap<Owner, Vec<TaskId>>>,
}

impl Tasks {
    pub(super) fn spawn(&self, owner: Owner, future: impl Future<Output = ()> + 'static) {
        let id = TaskId(self.next.get());
        self.next.set(id.0 + 1);
        let waker = Arc::new(TaskWaker { id, woken: self.woken.clone() }).into();
        self.tasks.borrow_mut().insert(id, Task { owner, waker, future: Box::pin(future) });
        self.wake(id);
    }

    /// Runs every woken task until it waits again.
    pub(super) fn run(&self) {
        loop {
            let woken = std::mem::take(&mut *lock_woken(&self.woken));
            self.ready.borrow_mut().extend(woken);
            let Some(id) = self.ready.borrow_mut().pop_front() else {
                return;
            };
            // The task was cancelled meanwhile, or woken twice.
            let Some(mut task) = self.tasks.borrow_mut().remove(&id) else {
                continue;
            };
            if let Some(held) = self.paused.borrow_mut().get_mut(&task.owner) {
                held.push(id);
                self.tasks.borrow_mut().insert(id, task);
                continue;
            }
            self.current.set(Some(id));
            let polled = task.future.as_mut().poll(&mut Context::from_waker(&task.waker.clone()));
            self.current.set(None);
            if polled.is_pending() {
                self.tasks.borrow_mut().insert(id, task);
            }
        }
    }

    /// Cancels every task of an owner.
    pub(super) fn cancel_all(&self, owner: Owner) {
        let tasks = std::mem::take(&mut *self.tasks.borrow_mut());
        let (ended, left) = tasks.into_iter().partition(|(_, task)| task.owner == owner);
        *self.tasks.borrow_mut() = left;
        self.paused.borrow_mut().remove(&owner);
        // The tasks are dropped last, because dropping one may wake others.
        drop::<BTreeMap<TaskId, Task>>(ended);
    }

    /// Cancels all tasks, which hold references to the world that holds them.
    pub(super) fn clear(&self) {
        let tasks = std::mem::take(&mut *self.tasks.borrow_mut());
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

/// Returns the two halves of a value that is delivered once.
pub(super) fn promise<T>(tasks: &Rc<Tasks>) -> (Promise<T>, Wait<T>) {
    let state = Rc::new(PromiseState {
        value: RefCell::new(None),
        is_resolved: Cell::new(false),
        waiter: Cell::new(None),
    });
    let promise = Promise { state: state.clone(), tasks: tasks.clone() };
    (promise, Wait { state, tasks: tasks.clone() })
}

struct PromiseState<T> {
    value: RefCell<Option<T>>,
    is_resolved: Cell<bool>,
    waiter: Cell<Option<TaskId>>,
}

/// The sending half; the first value counts.
pub(super) struct Promise<T> {
    state: Rc<PromiseState<T>>,
    tasks: Rc<Tasks>,
}

impl<T> Clone for Promise<T> {
    fn clone(&self) -> Self {
        Self { state: self.state.clone(), tasks: self.tasks.clone() }
    }
}

impl<T> Promise<T> {
    pub(super) fn resolve(&self, value: T) {
        if self.state.is_resolved.replace(true) {
            return;
        }
        *self.state.value.borrow_mut() = Some(value);
        if let Some(waiter) = self.state.waiter.get() {
            self.tasks.wake(waiter);
        }
    }
}

/// The receiving half.
pub(super) struct Wait<T> {
    state: Rc<PromiseState<T>>,
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

/// A queue with one reader.
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

    pub(super) fn try_pop(&self) -> Option<T> {
        self.queue.borrow_mut().pop_front()
    }

    /// Wakes the current task at the next push.
    pub(super) fn watch(&self) {
        self.waiter.set(Some(self.tasks.current()));
    }

    pub(super) async fn pop(&self) -> T {
        std::future::poll_fn(|_| match self.try_pop() {
            Some(item) => Poll::Ready(item),
            None => {
                self.watch();
                Poll::Pending
            }
        })
        .await
    }
}
