//! The engine's tests, as one program: the generic code of a table is compiled once for all of
//! them.

#![expect(clippy::unwrap_used, reason = "in a test a panic is a verdict")]

mod arrangement;
#[path = "conformance.rs"]
mod conformance;
mod deals;
mod described_items;
mod documents;
mod fights;
mod grace;
mod grinding;
mod house_bots;
#[path = "../../../tests/it/support/independent.rs"]
mod independent;
mod matchmaking;
mod memory;
mod mutations;
mod playthroughs;
mod practice;
mod private_pots;
mod protocol_pages;
mod scenarios;
mod shared_deals;
mod stakes;
mod support;
mod table;
#[path = "table_rules/main.rs"]
mod table_rules;
mod table_seats;
mod tongo_assets;
mod tongo_options;
mod tournament_tables;
mod tournaments;
mod verifier;
