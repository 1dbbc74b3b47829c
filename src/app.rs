//! The wiring list: what a server is made of, in the order in which it starts and stops.
//!
//! It starts from the ground up and refuses, with a line that says what to do, before it listens.
//! It stops from the top down: no new connections, sockets told to go elsewhere, requests
//! finished, what the ledger has taken posted.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::time::Duration;

use bahay_engine::coins::Coins;
use bahay_engine::table::Clocks;
use sqlx::PgPool;
use tokio::net::{TcpListener, TcpSocket};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::{mpsc, watch};
use tokio::task::{JoinHandle, JoinSet};

use crate::accounts::{self, AccountError, Accounts, SanctionReader, HouseBot, HashOptionsError};
use crate::auth::{Auth, SealingKeys, Signer};
use crate::clock::Clock;
use crate::config::{Config, ConfigError};
use crate::rate_limit::{self, RateLimits};
use crate::idempotency::Idempotency;
use crate::ledger::{Ledger, LedgerOptions, LedgerTasks};
use crate::live_store::{self, LiveStore};
use crate::lobby::{self, Bot, Bots, Catalog, Lobby, Matcher, Room, house_rooms};
use crate::metrics::Metrics;
use crate::months::Months;
use crate::notices::Notices;
use crate::operators::{AdjustmentBounds, Audit, Corrections, OperatorAuth, Operators};
use crate::ratings::Ratings;
use crate::records::{AddressError, Archiver, ArchiveSchedule, Records};
use crate::reports::Reports;
use crate::retention::{Retention, RetentionPeriods};
use crate::rewards::{Rewards, Terms};
use crate::rooms::RoomError;
use crate::social::Social;
use crate::standings::{self, Standings};
use crate::tables::{THINKING_PATIENCE, Tables};
use crate::verify::hourly::Checks;
use crate::ws::{FaultHooks, LinkMonitor, LinkTimes, PlayState};
use crate::{db, http, ws};
use bahay_engine::catalog::AnyGame;

/// How long requests and sockets may take to end once the server stops.
const STOP_TIMEOUT: Duration = Duration::from_secs(10);

/// What the kernel may hold of what a client has not read, beside the outbox of its session.
const SEND_BUFFER_BYTES: u32 = 64 * 1024;

/// Connections that wait to be accepted.
const BACKLOG: u32 = 1024;

/// Why a server does not start.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    #[error(transparent)]
    Config(#[from] ConfigError),
    #[error(transparent)]
    Connect(#[from] db::ConnectError),
    #[error("the database does not answer; start PostgreSQL or mend DATABASE_URL: {0}")]
    Database(sqlx::Error),
    #[error(transparent)]
    Schema(#[from] db::SchemaError),
    #[error("Redis cannot be reached; start it or mend REDIS_URL: {0}")]
    Redis(live_store::Unavailable),
    #[error("{0}, or mend REDIS_URL")]
    RedisSetup(#[from] live_store::SetupError),
    #[error("{address} cannot be listened on; free it or set {setting}: {error}")]
    Listen { address: SocketAddr, setting: &'static str, error: std::io::Error },
    #[error("BAHAY_ARCHIVE: {0}")]
    Archive(#[from] AddressError),
    #[error(transparent)]
    Rooms(#[from] RoomError),
    #[error(transparent)]
    Accounts(#[from] AccountError),
    #[error(transparent)]
    Passwords(#[from] HashOptionsError),
    #[error("the server failed: {0}")]
    Serve(#[from] std::io::Error),
}

/// What a server is made of.
#[derive(Debug)]
pub struct Parts {
    /// For everything but what the ledger books.
    pub pool: PgPool,
    /// For that: who reads, however much, takes no connection from it.
    pub ledger_pool: PgPool,
    pub live: live_store::Options,
    pub signer: Signer,
    /// For tokens and sessions. Tables have the house's own.
    pub clock: Clock,
    /// For a database that has none.
    pub rooms: Vec<Room>,
    /// How players are brought together. The key of its conflict keys is the house's own.
    pub lobby: lobby::Options,
    /// What a new player is given.
    pub welcome: Coins,
    /// From one check of the ledger to the next.
    pub ledger_check_every: Duration,
    /// What players are given later.
    pub rewards: Terms,
    /// Whose days and seasons the leaderboards have.
    pub calendar: standings::Calendar,
    /// The most that operators may give or take by adjustments.
    pub adjustments: AdjustmentBounds,
    /// Who is let in, and how often.
    pub rate_limits: rate_limit::Options,
    /// How players may sign in beside by their devices.
    pub auth_options: accounts::Options,
    /// How operators come to the desk.
    pub desk: http::DeskOptions,
    /// With which second factors of operators are stored.
    pub second_factor_keys: SealingKeys,
    /// For how long rows are kept that nobody needs.
    pub retention: RetentionPeriods,
    /// Where records of old games are.
    pub records: Records,
    /// When they are moved there.
    pub archiving: ArchiveSchedule,
    /// Threads that think about the moves of players who are taken over.
    pub ai_workers: u8,
    /// By which dead connections are noticed.
    pub links: LinkTimes,
    /// For tests that plant faults.
    pub hooks: FaultHooks,
}

/// A server that runs.
#[derive(Debug)]
pub struct Running {
    pub address: SocketAddr,
    /// Where supervisors ask.
    pub probes: SocketAddr,
    stop: watch::Sender<bool>,
    server: JoinHandle<()>,
    /// Ends with the server.
    probing: JoinHandle<()>,
    /// Ends with the last connection.
    sessions: mpsc::Receiver<Infallible>,
    background: JoinSet<()>,
    tables: Tables<AnyGame>,
    ledger: LedgerTasks,
}

/// Serves until SIGTERM, SIGHUP or Ctrl-C.
pub async fn serve(config: Config) -> Result<(), ServeError> {
    let mut stop = StopSignals::listen()?;
    let signer = config.signer()?;
    let rewards = config.rewards.terms();
    let desk = http::DeskOptions { plain_http: config.desk_plain_http()? };
    let second_factor_keys = config.second_factor_keys()?;
    if second_factor_keys.is_empty() {
        tracing::warn!("BAHAY_SECOND_FACTOR_KEYS is not set: second factors are stored unsealed");
    }
    let (allowance, grants) = (config.grants.allowance(), config.grants.limits());
    let database = config.database.database_url;
    db::check_schema(&database).await?;
    let connect = async |connections_max| {
        let options = db::PoolOptions { connections_max, ..db::PoolOptions::default() };
        db::connect(database.clone(), options).await
    };
    let pool = connect(config.database_connections).await?;
    let ledger_pool = connect(config.ledger_connections).await?;
    if db::login_may_rewrite(&pool).await.map_err(ServeError::Database)? {
        tracing::warn!(
            "the database login may change booked transfers: in production, serve with one that \
             only has the role {}",
            db::SERVICE_ROLE
        );
    }
    let listen_for = |address, setting| {
        listen(address).map_err(|error| ServeError::Listen { address, setting, error })
    };
    let listener = listen_for(config.listen, "BAHAY_LISTEN")?;
    let probes = listen_for(config.probe_listen, "BAHAY_PROBE_LISTEN")?;
    let parts = Parts {
        pool,
        ledger_pool,
        live: config.live.options(),
        signer,
        clock: Clock::system(),
        rooms: house_rooms(Clocks::default()),
        lobby: lobby::Options { allowance, ..config.lobby.options() },
        welcome: config.welcome_coins.0,
        ledger_check_every: Duration::from_secs(60 * u64::from(config.ledger_check_minutes)),
        rewards,
        calendar: config.standings.calendar(),
        adjustments: config.adjustments.bounds(),
        rate_limits: config.rate_limits.options(),
        retention: config.retention.periods(),
        records: config.archive.records()?,
        archiving: config.archive.schedule(),
        ai_workers: config.ai_workers,
        links: LinkTimes::SERVICE,
        hooks: FaultHooks::default(),
        auth_options: accounts::Options { grants, ..config.sign_in.options() },
        desk,
        second_factor_keys,
    };
    let running = start(parts, listener, probes).await?;
    tracing::info!(address = %running.address, probes = %running.probes, "serving");
    stop.received().await;
    tracing::info!("stopping");
    running.stop().await?;
    tracing::info!("stopped");
    Ok(())
}

/// Listens on an address. What is accepted there has a small buffer for sending, so that a client
/// that does not read holds little in the kernel.
pub fn listen(address: SocketAddr) -> std::io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
    // A restarted server takes its port again at once.
    socket.set_reuseaddr(true)?;
    socket.set_send_buffer_size(SEND_BUFFER_BYTES)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}

/// Starts a server on a listener for everybody, and on one for supervisors and Prometheus.
pub async fn start(
    parts: Parts,
    listener: TcpListener,
    probes: TcpListener,
) -> Result<Running, ServeError> {
    let Parts {
        pool,
        ledger_pool,
        live,
        signer,
        clock,
        rooms,
        lobby: lobby_options,
        welcome,
        ledger_check_every,
        rewards,
        calendar,
        adjustments,
        rate_limits,
        retention,
        records,
        archiving,
        ai_workers,
        links,
        hooks,
        auth_options,
        desk: desk_options,
        second_factor_keys,
    } = parts;
    let metrics = Metrics::default();
    let rate_limits = RateLimits::new(rate_limits);
    let (live, publications) = LiveStore::connect(&live).await.map_err(ServeError::Redis)?;
    for warning in live.check_setup().await? {
        tracing::warn!("{warning}");
    }
    let allowance = lobby_options.allowance;
    let options = LedgerOptions { allowance, ..LedgerOptions::default() };
    let (ledger, ledger_tasks) = Ledger::start(ledger_pool.clone(), options);
    let ledger = ledger.with_read_pool(pool.clone());
    let tables = Tables::<AnyGame>::start(live.clone(), ledger.clone(), pool.clone());
    let tables = tables.await.map_err(ServeError::Redis)?;
    tables.begin_thinking(ai_workers, THINKING_PATIENCE)?;
    register_metrics(&metrics, &tables, [&pool, &ledger_pool]);
    let (stop, stopping) = watch::channel(false);

    let mut background = JoinSet::new();
    background.spawn(tables.clone().listen(publications));
    background.spawn(tables.clone().tick());
    let checks = Checks::new(pool.clone(), ledger_check_every, &metrics);
    let checks = checks.with_records(records.clone());
    background.spawn(checks.clone().run(stopping.clone()));
    background.spawn(tables.clone().keep_present());
    background.spawn(tables.clone().find_lost());

    let lookup = accounts::session_lookup(pool.clone());
    let auth = Auth::new(signer, clock.clone(), lookup);
    let (books, proofs) = (ledger.clone(), auth.clone());
    let limits = auth_options.grants;
    let accounts = Accounts::new(pool.clone(), books, proofs, clock.clone(), welcome, auth_options)?;
    let cursor = accounts.load_revocations().await?;
    let follower = accounts.clone();
    background.spawn(async move { follower.follow_revocations(cursor).await });
    background.spawn(Months::new(pool.clone(), &metrics).run(stopping.clone()));
    background.spawn(Retention::new(pool.clone(), clock.clone(), retention).run());
    if records.has_archive() {
        let mover = Archiver::new(pool.clone(), clock.clone(), records.clone(), archiving);
        background.spawn(mover.run(stopping.clone()));
    }

    let idempotency = Idempotency::new(pool.clone());
    let rewards = Rewards::new(pool.clone(), ledger.clone(), clock.clone(), rewards);
    let rewards = rewards.with_limits(limits);
    let standings = Standings::new(pool.clone(), live.clone(), calendar);
    let standings = standings.with_records(records.clone());
    background.spawn(standings.clone().run(stopping.clone()));
    let reports = Reports::with_own_pool(&pool).with_records(records.clone());
    background.spawn(reports.clone().run(stopping.clone()));
    let social = Social::new(pool.clone());
    let operators = Operators::new(pool.clone());
    let audit = Audit::new(pool.clone());
    let operator_auth = OperatorAuth::new(pool.clone(), accounts.clone(), clock.clone(), second_factor_keys);
    let corrections = Corrections::new(pool.clone(), ledger.clone(), clock.clone(), adjustments);

    let catalog = Catalog::load(pool.clone(), &rooms).await?;
    let ratings = Ratings::new(pool.clone());
    let conflict_secret = auth.derived_keys("conflict keys of players").swap_remove(0);
    let lobby_options = lobby::Options { conflict_secret, ..lobby_options };
    let (count, after) = (lobby_options.bots, lobby_options.bots_after);
    let bots = accounts.load_house_bots(count).await?.into_iter();
    let bots = bots.map(|HouseBot { id: player, name, avatar }| Bot { player, name, avatar });
    let bots = Bots::new(bots.collect(), after);
    let lobby = Lobby::new(catalog.clone(), tables.clone(), live.clone(), ledger.clone())
        .with_options(lobby_options, ratings.clone())
        .with_accounts(accounts.clone())
        .with_bots(&bots);
    background.spawn(catalog.follow());
    background.spawn(lobby.clone().follow_rooms());
    background.spawn(lobby.clone().follow_tickets());
    background.spawn(lobby.clone().run_online_refresh());
    background.spawn(lobby.clone().follow_invitations());
    background.spawn(Matcher::new(lobby.clone()).with_bots(bots).run_until(stopping.clone()));
    background.spawn(ratings.run());
    let links = LinkMonitor::new(links);
    background.spawn(links.clone().run());
    let (alive, sessions) = mpsc::channel(1);
    let play = PlayState {
        auth: auth.clone(),
        lobby: lobby.clone(),
        live: live.clone(),
        rate_limits: rate_limits.clone(),
        links,
        notices: Notices::new(pool.clone()),
        social: social.clone(),
        sanctions: SanctionReader::new(pool.clone()),
        clock: clock.clone(),
        stopping: stopping.clone(),
        alive,
        hooks,
    };
    let probed = live.clone();
    let redis = http::Probe::new("redis", move || {
        let live = probed.clone();
        async move { live.check_writable().await.map_err(|error| error.to_string()) }
    });
    let services = http::Services {
        accounts,
        analyses: http::Analyses::default(),
        audit,
        auth,
        checks,
        corrections,
        operator_auth,
        idempotency,
        ledger,
        lobby,
        live,
        clock,
        metrics,
        operators,
        records,
        reports,
        rewards,
        social,
        standings,
        pool,
        readiness: http::Readiness::new(vec![redis]),
    };
    let probed = probes.local_addr()?;
    let mut unprobed = stopping.clone();
    let supervised = http::LimitedListener::new(probes, RateLimits::default());
    let probing = http::serve(supervised, http::probe_router(services.clone()), async move {
        let _ = unprobed.wait_for(|stop| *stop).await;
    });
    let probing = tokio::spawn(probing);
    let address = listener.local_addr()?;
    let doorway = http::LimitedListener::new(listener, rate_limits.clone());
    let options = http::Options { rate_limits, desk: desk_options, ..http::Options::default() };
    let router = http::router(services, &options, ws::router(play));
    let mut stopped = stopping;
    let server = http::serve(doorway, router, async move {
        // Without its sender the server is stopped too.
        let _ = stopped.wait_for(|stop| *stop).await;
    });
    let server = tokio::spawn(server);
    let ledger = ledger_tasks;
    let probes = probed;
    Ok(Running { address, probes, stop, server, probing, sessions, background, tables, ledger })
}

/// What the parts know of themselves, for whoever reads the figures.
fn register_metrics(metrics: &Metrics, tables: &Tables<AnyGame>, [pool, ledger]: [&PgPool; 2]) {
    metrics.register_play(tables.counts().play());
    metrics.register_process();
    let (known, halted, other) = (tables.clone(), tables.clone(), tables.clone());
    let (voided, dead_node_connections) = (tables.clone(), tables.clone());
    let (connections, idle) = (pool.clone(), pool.clone());
    let (booking, booking_idle) = (ledger.clone(), ledger.clone());
    metrics.register_gauge_fn("bahay_tables", "Tables of which this process has a copy", move || {
        known.known_tables() as u64
    });
    metrics.register_counter_fn("bahay_tables_halted", "Tables that this process halted", move || {
        halted.counts().halted()
    });
    metrics.register_counter_fn(
        "bahay_table_version_mismatches",
        "How often a table was left to nodes of another version of the engine",
        move || other.counts().other_version(),
    );
    metrics.register_counter_fn(
        "bahay_games_voided_lost",
        "Games that this process voided because their live state was lost",
        move || voided.counts().voided_lost(),
    );
    metrics.register_counter_fn(
        "bahay_dead_node_connections",
        "Connections of dead nodes whose tables this process told",
        move || dead_node_connections.counts().dead_node_connections(),
    );
    metrics.register_counts(
        "bahay_ai_decisions",
        "Moves of players who are taken over that the strong AI was asked for, by outcome",
        tables.thoughts(),
    );
    metrics.register_gauge_fn("bahay_database_connections", "Connections to PostgreSQL", move || {
        connections.size().into()
    });
    metrics.register_gauge_fn(
        "bahay_database_connections_idle",
        "Connections to PostgreSQL that nobody uses",
        move || idle.num_idle() as u64,
    );
    metrics.register_gauge_fn("bahay_ledger_connections", "Connections by which the ledger books", move || {
        booking.size().into()
    });
    metrics.register_gauge_fn(
        "bahay_ledger_connections_idle",
        "Connections of the ledger that nobody uses",
        move || booking_idle.num_idle() as u64,
    );
}

impl Running {
    /// Stops from the top down, and returns when everything has ended or the time is up.
    pub async fn stop(mut self) -> std::io::Result<()> {
        // Nobody may be listening for it any more.
        let _ = self.stop.send(true);
        match tokio::time::timeout(STOP_TIMEOUT, &mut self.server).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => return Err(std::io::Error::other(error)),
            Err(_) => {
                tracing::warn!("some requests did not end in time");
                self.server.abort();
            }
        }
        if tokio::time::timeout(STOP_TIMEOUT, self.sessions.recv()).await.is_err() {
            tracing::warn!("some connections did not end in time");
        }
        // Whoever still asks how it does has no business with what is left.
        self.probing.abort();
        self.background.shutdown().await;
        self.tables.retire().await;
        self.ledger.stop().await;
        Ok(())
    }
}

/// What asks a server to stop. Listened to before it serves: whoever sees it answer may end it at
/// once, and in order.
struct StopSignals {
    terminate: Signal,
    interrupt: Signal,
    /// The terminal has gone, or a supervisor asks to read settings anew: that takes a new process.
    hang_up: Signal,
}

impl StopSignals {
    fn listen() -> std::io::Result<Self> {
        let terminate = signal(SignalKind::terminate())?;
        let interrupt = signal(SignalKind::interrupt())?;
        Ok(Self { terminate, interrupt, hang_up: signal(SignalKind::hangup())? })
    }

    async fn received(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
            _ = self.hang_up.recv() => {}
        }
    }
}
