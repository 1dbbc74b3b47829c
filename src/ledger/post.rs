//! Posting: a batch of operations becomes rows, in one transaction and few round trips.
//!
//! The phases, each for the whole batch: lock the games; make accounts that do not exist; lock
//! the accounts; read which keys are known and take ids for the others; decide every operation
//! in memory; write everything at once.
//!
//! Games are locked before accounts, each in ascending order of ids, and new accounts are made
//! between the two, in the order of their codes. Whoever waits in one phase holds nothing that
//! somebody in an earlier phase waits for, so there is no deadlock to be had. House accounts are
//! not locked at all: see `fold`.
//!
//! A known key is looked up after the locks are held. Two calls with one key name the same
//! accounts, so the second waits for the first and then finds its answer. Calls that share a key
//! and nothing else meet at the unique index; the loser is run again and reads.

use std::collections::{BTreeMap, BTreeSet};

use bahay_engine::coins::Coins;
use serde_json::Value;
use sqlx::PgConnection;

use super::books::{Books, Standing};
use super::chart::Account;
use super::error::LedgerError;
use super::operation::{Operation, Request, seats_of};
use super::{correct, grant, open_game, settle, void};
use crate::games::store::{Game, Games, expect_rows};

/// What an operation answered, as stored.
pub(super) type Answer = Result<Value, LedgerError>;

/// A key, asked for again or for the first time.
struct Numbered {
    /// For an operation of its own, if it turns out to be one.
    id: i64,
    known: Option<Known>,
}

struct Known {
    input_hash: Vec<u8>,
    answer: Value,
}

/// An operation that was decided in this batch.
struct Decided<'a> {
    id: i64,
    request: &'a Request,
    answer: Value,
    moves_coins: bool,
}

/// Runs a batch in the caller's transaction. The answers are in the order of the requests, and
/// true only once that transaction is committed.
pub(super) async fn run_in_tx(
    connection: &mut PgConnection,
    house_ids: &BTreeMap<Account, i64>,
    requests: &[&Request],
) -> Result<Vec<Answer>, sqlx::Error> {
    let mut games = lock_games(connection, requests).await?;
    let new = requests.iter().flat_map(|request| request.operation.accounts_to_make());
    make_accounts(connection, &new.collect()).await?;
    let standings = lock_accounts(connection, accounts_of(requests, &games)).await?;
    let mut books = Books::new(standings, house_ids.clone());
    let numbers = number(connection, requests).await?;

    let mut decided: BTreeMap<&str, Decided<'_>> = BTreeMap::new();
    let mut answers = Vec::with_capacity(requests.len());
    for (request, Numbered { id, known }) in requests.iter().zip(numbers) {
        let known = match decided.get(request.key.as_str()) {
            Some(twin) => Some((twin.request.input_hash.to_vec(), twin.answer.clone())),
            None => known.map(|known| (known.input_hash, known.answer)),
        };
        let answer = match known {
            Some((input_hash, answer)) if input_hash == request.input_hash => Ok(answer),
            Some(_) => Err(LedgerError::KeyReused { key: request.key.clone() }),
            None => {
                let transfers = books.transfers().len();
                let answer = decide(&request.operation, id, &mut books, &mut games);
                if let Ok(answer) = &answer {
                    let answer = answer.clone();
                    let moves_coins = books.transfers().len() > transfers;
                    decided.insert(&request.key, Decided { id, request, answer, moves_coins });
                }
                answer
            }
        };
        answers.push(answer);
    }

    if !decided.is_empty() {
        let mut decided: Vec<_> = decided.into_values().collect();
        decided.sort_by_key(|one| one.id);
        write(connection, &decided, &books).await?;
        games.write_in_tx(connection).await?;
    }
    Ok(answers)
}

fn decide(operation: &Operation, id: i64, books: &mut Books, games: &mut Games) -> Answer {
    let answer = match operation {
        Operation::Open(input) => serde_json::to_value(open_game::decide(input, id, books, games)?),
        Operation::Settle(input) => serde_json::to_value(settle::decide(input, id, books, games)?),
        Operation::Void(input) => serde_json::to_value(void::decide(input, id, books, games)?),
        Operation::Grant(input) => serde_json::to_value(grant::decide(input, id, books)?),
        Operation::Adjust(input) => serde_json::to_value(correct::adjust(input, id, books)?),
        Operation::Reverse(input) => serde_json::to_value(correct::reverse(input, id, books)?),
    };
    answer.map_err(|error| LedgerError::broken(error.to_string()))
}

async fn lock_games(
    connection: &mut PgConnection,
    requests: &[&Request],
) -> Result<Games, sqlx::Error> {
    let mut ids = Vec::new();
    let mut tables = Vec::new();
    for request in requests {
        ids.extend(request.operation.game());
        match &request.operation {
            Operation::Open(input) => tables.push(input.table),
            Operation::Settle(_)
            | Operation::Void(_)
            | Operation::Grant(_)
            | Operation::Adjust(_)
            | Operation::Reverse(_) => {}
        }
    }
    if ids.is_empty() {
        return Ok(Games::default());
    }
    Games::lock_in_tx(connection, &ids, &tables).await
}

/// Every account but the house's that these operations may touch.
fn accounts_of(requests: &[&Request], games: &Games) -> BTreeSet<Account> {
    let mut accounts = BTreeSet::new();
    for request in requests {
        accounts.extend(request.operation.accounts_to_make());
        match &request.operation {
            Operation::Open(input) => {
                accounts.extend(input.players.iter().copied().map(Account::Wallet));
            }
            Operation::Settle(_) | Operation::Void(_) => {
                let game = request.operation.game().and_then(|game| games.by_id(game));
                accounts.extend(game.into_iter().flat_map(accounts_of_game));
            }
            Operation::Reverse(input) => {
                let sides = input.moves.iter().flat_map(|one| [&one.source, &one.destination]);
                accounts.extend(sides.into_iter().filter(|side| !side.is_house()).cloned());
            }
            Operation::Grant(_) | Operation::Adjust(_) => {}
        }
    }
    accounts
}

fn accounts_of_game(game: &Game) -> impl Iterator<Item = Account> {
    let seats = seats_of(&game.players);
    let seats =
        seats.flat_map(|(seat, player)| [Account::Stake(game.id, seat), Account::Wallet(player)]);
    seats.chain([Account::Pot(game.table)])
}

/// Makes the accounts that do not exist, in the order of their codes.
pub(super) async fn make_accounts(
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

/// Locks accounts in ascending order of their ids and reads how they stand. What does not exist
/// is not in the answer.
async fn lock_accounts(
    connection: &mut PgConnection,
    accounts: BTreeSet<Account>,
) -> Result<BTreeMap<Account, Standing>, sqlx::Error> {
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
    let standings = rows.into_iter().filter_map(|row| {
        let standing = Standing {
            id: row.id,
            balance: Coins::from_hundredths(row.balance),
            version: row.version,
            version_locked: row.version,
        };
        Some((by_code.remove(&row.code)?, standing))
    });
    Ok(standings.collect())
}

/// The ids of house accounts, which are made if need be. They are not locked.
pub(super) async fn house_ids(
    connection: &mut PgConnection,
    accounts: &BTreeSet<Account>,
) -> Result<BTreeMap<Account, i64>, sqlx::Error> {
    make_accounts(connection, accounts).await?;
    let mut by_code: BTreeMap<_, _> =
        accounts.iter().map(|account| (account.to_string(), account.clone())).collect();
    let codes: Vec<_> = by_code.keys().cloned().collect();
    let rows = sqlx::query!("select a.id, a.code from accounts a where a.code = any($1)", &codes)
        .fetch_all(connection)
        .await?;
    Ok(rows.into_iter().filter_map(|row| Some((by_code.remove(&row.code)?, row.id))).collect())
}

/// In the order of the requests, and with ids that ascend in that order.
async fn number(
    connection: &mut PgConnection,
    requests: &[&Request],
) -> Result<Vec<Numbered>, sqlx::Error> {
    let keys: Vec<_> = requests.iter().map(|request| request.key.clone()).collect();
    let rows = sqlx::query!(
        r#"
        select nextval('operation_ids') as "id!", o.input_hash as "input_hash?",
            o.answer as "answer?"
        from unnest($1::text[]) with ordinality as k (key, place)
        left join operations o on o.key = k.key
        order by k.place
        "#,
        &keys
    )
    .fetch_all(connection)
    .await?;
    let mut ids: Vec<_> = rows.iter().map(|row| row.id).collect();
    ids.sort_unstable();
    let numbered = rows.into_iter().zip(ids).map(|(row, id)| {
        let known = row.input_hash.zip(row.answer);
        Numbered { id, known: known.map(|(input_hash, answer)| Known { input_hash, answer }) }
    });
    Ok(numbered.collect())
}

/// Writes operations, transfers, entries and balances: one statement, so one round trip.
async fn write(
    connection: &mut PgConnection,
    decided: &[Decided<'_>],
    books: &Books,
) -> Result<(), sqlx::Error> {
    let operations = operation_columns(decided);
    let (transfers, entries) = (books.transfers(), books.entries());
    let mut changed: Vec<_> = books.changed().collect();
    changed.sort_unstable_by_key(|standing| standing.id);
    let written = sqlx::query!(
        r#"
        with new_operations as (
            insert into operations (id, key, kind, input_hash, answer, game)
            select o.id, o.key, o.kind, o.input_hash, o.answer, o.game
            from unnest($1::bigint[], $2::text[], $3::text[], $4::bytea[], $5::jsonb[], $6::uuid[])
                as o (id, key, kind, input_hash, answer, game)
        ),
        new_transfers as (
            insert into transfers (operation, number, code, source, destination, amount)
            select t.operation, t.number, t.code, t.source, t.destination, t.amount
            from unnest(
                $7::bigint[], $8::smallint[], $9::text[], $10::bigint[], $11::bigint[],
                $12::bigint[]
            ) as t (operation, number, code, source, destination, amount)
        ),
        new_entries as (
            insert into entries (
                account, version, operation, number, amount, balance_before, balance_after
            )
            select e.account, e.version, e.operation, e.number, e.amount, e.balance_before,
                e.balance_after
            from unnest(
                $13::bigint[], $14::bigint[], $15::bigint[], $16::smallint[], $17::bigint[],
                $18::bigint[], $19::bigint[]
            ) as e (account, version, operation, number, amount, balance_before, balance_after)
        ),
        to_fold as (
            insert into unfolded (operation)
            select u.operation from unnest($20::bigint[]) as u (operation)
        )
        update accounts a
        set balance = s.balance, version = s.version
        from unnest($21::bigint[], $22::bigint[], $23::bigint[], $24::bigint[])
            as s (id, balance, version, version_locked)
        where a.id = s.id and a.version = s.version_locked
        "#,
        &operations.ids,
        &operations.keys,
        &operations.kinds,
        &operations.input_hashes,
        &operations.answers,
        operations.games as _,
        &column(transfers, |row| row.operation),
        &column(transfers, |row| row.number),
        &column(transfers, |row| row.code.as_str().to_owned()),
        &column(transfers, |row| row.source),
        &column(transfers, |row| row.destination),
        &column(transfers, |row| row.amount.hundredths()),
        &column(&entries, |row| row.account),
        &column(&entries, |row| row.version),
        &column(&entries, |row| row.operation),
        &column(&entries, |row| row.number),
        &column(&entries, |row| row.amount.hundredths()),
        &column(&entries, |row| row.balance_before.hundredths()),
        &column(&entries, |row| row.balance_after.hundredths()),
        &operations.to_fold,
        &column(&changed, |row| row.id),
        &column(&changed, |row| row.balance.hundredths()),
        &column(&changed, |row| row.version),
        &column(&changed, |row| row.version_locked)
    )
    .execute(connection)
    .await?;
    expect_rows(written.rows_affected(), changed.len(), "balances")
}

#[derive(Default)]
struct OperationColumns {
    ids: Vec<i64>,
    keys: Vec<String>,
    kinds: Vec<String>,
    input_hashes: Vec<Vec<u8>>,
    answers: Vec<Value>,
    games: Vec<Option<uuid::Uuid>>,
    to_fold: Vec<i64>,
}

fn operation_columns(decided: &[Decided<'_>]) -> OperationColumns {
    let mut columns = OperationColumns::default();
    for Decided { id, request, answer, moves_coins } in decided {
        columns.ids.push(*id);
        columns.keys.push(request.key.clone());
        columns.kinds.push(request.operation.kind().to_owned());
        columns.input_hashes.push(request.input_hash.to_vec());
        columns.answers.push(answer.clone());
        columns.games.push(request.operation.game().map(|game| game.0));
        columns.to_fold.extend(moves_coins.then_some(*id));
    }
    columns
}

fn column<R, T>(rows: &[R], field: impl Fn(&R) -> T) -> Vec<T> {
    rows.iter().map(field).collect()
}
