//! The one integration binary.

mod games;
mod http;
mod ledger;
mod ledger_faults;
mod ledger_races;
mod ledger_refusals;
mod schema;
mod support;
