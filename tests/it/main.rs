//! The one integration binary: each module tests a part of the house against real services.

mod asyncapi;
mod fairness;
mod games;
mod ledger;
mod ledger_faults;
mod ledger_races;
mod ledger_refusals;
mod live;
mod schema;
mod support;
