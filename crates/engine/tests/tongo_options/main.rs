//! Tongo (options): the contract of a game under random play, what nobody
//! may learn, strength against a search, whole games as text, and tables in virtual time.

mod bots;
mod conformance;
mod playthroughs;
mod protocol_page;
mod strength;
mod tables;
mod twins;
mod verifier;
