//! Password sign-ins per second and their limit: `./dev bench sign-ins` starts a server with
//! production parameters on its own PostgreSQL and Redis, creates players with passwords, and lets
//! them sign in from a number of concurrent clients for some seconds each. For comparison it prints
//! the time of one hash on an idle core.
//!
//! Clients and server share the machine; a client costs a fraction of a hash. Clients beyond the
//! bound of the queue are refused, and the last line counts the refusals.

#![expect(clippy::unwrap_used, reason = "a benchmark that cannot do its work is to stop")]

mod database;
#[path = "../tests/it/support/ports.rs"]
mod ports;

use std::process::{Child, Command};
use std::time::{Duration, Instant};

use argon2::{Algorithm, Argon2, Params, Version};
use bahay::accounts::HashOptions;
use bahay::entropy;
use bahay_engine::hex::Hex;
use futures_util::future::join_all;
use ports::reserve_address;
use reqwest::{Client, RequestBuilder, StatusCode};
use serde_json::{Value, json};
use sqlx::ConnectOptions as _;

/// Limits that the clients, which share one address, do not reach.
const LIMITS: [(&str, &str); 4] = [
    ("BAHAY_CONNECTIONS_PER_ADDRESS", "10000"),
    ("BAHAY_REQUESTS_PER_ADDRESS", "100000:100000"),
    ("BAHAY_REQUESTS_PER_ACCOUNT", "100000:100000"),
    ("BAHAY_SIGN_INS_PER_ADDRESS", "100000:100000"),
];

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

/// A server process, killed on drop.
struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        // The process may have exited by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

async fn run() {
    let (server, _admin) = database::recreate(&["bahay_bench"]).await;
    let options = server.database("bahay_bench");
    database::migrate(&options).await.close().await;
    let address = reserve_address();
    let process = Command::new(env!("CARGO_BIN_EXE_bahay"))
        .arg("serve")
        .env_clear()
        .env("DATABASE_URL", options.to_url_lossy().as_str())
        .env("REDIS_URL", std::env::var("REDIS_URL").expect("run this by ./dev bench"))
        .env("BAHAY_REDIS_PREFIX", "bench")
        .env("BAHAY_LISTEN", address.to_string())
        .env("BAHAY_PROBE_LISTEN", "127.0.0.1:0")
        .env("BAHAY_DEVELOPMENT", "true")
        .env("BAHAY_SIGNING_SECRET", Hex(entropy::seed()).to_string())
        .env("RUST_LOG", "error")
        .envs(LIMITS)
        .spawn();
    let mut server = Server(process.expect("the server is built"));
    let base = format!("http://{address}");
    let client = Client::builder().no_proxy().build().unwrap();
    while client.get(format!("{base}/healthz")).send().await.is_err() {
        assert!(server.0.try_wait().unwrap().is_none(), "the server has ended");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let most = CLIENTS.into_iter().max().unwrap_or(1);
    for number in 0..most {
        make_player(&client, &base, number).await;
    }
    println!("clients  sign-ins/s    p50        p99  refused");
    for clients in CLIENTS {
        measure(&client, &base, clients).await;
    }
}

fn name(number: usize) -> String {
    format!("Mang Tomas {number}")
}

async fn make_player(client: &Client, base: &str, number: usize) {
    let send = async |request: RequestBuilder, body: Value| -> Value {
        let answer = request.json(&body).send().await.unwrap();
        assert_eq!(answer.status(), StatusCode::OK, "{}", answer.url());
        answer.json().await.unwrap()
    };
    let post = |path: &str| client.post(format!("{base}{path}"));
    let device = format!("device-0123456789-{number}");
    let guest = send(post("/v1/sign-in/guest"), json!({ "device_id": device })).await;
    let token = guest["access_token"].as_str().unwrap();
    let shown = json!({ "by": "device", "device_id": device });
    let proof = send(post("/v1/me/proof").bearer_auth(token), shown).await;
    let set = post("/v1/me/password").bearer_auth(token);
    let set = set.header("account-proof", proof["proof"].as_str().unwrap());
    send(set, json!({ "name": name(number), "password": PASSWORD })).await;
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
