//! What is to go wrong, drawn from a seed before anything starts: what, to whom, when, for how
//! long. The same seed and extent give the same plan.
//!
//! Faults of different targets overlap; those of one target wait for each other. Durations are on
//! both sides of what the service notices: a node may be stopped for less and for more than its
//! heartbeat, and a link held for less and for more than a call may take.

use std::fmt;
use std::time::Duration;

use crate::dice::Dice;
use crate::outages::AWAY_WITHIN_MS;

/// Longer than a heartbeat may be late, and than the seats of a silent node wait for the AI.
const PAST_HEARTBEAT_MS: (u64, u64) = (5_000, 8_000);

/// A way from a node to somebody else.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Link {
    Redis,
    Postgres,
    Clients,
}

/// What a node runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Version {
    /// What was built with this run.
    #[default]
    This,
    /// What the run was told of, and begins with.
    Before,
}

/// What goes wrong. Nodes are numbered from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Fault {
    /// A node is killed, and started again afterwards.
    KillNode {
        node: u64,
    },
    /// A node is stopped in the midst of what it does, and goes on afterwards.
    StopNode {
        node: u64,
    },
    /// The same for longer than its heartbeat may be late.
    StopNodeLong {
        node: u64,
    },
    /// Every node in turn is told to end, and started again.
    RollingRestart,
    /// Every node in turn is told to end, and started again by the binary of a version.
    Exchange {
        version: Version,
    },
    /// A node's connections over a link break, and new ones are refused for a while.
    Cut {
        node: u64,
        link: Link,
    },
    /// Nothing passes a link, and nobody is told.
    Hold {
        node: u64,
        link: Link,
    },
    /// All that passes a link is late.
    Delay {
        node: u64,
        link: Link,
        late_ms: u64,
    },
    KillPostgres,
    /// Its data is there when it comes back.
    KillRedis,
    StallRedis,
    /// Its data is gone when it comes back.
    LoseRedis,
    /// Clients send every command twice.
    Duplicate {
        clients: u64,
    },
    /// All clients break off and return at once.
    Storm,
    /// Clients break off without a word, and return.
    Drop {
        clients: u64,
    },
    /// Clients break off and stay away for the duration.
    Away {
        clients: u64,
    },
    /// Clients leave their tables and look for others.
    Leave {
        clients: u64,
    },
    /// Clients do not read for a while.
    Slow {
        clients: u64,
    },
    /// Clients do nothing for a while, and let countdowns pass.
    Idle {
        clients: u64,
    },
}

/// One fault of a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Step {
    pub(crate) at_ms: u64,
    pub(crate) fault: Fault,
    /// Zero for what happens in a moment.
    pub(crate) for_ms: u64,
}

/// All that is to go wrong, by time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Plan {
    pub(crate) seed: u64,
    pub(crate) steps: Vec<Step>,
}

/// Of how many nodes and clients a plan may choose.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Extent {
    pub(crate) nodes: u64,
    pub(crate) clients: u64,
    pub(crate) lose_redis: bool,
}

impl Plan {
    /// Faults one to three seconds apart, for so long; more after a node was killed.
    pub(crate) fn draw(seed: u64, extent: Extent, length: Duration) -> Self {
        let mut dice = Dice::new(seed, 0);
        let end_ms = u64::try_from(length.as_millis()).unwrap_or(u64::MAX);
        let mut steps: Vec<Step> = Vec::new();
        let mut kinds = Vec::new();
        let mut at_ms = 2_000;
        while at_ms < end_ms {
            // Every kind comes before one comes again.
            if kinds.is_empty() {
                kinds = every_kind(&mut dice, extent);
                dice.shuffle(&mut kinds);
            }
            let fault = kinds.pop().expect("it was just filled");
            steps.push(Step { at_ms, fault, for_ms: duration_ms(&mut dice, fault) });
            at_ms += dice.within(1_000, 3_000);
            // The others find out in peace, so that it can be seen how long they take.
            if let Fault::KillNode { .. } = fault {
                at_ms += AWAY_WITHIN_MS;
            }
        }
        Self { seed, steps }
    }

    /// Every kind once and briefly, one soon after the other.
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

    /// So many upgrades and as many rollbacks, one after the other, with some seconds between two.
    pub(crate) fn exchanges(seed: u64, times: u64) -> Self {
        let versions = [Version::This, Version::Before].into_iter().cycle().zip(0..2 * times);
        let step = |(version, place): (Version, u64)| Step {
            // Each waits for the one before.
            at_ms: 3_000 + place,
            fault: Fault::Exchange { version },
            for_ms: 3_000,
        };
        Self { seed, steps: versions.map(step).collect() }
    }

    /// Whether all that Redis holds is lost on purpose.
    pub(crate) fn loses_redis(&self) -> bool {
        self.steps.iter().any(|step| step.fault == Fault::LoseRedis)
    }
}

/// One fault of each kind, each to somebody.
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
        // Two countdowns of 20 s give the seat to the AI.
        Fault::Idle { .. } => (3_000, 45_000),
    };
    dice.within(low, high)
}

impl Fault {
    /// In figures and in messages.
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
