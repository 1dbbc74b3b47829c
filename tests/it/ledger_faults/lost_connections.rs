//! The ledger while all connections are cut at once.

use std::sync::Arc;

use futures_util::future::join_all;
use sqlx::{Connection as _, PgConnection};
use tokio::sync::watch;

use crate::support::bank::{Bank, PotGoes, settlement, table};

/// Terminates every other connection of the service to the test's database, including busy ones.
/// Returns their number.
async fn cut_all(connection: &mut PgConnection) -> usize {
    let cut = sqlx::query_scalar!(
        r#"
        select pg_terminate_backend(a.pid) as "cut!"
        from pg_stat_activity a
        where a.datname = current_database() and a.pid <> pg_backend_pid()
            and a.application_name = 'bahay'
        "#
    );
    cut.fetch_all(connection).await.expect("the server terminates the connections").len()
}

#[tokio::test]
async fn a_pool_of_dead_connections_does_not_fail_operations() {
    let (bank, players) = Bank::with_players([10_000; 3]).await;
    let idle = join_all((0..10).map(|_| bank.pool.acquire())).await;
    drop(idle);
    let mut admin = PgConnection::connect_with(&bank.database.options()).await.unwrap();
    assert!(cut_all(&mut admin).await >= 10);
    let game = bank.deal(table(), &players);
    let (stakes, pot) = bank.open(&game).await;
    cut_all(&mut admin).await;
    let input = bank.finish(&game, settlement(0, 1, &stakes, PotGoes::ToWinner, pot));
    bank.ledger.settle_game(input).await.unwrap();
    bank.audit_clean().await;
}

const TABLES: usize = 20;
const GAMES: usize = 10;

/// A commit whose response is lost may or may not have happened; either way every game is paid
/// once.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn connections_cut_while_games_settle_pay_nobody_twice() {
    let bank = Arc::new(Bank::new().await);
    let (played, mut seen) = watch::channel(0_usize);
    let played = Arc::new(played);
    let mut tables = Vec::new();
    for _ in 0..TABLES {
        let players = bank.players([100_000; 3]).await;
        let (bank, played) = (Arc::clone(&bank), Arc::clone(&played));
        tables.push(tokio::spawn(async move {
            let table = table();
            for game in 0..GAMES {
                let goes = if game % 2 == 1 { PotGoes::ToWinner } else { PotGoes::Nowhere };
                bank.play(table, &players, 1, 3, goes).await;
                played.send_modify(|played| *played += 1);
            }
            players
        }));
    }
    drop(played);
    let mut admin = PgConnection::connect_with(&bank.database.options()).await.unwrap();
    for cuts in 1.. {
        // `wait_for` fails once all tables have finished.
        if seen.wait_for(|played| *played >= 8 * cuts).await.is_err() {
            break;
        }
        cut_all(&mut admin).await;
    }
    for players in join_all(tables).await {
        // Each seat pays ten antes of 1.00. Seat 1 wins five POTs of two games' antes, six antes
        // each.
        let expected = [100_000 - 10 * 400, 100_000 - 10 * 100 + 10 * 570 + 5 * 600];
        let wallets = bank.wallets(&players.unwrap()).await;
        assert_eq!(wallets, [expected[0], expected[1], expected[0]]);
    }
    bank.audit_clean().await;
}
