//! A whole server for one test: its own database, its own part of Redis, a free port.

use std::time::Duration;

use bahay::accounts::{self, HashOptions};
use bahay::app::{self, RunningServer, ServerParts};
use bahay::auth::Signer;
use bahay::clock::Clock;
use bahay::grant_limits::GrantLimits;
use bahay::ledger::{Ledger, LedgerOptions, LedgerTasks};
use bahay::live_store::Publication;
use bahay::lobby::{self, Room, house_rooms};
use bahay::operators::AdjustmentBounds;
use bahay::rate_limit::{self, Rate};
use bahay::ratings::Ratings;
use bahay::records::{ArchiveSchedule, Records};
use bahay::retention::RetentionPeriods;
use bahay::rewards::Terms;
use bahay::tables::{Tables, TermsSource};
use bahay::ws::{FaultHooks, LinkTimes, Silence};
use bahay_client_tokio::{Client, Play};
use bahay_engine::catalog::{AnyGame, AnyRules};
use bahay_engine::coins::Coins;
use bahay_engine::games::tongits::Rules;
use bahay_engine::table::{Clocks, TableId};
use sqlx::PgPool;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::time::timeout;
use uuid::Uuid;

use super::db::TestDatabase;
use super::live::TestLive;
pub(crate) use super::waiting::PATIENCE;

/// The names of the players of a table.
pub(crate) const FRIENDS: [&str; 3] = ["Althea", "Benjie", "Carmela"];

/// The duration of a fight in the tests' room.
const FIGHT_MS: u32 = 300;

const SECRET: &[u8] = b"5b8c2f7e91d04a63b7f0e2c9d8a1547360fe";

/// A server that is stopped, and its database dropped, on drop.
#[derive(Debug)]
pub(crate) struct House {
    pub(crate) base: String,
    /// The address of the first node's probes.
    pub(crate) probes: String,
    pub(crate) pool: PgPool,
    running: Option<RunningServer>,
    setup: Setup,
    pub(crate) live: TestLive,
    pub(crate) database: TestDatabase,
}

/// The settings that a test may change; the same on all nodes of its house.
#[derive(Clone, Debug)]
pub(crate) struct Setup {
    pub(crate) rooms: Vec<Room>,
    /// All of a test's players share one address, so by default they may meet.
    pub(crate) lobby: lobby::Options,
    /// The operating-system clock of the first node.
    pub(crate) wall: Clock,
    pub(crate) rate_limits: rate_limit::Options,
    pub(crate) links: LinkTimes,
    pub(crate) hooks: FaultHooks,
    pub(crate) records: Records,
}

impl Default for Setup {
    fn default() -> Self {
        let rooms = house_rooms(unhurried_clocks());
        let lobby = lobby::Options { socket_required: true, ..lobby::Options::default() };
        Self {
            rooms,
            lobby,
            wall: Clock::system(),
            rate_limits: wide_rate_limits(),
            links: patient_links(),
            hooks: FaultHooks::default(),
            records: Records::without_archive(),
        }
    }
}

/// Returns rate limits that no test reaches by accident.
pub(crate) fn wide_rate_limits() -> rate_limit::Options {
    let rate = Rate { per_second: 100_000, burst: 100_000 };
    rate_limit::Options {
        connections_per_address: 10_000,
        sockets_per_address: 10_000,
        unauthenticated_sockets_per_address: 10_000,
        socket_handshakes_per_account: rate,
        requests_per_address: rate,
        requests_per_account: rate,
        sign_ins_per_address: rate,
        ..rate_limit::Options::default()
    }
}

/// Returns clocks with which no deadline between games passes during a test: on a slow machine the
/// players would otherwise lose their seats before they are ready.
pub(crate) fn unhurried_clocks() -> Clocks {
    let long_ms = 600_000;
    Clocks { prepare_ms: long_ms, absence_ms: long_ms, ..Clocks::default() }
}

/// Returns clocks with which the AI takes over a seat at once and thinks for this time.
pub(crate) fn ai_clocks(think_ms: u32) -> Clocks {
    Clocks { think_ms, grace_ms: 1, ..unhurried_clocks() }
}

/// Returns link timeouts for clients that answer pings only when their test polls them.
pub(crate) fn patient_links() -> LinkTimes {
    let silence = Silence { ping_after: PATIENCE, lost_after: PATIENCE * 4 };
    LinkTimes { asked: silence, other: silence }
}

/// The default guarantee above which a tournament requires approval.
pub(crate) const TOURNAMENT_APPROVAL_ABOVE: Coins = Coins::from_hundredths(1_000_000);

/// Returns the default bounds of adjustments.
pub(crate) fn adjustments() -> AdjustmentBounds {
    let coins = |whole| Coins::from_whole(whole).unwrap();
    AdjustmentBounds {
        one_max: coins(1_000_000),
        requester_day_max: coins(2_000_000),
        player_day_max: coins(2_000_000),
    }
}

/// Returns options with cheap password hashes in any number, and a welcome grant for every player,
/// since all share one network.
pub(crate) fn cheap_auth_options() -> accounts::Options {
    let hashes = HashOptions { memory_kib: 64, passes: 1, at_once: 4, waiting_max: 10_000 };
    let grants = GrantLimits { welcomes: 0, reliefs: 0 };
    accounts::Options { hashes, grants, ..accounts::Options::default() }
}

impl House {
    pub(crate) async fn new() -> Self {
        Self::with_clocks(unhurried_clocks()).await
    }

    pub(crate) async fn with_clocks(clocks: Clocks) -> Self {
        Self::with_setup(Setup { rooms: house_rooms(clocks), ..Setup::default() }).await
    }

    pub(crate) async fn with_setup(setup: Setup) -> Self {
        Self::start_house(TestDatabase::new().await, TestLive::new(), setup).await
    }

    /// Starts a house with changed rate limits.
    pub(crate) async fn with_rate_limits(change: impl FnOnce(&mut rate_limit::Options)) -> Self {
        let mut setup = Setup::default();
        change(&mut setup.rate_limits);
        Self::with_setup(setup).await
    }

    /// Starts a house on these services.
    pub(crate) async fn with_services(
        database: TestDatabase,
        live: TestLive,
        rooms: Vec<Room>,
    ) -> Self {
        Self::start_house(database, live, Setup { rooms, ..Setup::default() }).await
    }

    async fn start_house(database: TestDatabase, live: TestLive, mut setup: Setup) -> Self {
        setup.rooms = setup.rooms.into_iter().map(short_fights).collect();
        let (base, running, pool) = start(&database, &live, setup.clone()).await;
        let probes = format!("http://{}", running.probes);
        Self { base, probes, pool, running: Some(running), setup, live, database }
    }

    /// Starts a second node of the same house.
    pub(crate) async fn node(&self) -> (String, RunningServer) {
        let setup = Setup { wall: Clock::system(), ..self.setup.clone() };
        let (base, running, _) = start(&self.database, &self.live, setup).await;
        (base, running)
    }

    /// Returns the house's tables as a process without tasks sees them, with its ledger's tasks and
    /// the publications to it.
    pub(crate) async fn tables(
        &self,
    ) -> (Tables<AnyGame>, LedgerTasks, UnboundedReceiver<Publication>) {
        let (live, publications) = self.live.connect().await;
        let pool = self.database.pool().await;
        let (ledger, tasks) = Ledger::start(pool.clone(), LedgerOptions::default());
        let terms = TermsSource::unchanging();
        (Tables::new(live, ledger, Clock::system(), pool, terms), tasks, publications)
    }

    /// Signs a new guest in.
    pub(crate) async fn guest(&self, name: &str) -> Client {
        guest_at(&self.base, name).await
    }

    /// Starts a house in which a guest has signed in.
    pub(crate) async fn with_guest() -> (Self, Client) {
        let house = Self::new().await;
        let client = house.guest(FRIENDS[0]).await;
        (house, client)
    }

    /// Starts a house in which three guests sit at one table of the newbie room.
    pub(crate) async fn with_table() -> (Self, TableId, [Client; 3]) {
        let house = Self::new().await;
        let (table, clients) = house.table().await;
        (house, table, clients)
    }

    /// Signs new guests in.
    pub(crate) async fn guests<const N: usize>(&self, names: [&str; N]) -> Vec<Client> {
        let mut clients = vec![];
        for name in names {
            clients.push(self.guest(name).await);
        }
        clients
    }

    /// Seats three guests at one table of the newbie room.
    pub(crate) async fn table(&self) -> (TableId, [Client; 3]) {
        let (table, clients) = seat_guests([&*self.base; 3]).await;
        (table, clients.try_into().unwrap())
    }

    /// Applies games to ratings until every posted operation is sealed by the node and counted.
    pub(crate) async fn rate_all(&self, ratings: &Ratings) {
        let all = "
            select not exists (select from unsealed_operations)
                and p.seal = (select coalesce(max(s.number), 0) from seals s)
            from projections p where p.name = 'ratings'";
        let rated = async {
            while !sqlx::query_scalar::<_, bool>(all).fetch_one(&self.pool).await.unwrap() {
                ratings.catch_up().await.unwrap();
            }
        };
        timeout(PATIENCE, rated).await.expect("the booked games are rated");
    }

    pub(crate) async fn stop(&mut self) {
        if let Some(running) = self.running.take() {
            running.stop().await.unwrap();
        }
    }
}

/// Shortens the fights of the tests' room, which otherwise last ten seconds each if a concealed
/// meld may be prompted (rule 4.2).
fn short_fights(room: Room) -> Room {
    let usual = Rules::kingdom().countdowns;
    let is_usual =
        matches!(&room.terms().rules, AnyRules::Tongits(rules) if rules.countdowns == usual);
    if room.id() != "newbie" || !is_usual {
        return room;
    }
    with_tongits_rules(&room, |rules| rules.countdowns.fight_ms = FIGHT_MS)
}

/// Returns a room whose rules are changed if its game is Tong-its.
pub(crate) fn with_tongits_rules(room: &Room, change: impl FnOnce(&mut Rules)) -> Room {
    let mut terms = room.terms().clone();
    if let AnyRules::Tongits(rules) = &mut terms.rules {
        change(rules);
    }
    Room::new(room.name(), room.rule_set(), terms).unwrap()
}

pub(crate) async fn guest_at(base: &str, name: &str) -> Client {
    let device = format!("test-device-{}", Uuid::new_v4());
    Client::guest(base, &device, name).await.unwrap()
}

/// Signs in guests and seats them at one table of the newbie room, each through its server.
pub(crate) async fn seat_guests(servers: [&str; 3]) -> (TableId, Vec<Client>) {
    let (mut clients, mut tables) = (vec![], vec![]);
    for (base, name) in servers.into_iter().zip(FRIENDS) {
        let client = guest_at(base, name).await;
        tables.push(client.seat("newbie").await.unwrap());
        clients.push(client);
    }
    assert!(tables.iter().all(|table| *table == tables[0]), "{tables:?}");
    (tables[0], clients)
}

/// Opens a connection and joins the client's table.
pub(crate) async fn join_table(client: &Client) -> Play {
    let mut play = client.play().await.unwrap();
    let joining = play.join().await.unwrap();
    play.wait_for_answer(joining).await.unwrap();
    play
}

async fn start(
    database: &TestDatabase,
    live: &TestLive,
    setup: Setup,
) -> (String, RunningServer, PgPool) {
    let Setup { rooms, lobby, wall: clock, rate_limits, links, hooks, records } = setup;
    let pool = database.pool().await;
    let ledger_pool = database.pool().await;
    let listener = app::listen("127.0.0.1:0".parse().unwrap()).unwrap();
    let parts = ServerParts {
        pool: pool.clone(),
        ledger_pool,
        live: live.options(),
        signer: Signer::new(SECRET).unwrap(),
        clock,
        rooms,
        lobby,
        welcome: Coins::from_whole(1_000).unwrap(),
        ledger_check_every: Duration::from_secs(3_600),
        rewards: Terms::default(),
        calendar: bahay::standings::Calendar::default(),
        adjustments: adjustments(),
        tournament_approval_above: TOURNAMENT_APPROVAL_ABOVE,
        collusion_alert_score: bahay::reports::pairs::signs::ALERT_SCORE_DEFAULT,
        rate_limits,
        retention: RetentionPeriods::default(),
        records,
        archiving: ArchiveSchedule::new(Duration::from_hours(48)),
        ai_workers: 1,
        links,
        hooks,
        auth_options: cheap_auth_options(),
        desk: bahay::http::DeskOptions::default(),
        second_factor_keys: bahay::auth::SealingKeys::default(),
    };
    let probes = app::listen("127.0.0.1:0".parse().unwrap()).unwrap();
    let running = app::start(parts, listener, probes).await.unwrap();
    (format!("http://{}", running.address), running, pool)
}
