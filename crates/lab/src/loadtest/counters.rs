//! Counters and latency histograms of a run.
//!
//! Latencies are in microseconds, in histograms of three significant digits. Coordinated omission
//! is corrected in two ways. A latency counts from the time at which the player meant to act, so
//! the delay of a late client is part of it, beyond the [`TIMER`] by which timers may be late, which
//! is shown only as `lag`. And a move that took longer than
//! the usual interval between two moves of a table also stands for the moves that were not made
//! meanwhile: each of them is recorded with the time that it would have waited.
//!
//! Bounds: latencies are clamped to [`MOST_US`]; the first [`FAULTS_MAX`] faults are kept.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};

/// The longest recorded latency, in microseconds: two minutes.
const MOST_US: u64 = 120_000_000;

/// The lateness of timers on an idle machine: they wake to the millisecond, and so does the wait for
/// sockets. A latency that jumped by it as soon as a timer was a little later would be that of the
/// timer.
pub(super) const TIMER: Duration = Duration::from_millis(2);

/// Returns the lateness that is attributed to the tester.
pub(super) fn lateness_beyond_timer(late: Duration) -> Duration {
    late.saturating_sub(TIMER)
}

/// The most faults that are kept in full; the first few suffice for a diagnosis.
const FAULTS_MAX: usize = 20;

/// A measured duration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Figure {
    /// The time from the intended action to its ack.
    ActionToAck,
    /// The time from the intended action until every seat has received its update.
    ActionToEvent,
    /// The time from a disconnection, or from the first attempt to reconnect, until the table is
    /// joined again.
    Resume,
    /// The time from the request for a seat until the table is full.
    MatchWait,
    /// The time from the end of a game to its settlement.
    Settlement,
    /// The lateness of this program's actions. Large values mean that the tester, and not the
    /// server, is saturated.
    Lag,
}

bahay_base::text_enum! {
    /// A counted event.
    pub enum Count {
        /// Acknowledged actions.
        Moves = "moves",
        /// Actions refused because of the limit of the commands of a socket.
        ActionsTooFast = "actions_too_fast",
        Games = "games",
        MessagesIn = "messages_in",
        BytesIn = "bytes_in",
        MessagesOut = "messages_out",
        /// Connections that were resumed.
        Resumes = "resumes",
        /// Guests that signed in.
        Guests = "guests",
        /// Players that ran out of coins and were replaced by a new guest.
        Broke = "broke",
        /// Games whose observed events agreed with the record.
        Audited = "audited",
    }
}

/// A histogram of latencies, serialised as its values and the percentiles computed from them.
#[derive(Clone, Debug, PartialEq)]
pub struct Latencies(Histogram<u64>);

impl Default for Latencies {
    fn default() -> Self {
        let histogram = Histogram::new_with_bounds(1, MOST_US, 3);
        Self(histogram.expect("these bounds and digits are within what a histogram takes"))
    }
}

impl Latencies {
    pub(super) fn record(&mut self, taken: Duration, usual: Duration) {
        let us = |duration: Duration| u64::try_from(duration.as_micros()).unwrap_or(MOST_US);
        let taken_us = us(taken).clamp(1, MOST_US);
        let usual_us = us(usual);
        let recorded = if usual_us == 0 {
            self.0.record(taken_us)
        } else {
            self.0.record_correct(taken_us, usual_us)
        };
        recorded.expect("a value within the bounds can be recorded");
    }

    pub(super) fn add(&mut self, other: &Self) {
        self.0.add(&other.0).expect("both have the same bounds");
    }

    pub fn count(&self) -> u64 {
        self.0.len()
    }

    /// Returns a quantile in microseconds, such as 990 for the 99th percentile; zero if the
    /// histogram is empty.
    #[expect(clippy::float_arithmetic, reason = "a histogram takes a quantile as a fraction")]
    pub fn permille_us(&self, permille: u32) -> u64 {
        self.0.value_at_quantile(f64::from(permille) / 1_000.0)
    }

    pub fn max_us(&self) -> u64 {
        if self.0.is_empty() { 0 } else { self.0.max() }
    }
}

/// Serialises percentiles for readers, and the recorded values with their counts, from which the
/// histogram is restored.
impl Serialize for Latencies {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct HistogramSummary {
            count: u64,
            p50_us: u64,
            p90_us: u64,
            p99_us: u64,
            p999_us: u64,
            max_us: u64,
            values_us: Vec<(u64, u64)>,
        }
        let values = self.0.iter_recorded();
        let values =
            values.map(|value| (value.value_iterated_to(), value.count_since_last_iteration()));
        HistogramSummary {
            count: self.count(),
            p50_us: self.permille_us(500),
            p90_us: self.permille_us(900),
            p99_us: self.permille_us(990),
            p999_us: self.permille_us(999),
            max_us: self.max_us(),
            values_us: values.collect(),
        }
        .serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Latencies {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        struct HistogramValues {
            values_us: Vec<(u64, u64)>,
        }
        let mut latencies = Self::default();
        for (us, count) in HistogramValues::deserialize(deserializer)?.values_us {
            let recorded = latencies.0.record_n(us.clamp(1, MOST_US), count);
            recorded.map_err(serde::de::Error::custom)?;
        }
        Ok(latencies)
    }
}

/// The counts and latencies of a period.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Measurements {
    pub latencies: BTreeMap<Figure, Latencies>,
    pub counts: BTreeMap<Count, u64>,
    /// Refusals and broken connections, by code.
    pub errors: BTreeMap<String, u64>,
    /// Violations by the server, such as a leak of hidden cards.
    pub faults: Vec<String>,
    /// The acknowledged moves of each node.
    #[serde(default)]
    pub moves_at: Vec<u64>,
}

impl Measurements {
    pub(super) fn add(&mut self, other: &Self) {
        for (figure, latencies) in &other.latencies {
            self.latencies.entry(*figure).or_default().add(latencies);
        }
        add_counts(&mut self.counts, &other.counts);
        add_counts(&mut self.errors, &other.errors);
        self.moves_at.resize(self.moves_at.len().max(other.moves_at.len()), 0);
        for (moves, other) in self.moves_at.iter_mut().zip(&other.moves_at) {
            *moves += other;
        }
        let room = FAULTS_MAX.saturating_sub(self.faults.len());
        self.faults.extend(other.faults.iter().take(room).cloned());
    }

    pub fn count(&self, count: Count) -> u64 {
        self.counts.get(&count).copied().unwrap_or(0)
    }

    /// Returns a quantile of a figure in microseconds; zero if it was not measured.
    pub fn permille_us(&self, figure: Figure, permille: u32) -> u64 {
        self.latencies.get(&figure).map_or(0, |latencies| latencies.permille_us(permille))
    }

    pub fn max_us(&self, figure: Figure) -> u64 {
        self.latencies.get(&figure).map_or(0, Latencies::max_us)
    }

    pub fn latency_count(&self, figure: Figure) -> u64 {
        self.latencies.get(&figure).map_or(0, Latencies::count)
    }
}

/// Adds each count to that of the same key.
pub(super) fn add_counts<K: Clone + Ord>(sums: &mut BTreeMap<K, u64>, counts: &BTreeMap<K, u64>) {
    for (key, count) in counts {
        *sums.entry(key.clone()).or_default() += count;
    }
}

/// The counters of the period that goes on.
#[derive(Debug, Default)]
pub(super) struct RunCounters {
    /// The counts in the order of [`Count::ALL`]; everything else is in `rest`.
    counts: [AtomicU64; Count::ALL.len()],
    /// The moves of each node, added to [`Count::Moves`] when the measurements are taken.
    moves_at: Vec<AtomicU64>,
    rest: Mutex<Measurements>,
}

impl RunCounters {
    pub(super) fn with_nodes(nodes: usize) -> Self {
        let moves_at = (0..nodes).map(|_| AtomicU64::new(0)).collect();
        Self { moves_at, ..Self::default() }
    }

    fn lock_rest(&self) -> MutexGuard<'_, Measurements> {
        self.rest.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn count(&self, count: Count, number: u64) {
        self.counts[count as usize].fetch_add(number, Ordering::Relaxed);
    }

    /// Counts a move that this node acknowledged.
    pub(super) fn count_move(&self, node: usize) {
        self.moves_at[node].fetch_add(1, Ordering::Relaxed);
    }

    /// Returns a count of the current period.
    pub(super) fn current(&self, count: Count) -> u64 {
        self.counts[count as usize].load(Ordering::Relaxed)
    }

    /// Counts a received message and its bytes.
    pub(super) fn count_message_in(&self, bytes: usize) {
        self.count(Count::MessagesIn, 1);
        self.count(Count::BytesIn, bytes as u64);
    }

    pub(super) fn record_latency(&self, figure: Figure, taken: Duration) {
        self.record_corrected_latency(figure, taken, Duration::ZERO);
    }

    /// Records a latency and corrects coordinated omission for something that recurs at the
    /// interval `usual`; zero disables the correction.
    pub(super) fn record_corrected_latency(
        &self,
        figure: Figure,
        taken: Duration,
        usual: Duration,
    ) {
        let mut counted = self.lock_rest();
        let latencies = counted.latencies.entry(figure).or_default();
        latencies.record(taken, usual);
    }

    pub(super) fn count_error(&self, code: &str) {
        *self.lock_rest().errors.entry(code.to_owned()).or_default() += 1;
    }

    pub(super) fn add_fault(&self, fault: String) {
        let mut counted = self.lock_rest();
        if counted.faults.len() < FAULTS_MAX {
            counted.faults.push(fault);
        }
    }

    /// Returns the measurements of the current period and begins a new one.
    pub(super) fn take_measurements(&self) -> Measurements {
        let mut counted = std::mem::take(&mut *self.lock_rest());
        for (count, number) in Count::ALL.iter().zip(&self.counts) {
            let number = number.swap(0, Ordering::Relaxed);
            if number > 0 {
                counted.counts.insert(*count, number);
            }
        }
        let moves_at = self.moves_at.iter().map(|moves| moves.swap(0, Ordering::Relaxed));
        counted.moves_at = moves_at.collect();
        let moves: u64 = counted.moves_at.iter().sum();
        if moves > 0 {
            *counted.counts.entry(Count::Moves).or_default() += moves;
        }
        counted
    }
}

#[cfg(test)]
mod tests {
    use super::{Count, Figure, Measurements, RunCounters};
    use std::time::Duration;

    #[test]
    fn a_pause_counts_for_the_moves_that_were_not_made() {
        let counters = RunCounters::default();
        let second = Duration::from_secs(1);
        let millisecond = Duration::from_millis(1);
        for _ in 0..90 {
            counters.record_corrected_latency(Figure::ActionToAck, millisecond, second);
        }
        counters.record_corrected_latency(Figure::ActionToAck, second * 10, second);
        let counted = counters.take_measurements();
        assert_eq!(counted.latency_count(Figure::ActionToAck), 100);
        assert!(counted.permille_us(Figure::ActionToAck, 950) > 4_000_000);
        assert_eq!(counters.take_measurements(), Measurements::default());
    }

    #[test]
    fn measurements_survive_serialisation_and_add_up() {
        let counters = RunCounters::with_nodes(2);
        counters.record_latency(Figure::Resume, Duration::from_micros(12_345));
        [0, 1, 1].into_iter().for_each(|node| counters.count_move(node));
        counters.count_error("too_fast");
        counters.add_fault("a card".to_owned());
        let counted = counters.take_measurements();
        let text = serde_json::to_string(&counted).unwrap();
        let read: Measurements = serde_json::from_str(&text).unwrap();
        assert_eq!(serde_json::to_string(&read).unwrap(), text);
        let mut sum = read.clone();
        sum.add(&counted);
        assert_eq!(sum.latency_count(Figure::Resume), 2);
        assert_eq!((sum.count(Count::Moves), sum.moves_at.clone()), (6, vec![2, 4]));
        assert_eq!(sum.errors["too_fast"], 2);
        assert_eq!(sum.faults.len(), 2);
    }
}
