//! The live path alone: the cost of storing a move, without deciding or publishing it. `./dev bench
//! live` starts its own Redis and appends lines to the journals of many tables from a number of
//! concurrent callers, each of which waits for its reply as a table does. Then it looks for due
//! tables, and reads a journal again as a node does that takes over a table.
//!
//! Beside the rate it prints the processor time of this process and of Redis, and the time of Redis
//! in scripts, because a rate alone means little on a shared machine. Redis reports both itself;
//! other users of the same Redis are included.

#![expect(clippy::unwrap_used, reason = "a benchmark that cannot do its work is to stop")]

mod processor;

use std::time::{Duration, Instant};

use bahay::entropy;
use bahay::live_store::{AppendOutcome, LiveStore, NewLine, Options, Point};
use bahay_engine::table::{ENGINE, TableId, Timestamp};
use futures_util::future::join_all;
use redis::aio::MultiplexedConnection;
use uuid::Uuid;

/// The numbers of tables with concurrent appends. With the largest, hardly any of a table's data is
/// in the processor's caches at its turn, as in production.
const CALLERS: [usize; 5] = [1, 8, 64, 256, 2_000];

/// The duration of each measurement.
const MEASURED: Duration = Duration::from_secs(3);

/// A line of a move at a table of Tong-its.
const LINE: &str = r#"{"at":1772366409120,"input":{"type":"act","player":"019ca944-3c00-7000-8000-00000091a7e1","game":"019ca944-3c00-7000-8000-000000009a3e","prompt":17,"action":{"type":"dump","card":"AC"}}}"#;

/// The approximate number of lines of a game.
const GAME_LINES: usize = 30;

/// The first deadline of a table, long after this run, and the interval between deadlines.
const FIRST_MS: i64 = 4_102_444_800_000;
const TURN_MS: i64 = 4_000;

fn main() {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(run());
}

async fn run() {
    let options = Options {
        url: std::env::var("REDIS_URL").expect("REDIS_URL names a Redis"),
        root_certificate: None,
        prefix: format!("bench-{}", Uuid::new_v4().simple()),
        shards: 16,
        connect_timeout: Duration::from_secs(5),
        response_timeout: Duration::from_secs(5),
    };
    let (live, _publications) = LiveStore::connect(&options).await.unwrap();
    let mut redis = redis::Client::open(options.url.as_str())
        .unwrap()
        .get_multiplexed_async_connection()
        .await
        .unwrap();
    println!(
        "{:<40}{:>12}{:>13}{:>14}{:>14}",
        "live state", "CPU us each", "a second", "Redis' own", "in the script"
    );
    for callers in CALLERS {
        let tables = join_all((0..callers).map(|_| founded(&live))).await;
        let until = Instant::now() + MEASURED;
        let what = format!("append, {callers} at a time");
        measure(&what, &mut redis, async {
            let done = tables.into_iter().map(|(table, mut at)| {
                let live = &live;
                async move {
                    let mut count = 0_u32;
                    while Instant::now() < until {
                        at = appended(live, table, at).await;
                        count += 1;
                    }
                    count
                }
            });
            join_all(done).await.into_iter().sum()
        })
        .await;
    }
    let times: Vec<_> = live.shards().map(|shard| (shard, Timestamp::from_ms(0))).collect();
    measure("a look for due tables, all shards", &mut redis, async {
        for _ in 0..2_000 {
            assert_eq!(live.claim_due(&times, 1_000).await.unwrap(), []);
        }
        2_000
    })
    .await;
    let (table, mut at) = founded(&live).await;
    for _ in 0..GAME_LINES {
        at = appended(&live, table, at).await;
    }
    measure("a journal of 30 lines, read whole", &mut redis, async {
        for _ in 0..2_000 {
            assert_eq!(live.load(table).await.unwrap().unwrap().lines.len(), GAME_LINES);
        }
        2_000
    })
    .await;
}

async fn founded(live: &LiveStore) -> (TableId, Point) {
    let (table, tag) = (TableId(Uuid::new_v4()), entropy::tag());
    live.create(table, tag, "{}", 60_000, ENGINE).await.unwrap();
    (table, Point { version: 0, tag })
}

async fn appended(live: &LiveStore, table: TableId, after: Point) -> Point {
    let tag = entropy::tag();
    let turns = i64::try_from(after.version).unwrap();
    let deadline = Some(Timestamp::from_ms(FIRST_MS + turns * TURN_MS));
    let new = NewLine { after, tag, engine: ENGINE, line: LINE, deadline, idle_ms: None };
    assert_eq!(live.append(table, new).await.unwrap(), AppendOutcome::Appended);
    Point { version: after.version + 1, tag }
}

/// Measures a number of operations, which `work` returns, and prints the cost of each.
async fn measure(what: &str, redis: &mut MultiplexedConnection, work: impl Future<Output = u32>) {
    let before = Spent::so_far(redis).await;
    let began = Instant::now();
    let count = u64::from(work.await.max(1));
    let took_us = began.elapsed().as_micros().max(1);
    let after = Spent::so_far(redis).await;
    let each = |before_us: u64, after_us: u64| {
        let tenths = (after_us - before_us) * 10 / count;
        format!("{}.{}", tenths / 10, tenths % 10)
    };
    let own = match (before.own_us, after.own_us) {
        (Some(before), Some(after)) => each(before, after),
        _ => "?".to_owned(),
    };
    println!(
        "{what:<40}{own:>12}{:>13}{:>14}{:>14}",
        u128::from(count) * 1_000_000 / took_us,
        each(before.redis_us, after.redis_us),
        each(before.script_us, after.script_us),
    );
}

/// Processor times since the start of each process.
struct Spent {
    /// This process's time, where the system reports it.
    own_us: Option<u64>,
    /// The time of Redis with all of its threads.
    redis_us: u64,
    /// The time of Redis in scripts.
    script_us: u64,
}

impl Spent {
    async fn so_far(redis: &mut MultiplexedConnection) -> Self {
        let info: String = redis::cmd("INFO").arg("everything").query_async(redis).await.unwrap();
        let value = |name: &str| info.lines().find_map(|line| line.strip_prefix(name));
        let processor_us = |name| us_of_seconds(value(name).unwrap()).unwrap();
        let script = value("cmdstat_evalsha:").unwrap_or_default();
        let script_us = script.split(',').find_map(|part| part.strip_prefix("usec="));
        Self {
            own_us: processor::spent_us("self"),
            redis_us: processor_us("used_cpu_user:") + processor_us("used_cpu_sys:"),
            script_us: script_us.map_or(0, |us| us.parse().unwrap()),
        }
    }
}

/// Parses seconds such as `12.345678` into microseconds.
fn us_of_seconds(text: &str) -> Option<u64> {
    let (seconds, fraction) = text.trim().split_once('.')?;
    let us: u64 = format!("{fraction:0<6}").get(..6)?.parse().ok()?;
    Some(seconds.parse::<u64>().ok()? * 1_000_000 + us)
}
