//! The chart of accounts and the codes of transfers: the vocabulary of the ledger, without SQL.

use std::fmt;

use bahay_engine::seat::Seat;
use bahay_engine::table::{GameId, PlayerId, TableId};
use serde::{Deserialize, Serialize};

/// An account, by its purpose. Its `Display` is its code in the database.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Account {
    /// The coins that a player can spend.
    Wallet(PlayerId),
    /// The coins that a seat can lose in one game.
    Stake(GameId, Seat),
    /// The POT of a table.
    Pot(TableId),
    /// The fees that the house has earned in a room.
    Fee(String),
    /// The source of all coins, and the only account with a negative balance.
    Issue,
    /// The suspense account, for corrections that are not explained yet.
    Suspense,
}

impl Account {
    /// Returns the value of the column `kind`.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Wallet(_) => "wallet",
            Self::Stake(..) => "stake",
            Self::Pot(_) => "pot",
            Self::Fee(_) => "fee",
            Self::Issue => "issue",
            Self::Suspense => "suspense",
        }
    }

    /// Returns whether this is a house account. Nearly every operation touches one, so posting must
    /// not lock it.
    pub fn is_house(&self) -> bool {
        match self {
            Self::Fee(_) | Self::Issue => true,
            Self::Wallet(_) | Self::Stake(..) | Self::Pot(_) | Self::Suspense => false,
        }
    }

    pub(super) fn player(&self) -> Option<PlayerId> {
        match self {
            Self::Wallet(player) => Some(*player),
            Self::Stake(..) | Self::Pot(_) | Self::Fee(_) | Self::Issue | Self::Suspense => None,
        }
    }
}

impl fmt::Display for Account {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = self.kind();
        match self {
            Self::Wallet(player) => write!(f, "{kind}:{player}"),
            Self::Stake(game, seat) => write!(f, "{kind}:{game}:{seat}"),
            Self::Pot(table) => write!(f, "{kind}:{table}"),
            Self::Fee(room) => write!(f, "{kind}:{room}"),
            Self::Issue | Self::Suspense => f.write_str(kind),
        }
    }
}

/// The purpose of a transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Code {
    /// An ante, from wallet to POT before the deal (rule 7.1).
    Ante,
    /// A stake, from wallet to stake account before the deal (rule 6.9).
    Hold,
    /// A payment from a loser's stake to a winner's wallet, before the fee (rule 6.7).
    Payment,
    /// The service fee, from a winner's wallet to the room's fee account (rule 6.8).
    Fee,
    /// The rest of a stake, back to its wallet.
    Release,
    /// The whole POT, to a wallet (rule 7.2).
    Pot,
    /// The refund of an ante of a voided game, to its wallet.
    Refund,
    /// The starting coins of a new player.
    Welcome,
    /// A daily reward.
    Daily,
    /// A grant to a wallet that has run nearly empty.
    Relief,
    /// An adjustment of a wallet by operators.
    Adjustment,
    /// A reversed transfer of an operation that operators took back.
    Reversal,
    /// A POT refund: from the POT of a deleted table or of a private one to a wallet that paid
    /// antes into it (rule 7.4).
    PotRefund,
    /// A grant to a house bot.
    HouseBot,
    /// The rest of a house bot's coins, back to the house.
    Sweep,
}

impl Code {
    pub const ALL: [Self; 15] = [
        Self::Ante,
        Self::Hold,
        Self::Payment,
        Self::Fee,
        Self::Release,
        Self::Pot,
        Self::Refund,
        Self::Welcome,
        Self::Daily,
        Self::Relief,
        Self::Adjustment,
        Self::Reversal,
        Self::PotRefund,
        Self::HouseBot,
        Self::Sweep,
    ];

    /// Returns the value of the column `code`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Ante => "ante",
            Self::Hold => "hold",
            Self::Payment => "payment",
            Self::Fee => "fee",
            Self::Release => "release",
            Self::Pot => "pot",
            Self::Refund => "refund",
            Self::Welcome => "welcome",
            Self::Daily => "daily",
            Self::Relief => "relief",
            Self::Adjustment => "adjustment",
            Self::Reversal => "reversal",
            Self::PotRefund => "pot_refund",
            Self::HouseBot => "house_bot",
            Self::Sweep => "sweep",
        }
    }

    /// Parses the value of the column `code`. Returns `None` for a value that the schema does not
    /// allow either.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|code| code.as_str() == text)
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The purpose of a grant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Grant {
    Welcome,
    Daily,
    Relief,
    /// A grant to a house bot.
    HouseBot,
}

impl Grant {
    pub fn code(self) -> Code {
        match self {
            Self::Welcome => Code::Welcome,
            Self::Daily => Code::Daily,
            Self::Relief => Code::Relief,
            Self::HouseBot => Code::HouseBot,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Account, Code};
    use bahay_engine::seat::Seat;
    use bahay_engine::table::{GameId, PlayerId, TableId};
    use uuid::Uuid;

    #[test]
    fn every_code_begins_with_its_kind() {
        let id = Uuid::nil();
        let accounts = [
            Account::Wallet(PlayerId(id)),
            Account::Stake(GameId(id), Seat::new(2).unwrap()),
            Account::Pot(TableId(id)),
            Account::Fee("newbie".into()),
            Account::Issue,
            Account::Suspense,
        ];
        for account in accounts {
            assert_eq!(account.to_string().split(':').next(), Some(account.kind()));
        }
    }

    #[test]
    fn codes_round_trip() {
        for code in Code::ALL {
            assert_eq!(Code::parse(code.as_str()), Some(code));
            assert_eq!(serde_json::to_value(code).unwrap(), code.as_str());
        }
        assert_eq!(Code::parse("gift"), None);
    }
}
