//! The servers that are loaded: which of them a player goes to, and what each shows of itself, its
//! processor time, memory and queues, from its own figures or from the kernel's when its process is
//! named. And the same of this program, because a tester at its end measures itself.

use std::collections::BTreeMap;
use std::fs;

use bahay_engine::table::TableId;
use futures_util::future::join_all;

use super::{Options, Seating};
use crate::client::Client;

/// Ticks of the kernel's accounts in a second. Linux shows it so on every machine.
const TICKS: u64 = 100;

/// The servers, in the order in which they were named: nodes of one house.
#[derive(Debug)]
pub(super) struct Nodes {
    each: Vec<Node>,
    seating: Seating,
}

#[derive(Debug)]
struct Node {
    /// Reads the figures; nobody who plays.
    client: Client,
    /// Where it shows its figures.
    probes: Option<String>,
    pid: Option<u32>,
}

/// What is known of a process at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Look {
    pub(super) cpu_us: u64,
    pub(super) rss_bytes: u64,
    /// What waits for clients that do not read, and for a place in PostgreSQL and Redis.
    pub(super) queued: u64,
}

impl Look {
    /// Of several processes together.
    pub(super) fn sum(looks: &[Self]) -> Self {
        looks.iter().fold(Self::default(), |sum, look| Self {
            cpu_us: sum.cpu_us + look.cpu_us,
            rss_bytes: sum.rss_bytes + look.rss_bytes,
            queued: sum.queued + look.queued,
        })
    }
}

impl Nodes {
    /// As the options name them; reached through this client.
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

    /// Where the player with this number signs in and asks for a seat.
    pub(super) fn of_player(&self, number: u32) -> usize {
        usize::try_from(number).unwrap_or(0) % self.each.len()
    }

    /// Somebody at this node, through whom others sign in there.
    pub(super) fn client(&self, node: usize) -> &Client {
        &self.each[node].client
    }

    /// Where one more player of a table connects, when so many of the table are at each node.
    pub(super) fn of_seat(&self, table: TableId, taken: &[u32]) -> usize {
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

    /// Looks at each. Zeros where nothing is to be seen.
    pub(super) async fn look(&self) -> Vec<Look> {
        join_all(self.each.iter().map(Node::look)).await
    }
}

impl Node {
    async fn look(&self) -> Look {
        let text = match &self.probes {
            Some(probes) => self.client.metrics(probes).await.unwrap_or_default(),
            None => String::new(),
        };
        let figures = figures(&text);
        let figure = |name: &str| figures.get(name).copied().unwrap_or(0) / MILLIONTHS;
        let shown = Look {
            cpu_us: figures.get("bahay_process_cpu_seconds_total").copied().unwrap_or(0),
            rss_bytes: figure("bahay_process_resident_bytes"),
            queued: figure("bahay_socket_messages_waiting") + figure("bahay_appends_waiting"),
        };
        match self.pid.and_then(|pid| of_process(&pid.to_string())) {
            Some(of_kernel) => Look { queued: shown.queued, ..of_kernel },
            None => shown,
        }
    }
}

/// Of this program.
pub(super) fn own() -> Look {
    of_process("self").unwrap_or_default()
}

/// Processors that this program may use.
pub(super) fn own_processors() -> u64 {
    std::thread::available_parallelism().map_or(1, |number| number.get() as u64)
}

fn of_process(pid: &str) -> Option<Look> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The second field is a name in brackets that may hold spaces; count from behind it.
    let fields: Vec<&str> = stat.rsplit_once(") ")?.1.split(' ').collect();
    let ticks = |place: usize| fields.get(place)?.parse::<u64>().ok();
    let cpu_us = (ticks(11)? + ticks(12)?) * (1_000_000 / TICKS);
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let resident = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let resident_kib: u64 = resident.trim().split(' ').next()?.parse().ok()?;
    Some(Look { cpu_us, rss_bytes: resident_kib * 1_024, ..Look::default() })
}

/// Figures are kept in millionths, so that seconds come as microseconds.
const MILLIONTHS: u64 = 1_000_000;

/// Every figure without labels, by name, in millionths, rounded down; none that is below zero.
fn figures(text: &str) -> BTreeMap<&str, u64> {
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    lines
        .filter_map(|line| {
            let (name, value) = line.split_once(' ')?;
            Some((name, millionths(value)?))
        })
        .collect()
}

fn millionths(value: &str) -> Option<u64> {
    let (whole, part) = value.split_once('.').unwrap_or((value, ""));
    let part: String = part.chars().chain("000000".chars()).take(6).collect();
    whole.parse::<u64>().ok()?.checked_mul(MILLIONTHS)?.checked_add(part.parse().ok()?)
}

#[cfg(test)]
mod tests {
    use super::{figures, own};

    #[test]
    fn figures_are_read_in_millionths() {
        let text = "# HELP a b\na_seconds_total 1.25\nb_bytes 7\nc{x=\"y\"} 3\nd -1\n# EOF\n";
        let figures = figures(text);
        assert_eq!(figures["a_seconds_total"], 1_250_000);
        assert_eq!(figures["b_bytes"], 7_000_000);
        assert!(!figures.contains_key("d"));
    }

    #[test]
    fn this_process_is_seen_where_the_kernel_shows_it() {
        if cfg!(target_os = "linux") {
            assert!(own().rss_bytes > 1 << 20);
        }
    }
}
