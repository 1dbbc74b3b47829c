//! The runner of projections: positions, rebuilds and the measurement of lag.

use bahay::metrics::Metrics;
use bahay::projections::{self, Position, Projection, Runner};
use bahay::ratings::Ratings;
use bahay::reports::Reports;
use bahay::standings::Calendar;
use sqlx::PgPool;
use tokio::sync::watch;

use crate::support::bank::{Bank, PotGoes, table};
use crate::support::checks::{count_pairs, count_reports, count_standings};
use crate::support::db::read_values;
use crate::support::process::run_bahay;
use crate::support::waiting::wait_until;

async fn create_bank_with_games() -> Bank {
    let (bank, players) = Bank::with_players([100_000; 3]).await;
    let table = table();
    for winner in [0, 1, 1, 2] {
        bank.play(table, &players, winner, 2, PotGoes::Nowhere).await;
    }
    bank.ledger.seal_operations().await.unwrap();
    bank
}

async fn position<P: Projection>(pool: &PgPool) -> Position {
    projections::read_position(&mut pool.acquire().await.unwrap(), P::NAME).await.unwrap()
}

/// Returns the rows of all tables of a projection.
async fn rows<P: Projection>(pool: &PgPool) -> Vec<String> {
    let mut rows = Vec::new();
    for table in P::TABLES {
        let query = format!("select to_jsonb(t)::text from {table} t order by 1");
        let found: Vec<String> = read_values(pool, &query).await;
        assert!(!found.is_empty() || *table == "game_results" || *table == "player_counters");
        rows.extend(found);
    }
    rows
}

async fn assert_rebuilds<P: Projection>(projection: &P, owner: &PgPool)
where
    P::Error: std::fmt::Debug,
{
    let before = (rows::<P>(owner).await, position::<P>(owner).await);
    assert!(before.1.seal > 0 && before.1.seal == before.1.head);
    projections::rebuild::<P>(owner).await.unwrap();
    let emptied = position::<P>(owner).await;
    assert_eq!((emptied.seal, emptied.generation), (0, before.1.generation + 1));
    assert!(projections::catch_up(projection).await.unwrap());
    assert_eq!(rows::<P>(owner).await, before.0, "{}", P::NAME);
    let after = position::<P>(owner).await;
    assert_eq!((after.seal, after.version), (before.1.seal, before.1.version));
}

#[tokio::test]
async fn a_rebuilt_projection_has_the_same_rows() {
    let bank = create_bank_with_games().await;
    let owner = bank.database.owner_pool().await;
    let standings = count_standings(&bank.pool).await;
    let ratings = Ratings::new(bank.pool.clone());
    ratings.catch_up().await.unwrap();
    let reports = count_reports(&bank.pool).await;
    assert_rebuilds(&standings, &owner).await;
    assert_rebuilds(&ratings, &owner).await;
    assert_rebuilds(&reports, &owner).await;
    let pairs = count_pairs(&reports, Calendar::default().time_zone()).await;
    assert_rebuilds(&pairs, &owner).await;
}

#[tokio::test]
async fn the_command_line_empties_a_projection() {
    let bank = create_bank_with_games().await;
    let ratings = Ratings::new(bank.pool.clone());
    ratings.catch_up().await.unwrap();
    run_bahay(&bank.database, ["rebuild", "ratings"]).unwrap();
    let emptied = position::<Ratings>(&bank.pool).await;
    assert_eq!((emptied.seal, emptied.generation), (0, 2));
    assert!(projections::catch_up(&ratings).await.unwrap());
}

#[tokio::test]
async fn figures_wait_for_standings() {
    let bank = create_bank_with_games().await;
    let reports = Reports::with_own_pool(&bank.pool);
    assert!(!projections::catch_up(&reports).await.unwrap());
    assert_eq!(position::<Reports>(&bank.pool).await.seal, 0);
    count_standings(&bank.pool).await;
    assert!(projections::catch_up(&reports).await.unwrap());
    let Position { seal, head, .. } = position::<Reports>(&bank.pool).await;
    assert_eq!(seal, head);
}

#[tokio::test]
async fn the_lag_grows_while_a_projection_is_held_up() {
    let bank = create_bank_with_games().await;
    let metrics = Metrics::default();
    let lag = || {
        let text = metrics.text().unwrap();
        let prefix = "bahay_projection_lag_seconds{projection=\"ratings\"} ";
        let line = text.lines().find_map(|line| line.strip_prefix(prefix));
        line.map(|lag| lag.parse::<u64>().unwrap())
    };
    let (stop, stopping) = watch::channel(false);
    let mut held = bank.database.owner_pool().await.begin().await.unwrap();
    let hold = sqlx::query("select from projections where name = 'ratings' for update");
    hold.execute(&mut *held).await.unwrap();
    let runner = Runner::new(&metrics);
    let running = tokio::spawn(runner.run(Ratings::new(bank.pool.clone()), stopping));
    wait_until("the lag is seen", async || lag() >= Some(2)).await;
    assert_eq!(position::<Ratings>(&bank.pool).await.seal, 0);
    held.rollback().await.unwrap();
    wait_until("the ratings are up to date", async || lag() < Some(2)).await;
    let Position { seal, head, .. } = position::<Ratings>(&bank.pool).await;
    assert_eq!(seal, head);
    stop.send_replace(true);
    running.await.unwrap();
}
