//! What PostgreSQL refuses to do at once: deadlocks and transactions that cannot be put in a row.
//! That it really refused is read from its own figures, or from its answers on a wire.

use std::time::Instant;

use bahay::db::{self, PoolOptions};
use bahay::ledger::{Grant, GrantCoins, Ledger, LedgerOptions, OpeningOutcome};
use bahay_engine::coins::Coins;
use bahay_engine::table::PlayerId;
use futures_util::future::join_all;
use sqlx::{Connection as _, PgConnection};
use uuid::Uuid;

use super::{WON, insist, pause};
use crate::support::bank::{Bank, PotGoes, settlement, table};
use crate::support::house::PATIENCE;
use crate::support::wire::Wire;

/// Somebody who locks rows in the wrong order and never changes any.
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

    async fn lock_account(&mut self, id: i64) -> Result<(), sqlx::Error> {
        let lock = sqlx::query("select from accounts where id = $1 for update").bind(id);
        lock.execute(&mut self.connection).await.map(drop)
    }

    async fn lock_game(&mut self, id: Uuid) -> Result<(), sqlx::Error> {
        let lock = sqlx::query("select from games where id = $1 for update").bind(id);
        lock.execute(&mut self.connection).await.map(drop)
    }

    /// Lets go of all that it has locked.
    async fn let_go(&mut self) {
        sqlx::raw_sql("rollback").execute(&mut self.connection).await.unwrap();
    }

    /// Returns when somebody waits for what it has locked.
    async fn until_in_the_way(&self, bank: &Bank) {
        let begun = Instant::now();
        loop {
            let waiting: bool = sqlx::query_scalar(
                "select exists (
                    select from pg_stat_activity a
                    where a.datname = current_database() and $1 = any(pg_blocking_pids(a.pid))
                )",
            )
            .bind(self.pid)
            .fetch_one(&bank.pool)
            .await
            .unwrap();
            if waiting {
                return;
            }
            assert!(begun.elapsed() < PATIENCE, "nobody wants what the adversary has locked");
            pause().await;
        }
    }
}

/// Whether PostgreSQL chose the adversary to end the deadlock. Everything else passes.
fn is_victim(locked: Result<(), sqlx::Error>) -> bool {
    let Err(error) = locked else {
        return false;
    };
    let code = error.as_database_error().and_then(|error| error.code());
    assert_eq!(code.as_deref(), Some("40P01"), "{error}");
    true
}

async fn deadlocks(bank: &Bank) -> i64 {
    let count = "select deadlocks from pg_stat_database where datname = current_database()";
    sqlx::query_scalar(count).fetch_one(&bank.pool).await.unwrap()
}

/// A process of PostgreSQL notes what it counted when it ends, at the latest.
async fn until_deadlocks(bank: &Bank, count: i64) {
    let begun = Instant::now();
    while deadlocks(bank).await < count {
        assert!(begun.elapsed() < PATIENCE, "{} deadlocks", deadlocks(bank).await);
        pause().await;
    }
}

/// Games of these players at tables of their own, settled through one ledger at once.
async fn settle_all(bank: &Bank, ledger: &Ledger, players: &[PlayerId], games: usize) {
    let mut settling = Vec::new();
    for _ in 0..games {
        let game = bank.deal(table(), players);
        let (stakes, pot) = bank.open(&game).await;
        let input = bank.finish(&game, settlement(0, 3, &stakes, PotGoes::ToWinner, pot));
        settling.push(async move { insist(|| ledger.settle_game(input.clone())).await.unwrap() });
    }
    join_all(settling).await;
}

const ROUNDS: i64 = 3;
const GAMES: i64 = 6;

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn deadlocks_on_wallets_end_in_payment() {
    let bank = Bank::new().await;
    let players = bank.players([1_000_000; 3]).await;
    let pool = bank.database.pool().await;
    let (node, tasks) = Ledger::start(pool.clone(), LedgerOptions::default());
    let ids: Vec<i64> =
        sqlx::query_scalar("select a.id from accounts a where a.player = any($1) order by a.id")
            .bind(players.iter().map(|player| player.0).collect::<Vec<_>>())
            .fetch_all(&bank.pool)
            .await
            .unwrap();
    assert_eq!(ids.len(), 3);
    let mut adversary = Adversary::new(&bank).await;
    for _ in 0..ROUNDS {
        let game = bank.deal(table(), &players);
        let (stakes, pot) = bank.open(&game).await;
        let input = bank.finish(&game, settlement(0, 3, &stakes, PotGoes::ToWinner, pot));
        adversary.begin().await;
        adversary.lock_account(ids[2]).await.unwrap();
        let one = insist(|| node.settle_game(input.clone()));
        let against = async {
            adversary.until_in_the_way(&bank).await;
            // The others follow in descending order, and one of them is taken.
            let mut is_beaten = false;
            for id in ids[..2].iter().rev() {
                is_beaten = is_beaten || is_victim(adversary.lock_account(*id).await);
            }
            adversary.let_go().await;
        };
        let (settled, ()) = tokio::join!(one, against);
        settled.unwrap();
    }
    settle_all(&bank, &node, &players, usize::try_from(GAMES - ROUNDS).unwrap()).await;
    tasks.stop().await;
    pool.close().await;
    adversary.connection.close().await.unwrap();
    until_deadlocks(&bank, ROUNDS).await;
    assert_eq!(bank.wallets(&players).await, WON.map(|won| 1_000_000 + GAMES * won));
    bank.audit_clean().await;
}

/// Only a batch locks more than one game, so a first settlement is held up until two more wait.
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
        let game = bank.deal(table(), &seats);
        let (stakes, pot) = bank.open(&game).await;
        inputs.push(bank.finish(&game, settlement(0, 3, &stakes, PotGoes::ToWinner, pot)));
        players.extend(seats);
    }
    // In ascending order, as PostgreSQL compares them too.
    inputs.sort_by_key(|input| input.game.0);
    let (mut first, mut second) = (Adversary::new(&bank).await, Adversary::new(&bank).await);
    first.begin().await;
    first.lock_game(inputs[1].game.0).await.unwrap();
    second.begin().await;
    second.lock_game(inputs[2].game.0).await.unwrap();
    let settle = |index: usize| {
        let (node, input) = (node.clone(), inputs[index].clone());
        async move { insist(|| node.settle_game(input.clone())).await.unwrap() }
    };
    let held_up = tokio::spawn(settle(1));
    first.until_in_the_way(&bank).await;
    let batch = async {
        // Polled in this order by one task, so both are queued before anything else happens here.
        tokio::join!(settle(0), settle(2), async {
            first.let_go().await;
            second.until_in_the_way(&bank).await;
            is_victim(second.lock_game(inputs[0].game.0).await);
            second.let_go().await;
        })
    };
    batch.await;
    held_up.await.unwrap();
    tasks.stop().await;
    pool.close().await;
    first.connection.close().await.unwrap();
    second.connection.close().await.unwrap();
    until_deadlocks(&bank, 1).await;
    let expected: Vec<_> = WON.map(|won| 10_000 + won).into_iter().cycle().take(9).collect();
    assert_eq!(bank.wallets(&players).await, expected);
    bank.audit_clean().await;
}

const NODES: usize = 3;
const TABLES: usize = 4;
const GAMES_EACH: usize = 8;

/// Nothing in the ledger counts on the weaker isolation that it asks for by not asking.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn nodes_whose_transactions_are_serializable_pay_once() {
    let bank = Bank::new().await;
    let wire = Wire::postgres(&bank.database.options()).await;
    let players = bank.players([10_000_000; 3]).await;
    let mut nodes = Vec::new();
    for _ in 0..NODES {
        let strict = [("default_transaction_isolation", "serializable")];
        let options = wire.through(&bank.database.options()).options(strict);
        let pool = db::connect(options, PoolOptions::default()).await.unwrap();
        let isolation: String =
            sqlx::query_scalar("show transaction_isolation").fetch_one(&pool).await.unwrap();
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

/// Games at one table, each followed by a grant.
async fn play(bank: &Bank, node: &Ledger, players: &[PlayerId]) {
    let table = table();
    for _ in 0..GAMES_EACH {
        let game = bank.deal(table, players);
        let opening = insist(|| node.open_game(game.clone())).await.unwrap();
        let OpeningOutcome::Opened { stakes, pot } = opening else { panic!("all can pay") };
        let input = bank.finish(&game, settlement(0, 3, &stakes, PotGoes::ToWinner, pot));
        insist(|| node.settle_game(input.clone())).await.unwrap();
        let grant = GrantCoins {
            player: players[2],
            grant: Grant::Relief,
            key: game.game.to_string(),
            amount: Coins::from_hundredths(50),
        };
        insist(|| node.grant(grant.clone())).await.unwrap();
    }
}
