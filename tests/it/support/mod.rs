//! The common parts of the tests.

use bahay::reason::Reason;

pub(crate) mod bank;
pub(crate) mod checks;
pub(crate) mod cluster;
pub(crate) mod db;
pub(crate) mod fragile;
pub(crate) mod house;
pub(crate) mod independent;
pub(crate) mod live;
pub(crate) mod node;
pub(crate) mod operators;
pub(crate) mod play;
pub(crate) mod process;
pub(crate) mod programs;
pub(crate) mod raw;
pub(crate) mod rest;
pub(crate) mod services;
pub(crate) mod tls;
pub(crate) mod waiting;
pub(crate) mod wire;

/// Returns a reason for an operator's act.
pub(crate) fn reason(text: &str) -> Reason {
    text.parse().expect("the text is a valid reason")
}
