//! Optimistic posting of a batch: two round trips, without locks in between and without a
//! transaction around them.
//!
//! The database function `books_of` reads games, accounts and keys in one snapshot. All operations
//! are decided in memory. `write` then locks what was read, in the global lock order, and writes
//! only if every account still has the version that was read and every game that ends is still
//! open. So the result equals a decision under these locks from the beginning. Otherwise nothing is
//! written, and the caller falls back to `post`, which waits for the locks.
//!
//! A value that is read and not written is valid as of the read, which lies within the call: a
//! stored answer was committed before, and a refusal was right when the books were read. The state
//! of a table or a game is of the same snapshot as the keys, so a game that was settled under this
//! very key is never refused as settled. Two cases are rejected by constraints on writing: a key
//! that another process has used in the meantime, and a second open game at a table. The refusal of
//! a seat that cannot pay is stored although no coins move: the versions of the insufficient
//! wallets are compared, and a missing wallet did not exist at the time of the read.
//!
//! Deleted accounts are not read here. The write rejects a game with a deleted player, and `post`
//! then finds the seat.
//!
//! If the answer to the second statement is lost, a rerun of the batch finds its keys.

use std::collections::{BTreeMap, BTreeSet};

use bahay_engine::coins::Coins;
use serde_json::Value;
use sqlx::PgConnection;

use super::books::{AccountState, Books};
use super::chart::Account;
use super::operation::Request;
use super::post::{Answer, StoredAnswer, decide_all, games_of};
use super::write::{is_version_conflict, write_batch};
use super::{allowance, room_winnings};
use crate::archive::store::{GameRow, Games};
use crate::db::Failure;

/// Posts a batch on a connection that is in no transaction. Returns `None`, with nothing written,
/// after a version conflict or if an input does not name all its accounts.
pub(super) async fn try_post(
    connection: &mut PgConnection,
    house_ids: &BTreeMap<Account, i64>,
    requests: &[&Request],
) -> Result<Option<Vec<Answer>>, sqlx::Error> {
    let named = requests.iter().map(|request| request.operation.named_accounts());
    let Some(named) = named.collect::<Option<Vec<_>>>() else {
        return Ok(None);
    };
    let made = requests.iter().flat_map(|request| request.operation.accounts_to_create());
    let accounts = named.into_iter().flatten().collect();
    let BatchSnapshot { mut games, account_states, stored } =
        read_snapshot(connection, requests, &accounts, &made.collect()).await?;
    let mut books = Books::new(account_states, house_ids.clone());
    let mut win_limits = allowance::read_for_openings(connection, requests).await?;
    win_limits.extend(room_winnings::read_limits_for_openings(connection, requests).await?);
    books.set_win_limits(win_limits);
    let (answers, decided) = decide_all(requests, stored, &mut books, &mut games);
    if decided.is_empty() {
        return Ok(Some(answers));
    }
    match write_batch(connection, &decided, &books, &games).await {
        Ok(()) => Ok(Some(answers)),
        Err(error)
            if is_version_conflict(&error) || Failure::classify(&error) == Failure::Contended =>
        {
            tracing::debug!(%error, "the books changed concurrently");
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

/// A snapshot of the books, as far as a batch needs it.
struct BatchSnapshot {
    games: Games,
    account_states: BTreeMap<Account, AccountState>,
    stored: Vec<Option<StoredAnswer>>,
}

/// Reads the snapshot as one row of arrays: accounts and keys by index, games and their seats.
async fn read_snapshot(
    connection: &mut PgConnection,
    requests: &[&Request],
    accounts: &BTreeSet<Account>,
    made: &BTreeSet<Account>,
) -> Result<BatchSnapshot, sqlx::Error> {
    let (games, tables) = games_of(requests);
    let games: Vec<_> = games.iter().map(|game| game.0).collect();
    let tables: Vec<_> = tables.iter().map(|table| table.0).collect();
    let keys: Vec<_> = requests.iter().map(|request| request.key.as_str()).collect();
    let codes: Vec<_> = accounts.iter().map(Account::to_string).collect();
    let row = sqlx::query!(
        r#"
        select b.account_ids as "account_ids?: Vec<Option<i64>>",
            b.balances as "balances?: Vec<Option<i64>>",
            b.versions as "versions?: Vec<Option<i64>>",
            b.input_hashes as "input_hashes?: Vec<Option<Vec<u8>>>",
            b.answers as "answers?: Vec<Option<Value>>", b.game_ids as "game_ids?",
            b.table_ids as "table_ids?", b.rooms as "rooms?", b.states as "states?",
            b.antes as "antes?", b.seat_games as "seat_games?", b.seat_players as "seat_players?",
            b.seat_stakes as "seat_stakes?"
        from books_of($1, $2, $3, $4) b
        "#,
        &codes,
        &keys as _,
        &games,
        &tables
    )
    .fetch_one(connection)
    .await?;

    let ids = row.account_ids.unwrap_or_default();
    let balances = row.balances.unwrap_or_default().into_iter().map(Option::unwrap_or_default);
    let versions = row.versions.unwrap_or_default().into_iter().map(Option::unwrap_or_default);
    let input_hashes = row.input_hashes.unwrap_or_default();
    if ids.len() != accounts.len() || input_hashes.len() != requests.len() {
        return Err(sqlx::Error::Decode("books_of returned too few values".into()));
    }
    let mut account_states = BTreeMap::new();
    let mut places = 0;
    for (account, ((id, balance), version)) in
        accounts.iter().zip(ids.into_iter().zip(balances).zip(versions))
    {
        let id = match id {
            Some(id) => id,
            None if made.contains(account) => {
                places += 1;
                -places
            }
            // The account has no balance, and nothing is booked on it.
            None => continue,
        };
        let balance = Coins::from_hundredths(balance);
        let account_state = AccountState { id, balance, version, version_read: version };
        account_states.insert(account.clone(), account_state);
    }
    let stored = input_hashes.into_iter().zip(row.answers.unwrap_or_default());
    let stored = stored.map(|(input_hash, answer)| {
        let (input_hash, answer) = input_hash.zip(answer)?;
        Some(StoredAnswer { input_hash, answer })
    });

    let mut seats = BTreeMap::<_, (Vec<_>, Vec<_>)>::new();
    let stakes =
        row.seat_players.unwrap_or_default().into_iter().zip(row.seat_stakes.unwrap_or_default());
    for (game, (player, stake)) in row.seat_games.unwrap_or_default().into_iter().zip(stakes) {
        let (players, stakes) = seats.entry(game).or_default();
        players.push(player);
        stakes.push(stake);
    }
    let mut games = Games::default();
    let ids = row.game_ids.unwrap_or_default().into_iter();
    let tables = row.table_ids.unwrap_or_default().into_iter();
    let rooms = row.rooms.unwrap_or_default().into_iter();
    let states = row.states.unwrap_or_default().into_iter();
    let antes = row.antes.unwrap_or_default().into_iter();
    for ((((id, table_id), room), state), ante) in ids.zip(tables).zip(rooms).zip(states).zip(antes)
    {
        let (players, stakes) = seats.remove(&id).unwrap_or_default();
        games.add(GameRow { id, table_id, room, state, ante, players, stakes })?;
    }
    Ok(BatchSnapshot { games, account_states, stored: stored.collect() })
}
