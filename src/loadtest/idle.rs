//! What a connection and a table cost that only stand there: the difference between the server
//! alone, the server with connections, and the server with tables whose players are as many.
//!
//! A connection without a table hears a hello and pings. A table plays all the same: its players
//! answer when three quarters of their time are over, so that what it does beside pings is one move
//! every ten seconds or so.

use std::fmt;

use super::Mode;
use super::report::{Report, Step};
use super::summary::percent;

/// What the server took at one of the three stages, and what each of the things there added to it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Stage {
    number: u32,
    cpu_percent: u64,
    rss_bytes: u64,
    /// What one adds to the server alone.
    each_rss_bytes: u64,
    /// Its processor time in a second, in tenths of a microsecond.
    each_cpu_tenths_us: u64,
}

/// The three stages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Idle {
    alone: Stage,
    connections: Stage,
    tables: Stage,
    moves_per_second: u64,
}

impl Idle {
    /// What one connection without a table adds to the server's memory.
    pub(super) fn connection_rss_bytes(&self) -> u64 {
        self.connections.each_rss_bytes
    }
}

impl Report {
    /// Of the mode that measures it, once it is complete.
    pub(super) fn idle(&self) -> Option<Idle> {
        let [alone, connections, tables] = self.steps.as_slice() else {
            return None;
        };
        (self.mode == Mode::Idle).then(|| Idle {
            alone: stage(alone, alone, 0),
            connections: stage(alone, connections, connections.connections),
            tables: stage(alone, tables, tables.tables),
            moves_per_second: tables.moves_per_second(),
        })
    }
}

fn stage(alone: &Step, with: &Step, number: u32) -> Stage {
    let tenths_a_second = |step: &Step| step.server_cpu_us * 10_000 / step.long_ms.max(1);
    let each = |value: u64| value / u64::from(number.max(1));
    Stage {
        number,
        cpu_percent: percent(with.server_cpu_us, with.long_ms),
        rss_bytes: with.server_rss_bytes,
        each_rss_bytes: each(with.server_rss_bytes.saturating_sub(alone.server_rss_bytes)),
        each_cpu_tenths_us: each(tenths_a_second(with).saturating_sub(tenths_a_second(alone))),
    }
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (hundredths, tenths) = (self.each_rss_bytes * 100 / 1_024, self.each_cpu_tenths_us);
        write!(
            f,
            "{} % cpu, {} MiB; each {}.{:02} KiB and {}.{} us of a second",
            self.cpu_percent,
            self.rss_bytes >> 20,
            hundredths / 100,
            hundredths % 100,
            tenths / 10,
            tenths % 10,
        )
    }
}

impl fmt::Display for Idle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { alone, connections, tables, moves_per_second } = self;
        writeln!(
            f,
            "the server alone: {} % cpu, {} MiB",
            alone.cpu_percent,
            alone.rss_bytes >> 20
        )?;
        writeln!(f, "{} connections without a table: {connections}", connections.number)?;
        writeln!(
            f,
            "{} tables with as many players: {tables}, {moves_per_second} moves/s in all",
            tables.number
        )
    }
}

#[cfg(test)]
mod tests {
    use super::{Step, stage};

    #[test]
    fn what_one_costs_is_what_it_adds_to_the_server_alone() {
        let step = |server_cpu_us, server_rss_bytes| Step {
            long_ms: 10_000,
            server_cpu_us,
            server_rss_bytes,
            ..Step::default()
        };
        let (alone, with) = (step(100_000, 10 << 20), step(300_000, 20 << 20));
        let stage = stage(&alone, &with, 1_000);
        assert_eq!(stage.each_rss_bytes, 10_485);
        assert_eq!(stage.each_cpu_tenths_us, 200, "20 ms of each second by a thousand");
        assert!(stage.to_string().ends_with("each 10.23 KiB and 20.0 us of a second"), "{stage}");
    }
}
