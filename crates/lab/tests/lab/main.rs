//! The programs of the laboratory as processes, against a house in this process.

#![expect(clippy::unwrap_used, reason = "in a test a panic is a verdict")]

mod loadtest;
mod simulate;
mod support;
