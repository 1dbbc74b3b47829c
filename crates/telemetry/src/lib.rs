//! Logs: lines for a terminal or JSON objects, both on standard error; and spans for a collector,
//! if one is configured (`spans`).
//!
//! A log never contains tokens, device ids, seeds before the end of their game, or hands. Types
//! that hold these omit them in `Debug` (`RefreshToken(…)`), and request headers are not logged. A
//! failure is logged once, where it is handled, with ids and units in the fields.

mod spans;

use std::io;

use thiserror::Error;
use tracing::Subscriber;
use tracing_subscriber::filter::ParseError;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::registry::LookupSpan;
use tracing_subscriber::util::{SubscriberInitExt as _, TryInitError};
use tracing_subscriber::{EnvFilter, Layer};

pub use spans::{Spans, continue_trace};

/// The collector of spans, and the sampling rate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Collector {
    /// The base URL, as in `http://127.0.0.1:4318`; `/v1/traces` is appended.
    pub endpoint: String,
    /// One trace in this many is sampled.
    pub one_in: u32,
}

/// The format of log lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LogFormat {
    #[default]
    Human,
    Json,
}

/// The errors of starting logs and spans.
#[derive(Debug, Error)]
pub enum TelemetryError {
    #[error("the log filter cannot be read ({0}); write it as in info,bahay=debug")]
    Filter(#[from] ParseError),
    #[error("spans cannot be sent to BAHAY_OTLP_ENDPOINT: {0}")]
    Spans(String),
    #[error("logging has been started before: {0}")]
    Started(#[from] TryInitError),
}

/// Starts logging for the whole process. `filter` has the form of `info,bahay=debug`.
///
/// # Errors
/// A filter that cannot be parsed, or a second start.
pub fn start(filter: &str, format: LogFormat) -> Result<(), TelemetryError> {
    let filter = EnvFilter::try_new(filter)?;
    Ok(tracing_subscriber::registry().with(lines(format)).with(filter).try_init()?)
}

/// Starts logging like [`start`], and the export of spans to a collector. Must be called within a
/// tokio runtime.
///
/// # Errors
/// As [`start`], and an invalid address of the collector.
pub fn start_with_spans(
    filter: &str,
    format: LogFormat,
    collector: &Collector,
) -> Result<Spans, TelemetryError> {
    let filter = EnvFilter::try_new(filter)?;
    let spans = Spans::new(collector).map_err(TelemetryError::Spans)?;
    let lines = lines(format).with_filter(filter);
    tracing_subscriber::registry().with(spans.layer()).with(lines).try_init()?;
    Ok(spans)
}

/// Returns the layer that writes log lines.
fn lines<S>(format: LogFormat) -> Box<dyn Layer<S> + Send + Sync>
where
    S: Subscriber + for<'span> LookupSpan<'span>,
{
    let lines = tracing_subscriber::fmt::layer().with_writer(io::stderr);
    match format {
        LogFormat::Human => {
            let colours = io::IsTerminal::is_terminal(&io::stderr());
            lines.with_ansi(colours).with_target(false).boxed()
        }
        LogFormat::Json => lines.json().flatten_event(true).boxed(),
    }
}
