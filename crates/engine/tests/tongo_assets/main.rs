//! Tongo (assets): its contract under random play, its strength against every substitution, and
//! its table in virtual time.

mod conformance;
mod protocol_page;
mod strength;
mod table;
mod verifier;
