//! Tournaments as values: refusals, properties, terms and scenarios. Whole tournaments run in
//! `crates/shell/tests/tournaments`.

mod properties;
mod scenarios;
mod support;
mod terms;
