//! Tournaments as values: whole tournaments by chance under faults, refusals, terms, and the
//! verifier of their results.

mod properties;
mod runs;
mod scenarios;
mod support;
mod terms;
mod verifier;

pub(crate) use verifier::SCRIPT;
