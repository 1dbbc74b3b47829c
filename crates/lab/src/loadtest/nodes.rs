//! The measured servers: the node that each player connects to, and the processor time, memory and
//! queues of each node, from its metrics, or from the kernel if its process is given. The usage of
//! this program is sampled as well, because a saturated tester measures itself.

use std::collections::BTreeMap;
use std::fs;

use bahay_client_tokio::Client;
use bahay_engine::table::TableId;
use futures_util::future::join_all;

use super::{Options, Seating};

/// The kernel's clock ticks per second (`USER_HZ`), 100 on every Linux machine.
const TICKS: u64 = 100;

/// The nodes of one house, in the order of the options.
#[derive(Debug)]
pub(super) struct Nodes {
    each: Vec<Node>,
    seating: Seating,
}

#[derive(Debug)]
struct Node {
    /// A client that reads the metrics and does not play.
    client: Client,
    /// The address of the node's metrics.
    probes: Option<String>,
    pid: Option<u32>,
}

/// A process's resource usage at one time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ProcessUsage {
    pub(super) cpu_us: u64,
    pub(super) rss_bytes: u64,
    /// Messages waiting for slow clients, and appends waiting for PostgreSQL and Redis.
    pub(super) queued: u64,
}

impl ProcessUsage {
    /// Returns the sum of several processes.
    pub(super) fn sum(usages: &[Self]) -> Self {
        usages.iter().fold(Self::default(), |sum, usage| Self {
            cpu_us: sum.cpu_us + usage.cpu_us,
            rss_bytes: sum.rss_bytes + usage.rss_bytes,
            queued: sum.queued + usage.queued,
        })
    }
}

impl Nodes {
    /// Creates the nodes that the options name, with clients that share the settings of `first`.
    pub(super) fn new(options: &Options, first: &Client) -> Self {
        let pids = options.pids.iter().copied().map(Some).chain(std::iter::repeat(None));
        let probes = options.probe_urls.iter().cloned().map(Some).chain(std::iter::repeat(None));
        let each = options.urls.iter().zip(probes).zip(pids).map(|((url, probes), pid)| {
            let client = first.with_base(url);
            Node { client, probes, pid }
        });
        Self { each: each.collect(), seating: options.seating }
    }

    pub(super) fn urls(&self) -> impl Iterator<Item = &str> {
        self.each.iter().map(|node| node.client.base())
    }

    /// Returns the node at which the player with this number signs in and asks for a seat.
    pub(super) fn node_for_player(&self, number: u32) -> usize {
        usize::try_from(number).unwrap_or(0) % self.each.len()
    }

    /// Returns the client of a node, through which players sign in there.
    pub(super) fn client(&self, node: usize) -> &Client {
        &self.each[node].client
    }

    /// Returns the node for one more player of a table, given the number of its players at each
    /// node.
    pub(super) fn node_for_seat(&self, table: TableId, taken: &[u32]) -> usize {
        let count = self.each.len();
        let home = usize::try_from(table.0.as_u128() % count as u128).unwrap_or(0);
        match self.seating {
            Seating::Together => home,
            Seating::Apart => {
                let nodes = (0..count).map(|place| (home + place) % count);
                nodes.min_by_key(|node| taken.get(*node).copied().unwrap_or(0)).unwrap_or(home)
            }
        }
    }

    /// Samples the usage of each node; unknown values are zero.
    pub(super) async fn sample_usage(&self) -> Vec<ProcessUsage> {
        join_all(self.each.iter().map(Node::sample_usage)).await
    }
}

impl Node {
    async fn sample_usage(&self) -> ProcessUsage {
        let text = match &self.probes {
            Some(probes) => self.client.metrics(probes).await.unwrap_or_default(),
            None => String::new(),
        };
        let figures = parse_metrics(&text);
        let figure = |name: &str| figures.get(name).copied().unwrap_or(0) / MILLIONTHS;
        let shown = ProcessUsage {
            cpu_us: figures.get("bahay_process_cpu_seconds_total").copied().unwrap_or(0),
            rss_bytes: figure("bahay_process_resident_bytes"),
            queued: figure("bahay_socket_messages_waiting") + figure("bahay_appends_waiting"),
        };
        match self.pid.and_then(|pid| process_usage(&pid.to_string())) {
            Some(of_kernel) => ProcessUsage { queued: shown.queued, ..of_kernel },
            None => shown,
        }
    }
}

/// Returns the usage of this program.
pub(super) fn own_usage() -> ProcessUsage {
    process_usage("self").unwrap_or_default()
}

/// Returns the number of processors available to this program.
pub(super) fn own_processors() -> u64 {
    std::thread::available_parallelism().map_or(1, |number| number.get() as u64)
}

fn process_usage(pid: &str) -> Option<ProcessUsage> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The second field is a name in brackets that may hold spaces, so fields are counted from its
    // end.
    let fields: Vec<&str> = stat.rsplit_once(") ")?.1.split(' ').collect();
    let ticks = |place: usize| fields.get(place)?.parse::<u64>().ok();
    let cpu_us = (ticks(11)? + ticks(12)?) * (1_000_000 / TICKS);
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let resident = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let resident_kib: u64 = resident.trim().split(' ').next()?.parse().ok()?;
    Some(ProcessUsage { cpu_us, rss_bytes: resident_kib * 1_024, ..ProcessUsage::default() })
}

/// Metrics are scaled to millionths, so that seconds become microseconds.
const MILLIONTHS: u64 = 1_000_000;

/// Parses the metrics without labels, in millionths, rounded down. Negative values are skipped.
fn parse_metrics(text: &str) -> BTreeMap<&str, u64> {
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    lines
        .filter_map(|line| {
            let (name, value) = line.split_once(' ')?;
            Some((name, parse_millionths(value)?))
        })
        .collect()
}

fn parse_millionths(value: &str) -> Option<u64> {
    let (whole, part) = value.split_once('.').unwrap_or((value, ""));
    let part: String = part.chars().chain("000000".chars()).take(6).collect();
    whole.parse::<u64>().ok()?.checked_mul(MILLIONTHS)?.checked_add(part.parse().ok()?)
}

#[cfg(test)]
mod tests {
    use super::{own_usage, parse_metrics};

    #[test]
    fn figures_are_read_in_millionths() {
        let text = "# HELP a b\na_seconds_total 1.25\nb_bytes 7\nc{x=\"y\"} 3\nd -1\n# EOF\n";
        let figures = parse_metrics(text);
        assert_eq!(figures["a_seconds_total"], 1_250_000);
        assert_eq!(figures["b_bytes"], 7_000_000);
        assert!(!figures.contains_key("d"));
    }

    #[test]
    fn this_process_is_seen_where_the_kernel_shows_it() {
        if cfg!(target_os = "linux") {
            assert!(own_usage().rss_bytes > 1 << 20);
        }
    }
}
