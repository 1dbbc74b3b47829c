//! Tongo (options): the contract of a game under random play, hidden information, strength against
//! a search, and tables in virtual time.

mod conformance;
mod strength;
mod tables;
mod twins;
mod verifier;
