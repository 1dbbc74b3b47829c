//! The operations of the ledger and their answers.

use bahay_engine::chance::Commitment;
use bahay_engine::coins::Coins;
use bahay_engine::seat::{SEATS_MAX, Seat, SeatSet};
use bahay_engine::table::{GameId, PlayerId, Settlement, StakeTerms, TableId};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use uuid::Uuid;

use super::canonical::{Document, to_canonical_json, to_canonical_json_with};
use super::chart::{Account, Grant};
use super::correct::{AdjustWallet, Reversal};
use super::error::LedgerError;
use super::refund_pot::PlannedPotRefund;
use super::sweep::SweepWallet;
use crate::allowance::Allowance;
use crate::reason::Reason;

/// The maximum length of a room name or a grant's key, in bytes. They become part of account codes,
/// keys and reports.
const NAME_LENGTH_MAX: usize = 128;

/// The maximum length of the name of a kind, in bytes.
const KIND_LENGTH_MAX: usize = 32;

/// The end of the year 9998, in milliseconds since 1970.
const TIME_MS_MAX: i64 = 253_370_764_799_999;

/// The maximum ante, stake or grant of one call: ten billion coins. Sums of many such amounts still
/// fit 64 bits.
pub const AMOUNT_MAX: Coins = Coins::from_hundredths(1_000_000_000_000);

/// The opening of a game: antes go into the POT, and stakes are held. Its key is `open:<game>`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct OpenGame {
    pub game: GameId,
    /// The kind of the game, as in records.
    pub kind: String,
    pub table: TableId,
    pub room: String,
    /// The ante of each seat. May be zero.
    pub ante: Coins,
    /// The most that a seat can lose besides its ante. A wallet must cover it.
    pub stake_max: Coins,
    /// True if a wallet with less than `stake_max` after the ante is staked as a whole.
    #[serde(skip_serializing_if = "is_false")]
    pub short_stakes: bool,
    /// The players by seat.
    pub players: Vec<PlayerId>,
    /// The SHA-256 of the server seed, as the table showed it before the deal (rule 9.1). It is
    /// stored with the game, so that a commitment whose game is never settled stays public (rule
    /// 9.1a).
    pub commitment: Commitment,
    pub opened_at_ms: i64,
}

impl OpenGame {
    /// Returns the game's demand on each wallet.
    pub(super) fn stake_terms(&self) -> StakeTerms {
        let Self { ante, stake_max, short_stakes, .. } = *self;
        StakeTerms { ante, stake_max, short_stakes }
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_false(flag: &bool) -> bool {
    !*flag
}

/// The outcome of an opening.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum OpeningOutcome {
    Opened {
        /// The held stakes by seat.
        stakes: Vec<Coins>,
        /// The balance of the POT, including this game's antes.
        pot: Coins,
    },
    /// The wallets of these seats do not cover ante and stake. No coins move, and the outcome of
    /// this game is final; another attempt is another game.
    CannotPay { seats: SeatSet },
    /// The game could bring these seats more than their players may win, at private tables or of
    /// others at the table of a room. No coins move, and the outcome of this game is final.
    OverAllowance { seats: SeatSet },
}

/// The settlement of a finished game with its record. Its key is `settle:<game>`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SettleGame {
    pub game: GameId,
    pub table: TableId,
    pub room: String,
    /// The players by seat, as at the opening.
    pub players: Vec<PlayerId>,
    pub settlement: Settlement,
    /// The document from which anybody can verify the game. It is hashed with the other fields, in
    /// its sorted position.
    #[serde(skip)]
    pub record: Document,
    pub finished_at_ms: i64,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SettlementOutcome {
    /// By seat, the change by the game without the ante.
    pub net: Vec<Coins>,
    /// By seat, the balance of the wallet after the settlement.
    pub wallets: Vec<Coins>,
    /// The balance that stays in the POT.
    pub pot: Coins,
}

/// The void of an open game that cannot be finished. Its key is `void:<game>`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct VoidGame {
    pub game: GameId,
    /// The reason, which is not hashed: two nodes may void the same lost game with different words,
    /// and the first reason stays.
    #[serde(skip)]
    pub reason: Reason,
    /// The caller's id, which is not hashed either.
    #[serde(skip)]
    pub call: Uuid,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct VoidOutcome {
    /// The id of the call that voided the game. A later call gets the same answer.
    pub call: Uuid,
    /// The ante that each seat got back out of the POT.
    pub ante: Coins,
    /// By seat, the stake that was released.
    pub stakes: Vec<Coins>,
    /// By seat, the balance of the wallet after the void.
    pub wallets: Vec<Coins>,
}

/// A grant: coins from `issue` to a wallet, which is created if it does not exist. Its key is
/// `<code>:<key>`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct GrantCoins {
    pub player: PlayerId,
    pub grant: Grant,
    /// The part of the idempotency key that makes the grant unique: the player's id for a welcome,
    /// player and day for a daily reward.
    pub key: String,
    pub amount: Coins,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GrantOutcome {
    /// The balance of the wallet after the grant.
    pub wallet: Coins,
}

/// An operation of any kind.
#[derive(Clone, Debug)]
pub(super) enum Operation {
    Open(OpenGame),
    Settle(Box<SettleGame>),
    Void(VoidGame),
    Grant(GrantCoins),
    Sweep(SweepWallet),
    Adjust(AdjustWallet),
    Reverse(Reversal),
    RefundPot(PlannedPotRefund),
}

impl Operation {
    /// Returns the value of the column `kind`.
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Self::Open(_) => "open",
            Self::Settle(_) => "settle",
            Self::Void(_) => "void",
            Self::Grant(_) => "grant",
            Self::Sweep(_) => "sweep",
            Self::Adjust(_) => "adjust",
            Self::Reverse(_) => "reverse",
            Self::RefundPot(_) => "pot_refund",
        }
    }

    pub(super) fn key(&self) -> String {
        match self {
            Self::Open(OpenGame { game, .. }) | Self::Void(VoidGame { game, .. }) => {
                format!("{}:{game}", self.kind())
            }
            Self::Settle(input) => format!("{}:{}", self.kind(), input.game),
            Self::Grant(input) => format!("{}:{}", input.grant.code(), input.key),
            Self::Sweep(input) => format!("{}:{}:{}", self.kind(), input.player, input.version),
            Self::Adjust(input) => format!("{}:{}", self.kind(), input.correction),
            Self::Reverse(input) => format!("{}:{}", self.kind(), input.input.operation),
            Self::RefundPot(input) => input.input.key(),
        }
    }

    pub(super) fn game(&self) -> Option<GameId> {
        match self {
            Self::Open(OpenGame { game, .. }) | Self::Void(VoidGame { game, .. }) => Some(*game),
            Self::Settle(input) => Some(input.game),
            Self::Reverse(input) => input.game,
            Self::Grant(_) | Self::Sweep(_) | Self::Adjust(_) | Self::RefundPot(_) => None,
        }
    }

    /// Returns the table of an opening.
    pub(super) fn opening_table(&self) -> Option<TableId> {
        match self {
            Self::Open(input) => Some(input.table),
            Self::Settle(_)
            | Self::Void(_)
            | Self::Grant(_)
            | Self::Sweep(_)
            | Self::Adjust(_)
            | Self::Reverse(_)
            | Self::RefundPot(_) => None,
        }
    }

    /// Returns the house account that the operation pays into or draws from.
    pub(super) fn house_account(&self) -> Option<Account> {
        match self {
            Self::Open(_) | Self::Void(_) | Self::RefundPot(_) => None,
            Self::Settle(input) => Some(Account::Fee(input.room.clone())),
            Self::Grant(_) | Self::Sweep(_) | Self::Adjust(_) => Some(Account::Issue),
            Self::Reverse(input) => {
                let sides = input.moves.iter().flat_map(|one| [&one.source, &one.destination]);
                sides.into_iter().find(|account| account.is_house()).cloned()
            }
        }
    }

    /// Returns the accounts that may not exist yet.
    pub(super) fn accounts_to_create(&self) -> Vec<Account> {
        match self {
            Self::Open(input) => {
                let seats = seats_of(&input.players);
                let stakes = seats.map(|(seat, _)| Account::Stake(input.game, seat));
                stakes.chain([Account::Pot(input.table)]).collect()
            }
            Self::Grant(GrantCoins { player, .. }) | Self::Adjust(AdjustWallet { player, .. }) => {
                vec![Account::Wallet(*player)]
            }
            Self::Settle(_)
            | Self::Void(_)
            | Self::Sweep(_)
            | Self::Reverse(_)
            | Self::RefundPot(_) => Vec::new(),
        }
    }

    /// Returns every account that the operation may touch, except house accounts, or `None` if the
    /// input does not name them all. That of a void does not, since its players are in the books.
    pub(super) fn named_accounts(&self) -> Option<Vec<Account>> {
        match self {
            Self::Open(OpenGame { game, table, players, .. }) => {
                Some(accounts_of_game(*game, *table, players).collect())
            }
            Self::Settle(input) => {
                Some(accounts_of_game(input.game, input.table, &input.players).collect())
            }
            Self::Grant(GrantCoins { player, .. }) | Self::Adjust(AdjustWallet { player, .. }) => {
                Some(vec![Account::Wallet(*player)])
            }
            Self::Sweep(SweepWallet { player, .. }) => Some(vec![Account::Wallet(*player)]),
            Self::Void(_) | Self::Reverse(_) | Self::RefundPot(_) => None,
        }
    }

    /// Returns the input whose documents are stored together with the coins.
    pub(super) fn documents(&self) -> Option<&SettleGame> {
        match self {
            Self::Settle(input) => Some(input),
            Self::Open(_)
            | Self::Void(_)
            | Self::Grant(_)
            | Self::Sweep(_)
            | Self::Adjust(_)
            | Self::Reverse(_)
            | Self::RefundPot(_) => None,
        }
    }

    fn canonical_input(&self) -> Result<String, serde_json::Error> {
        match self {
            Self::Open(input) => to_canonical_json(input),
            Self::Settle(input) => to_canonical_json_with(input, "record", &input.record),
            Self::Void(input) => to_canonical_json(input),
            Self::Grant(input) => to_canonical_json(input),
            Self::Sweep(input) => to_canonical_json(input),
            Self::Adjust(input) => to_canonical_json(input),
            // The transfers of a reversal follow from the operation.
            Self::Reverse(input) => to_canonical_json(&input.input),
            Self::RefundPot(input) => to_canonical_json(&input.input),
        }
    }

    /// Checks the input as far as it needs no books.
    fn check(&self) -> Result<(), LedgerError> {
        match self {
            Self::Open(input) => {
                check_kind(&input.kind)?;
                check_name(&input.room)?;
                check_time(input.opened_at_ms)?;
                check_players(&input.players)?;
                ensure(!input.ante.is_negative(), "an ante is negative")?;
                ensure(input.ante <= AMOUNT_MAX, "an ante exceeds the maximum")?;
                ensure(input.stake_max > Coins::ZERO, "a stake is not positive")?;
                ensure(input.stake_max <= AMOUNT_MAX, "a stake exceeds the maximum")
            }
            Self::Settle(input) => {
                check_name(&input.room)?;
                check_time(input.finished_at_ms)?;
                check_players(&input.players)
            }
            // The type of the reason guarantees its bounds.
            Self::Void(_) => Ok(()),
            Self::Grant(input) => {
                check_name(&input.key)?;
                ensure(input.amount > Coins::ZERO, "a grant is not positive")?;
                ensure(input.amount <= AMOUNT_MAX, "a grant exceeds the maximum")
            }
            Self::Adjust(input) => {
                let bounds = Coins::from_hundredths(-AMOUNT_MAX.hundredths())..=AMOUNT_MAX;
                ensure(!input.amount.is_zero(), "an adjustment is zero")?;
                ensure(bounds.contains(&input.amount), "an adjustment exceeds the maximum")
            }
            Self::Sweep(input) => ensure(input.amount > Coins::ZERO, "a sweep is not positive"),
            Self::Reverse(_) | Self::RefundPot(_) => Ok(()),
        }
    }
}

/// An operation with its idempotency key and the hash of its input.
#[derive(Clone, Debug)]
pub(super) struct Request {
    pub(super) operation: Operation,
    pub(super) key: String,
    pub(super) input_hash: [u8; 32],
    /// Not part of the input: the house may change its limits, and the first answer stands.
    pub(super) limit: WinLimit,
}

/// The bound of a player's gain by an opened game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WinLimit {
    /// No bound, for operations that open no game.
    Unlimited,
    /// The allowance of each player, at a private table.
    Private(Allowance),
    /// The winnings of each player of others at the table, in a room.
    Room,
}

impl Request {
    pub(super) fn new(operation: Operation) -> Result<Self, LedgerError> {
        operation.check()?;
        let input = operation
            .canonical_input()
            .map_err(|_| LedgerError::Invalid { what: "the input cannot be written as JSON" })?;
        let input_hash = Sha256::digest(&input).into();
        Ok(Self { key: operation.key(), operation, input_hash, limit: WinLimit::Unlimited })
    }

    pub(super) fn with_limit(self, limit: WinLimit) -> Self {
        Self { limit, ..self }
    }
}

/// Returns the stakes, the wallets and the POT.
pub(super) fn accounts_of_game(
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
pub(super) fn seats_of(players: &[PlayerId]) -> impl Iterator<Item = (Seat, PlayerId)> {
    Seat::all(SEATS_MAX).zip(players.iter().copied())
}

fn ensure(holds: bool, what: &'static str) -> Result<(), LedgerError> {
    if holds { Ok(()) } else { Err(LedgerError::Invalid { what }) }
}

fn check_name(name: &str) -> Result<(), LedgerError> {
    ensure(!name.is_empty(), "a name or key is empty")?;
    ensure(name.len() <= NAME_LENGTH_MAX, "a name or key is too long")?;
    ensure(!name.chars().any(char::is_control), "a name or key has a control character")
}

/// Checks the name of a kind against the constraint of the database.
fn check_kind(kind: &str) -> Result<(), LedgerError> {
    let is_word = |letter: u8| matches!(letter, b'a'..=b'z' | b'0'..=b'9' | b'_');
    let is_sound = kind.len() <= KIND_LENGTH_MAX
        && kind.starts_with(|first: char| first.is_ascii_lowercase())
        && kind.bytes().all(is_word);
    ensure(is_sound, "the kind of a game is not a short name in snake case")
}

fn check_time(time_ms: i64) -> Result<(), LedgerError> {
    ensure((0..=TIME_MS_MAX).contains(&time_ms), "a time is beyond the calendar")
}

fn check_players(players: &[PlayerId]) -> Result<(), LedgerError> {
    let count = players.len();
    ensure((2..=usize::from(SEATS_MAX)).contains(&count), "a game has two to eight seats")?;
    let twice = players.iter().enumerate().any(|(index, one)| players[..index].contains(one));
    ensure(!twice, "a player sits on two seats")
}

#[cfg(test)]
mod tests {
    use super::{Document, Operation, Request, SettleGame, VoidGame};
    use bahay_engine::table::{GameId, PlayerId, Settlement, TableId};
    use serde_json::json;
    use sha2::{Digest as _, Sha256};
    use uuid::Uuid;

    /// Hashes are stored, so a later version must compute the same ones.
    #[test]
    fn the_record_is_hashed_in_its_sorted_position() {
        let input = SettleGame {
            game: GameId(Uuid::nil()),
            table: TableId(Uuid::nil()),
            room: "newbie".into(),
            players: vec![PlayerId(Uuid::nil()), PlayerId(Uuid::max())],
            settlement: Settlement::default(),
            record: Document::canonicalize(&json!({ "b": 1, "a": [2] })).unwrap(),
            finished_at_ms: 5,
        };
        let nil = Uuid::nil();
        let max = Uuid::max();
        let text = format!(
            "{{\"finished_at_ms\":5,\"game\":\"{nil}\",\"players\":[\"{nil}\",\"{max}\"],\
            \"record\":{{\"a\":[2],\"b\":1}},\"room\":\"newbie\",\"settlement\":{{\"fees\":[],\
            \"payments\":[],\"pot\":null,\"winner\":null}},\"table\":\"{nil}\"}}"
        );
        let expected: [u8; 32] = Sha256::digest(text).into();
        let request = Request::new(Operation::Settle(Box::new(input))).unwrap();
        assert_eq!(request.input_hash, expected);
    }

    #[test]
    fn the_reason_of_a_void_is_not_compared() {
        let request = |reason: &str| {
            let reason = reason.parse().unwrap();
            let input = VoidGame { game: GameId(Uuid::nil()), reason, call: Uuid::nil() };
            Request::new(Operation::Void(input)).unwrap()
        };
        let lost = request("live state lost");
        assert_eq!(lost.input_hash, request("its table was lost").input_hash);
        assert_eq!(lost.key, format!("void:{}", Uuid::nil()));
    }
}
