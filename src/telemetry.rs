//! Logs: lines for people at a terminal, JSON objects for machines, both on standard error.
//!
//! What must never reach a line: tokens, device ids, seeds before their game is over, hands. The
//! types that hold them print as such (`RefreshToken(…)`), and request headers are not logged.
//! A failure is logged once, where it is handled, with ids and units in the fields.

use std::io;

use thiserror::Error;
use tracing_subscriber::EnvFilter;
use tracing_subscriber::filter::ParseError;
use tracing_subscriber::util::TryInitError;

/// How a line looks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    #[default]
    Human,
    Json,
}

/// Why logging could not start.
#[derive(Debug, Error)]
pub enum TelemetryError {
    #[error("the log filter cannot be read ({0}); write it as in info,bahay=debug")]
    Filter(#[from] ParseError),
    #[error("logging has been started before: {0}")]
    Started(#[from] TryInitError),
}

/// Starts logging for the whole process. `filter` is written as in `info,bahay=debug`.
///
/// # Errors
/// A filter that cannot be read, or a second start.
pub fn start(filter: &str, format: Format) -> Result<(), TelemetryError> {
    use tracing_subscriber::util::SubscriberInitExt;

    let lines = tracing_subscriber::fmt()
        .with_env_filter(EnvFilter::try_new(filter)?)
        .with_writer(io::stderr);
    match format {
        Format::Human => {
            let colours = io::IsTerminal::is_terminal(&io::stderr());
            lines.with_ansi(colours).with_target(false).finish().try_init()?;
        }
        Format::Json => lines.json().flatten_event(true).finish().try_init()?,
    }
    Ok(())
}
