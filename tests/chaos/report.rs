//! The figures of a run as text and JSON, and the findings of its checks.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

use bahay_engine::seat::Seat;
use bahay_engine::table::TableId;
use serde_json::{Value, json};

use crate::checks::presence::Absence;
use crate::checks::walk::JournalWalk;
use crate::checks::{Facts, Verdict};
use crate::evidence::Evidence;
use crate::faults::InjectedFault;
use crate::outages::{AWAY_WITHIN_MS, Outages};
use crate::plan::{Fault, NodeFault};

/// The time after a kill within which a lost connection of that node is attributed to the kill, in
/// ms.
const KILLED_WITHIN_MS: u64 = 2_000;

/// The bound on the 99th percentile of ack times during exchanges of versions, in ms.
const EXCHANGED_WITHIN_MS: u64 = 250;

/// Refusals that a client handles by itself: the command was already effective, or is retried.
const UNDERSTOOD: [&str; 4] = ["already_ready", "stale_prompt", "unavailable", "wrong_phase"];

/// The report of a run.
#[derive(Debug, Default)]
pub(crate) struct Figures {
    clients: usize,
    settled: usize,
    voided: usize,
    unfinished: usize,
    acknowledged: usize,
    recorded: u64,
    in_voided: u64,
    snapshots: u64,
    updates: u64,
    connections_lost: usize,
    faults: BTreeMap<String, u64>,
    refusals: BTreeMap<String, u64>,
    void_reasons: BTreeMap<String, u64>,
    /// Ack times in ms.
    acks: Vec<u64>,
    /// Ack times of moves between the start of the first exchange of versions and the end of the
    /// last.
    acks_exchanging: Vec<u64>,
    resumes: Vec<u64>,
    /// Times to reconnect without the time in which no node could have served a client.
    resumes_served: Vec<u64>,
    /// Times to reconnect while no fault was active.
    resumes_quiet: Vec<u64>,
    shown_away: Vec<u64>,
    shown_back: Vec<u64>,
    /// Lines of the nodes' logs without their times, with the number of occurrences.
    errors: BTreeMap<String, u64>,
    /// The number of players of killed nodes that were to be shown as away in time, and the late
    /// ones.
    noticed: usize,
    late: Facts,
}

impl Figures {
    pub(crate) fn of(
        evidence: &Evidence,
        verdict: &Verdict,
        done: &[InjectedFault],
        nodes: u64,
    ) -> Self {
        let outages = Outages::of(done, nodes);
        let state =
            |wanted: &str| evidence.games.values().filter(|game| game.state == wanted).count();
        let mut figures = Self {
            clients: evidence.journals.len(),
            settled: state("settled"),
            voided: state("voided"),
            unfinished: state("open"),
            recorded: verdict.acts.recorded,
            in_voided: verdict.acts.voided,
            ..Self::default()
        };
        for game in evidence.games.values() {
            if let Some(reason) = &game.void_reason {
                *figures.void_reasons.entry(reason.clone()).or_default() += 1;
            }
        }
        for done in done {
            *figures.faults.entry(done.fault.kind()).or_default() += 1;
        }
        for client in &verdict.walked {
            figures.acknowledged += client.acked.len();
            let acked = client.acked_after_ms.iter();
            figures.acks.extend(acked.clone().map(|(_, took_ms)| took_ms));
            let exchanging = acked.filter(|(sent_ms, _)| outages.is_exchanging(*sent_ms));
            figures.acks_exchanging.extend(exchanging.map(|(_, took_ms)| took_ms));
            figures.snapshots += client.snapshots;
            figures.updates += client.updates;
            figures.connections_lost += client.absences.len();
            for (code, count) in &client.refusals {
                *figures.refusals.entry(code.clone()).or_default() += count;
            }
            for Absence { lost_ms, tried_ms, joined_ms, .. } in &client.absences {
                let Some(joined_ms) = *joined_ms else { continue };
                let took_ms = joined_ms.saturating_sub(*tried_ms);
                let nobody_ms = outages.nobody_ms((*tried_ms, joined_ms));
                figures.resumes.push(took_ms);
                figures.resumes_served.push(took_ms - nobody_ms);
                if outages.is_quiet((*lost_ms, joined_ms)) {
                    figures.resumes_quiet.push(took_ms);
                }
            }
        }
        figures.add_absences(&verdict.walked, done, &outages);
        figures.acks.sort_unstable();
        figures.acks_exchanging.sort_unstable();
        figures.resumes.sort_unstable();
        figures.resumes_served.sort_unstable();
        figures.resumes_quiet.sort_unstable();
        figures.shown_away.sort_unstable();
        figures.shown_back.sort_unstable();
        figures
    }

    /// Adds the times until players of killed nodes were shown as away, and as back after they
    /// returned.
    fn add_absences(&mut self, walked: &[JournalWalk], done: &[InjectedFault], outages: &Outages) {
        for kill in done {
            let Fault::Node(NodeFault::Kill, node) = kill.fault else {
                continue;
            };
            let lost = |absence: &&Absence| {
                let by = kill.from_ms..kill.from_ms + KILLED_WITHIN_MS;
                absence.node == node && by.contains(&absence.lost_ms)
            };
            for absence in walked.iter().flat_map(|client| client.absences.iter()).filter(lost) {
                let Some(place) = absence.seat else {
                    continue;
                };
                let back_ms = absence.joined_ms.unwrap_or(u64::MAX);
                let Some(on) = first(walked, place, true, absence.lost_ms, back_ms) else {
                    continue;
                };
                self.shown_away.push(on - absence.lost_ms);
                if outages.is_noticed(node, kill.from_ms) {
                    self.noticed += 1;
                    let took_ms = on.saturating_sub(kill.from_ms);
                    if took_ms > AWAY_WITHIN_MS {
                        let (table, seat) = place;
                        self.late.add(|| format!("{seat} of {table} after {took_ms} ms"));
                    }
                }
                if let Some(off) = first(walked, place, false, absence.tried_ms, u64::MAX) {
                    self.shown_back.push(off - absence.tried_ms);
                }
            }
        }
    }

    /// Returns the seats of killed nodes that the AI took over too late although no other fault was
    /// active.
    pub(crate) fn late(&self) -> impl Iterator<Item = String> {
        let told = self.late.told.iter();
        told.map(|late| format!("a seat of a killed node was without the AI for too long: {late}"))
    }

    /// Returns the effects of exchanges of versions that players could notice but must not.
    pub(crate) fn noticed_of_exchanges(&self) -> Vec<String> {
        let voided = (self.voided > 0).then(|| format!("{} games were voided", self.voided));
        let unknown = self.refusals.iter().filter(|(code, _)| !UNDERSTOOD.contains(&&***code));
        let unknown = unknown.map(|(code, count)| format!("{count} refusals with {code}"));
        let p99 =
            percentile(&self.acks_exchanging, 99).filter(|p99_ms| *p99_ms >= EXCHANGED_WITHIN_MS);
        let late = p99.map(|p99_ms| format!("one move of a hundred took {p99_ms} ms or more"));
        voided.into_iter().chain(unknown).chain(late).collect()
    }

    /// Counts the errors in a node's log. Returns its panics.
    pub(crate) fn read_log(&mut self, log: &Path) -> Vec<String> {
        // A node that never started has no log.
        let text = std::fs::read(log).unwrap_or_default();
        let text = String::from_utf8_lossy(&text);
        let mut panics = Vec::new();
        for line in text.lines() {
            if line.contains("panicked at") {
                panics.push(format!("{}: {line}", log.display()));
            } else if let Some((_, error)) = line.split_once(" ERROR ") {
                *self.errors.entry(kind_of(error)).or_default() += 1;
            }
        }
        panics
    }

    pub(crate) fn json(&self) -> Value {
        json!({
            "clients": self.clients,
            "games": {
                "settled": self.settled,
                "voided": self.voided,
                "unfinished": self.unfinished,
                "void_reasons": self.void_reasons,
            },
            "moves": {
                "acknowledged": self.acknowledged,
                "recorded": self.recorded,
                "in_voided_games": self.in_voided,
            },
            "frames": { "snapshots": self.snapshots, "updates": self.updates },
            "connections_lost": self.connections_lost,
            "faults": self.faults,
            "refusals": self.refusals,
            "ack_ms": spread(&self.acks),
            "ack_exchanging_ms": spread(&self.acks_exchanging),
            "resume_ms": spread(&self.resumes),
            "resume_served_ms": spread(&self.resumes_served),
            "resume_quiet_ms": spread(&self.resumes_quiet),
            "shown_away_ms": spread(&self.shown_away),
            "shown_back_ms": spread(&self.shown_back),
            "log_errors": self.errors,
        })
    }
}

/// Returns the first time within a period at which the player of a seat was reported as away, or
/// back.
fn first(
    walked: &[JournalWalk],
    (table, seat): (TableId, Seat),
    is_away: bool,
    from_ms: u64,
    to_ms: u64,
) -> Option<u64> {
    let told = walked.iter().flat_map(|client| client.presence_changes.iter());
    let told = told.filter(|told| (told.table, told.seat, told.is_away) == (table, seat, is_away));
    told.map(|told| told.at_ms).filter(|at_ms| (from_ms..to_ms).contains(at_ms)).min()
}

/// Returns a line of a log without its variable parts.
fn kind_of(line: &str) -> String {
    let words = line.split(' ').filter(|word| !word.is_empty());
    let words = words.map(|word| match word.split_once('=') {
        Some((name, value)) if value.chars().any(|letter| letter.is_ascii_digit()) => {
            format!("{name}=…")
        }
        Some(_) | None if word.len() == 36 && word.matches('-').count() == 4 => "…".to_owned(),
        Some(_) | None => word.to_owned(),
    });
    words.collect::<Vec<_>>().join(" ")
}

/// Returns a percentile of sorted values.
fn percentile(sorted: &[u64], percent: usize) -> Option<u64> {
    let last = sorted.len().checked_sub(1)?;
    sorted.get((last * percent).div_ceil(100)).copied()
}

fn spread(sorted: &[u64]) -> Value {
    json!({
        "count": sorted.len(),
        "p50": percentile(sorted, 50),
        "p99": percentile(sorted, 99),
        "max": sorted.last(),
    })
}

impl fmt::Display for Figures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { settled, voided, unfinished, clients, .. } = self;
        writeln!(f, "{clients} clients")?;
        writeln!(f, "  games       {settled} settled, {voided} voided, {unfinished} unfinished")?;
        for (reason, count) in &self.void_reasons {
            writeln!(f, "              voided because: {reason} ({count})")?;
        }
        let Self { acknowledged, recorded, in_voided, .. } = self;
        writeln!(
            f,
            "  moves       {acknowledged} acknowledged, {recorded} recorded, {in_voided} voided"
        )?;
        writeln!(f, "  frames      {} snapshots, {} updates", self.snapshots, self.updates)?;
        writeln!(f, "  connections {} lost", self.connections_lost)?;
        for (what, sorted) in [
            ("moves acknowledged after", &self.acks),
            ("the same while versions were exchanged", &self.acks_exchanging),
            ("resumed after", &self.resumes),
            ("the same while somebody could serve", &self.resumes_served),
            ("and where nothing was at fault", &self.resumes_quiet),
            ("players of a killed node shown as away after", &self.shown_away),
            ("and as back after", &self.shown_back),
        ] {
            match (percentile(sorted, 50), percentile(sorted, 99)) {
                (Some(p50), Some(p99)) => {
                    writeln!(f, "  {what}: p50 {p50} ms, p99 {p99} ms, of {}", sorted.len())?;
                }
                _ => writeln!(f, "  {what}: never seen")?,
            }
        }
        writeln!(f, "  of these players {} were to be shown as away in time", self.noticed)?;
        for (title, counts) in [
            ("faults", &self.faults),
            ("refusals", &self.refusals),
            ("errors in logs", &self.errors),
        ] {
            writeln!(f, "  {title}")?;
            for (what, count) in counts {
                writeln!(f, "    {count:>6}  {what}")?;
            }
        }
        Ok(())
    }
}

/// Returns the findings of the checks, the first few facts of each.
pub(crate) fn findings(verdict: &Verdict) -> String {
    let mut text = String::new();
    for (check, facts) in &verdict.found {
        let mark = if facts.is_empty() { "ok    " } else { "FAILED" };
        text += &format!("{mark}  {}\n", check.as_str());
        text += &told(facts);
    }
    text
}

fn told(facts: &Facts) -> String {
    let mut text: String = facts.told.iter().map(|fact| format!("          {fact}\n")).collect();
    let more = facts.total - facts.told.len();
    if more > 0 {
        text += &format!("          and {more} more\n");
    }
    text
}
