//! The plan of a batch: the accounts and games that its requests name, and their decisions.

use std::collections::{BTreeMap, BTreeSet};
use std::mem;

use bahay_engine::table::{GameId, TableId};
use serde_json::Value;
use sqlx::PgConnection;

use super::write::{DecidedOperation, write_batch};
use crate::books::{Books, Games};
use crate::chart::Account;
use crate::error::LedgerError;
use crate::openings::read_win_limits;
use crate::operation::{Answer, GameStart, Request, accounts_of_game};

/// The input hash and the answer stored under a key.
pub(crate) type StoredAnswer = (Vec<u8>, Value);

/// The books as of one snapshot, as far as a batch needs them, and the stored answers in the order
/// of the requests.
pub(crate) type BatchSnapshot = (Books, Vec<Option<StoredAnswer>>);

/// The requests of a batch with everything that they name.
pub(crate) struct Plan<'a> {
    pub(super) requests: &'a [&'a Request],
    /// Every account that the operations may touch, except house accounts.
    pub(super) accounts: BTreeSet<Account>,
    /// The accounts among them that are created if they do not exist.
    pub(super) made: BTreeSet<Account>,
    pub(super) games: Vec<GameId>,
    /// The tables of openings.
    pub(super) tables: Vec<TableId>,
}

/// A decided batch.
pub(crate) struct DecidedBatch<'a> {
    /// The answers in the order of the requests.
    pub(super) answers: Vec<Answer>,
    operations: Vec<DecidedOperation<'a>>,
    /// The books after the batch.
    pub(super) books: Books,
}

impl DecidedBatch<'_> {
    /// Writes what was decided, all or nothing.
    pub(super) async fn write(&self, connection: &mut PgConnection) -> Result<(), sqlx::Error> {
        if self.operations.is_empty() {
            return Ok(());
        }
        write_batch(connection, &self.operations, &self.books).await
    }
}

impl<'a> Plan<'a> {
    pub(super) fn new(requests: &'a [&'a Request]) -> Self {
        let accounts = || requests.iter().map(|request| &request.accounts);
        let made: BTreeSet<_> = accounts().flat_map(|accounts| &accounts.made).cloned().collect();
        let used = accounts().flat_map(|accounts| &accounts.used).cloned();
        let openings = requests.iter().filter_map(|request| request.opening.as_ref());
        Self {
            requests,
            accounts: used.chain(made.iter().cloned()).collect(),
            games: requests.iter().filter_map(|request| request.game).collect(),
            tables: openings.map(|opening| opening.table).collect(),
            made,
        }
    }

    pub(super) fn openings(&self) -> impl Iterator<Item = &'a GameStart> {
        self.requests.iter().filter_map(|request| request.opening.as_ref())
    }

    /// Returns the games whose accounts only the books name.
    pub(super) fn booked_games(&self) -> impl Iterator<Item = GameId> {
        let booked = self.requests.iter().filter(|request| request.accounts.of_booked_game);
        booked.filter_map(|request| request.game)
    }

    /// Adds the accounts of the games that only the books name.
    pub(super) fn add_booked_games(&mut self, games: &Games) {
        let booked = self.booked_games().filter_map(|game| games.by_id(game));
        let accounts: Vec<_> =
            booked.flat_map(|game| accounts_of_game(game.id, game.table, &game.players)).collect();
        self.accounts.extend(accounts);
    }

    /// Decides the batch against these books, in the order of the requests.
    pub(super) async fn decide(
        &self,
        connection: &mut PgConnection,
        house_ids: &BTreeMap<Account, i64>,
        (mut books, stored): BatchSnapshot,
    ) -> Result<DecidedBatch<'a>, sqlx::Error> {
        books.house_ids.clone_from(house_ids);
        books.win_limits = read_win_limits(connection, self.openings()).await?;
        let (answers, operations) = self.decide_in_order(stored, &mut books);
        Ok(DecidedBatch { answers, operations, books })
    }

    /// Returns the answers in the order of the requests, and the decided operations in the order of
    /// keys, which is the global order of inserts.
    fn decide_in_order(
        &self,
        stored: Vec<Option<StoredAnswer>>,
        books: &mut Books,
    ) -> (Vec<Answer>, Vec<DecidedOperation<'a>>) {
        let mut decided: BTreeMap<&str, DecidedOperation<'a>> = BTreeMap::new();
        let mut answers = Vec::with_capacity(self.requests.len());
        for ((place, request), stored) in (0..).zip(self.requests).zip(stored) {
            let twin = decided.get(request.key.as_str());
            let twin = twin.map(|twin| (twin.request.input_hash.to_vec(), twin.answer.clone()));
            answers.push(match twin.or(stored) {
                Some((input_hash, answer)) if input_hash == request.input_hash => Ok(answer),
                Some(_) => Err(LedgerError::KeyReused { key: request.key.clone() }),
                None => {
                    books.operation = place;
                    let answer = request.decide(books);
                    let transfers = mem::take(&mut books.transfers);
                    if let Ok(answer) = &answer {
                        let answer = answer.clone();
                        let operation = DecidedOperation { place, request, answer, transfers };
                        decided.insert(&request.key, operation);
                    }
                    answer
                }
            });
        }
        (answers, decided.into_values().collect())
    }
}
