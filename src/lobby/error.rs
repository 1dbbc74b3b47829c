//! The reasons that keep a player from a seat, a ticket or a private table.

use std::borrow::Cow;
use std::time::Duration;

use bahay_engine::coins::Coins;
use bahay_engine::game::Refusal;
use bahay_shell::lobby::{BotsUnavailable, PrivateRefusal, SeatingEnd, WalletRefusal};
use bahay_shell::{TableError, UnavailableError};

use crate::accounts::{AccountError, Sanction};
use crate::ledger::LedgerError;
use crate::ledger::allowance;
use crate::live_store::Unavailable;
use crate::rooms::RoomError;

use super::{PRIVATE_BET_MAX, PRIVATE_TABLES_MAX, REMATCH_WITHIN, TICKET_ROOMS_MAX};

/// An error that keeps a player from a seat, a ticket or a private table.
#[derive(Debug, thiserror::Error)]
pub enum LobbyError {
    #[error("there is no such room")]
    NoSuchRoom,
    #[error("this room is closed")]
    RoomClosed,
    /// The wallet holds less than the room requires (rule 6.9).
    #[error("this room asks for a wallet of at least {needed} coins")]
    TooFewCoins { needed: Coins },
    #[error("banned {0}")]
    Banned(Sanction),
    /// The account is deleted; this node has not yet received the revocation of its token.
    #[error("the account was deleted")]
    PlayerGone,
    #[error("this room is for wallets of at most {most} coins")]
    TooManyCoins { most: Coins },
    /// The room requires an account, and a guest has only a device.
    #[error("this room is for players with a password or an identity: set one first")]
    AccountRequired,
    /// The player could not receive the question whether it is ready.
    #[error("open the socket first: a seat is kept only for players who are there")]
    SocketRequired,
    /// The player, its device or its network has recent no-shows.
    #[error(
        "wait {} s for the next seat: you were not ready for a game, or many of your network were not",
        .wait.as_millis().div_ceil(1_000)
    )]
    NotReadyBefore { wait: Duration },
    #[error("name one to {most} rooms of one game", most = TICKET_ROOMS_MAX)]
    InvalidTicketRooms,
    /// Another request is seating the same player.
    #[error("another request of yours is being seated: ask again")]
    Seating,
    #[error("you do not sit at a table")]
    NotSeated,
    #[error("you are seated at another table: leave it first")]
    SeatedElsewhere,
    /// The table of the player is halted.
    #[error("your table was halted until an operator decides about it")]
    Halted,
    /// The table of the player is run by nodes of another version.
    #[error("another node runs your table: try again")]
    OtherVersion,
    #[error("you have no such ticket")]
    TicketUnknown,
    #[error("a table has been found already")]
    TicketMatched,
    #[error("no table has this code, or no longer")]
    CodeUnknown,
    #[error("a private table is for bets from 1 to {most} coins", most = PRIVATE_BET_MAX)]
    BetOutOfBounds,
    /// The rules that the host asks for are unsound.
    #[error(transparent)]
    Rules(#[from] RoomError),
    #[error(
        "there are {most} tables of yours: they end an hour after everybody has left them",
        most = PRIVATE_TABLES_MAX
    )]
    TooManyPrivateTables,
    /// A game at this table could win more than the player's remaining allowance at private tables.
    #[error(
        "a game there may bring you {most} coins, and you may win {left} more at private tables for \
         now: play at a lower bet, or in rooms"
    )]
    PrivateBetTooHigh { most: Coins, left: Coins },
    /// The player has reached the daily limit on winnings in rooms.
    #[error(
        "you have won {most} whole stakes of others in rooms within 24 hours: that is the most, play \
         on tomorrow",
        most = allowance::DAY_STAKES_MAX
    )]
    RoomLimit,
    #[error("all practice tables are in use: try again later")]
    PracticeFull,
    #[error("the host has removed you from this table")]
    KickedByHost,
    #[error("every seat at this table is taken, or a player there has your device")]
    TableFull,
    #[error("only the host may do this")]
    NotHost,
    #[error("a game goes on: wait until it is over")]
    GameRunning,
    /// A house bot leaves its seat to the player when the running game is over.
    #[error("a bot gives you its seat after this game: try again then")]
    SeatAfterGame,
    /// No house bot can join the private table.
    #[error(transparent)]
    BotsUnavailable(#[from] BotsUnavailable),
    /// The game was over longer than [`REMATCH_WITHIN`] ago.
    #[error("the game ended more than {} minutes ago", REMATCH_WITHIN.as_secs() / 60)]
    RematchOver,
    #[error(transparent)]
    Unavailable(#[from] Unavailable),
    #[error(transparent)]
    Ledger(#[from] LedgerError),
}

impl From<AccountError> for LobbyError {
    fn from(error: AccountError) -> Self {
        match error {
            AccountError::Banned(ban) => Self::Banned(ban),
            AccountError::PlayerGone => Self::PlayerGone,
            other => Self::Unavailable(Unavailable::new(other.to_string())),
        }
    }
}

impl<I: Refusal> From<TableError<I>> for LobbyError {
    /// Returns the error for a table that could not be read, which it does not reject.
    fn from(error: TableError<I>) -> Self {
        let rejected = Self::Unavailable(Unavailable::new(error.to_string()));
        Self::from_table(error, rejected)
    }
}

impl From<WalletRefusal> for LobbyError {
    fn from(refusal: WalletRefusal) -> Self {
        match refusal {
            WalletRefusal::TooFewCoins { needed } => Self::TooFewCoins { needed },
            WalletRefusal::TooManyCoins { most } => Self::TooManyCoins { most },
        }
    }
}

impl From<PrivateRefusal> for LobbyError {
    fn from(refusal: PrivateRefusal) -> Self {
        match refusal {
            PrivateRefusal::NotHost => Self::NotHost,
            PrivateRefusal::NotSeated => Self::NotSeated,
            PrivateRefusal::GameRunning => Self::GameRunning,
            PrivateRefusal::TableFull => Self::TableFull,
            PrivateRefusal::SeatAfterGame => Self::SeatAfterGame,
        }
    }
}

impl From<UnavailableError> for LobbyError {
    fn from(error: UnavailableError) -> Self {
        Self::Unavailable(Unavailable::new(error.0))
    }
}

impl LobbyError {
    /// Returns the error for a table that did not process an input: `rejected` if the table
    /// rejected it or does not exist.
    pub(super) fn from_table<I: Refusal>(error: TableError<I>, rejected: Self) -> Self {
        match error {
            TableError::Rejected(_) | TableError::Missing => rejected,
            TableError::Halted => Self::Halted,
            TableError::OtherVersion => Self::OtherVersion,
            TableError::Unavailable(error) => error.into(),
        }
    }

    /// Returns the error for a field of a request that does not fit the rules.
    pub(super) fn from_unsound_field(
        field: &'static str,
        why: impl Into<Cow<'static, str>>,
    ) -> Self {
        Self::Rules(RoomError::Unsound { field: field.into(), why: why.into() })
    }

    /// Returns the error for a player who was not seated.
    pub(super) fn from_seating(end: SeatingEnd) -> Self {
        match end {
            SeatingEnd::Halted => Self::Halted,
            SeatingEnd::OtherVersion => Self::OtherVersion,
            SeatingEnd::Seated(_)
            | SeatingEnd::Unseated
            | SeatingEnd::Busy
            | SeatingEnd::NoSeat => Self::Seating,
        }
    }
}
