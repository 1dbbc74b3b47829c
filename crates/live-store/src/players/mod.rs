//! Live state about players apart from their seats: leaderboards, messages, socket tickets and the
//! rate limit of exports.

mod boards;
mod exports;
mod player_messages;
mod socket_ticket;

pub use boards::{BOARDS_MAX, BoardPage, BoardRank, BoardSection, ReachedScore, rank_scores};
pub(crate) use player_messages::PLAYER_MESSAGES_MAX;
pub use player_messages::PlayerMessage;
