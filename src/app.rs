//! The wiring list: what a server is made of, in the order in which it starts and stops.
//!
//! It starts from the ground up and refuses, with a line that says what to do, before it listens.
//! It stops from the top down: no new connections, sockets told to go elsewhere, requests
//! finished, what the ledger has taken posted.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::time::Duration;

use axum::serve::ListenerExt;
use bahay_engine::coins::Coins;
use bahay_engine::table::Clocks;
use sqlx::PgPool;
use tokio::net::{TcpListener, TcpSocket};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::{mpsc, watch};
use tokio::task::{JoinHandle, JoinSet};

use crate::accounts::{AccountError, Accounts};
use crate::auth::{Auth, Revocations, Signer};
use crate::clock::Clock;
use crate::config::{Config, ConfigError};
use crate::edge::{self, Edge};
use crate::idempotency::Idempotency;
use crate::ledger::{Ledger, LedgerOptions, LedgerTasks};
use crate::live::{self, Live};
use crate::lobby::{Lobby, Room, house_rooms};
use crate::metrics::Metrics;
use crate::notices::Notices;
use crate::operators::{Corrections, Operators};
use crate::rewards::{Rewards, Terms};
use crate::tables::Tables;
use crate::tables::catalog::Tongits;
use crate::verify::hourly::Checks;
use crate::ws::{PlayState, Tap};
use crate::{db, http, ws};

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
    #[error("the database cannot be reached; start PostgreSQL or mend DATABASE_URL: {0}")]
    Database(sqlx::Error),
    #[error(transparent)]
    Schema(#[from] db::SchemaError),
    #[error("Redis cannot be reached; start it or mend REDIS_URL: {0}")]
    Redis(live::Unavailable),
    #[error("{address} cannot be listened on; free it or set BAHAY_LISTEN: {error}")]
    Listen { address: SocketAddr, error: std::io::Error },
    #[error(transparent)]
    Accounts(#[from] AccountError),
    #[error("the server failed: {0}")]
    Serve(#[from] std::io::Error),
}

/// What a server is made of.
#[derive(Debug)]
pub struct Parts {
    pub pool: PgPool,
    pub live: live::Options,
    pub signer: Signer,
    /// For tokens and sessions. Tables have the house's own.
    pub clock: Clock,
    pub rooms: Vec<Room>,
    /// What a new player is given.
    pub welcome: Coins,
    /// From one check of the ledger to the next.
    pub ledger_check_every: Duration,
    /// What players are given later.
    pub rewards: Terms,
    /// The most that operators may give or take in one adjustment.
    pub adjustment_max: Coins,
    /// Who is let in, and how often.
    pub door: edge::Options,
    /// For tests that plant faults.
    pub tap: Option<Tap>,
}

/// A server that runs.
#[derive(Debug)]
pub struct Running {
    pub address: SocketAddr,
    stop: watch::Sender<bool>,
    server: JoinHandle<std::io::Result<()>>,
    /// Ends with the last connection.
    sessions: mpsc::Receiver<Infallible>,
    background: JoinSet<()>,
    tables: Tables<Tongits>,
    ledger: LedgerTasks,
}

/// Serves until SIGTERM or Ctrl-C.
pub async fn serve(config: Config) -> Result<(), ServeError> {
    let mut stop = StopSignals::listen()?;
    let signer = config.signer()?;
    let rewards = config.rewards.terms();
    let pool = db::PoolOptions {
        connections_max: config.database_connections,
        ..db::PoolOptions::default()
    };
    let database = config.database.database_url;
    db::check_schema(&database).await?;
    let pool = db::connect(database, pool).await.map_err(ServeError::Database)?;
    if db::login_may_rewrite(&pool).await.map_err(ServeError::Database)? {
        tracing::warn!(
            "the database login may change booked transfers: in production, serve with one that \
             only has the role {}",
            db::SERVICE_ROLE
        );
    }
    let address = config.listen;
    let listener = listen(address).map_err(|error| ServeError::Listen { address, error })?;
    let parts = Parts {
        pool,
        live: config.live.options(),
        signer,
        clock: Clock::system(),
        rooms: house_rooms(Clocks::default()),
        welcome: config.welcome_coins.0,
        ledger_check_every: Duration::from_secs(60 * u64::from(config.ledger_check_minutes)),
        rewards,
        adjustment_max: config.adjustment_max_coins.0,
        door: config.door.options(),
        tap: None,
    };
    let running = start(parts, listener).await?;
    tracing::info!(address = %running.address, "serving");
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

/// Starts a server on a listener.
pub async fn start(parts: Parts, listener: TcpListener) -> Result<Running, ServeError> {
    let Parts {
        pool,
        live,
        signer,
        clock,
        rooms,
        welcome,
        ledger_check_every,
        rewards,
        adjustment_max,
        door,
        tap,
    } = parts;
    let metrics = Metrics::default();
    let edge = Edge::new(door);
    let (live, publications) = Live::connect(&live).await.map_err(ServeError::Redis)?;
    let (ledger, ledger_tasks) = Ledger::start(pool.clone(), LedgerOptions::default());
    let tables = Tables::<Tongits>::start(live.clone(), ledger.clone(), pool.clone());
    let tables = tables.await.map_err(ServeError::Redis)?;
    let (stop, stopping) = watch::channel(false);

    let mut background = JoinSet::new();
    background.spawn(tables.clone().listen(publications));
    background.spawn(tables.clone().tick());
    let checks = Checks::new(pool.clone(), ledger_check_every, &metrics);
    background.spawn(checks.clone().run(stopping.clone()));
    background.spawn(tables.clone().keep_present());
    background.spawn(tables.clone().find_lost());

    let auth = Auth::new(signer, clock.clone(), Revocations::default());
    let accounts =
        Accounts::new(pool.clone(), ledger.clone(), auth.clone(), clock.clone(), welcome);
    accounts.load_revocations().await?;
    let follower = accounts.clone();
    background.spawn(async move { follower.follow_revocations().await });

    let idempotency = Idempotency::new(pool.clone());
    background.spawn(idempotency.clone().sweep_always());
    let rewards = Rewards::new(pool.clone(), ledger.clone(), clock.clone(), rewards);
    let operators = Operators::new(pool.clone());
    let corrections = Corrections::new(pool.clone(), ledger.clone(), adjustment_max);

    let lobby = Lobby::new(rooms, tables.clone(), live.clone(), ledger.clone());
    let (alive, sessions) = mpsc::channel(1);
    let play = PlayState {
        auth: auth.clone(),
        lobby: lobby.clone(),
        live: live.clone(),
        edge: edge.clone(),
        notices: Notices::new(pool.clone()),
        clock: tables.clock().clone(),
        stopping: stopping.clone(),
        alive,
        tap,
    };
    let probed = live.clone();
    let redis = http::Probe::new("redis", move || {
        let live = probed.clone();
        async move { live.ping().await.map_err(|error| error.to_string()) }
    });
    let services = http::Services {
        accounts,
        auth,
        checks,
        corrections,
        idempotency,
        ledger,
        lobby,
        live,
        clock,
        metrics,
        operators,
        rewards,
        pool,
        probes: vec![redis],
    };
    let address = listener.local_addr()?;
    let doorway = http::Doorway::new(listener, edge.clone());
    let options = http::Options { edge, ..http::Options::default() };
    let router = http::router(services, &options, ws::router(play));
    let router = router.into_make_service_with_connect_info::<SocketAddr>();

    // Through an adapter that does nothing, handlers can ask for the address of the peer.
    let doorway = doorway.tap_io(|_| {});
    let mut stopped = stopping;
    let server = axum::serve(doorway, router).with_graceful_shutdown(async move {
        // Without its sender the server is stopped too.
        let _ = stopped.wait_for(|stop| *stop).await;
    });
    let server = tokio::spawn(async move { server.await });
    let ledger = ledger_tasks;
    Ok(Running { address, stop, server, sessions, background, tables, ledger })
}

impl Running {
    /// Stops from the top down, and returns when everything has ended or the time is up.
    pub async fn stop(mut self) -> std::io::Result<()> {
        // Nobody may be listening for it any more.
        let _ = self.stop.send(true);
        match tokio::time::timeout(STOP_TIMEOUT, &mut self.server).await {
            Ok(Ok(served)) => served?,
            Ok(Err(error)) => return Err(std::io::Error::other(error)),
            Err(_) => {
                tracing::warn!("some requests did not end in time");
                self.server.abort();
            }
        }
        if tokio::time::timeout(STOP_TIMEOUT, self.sessions.recv()).await.is_err() {
            tracing::warn!("some connections did not end in time");
        }
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
}

impl StopSignals {
    fn listen() -> std::io::Result<Self> {
        let terminate = signal(SignalKind::terminate())?;
        Ok(Self { terminate, interrupt: signal(SignalKind::interrupt())? })
    }

    async fn received(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
        }
    }
}
