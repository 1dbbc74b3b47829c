//! The ledger without a free connection, and without PostgreSQL.

use std::sync::Arc;

use bahay::db::{self, PoolOptions};
use bahay::ledger::{Grant, Ledger, LedgerError, LedgerOptions};
use futures_util::future::join_all;
use tokio::sync::watch;

use super::{TAKEN, WON, open_won, play_won};
use crate::support::bank::{Bank, grant_coins, table};
use crate::support::db::{TestDatabase, count_rows, read_row};
use crate::support::house::PATIENCE;
use crate::support::reason;
use crate::support::services::{Service, Services};

#[tokio::test]
async fn a_call_without_a_connection_is_unavailable_and_can_be_retried() {
    let (bank, players) = Bank::with_players([10_000; 3]).await;
    let options = PoolOptions { connections_max: 2, acquire_timeout_ms: 200, ..Default::default() };
    let pool = db::connect(bank.database.options(), options).await.unwrap();
    let (node, tasks) = Ledger::start(pool.clone(), LedgerOptions::default());
    let settling = open_won(&bank, &players).await;
    let to_void = bank.deal(table(), &players);
    bank.open(&to_void).await;
    let to_open = bank.deal(table(), &players);
    let grant = grant_coins(players[0], Grant::Daily, "one", 700);
    let calls = async || {
        tokio::join!(
            async { node.open_game(to_open.clone()).await.map(drop) },
            async { node.settle_game(settling.clone()).await.map(drop) },
            async { node.void_game(to_void.game, &reason("it was lost")).await.map(drop) },
            async { node.grant(grant.clone()).await.map(drop) },
        )
    };

    // The projection at the start may hold a connection for a moment.
    let mut taken = Vec::new();
    while taken.len() < 2 {
        taken.extend(pool.acquire().await);
    }
    let before = bank.wallets(&players).await;
    let refused = tokio::time::timeout(PATIENCE, calls()).await.expect("the calls return in time");
    for answer in [refused.0, refused.1, refused.2, refused.3] {
        assert!(matches!(answer, Err(LedgerError::Unavailable { .. })), "{answer:?}");
    }
    assert_eq!(bank.wallets(&players).await, before);

    drop(taken);
    let expected = (Ok(()), Ok(()), Ok(()), Ok(()));
    // The connections return to the pool in the background, after some time.
    while calls().await != expected {}
    let mut expected = WON.map(|won| 10_000 + won - TAKEN);
    expected[0] += 700;
    assert_eq!(bank.wallets(&players).await, expected);
    tasks.stop().await;
    bank.audit_clean().await;
}

const TABLES: usize = 20;
const GAMES: usize = 10;

/// The numbers of played games after which PostgreSQL is killed.
const KILLS: [usize; 3] = [20, 80, 150];

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_killed_postgres_leaves_no_game_unpaid_or_paid_twice() {
    let mut services = Services::start(&[Service::Postgres]).await;
    let server = services.database_url().parse().unwrap();
    let bank = Arc::new(Bank::with_database(TestDatabase::create_on(server).await).await);
    let synced = "select current_setting('fsync'), current_setting('synchronous_commit')";
    let synced: (String, String) = read_row(&bank.pool, synced).await;
    assert_eq!(synced, ("on".into(), "on".into()));
    let (node, tasks) = bank.node().await;
    let (played, mut seen) = watch::channel(0_usize);
    let played = Arc::new(played);
    let mut tables = Vec::new();
    for _ in 0..TABLES {
        let players = bank.players([100_000; 3]).await;
        let (bank, node, played) = (Arc::clone(&bank), node.clone(), Arc::clone(&played));
        tables.push(tokio::spawn(async move {
            let table = table();
            for _ in 0..GAMES {
                play_won(&bank, &node, table, &players).await;
                played.send_modify(|played| *played += 1);
            }
            players
        }));
    }
    for games in KILLS {
        seen.wait_for(|played| *played >= games).await.unwrap();
        services.kill(Service::Postgres).await;
        services.start_again().await;
    }
    let games = i64::try_from(GAMES).unwrap();
    for players in join_all(tables).await {
        let wallets = bank.wallets(&players.unwrap()).await;
        assert_eq!(wallets, WON.map(|won| 100_000 + games * won));
    }
    tasks.stop().await;
    let settlements = count_rows(&bank.pool, "operations where key like 'settle:%'").await;
    let report = bank.audit_clean().await;
    assert_eq!((report.games, settlements), (200, 200));
}
