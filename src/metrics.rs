//! The figures of this process, in the text format of Prometheus: who measures something registers
//! it here once, under a name that begins with `bahay_` and ends in its unit.
//!
//! Nothing here decides anything, and no figure is kept longer than the process lives.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use prometheus_client::encoding::text::encode;
use prometheus_client::registry::{Metric, Registry};

/// The figures that have been registered. Clones share them.
#[derive(Clone, Default)]
pub struct Metrics {
    registry: Arc<Mutex<Registry>>,
}

impl fmt::Debug for Metrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Metrics")
    }
}

impl Metrics {
    /// Registers a figure and gives it back. The help is a sentence without its full stop.
    pub fn register<M: Metric + Clone>(&self, name: &str, help: &str, figure: M) -> M {
        debug_assert!(name.starts_with("bahay_"), "{name} does not begin with bahay_");
        let mut registry = self.registry.lock().unwrap_or_else(PoisonError::into_inner);
        registry.register(name, help, figure.clone());
        figure
    }

    /// All of them, as a scraper reads them.
    pub fn text(&self) -> Result<String, fmt::Error> {
        let registry = self.registry.lock().unwrap_or_else(PoisonError::into_inner);
        let mut text = String::new();
        encode(&mut text, &registry)?;
        Ok(text)
    }
}

#[cfg(test)]
mod tests {
    use super::Metrics;
    use prometheus_client::metrics::gauge::Gauge;

    #[test]
    fn a_registered_figure_is_in_the_text() {
        let metrics = Metrics::default();
        let tables: Gauge = metrics.register("bahay_tables", "Tables in memory", Gauge::default());
        tables.set(7);
        let text = metrics.text().unwrap();
        assert!(text.contains("# HELP bahay_tables Tables in memory."), "{text}");
        assert!(text.contains("\nbahay_tables 7\n"), "{text}");
    }
}
