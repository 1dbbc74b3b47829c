//! `bahay events`: writes ledger events to a folder or a broker, or prints them, once or
//! continuously.

use std::io::{ErrorKind, Write, stdout};
use std::path::PathBuf;
use std::time::Duration;

use bahay_base::error_line::to_one_line;
use bahay_db::{ConnectError, PgPool, PoolOptions, SchemaError};
use sqlx::postgres::PgConnectOptions;

use crate::folder::{EventFolder, EventFolderError};
use crate::nats::{self, NatsError, NatsOptions};
use crate::read::LedgerEventReader;

/// The interval between two reads of a stream without new events.
const POLL_INTERVAL: Duration = Duration::from_millis(500);

/// The target of the events and the position to start at.
#[derive(Clone, Debug, clap::Args)]
#[group(skip)]
pub struct EventsOptions {
    /// The folder to write to; it stores its own position. Without it events are printed.
    #[arg(long, value_name = "FOLDER")]
    pub out: Option<PathBuf>,
    /// The number of the first event to print.
    #[arg(long, value_name = "NUMBER", default_value = "1", conflicts_with = "out",
          value_parser = clap::value_parser!(i64).range(1..))]
    pub from: i64,
    /// Keep running and write new events as they are sealed.
    #[arg(long)]
    pub follow: bool,
    #[command(flatten)]
    pub nats: NatsOptions,
}

/// An error of writing events.
#[derive(Debug, thiserror::Error)]
pub enum EventsError {
    #[error(transparent)]
    Schema(#[from] SchemaError),
    #[error(transparent)]
    Connect(#[from] ConnectError),
    #[error(transparent)]
    Database(#[from] sqlx::Error),
    #[error(transparent)]
    EventFolder(#[from] EventFolderError),
    #[error(transparent)]
    Nats(#[from] NatsError),
    #[error(transparent)]
    Write(#[from] std::io::Error),
    #[error("there are fewer than {0} events: is this another database?")]
    StreamTooShort(i64),
}

/// Writes the ledger events of a database as `options` say, with the rights of the service.
pub async fn export(options: EventsOptions, database: PgConnectOptions) -> Result<(), EventsError> {
    bahay_db::check_schema(&database).await?;
    let connections = PoolOptions { connections_max: 2, ..PoolOptions::default() };
    let pool = bahay_db::connect(database, connections).await?;
    // An empty setting counts as absent, because deployments pass on unset variables as empty ones.
    if let Some(to) = options.nats.to.as_deref().filter(|to| !to.is_empty()) {
        let follow = options.follow.then_some(POLL_INTERVAL);
        let on_failure =
            |error: &NatsError| eprintln!("bahay: {}; trying again", to_one_line(error));
        return Ok(nats::publish(&options.nats, to, &pool, follow, on_failure).await?);
    }
    match write(options, pool, &mut stdout().lock()).await {
        // The reader has closed the pipe.
        Err(EventsError::Write(error)) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        done => done,
    }
}

async fn write(
    options: EventsOptions,
    pool: PgPool,
    out: &mut impl Write,
) -> Result<(), EventsError> {
    let mut folder = options.out.as_deref().map(EventFolder::open).transpose()?;
    let after = folder.as_ref().map_or(options.from - 1, EventFolder::number);
    let mut reader =
        LedgerEventReader::open(pool, after).await?.ok_or(EventsError::StreamTooShort(after))?;
    loop {
        let events = reader.read_batch().await?;
        match &mut folder {
            Some(folder) => folder.append(&events)?,
            None => {
                for event in &events {
                    serde_json::to_writer(&mut *out, event).map_err(std::io::Error::from)?;
                    out.write_all(b"\n")?;
                }
                out.flush()?;
            }
        }
        match (events.is_empty(), options.follow) {
            (true, true) => tokio::time::sleep(POLL_INTERVAL).await,
            (true, false) => return Ok(()),
            (false, _) => {}
        }
    }
}
