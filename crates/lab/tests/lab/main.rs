//! The programs of the laboratory as processes, against a house in this process.

#![expect(clippy::unwrap_used, reason = "in a test a panic is a verdict")]

mod certify;
mod loadtest;
#[path = "../../../client/tests/client/rest.rs"]
#[expect(dead_code, reason = "the tests of the client use the rest")]
mod rest;
mod simulate;
mod support;
#[path = "../../../client/tests/client/tape.rs"]
mod tape;
mod tapes;
