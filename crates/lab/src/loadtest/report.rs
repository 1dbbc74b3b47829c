//! The result of a run, as JSON that can be merged. `summary` renders it as text, `compare`
//! compares two runs, `slope` computes growth per hour.

mod compare;
pub(super) mod format;
mod idle;
mod slope;
mod summary;

use bahay_engine::variants;
use serde::{Deserialize, Serialize};

use super::counters::{Count, Figure, Measurements};
use super::{LoadError, Mode};
use format::{millis, per_second};

pub(super) use summary::figure_name;

/// The version of the JSON.
pub(super) const FORMAT: u32 = 1;

/// The error rate from which on a server does not hold a load, whatever its latencies, in
/// thousandths of the moves.
const ERRORS_MAX_PERMILLE: u64 = 10;

/// The share of its processors from which on the tester limits a measurement.
const TESTER_CPU_MAX_PERCENT: u64 = 90;

/// The 99th percentile of lateness from which on the tester limits a measurement, in microseconds.
/// Timers wake to the millisecond.
const TESTER_LAG_MAX_US: u64 = 10_000;

/// The report of a run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Report {
    pub(super) format: u32,
    pub(super) mode: Mode,
    /// The mean; zero for none.
    pub(super) think_ms: u64,
    pub(super) limit_ms: u64,
    /// The server's limit of the commands of a socket; `None` if it was not given.
    pub(super) commands_per_socket: Option<String>,
    /// The number of merged tester processes.
    pub(super) processes: u32,
    /// True if the report was saved during the run and the run did not complete.
    #[serde(default)]
    pub(super) broken_off: bool,
    /// The server's memory before the first player.
    pub(super) empty_rss_bytes: u64,
    /// The measurements during arrival and warm-up.
    pub(super) arrival: Measurements,
    pub(super) steps: Vec<Step>,
    /// Faults found outside of the steps.
    pub(super) faults: Vec<String>,
    /// `None` if the ledger was not verified.
    pub(super) ledger_differences: Option<usize>,
}

/// One measurement.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Step {
    pub(super) tables: u32,
    /// Open connections of an `idle` run, including those of tables.
    #[serde(default)]
    pub(super) connections: u32,
    pub(super) long_ms: u64,
    pub(super) counted: Measurements,
    pub(super) server_cpu_us: u64,
    pub(super) server_rss_bytes: u64,
    pub(super) tester_cpu_us: u64,
    /// The number of processors available to the tester; zero if unknown.
    #[serde(default)]
    pub(super) tester_processors: u64,
    /// The reason for which the tables were not filled; then nothing but the filling was measured.
    #[serde(default)]
    pub(super) unfilled: Option<String>,
    /// True for the confirming measurement of a ramp, which takes twice as long.
    #[serde(default)]
    pub(super) confirmed: bool,
    /// Players that had not reconnected at the end of a storm.
    #[serde(default)]
    pub(super) lost_in_storm: u64,
    /// The usage of each node, in the order of the options.
    #[serde(default)]
    pub(super) nodes: Vec<NodeUsage>,
    pub(super) seconds: Vec<SecondSample>,
}

/// The usage of one node in a measurement.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct NodeUsage {
    pub(super) url: String,
    pub(super) cpu_us: u64,
    pub(super) rss_bytes: u64,
    /// Moves that this node acknowledged.
    pub(super) moves: u64,
}

impl NodeUsage {
    /// Returns the processor time for each acknowledged move, in tenths of a microsecond. It
    /// includes the work for moves of other nodes.
    pub(super) fn cpu_per_move_tenths_us(&self) -> u64 {
        self.cpu_us * 10 / self.moves.max(1)
    }
}

/// A sample of about one second of a step.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct SecondSample {
    pub(super) at_ms: u64,
    pub(super) long_ms: u64,
    pub(super) tables: u64,
    pub(super) moves: u64,
    pub(super) p50_us: u64,
    pub(super) p99_us: u64,
    pub(super) max_us: u64,
    pub(super) server_cpu_us: u64,
    pub(super) server_rss_bytes: u64,
    pub(super) server_queued: u64,
    pub(super) tester_cpu_us: u64,
}

impl Step {
    /// Returns true if 99 of 100 moves reach every seat within the limit and the error rate is
    /// below [`ERRORS_MAX_PERMILLE`].
    pub(super) fn keeps_limit(&self, limit_ms: u64) -> bool {
        let moves = self.counted.count(Count::Moves);
        let errors: u64 = self.counted.errors.values().sum();
        moves > 0
            && self.unfilled.is_none()
            && self.counted.permille_us(Figure::ActionToEvent, 990) <= limit_ms * 1_000
            && errors * 1_000 <= moves * ERRORS_MAX_PERMILLE
            && self.counted.faults.is_empty()
    }

    /// Describes how the tester was saturated, if it was: then an exceeded limit says nothing about
    /// the server.
    pub(super) fn tester_limit(&self) -> Option<String> {
        let available_us = self.tester_processors * self.long_ms * 1_000;
        let lag_us = self.counted.permille_us(Figure::Lag, 990);
        if available_us > 0 && self.tester_cpu_us * 100 >= available_us * TESTER_CPU_MAX_PERCENT {
            let percent = self.tester_cpu_us * 100 / available_us;
            Some(format!("the tester took {percent} % of its processors"))
        } else if lag_us > TESTER_LAG_MAX_US {
            Some(format!("the tester was {} late for one move of a hundred", millis(lag_us)))
        } else {
            None
        }
    }

    pub(super) fn moves_per_second(&self) -> u64 {
        per_second(self.counted.count(Count::Moves), self.long_ms)
    }

    /// Returns the server's processor time for each move, in tenths of a microsecond.
    pub(super) fn cpu_per_move_tenths_us(&self) -> u64 {
        self.server_cpu_us * 10 / self.counted.count(Count::Moves).max(1)
    }

    /// Returns the bytes that a table's clients receive for each move.
    pub(super) fn bytes_per_move(&self) -> u64 {
        self.counted.count(Count::BytesIn) / self.counted.count(Count::Moves).max(1)
    }

    /// Returns the memory that a table and its players' sockets add to the server, in bytes.
    pub(super) fn rss_per_table(&self, empty_rss_bytes: u64) -> u64 {
        self.server_rss_bytes.saturating_sub(empty_rss_bytes) / u64::from(self.tables.max(1))
    }

    fn merge_step(&mut self, other: Self) {
        self.tables += other.tables;
        self.connections += other.connections;
        self.long_ms = self.long_ms.max(other.long_ms);
        self.counted.add(&other.counted);
        // All testers measure the same servers, so usage is not added.
        self.server_cpu_us = self.server_cpu_us.max(other.server_cpu_us);
        self.server_rss_bytes = self.server_rss_bytes.max(other.server_rss_bytes);
        for (node, other) in self.nodes.iter_mut().zip(other.nodes) {
            node.cpu_us = node.cpu_us.max(other.cpu_us);
            node.rss_bytes = node.rss_bytes.max(other.rss_bytes);
            node.moves += other.moves;
        }
        self.tester_cpu_us += other.tester_cpu_us;
        self.tester_processors += other.tester_processors;
        self.unfilled = self.unfilled.take().or(other.unfilled);
        self.lost_in_storm += other.lost_in_storm;
        self.confirmed &= other.confirmed;
        for (second, other) in self.seconds.iter_mut().zip(other.seconds) {
            second.tables += other.tables;
            second.moves += other.moves;
            second.p50_us = second.p50_us.max(other.p50_us);
            second.p99_us = second.p99_us.max(other.p99_us);
            second.max_us = second.max_us.max(other.max_us);
            second.server_cpu_us = second.server_cpu_us.max(other.server_cpu_us);
            second.tester_cpu_us += other.tester_cpu_us;
        }
    }
}

impl Report {
    /// Merges the reports of testers that played together against the same servers.
    pub(super) fn merge(reports: Vec<Self>) -> Result<Self, LoadError> {
        let mut reports = reports.into_iter();
        let first = reports.next().ok_or_else(|| LoadError::MergeMismatch("no file".to_owned()))?;
        reports.try_fold(first, |mut sum, report| {
            let like = |report: &Self| {
                let nodes = report.steps.iter().flat_map(|step| &step.nodes);
                let urls: Vec<_> = nodes.map(|node| node.url.clone()).collect();
                let limit = report.commands_per_socket.clone();
                (report.format, report.mode, report.think_ms, limit, report.steps.len(), urls)
            };
            if like(&sum) != like(&report) {
                return Err(LoadError::MergeMismatch(format!("{:?}", like(&sum))));
            }
            sum.processes += report.processes;
            sum.broken_off |= report.broken_off;
            sum.empty_rss_bytes = sum.empty_rss_bytes.min(report.empty_rss_bytes);
            sum.arrival.add(&report.arrival);
            sum.faults.extend(report.faults);
            sum.ledger_differences = sum.ledger_differences.max(report.ledger_differences);
            for (step, other) in sum.steps.iter_mut().zip(report.steps) {
                step.merge_step(other);
            }
            Ok(sum)
        })
    }

    /// Returns the decisive step: in a ramp the confirmed one.
    pub(super) fn result_step(&self) -> Option<&Step> {
        match self.mode {
            Mode::Ramp => self.steps.iter().find(|step| step.confirmed),
            variants!(Mode: Fixed, Storm, Soak, Max, Idle, Reads, Tournament) => self.steps.last(),
        }
    }

    /// Describes how the tester was saturated in the first step of a ramp beyond the result, if it
    /// was.
    pub(super) fn bounded_by_tester(&self) -> Option<String> {
        let holds = self.result_step().map_or(0, |step| step.tables);
        let not_held = self.steps.iter().filter(|step| !step.keeps_limit(self.limit_ms));
        let next = not_held.filter(|step| step.tables >= holds).min_by_key(|step| step.tables)?;
        next.tester_limit()
    }

    /// Returns the first fault of the server, if any was found.
    pub(super) fn fault(&self) -> Option<String> {
        let in_steps = self.steps.iter().flat_map(|step| &step.counted.faults);
        if let Some(fault) = self.faults.iter().chain(in_steps).next() {
            return Some(fault.clone());
        }
        let lost: u64 = self.steps.iter().map(|step| step.lost_in_storm).sum();
        if lost > 0 {
            return Some(format!("{lost} players did not come back from the storm"));
        }
        let differences = self.ledger_differences.filter(|differences| *differences > 0)?;
        Some(format!("{differences} differences in the ledger: run `bahay verify ledger`"))
    }
}

#[cfg(test)]
mod tests {
    use super::{FORMAT, Report, Step};
    use crate::loadtest::Mode;
    use crate::loadtest::counters::{Count, Figure, Measurements, RunCounters};
    use std::time::Duration;

    fn report(taken_ms: u64, faults: &[&str]) -> Report {
        let counters = RunCounters::default();
        for _ in 0..100 {
            counters.record_latency(Figure::ActionToEvent, Duration::from_millis(taken_ms));
        }
        counters.count(Count::Moves, 100);
        let step = Step {
            tables: 10,
            long_ms: 10_000,
            counted: counters.take_measurements(),
            server_cpu_us: 4_000,
            ..Step::default()
        };
        Report {
            format: FORMAT,
            mode: Mode::Fixed,
            think_ms: 500,
            limit_ms: 100,
            commands_per_socket: Some("20:40".to_owned()),
            processes: 1,
            broken_off: false,
            empty_rss_bytes: 0,
            arrival: Measurements::default(),
            steps: vec![step],
            faults: faults.iter().map(|fault| (*fault).to_owned()).collect(),
            ledger_differences: Some(0),
        }
    }

    #[test]
    fn reports_of_two_testers_become_one() {
        let text = serde_json::to_string(&report(5, &[])).unwrap();
        let read: Report = serde_json::from_str(&text).unwrap();
        let merged = Report::merge(vec![read, report(50, &[])]).unwrap();
        let step = &merged.steps[0];
        assert_eq!((merged.processes, step.tables, step.counted.count(Count::Moves)), (2, 20, 200));
        assert_eq!(step.counted.permille_us(Figure::ActionToEvent, 990) / 1_000, 50);
        assert_eq!(step.cpu_per_move_tenths_us(), 200, "both saw the same server");
        for other in [
            Report { think_ms: 1, ..report(5, &[]) },
            Report { commands_per_socket: None, ..report(5, &[]) },
        ] {
            assert!(Report::merge(vec![report(5, &[]), other]).is_err());
        }
    }

    #[test]
    fn figures_that_got_worse_are_named() {
        let old = report(5, &[]);
        let new = report(7, &[]);
        assert_eq!(new.compare_with(&old, 20).worse.len(), 2, "p50 and p99");
        assert!(new.compare_with(&old, 50).worse.is_empty());
        assert!(old.compare_with(&new, 0).worse.is_empty());
    }

    #[test]
    fn a_saturated_tester_is_named_as_the_limit() {
        let own = |tester_cpu_us, step: Step| Step { tester_cpu_us, tester_processors: 2, ..step };
        let fast = |tables| Step { tables, confirmed: true, ..report(5, &[]).steps.remove(0) };
        let slow = |tables| Step { tables, ..report(500, &[]).steps.remove(0) };
        let ramp = |steps| Report { mode: Mode::Ramp, steps, ..report(5, &[]) };
        assert_eq!(own(17_000_000, slow(30)).tester_limit(), None);
        let bounded = ramp(vec![own(0, fast(20)), own(18_000_000, slow(30)), own(0, slow(45))]);
        let end = "the tester took 90 % of its processors";
        assert_eq!(bounded.bounded_by_tester().as_deref(), Some(end));
        assert!(bounded.summary().contains("NOT THE SERVER'S LIMIT"), "{}", bounded.summary());
        // Steps further up are ignored.
        let server = ramp(vec![own(0, fast(20)), own(0, slow(30)), own(20_000_000, slow(45))]);
        assert_eq!(server.bounded_by_tester(), None);
        assert!(!server.summary().contains("NOT THE SERVER'S LIMIT"), "{}", server.summary());

        let counters = RunCounters::default();
        counters.record_latency(Figure::Lag, Duration::from_millis(11));
        let late = Step { counted: counters.take_measurements(), ..Step::default() };
        assert!(late.tester_limit().unwrap().contains("11.00 ms late"));
    }

    #[test]
    fn a_reached_limit_of_commands_is_named() {
        let fixed = report(5, &[]);
        assert!(!fixed.summary().contains("limit of commands"), "{}", fixed.summary());
        let max = Report { mode: Mode::Max, ..fixed };
        let within = "the limit of commands of a socket, 20:40, was not reached";
        assert!(max.summary().contains(within), "{}", max.summary());
        let mut bounded = max;
        // Requests that are no actions have limits of their own.
        bounded.steps[0].counted.errors.insert("too_fast".to_owned(), 9);
        assert!(bounded.summary().contains(within), "{}", bounded.summary());
        bounded.steps[0].counted.counts.insert(Count::ActionsTooFast, 7);
        let beyond = "THE LIMIT OF COMMANDS OF A SOCKET, 20:40, WAS REACHED 7 times";
        assert!(bounded.summary().contains(beyond), "{}", bounded.summary());
    }

    #[test]
    fn tables_that_were_not_filled_do_not_hold() {
        let why = Some("only 3 of 9 players came".to_owned());
        let step = Step { unfilled: why, ..report(5, &[]).steps.remove(0) };
        assert!(!step.keeps_limit(100));
        assert!(step.ramp_line(100).ends_with("were not filled: only 3 of 9 players came"));
    }

    #[test]
    fn a_fast_wrong_server_is_at_fault() {
        assert_eq!(report(1, &[]).fault(), None);
        assert_eq!(report(1, &["a card"]).fault().as_deref(), Some("a card"));
        let differs = Report { ledger_differences: Some(3), ..report(1, &[]) };
        assert!(differs.fault().is_some());
        assert!(report(1, &[]).steps[0].keeps_limit(100));
        assert!(!report(101, &[]).steps[0].keeps_limit(100));
    }
}
