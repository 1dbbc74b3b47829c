//! A client on a phone in virtual time: random suspensions and cuts over a lossy link, against the
//! engine's table behind a model of the server. Situations that the tapes fix are produced here at
//! every possible moment, at every game of the catalogue and in every form of the messages.

mod link;
mod phone;
mod random;

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use bahay_engine::table::Clocks;
use bahay_model_server::ServerOptions;

use crate::suspensions::link::{NetworkConditions, OpeningCost};
use crate::suspensions::phone::{Phone, Report};

pub(crate) use crate::suspensions::random::TestRandom;

/// The time for which the table waits until the player is ready: longer than any absence.
const PREPARE_MS: u32 = 1_000_000_000;

/// The number of interruptions on each network; `BAHAY_INTERRUPTIONS` overrides it, and
/// `BAHAY_SEED` the first seed.
const INTERRUPTIONS: u64 = 2_500;
const INTERRUPTIONS_PER_PHONE: u64 = 50;
/// The packets lost out of a thousand, and the round trip.
const LOSS_PER_MILLE: u64 = 50;
const ROUND_TRIP_MS: i64 = 300;

/// Returns the options of a server that waits for the player for as long as it takes.
pub(crate) fn server_options(seed: u64) -> ServerOptions {
    let clocks = Clocks { prepare_ms: PREPARE_MS, ..Clocks::default() };
    ServerOptions { clocks, seed, now_ms: 0 }
}

/// Runs phones through interruptions, and returns the sum of their reports.
fn run_phones(opening: OpeningCost, first_seed: u64) -> Report {
    let conditions =
        NetworkConditions { loss_per_mille: LOSS_PER_MILLE, round_trip_ms: ROUND_TRIP_MS, opening };
    let wanted = std::env::var("BAHAY_INTERRUPTIONS").ok().and_then(|text| text.parse().ok());
    let wanted = wanted.unwrap_or(INTERRUPTIONS);
    let mut sum = Report::default();
    let only = std::env::var("BAHAY_SEED").ok().and_then(|text| text.parse::<u64>().ok());
    let first_seed = only.unwrap_or(first_seed);
    for seed in first_seed.. {
        if sum.interruptions >= wanted {
            break;
        }
        let run = || Phone::new(seed, conditions).run_interruptions(INTERRUPTIONS_PER_PHONE);
        let report = catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|panic| {
            eprintln!("seed {seed} on {opening:?}");
            resume_unwind(panic)
        });
        sum.interruptions += report.interruptions;
        sum.wishes += report.wishes;
        sum.done += report.done;
        sum.overtaken += report.overtaken;
        sum.late += report.late;
        sum.connections += report.connections;
        sum.recovery_ms.extend(report.recovery_ms);
    }
    sum.recovery_ms.sort_unstable();
    sum
}

/// Returns the value below which this many of a hundred values are.
fn percentile(sorted: &[i64], of_hundred: usize) -> i64 {
    sorted[(sorted.len() - 1) * of_hundred / 100]
}

/// Runs the interruptions on one network. The 95th percentile of the recovery has to be below the
/// bound, if there is one.
#[track_caller]
fn check_network(opening: OpeningCost, first_seed: u64, bound_ms: Option<i64>) {
    let report = run_phones(opening, first_seed);
    let [p50, p90, p95, p99] = [50, 90, 95, 99].map(|part| percentile(&report.recovery_ms, part));
    println!(
        "{opening:?}: {} interruptions, {} wishes, {} done, {} overtaken, {} late, {} connections; \
         current again: p50 {p50} ms, p90 {p90} ms, p95 {p95} ms, p99 {p99} ms",
        report.interruptions,
        report.wishes,
        report.done,
        report.overtaken,
        report.late,
        report.connections,
    );
    assert!(bound_ms.is_none_or(|bound_ms| p95 <= bound_ms), "p95 is {p95} ms");
}

#[test]
fn an_established_transport() {
    check_network(OpeningCost::Nothing, 1, Some(1_000));
}

#[test]
fn tcp() {
    check_network(OpeningCost::Tcp, 100_001, Some(1_000));
}

#[test]
fn tcp_and_a_resumed_tls_session() {
    check_network(OpeningCost::TcpAndResumedTls, 200_001, None);
}

#[test]
fn tcp_and_a_full_tls_handshake() {
    check_network(OpeningCost::TcpAndFullTls, 300_001, None);
}
