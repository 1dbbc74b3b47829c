//! The proxy that tests break connections with: its forwarding and its faults.

use std::time::{Duration, Instant};

use redis::AsyncCommands as _;
use sqlx::postgres::PgConnectOptions;
use sqlx::{ConnectOptions as _, Connection as _, PgConnection};
use tokio::net::UnixStream;

use crate::support::db::TestDatabase;
use crate::support::live::TestLive;
use crate::support::waiting::wait_until;
use crate::support::wire::{Afterwards, Count, Cut, Moment, Wire};

/// A database with a table, and a proxy to it.
struct ProxiedDatabase {
    wire: Wire,
    options: PgConnectOptions,
    direct: PgConnection,
    _database: TestDatabase,
}

impl ProxiedDatabase {
    async fn new() -> Self {
        let database = TestDatabase::empty().await;
        let mut direct = PgConnection::connect_with(&database.options()).await.unwrap();
        say(&mut direct, "create table things (n int)").await.unwrap();
        let wire = Wire::postgres(&database.options()).await;
        let options = wire.through(&database.options());
        Self { wire, options, direct, _database: database }
    }

    async fn connect(&self) -> Result<PgConnection, sqlx::Error> {
        self.options.connect().await
    }

    async fn count(&mut self) -> i64 {
        let count = sqlx::query_scalar("select count(*) from things");
        count.fetch_one(&mut self.direct).await.unwrap()
    }

    async fn until_count(&mut self, wanted: i64) {
        let what = format!("there are {wanted} things");
        wait_until(&what, async || self.count().await == wanted).await;
    }
}

/// Sends one Query.
async fn say(connection: &mut PgConnection, sql: &'static str) -> Result<(), sqlx::Error> {
    sqlx::raw_sql(sql).execute(connection).await.map(drop)
}

const INSERT: &str = "insert into things values (1)";

fn cut(request: u64, moment: Moment, count: Count) -> Cut {
    Cut { request, moment, count, afterwards: Afterwards::Welcome }
}

#[tokio::test]
async fn requests_pass_the_wire_and_are_counted() {
    let mut way = ProxiedDatabase::new().await;
    let mut one = PgConnection::connect(way.wire.url()).await.unwrap();
    let mut two = way.connect().await.unwrap();
    let before = way.wire.requests_by_connection();
    assert_eq!(before.len(), 2);
    for _ in 0..3 {
        say(&mut one, INSERT).await.unwrap();
    }
    // Prepared and executed, larger than one buffer, and echoed.
    let long = "y".repeat(1_000_000);
    let echo: String =
        sqlx::query_scalar("select $1::text").bind(&long).fetch_one(&mut two).await.unwrap();
    assert_eq!(echo, long);
    let after = way.wire.requests_by_connection();
    assert_eq!((after[0] - before[0], after[1] - before[1]), (3, 2));
    assert_eq!(way.wire.requests(), after.iter().sum::<u64>());
    way.wire.wait_for_requests(5).await;
    assert_eq!(way.count().await, 3);

    let refused = say(&mut one, "select 1 / 0").await.unwrap_err();
    let code = refused.as_database_error().and_then(|error| error.code());
    assert_eq!(code.as_deref(), Some("22012"));
    assert_eq!((way.wire.errors("22012"), way.wire.errors("40001")), (1, 0));
    assert_eq!(way.wire.cut().await, 2);
    say(&mut one, INSERT).await.unwrap_err();
    assert_eq!(way.wire.requests_by_connection(), Vec::<u64>::new());
    say(&mut way.connect().await.unwrap(), INSERT).await.unwrap();
    assert_eq!(way.count().await, 4);
}

#[tokio::test]
async fn a_request_is_cut_before_during_or_after() {
    let mut way = ProxiedDatabase::new().await;
    let cases = [(Moment::Unsent, 1), (Moment::Unanswered, 2), (Moment::Undelivered, 2)];
    for (moment, expected) in cases {
        say(&mut way.direct, "truncate things").await.unwrap();
        let mut connection = way.connect().await.unwrap();
        way.wire.cut_at(cut(2, moment, Count::Together));
        say(&mut connection, INSERT).await.unwrap();
        say(&mut connection, INSERT).await.unwrap_err();
        assert!(!way.wire.cancel_cut());
        if moment == Moment::Unanswered {
            way.until_count(expected).await;
        }
        assert_eq!(way.count().await, expected, "{moment:?}");
        // Other connections are not affected, and the cut happens once.
        let mut other = way.connect().await.unwrap();
        for _ in 0..3 {
            say(&mut other, "select 1").await.unwrap();
        }
    }
    way.wire.cut_at(cut(2, Moment::Unsent, Count::Together));
    let mut connection = way.connect().await.unwrap();
    say(&mut connection, INSERT).await.unwrap();
    assert!(way.wire.cancel_cut());
    say(&mut connection, INSERT).await.unwrap();
}

/// A transaction that loses its connection is rolled back, however late the server notices.
#[tokio::test]
async fn an_uncommitted_transaction_is_rolled_back() {
    let mut way = ProxiedDatabase::new().await;
    for moment in [Moment::Unsent, Moment::Unanswered, Moment::Undelivered] {
        let mut connection = way.connect().await.unwrap();
        let mut tx = connection.begin().await.unwrap();
        way.wire.cut_at(cut(1, moment, Count::Together));
        sqlx::query(INSERT).execute(&mut *tx).await.unwrap_err();
        // Waits for every transaction that still writes to it.
        let lock = "begin; lock table things in access exclusive mode; commit";
        say(&mut way.direct, lock).await.unwrap();
        assert_eq!(way.count().await, 0, "{moment:?}");
    }
}

#[tokio::test]
async fn each_connection_is_cut_where_it_is_told() {
    let way = ProxiedDatabase::new().await;
    way.wire.cut_at(cut(2, Moment::Unsent, Count::Each));
    for _ in 0..3 {
        let mut connection = way.connect().await.unwrap();
        say(&mut connection, INSERT).await.unwrap();
        say(&mut connection, INSERT).await.unwrap_err();
    }
    assert!(way.wire.cancel_cut());
}

#[tokio::test]
async fn a_refused_connection_fails_at_once() {
    let mut way = ProxiedDatabase::new().await;
    let mut inside = way.connect().await.unwrap();
    way.wire.refuse().await;
    let refused = way.connect().await.unwrap_err();
    let sqlx::Error::Io(refused) = refused else { panic!("{refused}") };
    assert_eq!(refused.kind(), std::io::ErrorKind::ConnectionRefused);
    say(&mut inside, INSERT).await.unwrap();
    way.wire.welcome().await;
    let request = 1;
    let (moment, count, afterwards) = (Moment::Undelivered, Count::Together, Afterwards::Refuse);
    way.wire.cut_at(Cut { request, moment, count, afterwards });
    say(&mut way.connect().await.unwrap(), INSERT).await.unwrap_err();
    way.connect().await.unwrap_err();
    say(&mut inside, INSERT).await.unwrap();
    way.wire.welcome().await;
    way.connect().await.unwrap();
    assert_eq!(way.count().await, 3);
}

#[tokio::test]
async fn held_traffic_arrives_after_release_and_delayed_traffic_late() {
    let mut way = ProxiedDatabase::new().await;
    let mut connection = way.connect().await.unwrap();
    way.wire.hold();
    let asked = tokio::spawn(async move {
        say(&mut connection, INSERT).await.unwrap();
        connection
    });
    for _ in 0..20 {
        assert_eq!(way.count().await, 0);
    }
    assert!(!asked.is_finished());
    way.wire.release();
    let mut connection = asked.await.unwrap();
    assert_eq!(way.count().await, 1);

    way.wire.delay(Duration::from_millis(20));
    let begun = Instant::now();
    say(&mut connection, INSERT).await.unwrap();
    assert!(begun.elapsed() >= Duration::from_millis(40));
    way.wire.hold();
    assert_eq!(way.wire.cut().await, 1);
    say(&mut connection, INSERT).await.unwrap_err();
}

#[tokio::test]
async fn encryption_is_declined() {
    let way = ProxiedDatabase::new().await;
    let folder = way.options.get_socket().unwrap();
    let stream = UnixStream::connect(folder.join(".s.PGSQL.5432")).await.unwrap();
    let request = [0, 0, 0, 8, 4, 210, 22, 47];
    stream.writable().await.unwrap();
    assert_eq!(stream.try_write(&request).unwrap(), 8);
    stream.readable().await.unwrap();
    let mut answer = [0; 8];
    assert_eq!(stream.try_read(&mut answer).unwrap(), 1);
    assert_eq!(answer[0], b'N');
}

#[tokio::test]
async fn redis_is_carried_and_cut() {
    let wire = Wire::redis(&TestLive::new().options().url).await;
    let client = redis::Client::open(wire.url()).unwrap();
    let key = format!("test-{}", uuid::Uuid::new_v4().simple());
    let long = "y".repeat(300_000);
    let mut connection = client.get_multiplexed_async_connection().await.unwrap();
    let _: () = connection.set_ex(&key, &long, 60).await.unwrap();
    let found: String = connection.get(&key).await.unwrap();
    assert_eq!(found, long);
    assert_eq!(wire.cut().await, 1);
    connection.get::<_, String>(&key).await.unwrap_err();
    let mut connection = client.get_multiplexed_async_connection().await.unwrap();
    let _: () = connection.del(&key).await.unwrap();
    wire.refuse().await;
    client.get_multiplexed_async_connection().await.map(drop).unwrap_err();
    drop(wire);
    connection.ping::<()>().await.unwrap_err();
}
