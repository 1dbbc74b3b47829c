//! The accounts of one transaction in memory: their states as read, and the rows to be written.
//! Nothing here accesses the database. An operation is decided and checked in full here, or leaves
//! no trace.

mod games;
mod rows;

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

use bahay_engine::coins::Coins;
use bahay_engine::table::{GameId, PlayerId};

use super::chart::{Account, Code};
use super::error::LedgerError;

pub(super) use games::{FinishedGame, Games, LedgerGame, OpenedGame};
pub(super) use rows::{ChangedAccountRow, NewAccountRow, OperationRow, TransferColumns};

/// One transfer of an operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Move {
    pub code: Code,
    pub source: Account,
    pub destination: Account,
    pub amount: Coins,
}

/// The state of an account.
#[derive(Clone, Copy, Debug)]
pub(super) struct AccountState {
    pub(super) id: i64,
    /// True if there is no row yet. It is created with this id when something is booked on it.
    pub(super) is_new: bool,
    pub(super) balance: Coins,
    pub(super) version: i64,
    /// The version and the balance that were read, for the comparison in the database.
    pub(super) version_read: i64,
    balance_read: Coins,
}

impl AccountState {
    /// Applies one side of a transfer. Returns `None` if the balance would not fit 64 bits.
    pub(super) fn apply(&mut self, amount: Coins) -> Option<()> {
        self.balance = self.balance.checked_add(amount)?;
        self.version = self.version.checked_add(1)?;
        Some(())
    }

    pub(super) fn has_changed(&self) -> bool {
        self.version != self.version_read
    }

    /// Returns the state of an account that is to be created.
    pub(super) fn new(id: i64) -> Self {
        Self { is_new: true, ..Self::from_columns(id, 0, 0) }
    }

    /// Returns the state of an account as read, with its balance in hundredths.
    pub(super) fn from_columns(id: i64, balance: i64, version: i64) -> Self {
        let balance = Coins::from_hundredths(balance);
        Self { id, is_new: false, balance, version, version_read: version, balance_read: balance }
    }

    /// Returns the row that stores the state of an existing account.
    pub(super) fn row(&self) -> ChangedAccountRow {
        let Self { id, balance, version, version_read, balance_read, .. } = *self;
        let [balance, balance_read] = [balance, balance_read].map(Coins::hundredths);
        ChangedAccountRow { id, version_read, balance_read, balance, version }
    }
}

/// The books of one transaction.
#[derive(Debug, Default)]
pub(super) struct Books {
    pub(super) account_states: BTreeMap<Account, AccountState>,
    pub(super) games: Games,
    /// The ids of house accounts. These have no state here, because they are not locked.
    pub(super) house_ids: BTreeMap<Account, i64>,
    /// The most that each player of an opening at a private table, or one at the limit of a room,
    /// may still win.
    pub(super) win_limits: BTreeMap<PlayerId, Coins>,
    /// The players of openings who have deleted their accounts.
    pub(super) deleted_players: BTreeSet<PlayerId>,
    /// The operation that is being decided, by its index in the batch.
    pub(super) operation: i64,
    /// The transfers of this operation.
    pub(super) transfers: TransferColumns,
}

impl Books {
    /// Returns the balance of an account; zero if there is no such account.
    pub(super) fn balance(&self, account: &Account) -> Coins {
        self.account_states.get(account).map_or(Coins::ZERO, |account_state| account_state.balance)
    }

    /// Returns the balances of the players' wallets.
    pub(super) fn wallet_balances(&self, players: &[PlayerId]) -> Vec<Coins> {
        players.iter().map(|player| self.balance(&Account::Wallet(*player))).collect()
    }

    /// Returns the version of an account's newest entry; `None` if there is no such account.
    pub(super) fn version(&self, account: &Account) -> Option<i64> {
        self.account_states.get(account).map(|account_state| account_state.version)
    }

    /// Returns the balance that a player can spend on a game: zero for a deleted account.
    pub(super) fn spendable_balance(&self, player: PlayerId) -> Coins {
        if self.deleted_players.contains(&player) {
            return Coins::ZERO;
        }
        self.balance(&Account::Wallet(player))
    }

    /// Returns the most that a player may still win; `None` if it is not bounded.
    pub(super) fn win_limit(&self, player: PlayerId) -> Option<Coins> {
        self.win_limits.get(&player).copied()
    }

    /// Subtracts the possible gain of an opened game from the player's limit, for the later
    /// operations of this batch.
    pub(super) fn reserve_win(&mut self, player: PlayerId, amount: Coins) {
        if let Some(limit) = self.win_limits.get_mut(&player) {
            let left = limit.hundredths().saturating_sub(amount.hundredths());
            *limit = Coins::from_hundredths(left);
        }
    }

    /// Books all transfers of the operation, or none of them. An operation posts at most once,
    /// since each of its accounts has one state before it.
    ///
    /// The operation has been validated before, so an error here is a bug.
    pub(super) fn post(&mut self, moves: &[Move]) -> Result<(), LedgerError> {
        if !self.transfers.codes.is_empty() {
            return Err(LedgerError::broken("an operation posts twice"));
        }
        let mut changed: BTreeMap<&Account, AccountState> = BTreeMap::new();
        let mut transfers = TransferColumns::default();
        for Move { code, source, destination, amount } in moves {
            if *amount <= Coins::ZERO || source == destination {
                return Err(LedgerError::broken(format!("{code} of {amount} moves nothing")));
            }
            let negative = Coins::ZERO.checked_sub(*amount).ok_or_else(overflow)?;
            let mut ids = [0; 2];
            let sides = [(source, negative), (destination, *amount)];
            for (id, (account, amount)) in ids.iter_mut().zip(sides) {
                if account.is_house() {
                    *id = self.house_id(account, *code, amount)?;
                    if !transfers.listed.contains(id) {
                        transfers.listed.push(*id);
                    }
                    continue;
                }
                let account_state = match changed.entry(account) {
                    Entry::Occupied(entry) => entry.into_mut(),
                    Entry::Vacant(entry) => entry.insert(self.account_state(account)?),
                };
                *id = account_state.id;
                account_state.apply(amount).ok_or_else(overflow)?;
                if account_state.balance.is_negative() {
                    return Err(LedgerError::broken(format!("{code} overdraws {account}")));
                }
            }
            let [source, destination] = ids;
            transfers.codes.push(code.as_str());
            transfers.sources.push(source);
            transfers.destinations.push(destination);
            transfers.amounts.push(amount.hundredths());
        }
        for (account, changed) in changed {
            if let Some(account_state) = self.account_states.get_mut(account) {
                transfers.accounts.push(account_state.id);
                transfers.versions.push(account_state.version);
                transfers.balances.push(account_state.balance.hundredths());
                if !matches!(account, Account::Stake(..)) {
                    transfers.listed.push(account_state.id);
                }
                *account_state = changed;
            }
        }
        self.transfers = transfers;
        Ok(())
    }

    /// Books the transfers if the wallets cover all of them, and rejects the operation otherwise.
    /// Unlike in a game, nothing is held in advance. Returns the sum of the transfers.
    pub(super) fn post_covered(&mut self, moves: &[Move]) -> Result<Coins, LedgerError> {
        check_covered(moves, |account| self.balance(account))?;
        self.post(moves)?;
        Coins::checked_sum(moves.iter().map(|one| one.amount)).ok_or_else(overflow)
    }

    fn account_state(&self, account: &Account) -> Result<AccountState, LedgerError> {
        let account_state = self.account_states.get(account).copied();
        account_state.ok_or_else(|| LedgerError::broken(format!("there is no account {account}")))
    }

    fn house_id(&self, account: &Account, code: Code, amount: Coins) -> Result<i64, LedgerError> {
        // A fee account that pays must be locked, or it could be overdrawn; reversals and the
        // returns of a tournament's fees lock it.
        let locks = matches!(code, Code::Reversal | Code::TournamentFeeReturn);
        let may_pay = *account == Account::Issue || locks;
        if amount.is_negative() && !may_pay {
            return Err(LedgerError::broken(format!("{account} pays without a lock")));
        }
        let id = self.house_ids.get(account).copied();
        id.ok_or_else(|| LedgerError::broken(format!("there is no account {account}")))
    }

    /// Adds a game that the operation opens.
    pub(super) fn open_game(&mut self, game: LedgerGame, opened: OpenedGame) {
        self.games.open(self.operation, game, opened);
    }

    /// Ends a game by the operation.
    pub(super) fn finish_game(&mut self, game: GameId, finish: FinishedGame) {
        self.games.finish(self.operation, game, finish);
    }
}

/// Checks that the wallets cover all transfers, one after the other, given their balances before.
pub(super) fn check_covered(
    moves: &[Move],
    balance_of: impl Fn(&Account) -> Coins,
) -> Result<(), LedgerError> {
    let mut left: BTreeMap<&Account, Coins> = BTreeMap::new();
    for Move { source, destination, amount, .. } in moves {
        if !source.is_house() {
            let balance = *left.entry(source).or_insert_with(|| balance_of(source));
            let rest = balance.checked_sub(*amount).ok_or_else(overflow)?;
            if rest.is_negative() {
                let account = source.to_string();
                let amount = *amount;
                return Err(LedgerError::Overdrawn { account, balance, amount });
            }
            left.insert(source, rest);
        }
        if !destination.is_house() {
            let balance = *left.entry(destination).or_insert_with(|| balance_of(destination));
            left.insert(destination, balance.checked_add(*amount).ok_or_else(overflow)?);
        }
    }
    Ok(())
}

pub(super) fn overflow() -> LedgerError {
    LedgerError::broken("an amount does not fit 64 bits")
}

#[cfg(test)]
mod tests {
    use super::{AccountState, Books, Move, TransferColumns};
    use crate::chart::{Account, Code};
    use crate::error::LedgerError;
    use bahay_engine::coins::Coins;
    use bahay_engine::seat::Seat;
    use bahay_engine::table::{GameId, PlayerId, TableId};
    use uuid::Uuid;

    fn coins(hundredths: i64) -> Coins {
        Coins::from_hundredths(hundredths)
    }

    fn wallet() -> Account {
        Account::Wallet(PlayerId(Uuid::nil()))
    }

    fn pot() -> Account {
        Account::Pot(TableId(Uuid::nil()))
    }

    fn books() -> Books {
        let account_states = [
            (wallet(), AccountState::from_columns(7, 500, 4)),
            (pot(), AccountState::from_columns(8, 0, 9)),
        ];
        let house_ids = [(Account::Issue, 1), (Account::Fee("newbie".into()), 2)];
        Books {
            account_states: account_states.into(),
            house_ids: house_ids.into(),
            ..Books::default()
        }
    }

    fn ante(amount: i64) -> Move {
        let amount = coins(amount);
        Move { code: Code::Ante, source: wallet(), destination: pot(), amount }
    }

    #[test]
    fn an_operation_keeps_each_state_before_it_once() {
        let mut books = books();
        books.post(&[ante(100), ante(50)]).unwrap();
        assert_eq!(books.balance(&wallet()), coins(350));
        assert_eq!(books.balance(&pot()), coins(150));
        assert_eq!([books.version(&wallet()), books.version(&pot())], [Some(6), Some(11)]);
        let transfers = &books.transfers;
        assert_eq!(transfers.codes, ["ante", "ante"]);
        assert_eq!([&transfers.sources, &transfers.destinations], [&[7, 7], &[8, 8]]);
        assert_eq!(transfers.amounts, [100, 50]);
        assert_eq!(transfers.accounts, [7, 8]);
        assert_eq!(transfers.versions, [4, 9]);
        assert_eq!(transfers.balances, [500, 0]);

        let pot_refund = Move {
            code: Code::PotRefund,
            source: pot(),
            destination: wallet(),
            amount: coins(150),
        };
        books.transfers = TransferColumns::default();
        books.post(&[pot_refund]).unwrap();
        assert_eq!(books.transfers.sources, [8]);
        assert_eq!(books.transfers.versions, [6, 11]);
        assert_eq!(books.transfers.balances, [350, 150]);
        assert_eq!(books.balance(&wallet()), coins(500));
    }

    #[test]
    fn an_operation_posts_once() {
        let mut books = books();
        books.post(&[ante(100)]).unwrap();
        let refused = books.post(&[ante(50)]);
        assert_eq!(refused, Err(LedgerError::broken("an operation posts twice")));
        assert_eq!(books.transfers.amounts, [100]);
        assert_eq!(books.balance(&wallet()), coins(400));
        assert_eq!(books.version(&wallet()), Some(5));
    }

    #[test]
    fn a_refused_operation_leaves_no_trace() {
        let mut books = books();
        books.post(&[ante(100), ante(401)]).unwrap_err();
        books.post(&[ante(0)]).unwrap_err();
        let fee = Account::Fee("newbie".into());
        let amount = coins(1);
        let back = Move { code: Code::Refund, source: fee, destination: wallet(), amount };
        books.post(&[back]).unwrap_err();
        assert_eq!(books.balance(&wallet()), coins(500));
        let transfers = &books.transfers;
        assert!(transfers.codes.is_empty() && transfers.accounts.is_empty());
        assert!(transfers.listed.is_empty());
        assert!(!books.account_states.values().any(AccountState::has_changed));
    }

    #[test]
    fn a_house_account_has_no_state_in_an_operation() {
        let mut books = books();
        let amount = coins(100);
        let welcome = Code::Welcome;
        let grant = Move { code: welcome, source: Account::Issue, destination: wallet(), amount };
        books.post(&[grant.clone(), grant]).unwrap();
        assert_eq!(books.transfers.sources, [1, 1]);
        assert_eq!(books.transfers.accounts, [7]);
    }

    #[test]
    fn every_account_except_stakes_lists_the_operation_once() {
        let mut books = books();
        let stake = Account::Stake(GameId(Uuid::nil()), Seat::new(0).unwrap());
        books.account_states.insert(stake.clone(), AccountState::new(9));
        let fee = Account::Fee("newbie".into());
        let transfer = |code, source: &Account, destination: &Account, amount| Move {
            code,
            source: source.clone(),
            destination: destination.clone(),
            amount: coins(amount),
        };
        let moves = [
            transfer(Code::Hold, &wallet(), &stake, 60),
            transfer(Code::Payment, &stake, &wallet(), 40),
            transfer(Code::Fee, &wallet(), &fee, 2),
            transfer(Code::Fee, &wallet(), &fee, 1),
            transfer(Code::Release, &stake, &wallet(), 20),
        ];
        books.post(&moves).unwrap();
        let transfers = &books.transfers;
        assert_eq!(transfers.listed, [2, 7]);
        assert_eq!(transfers.accounts, [7, 9]);
        assert_eq!(transfers.versions, [4, 0]);
        let stake = books.account_states[&stake];
        assert!(stake.is_new && stake.version == 3 && stake.balance.is_zero());
    }
}
