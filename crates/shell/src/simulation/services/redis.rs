//! A model of Redis as live state uses it: each call is one script of `crates/live-store` and is
//! atomic. It holds journals with their heads and halts, the set of deadlines, seat claims, the
//! list of tables with free seats, the heartbeats of nodes and the connections recorded under them.
//!
//! The model responds from memory. Delays, outages and losses are injected from outside.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use bahay_engine::table::{ENGINE, PlayerId, TableId, Timestamp};

use crate::lobby::SeatClaim;
use crate::simulation::{Mutation, NodeRun};
use crate::{
    AppendOutcome, JournalEntry, NewLine, NodeId, PlayerConnection, Point, StoredTable, Tag, Tail,
};

/// The time after which a pending seat claim expires.
const PENDING_MS: u64 = 10_000;

/// The age of a heartbeat from which its node is dead.
const SILENCE_MS: u64 = 3_000;

/// A gap between all heartbeats that is longer than this means that Redis was down.
const GAP_MS: u64 = 2_000;

/// The time after which a claimed dead node can be claimed again.
const CLAIM_MS: u64 = 5_000;

/// The batch size of a dead node's connections.
const PORTION: usize = 16;

/// A call.
#[derive(Clone, Debug)]
pub(crate) enum Request {
    Time,
    Create { table: TableId, tag: Tag, snapshot: Rc<str>, idle_ms: u64 },
    Exists { table: TableId },
    Load { table: TableId },
    Tail { table: TableId, from: Point },
    Append { table: TableId, new: NewLine },
    Compact { table: TableId, at: Point, snapshot: Rc<str> },
    Halt { table: TableId, reason: Rc<str> },
    Resume { table: TableId, deadline: Option<Timestamp> },
    End { table: TableId },
    TakeDue { now_ms: i64, claim_ms: u32 },
    Reserve { new: TableId, score: u32, skip: Vec<TableId> },
    List { table: TableId, score: Option<u32> },
    Bind { player: PlayerId, table: TableId },
    Confirm { player: PlayerId, table: TableId },
    SeatClaim { player: PlayerId },
    Release { player: PlayerId, table: TableId },
    Watch { table: TableId },
    Unwatch { table: TableId },
    Beat { node: NodeId, has_beaten: bool },
    Connections { node: NodeId },
    Note { node: NodeId, present: Vec<PlayerConnection> },
    Forget { node: NodeId, present: Vec<PlayerConnection> },
    Bury { node: NodeId },
}

/// A response.
#[derive(Clone, Debug)]
pub(crate) enum Reply {
    Done,
    Time(u64),
    Stored(Option<StoredTable>),
    Tail(Tail),
    Append(AppendOutcome),
    Flag(bool),
    Tables(Vec<TableId>),
    Table(TableId),
    SeatClaim(SeatClaim),
    Beat { is_dead: bool, taken: Vec<NodeId> },
    Connections(Vec<PlayerConnection>),
}

/// A publication to the watchers of a table.
#[derive(Clone, Debug)]
pub(crate) enum Published {
    Line { table: TableId, after: Point, entry: JournalEntry },
    Ended { table: TableId },
}

impl Published {
    pub(crate) fn table(&self) -> TableId {
        match self {
            Self::Line { table, .. } | Self::Ended { table } => *table,
        }
    }
}

/// The state of Redis.
#[derive(Clone, Default)]
pub(crate) struct Redis {
    journals: BTreeMap<TableId, Journal>,
    due: BTreeMap<TableId, i64>,
    seat_claims: BTreeMap<PlayerId, (TableId, Option<u64>)>,
    open_tables: BTreeMap<TableId, u32>,
    /// The time of each node's last heartbeat, and the time from which each dead node may be
    /// claimed.
    beats: BTreeMap<NodeId, u64>,
    dead: BTreeMap<NodeId, u64>,
    beaten_at: Option<u64>,
    connections: BTreeMap<NodeId, BTreeSet<PlayerConnection>>,
    watchers: BTreeSet<(TableId, NodeRun)>,
}

#[derive(Clone)]
struct Journal {
    base: Point,
    snapshot: Rc<str>,
    lines: Vec<Rc<JournalEntry>>,
    expires_ms: Option<u64>,
    halted: Option<Rc<str>>,
}

impl Journal {
    fn version(&self) -> u64 {
        self.base.version + self.lines.len() as u64
    }

    /// Returns the lines after a point; `None` if this history does not lead through it.
    fn lines_after(&self, point: Point) -> Option<&[Rc<JournalEntry>]> {
        let skipped = usize::try_from(point.version.checked_sub(self.base.version)?).ok()?;
        let tag = match skipped.checked_sub(1) {
            None => self.base.tag,
            Some(last) => self.lines.get(last)?.tag,
        };
        (tag == point.tag).then(|| &self.lines[skipped..])
    }
}

impl Redis {
    /// Handles a call of a node. Stores what it publishes in `published`.
    pub(crate) fn handle_request(
        &mut self,
        now_ms: u64,
        run: NodeRun,
        request: &Request,
        mutation: Option<Mutation>,
        published: &mut Option<Published>,
    ) -> Reply {
        self.expire(now_ms);
        match request {
            Request::Time => Reply::Time(now_ms),
            Request::Create { table, tag, snapshot, idle_ms } => {
                let is_new = !self.journals.contains_key(table);
                if is_new {
                    let snapshot = snapshot.clone();
                    let expires_ms = Some(now_ms + idle_ms);
                    let base = Point { version: 0, tag: *tag };
                    let lines = Vec::new();
                    let halted = None;
                    let journal = Journal { base, snapshot, lines, expires_ms, halted };
                    self.journals.insert(*table, journal);
                }
                Reply::Flag(is_new)
            }
            Request::Exists { table } => Reply::Flag(self.journals.contains_key(table)),
            Request::Load { table } => {
                Reply::Stored(self.journals.get(table).map(|journal| StoredTable {
                    base: journal.base,
                    snapshot: journal.snapshot.to_string(),
                    lines: clone_entries(&journal.lines),
                    engine: ENGINE,
                    halted: journal.halted.as_deref().map(str::to_owned),
                }))
            }
            Request::Tail { table, from } => Reply::Tail(match self.journals.get(table) {
                None => Tail::Missing,
                Some(journal) => match journal.lines_after(*from).map(clone_entries) {
                    None => Tail::Elsewhere,
                    Some(lines) if journal.halted.is_some() => Tail::Halted(lines),
                    Some(lines) => Tail::Lines(lines),
                },
            }),
            Request::Append { table, new } => {
                Reply::Append(self.append(now_ms, *table, new, mutation, published))
            }
            Request::Compact { table, at, snapshot } => {
                let journal = self.journals.get_mut(table);
                let is_newest =
                    |journal: &Journal| journal.lines_after(*at).is_some_and(<[_]>::is_empty);
                let journal = journal.filter(|journal| is_newest(journal));
                let compacts = journal.is_some();
                if let Some(journal) = journal {
                    journal.base = *at;
                    journal.snapshot = snapshot.clone();
                    journal.lines.clear();
                }
                Reply::Flag(compacts)
            }
            Request::Halt { table, reason } => {
                let Some(journal) = self.journals.get_mut(table) else {
                    return Reply::Flag(false);
                };
                self.due.remove(table);
                journal.expires_ms = None;
                let is_new = journal.halted.is_none();
                journal.halted.get_or_insert(reason.clone());
                Reply::Flag(is_new)
            }
            Request::Resume { table, deadline } => {
                let journal = self.journals.get_mut(table);
                let lifted = journal.and_then(|journal| journal.halted.take()).is_some();
                if let Some(deadline) = deadline.filter(|_| lifted) {
                    self.due.insert(*table, deadline.ms());
                }
                Reply::Flag(lifted)
            }
            Request::End { table } => {
                self.journals.remove(table);
                self.due.remove(table);
                *published = Some(Published::Ended { table: *table });
                Reply::Done
            }
            Request::TakeDue { now_ms, claim_ms } => {
                let due = self.due.iter().filter(|(_, deadline_ms)| **deadline_ms <= *now_ms);
                let due: Vec<TableId> = due.map(|(table, _)| *table).collect();
                for table in &due {
                    if mutation == Some(Mutation::ClaimsForGood) {
                        self.due.remove(table);
                    } else {
                        self.due.insert(*table, *now_ms + i64::from(*claim_ms));
                    }
                }
                Reply::Tables(due)
            }
            Request::Reserve { new, score, skip } => self.reserve(*new, *score, skip),
            Request::List { table, score } => {
                match score {
                    Some(score) => self.open_tables.insert(*table, *score),
                    None => self.open_tables.remove(table),
                };
                Reply::Done
            }
            Request::Bind { player, table } => {
                let is_free = !self.seat_claims.contains_key(player);
                if is_free {
                    self.seat_claims.insert(*player, (*table, Some(now_ms + PENDING_MS)));
                }
                Reply::Flag(is_free)
            }
            Request::Confirm { player, table } => {
                let seat_claim =
                    self.seat_claims.get_mut(player).filter(|(bound, _)| bound == table);
                Reply::Flag(seat_claim.map(|(_, expires_ms)| *expires_ms = None).is_some())
            }
            Request::SeatClaim { player } => Reply::SeatClaim(match self.seat_claims.get(player) {
                None => SeatClaim::None,
                Some((table, Some(_))) => SeatClaim::Pending(*table),
                Some((table, None)) => SeatClaim::Held(*table),
            }),
            Request::Release { player, table } => {
                if self.seat_claims.get(player).is_some_and(|(bound, _)| bound == table) {
                    self.seat_claims.remove(player);
                }
                Reply::Done
            }
            Request::Watch { table } => {
                let exists = self.journals.contains_key(table);
                if exists {
                    self.watchers.insert((*table, run));
                }
                Reply::Flag(exists)
            }
            Request::Unwatch { table } => {
                self.watchers.remove(&(*table, run));
                Reply::Done
            }
            Request::Beat { node, has_beaten } => self.beat(now_ms, *node, *has_beaten, mutation),
            Request::Connections { node } => {
                let connections = self.connections.get(node).into_iter().flatten();
                Reply::Connections(connections.take(PORTION).copied().collect())
            }
            Request::Note { node, present } => {
                self.connections.entry(*node).or_default().extend(present);
                Reply::Done
            }
            Request::Forget { node, present } => {
                if let Some(connections) = self.connections.get_mut(node) {
                    connections.retain(|connection| !present.contains(connection));
                }
                Reply::Done
            }
            Request::Bury { node } => {
                self.dead.remove(node);
                Reply::Done
            }
        }
    }

    fn append(
        &mut self,
        now_ms: u64,
        table: TableId,
        new: &NewLine,
        mutation: Option<Mutation>,
        published: &mut Option<Published>,
    ) -> AppendOutcome {
        let Some(journal) = self.journals.get_mut(&table) else {
            return AppendOutcome::Missing;
        };
        if journal.halted.is_some() && mutation != Some(Mutation::AppendsToHalted) {
            return AppendOutcome::Halted;
        }
        let since = journal.lines_after(new.after);
        let is_newest = since.is_some_and(<[_]>::is_empty);
        if !is_newest && mutation != Some(Mutation::AppendsBlindly) {
            return since.map_or(AppendOutcome::Elsewhere, |lines| {
                AppendOutcome::Behind(clone_entries(lines))
            });
        }
        let entry = JournalEntry { tag: new.tag, line: new.line.clone() };
        *published = Some(Published::Line { table, after: new.after, entry: entry.clone() });
        journal.lines.push(Rc::new(entry));
        // A table with a deadline does not expire.
        let idle_ms = new.idle_ms.filter(|_| new.deadline.is_none());
        journal.expires_ms = idle_ms.map(|idle_ms| now_ms + idle_ms);
        match new.deadline {
            Some(deadline) => self.due.insert(table, deadline.ms()),
            None => self.due.remove(&table),
        };
        AppendOutcome::Appended
    }

    fn reserve(&mut self, new: TableId, score: u32, skip: &[TableId]) -> Reply {
        let open = self.open_tables.iter().filter(|(table, _)| !skip.contains(table));
        let first = open.map(|(table, score)| (*score, *table)).min();
        match first {
            Some((score, table)) => {
                if score % 10 <= 1 {
                    self.open_tables.remove(&table);
                } else {
                    self.open_tables.insert(table, score - 1);
                }
                Reply::Table(table)
            }
            None => {
                self.open_tables.insert(new, score);
                Reply::Table(new)
            }
        }
    }

    /// Handles a heartbeat, and lets the node claim dead ones.
    fn beat(
        &mut self,
        now_ms: u64,
        node: NodeId,
        has_beaten: bool,
        mutation: Option<Mutation>,
    ) -> Reply {
        let is_early = mutation == Some(Mutation::BuriesTheLiving);
        let silence_ms = if is_early { 900 } else { SILENCE_MS };
        let was_away = self.beaten_at.is_some_and(|at| now_ms - at > GAP_MS);
        if was_away && !is_early {
            // Every node has the whole silence before it again.
            self.beats.values_mut().chain(self.dead.values_mut()).for_each(|at| *at = now_ms);
        }
        self.beaten_at = Some(now_ms);
        let is_dead = has_beaten && !self.beats.contains_key(&node);
        if is_dead {
            // Connections that it recorded since are disconnected before their records are removed.
            self.dead.insert(node, now_ms);
        } else {
            self.beats.insert(node, now_ms);
        }
        let silent = self.beats.iter().filter(|(_, at)| **at + silence_ms < now_ms);
        let silent: Vec<NodeId> = silent.map(|(node, _)| *node).collect();
        for node in silent {
            self.beats.remove(&node);
            self.dead.insert(node, now_ms);
        }
        // A node's first heartbeat only sets its clock; the node cannot reap yet.
        let taken = self.dead.iter().filter(|(_, at)| has_beaten && **at <= now_ms);
        let taken: Vec<NodeId> = taken.map(|(node, _)| *node).collect();
        for node in &taken {
            self.dead.insert(*node, now_ms + CLAIM_MS);
        }
        Reply::Beat { is_dead, taken }
    }

    fn expire(&mut self, now_ms: u64) {
        let lasts = |expires_ms: Option<u64>| expires_ms.is_none_or(|at| at > now_ms);
        self.journals.retain(|_, journal| lasts(journal.expires_ms));
        self.seat_claims.retain(|_, (_, expires_ms)| lasts(*expires_ms));
    }

    /// Returns the nodes that watch a table.
    pub(crate) fn watchers(&self, table: TableId) -> Vec<NodeRun> {
        let watchers = self.watchers.iter().filter(|(watched, _)| *watched == table);
        watchers.map(|(_, run)| *run).collect()
    }

    /// Drops the subscriptions of a node, or of all.
    pub(crate) fn forget_watchers(&mut self, target: Option<NodeRun>) {
        self.watchers.retain(|(_, run)| target.is_some_and(|target| target != *run));
    }

    pub(crate) fn tables(&self) -> impl Iterator<Item = (TableId, u64)> {
        self.journals.iter().map(|(table, journal)| (*table, journal.version()))
    }

    pub(crate) fn has_table(&self, table: TableId) -> bool {
        self.journals.contains_key(&table)
    }

    pub(crate) fn is_halted(&self, table: TableId) -> bool {
        self.journals.get(&table).is_some_and(|journal| journal.halted.is_some())
    }

    pub(crate) fn is_due_some_time(&self, table: TableId) -> bool {
        self.due.contains_key(&table)
    }
}

fn clone_entries(lines: &[Rc<JournalEntry>]) -> Vec<JournalEntry> {
    lines.iter().map(|entry| JournalEntry::clone(entry)).collect()
}
