//! The outages that follow from a run's faults, by which the figures separate the time in which no
//! node could have served a client from the time that the house took itself.

use crate::faults::InjectedFault;
use crate::plan::{Fault, Link, LinkFault, NodeFault};

/// A period in ms since the start of the run.
type Span = (u64, u64);

/// The time in which nodes detect the death of another one and show its players as away.
pub(crate) const AWAY_WITHIN_MS: u64 = 5_000;

/// The grace of all nodes after an outage of Redis.
const GRACE_MS: u64 = 4_000;

/// The part of the house that a fault puts out of service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Target {
    Node(u64),
    /// One node after the other; the others serve meanwhile.
    NodesInTurn,
    Redis,
    Postgres,
    /// Nothing: a node serves, but late, or settles later.
    Nothing,
    Clients,
}

/// The outages of a run.
#[derive(Debug)]
pub(crate) struct Outages {
    /// Periods in which Redis, PostgreSQL or every node was unreachable; disjoint and in order.
    nobody: Vec<Span>,
    /// Periods with a fault of anything but a client.
    anything: Vec<Span>,
    /// For each node, periods in which it could not serve or not reach Redis.
    nodes: Vec<Vec<Span>>,
    redis: Vec<Span>,
    /// From the first exchange of versions to the last.
    exchanging: Option<Span>,
}

impl Outages {
    pub(crate) fn of(done: &[InjectedFault], nodes: u64) -> Self {
        let span = |done: &InjectedFault| (done.from_ms, done.to_ms);
        let of = |which: &dyn Fn(Target) -> bool| -> Vec<Span> {
            joined(done.iter().filter(|done| which(target_of(done.fault))).map(span).collect())
        };
        let redis = of(&|target| target == Target::Redis);
        let postgres = of(&|target| target == Target::Postgres);
        let of_node = |node| {
            // The nodes' turns are not recorded.
            let stops = [Target::Node(node), Target::NodesInTurn];
            of(&|target| stops.contains(&target))
        };
        let struck = (0..nodes).map(|node| of(&|target| target == Target::Node(node)));
        let all_nodes = struck.reduce(|one, other| common(&one, &other));
        let nobody = [redis.clone(), postgres, all_nodes.unwrap_or_default()].concat();
        let exchanges = || done.iter().filter(|done| matches!(done.fault, Fault::Exchange(_)));
        let begun_ms = exchanges().map(|done| done.from_ms).min();
        Self {
            exchanging: begun_ms.zip(exchanges().map(|done| done.to_ms).max()),
            nobody: joined(nobody),
            anything: of(&|target| target != Target::Clients),
            nodes: (0..nodes).map(of_node).collect(),
            redis,
        }
    }

    /// Returns true between the start of the first exchange of versions and the end of the last.
    pub(crate) fn is_exchanging(&self, at_ms: u64) -> bool {
        self.exchanging.is_some_and(|(from_ms, to_ms)| (from_ms..=to_ms).contains(&at_ms))
    }

    /// Returns the part of a period in which no node could have served a client, in ms.
    pub(crate) fn nobody_ms(&self, span: Span) -> u64 {
        common(&self.nobody, &[span]).iter().map(|(from, to)| to - from).sum()
    }

    /// Returns true if no fault was active in a period, those of its clients aside.
    pub(crate) fn is_quiet(&self, span: Span) -> bool {
        common(&self.anything, &[span]).is_empty()
    }

    /// Returns true if the death of a node at this time must be detected in time: Redis and every
    /// other node are available meanwhile, and Redis has been for a while.
    pub(crate) fn is_noticed(&self, node: u64, died_ms: u64) -> bool {
        let until_ms = died_ms + AWAY_WITHIN_MS;
        let others = (0..).zip(&self.nodes).filter(|(other, _)| *other != node);
        common(&self.redis, &[(died_ms.saturating_sub(GRACE_MS), until_ms)]).is_empty()
            && others.into_iter().all(|(_, spans)| common(spans, &[(died_ms, until_ms)]).is_empty())
    }
}

/// Returns the part of the house that cannot serve during a fault.
fn target_of(fault: Fault) -> Target {
    match fault {
        Fault::Node(NodeFault::Kill | NodeFault::Stop | NodeFault::StopLong, node)
        | Fault::Link(LinkFault::Cut | LinkFault::Hold, node, Link::Redis | Link::Clients) => {
            Target::Node(node)
        }
        Fault::RollingRestart | Fault::Exchange(_) => Target::NodesInTurn,
        Fault::KillRedis | Fault::StallRedis | Fault::LoseRedis => Target::Redis,
        Fault::KillPostgres => Target::Postgres,
        Fault::Link(LinkFault::Cut | LinkFault::Hold, _, Link::Postgres)
        | Fault::Link(LinkFault::Delay(_), ..) => Target::Nothing,
        Fault::Storm | Fault::Clients(..) => Target::Clients,
    }
}

/// Merges overlapping periods and sorts them.
fn joined(mut spans: Vec<Span>) -> Vec<Span> {
    spans.sort_unstable();
    let mut apart: Vec<Span> = Vec::new();
    for (from, to) in spans {
        match apart.last_mut() {
            Some((_, last)) if from <= *last => *last = to.max(*last),
            _ => apart.push((from, to)),
        }
    }
    apart
}

/// Returns the intersection of two lists of disjoint, ordered periods.
fn common(one: &[Span], other: &[Span]) -> Vec<Span> {
    let each = one.iter().flat_map(|a| other.iter().map(move |b| (a.0.max(b.0), a.1.min(b.1))));
    each.filter(|(from, to)| from < to).collect()
}
