//! A client among hostile events: it does not panic, its timers end, and it sends nothing that a
//! server has to refuse as malformed.

#![no_main]

use std::panic::{AssertUnwindSafe, catch_unwind, set_hook};
use std::sync::{Mutex, Once, PoisonError};

use bahay_fuzz::Choices;
use bahay_fuzz::client::run_client;

/// The last panic. The client survives panics of the engine, which follows a hostile server's
/// events, so only a panic that leaves the client is a failure.
static LAST_PANIC: Mutex<String> = Mutex::new(String::new());

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        set_hook(Box::new(|panic| {
            *LAST_PANIC.lock().unwrap_or_else(PoisonError::into_inner) = panic.to_string();
        }));
    });
    let mut choices = Choices::new(bytes);
    if catch_unwind(AssertUnwindSafe(|| run_client(&mut choices))).is_err() {
        eprintln!("{}", LAST_PANIC.lock().unwrap_or_else(PoisonError::into_inner));
        std::process::abort();
    }
});
