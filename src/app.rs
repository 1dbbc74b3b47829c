//! The composition of a server, in the order in which its parts start and stop.
//!
//! A server starts its dependencies first, and refuses to start, with a message that names the
//! remedy, before it listens. It stops in the reverse order: it accepts no new connections, asks
//! sockets to reconnect elsewhere, finishes requests, hands running jobs back, and posts the queued
//! operations of the ledger.

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

use crate::accounts::{self, AccountError, Accounts, HashOptionsError, SanctionReader};
use crate::auth::{Auth, SealingKeys, Signer};
use crate::clock::Clock;
use crate::config::{Config, ConfigError};
use crate::idempotency::Idempotency;
use crate::jobs::Jobs;
use crate::ledger::{Ledger, LedgerError, LedgerOptions, LedgerTasks};
use crate::live_store::{self, LiveStore};
use crate::lobby::conflict_keys::ConflictSecret;
use crate::lobby::{self, Catalog, Lobby, LobbyParts, Matcher, Room, RoomCounts, house_rooms};
use crate::metrics::Metrics;
use crate::notices::Notices;
use crate::operators::{AdjustmentBounds, Audit, Corrections, OperatorAuth, Operators};
use crate::projections;
use crate::rate_limit::{self, RateLimits};
use crate::ratings::Ratings;
use crate::records::{AddressError, ArchiveSchedule, Archiver, Records};
use crate::reports::{Pairs, Reports};
use crate::retention::{Retention, RetentionPeriods};
use crate::rewards::{Rewards, Terms};
use crate::rooms::RoomError;
use crate::social::Social;
use crate::standings::{self, Standings};
use crate::tables::{AI_TIMEOUT, Counts, Tables};
use crate::tournaments::{GuaranteeLimit, TournamentRequests, TournamentSchedules, Tournaments};
use crate::verify::hourly::Checks;
use crate::ws::{FaultHooks, LinkMonitor, LinkTimes, PlayState};
use crate::{db, http, ws};
use bahay_engine::catalog::AnyGame;

/// The time for which a stopping server waits for requests and for sockets.
const STOP_TIMEOUT: Duration = Duration::from_secs(10);

/// The kernel's send buffer of a connection, in bytes, in addition to the bounded queue of its
/// session.
const SEND_BUFFER_BYTES: u32 = 64 * 1024;

/// The queue of connections to be accepted, in which the clients of a dead node wait when all of
/// them connect at once. The kernel may have a lower limit (`net.core.somaxconn`).
const BACKLOG: u32 = 8192;

/// The errors that prevent a server from starting.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    #[error(transparent)]
    Config(#[from] ConfigError),
    #[error(transparent)]
    Connect(#[from] db::ConnectError),
    #[error("the database does not answer; start PostgreSQL or correct DATABASE_URL: {0}")]
    Database(sqlx::Error),
    #[error(transparent)]
    Schema(#[from] db::SchemaError),
    #[error("Redis cannot be reached; start it or correct REDIS_URL: {0}")]
    Redis(live_store::Unavailable),
    #[error("{0}, or correct REDIS_URL")]
    RedisSetup(#[from] live_store::RedisSetupError),
    #[error("cannot listen on {address}; free it or set {setting}: {error}")]
    Listen { address: SocketAddr, setting: &'static str, error: std::io::Error },
    #[error("BAHAY_ARCHIVE: {0}")]
    Archive(#[from] AddressError),
    #[error(transparent)]
    Rooms(#[from] RoomError),
    #[error(transparent)]
    Accounts(#[from] AccountError),
    #[error(transparent)]
    Passwords(#[from] HashOptionsError),
    #[error(transparent)]
    Ledger(#[from] LedgerError),
    #[error("the server failed: {0}")]
    Serve(#[from] std::io::Error),
}

/// The dependencies and options of a server.
#[derive(Debug)]
pub struct ServerParts {
    /// Connections for everything but the ledger's bookings.
    pub pool: PgPool,
    /// Connections for the ledger's bookings, which no reader can exhaust.
    pub ledger_pool: PgPool,
    pub live: live_store::Options,
    pub signer: Signer,
    /// The clock of tokens and sessions. Tables use the house's clock.
    pub clock: Clock,
    /// The first rooms of a database that has none.
    pub rooms: Vec<Room>,
    /// The options of the lobby. The secret of conflict keys is derived from the signing secret.
    pub lobby: lobby::Options,
    /// The welcome grant.
    pub welcome: Coins,
    /// The time from one check of the ledger to the next.
    pub ledger_check_every: Duration,
    /// The daily rewards and reliefs.
    pub rewards: Terms,
    /// The time zone and the seasons of the leaderboards.
    pub calendar: standings::Calendar,
    /// The bounds of adjustments by operators.
    pub adjustments: AdjustmentBounds,
    /// The sum of guarantees on one day above which a second operator approves an announcement.
    pub tournament_approval_above: Coins,
    /// The score of signs of collusion from which a pair of players is an alert.
    pub collusion_alert_score: i64,
    /// The limits by address and account.
    pub rate_limits: rate_limit::Options,
    /// The options of passwords and identities.
    pub auth_options: accounts::Options,
    /// The options of the desk.
    pub desk: http::DeskOptions,
    /// The keys that seal the second factors of operators.
    pub second_factor_keys: SealingKeys,
    /// The retention of rows.
    pub retention: RetentionPeriods,
    /// The store of records, with the archive if there is one.
    pub records: Records,
    /// The schedule of the archive.
    pub archiving: ArchiveSchedule,
    /// The number of threads that choose actions for absent players.
    pub ai_workers: u8,
    /// The timeouts by which dead connections are detected.
    pub links: LinkTimes,
    /// Hooks for tests that inject faults.
    pub hooks: FaultHooks,
}

/// A running server.
#[derive(Debug)]
pub struct RunningServer {
    pub address: SocketAddr,
    /// The address of the probes, for supervisors and Prometheus.
    pub probes: SocketAddr,
    stop: watch::Sender<bool>,
    server: JoinHandle<()>,
    /// The task of the probes, which stops with the server and is aborted after the jobs.
    probing: JoinHandle<()>,
    /// A channel that closes with the last socket.
    sessions: mpsc::Receiver<Infallible>,
    background: JoinSet<()>,
    /// The task of the jobs, which hands running ones back when it is stopped.
    jobs: JoinHandle<()>,
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
    let allowance = config.grants.allowance();
    let grants = config.grants.limits();
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
    let parts = ServerParts {
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
        tournament_approval_above: config.adjustments.tournament_approval_coins.0,
        collusion_alert_score: config.collusion_alert_score,
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

/// Listens on an address. Accepted connections have a small send buffer, so that a client that does
/// not read occupies little of the kernel's memory.
pub fn listen(address: SocketAddr) -> std::io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
    // Lets a restarted server bind its port at once.
    socket.set_reuseaddr(true)?;
    socket.set_send_buffer_size(SEND_BUFFER_BYTES)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}

/// Starts a server with one listener for clients and one for supervisors and Prometheus.
pub async fn start(
    parts: ServerParts,
    listener: TcpListener,
    probes: TcpListener,
) -> Result<RunningServer, ServeError> {
    let ServerParts { pool, ledger_pool, clock, records, lobby: lobby_options, .. } = parts;
    let metrics = Metrics::default();
    let rate_limits = RateLimits::new(parts.rate_limits);
    let (live, publications) = LiveStore::connect(&parts.live).await.map_err(ServeError::Redis)?;
    for warning in live.check_setup().await? {
        tracing::warn!("{warning}");
    }
    let allowance = lobby_options.allowance;
    let options = LedgerOptions { allowance, ..LedgerOptions::default() };
    let (ledger, ledger_tasks) = Ledger::start(ledger_pool.clone(), options);
    let ledger = ledger.with_read_pool(pool.clone());
    let catalog = Catalog::load(pool.clone(), &parts.rooms).await?;
    let terms = catalog.terms_source();
    let tables = Tables::<AnyGame>::start(live.clone(), ledger.clone(), pool.clone(), terms);
    let tables = tables.await.map_err(ServeError::Redis)?;
    tables.start_ai_pool(parts.ai_workers, AI_TIMEOUT)?;
    register_metrics(&metrics, &tables, [&pool, &ledger_pool]);
    register_transfers(&metrics, &ledger);
    register_rejections(&metrics, &rate_limits);
    let (stop, stopping) = watch::channel(false);

    let mut background = JoinSet::new();
    background.spawn(tables.clone().handle_publications(publications));
    background.spawn(tables.clone().run_ticker());
    let checks = Checks::new(pool.clone(), parts.ledger_check_every, &metrics);
    let checks = checks.with_records(records.clone());
    background.spawn(tables.clone().run_heartbeats());
    background.spawn(tables.clone().find_lost());

    let lookup = accounts::session_lookup(pool.clone());
    let auth = Auth::new(parts.signer, clock.clone(), lookup);
    let limits = parts.auth_options.grants;
    let accounts = Accounts::new(
        pool.clone(),
        ledger.clone(),
        auth.clone(),
        clock.clone(),
        parts.welcome,
        parts.auth_options,
    )?;
    let cursor = accounts.load_revocations().await?;
    let follower = accounts.clone();
    background.spawn(async move { follower.follow_revocations(cursor).await });
    let retention = Retention::new(pool.clone(), clock.clone(), parts.retention);
    let archiver = records
        .has_archive()
        .then(|| Archiver::new(pool.clone(), clock.clone(), records.clone(), parts.archiving));
    let jobs = Jobs::new(pool.clone(), &metrics, &retention, &checks, archiver.as_ref());

    let idempotency = Idempotency::new(pool.clone());
    let rewards = Rewards::new(pool.clone(), ledger.clone(), clock.clone(), parts.rewards);
    let rewards = rewards.with_limits(limits);
    let zone = parts.calendar.time_zone().clone();
    let standings = Standings::new(pool.clone(), live.clone(), parts.calendar);
    let standings = standings.with_records(records.clone());
    let projections = projections::Runner::new(&metrics);
    background.spawn(projections.clone().run(standings.clone(), stopping.clone()));
    let reports = Reports::with_own_pool(&pool).with_records(records.clone());
    background.spawn(projections.clone().run(reports.clone(), stopping.clone()));
    let pairs = Pairs::new(&reports, &zone, parts.collusion_alert_score);
    background.spawn(projections.clone().run(pairs.clone(), stopping.clone()));
    let social = Social::new(pool.clone());
    let operators = Operators::new(pool.clone());
    let audit = Audit::new(pool.clone());
    let operator_auth =
        OperatorAuth::new(pool.clone(), accounts.clone(), clock.clone(), parts.second_factor_keys);
    let corrections =
        Corrections::new(pool.clone(), ledger.clone(), clock.clone(), parts.adjustments);

    let ratings = Ratings::new(pool.clone());
    let conflict_secret = auth.derived_keys("conflict keys of players").swap_remove(0);
    let conflict_secret = ConflictSecret(conflict_secret);
    let lobby_options = lobby::Options { conflict_secret, ..lobby_options };
    let bots = accounts.load_house_bots(lobby_options.bots).await?;
    let lobby = Lobby::new(LobbyParts {
        rooms: catalog.clone(),
        tables: tables.clone(),
        live: live.clone(),
        ledger: ledger.clone(),
        accounts: accounts.clone(),
        ratings: ratings.clone(),
        bots: bots.into(),
        options: lobby_options,
    });
    ledger.create_tournament_fee_account().await?;
    let tournaments = Tournaments::new(pool.clone(), ledger.clone(), lobby.clone());
    let limit = GuaranteeLimit::new(parts.tournament_approval_above, zone);
    let tournament_requests =
        TournamentRequests::new(pool.clone(), tournaments.clone(), limit.clone());
    let tournament_schedules = TournamentSchedules::new(pool.clone(), tournaments.clone(), limit);
    let jobs = jobs.with_schedules(&tournament_schedules);
    let jobs = tokio::spawn(jobs.run(stopping.clone()));
    background.spawn(tournaments.clone().run());
    background.spawn(catalog.follow_changes());
    background.spawn(lobby.clone().follow_rooms());
    background.spawn(lobby.clone().follow_tickets());
    background.spawn(lobby.clone().run_online_refresh());
    background.spawn(lobby.clone().follow_news());
    background.spawn(lobby.clone().sample_room_counts(register_players(&metrics, &lobby)));
    background.spawn(Matcher::new(lobby.clone()).run_until(stopping.clone()));
    background.spawn(projections.run(ratings, stopping.clone()));
    let links = LinkMonitor::new(parts.links);
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
        hooks: parts.hooks,
    };
    let probed = live.clone();
    let redis = http::Probe::new("redis", move || {
        let live = probed.clone();
        async move { live.check_writable().await.map_err(|error| error.to_string()) }
    });
    let readiness = http::Readiness::new(vec![redis]);
    readiness.register_metrics(&metrics);
    background.spawn(readiness.clone().run(pool.clone()));
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
        pairs,
        rewards,
        social,
        standings,
        tournaments,
        tournament_requests,
        tournament_schedules,
        pool,
        readiness,
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
    let options = http::Options { rate_limits, desk: parts.desk, ..http::Options::default() };
    let router = http::router(services, &options, ws::router(play));
    let mut stopped = stopping;
    let server = http::serve(doorway, router, async move {
        // A dropped sender stops the server too.
        let _ = stopped.wait_for(|stop| *stop).await;
    });
    let server = tokio::spawn(server);
    Ok(RunningServer {
        address,
        probes: probed,
        stop,
        server,
        probing,
        sessions,
        background,
        jobs,
        tables,
        ledger: ledger_tasks,
    })
}

/// Registers the metrics of the process, the tables and the connection pools.
fn register_metrics(metrics: &Metrics, tables: &Tables<AnyGame>, [pool, ledger]: [&PgPool; 2]) {
    type ReadCount = fn(&Counts) -> u64;
    type ReadPool = fn(&PgPool) -> u64;
    metrics.register_play(tables.counts().play());
    metrics.register_process();
    let replicas = tables.clone();
    metrics.register_gauge_fn(
        "bahay_tables",
        "Tables of which this process has a replica",
        move || replicas.known_tables() as u64,
    );
    let counts: [(_, _, ReadCount); 4] = [
        ("bahay_tables_halted", "Tables that this process halted", Counts::halted),
        (
            "bahay_table_version_mismatches",
            "Tables left to nodes with another version of the engine",
            Counts::other_version,
        ),
        (
            "bahay_games_voided_lost",
            "Games that this process voided because their live state was lost",
            Counts::voided_lost,
        ),
        (
            "bahay_dead_node_connections",
            "Connections of dead nodes that this process reported to their tables",
            Counts::dead_node_connections,
        ),
    ];
    for (name, help, count) in counts {
        let tables = tables.clone();
        metrics.register_counter_fn(name, help, move || count(tables.counts()));
    }
    metrics.register_counts(
        "bahay_ai_decisions",
        "Actions that the strong AI was asked to choose for absent players, by outcome",
        tables.ai_outcomes(),
    );
    let all: ReadPool = |pool| pool.size().into();
    let idle: ReadPool = |pool| pool.num_idle() as u64;
    let connections = [
        ("bahay_database_connections", "Connections to PostgreSQL", pool, all),
        ("bahay_database_connections_idle", "Idle connections to PostgreSQL", pool, idle),
        ("bahay_ledger_connections", "Connections of the ledger to PostgreSQL", ledger, all),
        (
            "bahay_ledger_connections_idle",
            "Idle connections of the ledger to PostgreSQL",
            ledger,
            idle,
        ),
    ];
    for (name, help, pool, count) in connections {
        let pool = pool.clone();
        metrics.register_gauge_fn(name, help, move || count(&pool));
    }
}

/// Registers the coins that the ledger moves.
fn register_transfers(metrics: &Metrics, ledger: &Ledger) {
    let ledger = ledger.clone();
    metrics.register_counters_fn(
        "bahay_transferred_hundredths",
        "Hundredths of a coin that the operations sealed by this process have moved",
        "code",
        move || ledger.transfer_totals(),
    );
}

/// Registers the rejections by limits of addresses and accounts.
fn register_rejections(metrics: &Metrics, rate_limits: &RateLimits) {
    let rate_limits = rate_limits.clone();
    metrics.register_counters_fn(
        "bahay_rate_limit_rejections",
        "Connections and requests that a limit has rejected",
        "limit",
        move || rate_limits.rejections(),
    );
}

/// Registers the players of the process and of the rooms. Returns the sample that the metrics of
/// rooms show.
fn register_players(metrics: &Metrics, lobby: &Lobby) -> RoomCounts {
    let online = lobby.clone();
    metrics.register_gauge_fn(
        "bahay_players_online",
        "Players with an open socket at this process",
        move || online.count_online() as u64,
    );
    let counts = RoomCounts::default();
    let players = counts.clone();
    metrics.register_gauges_fn(
        "bahay_room_players",
        "Players at the tables of a room, on all nodes",
        "room",
        move || players.players(),
    );
    let tables = counts.clone();
    metrics.register_gauges_fn(
        "bahay_room_tables",
        "Tables of a room with players, on all nodes",
        "room",
        move || tables.tables(),
    );
    counts
}

impl RunningServer {
    /// Stops the server, and returns when everything has ended or the deadline has passed.
    pub async fn stop(mut self) -> std::io::Result<()> {
        // The receivers may be gone already.
        let _ = self.stop.send(true);
        match tokio::time::timeout(STOP_TIMEOUT, &mut self.server).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => return Err(std::io::Error::other(error)),
            Err(_) => {
                tracing::warn!("some requests did not end before the deadline");
                self.server.abort();
            }
        }
        if tokio::time::timeout(STOP_TIMEOUT, self.sessions.recv()).await.is_err() {
            tracing::warn!("some connections did not end before the deadline");
        }
        if tokio::time::timeout(STOP_TIMEOUT, &mut self.jobs).await.is_err() {
            tracing::warn!("some jobs were not handed back before the deadline");
            self.jobs.abort();
        }
        // The probes are not needed for the remaining steps.
        self.probing.abort();
        self.background.shutdown().await;
        self.tables.retire().await;
        self.ledger.stop().await;
        Ok(())
    }
}

/// The signals that stop a server. They are installed before the server answers, so that it can be
/// stopped in order as soon as it is reachable.
struct StopSignals {
    terminate: Signal,
    interrupt: Signal,
    /// The terminal has closed, or a supervisor requests a reload, which needs a new process.
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
