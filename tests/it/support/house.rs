//! A whole server for one test: its own database, its own part of Redis, a free port.

use std::time::Duration;

use bahay::app::{self, Parts, Running};
use bahay::auth::Signer;
use bahay::client::{Client, Play};
use bahay::clock::Clock;
use bahay::lobby::house_rooms;
use bahay_engine::coins::Coins;
use bahay_engine::table::{Clocks, TableId};
use sqlx::PgPool;
use tokio::net::TcpListener;
use uuid::Uuid;

use super::db::TestDatabase;
use super::live::TestLive;

/// Nothing in a test takes so long unless it hangs.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

const SECRET: &[u8] = b"5b8c2f7e91d04a63b7f0e2c9d8a1547360fe";

/// The server is stopped, and the database dropped, with this.
#[derive(Debug)]
pub(crate) struct House {
    pub(crate) base: String,
    pub(crate) pool: PgPool,
    running: Option<Running>,
    live: TestLive,
    pub(crate) database: TestDatabase,
}

impl House {
    pub(crate) async fn new() -> Self {
        Self::with_clocks(Clocks::default()).await
    }

    pub(crate) async fn with_clocks(clocks: Clocks) -> Self {
        Self::on(TestLive::new(), clocks).await
    }

    /// On a Redis of the test's own.
    pub(crate) async fn on(live: TestLive, clocks: Clocks) -> Self {
        let database = TestDatabase::new().await;
        let (base, running, pool) = start(&database, &live, clocks).await;
        Self { base, pool, running: Some(running), live, database }
    }

    /// A second node of the same house.
    pub(crate) async fn node(&self) -> (String, Running) {
        let (base, running, _) = start(&self.database, &self.live, Clocks::default()).await;
        (base, running)
    }

    /// A new guest.
    pub(crate) async fn guest(&self, name: &str) -> Client {
        guest_at(&self.base, name).await
    }

    /// Three guests at one table of the newbie room.
    pub(crate) async fn table(&self) -> (TableId, [Client; 3]) {
        let mut clients = vec![];
        let mut tables = vec![];
        for name in ["Althea", "Benjie", "Carmela"] {
            let client = self.guest(name).await;
            tables.push(client.seat("newbie").await.unwrap());
            clients.push(client);
        }
        assert!(tables.iter().all(|table| *table == tables[0]));
        (tables[0], clients.try_into().unwrap())
    }

    pub(crate) async fn stop(&mut self) {
        if let Some(running) = self.running.take() {
            running.stop().await.unwrap();
        }
    }
}

pub(crate) async fn guest_at(base: &str, name: &str) -> Client {
    let device = format!("test-device-{}", Uuid::new_v4());
    Client::guest(base, &device, name).await.unwrap()
}

/// A connection that has joined its table.
pub(crate) async fn joined(client: &Client) -> Play {
    let mut play = client.play().await.unwrap();
    let joining = play.join().await.unwrap();
    play.answered(joining).await.unwrap();
    play
}

async fn start(
    database: &TestDatabase,
    live: &TestLive,
    clocks: Clocks,
) -> (String, Running, PgPool) {
    let pool = database.pool().await;
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let parts = Parts {
        pool: pool.clone(),
        live: live.options(),
        signer: Signer::new(SECRET).unwrap(),
        clock: Clock::system(),
        rooms: house_rooms(clocks),
        welcome: Coins::from_whole(1_000).unwrap(),
        ledger_check_every: Duration::from_secs(3_600),
    };
    let running = app::start(parts, listener).await.unwrap();
    (format!("http://{}", running.address), running, pool)
}
