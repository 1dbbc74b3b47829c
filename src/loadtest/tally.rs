//! What is counted while players play, and how long things take.
//!
//! Latencies are in microseconds, in histograms of three significant digits. Coordinated omission
//! is answered in two ways. A latency counts from when the player meant to act, so a client that
//! comes too late adds to it what it was late by (timers wake to the millisecond, and up to
//! [`TIMER`] of lateness is the timer's own, shown as `lag`). And a move that took longer than
//! the usual time between two moves of a table stands for those that were not made meanwhile: each
//! of them is entered with the time that it would have waited.
//!
//! Bounds: a latency is at most [`MOST_US`]; of faults the first [`FAULTS_MAX`] are kept.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};

/// The longest that is told from longer ones: two minutes.
const MOST_US: u64 = 120_000_000;

/// How late a timer may wake without anybody being to blame.
pub(super) const TIMER: Duration = Duration::from_millis(2);

/// Faults that are told in full. The first few tell the story.
const FAULTS_MAX: usize = 20;

/// Something that takes time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Figure {
    /// From when a player meant to act until its ack.
    ActionToAck,
    /// The same until every seat has heard of it.
    ActionToEvent,
    /// From breaking off, or from the first attempt to come back, until the table is joined again.
    Resume,
    /// From asking for a seat until the table is full.
    MatchWait,
    /// From the end of a game until its coins have moved.
    Settlement,
    /// How late this program was to act. Large numbers say that it, and not the server, is at its
    /// end.
    Lag,
}

/// Something that is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Count {
    /// Actions that were acknowledged.
    Moves,
    Games,
    MessagesIn,
    BytesIn,
    MessagesOut,
    /// Connections that were opened again.
    Resumes,
    /// Guests that signed in.
    Guests,
    /// Those of them who came for one who had gone broke.
    Broke,
    /// Times that what a seat was shown of a game agreed with the game's record.
    Audited,
}

impl Count {
    /// Each, in the order in which they are declared.
    pub const ALL: [Self; 9] = [
        Self::Moves,
        Self::Games,
        Self::MessagesIn,
        Self::BytesIn,
        Self::MessagesOut,
        Self::Resumes,
        Self::Guests,
        Self::Broke,
        Self::Audited,
    ];
}

/// Latencies, as a histogram and as what is read of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Latencies(Histogram<u64>);

impl Latencies {
    pub(super) fn new() -> Self {
        let histogram = Histogram::new_with_bounds(1, MOST_US, 3);
        Self(histogram.expect("these bounds and digits are within what a histogram takes"))
    }

    pub(super) fn record(&mut self, taken: Duration, usual: Duration) {
        let us = |duration: Duration| u64::try_from(duration.as_micros()).unwrap_or(MOST_US);
        let (taken_us, usual_us) = (us(taken).clamp(1, MOST_US), us(usual));
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

    /// As in 990 for the 99th percentile; zero when there is nothing.
    #[expect(clippy::float_arithmetic, reason = "a histogram takes a quantile as a fraction")]
    pub fn permille_us(&self, permille: u32) -> u64 {
        self.0.value_at_quantile(f64::from(permille) / 1_000.0)
    }

    pub fn max_us(&self) -> u64 {
        if self.0.is_empty() { 0 } else { self.0.max() }
    }
}

/// On paper: the values that occurred, and how often each.
impl Serialize for Latencies {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Written {
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
        Written {
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
        struct Read {
            values_us: Vec<(u64, u64)>,
        }
        let mut latencies = Self::new();
        for (us, count) in Read::deserialize(deserializer)?.values_us {
            let recorded = latencies.0.record_n(us.clamp(1, MOST_US), count);
            recorded.map_err(serde::de::Error::custom)?;
        }
        Ok(latencies)
    }
}

/// What was counted in some time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Counted {
    pub latencies: BTreeMap<Figure, Latencies>,
    pub counts: BTreeMap<Count, u64>,
    /// Refusals and broken connections, by code.
    pub errors: BTreeMap<String, u64>,
    /// What no server may do.
    pub faults: Vec<String>,
    /// The moves by the node that acknowledged them.
    #[serde(default)]
    pub moves_at: Vec<u64>,
}

impl Counted {
    pub(super) fn add(&mut self, other: &Self) {
        for (figure, latencies) in &other.latencies {
            self.latencies.entry(*figure).or_insert_with(Latencies::new).add(latencies);
        }
        for (count, number) in &other.counts {
            *self.counts.entry(*count).or_default() += number;
        }
        for (code, number) in &other.errors {
            *self.errors.entry(code.clone()).or_default() += number;
        }
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

    /// Zero when nothing was measured.
    pub fn permille_us(&self, figure: Figure, permille: u32) -> u64 {
        self.latencies.get(&figure).map_or(0, |latencies| latencies.permille_us(permille))
    }

    pub fn max_us(&self, figure: Figure) -> u64 {
        self.latencies.get(&figure).map_or(0, Latencies::max_us)
    }

    pub fn times(&self, figure: Figure) -> u64 {
        self.latencies.get(&figure).map_or(0, Latencies::count)
    }
}

/// Counts until it is asked.
#[derive(Debug, Default)]
pub(super) struct Tally {
    /// In the order of [`Count::ALL`]. Everything but these is in `rest`.
    counts: [AtomicU64; Count::ALL.len()],
    /// Moves at each node, which are in no other count.
    moves_at: Vec<AtomicU64>,
    rest: Mutex<Counted>,
}

impl Tally {
    pub(super) fn of_nodes(nodes: usize) -> Self {
        let moves_at = (0..nodes).map(|_| AtomicU64::new(0)).collect();
        Self { moves_at, ..Self::default() }
    }

    fn counted(&self) -> MutexGuard<'_, Counted> {
        self.rest.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn count(&self, count: Count, number: u64) {
        self.counts[count as usize].fetch_add(number, Ordering::Relaxed);
    }

    /// A move was acknowledged by this node.
    pub(super) fn moved(&self, node: usize) {
        self.moves_at[node].fetch_add(1, Ordering::Relaxed);
    }

    /// Of one since the beginning of this count.
    pub(super) fn so_far(&self, count: Count) -> u64 {
        self.counts[count as usize].load(Ordering::Relaxed)
    }

    /// A text came in.
    pub(super) fn heard(&self, bytes: usize) {
        self.count(Count::MessagesIn, 1);
        self.count(Count::BytesIn, bytes as u64);
    }

    pub(super) fn took(&self, figure: Figure, taken: Duration) {
        self.took_usually(figure, taken, Duration::ZERO);
    }

    /// Of something that is done again after this time; zero for what has no rhythm.
    pub(super) fn took_usually(&self, figure: Figure, taken: Duration, usual: Duration) {
        let mut counted = self.counted();
        let latencies = counted.latencies.entry(figure).or_insert_with(Latencies::new);
        latencies.record(taken, usual);
    }

    pub(super) fn error(&self, code: &str) {
        let mut counted = self.counted();
        if let Some(number) = counted.errors.get_mut(code) {
            *number += 1;
        } else {
            counted.errors.insert(code.to_owned(), 1);
        }
    }

    pub(super) fn fault(&self, fault: String) {
        let mut counted = self.counted();
        if counted.faults.len() < FAULTS_MAX {
            counted.faults.push(fault);
        }
    }

    /// All since the last time, and begins anew.
    pub(super) fn take(&self) -> Counted {
        let mut counted = std::mem::take(&mut *self.counted());
        for (count, number) in Count::ALL.into_iter().zip(&self.counts) {
            let number = number.swap(0, Ordering::Relaxed);
            if number > 0 {
                counted.counts.insert(count, number);
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
    use super::{Count, Counted, Figure, Tally};
    use std::time::Duration;

    #[test]
    fn a_pause_counts_for_the_moves_that_were_not_made() {
        let tally = Tally::default();
        let second = Duration::from_secs(1);
        for _ in 0..90 {
            tally.took_usually(Figure::ActionToAck, Duration::from_millis(1), second);
        }
        tally.took_usually(Figure::ActionToAck, second * 10, second);
        let counted = tally.take();
        assert_eq!(counted.times(Figure::ActionToAck), 100);
        assert!(counted.permille_us(Figure::ActionToAck, 950) > 4_000_000);
        assert_eq!(tally.take(), Counted::default());
    }

    #[test]
    fn what_was_counted_is_the_same_on_paper_and_adds_up() {
        let tally = Tally::of_nodes(2);
        tally.took(Figure::Resume, Duration::from_micros(12_345));
        [0, 1, 1].into_iter().for_each(|node| tally.moved(node));
        tally.error("too_fast");
        tally.fault("a card".to_owned());
        let counted = tally.take();
        let text = serde_json::to_string(&counted).unwrap();
        let read: Counted = serde_json::from_str(&text).unwrap();
        assert_eq!(serde_json::to_string(&read).unwrap(), text);
        let mut sum = read.clone();
        sum.add(&counted);
        assert_eq!(sum.times(Figure::Resume), 2);
        assert_eq!((sum.count(Count::Moves), sum.moves_at.clone()), (6, vec![2, 4]));
        assert_eq!(sum.errors["too_fast"], 2);
        assert_eq!(sum.faults.len(), 2);
    }
}
