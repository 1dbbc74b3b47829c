//! `bahay events`: writes the stream to a folder or a broker, or prints it, once or for as long as it runs.

use std::io::{ErrorKind, Write};
use std::path::PathBuf;
use std::time::Duration;

use sqlx::PgPool;

use super::{EventFolder, EventFolderError, NatsOptions, NatsError, LedgerEventReader, nats};

/// How long events are waited for before it is asked again.
const EVERY: Duration = Duration::from_millis(500);

/// Where events go, and from which on.
#[derive(Clone, Debug, clap::Args)]
#[group(skip)]
pub struct EventsOptions {
    /// A folder, which remembers how far it goes; without it they are printed.
    #[arg(long, value_name = "FOLDER")]
    pub out: Option<PathBuf>,
    /// The number of the first event that is printed.
    #[arg(long, value_name = "NUMBER", default_value = "1", conflicts_with = "out",
          value_parser = clap::value_parser!(i64).range(1..))]
    pub from: i64,
    /// Go on when there are no more, and write what is booked from then on.
    #[arg(long)]
    pub follow: bool,
    #[command(flatten)]
    pub nats: NatsOptions,
}

/// Why they are not written.
#[derive(Debug, thiserror::Error)]
pub enum EventsError {
    #[error(transparent)]
    Database(#[from] sqlx::Error),
    #[error(transparent)]
    EventFolder(#[from] EventFolderError),
    #[error(transparent)]
    NatsOptions(#[from] NatsError),
    #[error(transparent)]
    Write(#[from] std::io::Error),
    #[error("there are not {0} events yet: is this another database?")]
    TooFew(i64),
}

/// Writes them. `told` hears of what the broker did not take and is tried again.
pub async fn run(
    what: EventsOptions,
    pool: PgPool,
    out: &mut impl Write,
    told: impl Fn(&NatsError),
) -> Result<(), EventsError> {
    // Whoever passes settings on passes on also those that nobody has made.
    if let Some(to) = what.nats.to.as_deref().filter(|to| !to.is_empty()) {
        let follow = what.follow.then_some(EVERY);
        return Ok(nats::publish(&what.nats, to, &pool, follow, told).await?);
    }
    match write(what, pool, out).await {
        // Whoever reads has read enough.
        Err(EventsError::Write(error)) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        done => done,
    }
}

async fn write(what: EventsOptions, pool: PgPool, out: &mut impl Write) -> Result<(), EventsError> {
    let mut folder = what.out.as_deref().map(EventFolder::open).transpose()?;
    let after = folder.as_ref().map_or(what.from - 1, EventFolder::number);
    let mut reader = LedgerEventReader::open(pool, after).await?.ok_or(EventsError::TooFew(after))?;
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
        match (events.is_empty(), what.follow) {
            (true, true) => tokio::time::sleep(EVERY).await,
            (true, false) => return Ok(()),
            (false, _) => {}
        }
    }
}
