//! The services that a test may break: they break, recover, and leave nothing behind.

use std::path::{Path, PathBuf};

use redis::AsyncCommands as _;
use redis::aio::MultiplexedConnection;
use sqlx::{Connection as _, PgConnection};

use crate::support::house::PATIENCE;
use crate::support::services::{Service, Services};

async fn postgres(services: &Services) -> PgConnection {
    PgConnection::connect(services.database_url()).await.unwrap()
}

async fn redis(services: &Services) -> MultiplexedConnection {
    let client = redis::Client::open(services.redis_url()).unwrap();
    client.get_multiplexed_async_connection().await.unwrap()
}

async fn count(connection: &mut PgConnection) -> i64 {
    sqlx::query_scalar("select count(*) from things").fetch_one(connection).await.unwrap()
}

#[tokio::test]
async fn commits_survive_a_killed_postgres() {
    let mut services = Services::start(&[Service::Postgres]).await;
    let mut connection = postgres(&services).await;
    let synced: String = sqlx::query_scalar("show fsync").fetch_one(&mut connection).await.unwrap();
    assert_eq!(synced, "on");
    sqlx::raw_sql("create table things (n int); insert into things values (1)")
        .execute(&mut connection)
        .await
        .unwrap();
    let first = services.pid(Service::Postgres);
    services.kill(Service::Postgres).await;
    sqlx::raw_sql("insert into things values (2)").execute(&mut connection).await.unwrap_err();
    PgConnection::connect(services.database_url()).await.unwrap_err();
    services.start_again().await;
    assert_ne!(services.pid(Service::Postgres), first);
    assert_eq!(count(&mut postgres(&services).await).await, 1);
}

#[tokio::test]
async fn a_killed_redis_comes_back_with_its_data_or_without() {
    let mut services = Services::start(&[Service::Redis]).await;
    let _: () = redis(&services).await.set("one", 1).await.unwrap();
    services.kill(Service::Redis).await;
    services.start_again().await;
    let found: Option<i64> = redis(&services).await.get("one").await.unwrap();
    assert_eq!(found, Some(1));
    services.start_redis_empty().await;
    let found: Option<i64> = redis(&services).await.get("one").await.unwrap();
    assert_eq!(found, None);
    services.kill(Service::Redis).await;
    services.start_redis_empty().await;
    let _: () = redis(&services).await.ping().await.unwrap();
}

#[tokio::test]
async fn a_paused_service_answers_after_it_resumes() {
    let services = Services::start(&[Service::Postgres, Service::Redis]).await;
    let (mut connection, mut live) = (postgres(&services).await, redis(&services).await);
    live.set_response_timeout(PATIENCE);
    services.pause(Service::Postgres);
    let asked = tokio::spawn(async move {
        let one: i32 = sqlx::query_scalar("select 1").fetch_one(&mut connection).await.unwrap();
        one
    });
    // Redis answers meanwhile, so PostgreSQL had time to answer.
    for _ in 0..100 {
        let _: () = live.ping().await.unwrap();
    }
    assert!(!asked.is_finished());
    services.resume();
    assert_eq!(asked.await.unwrap(), 1);

    services.pause(Service::Redis);
    let asked = tokio::spawn(async move {
        let _: () = live.ping().await.unwrap();
    });
    postgres(&services).await.ping().await.unwrap();
    assert!(!asked.is_finished());
    services.resume();
    asked.await.unwrap();
}

/// Returns the folder of the socket in a service's URL.
fn sockets(services: &Services) -> PathBuf {
    let path = services.redis_url().strip_prefix("redis+unix://").unwrap();
    Path::new(path).parent().unwrap().to_owned()
}

/// Also while a service is paused, and after a panic.
#[tokio::test]
async fn no_process_or_folder_is_left_behind() {
    let both = [Service::Postgres, Service::Redis];
    let left = tokio::spawn(async move {
        let services = Services::start(&both).await;
        services.pause(Service::Postgres);
        let pids = both.map(|service| services.pid(service));
        let left = (pids, sockets(&services));
        std::panic::resume_unwind(Box::new(left));
    });
    let panic = left.await.unwrap_err().into_panic();
    let (pids, sockets) = *panic.downcast::<([u32; 2], PathBuf)>().unwrap();
    assert!(!sockets.exists());
    assert!(!sockets.parent().unwrap().join("pg").exists());
    for pid in pids {
        let command = std::fs::read_to_string(format!("/proc/{pid}/cmdline"));
        assert!(command.is_err() || command.unwrap().is_empty(), "process {pid} still runs");
    }
}
