//! Tournaments as values: whole tournaments by chance under faults, refusals, terms, the verifier of
//! their results, and the deals of a duplicate at real tables.

mod properties;
mod runs;
mod scenarios;
mod shared_deals;
mod support;
mod terms;
mod verifier;
