//! Deadlocks and serialization failures. The tests read from PostgreSQL's statistics, or from its
//! answers at a proxy, that the conflicts really happened.

use std::fmt::Display;

use bahay::db::{self, PoolOptions};
use bahay::ledger::{Grant, Ledger, LedgerOptions};
use bahay_engine::table::PlayerId;
use futures_util::future::join_all;
use sqlx::{AssertSqlSafe, Connection as _, PgConnection};

use super::{WON, open_won, play_won, retry_until_answered};
use crate::support::bank::{Bank, grant_coins, table};
use crate::support::db::{read_value, read_values};
use crate::support::waiting::wait_until;
use crate::support::wire::Wire;

/// A connection that locks rows in the wrong order and never changes them.
struct Adversary {
    connection: PgConnection,
    pid: i32,
}

impl Adversary {
    async fn new(bank: &Bank) -> Self {
        let mut connection = PgConnection::connect_with(&bank.database.options()).await.unwrap();
        let pid = sqlx::query_scalar("select pg_backend_pid()");
        let pid = pid.fetch_one(&mut connection).await.unwrap();
        Self { connection, pid }
    }

    async fn begin(&mut self) {
        sqlx::raw_sql("begin").execute(&mut self.connection).await.unwrap();
    }

    /// Locks the row of a table that has this id.
    async fn lock_row(&mut self, table: &str, id: impl Display) -> Result<(), sqlx::Error> {
        let lock = format!("select from {table} where id = '{id}' for update");
        sqlx::query(AssertSqlSafe(lock)).execute(&mut self.connection).await.map(drop)
    }

    /// Releases all locks.
    async fn rollback(&mut self) {
        sqlx::raw_sql("rollback").execute(&mut self.connection).await.unwrap();
    }

    /// Waits until another transaction waits for a lock of this connection.
    async fn wait_until_blocking(&self, bank: &Bank) {
        let waiting = format!(
            "select exists (
                select from pg_stat_activity a
                where a.datname = current_database() and {} = any(pg_blocking_pids(a.pid))
            )",
            self.pid
        );
        wait_until("a transaction waits for a lock of the adversary", async || {
            read_value(&bank.pool, &waiting).await
        })
        .await;
    }
}

/// Returns true if PostgreSQL aborted the adversary's transaction to end a deadlock.
///
/// # Panics
///
/// Panics on every other error.
fn is_victim(locked: Result<(), sqlx::Error>) -> bool {
    let Err(error) = locked else {
        return false;
    };
    let code = error.as_database_error().and_then(|error| error.code());
    assert_eq!(code.as_deref(), Some("40P01"), "{error}");
    true
}

/// Waits until PostgreSQL has reported this many deadlocks. A backend reports its statistics at the
/// latest when it exits.
async fn wait_for_deadlocks(bank: &Bank, count: i64) {
    let reported = "select deadlocks from pg_stat_database where datname = current_database()";
    wait_until(&format!("{count} deadlocks are reported"), async || {
        read_value::<i64>(&bank.pool, reported).await >= count
    })
    .await;
}

/// Settles games of these players, each at its own table, concurrently through one ledger.
async fn settle_all(bank: &Bank, ledger: &Ledger, players: &[PlayerId], games: usize) {
    let mut settling = Vec::new();
    for _ in 0..games {
        let input = open_won(bank, players).await;
        settling.push(async move {
            retry_until_answered(|| ledger.settle_game(input.clone())).await.unwrap()
        });
    }
    join_all(settling).await;
}

const ROUNDS: i64 = 3;
const GAMES: i64 = 6;

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn deadlocks_on_wallets_end_in_payment() {
    let (bank, players) = Bank::with_players([1_000_000; 3]).await;
    let pool = bank.database.pool().await;
    let (node, tasks) = Ledger::start(pool.clone(), LedgerOptions::default());
    let ids: Vec<i64> =
        read_values(&bank.pool, "select id from accounts where kind = 'wallet' order by id").await;
    assert_eq!(ids.len(), 3);
    let mut adversary = Adversary::new(&bank).await;
    for _ in 0..ROUNDS {
        let input = open_won(&bank, &players).await;
        adversary.begin().await;
        adversary.lock_row("accounts", ids[2]).await.unwrap();
        let one = retry_until_answered(|| node.settle_game(input.clone()));
        let against = async {
            adversary.wait_until_blocking(&bank).await;
            // The adversary locks the other accounts in descending order, one of which is locked.
            let mut is_aborted = false;
            for id in ids[..2].iter().rev() {
                is_aborted = is_aborted || is_victim(adversary.lock_row("accounts", *id).await);
            }
            adversary.rollback().await;
        };
        let (settled, ()) = tokio::join!(one, against);
        settled.unwrap();
    }
    settle_all(&bank, &node, &players, usize::try_from(GAMES - ROUNDS).unwrap()).await;
    tasks.stop().await;
    pool.close().await;
    adversary.connection.close().await.unwrap();
    wait_for_deadlocks(&bank, ROUNDS).await;
    assert_eq!(bank.wallets(&players).await, WON.map(|won| 1_000_000 + GAMES * won));
    bank.audit_clean().await;
}

/// Only a batch locks more than one game, so a first settlement is delayed until two more are
/// queued.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn deadlocks_on_games_end_in_payment() {
    let bank = Bank::new().await;
    let pool = bank.database.pool().await;
    let options = LedgerOptions { batches_at_once: 1, ..LedgerOptions::default() };
    let (node, tasks) = Ledger::start(pool.clone(), options);
    let mut inputs = Vec::new();
    let mut players = Vec::new();
    for _ in 0..3 {
        let seats = bank.players([10_000; 3]).await;
        inputs.push(open_won(&bank, &seats).await);
        players.extend(seats);
    }
    // The games are in ascending order, as PostgreSQL compares their ids.
    inputs.sort_by_key(|input| input.game.0);
    let (mut first, mut second) = (Adversary::new(&bank).await, Adversary::new(&bank).await);
    first.begin().await;
    first.lock_row("games", inputs[1].game.0).await.unwrap();
    second.begin().await;
    second.lock_row("games", inputs[2].game.0).await.unwrap();
    let settle = |index: usize| {
        let (node, input) = (node.clone(), inputs[index].clone());
        async move { retry_until_answered(|| node.settle_game(input.clone())).await.unwrap() }
    };
    let delayed = tokio::spawn(settle(1));
    first.wait_until_blocking(&bank).await;
    let batch = async {
        // One task polls these in order, so both settlements are queued before the locks are
        // released.
        tokio::join!(settle(0), settle(2), async {
            first.rollback().await;
            second.wait_until_blocking(&bank).await;
            is_victim(second.lock_row("games", inputs[0].game.0).await);
            second.rollback().await;
        })
    };
    batch.await;
    delayed.await.unwrap();
    tasks.stop().await;
    pool.close().await;
    first.connection.close().await.unwrap();
    second.connection.close().await.unwrap();
    wait_for_deadlocks(&bank, 1).await;
    let expected: Vec<_> = WON.map(|won| 10_000 + won).into_iter().cycle().take(9).collect();
    assert_eq!(bank.wallets(&players).await, expected);
    bank.audit_clean().await;
}

const NODES: usize = 3;
const TABLES: usize = 4;
const GAMES_EACH: usize = 8;

/// The ledger is correct under serializable isolation too, although it uses the default level.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn nodes_whose_transactions_are_serializable_pay_once() {
    let (bank, players) = Bank::with_players([10_000_000; 3]).await;
    let wire = Wire::postgres(&bank.database.options()).await;
    let mut nodes = Vec::new();
    for _ in 0..NODES {
        let strict = [("default_transaction_isolation", "serializable")];
        let options = wire.through(&bank.database.options()).options(strict);
        let pool = db::connect(options, PoolOptions::default()).await.unwrap();
        let isolation: String = read_value(&pool, "show transaction_isolation").await;
        assert_eq!(isolation, "serializable");
        nodes.push(Ledger::start(pool, LedgerOptions::default()));
    }
    let tables = nodes.iter().flat_map(|(node, _)| std::iter::repeat_n(node, TABLES));
    let tables = tables.map(|node| play(&bank, node, &players));
    join_all(tables).await;
    println!("{} serialization failures", wire.errors("40001"));
    assert!(wire.errors("40001") > 0);
    let games = i64::try_from(NODES * TABLES * GAMES_EACH).unwrap();
    let mut expected = WON.map(|won| 10_000_000 + games * won);
    expected[2] += 50 * games;
    assert_eq!(bank.wallets(&players).await, expected);
    assert_eq!(bank.audit_clean().await.games, games);
}

/// Plays games at one table, each followed by a grant.
async fn play(bank: &Bank, node: &Ledger, players: &[PlayerId]) {
    let table = table();
    for _ in 0..GAMES_EACH {
        let game = play_won(bank, node, table, players).await;
        let grant = grant_coins(players[2], Grant::Relief, game, 50);
        retry_until_answered(|| node.grant(grant.clone())).await.unwrap();
    }
}
