//! `./dev chaos --tournament`: the players are divided into groups, each of which plays one
//! tournament after the other. The evidence is the public list of results of each, its account, the
//! games that its tables have stored, and the wallets.

mod director;
pub(crate) mod evidence;
mod forge;
mod kinds;

pub(crate) use director::Directors;
pub(crate) use evidence::TournamentEvidence;
pub(crate) use forge::forge;
pub(crate) use kinds::{groups, playable};
