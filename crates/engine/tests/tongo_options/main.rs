//! Tongo (options): its rules as scenarios, the contract of a game under random play, what nobody
//! may learn, strength against a search, whole games as text, and tables in virtual time.

mod bots;
mod conformance;
mod notation;
mod playthroughs;
mod protocol_page;
mod scenario;
mod scenarios;
mod strength;
mod tables;
mod twins;
mod verifier;
