//! The coins of a tournament: its transfers, and its account as it follows from them.

use alloc::collections::BTreeMap;
use core::fmt;

use serde::{Deserialize, Serialize};

use crate::coins::Coins;
use crate::table::PlayerId;

/// The identity of a transfer, unique in its tournament. Its text is the end of the idempotency key
/// in the ledger. The variants are in the order of their stages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum TransferKey {
    /// The hold of an entry; `number` counts the entries of the player, from 1 (rule 1.3).
    Entry { player: PlayerId, number: u32 },
    /// The fee of all entries (rule 6.2).
    Fee,
    /// The buy-ins that the house pays for passes (rule 1.6).
    Passes,
    /// The missing part of the guarantee (rule 6.3).
    Guarantee,
    /// The prize of a place among the players without bots, from 1 (rule 6.6).
    Place { place: u32 },
    /// The return of the fee by the house (rules 7.1 and 7.2).
    FeeReturn,
    /// The return of the buy-ins for passes to the house (rule 7.1).
    PassesReturn,
    /// The return of the guarantee to the house (rule 7.1).
    GuaranteeReturn,
    /// The return of an entry in the form in which it was paid (rules 1.4 and 7.1).
    Return { player: PlayerId, number: u32 },
    /// A player's part of a cancelled tournament (rules 7.2 and 7.3).
    Cancel { player: PlayerId },
}

impl fmt::Display for TransferKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Entry { player, number } => write!(f, "entry:{player}:{number}"),
            Self::Fee => f.write_str("fee"),
            Self::Passes => f.write_str("passes"),
            Self::Guarantee => f.write_str("guarantee"),
            Self::Place { place } => write!(f, "place:{place}"),
            Self::FeeReturn => f.write_str("fee-return"),
            Self::PassesReturn => f.write_str("passes-return"),
            Self::GuaranteeReturn => f.write_str("guarantee-return"),
            Self::Return { player, number } => write!(f, "return:{player}:{number}"),
            Self::Cancel { player } => write!(f, "cancel:{player}"),
        }
    }
}

/// The direction of a transfer, seen from the tournament's account.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// From a player's wallet to the tournament.
    FromPlayer,
    /// From the house to the tournament.
    FromHouse,
    /// From the tournament to a player's wallet.
    ToPlayer,
    /// From the tournament to the house.
    ToHouse,
}

impl TransferKey {
    pub const fn direction(self) -> Direction {
        match self {
            Self::Entry { .. } => Direction::FromPlayer,
            Self::Passes | Self::Guarantee | Self::FeeReturn => Direction::FromHouse,
            Self::Fee | Self::PassesReturn | Self::GuaranteeReturn => Direction::ToHouse,
            Self::Place { .. } | Self::Return { .. } | Self::Cancel { .. } => Direction::ToPlayer,
        }
    }

    /// Returns the stage of the transfer. A transfer is not due while one of a lower stage, from 1
    /// on, is pending, so that the account is never overdrawn.
    const fn stage(self) -> u8 {
        match self {
            Self::Entry { .. } => 0,
            Self::Fee | Self::Passes | Self::Guarantee => 1,
            Self::Place { .. } => 2,
            Self::FeeReturn | Self::PassesReturn | Self::GuaranteeReturn => 3,
            Self::Return { .. } | Self::Cancel { .. } => 4,
        }
    }
}

/// The form in which an entry is paid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Payment {
    /// Nothing: the entry is free, or the entrant is a house bot.
    Free,
    Coins,
    /// A pass, which is held or given back, without coins.
    Pass,
}

/// A movement of coins, or of a pass, between the tournament's account and a player or the house.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Transfer {
    pub key: TransferKey,
    /// The player; absent if the house is the other side.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub player: Option<PlayerId>,
    pub payment: Payment,
    /// The amount, never negative; zero if a pass moves.
    pub amount: Coins,
}

/// The account of a tournament as it follows from its journal.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Account {
    /// The transfers that the ledger has not confirmed.
    pending: BTreeMap<TransferKey, Transfer>,
    /// The balance after the confirmed transfers.
    balance: Coins,
}

impl Account {
    pub(super) fn balance(&self) -> Coins {
        self.balance
    }

    pub(super) fn has_pending(&self) -> bool {
        !self.pending.is_empty()
    }

    pub(super) fn is_pending(&self, key: TransferKey) -> bool {
        self.pending.contains_key(&key)
    }

    pub(super) fn pending(&self) -> impl Iterator<Item = &Transfer> {
        self.pending.values()
    }

    /// Requests a transfer, unless nothing would move.
    pub(super) fn request(&mut self, transfer: Transfer) {
        if transfer.payment == Payment::Pass || transfer.amount > Coins::ZERO {
            self.pending.insert(transfer.key, transfer);
        }
    }

    pub(super) fn request_coins(
        &mut self,
        key: TransferKey,
        player: Option<PlayerId>,
        amount: Coins,
    ) {
        self.request(Transfer { key, player, payment: Payment::Coins, amount });
    }

    /// Removes a transfer that the ledger refuses.
    pub(super) fn drop_pending(&mut self, key: TransferKey) {
        self.pending.remove(&key);
    }

    /// Books a pending transfer that the ledger has confirmed.
    pub(super) fn confirm(&mut self, key: TransferKey) -> Option<Transfer> {
        let transfer = self.pending.remove(&key)?;
        let after = match key.direction() {
            Direction::FromPlayer | Direction::FromHouse => {
                self.balance.checked_add(transfer.amount)
            }
            Direction::ToPlayer | Direction::ToHouse => self.balance.checked_sub(transfer.amount),
        };
        self.balance = after.expect("the bounds of the terms keep amounts within 64 bits");
        Some(transfer)
    }

    /// Iterates over the transfers that the ledger may book now.
    pub(super) fn due(&self) -> impl Iterator<Item = &Transfer> {
        // Keys are in the order of their stages.
        let entries = self.pending.range(..TransferKey::Fee);
        let others = self.pending.range(TransferKey::Fee..);
        let least = others.clone().next().map(|(key, _)| key.stage());
        let is_due = move |(key, _): &(&TransferKey, &Transfer)| Some(key.stage()) == least;
        entries.chain(others.take_while(is_due)).map(|(_, transfer)| transfer)
    }
}
