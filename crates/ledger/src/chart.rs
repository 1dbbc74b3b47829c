//! The chart of accounts and the codes of transfers: the vocabulary of the ledger, without SQL.

use std::fmt;

pub use bahay_api::TransferCode as Code;
use bahay_engine::seat::Seat;
use bahay_engine::table::{GameId, PlayerId, TableId, TournamentId};
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
    /// The entries of a tournament, its guarantee and its prizes not yet paid.
    Tournament(TournamentId),
    /// The fees that the house has earned in a room, or at tournaments.
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
            Self::Tournament(_) => "tournament",
            Self::Fee(_) => "fee",
            Self::Issue => "issue",
            Self::Suspense => "suspense",
        }
    }

    /// Returns whether this is a house account. Nearly every operation touches one, so posting must
    /// not lock it.
    pub fn is_house(&self) -> bool {
        matches!(self, Self::Fee(_) | Self::Issue)
    }

    pub(crate) fn player(&self) -> Option<PlayerId> {
        if let Self::Wallet(player) = self { Some(*player) } else { None }
    }
}

impl fmt::Display for Account {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = self.kind();
        match self {
            Self::Wallet(player) => write!(f, "{kind}:{player}"),
            Self::Stake(game, seat) => write!(f, "{kind}:{game}:{seat}"),
            Self::Pot(table) => write!(f, "{kind}:{table}"),
            Self::Tournament(tournament) => write!(f, "{kind}:{tournament}"),
            Self::Fee(room) => write!(f, "{kind}:{room}"),
            Self::Issue | Self::Suspense => f.write_str(kind),
        }
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
    use bahay_engine::table::{GameId, PlayerId, TableId, TournamentId};
    use uuid::Uuid;

    #[test]
    fn every_code_begins_with_its_kind() {
        let id = Uuid::nil();
        let accounts = [
            Account::Wallet(PlayerId(id)),
            Account::Stake(GameId(id), Seat::new(2).unwrap()),
            Account::Pot(TableId(id)),
            Account::Tournament(TournamentId(id)),
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
            assert_eq!(code.as_str().parse(), Ok(*code));
            assert_eq!(serde_json::to_value(code).unwrap(), code.as_str());
        }
        assert!("gift".parse::<Code>().is_err());
    }
}
