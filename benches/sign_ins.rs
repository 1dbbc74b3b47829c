//! Password sign-ins per second and their limit: `./dev bench sign-ins` starts a server with
//! production parameters on its own PostgreSQL and Redis, creates players with passwords, and lets
//! them sign in from a number of concurrent clients for some seconds each. For comparison it prints
//! the time of one hash on an idle core.
//!
//! Clients and server share the machine; a client costs a fraction of a hash. Clients beyond the
//! bound of the queue are refused, and the last line counts the refusals.

#![expect(clippy::unwrap_used, reason = "a benchmark that cannot do its work is to stop")]

use std::time::{Duration, Instant};

use argon2::{Algorithm, Argon2, Params, Version};
use bahay::accounts::{self, HashOptions};
use bahay::app::{self, ServerParts};
use bahay::auth::Signer;
use bahay::clock::Clock;
use bahay::db::{self, PoolOptions};
use bahay::lobby::{self, house_rooms};
use bahay::operators::AdjustmentBounds;
use bahay::rate_limit::{self, Rate};
use bahay::records::{ArchiveSchedule, Records};
use bahay::retention::RetentionPeriods;
use bahay::rewards::Terms;
use bahay::standings::Calendar;
use bahay::ws::FaultHooks;
use bahay::{entropy, live_store};
use bahay_engine::coins::Coins;
use bahay_engine::hex::Hex;
use bahay_engine::table::Clocks;
use futures_util::future::join_all;
use reqwest::{Client, StatusCode};
use serde_json::{Value, json};
use sqlx::postgres::PgConnectOptions;
use sqlx::{AssertSqlSafe, Connection as _, PgConnection};

/// The numbers of concurrent clients. The last exceeds the bound of the queue.
const CLIENTS: [usize; 4] = [1, 8, 64, 128];

/// The duration of each measurement.
const MEASURED: Duration = Duration::from_secs(5);

/// The number of hashes over which one hash is timed.
const HASHES: u32 = 50;

const PASSWORD: &str = "rain on a tin roof";

fn main() {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let hashes = HashOptions::default();
    println!(
        "argon2id, {} KiB, {} passes: {} us for a hash; {} at once, {} waiting",
        hashes.memory_kib,
        hashes.passes,
        one_hash_us(hashes),
        hashes.at_once,
        hashes.waiting_max
    );
    runtime.block_on(run());
}

fn one_hash_us(options: HashOptions) -> u128 {
    let params = Params::new(options.memory_kib, options.passes, 1, None).unwrap();
    let argon2 = Argon2::new(Algorithm::Argon2id, Version::V0x13, params);
    let mut out = [0; 32];
    let began = Instant::now();
    for _ in 0..HASHES {
        argon2.hash_password_into(PASSWORD.as_bytes(), b"sixteen bytes of", &mut out).unwrap();
    }
    began.elapsed().as_micros() / u128::from(HASHES)
}

async fn run() {
    let url = std::env::var("DATABASE_URL").expect("run this as ./dev bench sign-ins");
    let server: PgConnectOptions = url.parse().expect("DATABASE_URL is a PostgreSQL URL");
    let mut admin = PgConnection::connect_with(&server).await.expect("the server answers");
    for sql in ["drop database if exists bahay_bench with (force)", "create database bahay_bench"] {
        sqlx::query(AssertSqlSafe(sql.to_owned())).execute(&mut admin).await.unwrap();
    }
    let options = server.database("bahay_bench");
    let owner = db::connect_as_login(options.clone(), PoolOptions::default()).await.unwrap();
    db::migrate(&owner).await.unwrap();
    owner.close().await;
    let pool = PoolOptions { connections_max: 16, ..PoolOptions::default() };
    let pool = db::connect(options, pool).await.unwrap();

    let wide = Rate { per_second: 1_000_000, burst: 1_000_000 };
    let rate_limits = rate_limit::Options {
        connections_per_address: 10_000,
        requests_per_address: wide,
        requests_per_account: wide,
        sign_ins_per_address: wide,
        ..rate_limit::Options::default()
    };
    let live = live_store::Options {
        url: std::env::var("REDIS_URL").expect("run this as ./dev bench sign-ins"),
        root_certificate: None,
        prefix: "bench".into(),
        shards: 4,
        connect_timeout: Duration::from_secs(2),
        response_timeout: Duration::from_secs(2),
    };
    let secret = Hex(entropy::seed()).to_string();
    let parts = ServerParts {
        ledger_pool: pool.clone(),
        pool,
        live,
        signer: Signer::new(secret.as_bytes()).unwrap(),
        clock: Clock::system(),
        rooms: house_rooms(Clocks::default()),
        welcome: Coins::from_whole(1_000).unwrap(),
        ledger_check_every: Duration::from_secs(3_600),
        rewards: Terms::default(),
        adjustments: AdjustmentBounds {
            one_max: Coins::from_whole(1_000).unwrap(),
            requester_day_max: Coins::from_whole(1_000).unwrap(),
            player_day_max: Coins::from_whole(1_000).unwrap(),
        },
        rate_limits,
        auth_options: accounts::Options::default(),
        desk: bahay::http::DeskOptions::default(),
        second_factor_keys: bahay::auth::SealingKeys::default(),
        lobby: lobby::Options::default(),
        calendar: Calendar::default(),
        retention: RetentionPeriods::default(),
        records: Records::without_archive(),
        archiving: ArchiveSchedule::new(Duration::from_hours(48)),
        ai_workers: 1,
        links: bahay::ws::LinkTimes::default(),
        hooks: FaultHooks::default(),
    };
    let listener = app::listen("127.0.0.1:0".parse().unwrap()).unwrap();
    let probes = app::listen("127.0.0.1:0".parse().unwrap()).unwrap();
    let running = app::start(parts, listener, probes).await.unwrap();
    let base = format!("http://{}", running.address);
    let client = Client::builder().no_proxy().build().unwrap();
    let most = CLIENTS.into_iter().max().unwrap_or(1);
    for number in 0..most {
        make_player(&client, &base, number).await;
    }
    println!("clients  sign-ins/s    p50        p99  refused");
    for clients in CLIENTS {
        measure(&client, &base, clients).await;
    }
    running.stop().await.unwrap();
}

fn name(number: usize) -> String {
    format!("Mang Tomas {number}")
}

async fn make_player(client: &Client, base: &str, number: usize) {
    let device = json!({ "device_id": format!("device-0123456789-{number}") });
    let guest = client.post(format!("{base}/v1/sign-in/guest")).json(&device).send().await.unwrap();
    let guest: Value = guest.json().await.unwrap();
    let body = json!({ "name": name(number), "password": PASSWORD });
    let upgrade = client.post(format!("{base}/v1/me/password")).json(&body);
    let upgrade = upgrade.bearer_auth(guest["access_token"].as_str().unwrap());
    assert_eq!(upgrade.send().await.unwrap().status(), StatusCode::OK);
}

/// Runs a number of clients, each with its own player, one sign-in after another.
async fn measure(client: &Client, base: &str, clients: usize) {
    let began = Instant::now();
    let each = (0..clients).map(|number| async move {
        let body = json!({ "name": name(number), "password": PASSWORD });
        let (mut took_us, mut refused) = (Vec::new(), 0_u32);
        while began.elapsed() < MEASURED {
            let asked = Instant::now();
            let request = client.post(format!("{base}/v1/sign-in/password")).json(&body);
            let status = request.send().await.unwrap().status();
            if status == StatusCode::OK {
                took_us.push(asked.elapsed().as_micros());
            } else {
                assert_eq!(status, StatusCode::SERVICE_UNAVAILABLE);
                refused += 1;
                // A shorter wait than its `Retry-After`, for an impatient client.
                tokio::time::sleep(Duration::from_secs(1)).await;
            }
        }
        (took_us, refused)
    });
    let done = join_all(each).await;
    let elapsed_ms = began.elapsed().as_millis();
    let refused: u32 = done.iter().map(|(_, refused)| refused).sum();
    let mut took_us: Vec<u128> = done.into_iter().flat_map(|(took_us, _)| took_us).collect();
    took_us.sort_unstable();
    let percentile = |percent: usize| {
        let place = (took_us.len() * percent / 100).min(took_us.len().saturating_sub(1));
        took_us.get(place).copied().unwrap_or_default()
    };
    let a_second = took_us.len() as u128 * 1_000 / elapsed_ms.max(1);
    println!(
        "{clients:>7}  {a_second:>10}  {:>7} us {:>7} us  {refused:>7}",
        percentile(50),
        percentile(99)
    );
}
