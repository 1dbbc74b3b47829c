//! The decisions of the lobby: how a player takes a seat, which tickets are placed together, where
//! house bots join, and who has to wait.
//!
//! [`Seating`] is the sequence of calls that seats a player. [`MatchRound`] plans placements and
//! [`Companions`] decides where bots join and leave. [`BotPurse`] bounds the coins that bots may
//! lose. [`NotReadyWaits`] and [`newcomer_every_ms`] delay players after no-shows.
//!
//! The service performs the calls with Redis and PostgreSQL, the simulator with its models.

mod admission;
mod bot_purse;
mod companions;
mod matching;
mod no_shows;
mod seating;

pub use admission::{
    BotsUnavailable, PRIVATE_BET_MAX, PrivateRefusal, WalletRefusal, bot_to_free, bots_to_fill,
    check_bot_terms, check_kick, check_wallet, is_private_bet, missing_players,
};
pub use bot_purse::{BotPurse, PursePurpose};
pub use companions::{BotTable, CompanionGroup, CompanionMemory, Companions};
pub use matching::{MatchRoom, MatchRound};
pub use no_shows::{InvalidWaits, NO_SHOW_KEPT_MS, NotReadyWaits, newcomer_every_ms};
pub use seating::{SeatClaim, Seating, SeatingAnswer, SeatingCall, SeatingEnd, TableAnswer};
