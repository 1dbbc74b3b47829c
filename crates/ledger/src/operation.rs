//! The operation: the trait that every kind of operation implements in a file of `operations`, and
//! a request to perform one.

use std::fmt;

use bahay_engine::coins::Coins;
use bahay_engine::seat::{SEATS_MAX, Seat};
use bahay_engine::table::{GameId, PlayerId, Settlement, TableId};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use super::books::Books;
use super::canonical::{Document, to_canonical_json};
use super::chart::Account;
use super::error::LedgerError;
use crate::allowance::Allowance;

/// The maximum length of a room name or a grant's key, in bytes. They become part of account codes,
/// keys and reports.
const NAME_LENGTH_MAX: usize = 128;

/// The end of the year 9998, in milliseconds since 1970.
const TIME_MS_MAX: i64 = 253_370_764_799_999;

/// The maximum ante, stake or grant of one call: ten billion coins. Sums of many such amounts still
/// fit 64 bits.
pub const AMOUNT_MAX: Coins = Coins::from_hundredths(1_000_000_000_000);

/// The reason for kinds that have no other one.
pub(crate) const NEVER_REVERSED: &str = "operations of its kind cannot be reversed";

/// The answer of an operation, as stored.
pub(crate) type Answer = Result<Value, LedgerError>;

/// An operation of one kind. Its serialization is its input, whose hash tells whether two calls
/// with the same key are the same call.
pub(crate) trait Operation: fmt::Debug + Send + Sync + Serialize + 'static {
    const KIND: Kind;

    /// The answer of an operation that is performed.
    type Outcome: Serialize + DeserializeOwned;

    /// Returns the idempotency key.
    fn key(&self) -> String;

    /// Returns the input in canonical JSON.
    fn canonical_input(&self) -> Result<String, serde_json::Error> {
        to_canonical_json(self)
    }

    /// Checks the input as far as it needs no books.
    fn check(&self) -> Result<(), LedgerError> {
        Ok(())
    }

    /// Returns the game that the operation belongs to.
    fn game(&self) -> Option<GameId> {
        None
    }

    /// Returns every account that the operation may read or change.
    fn accounts(&self) -> Accounts;

    /// Returns the start of the game that the operation opens.
    fn opening(&self) -> Option<GameStart> {
        None
    }

    /// Returns the documents that are stored together with the coins.
    fn documents(&self) -> Option<Documents<'_>> {
        None
    }

    /// Decides the operation: books its transfers and returns its answer, or leaves no trace.
    fn decide(&self, books: &mut Books) -> Result<Self::Outcome, LedgerError>;
}

/// A kind of operation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Kind {
    /// The value of the column `kind`.
    pub(crate) name: &'static str,
    /// The reason why operations of this kind are never reversed; `None` if they can be.
    pub(crate) irreversible: Option<&'static str>,
}

/// The accounts of an operation.
#[derive(Debug, Default)]
pub(crate) struct Accounts {
    /// The accounts that are created if they do not exist.
    pub(crate) made: Vec<Account>,
    /// Other accounts. Nothing is booked on one that does not exist.
    pub(crate) used: Vec<Account>,
    /// House accounts, which are not locked.
    pub(crate) house: Vec<Account>,
    /// True if the accounts of the operation's game are used too and only the books name them. Such
    /// an operation is posted under locks.
    pub(crate) of_booked_game: bool,
}

impl Accounts {
    /// Returns the accounts of an operation that moves coins between `issue` and a wallet.
    pub(crate) fn of_issue_and(player: PlayerId) -> Self {
        let wallet = vec![Account::Wallet(player)];
        Self { made: wallet, house: vec![Account::Issue], ..Self::default() }
    }
}

/// The start of a game, for the reads that only an opening needs.
#[derive(Clone, Debug)]
pub(crate) struct GameStart {
    pub(crate) game: GameId,
    pub(crate) table: TableId,
    /// The players by seat.
    pub(crate) players: Vec<PlayerId>,
    pub(crate) opened_at_ms: i64,
    pub(crate) limit: WinLimit,
}

/// The bound of a player's gain by an opened game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WinLimit {
    /// The allowance of each player, at a private table.
    Private(Allowance),
    /// The winnings of each player of others at the table, in a room.
    Room,
}

/// The documents of a settled game.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Documents<'a> {
    pub(crate) settlement: &'a Settlement,
    pub(crate) record: &'a Document,
}

/// The stored answer of an operation that moves one sum. It lacks the operation's id, which is
/// assigned on writing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PostedAmount {
    /// The sum of all transfers.
    pub(crate) amount: Coins,
}

/// An operation of any kind, with its answer in JSON.
trait AnyOperation: fmt::Debug + Send + Sync {
    fn any_documents(&self) -> Option<Documents<'_>>;

    fn answer(&self, books: &mut Books) -> Answer;
}

impl<O: Operation> AnyOperation for O {
    fn any_documents(&self) -> Option<Documents<'_>> {
        self.documents()
    }

    fn answer(&self, books: &mut Books) -> Answer {
        let outcome = self.decide(books)?;
        serde_json::to_value(outcome).map_err(|error| LedgerError::broken(error.to_string()))
    }
}

/// A checked operation with everything that posting reads of it more than once.
#[derive(Debug)]
pub(crate) struct Request {
    pub(crate) kind: &'static str,
    pub(crate) key: String,
    pub(crate) input_hash: [u8; 32],
    pub(crate) game: Option<GameId>,
    pub(crate) accounts: Accounts,
    pub(crate) opening: Option<GameStart>,
    operation: Box<dyn AnyOperation>,
}

impl Request {
    pub(crate) fn new<O: Operation>(operation: O) -> Result<Self, LedgerError> {
        operation.check()?;
        let input = operation
            .canonical_input()
            .map_err(|_| LedgerError::Invalid { what: "the input cannot be written as JSON" })?;
        Ok(Self {
            kind: O::KIND.name,
            key: operation.key(),
            input_hash: Sha256::digest(&input).into(),
            game: operation.game(),
            accounts: operation.accounts(),
            opening: operation.opening(),
            operation: Box::new(operation),
        })
    }

    pub(crate) fn documents(&self) -> Option<Documents<'_>> {
        self.operation.any_documents()
    }

    pub(crate) fn decide(&self, books: &mut Books) -> Answer {
        self.operation.answer(books)
    }
}

/// Returns the stakes, the wallets and the POT.
pub(crate) fn accounts_of_game(
    game: GameId,
    table: TableId,
    players: &[PlayerId],
) -> impl Iterator<Item = Account> {
    let seats = seats_of(players);
    let seats =
        seats.flat_map(move |(seat, player)| [Account::Stake(game, seat), Account::Wallet(player)]);
    seats.chain([Account::Pot(table)])
}

/// Returns the players with their seats.
pub(crate) fn seats_of(players: &[PlayerId]) -> impl Iterator<Item = (Seat, PlayerId)> {
    Seat::all(SEATS_MAX).zip(players.iter().copied())
}

pub(crate) fn ensure(holds: bool, what: &'static str) -> Result<(), LedgerError> {
    if holds { Ok(()) } else { Err(LedgerError::Invalid { what }) }
}

pub(crate) fn check_name(name: &str) -> Result<(), LedgerError> {
    ensure(!name.is_empty(), "a name or key is empty")?;
    ensure(name.len() <= NAME_LENGTH_MAX, "a name or key is too long")?;
    ensure(!name.chars().any(char::is_control), "a name or key has a control character")
}

pub(crate) fn check_time(time_ms: i64) -> Result<(), LedgerError> {
    ensure((0..=TIME_MS_MAX).contains(&time_ms), "a time is beyond the calendar")
}

pub(crate) fn check_players(players: &[PlayerId]) -> Result<(), LedgerError> {
    let count = players.len();
    ensure((2..=usize::from(SEATS_MAX)).contains(&count), "a game has two to eight seats")?;
    let twice = players.iter().enumerate().any(|(index, one)| players[..index].contains(one));
    ensure(!twice, "a player sits on two seats")
}
