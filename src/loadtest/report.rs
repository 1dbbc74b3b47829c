//! What came of a run: as JSON that can be merged and compared, and as a few lines for people.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use super::tally::{Count, Counted, Figure};
use super::{LoadError, Mode};

/// The version of the JSON.
pub(super) const FORMAT: u32 = 1;

/// Clients that a table has.
const SEATS: u64 = 3;

/// Errors of players who did nothing wrong, in thousandths of their moves, from which on a server
/// does not hold a load, whatever its latencies.
const ERRORS_MAX_PERMILLE: u64 = 10;

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
    pub(super) long_ms: u64,
    pub(super) counted: Counted,
    pub(super) server_cpu_us: u64,
    pub(super) server_rss_bytes: u64,
    pub(super) tester_cpu_us: u64,
    /// Measured once more at the end of a ramp, for twice as long.
    #[serde(default)]
    pub(super) confirmed: bool,
    /// Players who were not back when a storm was given up.
    #[serde(default)]
    pub(super) lost_in_storm: u64,
    pub(super) seconds: Vec<Second>,
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

impl Second {
    pub(super) fn line(&self, of_seconds: u64) -> String {
        let at = self.at_ms / 1_000;
        let of = if of_seconds == 0 { String::new() } else { format!(" of {of_seconds}") };
        format!(
            "{at}{of} s: {} tables, {} moves/s, p50 {}, p99 {}, server {} % cpu, {} MiB, tester {} % cpu",
            self.tables,
            per_second(self.moves, self.long_ms),
            millis(self.p50_us),
            millis(self.p99_us),
            percent(self.server_cpu_us, self.long_ms),
            self.server_rss_bytes >> 20,
            percent(self.tester_cpu_us, self.long_ms),
        )
    }
}

impl Step {
    /// Whether moves reach every seat within the limit, 99 times of 100, and hardly any fails.
    pub(super) fn keeps(&self, limit_ms: u64) -> bool {
        let moves = self.counted.count(Count::Moves);
        let errors: u64 = self.counted.errors.values().sum();
        moves > 0
            && self.counted.permille_us(Figure::ActionToEvent, 990) <= limit_ms * 1_000
            && errors * 1_000 <= moves * ERRORS_MAX_PERMILLE
            && self.counted.faults.is_empty()
    }

    pub(super) fn moves_per_second(&self) -> u64 {
        per_second(self.counted.count(Count::Moves), self.long_ms)
    }

    /// The server's processor time for each move, in tenths of a microsecond.
    pub(super) fn cpu_per_move_tenths_us(&self) -> u64 {
        self.server_cpu_us * 10 / self.counted.count(Count::Moves).max(1)
    }

    /// What the three clients of a table are sent for each move, in bytes of text.
    pub(super) fn bytes_per_move(&self) -> u64 {
        self.counted.count(Count::BytesIn) / self.counted.count(Count::Moves).max(1)
    }

    /// What a table adds to the server's memory, with the sockets of its players.
    pub(super) fn rss_per_table(&self, empty_rss_bytes: u64) -> u64 {
        self.server_rss_bytes.saturating_sub(empty_rss_bytes) / u64::from(self.tables.max(1))
    }

    /// How a value of the seconds grows by the hour, as a straight line fits best.
    pub(super) fn slope_per_hour(&self, value: impl Fn(&Second) -> u64) -> i128 {
        let points: Vec<(i128, i128)> = self
            .seconds
            .iter()
            .map(|second| (i128::from(second.at_ms), i128::from(value(second))))
            .collect();
        let number = points.len() as i128;
        let sum = |of: &dyn Fn(&(i128, i128)) -> i128| points.iter().map(of).sum::<i128>();
        let (x, y) = (sum(&|point| point.0), sum(&|point| point.1));
        let (xx, xy) = (sum(&|point| point.0 * point.0), sum(&|point| point.0 * point.1));
        let below = number * xx - x * x;
        if below == 0 { 0 } else { (number * xy - x * y) * 3_600_000 / below }
    }

    fn merge(&mut self, other: Self) {
        self.tables += other.tables;
        self.long_ms = self.long_ms.max(other.long_ms);
        self.counted.add(&other.counted);
        // All of them look at the same server.
        self.server_cpu_us = self.server_cpu_us.max(other.server_cpu_us);
        self.server_rss_bytes = self.server_rss_bytes.max(other.server_rss_bytes);
        self.tester_cpu_us += other.tester_cpu_us;
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
    /// One report of testers that played together against one server.
    pub(super) fn merged(reports: Vec<Self>) -> Result<Self, LoadError> {
        let mut reports = reports.into_iter();
        let first = reports.next().ok_or_else(|| LoadError::Unlike("no file".to_owned()))?;
        reports.try_fold(first, |mut sum, report| {
            let like = (sum.format, sum.mode, sum.think_ms, sum.steps.len());
            if like != (report.format, report.mode, report.think_ms, report.steps.len()) {
                return Err(LoadError::Unlike(format!("{like:?}")));
            }
            sum.processes += report.processes;
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
            Mode::Fixed | Mode::Storm | Mode::Soak | Mode::Max | Mode::Reads => self.steps.last(),
        }
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

    pub(super) fn summary(&self) -> String {
        let mut text = String::new();
        for step in &self.steps {
            let mark = match self.mode {
                Mode::Ramp if step.confirmed => "  holds, confirmed",
                Mode::Ramp if step.keeps(self.limit_ms) => "  holds",
                Mode::Ramp => "  does not hold",
                Mode::Fixed | Mode::Storm | Mode::Soak | Mode::Max | Mode::Reads => "",
            };
            let counted = &step.counted;
            text += &format!(
                "{} tables, {} s: {} moves/s, {} games{mark}\n",
                step.tables,
                step.long_ms / 1_000,
                step.moves_per_second(),
                counted.count(Count::Games),
            );
            for (figure, latencies) in &counted.latencies {
                text += &format!(
                    "  {:<16} {:>9} times  p50 {:>9}  p90 {:>9}  p99 {:>9}  p99.9 {:>9}  most {:>9}\n",
                    name(*figure),
                    latencies.count(),
                    millis(latencies.permille_us(500)),
                    millis(latencies.permille_us(900)),
                    millis(latencies.permille_us(990)),
                    millis(latencies.permille_us(999)),
                    millis(latencies.max_us()),
                );
            }
            let tenths = step.cpu_per_move_tenths_us();
            text += &format!(
                "  server {} % cpu, {}.{} us a move, {} MiB, {} KiB a table; tester {} % cpu\n",
                percent(step.server_cpu_us, step.long_ms),
                tenths / 10,
                tenths % 10,
                step.server_rss_bytes >> 20,
                step.rss_per_table(self.empty_rss_bytes) >> 10,
                percent(step.tester_cpu_us, step.long_ms),
            );
            text += &format!(
                "  {} bytes to the {SEATS} clients for a move, {} messages in, {} out; {} guests, \
                 {} gone broke\n",
                step.bytes_per_move(),
                counted.count(Count::MessagesIn),
                counted.count(Count::MessagesOut),
                counted.count(Count::Guests),
                counted.count(Count::Broke),
            );
            if self.mode == Mode::Soak {
                text += &format!(
                    "  by the hour: memory {:+} KiB, p99 {:+} us\n",
                    step.slope_per_hour(|second| second.server_rss_bytes) / 1_024,
                    step.slope_per_hour(|second| second.p99_us),
                );
            }
            if !counted.errors.is_empty() {
                text += &format!("  errors: {}\n", listed(&counted.errors));
            }
        }
        if self.mode == Mode::Ramp {
            text += &match self.answer() {
                Some(step) => {
                    format!("{} tables keep p99 below {} ms\n", step.tables, self.limit_ms)
                }
                None => format!("no number of tables keeps p99 below {} ms\n", self.limit_ms),
            };
        }
        let waited = &self.arrival;
        text += &format!(
            "arrival: {} guests, a full table after p50 {}, p99 {}{}\n",
            waited.count(Count::Guests),
            millis(waited.permille_us(Figure::MatchWait, 500)),
            millis(waited.permille_us(Figure::MatchWait, 990)),
            if waited.errors.is_empty() {
                String::new()
            } else {
                format!("; errors: {}", listed(&waited.errors))
            },
        );
        text += &match self.ledger_differences {
            None => "the ledger was not checked: give --database-url\n".to_owned(),
            Some(0) => "the ledger is clean\n".to_owned(),
            Some(number) => format!("{number} differences in the ledger\n"),
        };
        let in_steps = self.steps.iter().flat_map(|step| &step.counted.faults);
        for fault in self.faults.iter().chain(in_steps) {
            text += &format!("FAULT: {fault}\n");
        }
        text.trim_end().to_owned()
    }

    /// The figures that tell whether one run is better than another; less is better in all of them
    /// but those of which more is.
    fn figures(&self) -> Vec<(&'static str, u64, Better)> {
        let Some(step) = self.answer() else {
            return Vec::new();
        };
        let counted = &step.counted;
        vec![
            ("tables", step.tables.into(), Better::More),
            ("moves a second", step.moves_per_second(), Better::More),
            (
                "p50 to every seat, us",
                counted.permille_us(Figure::ActionToEvent, 500),
                Better::Less,
            ),
            (
                "p99 to every seat, us",
                counted.permille_us(Figure::ActionToEvent, 990),
                Better::Less,
            ),
            ("p99 of resuming, us", counted.permille_us(Figure::Resume, 990), Better::Less),
            ("p99 of settling, us", counted.permille_us(Figure::Settlement, 990), Better::Less),
            ("server cpu a move, us/10", step.cpu_per_move_tenths_us(), Better::Less),
            ("bytes a move", step.bytes_per_move(), Better::Less),
            ("memory a table, bytes", step.rss_per_table(self.empty_rss_bytes), Better::Less),
        ]
    }

    /// Holds every figure against that of another run.
    pub(super) fn compared(&self, old: &Self, worse_percent: u32) -> Compared {
        let pairs = old.figures().into_iter().zip(self.figures());
        // What was not measured in one of them says nothing.
        let pairs = pairs.filter(|((_, old, _), (_, new, _))| *old > 0 && *new > 0);
        let lines: Vec<_> = pairs
            .map(|((name, old, _), (_, new, better))| Line { name, old, new, better })
            .collect();
        let worse = lines.iter().filter(|line| line.is_worse(worse_percent));
        let worse = worse.map(ToString::to_string).collect();
        Compared { lines, worse }
    }
}

/// What is wished for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Better {
    Less,
    More,
}

/// One figure of two runs.
#[derive(Clone, Debug)]
pub(super) struct Line {
    name: &'static str,
    old: u64,
    new: u64,
    better: Better,
}

impl Line {
    fn is_worse(&self, percent: u32) -> bool {
        let percent = u64::from(percent);
        match self.better {
            Better::Less => self.new * 100 > self.old * (100 + percent),
            Better::More => self.new * (100 + percent) < self.old * 100,
        }
    }
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let hundredths = self.new * 100 / self.old.max(1);
        let (whole, part) = (hundredths / 100, hundredths % 100);
        write!(f, "{}: {} after {}, ×{whole}.{part:02}", self.name, self.new, self.old)
    }
}

/// Two runs side by side.
#[derive(Clone, Debug)]
pub(super) struct Compared {
    lines: Vec<Line>,
    /// What got worse by more than is allowed.
    pub(super) worse: Vec<String>,
}

impl fmt::Display for Compared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "compared with before:")?;
        self.lines.iter().try_for_each(|line| write!(f, "\n  {line}"))
    }
}

pub(super) fn name(figure: Figure) -> &'static str {
    match figure {
        Figure::ActionToAck => "action to ack",
        Figure::ActionToEvent => "to every seat",
        Figure::Resume => "resume",
        Figure::MatchWait => "match wait",
        Figure::Settlement => "settlement",
        Figure::Lag => "tester's lag",
    }
}

/// Milliseconds with two digits after the point, rounded down.
pub(super) fn millis(us: u64) -> String {
    format!("{}.{:02} ms", us / 1_000, us % 1_000 / 10)
}

pub(super) fn per_second(number: u64, long_ms: u64) -> u64 {
    number * 1_000 / long_ms.max(1)
}

/// Of one core.
pub(super) fn percent(cpu_us: u64, long_ms: u64) -> u64 {
    cpu_us / 10 / long_ms.max(1)
}

fn listed(errors: &BTreeMap<String, u64>) -> String {
    let listed: Vec<_> = errors.iter().map(|(code, number)| format!("{code} {number}")).collect();
    listed.join(", ")
}

#[cfg(test)]
mod tests {
    use super::{FORMAT, Report, Second, Step};
    use crate::loadtest::Mode;
    use crate::loadtest::tally::{Count, Counted, Figure, Tally};
    use std::time::Duration;

    fn report(taken_ms: u64, faults: &[&str]) -> Report {
        let tally = Tally::default();
        for _ in 0..100 {
            tally.took(Figure::ActionToEvent, Duration::from_millis(taken_ms));
        }
        tally.count(Count::Moves, 100);
        let seconds = (0..10).map(|at| Second {
            at_ms: at * 1_000,
            server_rss_bytes: at * 7,
            ..Second::default()
        });
        let step = Step {
            tables: 10,
            long_ms: 10_000,
            counted: tally.take(),
            server_cpu_us: 4_000,
            seconds: seconds.collect(),
            ..Step::default()
        };
        Report {
            format: FORMAT,
            mode: Mode::Fixed,
            think_ms: 500,
            limit_ms: 100,
            processes: 1,
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
    fn a_fast_wrong_server_is_at_fault() {
        assert_eq!(report(1, &[]).fault(), None);
        assert_eq!(report(1, &["a card"]).fault().as_deref(), Some("a card"));
        let differs = Report { ledger_differences: Some(3), ..report(1, &[]) };
        assert!(differs.fault().is_some());
        assert!(report(1, &[]).steps[0].keeps(100));
        assert!(!report(101, &[]).steps[0].keeps(100));
    }

    #[test]
    fn a_slope_is_that_of_a_straight_line() {
        let step = &report(1, &[]).steps[0];
        assert_eq!(step.slope_per_hour(|second| second.server_rss_bytes), 7 * 3_600);
        assert_eq!(step.slope_per_hour(|_| 5), 0);
    }
}
