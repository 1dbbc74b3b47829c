//! A cache of the books: accounts and open games as the last write of this process left them.
//!
//! A settlement needs exactly the accounts that the game's opening wrote, and the next opening at
//! the table those that the settlement wrote. Another process may have changed them since. So an
//! operation that is decided on cached books is valid only if it writes: `write_books` compares the
//! version and the balance of every account, creates a stake only if there is none, and ends a game
//! only if it is open. A refusal writes nothing, so a batch with one is decided again on books that
//! are all read.
//!
//! After a conflict some batches read all of their books, so that a process whose entries are often
//! outdated does not write nearly everything twice. Entries are forgotten by generations, so the
//! cache is as large as the games of the last minutes need.

use std::collections::{BTreeMap, HashMap};
use std::mem;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bahay_engine::coins::Coins;
use bahay_engine::table::GameId;

use super::plan::Plan;
use crate::books::{AccountState, Books, LedgerGame};
use crate::chart::Account;
use crate::operation::{Request, seats_of};
use bahay_base::clock::Moment;

/// The maximum number of accounts in a generation, some 10 MiB: those of 18,000 tables.
const ACCOUNTS_MAX: usize = 131_072;

/// The maximum time that a generation is written to. An entry is forgotten when it was not written
/// for one to two of these times, which is longer than nearly every game.
const GENERATION: Duration = Duration::from_mins(10);

/// The number of batches after a conflict that read all of their books.
const READS_AFTER_CONFLICT: u32 = 3;

/// A cache of accounts and open games. Clones share it.
#[derive(Clone, Debug, Default)]
pub(crate) struct BooksCache(Arc<Mutex<CachedBooks>>);

#[derive(Debug, Default)]
struct CachedBooks {
    /// The generation that is written to, and the one before. An entry of `new` is newer than that
    /// of `old`.
    new: Generation,
    old: Generation,
    /// The time of the first write to `new`.
    begun: Option<Moment>,
    /// The number of batches that read all of their books before the cache is used again.
    reads_left: u32,
}

#[derive(Debug, Default)]
struct Generation {
    accounts: HashMap<Account, CachedAccount>,
    games: HashMap<GameId, LedgerGame>,
}

#[derive(Clone, Copy, Debug)]
struct CachedAccount {
    id: i64,
    balance: Coins,
    version: i64,
}

/// The part of a batch's books that is cached.
#[derive(Debug, Default)]
pub(crate) struct CachedPart {
    /// By request, whether all of its books are cached. Empty if nothing is.
    is_covered: Vec<bool>,
    pub(super) account_states: BTreeMap<Account, AccountState>,
    /// The stakes of openings, which no other game has.
    pub(super) new_stakes: Vec<Account>,
    pub(super) games: Vec<LedgerGame>,
}

impl CachedPart {
    pub(super) fn is_empty(&self) -> bool {
        !self.is_covered.contains(&true)
    }

    /// Returns whether all books of this request are cached.
    pub(super) fn covers(&self, place: usize) -> bool {
        self.is_covered.get(place).is_some_and(|is_covered| *is_covered)
    }
}

impl BooksCache {
    fn books(&self) -> MutexGuard<'_, CachedBooks> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the books of those requests whose books are cached as a whole.
    pub(super) fn find(&self, requests: &[&Request]) -> CachedPart {
        let mut books = self.books();
        let mut part = CachedPart::default();
        if books.reads_left > 0 {
            books.reads_left -= 1;
            return part;
        }
        let covered = requests.iter().map(|request| books.find(request, &mut part).is_some());
        part.is_covered = covered.collect();
        part
    }

    /// Stores the books as a committed write left them.
    pub(super) fn store(&self, written: &Books) {
        let mut books = self.books();
        books.begin_generation(written.account_states.len());
        for (account, state) in &written.account_states {
            books.store_account(account, state);
        }
        for game in written.games.opened() {
            books.new.games.insert(game.id, game.clone());
        }
        for game in written.games.finished() {
            books.remove_game(game.id);
            // Its stakes stay empty.
            for (seat, _) in seats_of(&game.players) {
                books.remove_account(&Account::Stake(game.id, seat));
            }
        }
    }

    /// Removes what a batch names, because it may have been changed.
    pub(super) fn remove(&self, plan: &Plan<'_>) {
        let mut books = self.books();
        for account in &plan.accounts {
            books.remove_account(account);
        }
        for game in &plan.games {
            books.remove_game(*game);
        }
    }

    /// Removes what a batch names after its write was rejected as outdated.
    pub(super) fn note_conflict(&self, plan: &Plan<'_>) {
        self.remove(plan);
        self.books().reads_left = READS_AFTER_CONFLICT;
    }
}

impl CachedBooks {
    /// Adds the books of an operation of a game if all of them are cached.
    fn find(&self, request: &Request, part: &mut CachedPart) -> Option<()> {
        let game = request.game.filter(|_| !request.accounts.of_booked_game)?;
        let is_opening = request.opening.is_some();
        let game = self.new.games.get(&game).or_else(|| self.old.games.get(&game));
        // An opening of a game that is open is a repetition, whose answer is stored.
        if is_opening == game.is_some() {
            return None;
        }
        let mut states = Vec::new();
        let mut new_stakes = Vec::new();
        for account in request.accounts.used.iter().chain(&request.accounts.made) {
            match self.account(account) {
                Some(CachedAccount { id, balance, version }) => {
                    let state = AccountState::from_columns(*id, balance.hundredths(), *version);
                    states.push((account.clone(), state));
                }
                None if is_opening && matches!(account, Account::Stake(..)) => {
                    new_stakes.push(account.clone());
                }
                None => return None,
            }
        }
        part.account_states.extend(states);
        part.new_stakes.append(&mut new_stakes);
        part.games.extend(game.cloned());
        Some(())
    }

    fn account(&self, account: &Account) -> Option<&CachedAccount> {
        self.new.accounts.get(account).or_else(|| self.old.accounts.get(account))
    }

    /// Begins another generation if this one is old, or too small for more accounts.
    fn begin_generation(&mut self, more: usize) {
        let now = Moment::now();
        let begun = *self.begun.get_or_insert(now);
        let is_full = self.new.accounts.len() + more > ACCOUNTS_MAX;
        if is_full || now.since(begun) > GENERATION {
            self.old = mem::take(&mut self.new);
            self.begun = Some(now);
        }
    }

    /// Stores the state of an account, unless a concurrent batch has stored a newer one.
    fn store_account(&mut self, account: &Account, state: &AccountState) {
        let is_of_games =
            matches!(account, Account::Wallet(_) | Account::Stake(..) | Account::Pot(_));
        let exists = !state.is_new || state.has_changed();
        let is_newer = |known: &CachedAccount| known.version > state.version;
        if is_of_games && exists && !self.account(account).is_some_and(is_newer) {
            let AccountState { id, balance, version, .. } = *state;
            self.new.accounts.insert(account.clone(), CachedAccount { id, balance, version });
        }
    }

    fn remove_account(&mut self, account: &Account) {
        self.new.accounts.remove(account);
        self.old.accounts.remove(account);
    }

    fn remove_game(&mut self, game: GameId) {
        self.new.games.remove(&game);
        self.old.games.remove(&game);
    }
}

#[cfg(test)]
mod tests {
    use bahay_engine::table::PlayerId;
    use uuid::Uuid;

    use super::{ACCOUNTS_MAX, BooksCache, READS_AFTER_CONFLICT};
    use crate::books::{AccountState, Books};
    use crate::chart::Account;
    use crate::posting::plan::Plan;

    fn wallet(number: u128) -> Account {
        Account::Wallet(PlayerId(Uuid::from_u128(number)))
    }

    fn books(states: impl IntoIterator<Item = (Account, AccountState)>) -> Books {
        Books { account_states: states.into_iter().collect(), ..Books::default() }
    }

    fn version(cache: &BooksCache, account: &Account) -> Option<i64> {
        cache.books().account(account).map(|known| known.version)
    }

    #[test]
    fn a_newer_state_is_kept_and_an_account_without_a_row_is_not_stored() {
        let cache = BooksCache::default();
        for number in [4, 6, 5] {
            cache.store(&books([(wallet(1), AccountState::from_columns(1, 100, number))]));
        }
        assert_eq!(version(&cache, &wallet(1)), Some(6));
        cache.store(&books([(wallet(2), AccountState::new(2))]));
        assert_eq!(version(&cache, &wallet(2)), None);
    }

    #[test]
    fn an_account_that_is_not_written_again_is_forgotten_with_its_generation() {
        let cache = BooksCache::default();
        let state = AccountState::from_columns(1, 100, 1);
        let fill = |first: u128| {
            let last = first + u128::try_from(ACCOUNTS_MAX).unwrap() - 1;
            cache.store(&books((first..last).map(|number| (wallet(number), state))));
        };
        let most = u128::try_from(ACCOUNTS_MAX).unwrap();
        cache.store(&books([(wallet(0), state), (wallet(1), state)]));
        fill(most);
        assert_eq!(version(&cache, &wallet(0)), Some(1));
        let newer = AccountState::from_columns(1, 100, 2);
        cache.store(&books([(wallet(0), newer)]));
        fill(2 * most);
        assert_eq!([0, 1].map(|number| version(&cache, &wallet(number))), [Some(2), None]);
        fill(3 * most);
        assert_eq!(version(&cache, &wallet(0)), None);
    }

    #[test]
    fn some_batches_after_a_conflict_read_their_books() {
        let cache = BooksCache::default();
        cache.note_conflict(&Plan::new(&[]));
        for left in (0..READS_AFTER_CONFLICT).rev() {
            assert!(cache.find(&[]).is_empty());
            assert_eq!(cache.books().reads_left, left);
        }
    }
}
