//! A client among hostile events, as in the fuzz target `client`, from random bytes.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind, set_hook};

use crate::Choices;
use crate::client::run_client;
use crate::suspensions::TestRandom;

/// The number of runs; `BAHAY_HOSTILE_RUNS` overrides it.
const RUNS: u64 = 6_000;
const BYTES: usize = 512;

#[test]
fn a_hostile_server_neither_ends_the_client_nor_makes_it_send_nonsense() {
    let runs = std::env::var("BAHAY_HOSTILE_RUNS").ok().and_then(|text| text.parse().ok());
    // The client survives panics of the engine, which follows the server's events.
    set_hook(Box::new(|_| {}));
    for seed in 0..runs.unwrap_or(RUNS) {
        let bytes = TestRandom::new(seed).draw_bytes::<BYTES>();
        let run = || run_client(&mut Choices::new(&bytes));
        if let Err(panic) = catch_unwind(AssertUnwindSafe(run)) {
            let text = panic.downcast_ref::<String>().cloned();
            let text = text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
            eprintln!("seed {seed}: {}", text.unwrap_or_default());
            resume_unwind(panic);
        }
    }
}
