//! Settlements per second, beside pgbench's TPC-B-like transactions on the same server in the same
//! run: `./dev bench ledger` prints one table, once with the disk as it is and once with two
//! milliseconds added to every flush of a commit.
//!
//! Games are real: bots play them in the engine's simulation with three seats each, and their
//! records are stored in full (with their own ids, since some dozens of games are assigned to many
//! tables). The terms are those of the house's rooms with one change: the first win takes the POT,
//! so every settlement pays it, the fee, both losers' debts and the rest of three stakes: seven
//! transfers between eight accounts. All pay the same fee account. Games
//! are opened before the clock starts; building the input and its record is included, as in the
//! service.
//!
//! Each figure is the best of some rounds, because on a shared machine only an undisturbed round
//! shows the cost of the code; rounds of both programs alternate. The result counts only if the
//! audit is clean at the end.

#![expect(clippy::unwrap_used, reason = "a benchmark that cannot do its work is to stop")]

mod database;

use std::collections::VecDeque;
use std::process::{Command, ExitCode};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use bahay::db::{self, PgPool, PoolOptions};
use bahay::ledger::{
    AMOUNT_MAX, Grant, GrantCoins, Ledger, LedgerOptions, LedgerTasks, OpeningOutcome, SettleGame,
    audit,
};
use bahay::lobby;
use bahay_bots::simulation::{Habits, Simulation};
use bahay_engine::catalog::AnyGame;
use bahay_engine::coins::Coins;
use bahay_engine::table::{Clocks, GameId, Hits, PlayerId, Record, TableId};
use bahay_lab::fixtures::{opening_of, settlement_of};
use futures_util::future::join_all;
use sqlx::PgConnection;
use sqlx::postgres::PgConnectOptions;
use uuid::Uuid;

use database::execute;

/// Groups of three players. No two callers share one, and each game has its own table.
const GROUPS: usize = 256;

/// The number of games that bots play before the measurement.
const PLAYED: u64 = 64;

/// The numbers of callers that settle in transactions of their own; also of pgbench's clients.
const ONE_BY_ONE: [usize; 3] = [1, 8, 32];

/// The number of callers that wait for the group commit of the writers.
const WAITING: usize = 256;

/// The warm-up before the clock starts, in which connections plan their statements.
const WARM_UP: Duration = Duration::from_millis(500);

/// The branches of TPC-B; no fewer than clients, so that branches are not the bottleneck.
const PGBENCH_SCALE: &str = "32";

/// The delay of a flush in the second half, in microseconds.
const SLOW_US: u32 = 2_000;

struct Options {
    rounds: u32,
    seconds: u64,
    /// Without pgbench and without the slow disk: some rows of `./dev bench`.
    alone: bool,
}

/// The measurements with one kind of disk.
#[derive(Default)]
struct DiskResults {
    one_by_one: [Rate; ONE_BY_ONE.len()],
    tpc_b: [Rate; ONE_BY_ONE.len()],
    writer: Rate,
    /// The offered rate in the measurement of latency.
    offered: u64,
    p50_us: u128,
    p99_us: u128,
}

/// The rate per second, and the processor time per operation of server and caller.
#[derive(Clone, Copy, Default)]
struct Rate {
    per_second: u64,
    server_us: u64,
    caller_us: u64,
}

impl Rate {
    /// Returns the less disturbed of two rounds.
    fn best(self, other: Self) -> Self {
        if other.per_second > self.per_second { other } else { self }
    }
}

fn main() -> ExitCode {
    let options = options();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    runtime.block_on(run(&options))
}

fn options() -> Options {
    let mut options = Options { rounds: 3, seconds: 2, alone: false };
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let mut number = || arguments.next().and_then(|number| number.parse().ok());
        match argument.as_str() {
            "--rounds" => options.rounds = number().expect("--rounds takes a number"),
            "--alone" => options.alone = true,
            "--seconds" => options.seconds = number().expect("--seconds takes a number").into(),
            // An argument that cargo adds.
            _ => {}
        }
    }
    options
}

async fn run(options: &Options) -> ExitCode {
    let (server, mut admin) = database::recreate(&["bahay_bench", "bahay_tpc_b"]).await;
    let mut house = House::new(server.database("bahay_bench")).await;

    let backend: i32 = sqlx::query_scalar("select pg_backend_pid()")
        .fetch_one(&mut admin)
        .await
        .expect("the server answers");
    let cpu = Cpu::of_server(backend);
    if options.alone {
        return alone(options, house, &cpu).await;
    }
    // A URL as given, because the program's own options are none of pgbench's.
    let url = std::env::var("DATABASE_URL").expect("it named the server");
    let (server_url, _) = url.rsplit_once('/').expect("the URL names a database");
    let tpc_b = TpcB::new(&format!("{server_url}/bahay_tpc_b"));

    let mut measured = Vec::new();
    for slow in [false, true] {
        if slow {
            execute(&mut admin, &format!("alter system set commit_delay = {SLOW_US}")).await;
            execute(&mut admin, "alter system set commit_siblings = 0").await;
            execute(&mut admin, "select pg_reload_conf()").await;
        }
        measured.push(measure(options, &mut house, &tpc_b, &mut admin, &cpu).await);
    }
    execute(&mut admin, "alter system reset commit_delay").await;
    execute(&mut admin, "alter system reset commit_siblings").await;
    execute(&mut admin, "select pg_reload_conf()").await;

    println!("{}", house.describe().await);
    for (measured, title) in measured.iter().zip(["the disk as it is", "2 ms on every flush"]) {
        print(measured, title);
    }
    house.verdict().await
}

/// Measures settlements in the columns of `live`.
async fn alone(options: &Options, mut house: House, cpu: &Cpu) -> ExitCode {
    let duration = Duration::from_secs(options.seconds);
    let print = |what: &str, Rate { per_second, server_us, caller_us }: Rate| {
        println!("{what:<58}{caller_us:>12}{per_second:>13}{server_us:>14}");
    };
    println!("{:<58}{:>12}{:>13}{:>14}", "the ledger", "CPU us each", "a second", "PostgreSQL's");
    house.open_enough(2_000, duration).await;
    house.age().await;
    print("settle, 1 at a time", house.settle_one_by_one(cpu, 1, duration).await);
    house.open_enough(8_000, duration).await;
    let waiting = vec![house.ledger.clone(); WAITING];
    house.settle(cpu, &waiting, WARM_UP).await;
    print("settle, 256 at a time", house.settle(cpu, &waiting, duration).await);
    house.verdict().await
}

async fn measure(
    options: &Options,
    house: &mut House,
    tpc_b: &TpcB,
    admin: &mut PgConnection,
    cpu: &Cpu,
) -> DiskResults {
    let mut measured = DiskResults::default();
    let duration = Duration::from_secs(options.seconds);
    house.open_enough(2_000, duration).await;
    house.age().await;
    execute(admin, "checkpoint").await;
    for _ in 0..options.rounds {
        for (index, callers) in ONE_BY_ONE.into_iter().enumerate() {
            let before = cpu.now();
            let (rate, count) = tpc_b.run(callers, options.seconds).await;
            let rate = cpu.now().since(before, rate, count);
            measured.tpc_b[index] = measured.tpc_b[index].best(rate);

            house.open_enough(measured.one_by_one[index].per_second, duration).await;
            let rate = house.settle_one_by_one(cpu, callers, duration).await;
            measured.one_by_one[index] = measured.one_by_one[index].best(rate);
        }
        house.open_enough(measured.writer.per_second.max(8_000), duration).await;
        let waiting = vec![house.ledger.clone(); WAITING];
        house.settle(cpu, &waiting, WARM_UP).await;
        let rate = house.settle(cpu, &waiting, duration).await;
        measured.writer = measured.writer.best(rate);
    }
    measured.offered = measured.writer.per_second / 2;
    house.open_enough(measured.offered, duration).await;
    (measured.p50_us, measured.p99_us) = house.settle_at_rate(measured.offered, duration).await;
    measured
}

fn print(measured: &DiskResults, title: &str) {
    let ratio = |rate: Rate, base: Rate| {
        let hundredths = rate.per_second * 100 / base.per_second.max(1);
        format!("{}.{:02}", hundredths / 100, hundredths % 100)
    };
    let line = |name: String, rate: Rate, base: Rate| {
        let cpu = |rate: Rate| format!("{} + {}", rate.server_us, rate.caller_us);
        println!(
            "{name:<34}{:>14}{:>10}{:>8}{:>16}{:>14}",
            rate.per_second,
            base.per_second,
            ratio(rate, base),
            cpu(rate),
            cpu(base)
        );
    };
    println!(
        "\n{title:<34}{:>14}{:>10}{:>8}{:>16}{:>14}",
        "settlements/s", "TPC-B/s", "ratio", "CPU us each", "TPC-B's"
    );
    for (index, callers) in ONE_BY_ONE.into_iter().enumerate() {
        let name = format!("one by one, {callers} at a time");
        line(name, measured.one_by_one[index], measured.tpc_b[index]);
    }
    let best = measured.tpc_b.into_iter().max_by_key(|rate| rate.per_second);
    let name = format!("through the writers, {WAITING} waiting");
    line(name, measured.writer, best.unwrap_or_default());
    let name = "latency at half of that";
    let (offered, p50, p99) = (measured.offered, measured.p50_us, measured.p99_us);
    println!("{name:<34}{offered:>14}  p50 {p50} us, p99 {p99} us");
}

/// The processor time of PostgreSQL's processes, and of this one with its awaited children.
struct Cpu {
    postmaster: String,
}

#[derive(Clone, Copy)]
struct CpuTime {
    server_us: u64,
    caller_us: u64,
}

impl Cpu {
    /// Finds the server by a connection's process. Reads nothing outside of Linux.
    fn of_server(backend: i32) -> Self {
        let stat = std::fs::read_to_string(format!("/proc/{backend}/stat")).unwrap_or_default();
        Self { postmaster: fields(&stat).get(1).map_or_else(String::new, ToString::to_string) }
    }

    fn now(&self) -> CpuTime {
        let processes = std::fs::read_dir("/proc").into_iter().flatten().filter_map(Result::ok);
        let mut ticks = CpuTime { server_us: 0, caller_us: 0 };
        for process in processes {
            let Ok(stat) = std::fs::read_to_string(process.path().join("stat")) else {
                continue;
            };
            let fields = fields(&stat);
            let sum = |from: usize, to: usize| -> u64 {
                let fields = fields.get(from..to).into_iter().flatten();
                fields.filter_map(|ticks| ticks.parse::<u64>().ok()).sum()
            };
            let pid = process.file_name();
            if pid == *self.postmaster || pid == *std::process::id().to_string() {
                // Including children that have exited.
                let time = sum(11, 15) * 10_000;
                if pid == *self.postmaster {
                    ticks.server_us += time;
                } else {
                    ticks.caller_us += time;
                }
            } else if fields.get(1) == Some(&self.postmaster.as_str()) {
                ticks.server_us += sum(11, 13) * 10_000;
            }
        }
        ticks
    }
}

impl CpuTime {
    fn since(self, before: Self, per_second: u64, count: u64) -> Rate {
        Rate {
            per_second,
            server_us: self.server_us.saturating_sub(before.server_us) / count.max(1),
            caller_us: self.caller_us.saturating_sub(before.caller_us) / count.max(1),
        }
    }
}

/// Returns the fields of a process's `stat` after its name, which may hold anything.
fn fields(stat: &str) -> Vec<&str> {
    stat.rsplit_once(") ").map_or("", |(_, rest)| rest).split(' ').collect()
}

/// pgbench on its own database.
struct TpcB {
    program: String,
    url: String,
}

impl TpcB {
    fn new(url: &str) -> Self {
        let program = std::env::var("PGBENCH").unwrap_or_else(|_| "pgbench".into());
        let tpc_b = Self { program, url: url.to_owned() };
        let initialised = tpc_b.output(&["-i", "-q", "-s", PGBENCH_SCALE]);
        assert!(initialised.is_some(), "pgbench could not make its tables");
        tpc_b
    }

    /// Returns the transactions per second, and their number.
    async fn run(&self, clients: usize, seconds: u64) -> (u64, u64) {
        let duration_s = seconds;
        let (clients, seconds) = (clients.to_string(), seconds.to_string());
        let threads = if clients == "1" { "1" } else { "2" };
        let arguments = ["-b", "tpcb-like", "-n", "-c", &clients, "-j", threads, "-T", &seconds];
        let output = tokio::task::block_in_place(|| self.output(&arguments));
        let output = output.expect("pgbench runs");
        let rate = output.lines().find_map(|line| line.strip_prefix("tps = "));
        let rate = rate.and_then(|rate| rate.split('.').next()?.parse().ok());
        let rate: u64 = rate.expect("pgbench prints its rate");
        (rate, rate * duration_s)
    }

    fn output(&self, arguments: &[&str]) -> Option<String> {
        let output = Command::new(&self.program).args(arguments).arg(&self.url).output();
        let output = output.expect("pgbench is there: PGBENCH names it");
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
    }
}

/// An open game that can be settled.
struct OpenedGame {
    game: GameId,
    table: TableId,
    group: usize,
    /// The index of the played game.
    played: usize,
}

/// The house with its players and open games.
struct House {
    database: PgConnectOptions,
    pool: PgPool,
    owner: PgPool,
    ledger: Ledger,
    _tasks: LedgerTasks,
    played: Arc<[Record<AnyGame>]>,
    groups: Arc<[Mutex<VecDeque<OpenedGame>>]>,
    opened: u64,
}

impl House {
    async fn new(database: PgConnectOptions) -> Self {
        let owner = database::migrate(&database).await;
        let pool = db::connect(database.clone(), PoolOptions::default()).await.unwrap();
        let (ledger, tasks) = Ledger::start(pool.clone(), LedgerOptions::default());
        for number in 0..GROUPS {
            let players = group(number).into_iter().map(|player| welcome(&owner, &ledger, player));
            join_all(players).await;
        }
        let groups = (0..GROUPS).map(|_| Mutex::default()).collect();
        let played = played().into();
        Self { database, pool, owner, ledger, _tasks: tasks, played, groups, opened: 0 }
    }

    /// Opens as many games as this rate will settle, and some more.
    async fn open_enough(&mut self, rate: u64, duration: Duration) {
        let wanted = rate.max(1_000) * duration.as_secs() * 5 / 4;
        let each = usize::try_from(wanted).unwrap().div_ceil(GROUPS);
        let openings = (0..GROUPS).map(|group| {
            let (ledger, played) = (self.ledger.clone(), Arc::clone(&self.played));
            let groups = Arc::clone(&self.groups);
            let missing = each.saturating_sub(groups[group].lock().unwrap().len());
            let first = self.opened;
            self.opened += missing as u64;
            tokio::spawn(async move {
                for number in (first..).take(missing) {
                    let ready = OpenedGame {
                        game: GameId(Uuid::new_v4()),
                        table: TableId(Uuid::new_v4()),
                        group,
                        played: usize::try_from(number).unwrap() % played.len(),
                    };
                    let opening = ledger.open_game(opening_of(&ready.record(&played))).await;
                    let opening = opening.unwrap();
                    assert!(matches!(opening, OpeningOutcome::Opened { .. }), "all can pay");
                    groups[group].lock().unwrap().push_back(ready);
                }
            })
        });
        for opened in join_all(openings.collect::<Vec<_>>()).await {
            opened.unwrap();
        }
        // The measurement is to include only its own projecting.
        self.ledger.seal_operations().await.unwrap();
    }

    /// Vacuums and analyses, as autovacuum does within the first minute and pgbench on
    /// initialisation; before that PostgreSQL plans for empty tables.
    async fn age(&self) {
        sqlx::query("vacuum analyze").execute(&self.owner).await.unwrap();
    }

    /// Measures callers with their own ledgers and queues, so that no operations share a
    /// transaction, and with as many connections as callers. A connection plans in its first calls,
    /// which are made before the clock starts.
    async fn settle_one_by_one(&self, cpu: &Cpu, callers: usize, duration: Duration) -> Rate {
        let connections_max = u32::try_from(callers).unwrap();
        let pool = PoolOptions { connections_max, ..PoolOptions::default() };
        let pool = db::connect(self.database.clone(), pool).await.unwrap();
        let pace = Duration::ZERO;
        let alone = LedgerOptions {
            batches_at_once: 1,
            pace,
            projection_interval_ms: 3_600_000,
            ..Default::default()
        };
        let started = (0..callers).map(|_| Ledger::start(pool.clone(), alone));
        let (ledgers, tasks): (Vec<_>, Vec<_>) = started.unzip();
        self.settle(cpu, &ledgers, WARM_UP).await;
        let rate = self.settle(cpu, &ledgers, duration).await;
        // Not stopped, which would project; the tasks end with their ledgers.
        drop(tasks);
        rate
    }

    /// Measures settlements per second and their cost in a closed loop of callers.
    async fn settle(&self, cpu: &Cpu, ledgers: &[Ledger], duration: Duration) -> Rate {
        let before = cpu.now();
        let begun = Instant::now();
        let callers = ledgers.len();
        let callers = ledgers.iter().enumerate().map(|(first, ledger)| {
            let (groups, played) = (Arc::clone(&self.groups), Arc::clone(&self.played));
            let ledger = ledger.clone();
            tokio::spawn(async move {
                let mut settled = 0_u64;
                for group in (first..GROUPS).step_by(callers) {
                    loop {
                        if begun.elapsed() >= duration {
                            return settled;
                        }
                        let Some(ready) = groups[group].lock().unwrap().pop_front() else {
                            break;
                        };
                        ledger.settle_game(ready.settlement(&played)).await.unwrap();
                        settled += 1;
                    }
                }
                settled
            })
        });
        let callers: Vec<_> = callers.collect();
        let settled: u64 = join_all(callers).await.into_iter().map(Result::unwrap).sum();
        cpu.now().since(before, per_second(settled, begun.elapsed()), settled)
    }

    /// Returns the median and the 99th percentile of the time of settlements at a steady rate,
    /// whether or not earlier ones are answered, in microseconds from their due times.
    async fn settle_at_rate(&self, rate: u64, duration: Duration) -> (u128, u128) {
        let begun = Instant::now();
        let mut answers = Vec::new();
        for number in 0..rate * duration.as_secs() {
            let due = begun + Duration::from_nanos(1_000_000_000 * number / rate.max(1));
            if due > Instant::now() {
                tokio::time::sleep_until(due.into()).await;
            }
            let group = usize::try_from(number).unwrap() % GROUPS;
            let Some(ready) = self.groups[group].lock().unwrap().pop_front() else {
                break;
            };
            let (ledger, played) = (self.ledger.clone(), Arc::clone(&self.played));
            answers.push(tokio::spawn(async move {
                ledger.settle_game(ready.settlement(&played)).await.unwrap();
                due.elapsed().as_micros()
            }));
        }
        let mut taken = Vec::new();
        for answer in answers {
            taken.push(answer.await.unwrap());
        }
        taken.sort_unstable();
        let at = |hundredths: usize| taken.get(taken.len() * hundredths / 100).copied();
        (at(50).unwrap_or_default(), at(99).unwrap_or_default())
    }

    async fn describe(&self) -> String {
        let (bytes, transfers): (i64, i64) = sqlx::query_as(
            "select (select avg(length(r.record))::bigint from game_records r),
                (
                    select avg(cardinality(o.codes))::bigint
                    from operations o
                    where o.kind = 'settle'
                )",
        )
        .fetch_one(&self.pool)
        .await
        .unwrap();
        format!("a settlement: {transfers} transfers, a record of {bytes} bytes")
    }

    /// Returns a failure unless the books are consistent.
    async fn verdict(&self) -> ExitCode {
        self.ledger.seal_operations().await.expect("the operations are sealed");
        let deadlocks: i64 = sqlx::query_scalar(
            "select deadlocks from pg_stat_database where datname = current_database()",
        )
        .fetch_one(&self.owner)
        .await
        .unwrap();
        let report = audit::audit(&self.pool).await.expect("the books are read");
        println!("\n{} operations, {deadlocks} deadlocks", report.operations);
        if report.is_clean() && deadlocks == 0 {
            println!("the audit is clean");
            return ExitCode::SUCCESS;
        }
        for difference in &report.differences {
            eprintln!("{difference}");
        }
        ExitCode::FAILURE
    }
}

impl OpenedGame {
    /// Returns the record of the played game with this game's ids.
    fn record(&self, played: &[Record<AnyGame>]) -> Record<AnyGame> {
        let (game, table, players) = (self.game, self.table, group(self.group));
        Record { game, table, players, ..played[self.played].clone() }
    }

    fn settlement(&self, played: &[Record<AnyGame>]) -> SettleGame {
        settlement_of(&self.record(played)).unwrap()
    }
}

/// Creates a player who can always pay.
async fn welcome(owner: &PgPool, ledger: &Ledger, player: PlayerId) {
    let query = sqlx::query("insert into players (id, name) values ($1, 'Tala')");
    query.bind(player.0).execute(owner).await.expect("a player is made");
    let (grant, key) = (Grant::Welcome, player.to_string());
    let grant = GrantCoins { player, grant, key, amount: AMOUNT_MAX };
    ledger.grant(grant).await.expect("a welcome is granted");
}

/// Returns the players of a group.
fn group(number: usize) -> Vec<PlayerId> {
    (1..=3).map(|seat| PlayerId(Uuid::from_u64_pair(seat, number as u64))).collect()
}

/// Plays games with a winner, each the first of its table.
fn played() -> Vec<Record<AnyGame>> {
    let rooms = lobby::house_rooms(Clocks::default());
    let mut terms = rooms[0].terms().clone();
    terms.hits = Some(Hits { to_win: 1, ..Hits::default() });
    let welcome = Coins::from_whole(1_000_000).unwrap();
    let mut records = Vec::new();
    for seed in 0..PLAYED {
        let mut table = Simulation::new(seed, terms.clone(), Habits::default(), welcome);
        table.play(1, |_, record| records.push(record.clone()));
    }
    records.retain(|record| record.settlement.pot.is_some());
    records
}

fn per_second(count: u64, taken: Duration) -> u64 {
    u64::try_from(u128::from(count) * 1_000_000_000 / taken.as_nanos().max(1)).unwrap_or(u64::MAX)
}
