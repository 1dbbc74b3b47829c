//! `bahay events`: writes the stream to a folder, or prints it, once or for as long as it runs.

use std::io::Write;
use std::path::PathBuf;
use std::time::Duration;

use sqlx::PgPool;

use super::{Folder, FolderError, Outbox};

/// How long events are waited for before it is asked again.
const EVERY: Duration = Duration::from_millis(500);

/// Where events go, and from which on.
#[derive(Clone, Debug, clap::Args)]
#[group(skip)]
pub struct Events {
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
}

/// Why they are not written.
#[derive(Debug, thiserror::Error)]
pub enum EventsError {
    #[error(transparent)]
    Database(#[from] sqlx::Error),
    #[error(transparent)]
    Folder(#[from] FolderError),
    #[error(transparent)]
    Write(#[from] std::io::Error),
    #[error("there are not {0} events yet: is this another database?")]
    TooFew(i64),
}

/// Writes them.
pub async fn run(what: Events, pool: PgPool, out: &mut impl Write) -> Result<(), EventsError> {
    let mut folder = what.out.as_deref().map(Folder::open).transpose()?;
    let after = folder.as_ref().map_or(what.from - 1, Folder::number);
    let mut outbox = Outbox::after(pool, after).await?.ok_or(EventsError::TooFew(after))?;
    loop {
        let events = outbox.next().await?;
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
