//! Tongo (assets): its contract under random play, its strength against every substitution, and
//! its table in virtual time.

mod conformance;
mod strength;
mod table;
mod verifier;
