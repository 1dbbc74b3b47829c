//! Logs: lines for people at a terminal, JSON objects for machines, both on standard error; and
//! spans for a collector, where one is named (`spans`).
//!
//! What must never reach a line: tokens, device ids, seeds before their game is over, hands. The
//! types that hold them print as such (`RefreshToken(…)`), and request headers are not logged.
//! A failure is logged once, where it is handled, with ids and units in the fields.

mod spans;

use std::io;

use thiserror::Error;
use tracing_subscriber::filter::ParseError;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::TryInitError;
use tracing_subscriber::{EnvFilter, Layer as _};

pub use spans::{Spans, continue_trace};

/// Where spans are sent, and how many.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Collector {
    /// As in `http://127.0.0.1:4318`; `/v1/traces` is added.
    pub endpoint: String,
    /// One trace in so many is kept.
    pub one_in: u32,
}

/// How a line looks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LogFormat {
    #[default]
    Human,
    Json,
}

/// Why logging could not start.
#[derive(Debug, Error)]
pub enum TelemetryError {
    #[error("the log filter cannot be read ({0}); write it as in info,bahay=debug")]
    Filter(#[from] ParseError),
    #[error("spans cannot be sent to BAHAY_OTLP_ENDPOINT: {0}")]
    Spans(String),
    #[error("logging has been started before: {0}")]
    Started(#[from] TryInitError),
}

/// Starts logging for the whole process. `filter` is written as in `info,bahay=debug`.
///
/// # Errors
/// A filter that cannot be read, or a second start.
pub fn start(filter: &str, format: LogFormat) -> Result<(), TelemetryError> {
    use tracing_subscriber::util::SubscriberInitExt;

    let lines = tracing_subscriber::fmt()
        .with_env_filter(EnvFilter::try_new(filter)?)
        .with_writer(io::stderr);
    match format {
        LogFormat::Human => {
            let colours = io::IsTerminal::is_terminal(&io::stderr());
            lines.with_ansi(colours).with_target(false).finish().try_init()?;
        }
        LogFormat::Json => lines.json().flatten_event(true).finish().try_init()?,
    }
    Ok(())
}

/// The same, and spans to a collector. Must be called within a tokio runtime.
///
/// # Errors
/// As of [`start`]; an address that is none.
pub fn start_with_spans(
    filter: &str,
    format: LogFormat,
    collector: &Collector,
) -> Result<Spans, TelemetryError> {
    use tracing_subscriber::util::SubscriberInitExt;

    let filter = EnvFilter::try_new(filter)?;
    let spans = Spans::new(collector).map_err(TelemetryError::Spans)?;
    let heard = tracing_subscriber::registry().with(spans.layer());
    let lines = tracing_subscriber::fmt::layer().with_writer(io::stderr);
    match format {
        LogFormat::Human => {
            let colours = io::IsTerminal::is_terminal(&io::stderr());
            let lines = lines.with_ansi(colours).with_target(false);
            heard.with(lines.with_filter(filter)).try_init()?;
        }
        LogFormat::Json => {
            heard.with(lines.json().flatten_event(true).with_filter(filter)).try_init()?;
        }
    }
    Ok(spans)
}
