//! The common parts of the tests.

use bahay::reason::Reason;

pub(crate) use self::clients::{operators, play, raw, rest};
pub(crate) use self::faults::{cluster, fragile, services, wire};

pub(crate) mod bank;
pub(crate) mod checks;
mod clients;
pub(crate) mod csv;
pub(crate) mod db;
mod faults;
pub(crate) mod house;
pub(crate) mod independent;
pub(crate) mod live;
pub(crate) mod node;
pub(crate) mod ports;
pub(crate) mod process;
pub(crate) mod programs;
pub(crate) mod promql;
pub(crate) mod statements;
pub(crate) mod tls;
pub(crate) mod waiting;

/// Returns a reason for an operator's act.
pub(crate) fn reason(text: &str) -> Reason {
    text.parse().expect("the text is a valid reason")
}
