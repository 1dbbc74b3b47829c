//! A whole server for one test: its own database, its own part of Redis, a free port.

use std::time::Duration;

use bahay::app::{self, Parts, Running};
use bahay::auth::Signer;
use bahay::client::{Client, Play};
use bahay::clock::Clock;
use bahay::edge::{self, Rate};
use bahay::lobby::house_rooms;
use bahay::rewards::Terms;
use bahay::ws::Tap;
use bahay_engine::coins::Coins;
use bahay_engine::table::{Clocks, TableId};
use sqlx::PgPool;
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
    setup: Setup,
    pub(crate) live: TestLive,
    pub(crate) database: TestDatabase,
}

/// What a test may have differently; the same on all nodes of its house.
#[derive(Clone, Debug)]
pub(crate) struct Setup {
    pub(crate) clocks: Clocks,
    pub(crate) door: edge::Options,
    pub(crate) tap: Option<Tap>,
}

impl Default for Setup {
    /// Limits that no test meets by accident.
    fn default() -> Self {
        let rate = Rate { per_second: 100_000, burst: 100_000 };
        let door = edge::Options {
            connections_per_address: 10_000,
            sockets_per_address: 10_000,
            strangers_per_address: 10_000,
            openings_per_account: rate,
            requests_per_address: rate,
            requests_per_account: rate,
            sign_ins_per_address: rate,
            ..edge::Options::default()
        };
        Self { clocks: Clocks::default(), door, tap: None }
    }
}

impl House {
    pub(crate) async fn new() -> Self {
        Self::with_clocks(Clocks::default()).await
    }

    pub(crate) async fn with_clocks(clocks: Clocks) -> Self {
        Self::with(Setup { clocks, ..Setup::default() }).await
    }

    pub(crate) async fn with(setup: Setup) -> Self {
        let (database, live) = (TestDatabase::new().await, TestLive::new());
        let (base, running, pool) = start(&database, &live, setup.clone()).await;
        Self { base, pool, running: Some(running), setup, live, database }
    }

    /// A second node of the same house.
    pub(crate) async fn node(&self) -> (String, Running) {
        let (base, running, _) = start(&self.database, &self.live, self.setup.clone()).await;
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
    setup: Setup,
) -> (String, Running, PgPool) {
    let Setup { clocks, door, tap } = setup;
    let pool = database.pool().await;
    let listener = app::listen("127.0.0.1:0".parse().unwrap()).unwrap();
    let parts = Parts {
        pool: pool.clone(),
        live: live.options(),
        signer: Signer::new(SECRET).unwrap(),
        clock: Clock::system(),
        rooms: house_rooms(clocks),
        welcome: Coins::from_whole(1_000).unwrap(),
        ledger_check_every: Duration::from_secs(3_600),
        rewards: Terms::default(),
        adjustment_max: Coins::from_whole(1_000_000).unwrap(),
        door,
        tap,
    };
    let running = app::start(parts, listener).await.unwrap();
    (format!("http://{}", running.address), running, pool)
}
