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
use tokio::net::TcpListener;
use tokio::sync::{mpsc, watch};
use tokio::task::{JoinHandle, JoinSet};

use crate::accounts::{AccountError, Accounts};
use crate::auth::{Auth, Revocations, Signer};
use crate::clock::Clock;
use crate::config::{Config, ConfigError};
use crate::ledger::{Ledger, LedgerOptions, LedgerTasks};
use crate::live::{self, Live};
use crate::lobby::{Lobby, Room, house_rooms};
use crate::notices::Notices;
use crate::tables::Tables;
use crate::tables::catalog::Tongits;
use crate::ws::PlayState;
use crate::{db, http, ws};

/// How long requests and sockets may take to end once the server stops.
const STOP_TIMEOUT: Duration = Duration::from_secs(10);

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
    let signer = config.signer()?;
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
    let listener =
        TcpListener::bind(address).await.map_err(|error| ServeError::Listen { address, error })?;
    let parts = Parts {
        pool,
        live: config.live.options(),
        signer,
        clock: Clock::system(),
        rooms: house_rooms(Clocks::default()),
        welcome: config.welcome_coins.0,
    };
    let running = start(parts, listener).await?;
    tracing::info!(address = %running.address, "serving");
    asked_to_stop().await?;
    tracing::info!("stopping");
    running.stop().await?;
    tracing::info!("stopped");
    Ok(())
}

/// Starts a server on a listener.
pub async fn start(parts: Parts, listener: TcpListener) -> Result<Running, ServeError> {
    let Parts { pool, live, signer, clock, rooms, welcome } = parts;
    let (live, publications) = Live::connect(&live).await.map_err(ServeError::Redis)?;
    let (ledger, ledger_tasks) = Ledger::start(pool.clone(), LedgerOptions::default());
    let tables = Tables::<Tongits>::start(live.clone(), ledger.clone(), pool.clone());
    let tables = tables.await.map_err(ServeError::Redis)?;
    let (stop, stopping) = watch::channel(false);

    let mut background = JoinSet::new();
    background.spawn(tables.clone().listen(publications));
    background.spawn(tables.clone().tick());
    background.spawn(tables.clone().keep_present());
    background.spawn(tables.clone().find_lost());

    let auth = Auth::new(signer, clock.clone(), Revocations::default());
    let accounts = Accounts::new(pool.clone(), ledger.clone(), auth.clone(), clock, welcome);
    accounts.load_revocations().await?;
    let follower = accounts.clone();
    background.spawn(async move { follower.follow_revocations().await });

    let lobby = Lobby::new(rooms, tables.clone(), live.clone(), ledger.clone());
    let (alive, sessions) = mpsc::channel(1);
    let play = PlayState {
        auth: auth.clone(),
        lobby: lobby.clone(),
        notices: Notices::new(pool.clone()),
        clock: tables.clock().clone(),
        stopping: stopping.clone(),
        alive,
    };
    let redis = http::Probe::new("redis", move || {
        let live = live.clone();
        async move { live.ping().await.map_err(|error| error.to_string()) }
    });
    let services = http::Services { accounts, auth, ledger, lobby, pool, probes: vec![redis] };
    let router = http::router(services, &http::Options::default(), ws::router(play));

    let address = listener.local_addr()?;
    let listener = listener.tap_io(|stream| {
        // Small answers must not wait for each other; without it they only come later.
        let _ = stream.set_nodelay(true);
    });
    let mut stopped = stopping;
    let server = axum::serve(listener, router).with_graceful_shutdown(async move {
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

async fn asked_to_stop() -> std::io::Result<()> {
    let mut terminate = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate())?;
    tokio::select! {
        interrupted = tokio::signal::ctrl_c() => interrupted,
        _ = terminate.recv() => Ok(()),
    }
}
