//! Cost of idle connections and tables: the differences between the server alone, the server with
//! connections, and the server with tables of as many players.
//!
//! A connection without a table receives a hello and pings. A table plays all the same, but its
//! players answer only after three quarters of their countdown, so it adds about one move every ten
//! seconds to the pings.

use std::fmt;

use super::format::{hundredths, percent, tenths};
use super::{Report, Step};
use crate::loadtest::Mode;

/// The server's usage at one of the three stages, and the cost of each connection or table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct IdleStage {
    number: u32,
    cpu_percent: u64,
    rss_bytes: u64,
    /// The memory that each adds to the server alone.
    pub(super) each_rss_bytes: u64,
    /// The processor time per second that each adds, in tenths of a microsecond.
    each_cpu_tenths_us: u64,
}

/// The three stages of an `idle` run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::loadtest) struct IdleCosts {
    alone: IdleStage,
    /// Connections without a table.
    pub(super) connections: IdleStage,
    tables: IdleStage,
    moves_per_second: u64,
}

impl Report {
    /// Returns the costs of a complete `idle` run; `None` in other modes.
    pub(in crate::loadtest) fn idle_costs(&self) -> Option<IdleCosts> {
        let [alone, connections, tables] = self.steps.as_slice() else {
            return None;
        };
        (self.mode == Mode::Idle).then(|| IdleCosts {
            alone: build_stage(alone, alone, 0),
            connections: build_stage(alone, connections, connections.connections),
            tables: build_stage(alone, tables, tables.tables),
            moves_per_second: tables.moves_per_second(),
        })
    }
}

fn build_stage(alone: &Step, with: &Step, number: u32) -> IdleStage {
    let tenths_a_second = |step: &Step| step.server_cpu_us * 10_000 / step.long_ms.max(1);
    let each = |value: u64| value / u64::from(number.max(1));
    IdleStage {
        number,
        cpu_percent: percent(with.server_cpu_us, with.long_ms),
        rss_bytes: with.server_rss_bytes,
        each_rss_bytes: each(with.server_rss_bytes.saturating_sub(alone.server_rss_bytes)),
        each_cpu_tenths_us: each(tenths_a_second(with).saturating_sub(tenths_a_second(alone))),
    }
}

impl fmt::Display for IdleStage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} % cpu, {} MiB; each {} KiB and {} us of a second",
            self.cpu_percent,
            self.rss_bytes >> 20,
            hundredths(self.each_rss_bytes * 100 / 1_024),
            tenths(self.each_cpu_tenths_us),
        )
    }
}

impl fmt::Display for IdleCosts {
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
    use super::{Step, build_stage};

    #[test]
    fn a_cost_is_the_difference_to_the_server_alone() {
        let step = |server_cpu_us, server_rss_bytes| Step {
            long_ms: 10_000,
            server_cpu_us,
            server_rss_bytes,
            ..Step::default()
        };
        let alone = step(100_000, 10 << 20);
        let with = step(300_000, 20 << 20);
        let stage = build_stage(&alone, &with, 1_000);
        assert_eq!(stage.each_rss_bytes, 10_485);
        assert_eq!(stage.each_cpu_tenths_us, 200, "20 ms of each second by a thousand");
        assert!(stage.to_string().ends_with("each 10.23 KiB and 20.0 us of a second"), "{stage}");
    }
}
