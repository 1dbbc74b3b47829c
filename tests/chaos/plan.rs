//! The plan of a run's faults, drawn from a seed before anything starts: fault, target, time and
//! duration. The same seed and extent give the same plan.
//!
//! Faults of different targets overlap; those of one target are sequential. Durations lie on both
//! sides of the service's timeouts: a node may be stopped for less and for more than its heartbeat,
//! and a link held for less and for more than the timeout of a call.

use std::fmt;
use std::time::Duration;

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
    /// Kills a node, and starts it again afterwards.
    KillNode {
        node: u64,
    },
    /// Suspends a node, and resumes it afterwards.
    StopNode {
        node: u64,
    },
    /// Suspends a node for longer than the heartbeat's timeout.
    StopNodeLong {
        node: u64,
    },
    /// Terminates and restarts every node in turn.
    RollingRestart,
    /// Terminates every node in turn and starts it with the binary of another version.
    Exchange {
        version: Version,
    },
    /// Breaks a node's connections over a link and refuses new ones for a while.
    Cut {
        node: u64,
        link: Link,
    },
    /// Silently holds all traffic of a link.
    Hold {
        node: u64,
        link: Link,
    },
    /// Delays all traffic of a link.
    Delay {
        node: u64,
        link: Link,
        late_ms: u64,
    },
    KillPostgres,
    /// Kills Redis, which keeps its data.
    KillRedis,
    StallRedis,
    /// Kills Redis, which loses its data.
    LoseRedis,
    /// Lets clients send every command twice.
    Duplicate {
        clients: u64,
    },
    /// Disconnects all clients at once; they reconnect immediately.
    Storm,
    /// Lets clients disconnect abruptly and reconnect.
    Drop {
        clients: u64,
    },
    /// Lets clients disconnect and stay away for the duration.
    Away {
        clients: u64,
    },
    /// Lets clients leave their tables and look for others.
    Leave {
        clients: u64,
    },
    /// Lets clients stop reading for a while.
    Slow {
        clients: u64,
    },
    /// Lets clients do nothing for a while, so that countdowns expire.
    Idle {
        clients: u64,
    },
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
            if let Fault::KillNode { .. } = fault {
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
                Fault::StopNodeLong { .. } => 4_000,
                _ => 600,
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
            fault: Fault::Exchange { version },
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
        Fault::KillNode { node: dice.below(nodes) },
        Fault::StopNode { node: dice.below(nodes) },
        Fault::StopNodeLong { node: dice.below(nodes) },
        Fault::RollingRestart,
    ];
    for link in [Link::Redis, Link::Postgres, Link::Clients] {
        let late_ms = dice.within(5, 120);
        faults.push(Fault::Cut { node: dice.below(nodes), link });
        faults.push(Fault::Hold { node: dice.below(nodes), link });
        faults.push(Fault::Delay { node: dice.below(nodes), link, late_ms });
    }
    let some = |dice: &mut Dice| dice.within(1, (clients / 3).max(1));
    faults.extend([
        Fault::KillPostgres,
        Fault::KillRedis,
        Fault::StallRedis,
        Fault::Duplicate { clients: some(dice) },
        Fault::Storm,
        Fault::Drop { clients: some(dice) },
        Fault::Away { clients: some(dice) },
        Fault::Leave { clients: some(dice) },
        Fault::Slow { clients: some(dice) },
        Fault::Idle { clients: some(dice) },
    ]);
    if lose_redis {
        faults.push(Fault::LoseRedis);
    }
    faults
}

fn duration_ms(dice: &mut Dice, fault: Fault) -> u64 {
    let (low, high) = match fault {
        Fault::RollingRestart
        | Fault::Exchange { .. }
        | Fault::LoseRedis
        | Fault::Storm
        | Fault::Drop { .. }
        | Fault::Leave { .. } => return 0,
        Fault::StopNode { .. } => (100, 2_000),
        Fault::KillNode { .. } => (200, 6_000),
        Fault::StopNodeLong { .. } => PAST_HEARTBEAT_MS,
        Fault::Cut { .. } | Fault::Delay { .. } => (200, 3_000),
        // A call to Redis or PostgreSQL may take some seconds.
        Fault::Hold { .. } => (200, 7_000),
        Fault::KillPostgres | Fault::KillRedis => (100, 3_000),
        Fault::StallRedis => (200, 7_000),
        Fault::Duplicate { .. } => (2_000, 8_000),
        Fault::Away { .. } => (1_000, 9_000),
        Fault::Slow { .. } => (1_000, 15_000),
        // Two expired countdowns of 20 s give the seat to the AI.
        Fault::Idle { .. } => (3_000, 45_000),
    };
    dice.within(low, high)
}

impl Fault {
    /// Returns the name of the kind for figures and messages.
    pub(crate) fn kind(self) -> String {
        let of_link = |what: &str, link: Link| format!("{what} {link}");
        match self {
            Self::KillNode { .. } => "kill node".into(),
            Self::StopNode { .. } => "stop node".into(),
            Self::StopNodeLong { .. } => "stop node past its heartbeat".into(),
            Self::RollingRestart => "rolling restart".into(),
            Self::Exchange { version: Version::This } => "upgrade".into(),
            Self::Exchange { version: Version::Before } => "rollback".into(),
            Self::Cut { link, .. } => of_link("cut link to", link),
            Self::Hold { link, .. } => of_link("hold link to", link),
            Self::Delay { link, .. } => of_link("delay link to", link),
            Self::KillPostgres => "kill PostgreSQL".into(),
            Self::KillRedis => "kill Redis".into(),
            Self::StallRedis => "stall Redis".into(),
            Self::LoseRedis => "lose Redis".into(),
            Self::Duplicate { .. } => "clients repeat themselves".into(),
            Self::Storm => "all clients reconnect".into(),
            Self::Drop { .. } => "clients drop".into(),
            Self::Away { .. } => "clients stay away".into(),
            Self::Leave { .. } => "clients leave".into(),
            Self::Slow { .. } => "clients do not read".into(),
            Self::Idle { .. } => "clients are idle".into(),
        }
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
            Self::KillNode { node }
            | Self::StopNode { node }
            | Self::StopNodeLong { node }
            | Self::Cut { node, .. }
            | Self::Hold { node, .. } => write!(f, ", node {node}"),
            Self::Delay { node, late_ms, .. } => write!(f, ", node {node}, by {late_ms} ms"),
            Self::Duplicate { clients }
            | Self::Drop { clients }
            | Self::Away { clients }
            | Self::Leave { clients }
            | Self::Slow { clients }
            | Self::Idle { clients } => write!(f, ", {clients} of them"),
            Self::RollingRestart
            | Self::Exchange { .. }
            | Self::KillPostgres
            | Self::KillRedis
            | Self::StallRedis
            | Self::LoseRedis
            | Self::Storm => Ok(()),
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
