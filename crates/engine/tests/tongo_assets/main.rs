//! Tongo (assets): its scenarios, its contract under random play, its strength against every
//! substitution, whole games as text, its bot, and its table in virtual time.

mod conformance;
mod playthroughs;
mod scenarios;
mod strength;
mod table;
