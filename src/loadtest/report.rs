//! What came of a run: as JSON that can be merged. `summary` says it to people, `compare` holds it
//! against another run, `slope` tells how it changed by the hour.

use serde::{Deserialize, Serialize};

use super::summary::{millis, per_second};
use super::tally::{Count, Counted, Figure};
use super::{LoadError, Mode};

/// The version of the JSON.
pub(super) const FORMAT: u32 = 1;

/// Errors of players who did nothing wrong, in thousandths of their moves, from which on a server
/// does not hold a load, whatever its latencies.
const ERRORS_MAX_PERMILLE: u64 = 10;

/// What this program may take of its processors before it is what bounds a measurement.
const TESTER_CPU_MAX_PERCENT: u64 = 90;

/// The same for how late it may be, 99 times of 100. A timer wakes to the millisecond.
const TESTER_LAG_MAX_US: u64 = 10_000;

/// A whole run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Report {
    pub(super) format: u32,
    pub(super) mode: Mode,
    /// On average; zero for none.
    pub(super) think_ms: u64,
    pub(super) limit_ms: u64,
    /// Testers whose results are in here.
    pub(super) processes: u32,
    /// It was saved while the run went on, and the run has not come to its end.
    #[serde(default)]
    pub(super) broken_off: bool,
    /// The server's memory before anybody came.
    pub(super) empty_rss_bytes: u64,
    /// What was counted while players arrived and warmed up.
    pub(super) arrival: Counted,
    pub(super) steps: Vec<Step>,
    /// Found outside of the steps.
    pub(super) faults: Vec<String>,
    /// `None` when the books could not be read.
    pub(super) ledger_differences: Option<usize>,
}

/// One measurement.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Step {
    pub(super) tables: u32,
    /// Of `idle`: those that were open; those of tables among them.
    #[serde(default)]
    pub(super) connections: u32,
    pub(super) long_ms: u64,
    pub(super) counted: Counted,
    pub(super) server_cpu_us: u64,
    pub(super) server_rss_bytes: u64,
    pub(super) tester_cpu_us: u64,
    /// How many it may use; zero when that is not known.
    #[serde(default)]
    pub(super) tester_processors: u64,
    /// Why there were not so many tables. Nothing was measured then but the filling.
    #[serde(default)]
    pub(super) unfilled: Option<String>,
    /// Measured once more at the end of a ramp, for twice as long.
    #[serde(default)]
    pub(super) confirmed: bool,
    /// Players who were not back when a storm was given up.
    #[serde(default)]
    pub(super) lost_in_storm: u64,
    /// The same of each server, in the order in which they were named.
    #[serde(default)]
    pub(super) nodes: Vec<Node>,
    pub(super) seconds: Vec<Second>,
}

/// One server of several in a measurement.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Node {
    pub(super) url: String,
    pub(super) cpu_us: u64,
    pub(super) rss_bytes: u64,
    /// Those that it acknowledged.
    pub(super) moves: u64,
}

impl Node {
    /// Its processor time for each move that it acknowledged, in tenths of a microsecond. What it
    /// does for the moves of others is in it.
    pub(super) fn cpu_per_move_tenths_us(&self) -> u64 {
        self.cpu_us * 10 / self.moves.max(1)
    }
}

/// About one second of a step.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Second {
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
    /// Whether moves reach every seat within the limit, 99 times of 100, and hardly any fails.
    pub(super) fn keeps(&self, limit_ms: u64) -> bool {
        let moves = self.counted.count(Count::Moves);
        let errors: u64 = self.counted.errors.values().sum();
        moves > 0
            && self.unfilled.is_none()
            && self.counted.permille_us(Figure::ActionToEvent, 990) <= limit_ms * 1_000
            && errors * 1_000 <= moves * ERRORS_MAX_PERMILLE
            && self.counted.faults.is_empty()
    }

    /// How this program, and not the server, was at its end, if it was: then what did not keep the
    /// limit says nothing of the server.
    pub(super) fn tester_at_its_end(&self) -> Option<String> {
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

    /// The server's processor time for each move, in tenths of a microsecond.
    pub(super) fn cpu_per_move_tenths_us(&self) -> u64 {
        self.server_cpu_us * 10 / self.counted.count(Count::Moves).max(1)
    }

    /// What the clients of a table are sent for each move, in bytes of text.
    pub(super) fn bytes_per_move(&self) -> u64 {
        self.counted.count(Count::BytesIn) / self.counted.count(Count::Moves).max(1)
    }

    /// What a table adds to the server's memory, with the sockets of its players.
    pub(super) fn rss_per_table(&self, empty_rss_bytes: u64) -> u64 {
        self.server_rss_bytes.saturating_sub(empty_rss_bytes) / u64::from(self.tables.max(1))
    }

    fn merge(&mut self, other: Self) {
        self.tables += other.tables;
        self.connections += other.connections;
        self.long_ms = self.long_ms.max(other.long_ms);
        self.counted.add(&other.counted);
        // All of them look at the same servers.
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
    /// One report of testers that played together against the same servers.
    pub(super) fn merged(reports: Vec<Self>) -> Result<Self, LoadError> {
        let mut reports = reports.into_iter();
        let first = reports.next().ok_or_else(|| LoadError::Unlike("no file".to_owned()))?;
        reports.try_fold(first, |mut sum, report| {
            let like = |report: &Self| {
                let nodes = report.steps.iter().flat_map(|step| &step.nodes);
                let urls: Vec<_> = nodes.map(|node| node.url.clone()).collect();
                (report.format, report.mode, report.think_ms, report.steps.len(), urls)
            };
            if like(&sum) != like(&report) {
                return Err(LoadError::Unlike(format!("{:?}", like(&sum))));
            }
            sum.processes += report.processes;
            sum.broken_off |= report.broken_off;
            sum.empty_rss_bytes = sum.empty_rss_bytes.min(report.empty_rss_bytes);
            sum.arrival.add(&report.arrival);
            sum.faults.extend(report.faults);
            sum.ledger_differences = sum.ledger_differences.max(report.ledger_differences);
            for (step, other) in sum.steps.iter_mut().zip(report.steps) {
                step.merge(other);
            }
            Ok(sum)
        })
    }

    /// The step that answers the question: of a ramp the confirmed one.
    pub(super) fn answer(&self) -> Option<&Step> {
        match self.mode {
            Mode::Ramp => self.steps.iter().find(|step| step.confirmed),
            Mode::Fixed | Mode::Storm | Mode::Soak | Mode::Max | Mode::Idle | Mode::Reads => {
                self.steps.last()
            }
        }
    }

    /// Of a ramp that has come to its answer: what bounded it, when that was this program.
    pub(super) fn bounded_by_tester(&self) -> Option<String> {
        let holds = self.answer().map_or(0, |step| step.tables);
        let not_held = self.steps.iter().filter(|step| !step.keeps(self.limit_ms));
        let next = not_held.filter(|step| step.tables >= holds).min_by_key(|step| step.tables)?;
        next.tester_at_its_end()
    }

    /// What no server may do, if anything was found.
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
    use crate::loadtest::tally::{Count, Counted, Figure, Tally};
    use std::time::Duration;

    fn report(taken_ms: u64, faults: &[&str]) -> Report {
        let tally = Tally::default();
        for _ in 0..100 {
            tally.took(Figure::ActionToEvent, Duration::from_millis(taken_ms));
        }
        tally.count(Count::Moves, 100);
        let step = Step {
            tables: 10,
            long_ms: 10_000,
            counted: tally.take(),
            server_cpu_us: 4_000,
            ..Step::default()
        };
        Report {
            format: FORMAT,
            mode: Mode::Fixed,
            think_ms: 500,
            limit_ms: 100,
            processes: 1,
            broken_off: false,
            empty_rss_bytes: 0,
            arrival: Counted::default(),
            steps: vec![step],
            faults: faults.iter().map(|fault| (*fault).to_owned()).collect(),
            ledger_differences: Some(0),
        }
    }

    #[test]
    fn reports_of_two_testers_become_one() {
        let text = serde_json::to_string(&report(5, &[])).unwrap();
        let read: Report = serde_json::from_str(&text).unwrap();
        let merged = Report::merged(vec![read, report(50, &[])]).unwrap();
        let step = &merged.steps[0];
        assert_eq!((merged.processes, step.tables, step.counted.count(Count::Moves)), (2, 20, 200));
        assert_eq!(step.counted.permille_us(Figure::ActionToEvent, 990) / 1_000, 50);
        assert_eq!(step.cpu_per_move_tenths_us(), 200, "both saw the same server");
        let other = Report { think_ms: 1, ..report(5, &[]) };
        assert!(Report::merged(vec![report(5, &[]), other]).is_err());
    }

    #[test]
    fn what_got_worse_is_named() {
        let (old, new) = (report(5, &[]), report(7, &[]));
        assert_eq!(new.compared(&old, 20).worse.len(), 2, "p50 and p99");
        assert!(new.compared(&old, 50).worse.is_empty());
        assert!(old.compared(&new, 0).worse.is_empty());
    }

    #[test]
    fn a_tester_at_its_end_says_nothing_of_the_server() {
        let own = |tester_cpu_us, step: Step| Step { tester_cpu_us, tester_processors: 2, ..step };
        let fast = |tables| Step { tables, confirmed: true, ..report(5, &[]).steps.remove(0) };
        let slow = |tables| Step { tables, ..report(500, &[]).steps.remove(0) };
        let ramp = |steps| Report { mode: Mode::Ramp, steps, ..report(5, &[]) };
        assert_eq!(own(17_000_000, slow(30)).tester_at_its_end(), None);
        let bounded = ramp(vec![own(0, fast(20)), own(18_000_000, slow(30)), own(0, slow(45))]);
        let end = "the tester took 90 % of its processors";
        assert_eq!(bounded.bounded_by_tester().as_deref(), Some(end));
        assert!(bounded.summary().contains("NOT THE SERVER'S LIMIT"), "{}", bounded.summary());
        // What lies further up is of no account.
        let server = ramp(vec![own(0, fast(20)), own(0, slow(30)), own(20_000_000, slow(45))]);
        assert_eq!(server.bounded_by_tester(), None);
        assert!(!server.summary().contains("NOT THE SERVER'S LIMIT"), "{}", server.summary());

        let tally = Tally::default();
        tally.took(Figure::Lag, Duration::from_millis(11));
        let late = Step { counted: tally.take(), ..Step::default() };
        assert!(late.tester_at_its_end().unwrap().contains("11.00 ms late"));
    }

    #[test]
    fn tables_that_were_not_filled_do_not_hold() {
        let why = Some("only 3 of 9 players came".to_owned());
        let step = Step { unfilled: why, ..report(5, &[]).steps.remove(0) };
        assert!(!step.keeps(100));
        assert!(step.told(100).ends_with("were not filled: only 3 of 9 players came"));
    }

    #[test]
    fn a_fast_wrong_server_is_at_fault() {
        assert_eq!(report(1, &[]).fault(), None);
        assert_eq!(report(1, &["a card"]).fault().as_deref(), Some("a card"));
        let differs = Report { ledger_differences: Some(3), ..report(1, &[]) };
        assert!(differs.fault().is_some());
        assert!(report(1, &[]).steps[0].keeps(100));
        assert!(!report(101, &[]).steps[0].keeps(100));
    }
}
