//! Tournaments as nodes run them, in virtual time under faults: every check holds, the verifier in
//! Python recomputes their results, and every deliberate defect is detected.
//!
//! `BAHAY_SEED` sets the only seed; a failed run prints its own.

#![expect(clippy::unwrap_used, reason = "in a test a panic is a verdict")]

mod calls;
#[path = "../../../../tests/it/support/independent.rs"]
mod independent;
mod mutations;
mod options;
mod runs;
#[path = "../../../engine/tests/tournaments/support.rs"]
mod support;
mod verifier;
