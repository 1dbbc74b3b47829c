//! Bots by grade up to the searching one, the search for a seat that is taken over, and the
//! analysis of finished games.
//!
//! A [`Bot`] sees only what its seat sees. Dependencies point in one direction: `grade` →
//! `search_bot` → `bot`, `playout`; `analysis` → `search_bot`.

mod analysis;
mod bot;
mod grade;
mod playout;
mod search_bot;

pub use analysis::{JUDGED_MAX, JudgedDecision, analyze};
pub use bot::{Bot, BotPrompt};
pub use grade::{Grade, ParseGradeError, answer_question};
pub use playout::{Players, play_to_end};
