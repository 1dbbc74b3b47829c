//! The place of one table in a node, as `src/tables/slot.rs` has it: a copy of the table and those
//! who watch it, behind one lock. Decide on the copy, append to the journal, replace the copy,
//! tell the watchers; whoever was slower follows the lines it missed and decides again.

use alloc::format;
use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec::Vec;
use core::cell::Cell;

use crate::games::tongits::{Action, Event as GameEvent, Illegal, Tongits};
use crate::table::{
    ConnectionId, Event, Input, Line, Phase, Rejection, Table, TableId, Timestamp, Transition,
};
use crate::testing::house::node::Node;
use crate::testing::house::redis::{Reply, Request};
use crate::testing::house::tasks::{Held, Lock, Mailbox};
use crate::testing::house::world::World;

/// How often an input is decided on before it counts as unavailable.
const ATTEMPTS: usize = 16;

/// A journal this long is replaced by a snapshot when no game is running. Shorter than in the
/// service, so that it happens often.
const JOURNAL_LINES_MAX: usize = 150;

/// An empty table without a POT is forgotten after this time.
pub(super) const IDLE_MS: u64 = 60 * 60 * 1_000;

/// Notices that wait for one watcher before it is dropped. Fewer than in the service, so that it
/// happens.
const OUTBOX: usize = 8;

/// Live state did not answer; whether the call took effect is unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Unavailable;

/// Why an input was not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SubmitError {
    Rejected(Rejection<Illegal>),
    Missing,
    Unavailable,
}

impl From<Unavailable> for SubmitError {
    fn from(_: Unavailable) -> Self {
        Self::Unavailable
    }
}

/// A table at a version.
#[derive(Clone)]
struct Copy {
    table: Rc<Table<Tongits>>,
    version: u64,
    journal_lines: usize,
}

/// A line that a viewer missed.
#[derive(Clone)]
pub(super) struct Missed {
    pub(super) version: u64,
    pub(super) events: Rc<[Event<GameEvent>]>,
}

/// What a watcher is told; `None` when it did not keep up.
#[derive(Clone)]
pub(super) struct Notice {
    pub(super) version: u64,
    pub(super) events: Rc<[Event<GameEvent>]>,
    pub(super) table: Rc<Table<Tongits>>,
    /// Something before is not told: show the whole table.
    pub(super) anew: bool,
}

/// The notices of one watcher.
pub(super) struct Outbox {
    pub(super) notices: Mailbox<Option<Notice>>,
    pub(super) is_closed: Cell<bool>,
}

struct Watcher {
    connection: ConnectionId,
    outbox: Rc<Outbox>,
}

/// What a new watcher begins with.
pub(super) struct Watch {
    pub(super) version: u64,
    pub(super) table: Rc<Table<Tongits>>,
    pub(super) missed: Option<Vec<Missed>>,
    pub(super) outbox: Rc<Outbox>,
}

#[derive(Default)]
struct State {
    copy: Option<Copy>,
    watchers: Vec<Watcher>,
}

pub(super) struct Slot {
    id: TableId,
    state: Lock<State>,
    /// An effect of the ledger is being carried out.
    pub(super) busy: Cell<bool>,
    watched: Cell<bool>,
}

impl Slot {
    pub(super) fn new(world: &Rc<World>, id: TableId) -> Self {
        let state = Lock::new(&world.tasks, State::default());
        Self { id, state, busy: Cell::new(false), watched: Cell::new(false) }
    }

    pub(super) fn id(&self) -> TableId {
        self.id
    }

    pub(super) fn is_watched(&self) -> bool {
        self.watched.get()
    }

    pub(super) async fn look(
        &self,
        node: &Node,
    ) -> Result<Option<Rc<Table<Tongits>>>, Unavailable> {
        let mut state = self.state.lock().await;
        self.refresh(node, &mut state).await?;
        Ok(state.copy.as_ref().map(|copy| copy.table.clone()))
    }

    /// The copy as it is, and its version.
    pub(super) async fn current(&self) -> Option<(Rc<Table<Tongits>>, u64)> {
        let state = self.state.lock().await;
        state.copy.as_ref().map(|copy| (copy.table.clone(), copy.version))
    }

    pub(super) async fn submit(
        &self,
        node: &Node,
        input: Input<Action>,
    ) -> Result<u64, SubmitError> {
        let mut state = self.state.lock().await;
        let mut is_fresh = false;
        for _ in 0..ATTEMPTS {
            if state.copy.is_none() {
                self.refresh(node, &mut state).await?;
                is_fresh = true;
            }
            let current = state.copy.as_ref().ok_or(SubmitError::Missing)?;
            let decided = current.table.decide(node.now(), input.clone(), || node.world.fresh());
            let transition = match decided {
                Ok(transition) => transition,
                Err(_) if !is_fresh => {
                    self.refresh(node, &mut state).await?;
                    is_fresh = true;
                    continue;
                }
                Err(rejection) => return Err(SubmitError::Rejected(rejection)),
            };
            match node.redis(append(self.id, current.version, &transition)).await {
                Ok(Reply::Appended) => {
                    let State { copy, watchers } = &mut *state;
                    let current = copy.as_mut().ok_or(SubmitError::Missing)?;
                    let happened = current.replace(transition.table, transition.events);
                    tell(watchers, &current.table, &happened);
                    self.seats_changed(node, &current.table, &happened).await;
                    self.compact(node, current).await;
                    return Ok(happened.version);
                }
                Ok(Reply::Behind(lines)) => {
                    if follow_all(&mut state, &lines).is_err() {
                        node.world.fail(format!("{}: a missed line cannot be followed", self.id));
                        state.copy = None;
                        return Err(SubmitError::Unavailable);
                    }
                    is_fresh = true;
                }
                Ok(_) => state.copy = None,
                Err(unavailable) => {
                    state.copy = None;
                    return Err(unavailable.into());
                }
            }
        }
        Err(SubmitError::Unavailable)
    }

    pub(super) async fn watch(
        &self,
        node: &Node,
        connection: ConnectionId,
        from: Option<u64>,
    ) -> Result<Watch, SubmitError> {
        let mut state = self.state.lock().await;
        if !self.is_watched() {
            node.redis(Request::Watch { table: self.id }).await?;
            self.watched.set(true);
        }
        self.refresh(node, &mut state).await?;
        let missed = match (from, &state.copy) {
            (Some(from), Some(current)) if from == current.version => Some(Vec::new()),
            (Some(from), Some(current)) => self.missed(node, current.version, from).await?,
            (None, _) | (_, None) => None,
        };
        let current = state.copy.as_ref().ok_or(SubmitError::Missing)?;
        let (version, table) = (current.version, current.table.clone());
        let notices = Mailbox::new(&node.world.tasks);
        let outbox = Rc::new(Outbox { notices, is_closed: Cell::new(false) });
        state.watchers.retain(|watcher| watcher.connection != connection);
        state.watchers.push(Watcher { connection, outbox: outbox.clone() });
        Ok(Watch { version, table, missed, outbox })
    }

    /// What happened after `from` up to `version`, from the journal.
    async fn missed(
        &self,
        node: &Node,
        version: u64,
        from: u64,
    ) -> Result<Option<Vec<Missed>>, Unavailable> {
        let Reply::Whole { base, snapshot, lines } =
            node.redis(Request::Load { table: self.id }).await?
        else {
            return Ok(None);
        };
        let last = base + lines.len() as u64;
        if !(base..=last).contains(&from) {
            return Ok(None);
        }
        let mut copy = Copy::read(base, &snapshot)?;
        let mut missed = Vec::new();
        for line in &lines {
            let happened = copy.follow(line)?;
            if happened.version > from && happened.version <= version {
                missed.push(happened);
            }
        }
        Ok(Some(missed))
    }

    /// A line that somebody published: followed if it is the next one, passed over if known.
    pub(super) async fn published(&self, node: &Node, version: u64, line: &Rc<str>) {
        let mut state = self.state.lock().await;
        let Some(current) = &state.copy else {
            return;
        };
        if version == current.version {
            if follow_all(&mut state, core::slice::from_ref(line)).is_err() {
                node.world.fail(format!("{}: a published line cannot be followed", self.id));
                state.copy = None;
            }
        } else if version > current.version {
            // A gap that stays open is closed by the next line or the next sweep.
            let _ = self.refresh(node, &mut state).await;
        }
    }

    /// Reads what is new, and stops listening where nobody watches any more.
    pub(super) async fn catch_up(&self, node: &Node) {
        let mut state = self.state.lock().await;
        if state.watchers.iter().all(|watcher| watcher.outbox.is_closed.get()) {
            state.watchers.clear();
            if self.watched.replace(false) {
                let _ = node.redis(Request::Unwatch { table: self.id }).await;
            }
            return;
        }
        let _ = self.refresh(node, &mut state).await;
    }

    /// Brings the copy up to the journal and tells the watchers what was new.
    async fn refresh(&self, node: &Node, state: &mut Held<'_, State>) -> Result<(), Unavailable> {
        if let Some(current) = &state.copy {
            let tail = Request::Tail { table: self.id, from: current.version };
            if let Reply::Lines(lines) = node.redis(tail).await?
                && follow_all(state, &lines).is_ok()
            {
                return Ok(());
            }
        }
        state.copy = None;
        let Reply::Whole { base, snapshot, lines } =
            node.redis(Request::Load { table: self.id }).await?
        else {
            return Ok(());
        };
        let mut copy = Copy::read(base, &snapshot)?;
        for line in &lines {
            if copy.follow(line).is_err() {
                node.world.fail(format!("{}: the journal cannot be replayed", self.id));
                return Err(Unavailable);
            }
        }
        let (events, version) = (Rc::from([]), copy.version);
        let table = copy.table.clone();
        send(&mut state.watchers, &Notice { version, events, table, anew: true });
        state.copy = Some(copy);
        Ok(())
    }

    /// The players' bonds and the room's list follow the seats. They are hints.
    async fn seats_changed(&self, node: &Node, table: &Table<Tongits>, happened: &Missed) {
        let mut changed = false;
        for event in happened.events.iter() {
            match event {
                Event::Sat { .. } => changed = true,
                Event::Left { player, .. } => {
                    changed = true;
                    let _ = node.redis(Request::Release { player: *player, table: self.id }).await;
                }
                _ => {}
            }
        }
        if changed {
            let _ = node.redis(listing(table)).await;
        }
    }

    async fn compact(&self, node: &Node, current: &mut Copy) {
        if current.journal_lines < JOURNAL_LINES_MAX || current.table.phase().is_running() {
            return;
        }
        let snapshot = written(&*current.table);
        let request = Request::Compact { table: self.id, version: current.version, snapshot };
        if let Ok(Reply::Flag(true)) = node.redis(request).await {
            current.journal_lines = 0;
            node.world.tally.borrow_mut().compactions += 1;
        }
    }
}

/// How a table is listed in its room: a POT that waits first, then the fewest free seats.
pub(super) fn listing(table: &Table<Tongits>) -> Request {
    let free = u32::try_from(table.seats_free()).unwrap_or(9);
    let rank = if table.pot().is_zero() { 10 } else { 0 };
    Request::List { table: table.id(), score: (free > 0).then_some(rank + free) }
}

fn append(table: TableId, version: u64, transition: &Transition<Tongits>) -> Request {
    let after = &transition.table;
    let is_idle = matches!(after.phase(), Phase::Waiting)
        && after.occupants().next().is_none()
        && after.pot().is_zero();
    Request::Append {
        table,
        version,
        line: written(&transition.line),
        deadline_ms: after.deadline().map(Timestamp::ms),
        idle_ms: is_idle.then_some(IDLE_MS),
    }
}

pub(super) fn written(value: &impl serde::Serialize) -> Rc<str> {
    let text: String = serde_json::to_string(value).expect("tables and lines can be written");
    text.into()
}

fn follow_all(state: &mut State, lines: &[Rc<str>]) -> Result<(), Unavailable> {
    let State { copy, watchers } = state;
    let current = copy.as_mut().ok_or(Unavailable)?;
    for line in lines {
        let happened = current.follow(line)?;
        tell(watchers, &current.table, &happened);
    }
    Ok(())
}

fn tell(watchers: &mut Vec<Watcher>, table: &Rc<Table<Tongits>>, happened: &Missed) {
    let Missed { version, events } = happened.clone();
    send(watchers, &Notice { version, events, table: table.clone(), anew: false });
}

fn send(watchers: &mut Vec<Watcher>, notice: &Notice) {
    watchers.retain(|watcher| {
        let Outbox { notices, is_closed } = &*watcher.outbox;
        let keeps_up = notices.len() < OUTBOX;
        if !is_closed.get() {
            notices.push(keeps_up.then(|| notice.clone()));
        }
        keeps_up && !is_closed.get()
    });
}

impl Copy {
    fn read(base: u64, snapshot: &str) -> Result<Self, Unavailable> {
        let table: Table<Tongits> = serde_json::from_str(snapshot).map_err(|_| Unavailable)?;
        Ok(Self { table: Rc::new(table), version: base, journal_lines: 0 })
    }

    fn follow(&mut self, line: &str) -> Result<Missed, Unavailable> {
        let line: Line<Action> = serde_json::from_str(line).map_err(|_| Unavailable)?;
        let (table, events) = self.table.follow(&line).map_err(|_| Unavailable)?;
        Ok(self.replace(table, events))
    }

    fn replace(&mut self, table: Table<Tongits>, events: Vec<Event<GameEvent>>) -> Missed {
        self.table = Rc::new(table);
        self.version += 1;
        self.journal_lines += 1;
        Missed { version: self.version, events: events.into() }
    }
}
