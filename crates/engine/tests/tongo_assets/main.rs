//! Tongo (assets): its contract under random play, its strength against every substitution, its
//! bot, and its table in virtual time.

mod bots;
mod conformance;
mod protocol_page;
mod strength;
mod table;
mod verifier;
