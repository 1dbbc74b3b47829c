//! The metrics of this process, in the text format of Prometheus. A measuring module registers each
//! metric here once, under a name that begins with `bahay_` and ends in its unit.
//!
//! [`PlayMetrics`] has the metrics of the path of a command; the load tester's report uses the same
//! names.
//! Values that exist anyway, such as the number of tables, are sampled when metrics are scraped
//! ([`Metrics::register_gauge_fn`]) and cost nothing in between.
//!
//! Metrics do not affect behaviour, and do not outlive the process.

use std::borrow::Cow;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use prometheus_client::collector::Collector;
use prometheus_client::encoding::text::encode;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric};
use prometheus_client::metrics::counter::{ConstCounter, Counter};
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::{ConstGauge, Gauge};
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::metrics::{MetricType, TypedMetric};
use prometheus_client::registry::{Metric, Registry};

/// The registry of metrics. Clones share it.
#[derive(Clone, Default)]
pub struct Metrics {
    registry: Arc<Mutex<Registry>>,
}

impl fmt::Debug for Metrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Metrics")
    }
}

/// A family of counters with one label of few values.
#[derive(Clone, Debug, Default)]
pub struct CounterFamily(Family<[(&'static str, &'static str); 1], Counter>);

impl CounterFamily {
    pub fn increment(&self, label: &'static str, value: &'static str) {
        self.0.get_or_create(&[(label, value)]).inc();
    }

    /// Exposes these values at zero. Prometheus computes no increase for a counter that first
    /// appears with its first event.
    pub fn expose(&self, label: &'static str, values: &[&'static str]) {
        for value in values {
            drop(self.0.get_or_create(&[(label, *value)]));
        }
    }
}

/// A histogram of durations, with buckets from 62.5 µs on, each twice as long as the one before.
#[derive(Clone, Debug)]
pub struct DurationHistogram(Histogram);

impl Default for DurationHistogram {
    fn default() -> Self {
        Self(Histogram::new(exponential_buckets(0.000_062_5, 2.0, 18)))
    }
}

impl DurationHistogram {
    pub fn observe(&self, taken: Duration) {
        self.0.observe(taken.as_secs_f64());
    }
}

/// The metrics of the path of a command.
#[derive(Clone, Debug, Default)]
pub struct PlayMetrics {
    /// The time from reading a command until its ack is queued for writing.
    pub action_to_ack: DurationHistogram,
    /// The time of the call that stores a line.
    pub append: DurationHistogram,
    pub appends_waiting: Gauge,
    /// The time from joining a table with a version until the missed updates are queued for
    /// writing.
    pub resume: DurationHistogram,
    pub opening: DurationHistogram,
    pub settlement: DurationHistogram,
    pub moves: Counter,
    pub games: Counter,
    pub messages_in: Counter,
    pub messages_out: Counter,
    pub bytes_out: Counter,
    pub sockets: Gauge,
    /// Messages that clients have not accepted yet.
    pub messages_waiting: Gauge,
    pub refusals: CounterFamily,
}

impl Metrics {
    /// Registers a metric and returns it. The help is a sentence without its full stop.
    pub fn register<M: Metric + Clone>(&self, name: &str, help: &str, metric: M) -> M {
        debug_assert!(name.starts_with("bahay_"), "{name} does not begin with bahay_");
        self.registry().register(name, help, metric.clone());
        metric
    }

    /// Registers a family of counters.
    pub fn register_counts(&self, name: &str, help: &str, counts: &CounterFamily) {
        self.register(name, help, counts.0.clone());
    }

    /// Registers a gauge whose value is sampled at each scrape. The help is as in
    /// [`Metrics::register`].
    pub fn register_gauge_fn(
        &self,
        name: &'static str,
        help: &'static str,
        sample: impl Fn() -> u64 + Send + Sync + 'static,
    ) {
        let sample = Box::new(move || SampledValue::Level(sample()));
        self.registry().register_collector(Box::new(SampledMetric { name, help, sample }));
    }

    /// Registers gauges with one label, whose values are sampled at each scrape.
    pub fn register_gauges_fn<L: Into<Cow<'static, str>>>(
        &self,
        name: &'static str,
        help: &'static str,
        label: &'static str,
        sample: impl Fn() -> Vec<(L, u64)> + Send + Sync + 'static,
    ) {
        let sample =
            move || sample().into_iter().map(|(value, level)| (value.into(), level)).collect();
        let sample = Box::new(move || SampledValue::Levels(label, sample()));
        self.registry().register_collector(Box::new(SampledMetric { name, help, sample }));
    }

    /// Registers gauges of seconds with one label, whose values are sampled at each scrape.
    pub fn register_times_fn(
        &self,
        name: &'static str,
        help: &'static str,
        label: &'static str,
        sample: impl Fn() -> Vec<(&'static str, Duration)> + Send + Sync + 'static,
    ) {
        let sample = Box::new(move || SampledValue::Times(label, sample()));
        self.registry().register_collector(Box::new(SampledMetric { name, help, sample }));
    }

    /// Registers counters with one label, whose values are sampled at each scrape. The name is
    /// given without `_total`.
    pub fn register_counters_fn(
        &self,
        name: &'static str,
        help: &'static str,
        label: &'static str,
        sample: impl Fn() -> Vec<(&'static str, u64)> + Send + Sync + 'static,
    ) {
        let sample = Box::new(move || SampledValue::Counts(label, sample()));
        self.registry().register_collector(Box::new(SampledMetric { name, help, sample }));
    }

    /// Registers a counter whose value is sampled at each scrape. The name is given without
    /// `_total`.
    pub fn register_counter_fn(
        &self,
        name: &'static str,
        help: &'static str,
        sample: impl Fn() -> u64 + Send + Sync + 'static,
    ) {
        let sample = Box::new(move || SampledValue::Count(sample()));
        self.registry().register_collector(Box::new(SampledMetric { name, help, sample }));
    }

    /// Registers a counter of seconds whose value is sampled at each scrape.
    pub fn register_seconds_fn(
        &self,
        name: &'static str,
        help: &'static str,
        sample: impl Fn() -> Duration + Send + Sync + 'static,
    ) {
        let sample = Box::new(move || SampledValue::Time(sample()));
        self.registry().register_collector(Box::new(SampledMetric { name, help, sample }));
    }

    /// Registers the metrics of play.
    pub fn register_play(&self, play: &PlayMetrics) {
        let PlayMetrics {
            action_to_ack,
            append,
            appends_waiting,
            resume,
            opening,
            settlement,
            moves,
            games,
            messages_in,
            messages_out,
            bytes_out,
            sockets,
            messages_waiting,
            refusals,
        } = play.clone();
        let times = [
            ("action_to_ack", "Time from reading a command until its ack is queued", action_to_ack),
            ("append", "Time to store a line in Redis", append),
            ("resume", "Time from joining a table until the missed updates are queued", resume),
            ("game_opening", "Time to open a game in the ledger", opening),
            ("settlement", "Time to settle a game in the ledger", settlement),
        ];
        for (name, help, times) in times {
            self.register(&format!("bahay_{name}_seconds"), help, times.0);
        }
        let counts = [
            ("moves", "Stored actions of players", moves),
            ("games_settled", "Games that this process has settled", games),
            ("messages_in", "Messages from clients", messages_in),
            ("messages_out", "Messages to clients", messages_out),
            ("bytes_out", "Bytes of messages to clients", bytes_out),
        ];
        for (name, help, count) in counts {
            self.register(&format!("bahay_{name}"), help, count);
        }
        let levels = [
            ("appends_waiting", "Appends in flight to Redis", appends_waiting),
            ("sockets", "Open sockets of players", sockets),
            ("socket_messages_waiting", "Messages queued for clients", messages_waiting),
        ];
        for (name, help, level) in levels {
            self.register(&format!("bahay_{name}"), help, level);
        }
        self.register("bahay_refusals", "Refused commands by code", refusals.0);
    }

    /// Registers the metrics of the process, as far as the kernel reports them in /proc, and those
    /// of the runtime. Must be called within the runtime.
    pub fn register_process(&self) {
        self.register_seconds_fn(
            "bahay_process_cpu_seconds",
            "Processor time of this process",
            || process_cpu().unwrap_or_default(),
        );
        self.register_gauge_fn(
            "bahay_process_resident_bytes",
            "Resident memory of this process",
            || process_resident_bytes().unwrap_or_default(),
        );
        let runtime = tokio::runtime::Handle::current().metrics();
        let tasks = runtime.clone();
        let queue = runtime.clone();
        let workers = runtime;
        self.register_gauge_fn("bahay_runtime_tasks", "Live tasks of the runtime", move || {
            tasks.num_alive_tasks() as u64
        });
        self.register_gauge_fn(
            "bahay_runtime_queue",
            "Tasks in the global queue of the runtime",
            move || queue.global_queue_depth() as u64,
        );
        self.register_seconds_fn(
            "bahay_runtime_busy_seconds",
            "Time that the runtime's workers spent on tasks",
            move || {
                (0..workers.num_workers())
                    .map(|worker| workers.worker_total_busy_duration(worker))
                    .sum()
            },
        );
    }

    fn registry(&self) -> std::sync::MutexGuard<'_, Registry> {
        self.registry.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Encodes all metrics for a scraper.
    pub fn text(&self) -> Result<String, fmt::Error> {
        let mut text = String::new();
        encode(&mut text, &self.registry())?;
        Ok(text)
    }
}

/// A sampled value with the kind of its metric.
enum SampledValue {
    Level(u64),
    /// Gauges by the value of a label.
    Levels(&'static str, Vec<(Cow<'static, str>, u64)>),
    /// Gauges of seconds by the value of a label.
    Times(&'static str, Vec<(&'static str, Duration)>),
    /// Counters by the value of a label.
    Counts(&'static str, Vec<(&'static str, u64)>),
    Count(u64),
    Time(Duration),
}

/// A metric whose value is sampled at each scrape.
struct SampledMetric {
    name: &'static str,
    help: &'static str,
    sample: Box<dyn Fn() -> SampledValue + Send + Sync>,
}

impl fmt::Debug for SampledMetric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("SampledMetric").field(&self.name).finish()
    }
}

impl Collector for SampledMetric {
    fn encode(&self, encoder: DescriptorEncoder<'_>) -> Result<(), fmt::Error> {
        let gauge = |level| ConstGauge::new(i64::try_from(level).unwrap_or(i64::MAX));
        match (self.sample)() {
            SampledValue::Level(level) => self.write(encoder, &gauge(level)),
            SampledValue::Levels(label, levels) => {
                let levels = levels.into_iter().map(|(value, level)| (value, gauge(level)));
                self.write_family(encoder, MetricType::Gauge, label, levels)
            }
            SampledValue::Times(label, times) => {
                let gauge = |time: Duration| ConstGauge::new(time.as_secs_f64());
                let times = times.into_iter().map(|(value, time)| (value, gauge(time)));
                self.write_family(encoder, MetricType::Gauge, label, times)
            }
            SampledValue::Counts(label, counts) => {
                let counts = counts.into_iter();
                let counts = counts.map(|(value, count)| (value, ConstCounter::new(count)));
                self.write_family(encoder, MetricType::Counter, label, counts)
            }
            SampledValue::Count(count) => self.write(encoder, &ConstCounter::new(count)),
            SampledValue::Time(time) => self.write(encoder, &ConstCounter::new(time.as_secs_f64())),
        }
    }
}

impl SampledMetric {
    fn write(
        &self,
        mut encoder: DescriptorEncoder<'_>,
        metric: &(impl EncodeMetric + TypedMetric),
    ) -> Result<(), fmt::Error> {
        let kind = metric.metric_type();
        metric.encode(encoder.encode_descriptor(self.name, self.help, None, kind)?)
    }

    /// Writes metrics of one kind, each with its value of a label.
    fn write_family<L: AsRef<str>, M: EncodeMetric>(
        &self,
        mut encoder: DescriptorEncoder<'_>,
        kind: MetricType,
        label: &'static str,
        metrics: impl IntoIterator<Item = (L, M)>,
    ) -> Result<(), fmt::Error> {
        let mut family = encoder.encode_descriptor(self.name, self.help, None, kind)?;
        metrics.into_iter().try_for_each(|(value, metric)| {
            metric.encode(family.encode_family(&[(label, value.as_ref())])?)
        })
    }
}

/// Returns the user and system time, at a resolution of 10 ms.
fn process_cpu() -> Option<Duration> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    // The second field is a name in parentheses that may contain spaces, so fields are counted
    // behind it.
    let fields: Vec<&str> = stat.rsplit_once(") ")?.1.split(' ').collect();
    let ticks = |index: usize| fields.get(index)?.parse::<u64>().ok();
    Some(Duration::from_millis((ticks(11)? + ticks(12)?) * 10))
}

fn process_resident_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let resident = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kib: u64 = resident.trim().split(' ').next()?.parse().ok()?;
    Some(kib * 1_024)
}

#[cfg(test)]
mod tests {
    use super::{Metrics, PlayMetrics};
    use prometheus_client::metrics::gauge::Gauge;
    use std::time::Duration;

    #[test]
    fn a_registered_metric_is_encoded() {
        let metrics = Metrics::default();
        let tables: Gauge = metrics.register("bahay_tables", "Tables in memory", Gauge::default());
        tables.set(7);
        let text = metrics.text().unwrap();
        assert!(text.contains("# HELP bahay_tables Tables in memory."), "{text}");
        assert!(text.contains("\nbahay_tables 7\n"), "{text}");
    }

    #[test]
    fn metrics_of_play_and_sampled_metrics_are_encoded() {
        let metrics = Metrics::default();
        let play = PlayMetrics::default();
        metrics.register_play(&play);
        metrics.register_gauge_fn("bahay_things", "Things", || 5);
        metrics.register_gauges_fn("bahay_ages", "Ages", "of", || vec![("one", 7), ("two", 8)]);
        metrics.register_gauges_fn("bahay_loads", "Loads", "of", || vec![("a".to_owned(), 9)]);
        metrics.register_times_fn("bahay_waits_seconds", "Waits", "of", || {
            vec![("one", Duration::from_millis(250))]
        });
        metrics.register_counters_fn("bahay_calls", "Calls", "of", || vec![("one", 3)]);
        metrics.register_counter_fn("bahay_steps", "Steps", || 6);
        metrics.register_seconds_fn("bahay_busy_seconds", "Busy", || Duration::from_millis(1_500));
        play.moves.inc();
        play.bytes_out.inc_by(300);
        play.messages_waiting.inc_by(3);
        play.action_to_ack.observe(Duration::from_micros(100));
        play.refusals.increment("code", "too_fast");
        play.refusals.expose("code", &["too_fast", "muted"]);
        let text = metrics.text().unwrap();
        for line in [
            "bahay_things 5",
            "bahay_ages{of=\"one\"} 7",
            "bahay_ages{of=\"two\"} 8",
            "bahay_loads{of=\"a\"} 9",
            "bahay_waits_seconds{of=\"one\"} 0.25",
            "bahay_calls_total{of=\"one\"} 3",
            "bahay_steps_total 6",
            "bahay_busy_seconds_total 1.5",
            "bahay_moves_total 1",
            "bahay_bytes_out_total 300",
            "bahay_socket_messages_waiting 3",
            "bahay_action_to_ack_seconds_bucket{le=\"0.000125\"} 1",
            "bahay_refusals_total{code=\"too_fast\"} 1",
            "bahay_refusals_total{code=\"muted\"} 0",
        ] {
            assert!(text.lines().any(|found| found == line), "{line} is not in {text}");
        }
    }
}
