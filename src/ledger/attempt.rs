//! The first attempt at a batch: two round trips, no locks in between and no transaction but the
//! second statement's own.
//!
//! The database's function `read_books` reads games, accounts and keys, so they are all of one
//! moment. Everything is decided in memory. `write` then locks what was read, in the order in which
//! all lock, and writes only if every account still has the version that was read and every game
//! that ends is still open. So what is written is what would have been decided under those locks from
//! the beginning. Otherwise nothing is written, and the caller goes the way of `post`, which waits
//! for its turn.
//!
//! What is only read and not written is as true as the moment of reading, which lies within the
//! call: a stored answer was committed before; a refusal was right when the books were read. That
//! a table is busy, or a game open, settled or unknown, is of the same moment as the keys, so a
//! game that was settled by this very key is never refused for being settled. Two things are
//! refused by constraints while writing: a key that somebody else has used in the meantime, and a
//! second open game at a table. That a seat cannot pay is stored although nothing moves: the
//! wallets that were found too small are among the accounts whose versions are compared, and who
//! had no wallet at all had none at the moment of reading.
//!
//! When the answer to the second statement is lost, the batch is run again and finds its keys.

use std::collections::{BTreeMap, BTreeSet};

use bahay_engine::coins::Coins;
use sqlx::PgConnection;

use super::books::{Books, Standing};
use super::chart::Account;
use super::operation::Request;
use super::post::{Answer, Known, decide_all, games_of};
use super::write::{is_overtaken, write};
use crate::db::Failure;
use crate::games::store::{GameRow, Games};

/// Runs a batch on a connection that is in no transaction. `None` when somebody else was faster,
/// or when the inputs do not name all their accounts: then nothing was written.
pub(super) async fn run(
    connection: &mut PgConnection,
    house_ids: &BTreeMap<Account, i64>,
    requests: &[&Request],
) -> Result<Option<Vec<Answer>>, sqlx::Error> {
    let named = requests.iter().map(|request| request.operation.accounts_named());
    let Some(named) = named.collect::<Option<Vec<_>>>() else {
        return Ok(None);
    };
    let made = requests.iter().flat_map(|request| request.operation.accounts_to_make());
    let accounts = named.into_iter().flatten().collect();
    let Read { mut games, standings, known } =
        read(connection, requests, &accounts, &made.collect()).await?;
    let mut books = Books::new(standings, house_ids.clone());
    let (answers, decided) = decide_all(requests, known, &mut books, &mut games);
    if decided.is_empty() {
        return Ok(Some(answers));
    }
    match write(connection, &decided, &books, &games).await {
        Ok(()) => Ok(Some(answers)),
        Err(error) if is_overtaken(&error) || Failure::of(&error) == Failure::Contended => {
            tracing::debug!(%error, "somebody else was faster");
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

/// The books of one moment, as far as a batch is concerned.
struct Read {
    games: Games,
    standings: BTreeMap<Account, Standing>,
    known: Vec<Option<Known>>,
}

/// One statement whose rows are of three sorts, each with columns of its own.
async fn read(
    connection: &mut PgConnection,
    requests: &[&Request],
    accounts: &BTreeSet<Account>,
    made: &BTreeSet<Account>,
) -> Result<Read, sqlx::Error> {
    let (games, tables) = games_of(requests);
    let games: Vec<_> = games.iter().map(|game| game.0).collect();
    let tables: Vec<_> = tables.iter().map(|table| table.0).collect();
    let keys: Vec<_> = requests.iter().map(|request| request.key.as_str()).collect();
    let codes: Vec<_> = accounts.iter().map(Account::to_string).collect();
    let rows = sqlx::query!(
        r#"
        select b.sort as "sort!", b.place as "place?", b.id as "id?", b.balance as "balance?",
            b.version as "version?", b.input_hash as "input_hash?", b.answer as "answer?",
            b.game as "game?", b.table_id as "table_id?", b.room as "room?", b.state as "state?",
            b.ante as "ante?", b.players as "players?", b.stakes as "stakes?"
        from read_books($1, $2, $3, $4) b
        "#,
        &codes,
        &keys as _,
        &games,
        &tables
    )
    .fetch_all(connection)
    .await?;

    let accounts: Vec<_> = accounts.iter().collect();
    let mut found = Games::default();
    let mut standings = BTreeMap::new();
    let mut places = 0;
    let mut known: Vec<_> = requests.iter().map(|_| None).collect();
    let unreadable = || sqlx::Error::Decode("a row of no sort that was asked for".into());
    for row in rows {
        let place = row.place.and_then(|place| usize::try_from(place).ok()?.checked_sub(1));
        match (row.sort.as_str(), place, row.game) {
            ("account", Some(place), None) => {
                let account = *accounts.get(place).ok_or_else(unreadable)?;
                let id = match row.id {
                    Some(id) => id,
                    None if made.contains(account) => {
                        places += 1;
                        -places
                    }
                    // It holds nothing, and nothing can be booked on it.
                    None => continue,
                };
                let version = row.version.unwrap_or_default();
                let balance = Coins::from_hundredths(row.balance.unwrap_or_default());
                let standing = Standing { id, balance, version, version_read: version };
                standings.insert(account.clone(), standing);
            }
            ("key", Some(place), None) => {
                let stored = row.input_hash.zip(row.answer);
                let stored = stored.map(|(input_hash, answer)| Known { input_hash, answer });
                *known.get_mut(place).ok_or_else(unreadable)? = stored;
            }
            ("game", None, Some(id)) => found.add(GameRow {
                id,
                table_id: row.table_id.ok_or_else(unreadable)?,
                room: row.room.ok_or_else(unreadable)?,
                state: row.state.ok_or_else(unreadable)?,
                ante: row.ante.ok_or_else(unreadable)?,
                players: row.players.ok_or_else(unreadable)?,
                stakes: row.stakes.ok_or_else(unreadable)?,
            })?,
            _ => return Err(unreadable()),
        }
    }
    Ok(Read { games: found, standings, known })
}
