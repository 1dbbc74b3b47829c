//! When what was away, as far as the faults of a run say: so that the figures can tell the time
//! for which nobody could have served a client from the time that the house took itself.

use crate::faults::Done;
use crate::plan::{Fault, Link};

/// A time from one moment to another, in milliseconds since the run began.
type Span = (u64, u64);

/// Nodes take so long to find another one dead, and to show its players as away.
pub(crate) const AWAY_WITHIN_MS: u64 = 5_000;

/// After a Redis that was away everybody has the whole time again before being taken for dead.
const GRACE_MS: u64 = 4_000;

/// The outages of a run.
#[derive(Debug)]
pub(crate) struct Outages {
    /// Redis, PostgreSQL or every node could not be reached; apart from each other, by time.
    nobody: Vec<Span>,
    /// Anything but a client was at fault.
    anything: Vec<Span>,
    /// By node: it could not serve, or not reach Redis.
    nodes: Vec<Vec<Span>>,
    redis: Vec<Span>,
    /// From the first exchange of versions to the last.
    exchanging: Option<Span>,
}

impl Outages {
    pub(crate) fn of(done: &[Done], nodes: u64) -> Self {
        let span = |done: &Done| (done.from_ms, done.to_ms);
        let of = |which: &dyn Fn(Fault) -> bool| -> Vec<Span> {
            joined(done.iter().filter(|done| which(done.fault)).map(span).collect())
        };
        let redis =
            of(&|fault| matches!(fault, Fault::KillRedis | Fault::StallRedis | Fault::LoseRedis));
        let postgres = of(&|fault| fault == Fault::KillPostgres);
        let by_node: Vec<_> = (0..nodes).map(|node| of(&|fault| stops(fault, node))).collect();
        // While they are restarted in turn, others are there.
        let struck = (0..nodes).map(|node| of(&|fault| !is_in_turn(fault) && stops(fault, node)));
        let all_nodes = struck.reduce(|one, other| common(&one, &other));
        let nobody = [redis.clone(), postgres, all_nodes.unwrap_or_default()].concat();
        let exchanges = || done.iter().filter(|done| matches!(done.fault, Fault::Exchange { .. }));
        let begun_ms = exchanges().map(|done| done.from_ms).min();
        Self {
            exchanging: begun_ms.zip(exchanges().map(|done| done.to_ms).max()),
            nobody: joined(nobody),
            anything: of(&|fault| !is_of_clients(fault)),
            nodes: by_node,
            redis,
        }
    }

    /// Whether this moment is between the beginning of the first exchange of versions and the end of the
    /// last.
    pub(crate) fn is_exchanging(&self, at_ms: u64) -> bool {
        self.exchanging.is_some_and(|(from_ms, to_ms)| (from_ms..=to_ms).contains(&at_ms))
    }

    /// How much of a time nobody could have served a client.
    pub(crate) fn nobody_ms(&self, span: Span) -> u64 {
        common(&self.nobody, &[span]).iter().map(|(from, to)| to - from).sum()
    }

    /// Whether nothing was at fault in a time, its clients aside.
    pub(crate) fn is_quiet(&self, span: Span) -> bool {
        common(&self.anything, &[span]).is_empty()
    }

    /// Whether the death of a node in this moment is to be noticed in time: Redis and every other
    /// node are there meanwhile, and Redis has been for a while.
    pub(crate) fn is_noticed(&self, node: u64, died_ms: u64) -> bool {
        let until_ms = died_ms + AWAY_WITHIN_MS;
        let others = (0..).zip(&self.nodes).filter(|(other, _)| *other != node);
        common(&self.redis, &[(died_ms.saturating_sub(GRACE_MS), until_ms)]).is_empty()
            && others.into_iter().all(|(_, spans)| common(spans, &[(died_ms, until_ms)]).is_empty())
    }
}

/// Whether a node could not serve its clients, by this fault.
/// One node after the other, so that others are there.
fn is_in_turn(fault: Fault) -> bool {
    matches!(fault, Fault::RollingRestart | Fault::Exchange { .. })
}

fn stops(fault: Fault, node: u64) -> bool {
    match fault {
        Fault::KillNode { node: struck }
        | Fault::StopNode { node: struck }
        | Fault::StopNodeLong { node: struck }
        | Fault::Cut { node: struck, link: Link::Redis | Link::Clients }
        | Fault::Hold { node: struck, link: Link::Redis | Link::Clients } => struck == node,
        // One after the other, in moments that are not noted.
        Fault::RollingRestart | Fault::Exchange { .. } => true,
        Fault::Cut { link: Link::Postgres, .. }
        | Fault::Hold { link: Link::Postgres, .. }
        | Fault::Delay { .. }
        | Fault::KillPostgres
        | Fault::KillRedis
        | Fault::StallRedis
        | Fault::LoseRedis => false,
        Fault::Duplicate { .. }
        | Fault::Storm
        | Fault::Drop { .. }
        | Fault::Away { .. }
        | Fault::Leave { .. }
        | Fault::Slow { .. }
        | Fault::Idle { .. } => false,
    }
}

fn is_of_clients(fault: Fault) -> bool {
    matches!(
        fault,
        Fault::Duplicate { .. }
            | Fault::Storm
            | Fault::Drop { .. }
            | Fault::Away { .. }
            | Fault::Leave { .. }
            | Fault::Slow { .. }
            | Fault::Idle { .. }
    )
}

/// The same times, apart from each other and in order.
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

/// What both have in common; each is apart and in order.
fn common(one: &[Span], other: &[Span]) -> Vec<Span> {
    let each = one.iter().flat_map(|a| other.iter().map(move |b| (a.0.max(b.0), a.1.min(b.1))));
    each.filter(|(from, to)| from < to).collect()
}
