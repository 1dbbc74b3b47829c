//! The plan of a run's faults, drawn from a seed before anything starts: fault, target, time and
//! duration. The same seed and extent give the same plan.
//!
//! Faults of different targets overlap; those of one target are sequential. Durations lie on both
//! sides of the service's timeouts: a node may be stopped for less and for more than its heartbeat,
//! and a link held for less and for more than the timeout of a call.

use std::fmt;
use std::time::Duration;

use bahay_engine::variants;

use crate::dice::Dice;
use crate::outages::AWAY_WITHIN_MS;

/// Durations beyond the heartbeat's timeout and the time after which the AI takes over the seats of
/// a silent node.
const PAST_HEARTBEAT_MS: (u64, u64) = (5_000, 8_000);

/// A connection from a node to a service or to its clients.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Link {
    Redis,
    Postgres,
    Clients,
}

/// The version of a node's binary.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Version {
    /// The version that was built with this run.
    #[default]
    This,
    /// The previous version, with which the run begins.
    Before,
}

/// A fault. Nodes are numbered from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Fault {
    Node(NodeFault, u64),
    /// Terminates and restarts every node in turn.
    RollingRestart,
    /// Terminates every node in turn and starts it with the binary of another version.
    Exchange(Version),
    /// A fault of a node's link.
    Link(LinkFault, u64, Link),
    KillPostgres,
    /// Kills Redis, which keeps its data.
    KillRedis,
    StallRedis,
    /// Kills Redis, which loses its data.
    LoseRedis,
    /// Disconnects all clients at once; they reconnect immediately.
    Storm,
    /// Lets this number of clients misbehave.
    Clients(ClientFault, u64),
}

/// A fault of one node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum NodeFault {
    /// Kills the node, and starts it again afterwards.
    Kill,
    /// Suspends the node, and resumes it afterwards.
    Stop,
    /// Suspends the node for longer than the heartbeat's timeout.
    StopLong,
}

/// A fault of one link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum LinkFault {
    /// Breaks the connections and refuses new ones for a while.
    Cut,
    /// Silently holds all traffic.
    Hold,
    /// Delays all traffic by this time in ms.
    Delay(u64),
}

/// A fault of some clients.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum ClientFault {
    /// They send every command twice.
    Duplicate,
    /// They disconnect abruptly and reconnect.
    Drop,
    /// They disconnect and stay away for the duration.
    Away,
    /// They leave their tables and look for others.
    Leave,
    /// They stop reading for a while.
    Slow,
    /// They do nothing for a while, so that countdowns expire.
    Idle,
}

/// One fault of a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Step {
    pub(crate) at_ms: u64,
    pub(crate) fault: Fault,
    /// Zero for an instantaneous fault.
    pub(crate) for_ms: u64,
}

/// All faults of a run in the order of time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Plan {
    pub(crate) seed: u64,
    pub(crate) steps: Vec<Step>,
}

/// The numbers of nodes and clients from which a plan chooses.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Extent {
    pub(crate) nodes: u64,
    pub(crate) clients: u64,
    pub(crate) lose_redis: bool,
}

impl Plan {
    /// Draws faults one to three seconds apart, for a duration; the pause after a killed node is
    /// longer.
    pub(crate) fn draw(seed: u64, extent: Extent, length: Duration) -> Self {
        let mut dice = Dice::new(seed, 0);
        let end_ms = u64::try_from(length.as_millis()).unwrap_or(u64::MAX);
        let mut steps: Vec<Step> = Vec::new();
        let mut kinds = Vec::new();
        let mut at_ms = 2_000;
        while at_ms < end_ms {
            // Every kind occurs once before one is repeated.
            if kinds.is_empty() {
                kinds = every_kind(&mut dice, extent);
                dice.shuffle(&mut kinds);
            }
            let fault = kinds.pop().expect("it was just filled");
            steps.push(Step { at_ms, fault, for_ms: duration_ms(&mut dice, fault) });
            at_ms += dice.within(1_000, 3_000);
            // The pause lets the others detect the death undisturbed, so that the detection time is
            // measurable.
            if let Fault::Node(NodeFault::Kill, _) = fault {
                at_ms += AWAY_WITHIN_MS;
            }
        }
        Self { seed, steps }
    }

    /// Draws every kind once, brief and in quick succession.
    pub(crate) fn each_once(seed: u64, extent: Extent) -> Self {
        let mut dice = Dice::new(seed, 0);
        let mut kinds = every_kind(&mut dice, extent);
        dice.shuffle(&mut kinds);
        let step = |(place, fault): (u64, Fault)| {
            let most_ms = match fault {
                Fault::Node(NodeFault::StopLong, _) => 4_000,
                variants!(Fault: Node, RollingRestart, Exchange, Link, KillPostgres, KillRedis,
                    StallRedis, LoseRedis, Storm, Clients) => 600,
            };
            let for_ms = duration_ms(&mut dice, fault).min(most_ms);
            Step { at_ms: 500 + place * 450, fault, for_ms }
        };
        let steps = (0..).zip(kinds).map(step).collect();
        Self { seed, steps }
    }

    /// Plans a number of upgrades and as many rollbacks in sequence, some seconds apart.
    pub(crate) fn exchanges(seed: u64, times: u64) -> Self {
        let versions = [Version::This, Version::Before].into_iter().cycle().zip(0..2 * times);
        let step = |(version, place): (Version, u64)| Step {
            // Each waits for the previous one.
            at_ms: 3_000 + place,
            fault: Fault::Exchange(version),
            for_ms: 3_000,
        };
        Self { seed, steps: versions.map(step).collect() }
    }

    /// Returns true if the data of Redis is lost on purpose.
    pub(crate) fn loses_redis(&self) -> bool {
        self.steps.iter().any(|step| step.fault == Fault::LoseRedis)
    }
}

/// Draws one fault of each kind with its target.
fn every_kind(dice: &mut Dice, extent: Extent) -> Vec<Fault> {
    let Extent { nodes, clients, lose_redis } = extent;
    let mut faults = vec![
        Fault::Node(NodeFault::Kill, dice.below(nodes)),
        Fault::Node(NodeFault::Stop, dice.below(nodes)),
        Fault::Node(NodeFault::StopLong, dice.below(nodes)),
        Fault::RollingRestart,
    ];
    for link in [Link::Redis, Link::Postgres, Link::Clients] {
        let late_ms = dice.within(5, 120);
        let kinds = [LinkFault::Cut, LinkFault::Hold, LinkFault::Delay(late_ms)];
        faults.extend(kinds.map(|kind| Fault::Link(kind, dice.below(nodes), link)));
    }
    let some = |dice: &mut Dice| dice.within(1, (clients / 3).max(1));
    faults.extend([
        Fault::KillPostgres,
        Fault::KillRedis,
        Fault::StallRedis,
        Fault::Clients(ClientFault::Duplicate, some(dice)),
        Fault::Storm,
        Fault::Clients(ClientFault::Drop, some(dice)),
        Fault::Clients(ClientFault::Away, some(dice)),
        Fault::Clients(ClientFault::Leave, some(dice)),
        Fault::Clients(ClientFault::Slow, some(dice)),
        Fault::Clients(ClientFault::Idle, some(dice)),
    ]);
    if lose_redis {
        faults.push(Fault::LoseRedis);
    }
    faults
}

fn duration_ms(dice: &mut Dice, fault: Fault) -> u64 {
    let (low, high) = match fault {
        variants!(Fault: RollingRestart, Exchange, LoseRedis, Storm)
        | Fault::Clients(ClientFault::Drop | ClientFault::Leave, _) => return 0,
        Fault::Node(NodeFault::Stop, _) => (100, 2_000),
        Fault::Node(NodeFault::Kill, _) => (200, 6_000),
        Fault::Node(NodeFault::StopLong, _) => PAST_HEARTBEAT_MS,
        Fault::Link(LinkFault::Cut | LinkFault::Delay(_), ..) => (200, 3_000),
        // A call to Redis or PostgreSQL may take some seconds.
        Fault::Link(LinkFault::Hold, ..) | Fault::StallRedis => (200, 7_000),
        Fault::KillPostgres | Fault::KillRedis => (100, 3_000),
        Fault::Clients(ClientFault::Duplicate, _) => (2_000, 8_000),
        Fault::Clients(ClientFault::Away, _) => (1_000, 9_000),
        Fault::Clients(ClientFault::Slow, _) => (1_000, 15_000),
        // Two expired countdowns of 20 s give the seat to the AI.
        Fault::Clients(ClientFault::Idle, _) => (3_000, 45_000),
    };
    dice.within(low, high)
}

impl Fault {
    /// Returns the name of the kind for figures and messages.
    pub(crate) fn kind(self) -> String {
        let kind = match self {
            Self::Node(NodeFault::Kill, _) => "kill node",
            Self::Node(NodeFault::Stop, _) => "stop node",
            Self::Node(NodeFault::StopLong, _) => "stop node past its heartbeat",
            Self::RollingRestart => "rolling restart",
            Self::Exchange(Version::This) => "upgrade",
            Self::Exchange(Version::Before) => "rollback",
            Self::Link(LinkFault::Cut, _, link) => return format!("cut link to {link}"),
            Self::Link(LinkFault::Hold, _, link) => return format!("hold link to {link}"),
            Self::Link(LinkFault::Delay(_), _, link) => return format!("delay link to {link}"),
            Self::KillPostgres => "kill PostgreSQL",
            Self::KillRedis => "kill Redis",
            Self::StallRedis => "stall Redis",
            Self::LoseRedis => "lose Redis",
            Self::Storm => "all clients reconnect",
            Self::Clients(ClientFault::Duplicate, _) => "clients repeat themselves",
            Self::Clients(ClientFault::Drop, _) => "clients drop",
            Self::Clients(ClientFault::Away, _) => "clients stay away",
            Self::Clients(ClientFault::Leave, _) => "clients leave",
            Self::Clients(ClientFault::Slow, _) => "clients do not read",
            Self::Clients(ClientFault::Idle, _) => "clients are idle",
        };
        kind.into()
    }
}

impl fmt::Display for Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Redis => "Redis",
            Self::Postgres => "PostgreSQL",
            Self::Clients => "clients",
        })
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.kind())?;
        match self {
            Self::Link(LinkFault::Delay(late_ms), node, _) => {
                write!(f, ", node {node}, by {late_ms} ms")
            }
            Self::Node(_, node) | Self::Link(_, node, _) => write!(f, ", node {node}"),
            Self::Clients(_, clients) => write!(f, ", {clients} of them"),
            variants!(Self: RollingRestart, Exchange, KillPostgres, KillRedis, StallRedis,
                LoseRedis, Storm) => Ok(()),
        }
    }
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "plan of seed {}: {} faults", self.seed, self.steps.len())?;
        for Step { at_ms, fault, for_ms } in &self.steps {
            write!(f, "  at {at_ms:>7} ms  {fault}")?;
            match for_ms {
                0 => writeln!(f)?,
                ms => writeln!(f, ", for {ms} ms")?,
            }
        }
        Ok(())
    }
}
