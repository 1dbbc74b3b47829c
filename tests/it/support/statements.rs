//! The statements that are sent to PostgreSQL, as sqlx logs them.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::{Arc, Mutex};

use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

/// Records the statements of the current thread, on which a test of one thread runs its server too.
#[derive(Clone, Debug, Default)]
pub(crate) struct StatementLog(Arc<Mutex<BTreeMap<String, usize>>>);

impl StatementLog {
    /// Returns how often each statement was sent while `act` ran, by the beginning of its text.
    pub(crate) async fn count<T>(act: impl Future<Output = T>) -> (BTreeMap<String, usize>, T) {
        let log = Self::default();
        let guard = tracing::subscriber::set_default(log.clone());
        let done = act.await;
        drop(guard);
        let counts = std::mem::take(&mut *log.0.lock().unwrap());
        (counts, done)
    }
}

impl Subscriber for StatementLog {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target() == "sqlx::query"
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut summary = Summary::default();
        event.record(&mut summary);
        *self.0.lock().unwrap().entry(summary.0).or_default() += 1;
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

/// The beginning of a statement.
#[derive(Default)]
struct Summary(String);

impl Visit for Summary {
    fn record_str(&mut self, field: &Field, value: &str) {
        if field.name() == "summary" {
            value.clone_into(&mut self.0);
        }
    }

    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        if field.name() == "summary" {
            self.0 = format!("{value:?}");
        }
    }
}
