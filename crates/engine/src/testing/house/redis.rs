//! A model of Redis as far as live state uses it: each call is one script of `src/live`, whole or
//! not at all. Journals with their heads, the set of deadlines, who sits where, which tables have
//! room, the heartbeats of nodes and the connections registered under them.
//!
//! It answers from its memory alone. Being slow, down or forgetful is done to it from outside.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::rc::Rc;
use alloc::vec::Vec;

use crate::table::{ConnectionId, PlayerId, TableId};
use crate::testing::house::Mutation;
use crate::testing::house::node::NodeRun;

/// How long a bond may be pending.
const PENDING_MS: u64 = 10_000;

/// A node whose heartbeat is older than this is dead.
const DEAD_AFTER_MS: u64 = 3_000;

/// A node may call others dead only if it was itself heard this shortly before: after a stall or
/// a restart of Redis every heartbeat is old.
const JUDGE_WITHIN_MS: u64 = 2_000;

/// Registrations of a dead node that are given out at once.
const PORTION: usize = 16;

/// A connection at a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Registration {
    pub(super) table: TableId,
    pub(super) player: PlayerId,
    pub(super) connection: ConnectionId,
}

/// A point in the history of a table: how many lines led to it, and the tag of the last of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Point {
    pub(super) version: u64,
    pub(super) tag: u64,
}

/// A line of a journal, with its tag.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) tag: u64,
    pub(super) line: Rc<str>,
}

/// A call.
#[derive(Clone, Debug)]
pub(super) enum Request {
    Time,
    Found {
        table: TableId,
        tag: u64,
        snapshot: Rc<str>,
        idle_ms: u64,
    },
    Load {
        table: TableId,
    },
    Tail {
        table: TableId,
        from: Point,
    },
    Append {
        table: TableId,
        after: Point,
        entry: Entry,
        deadline_ms: Option<i64>,
        idle_ms: Option<u64>,
    },
    Compact {
        table: TableId,
        at: Point,
        snapshot: Rc<str>,
    },
    TakeDue {
        now_ms: i64,
        claim_ms: u32,
    },
    Reserve {
        new: TableId,
        score: u32,
        skip: Vec<TableId>,
    },
    List {
        table: TableId,
        score: Option<u32>,
    },
    Bind {
        player: PlayerId,
        table: TableId,
    },
    Confirm {
        player: PlayerId,
        table: TableId,
    },
    Bond {
        player: PlayerId,
    },
    Release {
        player: PlayerId,
        table: TableId,
    },
    Watch {
        table: TableId,
    },
    Unwatch {
        table: TableId,
    },
    Beat,
    TakeDead,
    Register(Registration),
    Unregister {
        run: NodeRun,
        registration: Registration,
    },
}

/// An answer.
#[derive(Clone, Debug)]
pub(super) enum Reply {
    Done,
    Time(u64),
    Whole { base: Point, snapshot: Rc<str>, lines: Vec<Entry> },
    Lines(Vec<Entry>),
    Appended,
    Behind(Vec<Entry>),
    Elsewhere,
    Missing,
    Flag(bool),
    Tables(Vec<TableId>),
    Table(TableId),
    Bond(Bond),
    Dead(Vec<(NodeRun, Registration)>),
}

/// What binds a player.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bond {
    None,
    Pending(TableId),
    Held(TableId),
}

/// Something published to who watches a table.
#[derive(Clone, Debug)]
pub(super) struct Published {
    pub(super) table: TableId,
    pub(super) after: Point,
    pub(super) entry: Entry,
}

/// What Redis holds.
#[derive(Clone, Default)]
pub(super) struct Redis {
    journals: BTreeMap<TableId, Journal>,
    due: BTreeMap<TableId, i64>,
    bonds: BTreeMap<PlayerId, (TableId, Option<u64>)>,
    open_tables: BTreeMap<TableId, u32>,
    beats: BTreeMap<NodeRun, u64>,
    registrations: BTreeMap<NodeRun, BTreeSet<Registration>>,
    watchers: BTreeSet<(TableId, NodeRun)>,
}

#[derive(Clone)]
struct Journal {
    base: Point,
    snapshot: Rc<str>,
    lines: Vec<Entry>,
    expires_ms: Option<u64>,
}

impl Journal {
    fn version(&self) -> u64 {
        self.base.version + self.lines.len() as u64
    }

    /// The lines from a point on; `None` where this history does not lead through it.
    fn from(&self, point: Point) -> Option<Vec<Entry>> {
        let skipped = usize::try_from(point.version.checked_sub(self.base.version)?).ok()?;
        let tag = match skipped.checked_sub(1) {
            None => self.base.tag,
            Some(last) => self.lines.get(last)?.tag,
        };
        (tag == point.tag).then(|| self.lines[skipped..].to_vec())
    }
}

impl Redis {
    /// Answers a call of a node. What it published is added to `published`.
    pub(super) fn answer(
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
            Request::Found { table, tag, snapshot, idle_ms } => {
                let is_new = !self.journals.contains_key(table);
                if is_new {
                    let (snapshot, expires_ms) = (snapshot.clone(), Some(now_ms + idle_ms));
                    let journal = Journal {
                        base: Point { version: 0, tag: *tag },
                        snapshot,
                        lines: Vec::new(),
                        expires_ms,
                    };
                    self.journals.insert(*table, journal);
                }
                Reply::Flag(is_new)
            }
            Request::Load { table } => match self.journals.get(table) {
                None => Reply::Missing,
                Some(journal) => Reply::Whole {
                    base: journal.base,
                    snapshot: journal.snapshot.clone(),
                    lines: journal.lines.clone(),
                },
            },
            Request::Tail { table, from } => match self.journals.get(table) {
                None => Reply::Missing,
                Some(journal) => journal.from(*from).map_or(Reply::Elsewhere, Reply::Lines),
            },
            Request::Append { table, after, entry, deadline_ms, idle_ms } => {
                let Some(journal) = self.journals.get_mut(table) else {
                    return Reply::Missing;
                };
                let since = journal.from(*after);
                let is_newest = since.as_ref().is_some_and(Vec::is_empty);
                if !is_newest && mutation != Some(Mutation::AppendsBlindly) {
                    return since.map_or(Reply::Elsewhere, Reply::Behind);
                }
                *published = Some(Published { table: *table, after: *after, entry: entry.clone() });
                journal.lines.push(entry.clone());
                // What is due some time is not forgotten.
                let idle_ms = idle_ms.filter(|_| deadline_ms.is_none());
                journal.expires_ms = idle_ms.map(|idle_ms| now_ms + idle_ms);
                match deadline_ms {
                    Some(deadline_ms) => self.due.insert(*table, *deadline_ms),
                    None => self.due.remove(table),
                };
                Reply::Appended
            }
            Request::Compact { table, at, snapshot } => {
                let journal = self.journals.get_mut(table);
                let is_newest = |journal: &Journal| journal.from(*at).is_some_and(|l| l.is_empty());
                let journal = journal.filter(|journal| is_newest(journal));
                let compacts = journal.is_some();
                if let Some(journal) = journal {
                    journal.base = *at;
                    journal.snapshot = snapshot.clone();
                    journal.lines.clear();
                }
                Reply::Flag(compacts)
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
            Request::Reserve { new, score, skip } => {
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
                        self.open_tables.insert(*new, *score);
                        Reply::Table(*new)
                    }
                }
            }
            Request::List { table, score } => {
                match score {
                    Some(score) => self.open_tables.insert(*table, *score),
                    None => self.open_tables.remove(table),
                };
                Reply::Done
            }
            Request::Bind { player, table } => {
                let is_free = !self.bonds.contains_key(player);
                if is_free {
                    self.bonds.insert(*player, (*table, Some(now_ms + PENDING_MS)));
                }
                Reply::Flag(is_free)
            }
            Request::Confirm { player, table } => {
                let bond = self.bonds.get_mut(player).filter(|(bound, _)| bound == table);
                Reply::Flag(bond.map(|(_, expires_ms)| *expires_ms = None).is_some())
            }
            Request::Bond { player } => Reply::Bond(match self.bonds.get(player) {
                None => Bond::None,
                Some((table, Some(_))) => Bond::Pending(*table),
                Some((table, None)) => Bond::Held(*table),
            }),
            Request::Release { player, table } => {
                if self.bonds.get(player).is_some_and(|(bound, _)| bound == table) {
                    self.bonds.remove(player);
                }
                Reply::Done
            }
            Request::Watch { table } => {
                self.watchers.insert((*table, run));
                Reply::Done
            }
            Request::Unwatch { table } => {
                self.watchers.remove(&(*table, run));
                Reply::Done
            }
            Request::Beat => {
                let before = self.beats.insert(run, now_ms);
                let is_late = |before| now_ms - before > DEAD_AFTER_MS;
                // Too late for somebody who may have been taken for dead.
                Reply::Flag(before.is_none_or(|before| !is_late(before)))
            }
            Request::TakeDead => self.dead(now_ms, run, mutation),
            Request::Register(registration) => {
                self.registrations.entry(run).or_default().insert(*registration);
                Reply::Done
            }
            Request::Unregister { run, registration } => {
                if let Some(registered) = self.registrations.get_mut(run) {
                    registered.remove(registration);
                    if registered.is_empty() {
                        self.registrations.remove(run);
                    }
                }
                Reply::Done
            }
        }
    }

    /// Registrations of nodes that were not heard for too long.
    fn dead(&self, now_ms: u64, judge: NodeRun, mutation: Option<Mutation>) -> Reply {
        let heard = |run: &NodeRun| self.beats.get(run).copied();
        let may_judge = heard(&judge).is_some_and(|at| now_ms - at <= JUDGE_WITHIN_MS);
        if !may_judge {
            return Reply::Dead(Vec::new());
        }
        let after_ms =
            if mutation == Some(Mutation::BuriesTheLiving) { 900 } else { DEAD_AFTER_MS };
        let is_dead = |run: &NodeRun| heard(run).is_none_or(|at| now_ms - at > after_ms);
        let dead = self.registrations.iter().filter(|(run, _)| **run != judge && is_dead(run));
        let entries = dead.flat_map(|(run, all)| all.iter().map(|one| (*run, *one)));
        Reply::Dead(entries.take(PORTION).collect())
    }

    fn expire(&mut self, now_ms: u64) {
        let lasts = |expires_ms: Option<u64>| expires_ms.is_none_or(|at| at > now_ms);
        self.journals.retain(|_, journal| lasts(journal.expires_ms));
        self.bonds.retain(|_, (_, expires_ms)| lasts(*expires_ms));
    }

    /// Who hears of a table.
    pub(super) fn watchers(&self, table: TableId) -> Vec<NodeRun> {
        let watchers = self.watchers.iter().filter(|(watched, _)| *watched == table);
        watchers.map(|(_, run)| *run).collect()
    }

    /// The connections for publications are gone.
    pub(super) fn forget_watchers(&mut self, of: Option<NodeRun>) {
        self.watchers.retain(|(_, run)| of.is_some_and(|of| of != *run));
    }

    pub(super) fn tables(&self) -> impl Iterator<Item = (TableId, u64)> {
        self.journals.iter().map(|(table, journal)| (*table, journal.version()))
    }

    pub(super) fn has(&self, table: TableId) -> bool {
        self.journals.contains_key(&table)
    }

    pub(super) fn is_due_some_time(&self, table: TableId) -> bool {
        self.due.contains_key(&table)
    }
}
