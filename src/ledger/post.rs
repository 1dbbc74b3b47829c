//! Posting: turns a batch of operations into rows.
//!
//! Optimistic and locked posting share their steps: read the games, the accounts and the stored
//! answers; decide every operation in memory; and write everything in one call of `write`. Here the
//! rows are locked before they are read, until the caller's transaction ends; `optimistic` reads
//! without locks and detects conflicts on writing.
//!
//! The phases, each for the whole batch: lock the games; create missing accounts; lock the
//! accounts; look up the keys; decide; write. Games are locked before accounts, each in ascending
//! order of ids; new accounts are created between the two, in the order of their codes. Operations
//! are written last, in the order of their keys. A transaction that waits in one phase holds no
//! lock that a transaction in an earlier phase waits for, so deadlocks are impossible. House
//! accounts are not locked: see `house_projection`.
//!
//! Keys are looked up after the locks are taken. Two calls with the same key name the same
//! accounts, so the second one waits for the first and then finds its answer. Calls that share only
//! a key collide at the unique index; the second one is retried and reads the answer.

use std::collections::{BTreeMap, BTreeSet};

use bahay_engine::coins::Coins;
use bahay_engine::table::{GameId, TableId};
use serde_json::Value;
use sqlx::PgConnection;

use super::books::{AccountState, Books};
use super::chart::Account;
use super::error::LedgerError;
use super::operation::{Operation, Request, accounts_of_game};
use super::write::{DecidedOperation, write_batch};
use super::{
    allowance, correct, deleted_players, grant, open_game, refund_pot, room_winnings, settle,
    sweep, void,
};
use crate::archive::store::Games;

/// The answer of an operation, as stored.
pub(super) type Answer = Result<Value, LedgerError>;

/// The input hash and the answer stored under a key.
pub(super) struct StoredAnswer {
    pub(super) input_hash: Vec<u8>,
    pub(super) answer: Value,
}

/// Posts a batch in the caller's transaction. The answers are in the order of the requests, and
/// valid only after the transaction is committed.
pub(super) async fn run_in_tx(
    connection: &mut PgConnection,
    house_ids: &BTreeMap<Account, i64>,
    requests: &[&Request],
) -> Result<Vec<Answer>, sqlx::Error> {
    let mut games = lock_games(connection, requests).await?;
    let new = requests.iter().flat_map(|request| request.operation.accounts_to_create());
    create_accounts(connection, &new.collect()).await?;
    let account_states = lock_accounts(connection, accounts_of(requests, &games)).await?;
    let mut books = Books::new(account_states, house_ids.clone());
    let mut win_limits = allowance::read_for_openings(connection, requests).await?;
    win_limits.extend(room_winnings::read_limits_for_openings(connection, requests).await?);
    books.set_win_limits(win_limits);
    books.set_deleted_players(deleted_players::read_for_openings(connection, requests).await?);
    let stored = read_stored_answers(connection, requests).await?;
    let (answers, decided) = decide_all(requests, stored, &mut books, &mut games);
    if !decided.is_empty() {
        write_batch(connection, &decided, &books, &games).await?;
    }
    Ok(answers)
}

/// Decides a batch in the order of the requests. The decided operations are returned in the order
/// of keys, which is the global order of inserts.
pub(super) fn decide_all<'a>(
    requests: &[&'a Request],
    stored: Vec<Option<StoredAnswer>>,
    books: &mut Books,
    games: &mut Games,
) -> (Vec<Answer>, Vec<DecidedOperation<'a>>) {
    let mut decided: BTreeMap<&str, DecidedOperation<'a>> = BTreeMap::new();
    let mut answers = Vec::with_capacity(requests.len());
    for ((place, request), stored) in (0..).zip(requests).zip(stored) {
        let stored = match decided.get(request.key.as_str()) {
            Some(twin) => Some((twin.request.input_hash.to_vec(), twin.answer.clone())),
            None => stored.map(|stored| (stored.input_hash, stored.answer)),
        };
        let answer = match stored {
            Some((input_hash, answer)) if input_hash == request.input_hash => Ok(answer),
            Some(_) => Err(LedgerError::KeyReused { key: request.key.clone() }),
            None => {
                let answer = decide(&request.operation, place, books, games);
                if let Ok(answer) = &answer {
                    let answer = answer.clone();
                    decided.insert(&request.key, DecidedOperation { place, request, answer });
                }
                answer
            }
        };
        answers.push(answer);
    }
    (answers, decided.into_values().collect())
}

/// Decides one operation. `id` identifies it within this batch.
fn decide(operation: &Operation, id: i64, books: &mut Books, games: &mut Games) -> Answer {
    let answer = match operation {
        Operation::Open(input) => serde_json::to_value(open_game::decide(input, id, books, games)?),
        Operation::Settle(input) => serde_json::to_value(settle::decide(input, id, books, games)?),
        Operation::Void(input) => serde_json::to_value(void::decide(input, id, books, games)?),
        Operation::Grant(input) => serde_json::to_value(grant::decide(input, id, books)?),
        Operation::Sweep(input) => serde_json::to_value(sweep::decide(input, id, books)?),
        Operation::Adjust(input) => serde_json::to_value(correct::adjust(input, id, books)?),
        Operation::Reverse(input) => serde_json::to_value(correct::reverse(input, id, books)?),
        Operation::RefundPot(input) => serde_json::to_value(refund_pot::decide(input, id, books)?),
    };
    answer.map_err(|error| LedgerError::broken(error.to_string()))
}

async fn lock_games(
    connection: &mut PgConnection,
    requests: &[&Request],
) -> Result<Games, sqlx::Error> {
    let (ids, tables) = games_of(requests);
    if ids.is_empty() {
        return Ok(Games::default());
    }
    Games::lock_in_tx(connection, &ids, &tables).await
}

/// Returns the games that these operations name, and the tables of openings.
pub(super) fn games_of(requests: &[&Request]) -> (Vec<GameId>, Vec<TableId>) {
    let games = requests.iter().filter_map(|request| request.operation.game());
    let tables = requests.iter().filter_map(|request| request.operation.opening_table());
    (games.collect(), tables.collect())
}

/// Returns every account that these operations may touch, except house accounts.
fn accounts_of(requests: &[&Request], games: &Games) -> BTreeSet<Account> {
    let mut accounts = BTreeSet::new();
    for request in requests {
        accounts.extend(request.operation.accounts_to_create());
        match &request.operation {
            Operation::Open(input) => {
                accounts.extend(input.players.iter().copied().map(Account::Wallet));
            }
            Operation::Settle(_) | Operation::Void(_) => {
                let game = request.operation.game().and_then(|game| games.by_id(game));
                if let Some(game) = game {
                    accounts.extend(accounts_of_game(game.id, game.table, &game.players));
                }
            }
            Operation::Reverse(input) => {
                let sides = input.moves.iter().flat_map(|one| [&one.source, &one.destination]);
                accounts.extend(sides.into_iter().filter(|side| !side.is_house()).cloned());
            }
            Operation::RefundPot(input) => accounts.extend(input.accounts()),
            Operation::Grant(_) | Operation::Sweep(_) | Operation::Adjust(_) => {}
        }
    }
    accounts
}

/// Creates the accounts that do not exist, in the order of their codes.
pub(super) async fn create_accounts(
    connection: &mut PgConnection,
    accounts: &BTreeSet<Account>,
) -> Result<(), sqlx::Error> {
    if accounts.is_empty() {
        return Ok(());
    }
    let codes: Vec<_> = accounts.iter().map(Account::to_string).collect();
    let kinds: Vec<_> = accounts.iter().map(|account| account.kind().to_owned()).collect();
    let players: Vec<_> =
        accounts.iter().map(|account| account.player().map(|player| player.0)).collect();
    sqlx::query!(
        r#"
        insert into accounts (code, kind, player)
        select n.code, n.kind, n.player
        from unnest($1::text[], $2::text[], $3::uuid[]) as n (code, kind, player)
        where not exists (select from accounts a where a.code = n.code)
        order by n.code
        on conflict (code) do nothing
        "#,
        &codes,
        &kinds,
        players as _
    )
    .execute(connection)
    .await?;
    Ok(())
}

/// Locks accounts in ascending order of their ids and returns their states. The result omits
/// accounts that do not exist.
async fn lock_accounts(
    connection: &mut PgConnection,
    accounts: BTreeSet<Account>,
) -> Result<BTreeMap<Account, AccountState>, sqlx::Error> {
    let mut by_code: BTreeMap<_, _> =
        accounts.into_iter().map(|account| (account.to_string(), account)).collect();
    let codes: Vec<_> = by_code.keys().cloned().collect();
    let rows = sqlx::query!(
        r#"
        select a.id, a.code, a.balance, a.version
        from accounts a
        where a.code = any($1)
        order by a.id
        for no key update
        "#,
        &codes
    )
    .fetch_all(connection)
    .await?;
    let account_states = rows.into_iter().filter_map(|row| {
        let account_state = AccountState {
            id: row.id,
            balance: Coins::from_hundredths(row.balance),
            version: row.version,
            version_read: row.version,
        };
        Some((by_code.remove(&row.code)?, account_state))
    });
    Ok(account_states.collect())
}

/// Returns the ids of house accounts, which are created if they do not exist. They are not locked.
pub(super) async fn house_ids(
    connection: &mut PgConnection,
    accounts: &BTreeSet<Account>,
) -> Result<BTreeMap<Account, i64>, sqlx::Error> {
    create_accounts(connection, accounts).await?;
    let mut by_code: BTreeMap<_, _> =
        accounts.iter().map(|account| (account.to_string(), account.clone())).collect();
    let codes: Vec<_> = by_code.keys().cloned().collect();
    let rows = sqlx::query!("select a.id, a.code from accounts a where a.code = any($1)", &codes)
        .fetch_all(connection)
        .await?;
    Ok(rows.into_iter().filter_map(|row| Some((by_code.remove(&row.code)?, row.id))).collect())
}

/// Returns the stored answers in the order of the requests.
async fn read_stored_answers(
    connection: &mut PgConnection,
    requests: &[&Request],
) -> Result<Vec<Option<StoredAnswer>>, sqlx::Error> {
    let keys: Vec<_> = requests.iter().map(|request| request.key.clone()).collect();
    let rows = sqlx::query!(
        r#"
        select o.input_hash as "input_hash?", o.answer as "answer?"
        from unnest($1::text[]) with ordinality as k (key, place)
        left join operation_keys n on n.key = k.key
        left join operations o on o.id = n.operation
        order by k.place
        "#,
        &keys
    )
    .fetch_all(connection)
    .await?;
    let stored = rows.into_iter().map(|row| Some((row.input_hash?, row.answer?)));
    Ok(stored
        .map(|stored| stored.map(|(input_hash, answer)| StoredAnswer { input_hash, answer }))
        .collect())
}
