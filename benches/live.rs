//! The live path alone: what it takes to have a move stored, without deciding it and without
//! telling anybody. `./dev bench live` starts a Redis of its own and appends lines to the journals
//! of many tables, from so many callers at once, each waiting for its answer as a table does. Then it
//! looks for due tables, and reads a journal again, as a node does that comes to a table.
//!
//! Processor time is told beside the rate, of this process and of Redis: a rate on a machine that
//! does other things as well says little.

#![expect(clippy::unwrap_used, reason = "a benchmark that cannot do its work is to stop")]

use std::fs;
use std::time::{Duration, Instant};

use bahay::entropy;
use bahay::live::{Append, Live, NewLine, Options, Point};
use bahay_engine::table::{ENGINE, TableId, Timestamp};
use futures_util::future::join_all;
use uuid::Uuid;

/// Tables that are appended to at once.
const CALLERS: [usize; 4] = [1, 8, 64, 256];

/// How long each number of them is measured.
const MEASURED: Duration = Duration::from_secs(3);

/// A line of a move, as a table of Tong-its writes it.
const LINE: &str = r#"{"at":1772366409120,"input":{"type":"act","player":"019ca944-3c00-7000-8000-00000091a7e1","game":"019ca944-3c00-7000-8000-000000009a3e","prompt":17,"action":{"type":"dump","card":"AC"}}}"#;

/// Lines of a game, more or less.
const GAME_LINES: usize = 30;

fn main() {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(run());
}

async fn run() {
    let options = Options {
        url: std::env::var("REDIS_URL").expect("REDIS_URL names a Redis"),
        prefix: format!("bench-{}", Uuid::new_v4().simple()),
        shards: 16,
        connect_timeout: Duration::from_secs(5),
        response_timeout: Duration::from_secs(5),
    };
    let (live, _publications) = Live::connect(&options).await.unwrap();
    let redis = redis_pid(&options.url).await;
    println!("{:<58}{:>12}{:>13}{:>14}", "live state", "CPU us each", "a second", "Redis' own");
    for callers in CALLERS {
        let tables = join_all((0..callers).map(|_| founded(&live))).await;
        let until = Instant::now() + MEASURED;
        let what = format!("append, {callers} at a time");
        measure(&what, redis, async {
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
    measure("a look for due tables, all shards", redis, async {
        for _ in 0..2_000 {
            assert_eq!(live.take_due(&times, 1_000).await.unwrap(), []);
        }
        2_000
    })
    .await;
    let (table, mut at) = founded(&live).await;
    for _ in 0..GAME_LINES {
        at = appended(&live, table, at).await;
    }
    measure("a journal of 30 lines, read whole", redis, async {
        for _ in 0..2_000 {
            assert_eq!(live.load(table).await.unwrap().unwrap().lines.len(), GAME_LINES);
        }
        2_000
    })
    .await;
}

async fn founded(live: &Live) -> (TableId, Point) {
    let (table, tag) = (TableId(Uuid::new_v4()), entropy::tag());
    live.found(table, tag, "{}", 60_000, ENGINE).await.unwrap();
    (table, Point { version: 0, tag })
}

async fn appended(live: &Live, table: TableId, after: Point) -> Point {
    let tag = entropy::tag();
    let deadline = Some(Timestamp::from_ms(i64::MAX / 2));
    let new = NewLine { after, tag, engine: ENGINE, line: LINE, deadline, idle_ms: None };
    assert_eq!(live.append(table, new).await.unwrap(), Append::Appended);
    Point { version: after.version + 1, tag }
}

/// Does something so many times as it says, and prints what each cost.
async fn measure(what: &str, redis: Option<u32>, work: impl Future<Output = u32>) {
    let processor = |pid: Option<u32>| pid.map(|pid| processor_us(pid).unwrap_or_default());
    let (own_before, redis_before) = (processor(Some(std::process::id())), processor(redis));
    let began = Instant::now();
    let count = u64::from(work.await.max(1));
    let took_us = began.elapsed().as_micros().max(1);
    let each = |before: Option<u64>, after: Option<u64>| match (before, after) {
        (Some(before), Some(after)) => format!("{}", (after - before) / count),
        _ => "?".to_owned(),
    };
    println!(
        "{what:<58}{:>12}{:>13}{:>14}",
        each(own_before, processor(Some(std::process::id()))),
        u128::from(count) * 1_000_000 / took_us,
        each(redis_before, processor(redis)),
    );
}

/// User and system time of a process, on Linux.
fn processor_us(pid: u32) -> Option<u64> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name in brackets may hold spaces.
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let ticks = fields.get(11)?.parse::<u64>().ok()? + fields.get(12)?.parse::<u64>().ok()?;
    // A hundred ticks a second, on every Linux that we know of.
    Some(ticks * 10_000)
}

/// The process that answers, if it runs on this machine.
async fn redis_pid(url: &str) -> Option<u32> {
    let client = redis::Client::open(url).ok()?;
    let mut connection = client.get_multiplexed_async_connection().await.ok()?;
    let info: String = redis::cmd("INFO").arg("server").query_async(&mut connection).await.ok()?;
    let pid = info.lines().find_map(|line| line.strip_prefix("process_id:"))?;
    let pid = pid.trim().parse().ok()?;
    processor_us(pid).map(|_| pid)
}
