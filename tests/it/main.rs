//! The one integration binary: each module tests a part of the house against real services.

#![expect(clippy::unwrap_used, reason = "in a test a panic is a verdict")]

mod allowance;
mod archive;
mod asyncapi;
mod brief;
mod cluster;
mod desk;
mod fairness;
mod figures;
mod gatherers;
mod halting;
mod house_bots;
mod house_clock;
mod http;
mod ledger;
mod ledger_chain;
mod ledger_faults;
mod ledger_races;
mod ledger_refusals;
mod live_store;
mod loadtest;
mod lost;
mod matchmaking;
mod nodes;
mod other_game;
mod parted;
mod play;
mod presence;
mod private_pots;
mod process;
mod protocol_page;
mod reports;
mod rooms_in_play;
mod schema;
mod seeds;
mod services;
mod slots;
mod sockets;
mod spans;
mod stalls;
mod standings;
mod support;
mod tables;
mod verify_ledger;
mod wire;
