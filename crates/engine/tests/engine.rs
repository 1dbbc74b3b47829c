//! The engine's tests, as one program: the generic code of a table is compiled once for all of
//! them.

mod arrangement;
#[path = "conformance.rs"]
mod conformance;
mod deals;
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
#[path = "scenarios/main.rs"]
mod scenarios;
mod stakes;
mod support;
mod table;
#[path = "table_rules/main.rs"]
mod table_rules;
mod table_seats;
#[path = "tongo_assets/main.rs"]
mod tongo_assets;
#[path = "tongo_options/main.rs"]
mod tongo_options;
mod verifier;
