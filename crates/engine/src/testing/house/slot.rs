//! The place of one table in a node, as `src/tables/slot.rs` has it: a copy of the table and those
//! who watch it, behind one lock. Decide on the copy, append to the journal, replace the copy,
//! tell the watchers; whoever was slower follows the lines it missed and decides again.

use alloc::collections::VecDeque;
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
use crate::testing::house::redis::{Entry, Point, Published, Reply, Request};
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

/// How many points a copy remembers. Fewer than in the service, so that it forgets some.
const REMEMBERED: usize = 4;

/// A table at a point of its history.
#[derive(Clone)]
struct Copy {
    table: Rc<Table<Tongits>>,
    at: Point,
    journal_lines: usize,
    /// The tags of the last lines, the newest last.
    recent: VecDeque<u64>,
}

/// A line that a viewer missed.
#[derive(Clone)]
pub(super) struct Missed {
    pub(super) at: Point,
    pub(super) events: Rc<[Event<GameEvent>]>,
}

/// What a watcher is told; `None` when it did not keep up.
#[derive(Clone)]
pub(super) struct Notice {
    pub(super) at: Point,
    pub(super) events: Rc<[Event<GameEvent>]>,
    pub(super) table: Rc<Table<Tongits>>,
    /// Something before is not told: show the whole table.
    pub(super) anew: bool,
    /// The history that was told until now is not that of the table any more.
    pub(super) parted: bool,
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
    pub(super) at: Point,
    pub(super) table: Rc<Table<Tongits>>,
    pub(super) missed: Option<Vec<Missed>>,
    pub(super) outbox: Rc<Outbox>,
}

#[derive(Default)]
struct State {
    copy: Option<Copy>,
    watchers: Vec<Watcher>,
    /// The last point that was told to whoever watched then.
    told: Option<Point>,
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
        state.copy.as_ref().map(|copy| (copy.table.clone(), copy.at.version))
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
            let tag = node.world.tag();
            match node.redis(append(self.id, current.at, tag, &transition)).await {
                Ok(Reply::Appended) => {
                    let State { copy, watchers, told } = &mut *state;
                    let current = copy.as_mut().ok_or(SubmitError::Missing)?;
                    let happened = current.replace(transition.table, transition.events, tag);
                    tell(watchers, told, &current.table, &happened);
                    self.seats_changed(node, &current.table, &happened).await;
                    self.compact(node, current).await;
                    return Ok(happened.at.version);
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
        from: Option<Point>,
    ) -> Result<Watch, SubmitError> {
        let mut state = self.state.lock().await;
        if !self.is_watched() {
            node.redis(Request::Watch { table: self.id }).await?;
            self.watched.set(true);
        }
        self.refresh(node, &mut state).await?;
        let missed = match (from, &state.copy) {
            (Some(from), Some(current)) if from == current.at => Some(Vec::new()),
            (Some(from), Some(current)) => self.missed(node, current.at, from).await?,
            (None, _) | (_, None) => None,
        };
        let current = state.copy.as_ref().ok_or(SubmitError::Missing)?;
        let (at, table) = (current.at, current.table.clone());
        let notices = Mailbox::new(&node.world.tasks);
        let outbox = Rc::new(Outbox { notices, is_closed: Cell::new(false) });
        state.watchers.retain(|watcher| watcher.connection != connection);
        state.watchers.push(Watcher { connection, outbox: outbox.clone() });
        Ok(Watch { at, table, missed, outbox })
    }

    /// What happened after `from` up to `to`, from the journal; `None` where it does not lead
    /// through both.
    async fn missed(
        &self,
        node: &Node,
        to: Point,
        from: Point,
    ) -> Result<Option<Vec<Missed>>, Unavailable> {
        let Reply::Whole { base, snapshot, lines } =
            node.redis(Request::Load { table: self.id }).await?
        else {
            return Ok(None);
        };
        let mut copy = Copy::read(base, &snapshot)?;
        let mut missed = None;
        for entry in &lines {
            if copy.at == from {
                missed = Some(Vec::new());
            }
            let happened = copy.follow(entry)?;
            if let Some(missed) = &mut missed {
                missed.push(happened);
            }
        }
        Ok(missed.and_then(|mut missed: Vec<Missed>| {
            let last = missed.iter().position(|missed| missed.at == to)?;
            missed.truncate(last + 1);
            Some(missed)
        }))
    }

    /// A line that somebody published: followed if it is the next one, passed over if known.
    pub(super) async fn published(&self, node: &Node, published: &Published) {
        let mut state = self.state.lock().await;
        let Some(current) = &state.copy else {
            return;
        };
        let Published { after, entry, .. } = published;
        let to = Point { version: after.version + 1, tag: entry.tag };
        if *after == current.at {
            if follow_all(&mut state, core::slice::from_ref(entry)).is_err() {
                node.world.fail(format!("{}: a published line cannot be followed", self.id));
                state.copy = None;
            }
        } else if !current.leads_through(to) {
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
            let tail = Request::Tail { table: self.id, from: current.at };
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
        let mut parted = state.told.is_some_and(|told| told != copy.at);
        for entry in &lines {
            if copy.follow(entry).is_err() {
                node.world.fail(format!("{}: the journal cannot be replayed", self.id));
                return Err(Unavailable);
            }
            parted &= state.told != Some(copy.at);
        }
        let (events, at, table) = (Rc::from([]), copy.at, copy.table.clone());
        let State { watchers, told, .. } = &mut **state;
        send(watchers, told, &Notice { at, events, table, anew: true, parted });
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
        let request = Request::Compact { table: self.id, at: current.at, snapshot };
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

fn append(table: TableId, after: Point, tag: u64, transition: &Transition<Tongits>) -> Request {
    let next = &transition.table;
    let is_idle = matches!(next.phase(), Phase::Waiting)
        && next.occupants().next().is_none()
        && next.pot().is_zero();
    Request::Append {
        table,
        after,
        entry: Entry { tag, line: written(&transition.line) },
        deadline_ms: next.deadline().map(Timestamp::ms),
        idle_ms: is_idle.then_some(IDLE_MS),
    }
}

pub(super) fn written(value: &impl serde::Serialize) -> Rc<str> {
    let text: String = serde_json::to_string(value).expect("tables and lines can be written");
    text.into()
}

fn follow_all(state: &mut State, lines: &[Entry]) -> Result<(), Unavailable> {
    let State { copy, watchers, told } = state;
    let current = copy.as_mut().ok_or(Unavailable)?;
    for entry in lines {
        let happened = current.follow(entry)?;
        tell(watchers, told, &current.table, &happened);
    }
    Ok(())
}

fn tell(
    watchers: &mut Vec<Watcher>,
    told: &mut Option<Point>,
    table: &Rc<Table<Tongits>>,
    happened: &Missed,
) {
    let Missed { at, events } = happened.clone();
    let table = table.clone();
    send(watchers, told, &Notice { at, events, table, anew: false, parted: false });
}

fn send(watchers: &mut Vec<Watcher>, told: &mut Option<Point>, notice: &Notice) {
    *told = Some(notice.at);
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
    fn read(base: Point, snapshot: &str) -> Result<Self, Unavailable> {
        let table: Table<Tongits> = serde_json::from_str(snapshot).map_err(|_| Unavailable)?;
        let recent = VecDeque::new();
        Ok(Self { table: Rc::new(table), at: base, journal_lines: 0, recent })
    }

    fn follow(&mut self, entry: &Entry) -> Result<Missed, Unavailable> {
        let line: Line<Action> = serde_json::from_str(&entry.line).map_err(|_| Unavailable)?;
        let (table, events) = self.table.follow(&line).map_err(|_| Unavailable)?;
        Ok(self.replace(table, events, entry.tag))
    }

    fn replace(
        &mut self,
        table: Table<Tongits>,
        events: Vec<Event<GameEvent>>,
        tag: u64,
    ) -> Missed {
        self.table = Rc::new(table);
        self.at = Point { version: self.at.version + 1, tag };
        self.journal_lines += 1;
        if self.recent.len() == REMEMBERED {
            self.recent.pop_front();
        }
        self.recent.push_back(tag);
        Missed { at: self.at, events: events.into() }
    }

    /// Whether this history surely leads through a point.
    fn leads_through(&self, point: Point) -> bool {
        let ago = self.at.version.checked_sub(point.version).and_then(|ago| ago.try_into().ok());
        ago.and_then(|ago: usize| self.recent.iter().rev().nth(ago))
            .is_some_and(|tag| *tag == point.tag)
    }
}
