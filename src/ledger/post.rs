//! Posting: a batch of operations becomes rows.
//!
//! Whichever way, the same is done: it is read how the games and accounts stand and which keys are
//! known; every operation is decided in memory; and `write` writes everything in one call. Here,
//! what is read is locked first, for as long as the caller's transaction lasts; `attempt` reads
//! without locks and finds out while writing.
//!
//! The phases here, each for the whole batch: lock the games; make accounts that do not exist;
//! lock the accounts; look up the keys; decide; write. Games are locked before accounts, each in
//! ascending order of ids, and new accounts are made between the two, in the order of their codes.
//! Operations are written last, in the order of their keys. Whoever waits in one phase holds
//! nothing that somebody in an earlier phase waits for, so there is no deadlock to be had. House
//! accounts are not locked at all: see `fold`.
//!
//! A known key is looked up after the locks are held. Two calls with one key name the same
//! accounts, so the second waits for the first and then finds its answer. Calls that share a key
//! and nothing else meet at the unique index; the loser is run again and reads.

use std::collections::{BTreeMap, BTreeSet};

use bahay_engine::coins::Coins;
use bahay_engine::table::{GameId, TableId};
use serde_json::Value;
use sqlx::PgConnection;

use super::books::{Books, AccountState};
use super::chart::Account;
use super::error::LedgerError;
use super::operation::{Operation, Request, accounts_of_game};
use super::write::{DecidedOperation, write_batch};
use super::{
    allowance, correct, deleted_players, grant, open_game, refund_pot, room_winnings, settle, sweep, void,
};
use crate::archive::store::Games;

/// What an operation answered, as stored.
pub(super) type Answer = Result<Value, LedgerError>;

/// What is stored under a key.
pub(super) struct StoredAnswer {
    pub(super) input_hash: Vec<u8>,
    pub(super) answer: Value,
}

/// Runs a batch in the caller's transaction. The answers are in the order of the requests, and
/// true only once that transaction is committed.
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
    let known = read_stored_answers(connection, requests).await?;
    let (answers, decided) = decide_all(requests, known, &mut books, &mut games);
    if !decided.is_empty() {
        write_batch(connection, &decided, &books, &games).await?;
    }
    Ok(answers)
}

/// Decides a batch in the order in which it came. What is decided is in the order of keys, in
/// which all writers add their rows.
pub(super) fn decide_all<'a>(
    requests: &[&'a Request],
    stored: Vec<Option<StoredAnswer>>,
    books: &mut Books,
    games: &mut Games,
) -> (Vec<Answer>, Vec<DecidedOperation<'a>>) {
    let mut decided: BTreeMap<&str, DecidedOperation<'a>> = BTreeMap::new();
    let mut answers = Vec::with_capacity(requests.len());
    for ((place, request), known) in (0..).zip(requests).zip(known) {
        let known = match decided.get(request.key.as_str()) {
            Some(twin) => Some((twin.request.input_hash.to_vec(), twin.answer.clone())),
            None => known.map(|known| (known.input_hash, known.answer)),
        };
        let answer = match known {
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

/// `id` stands for the operation in this batch.
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

/// The games that these operations name, and the tables at which games are to be opened.
pub(super) fn games_of(requests: &[&Request]) -> (Vec<GameId>, Vec<TableId>) {
    let games = requests.iter().filter_map(|request| request.operation.game());
    let tables = requests.iter().filter_map(|request| request.operation.opening_table());
    (games.collect(), tables.collect())
}

/// Every account but the house's that these operations may touch.
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

/// Makes the accounts that do not exist, in the order of their codes.
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

/// Locks accounts in ascending order of their ids and reads how they stand. What does not exist
/// is not in the answer.
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

/// The ids of house accounts, which are made if need be. They are not locked.
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

/// In the order of the requests.
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
    let known = rows.into_iter().map(|row| Some((row.input_hash?, row.answer?)));
    Ok(known.map(|known| known.map(|(input_hash, answer)| StoredAnswer { input_hash, answer })).collect())
}
