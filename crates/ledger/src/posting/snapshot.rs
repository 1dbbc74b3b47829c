//! The books of a batch, read by one call of the database function `books_of`.

use std::collections::BTreeMap;

use bahay_engine::coins::Coins;
use bahay_engine::table::{GameId, PlayerId, TableId};
use serde_json::Value;
use sqlx::PgConnection;
use uuid::Uuid;

use super::account_ids::AccountIds;
use super::plan::{BatchSnapshot, Plan};
use crate::books::{AccountState, Books, LedgerGame};
use crate::chart::Account;

/// Reads the snapshot as one row of arrays: accounts and keys by index, games and their seats.
/// Accounts that are to be created get their ids.
pub(crate) async fn read_snapshot(
    connection: &mut PgConnection,
    plan: &Plan<'_>,
    account_ids: &AccountIds,
) -> Result<BatchSnapshot, sqlx::Error> {
    let Plan { requests, accounts, made, .. } = plan;
    let games: Vec<_> = plan.games.iter().map(|game| game.0).collect();
    let tables: Vec<_> = plan.tables.iter().map(|table| table.0).collect();
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
    .fetch_one(&mut *connection)
    .await?;

    let ids = row.account_ids.unwrap_or_default();
    let balances = row.balances.unwrap_or_default().into_iter().map(Option::unwrap_or_default);
    let versions = row.versions.unwrap_or_default().into_iter().map(Option::unwrap_or_default);
    let input_hashes = row.input_hashes.unwrap_or_default();
    if ids.len() != accounts.len() || input_hashes.len() != requests.len() {
        return Err(sqlx::Error::Decode("books_of returned too few values".into()));
    }
    let mut books = Books::default();
    let mut missing = Vec::new();
    for (account, ((id, balance), version)) in
        accounts.iter().zip(ids.into_iter().zip(balances).zip(versions))
    {
        if let Some(id) = id {
            let account_state = AccountState::from_columns(id, balance, version);
            books.account_states.insert(account.clone(), account_state);
        } else if made.contains(account) {
            missing.push(account);
        }
        // Any other account has no balance, and nothing is booked on it.
    }
    let new_ids = account_ids.take_ids(connection, missing.len()).await?;
    let new = missing.into_iter().cloned().zip(new_ids.into_iter().map(AccountState::new));
    books.account_states.extend(new);
    let stored = input_hashes.into_iter().zip(row.answers.unwrap_or_default());
    let stored = stored.map(|(input_hash, answer)| input_hash.zip(answer)).collect();

    let mut seats = BTreeMap::<Uuid, (Vec<_>, Vec<_>)>::new();
    let stakes =
        row.seat_players.unwrap_or_default().into_iter().zip(row.seat_stakes.unwrap_or_default());
    for (game, (player, stake)) in row.seat_games.unwrap_or_default().into_iter().zip(stakes) {
        let (players, stakes) = seats.entry(game).or_default();
        players.push(PlayerId(player));
        stakes.push(Coins::from_hundredths(stake));
    }
    let tables = row.table_ids.unwrap_or_default().into_iter();
    let rooms = row.rooms.unwrap_or_default().into_iter();
    let states = row.states.unwrap_or_default().into_iter();
    let antes = row.antes.unwrap_or_default().into_iter();
    let columns = tables.zip(rooms).zip(states).zip(antes);
    for (id, (((table, room), state), ante)) in
        row.game_ids.unwrap_or_default().into_iter().zip(columns)
    {
        let (players, stakes) = seats.remove(&id).unwrap_or_default();
        let id = GameId(id);
        let table = TableId(table);
        let state = bahay_db::parse_column(&state)?;
        let ante = Coins::from_hundredths(ante);
        books.games.add(LedgerGame { id, table, room, state, ante, players, stakes });
    }
    Ok((books, stored))
}
