//! Stores that answer and accept no writes: games wait for them, no table is halted, and no client
//! receives an internal error.

use std::os::unix::fs::symlink;

use bahay::archive::halted;
use bahay::db;
use bahay::ledger::{Grant, Ledger, LedgerOptions};
use bahay::live_store::{LiveStore, RedisSetupError};
use bahay::ws::protocol::Message;
use bahay_client_tokio::{Client, Play};
use bahay_engine::table::PhaseView;
use redis::aio::MultiplexedConnection;
use reqwest::StatusCode;
use sqlx::{Connection as _, PgConnection};
use tokio::task::JoinSet;
use tokio::time::timeout;

use super::stalls::{dealt, house, play_on};
use crate::operations::process::assert_refuses;
use crate::support::bank::{Bank, grant_coins};
use crate::support::checks::check_ledger;
use crate::support::db::TestDatabase;
use crate::support::house::{House, PATIENCE};
use crate::support::live::TestLive;
use crate::support::play::TestPlay as _;
use crate::support::process::serve;
use crate::support::rest::send;
use crate::support::services::{Service, Services};
use crate::support::waiting::wait_until;

const TABLES: usize = 8;

/// Seats players at tables and deals.
async fn deal_tables(house: &House, tables: usize) -> Vec<Vec<Play>> {
    let mut dealt_tables = Vec::new();
    for _ in 0..tables {
        let (_, clients) = house.table().await;
        dealt_tables.push(dealt(&clients).await.1);
    }
    dealt_tables
}

async fn until_ready_answers(house: &House, status: StatusCode) {
    wait_until("readiness follows the stores", async || {
        reqwest::get(format!("{}/readyz", house.probes)).await.unwrap().status() == status
    })
    .await;
}

/// Asserts a 503 with a retry time.
async fn assert_unavailable(request: reqwest::RequestBuilder) {
    let answer = send(request).await;
    assert!(answer.retry_after.is_some(), "{answer:?}");
    answer.expect(503);
}

/// Asserts that calls which write to PostgreSQL are unavailable.
async fn assert_writes_are_unavailable(house: &House, client: &Client) {
    let http = reqwest::Client::new();
    let device = format!("test-device-{}", uuid::Uuid::new_v4());
    let guest = serde_json::json!({ "device_id": device, "name": "Dalisay" });
    assert_unavailable(http.post(format!("{}/v1/sign-in/guest", house.base)).json(&guest)).await;
    let daily = http.post(format!("{}/v1/me/rewards/daily", house.base));
    let daily = daily.bearer_auth(client.access_token()).header("idempotency-key", "one");
    assert_unavailable(daily).await;
    let refresh = serde_json::json!({ "refresh_token": client.refresh_token() });
    assert_unavailable(http.post(format!("{}/v1/token/refresh", house.base)).json(&refresh)).await;
}

/// Plays until the table waits for the ledger.
async fn play_to_settlement(mut play: Play) -> Play {
    let mut answered = None;
    while !matches!(play.view().map(|view| &view.phase), Some(PhaseView::Settling { .. })) {
        play.answer_prompt(&mut answered).await;
        let said = play.next_message().await;
        assert!(!matches!(said, Message::Refusal { .. }), "{said:?}");
    }
    play
}

async fn until_settled(mut play: Play) {
    while matches!(play.view().map(|view| &view.phase), Some(PhaseView::Settling { .. })) {
        play.next_message().await;
    }
}

async fn assert_sound(house: &House) {
    assert_eq!(halted::list_halted(&house.pool).await.unwrap(), Vec::new());
    check_ledger(&house.pool).await;
}

/// Makes PostgreSQL read-only, as a managed one becomes before its disk is full, also for existing
/// connections.
async fn set_read_only(admin: &mut PgConnection, is_read_only: bool) {
    let set = match is_read_only {
        true => "alter system set default_transaction_read_only = on",
        false => "alter system set default_transaction_read_only = off",
    };
    sqlx::query(set).execute(&mut *admin).await.unwrap();
    sqlx::query("select pg_reload_conf()").execute(admin).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_read_only_postgres_halts_no_table_and_answers_no_500() {
    let (services, mut house) = house(Service::Postgres, 20_000).await;
    let client = house.guest("Luningning").await;
    let tables = deal_tables(&house, TABLES).await;
    let mut admin = PgConnection::connect(services.database_url()).await.unwrap();
    set_read_only(&mut admin, true).await;
    until_ready_answers(&house, StatusCode::SERVICE_UNAVAILABLE).await;

    let mut playing = JoinSet::new();
    for play in tables.into_iter().flatten() {
        playing.spawn(play_to_settlement(play));
    }
    let plays = playing.join_all().await;
    assert_writes_are_unavailable(&house, &client).await;
    // At least as many refusals as halt a table on other errors; each is the end of a transaction.
    let refused = "select xact_rollback from pg_stat_database where datname = $1";
    let database = house.database.options().get_database().unwrap().to_owned();
    let rollbacks = async |admin: &mut PgConnection| -> i64 {
        sqlx::query_scalar(refused).bind(&database).fetch_one(admin).await.unwrap()
    };
    let before = rollbacks(&mut admin).await;
    wait_until("the ledger is asked again and again", async || {
        rollbacks(&mut admin).await >= before + 50
    })
    .await;
    assert_eq!(halted::list_halted(&house.pool).await.unwrap(), Vec::new());

    set_read_only(&mut admin, false).await;
    until_ready_answers(&house, StatusCode::OK).await;
    let mut settling = JoinSet::new();
    for play in plays {
        settling.spawn(until_settled(play));
    }
    settling.join_all().await;
    assert_sound(&house).await;
    house.guest("Magayon").await;
    house.stop().await;
}

/// Connections that outlive a failover stay with a server that accepts no writes: they are
/// replaced, and the new ones reach the primary.
#[tokio::test]
async fn a_connection_that_is_refused_a_write_is_not_used_again() {
    let bank = Bank::new().await;
    let player = bank.player(0).await;
    let pool = bank.database.pool().await;
    // All existing connections; new ones are as before.
    let (mut taken, mut stale) = (Vec::new(), Vec::new());
    for _ in 0..pool.options().get_max_connections() {
        let mut connection = pool.acquire().await.unwrap();
        let refuse = "set default_transaction_read_only = on";
        sqlx::query(refuse).execute(&mut *connection).await.unwrap();
        stale.push(pid(&mut connection).await);
        taken.push(connection);
    }
    drop(taken);
    let (ledger, tasks) = Ledger::start(pool.clone(), LedgerOptions::default());
    ledger.grant(grant_coins(player, Grant::Daily, "one", 100)).await.unwrap();
    for _ in 0..stale.len() {
        let pid = pid(&mut pool.acquire().await.unwrap()).await;
        assert!(!stale.contains(&pid), "a connection that was refused a write is used again");
    }
    assert!(db::takes_writes(&pool).await.unwrap());
    tasks.stop().await;
}

async fn pid(connection: &mut PgConnection) -> i32 {
    sqlx::query_scalar("select pg_backend_pid()").fetch_one(connection).await.unwrap()
}

async fn tell(redis: &mut MultiplexedConnection, command: &str) {
    let mut call = redis::Cmd::new();
    call.arg(command.split(' ').collect::<Vec<_>>());
    let _: redis::Value = call.query_async(redis).await.unwrap();
}

/// Asserts that tables continue as soon as Redis accepts writes again, whatever the fault was.
async fn tables_outlive(tables: usize, fault: &str, cure: &str) {
    let (_services, mut house) = house(Service::Redis, 20_000).await;
    let client = house.guest("Luningning").await;
    // A seat requires an open socket.
    let _here = client.play().await.unwrap();
    let tables = deal_tables(&house, tables).await;
    let mut redis = house.live.raw().await;
    tell(&mut redis, fault).await;
    let mut playing = JoinSet::new();
    for plays in tables {
        playing.spawn(play_on(plays, false));
    }
    until_ready_answers(&house, StatusCode::SERVICE_UNAVAILABLE).await;
    let http = reqwest::Client::new();
    let seat = http.post(format!("{}/v1/rooms/newbie/seat", house.base));
    assert_unavailable(seat.bearer_auth(client.access_token())).await;
    assert_eq!(halted::list_halted(&house.pool).await.unwrap(), Vec::new());
    tell(&mut redis, cure).await;
    until_ready_answers(&house, StatusCode::OK).await;
    timeout(2 * PATIENCE, playing.join_all()).await.expect("the games are settled");
    assert_sound(&house).await;
    client.seat("newbie").await.unwrap();
    house.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn tables_outlive_a_redis_that_is_a_replica_for_a_while() {
    tables_outlive(TABLES, "REPLICAOF 127.0.0.1 1", "REPLICAOF NO ONE").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn tables_outlive_a_redis_without_memory() {
    tables_outlive(2, "CONFIG SET maxmemory 1", "CONFIG SET maxmemory 0").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn tables_outlive_a_redis_that_misses_its_replicas() {
    let (fault, cure) =
        ("CONFIG SET min-replicas-to-write 1", "CONFIG SET min-replicas-to-write 0");
    tables_outlive(2, fault, cure).await;
}

/// After a failover Redis's name leads elsewhere, while the connection to the old server persists.
#[tokio::test(flavor = "multi_thread")]
async fn a_redis_that_became_a_replica_is_left_for_its_successor() {
    let (old, new) =
        (Services::start(&[Service::Redis]).await, Services::start(&[Service::Redis]).await);
    let folder = tempfile::tempdir().unwrap();
    let name = folder.path().join("redis.sock");
    let lead_to = |services: &Services| {
        // The link does not exist at first.
        let _ = std::fs::remove_file(&name);
        let path = services.redis_url().strip_prefix("redis+unix://").unwrap();
        symlink(path.split('?').next().unwrap(), &name).unwrap();
    };
    lead_to(&old);
    let live = TestLive::with_url(&format!("redis+unix://{}", name.display()));
    let (store, mut publications) = LiveStore::connect(&live.options()).await.unwrap();
    store.check_writable().await.unwrap();
    let table = bahay_engine::table::TableId(uuid::Uuid::new_v4());
    store.watch(table).await.unwrap();
    let mut raw = live.raw().await;
    tell(&mut raw, "REPLICAOF 127.0.0.1 1").await;
    lead_to(&new);
    let error = store.check_writable().await.unwrap_err().to_string();
    assert!(error.contains("read only replica"), "{error}");
    store.check_writable().await.unwrap();
    // Subscribers are informed that publications may have been missed.
    timeout(PATIENCE, publications.recv()).await.expect("listeners are told").unwrap();
}

/// A Redis that evicts keys loses tables in play.
#[tokio::test(flavor = "multi_thread")]
async fn a_server_does_not_start_on_a_redis_that_evicts_keys() {
    let services = Services::start(&[Service::Redis]).await;
    let live = TestLive::with_url(services.redis_url());
    let (store, _publications) = live.connect().await;
    let warnings = store.check_setup().await.unwrap();
    assert!(warnings.iter().all(|warning| warning.contains("maxmemory")), "{warnings:?}");
    let mut redis = live.raw().await;
    tell(&mut redis, "CONFIG SET maxmemory-policy allkeys-lru").await;
    let refused = store.check_setup().await;
    assert!(matches!(refused, Err(RedisSetupError::Evicts { .. })), "{refused:?}");
    let database = TestDatabase::new().await;
    let output = serve(&database).env("REDIS_URL", services.redis_url()).output().unwrap();
    assert_refuses(&output, &["noeviction"]);
    tell(&mut redis, "CONFIG SET maxmemory-policy noeviction").await;
    tell(&mut redis, "CONFIG SET appendonly no").await;
    let warnings = store.check_setup().await.unwrap();
    assert!(warnings.iter().any(|warning| warning.contains("appendonly yes")), "{warnings:?}");
}
