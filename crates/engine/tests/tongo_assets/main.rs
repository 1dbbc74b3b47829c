//! Tongo (assets): its contract under random play, its strength against every
//! substitution, whole games as text, its bot, and its table in virtual time.

mod bots;
mod conformance;
mod playthroughs;
mod protocol_page;
mod strength;
mod table;
mod verifier;
