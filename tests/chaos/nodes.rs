//! Real nodes: `bahay serve` processes of the built binary, each with its own proxies to
//! PostgreSQL, to Redis and to its clients, so that each can be broken for one node alone.
//!
//! A wanted node that has exited is started again, as a supervisor does: it refuses to start while
//! a service is unavailable. An exit after it had served is a finding.

use std::fs::OpenOptions;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use sqlx::postgres::PgConnectOptions;

use crate::gate::Gate;
use crate::plan::{Link, Version};
use crate::support::ports::reserve_address;
use crate::support::wire::Wire;

const SECRET: &str = "7d1f0a6b93c84e25a0b7c6d5e4f3928170695a4b3c2d1e0f9e8d7c6b5a493827";

/// A timeout that only a hang exceeds.
const PATIENCE: Duration = Duration::from_secs(90);

/// Raised rate limits: all clients of a run share one address, and faults make them reconnect
/// often.
const LIMITS: [(&str, &str); 9] = [
    ("BAHAY_CONNECTIONS_PER_ADDRESS", "100000"),
    ("BAHAY_SOCKETS_PER_ADDRESS", "100000"),
    ("BAHAY_UNAUTHENTICATED_SOCKETS_PER_ADDRESS", "100000"),
    ("BAHAY_SOCKET_HANDSHAKES_PER_ACCOUNT", MANY),
    ("BAHAY_REQUESTS_PER_ADDRESS", MANY),
    ("BAHAY_REQUESTS_PER_ACCOUNT", MANY),
    ("BAHAY_SIGN_INS_PER_ADDRESS", MANY),
    ("BAHAY_WELCOMES_PER_NETWORK", "0"),
    ("BAHAY_RELIEFS_PER_NETWORK", "0"),
];
const MANY: &str = "100000:100000";

/// The keeper's polling interval.
const LOOK: Duration = Duration::from_millis(50);

/// The environment of every node of the run, and the folder of its output.
#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) number: u64,
    pub(crate) gate: Gate,
    postgres: Wire,
    redis: Wire,
    pub(crate) log: PathBuf,
    /// The binary of the previous version.
    before: PathBuf,
    state: Mutex<State>,
    /// Held by the task that is changing the process.
    pub(crate) turn: tokio::sync::Mutex<()>,
    /// Held by the tasks that are changing its links, in the order of [`Link`].
    pub(crate) link_turns: [tokio::sync::Mutex<()>; 3],
}

#[derive(Debug, Default)]
struct State {
    process: Option<Child>,
    address: Option<SocketAddr>,
    wanted: bool,
    version: Version,
    /// True if the node has answered since it was started.
    served: bool,
    findings: Vec<String>,
}

impl Node {
    pub(crate) async fn prepare(
        number: u64,
        database: &PgConnectOptions,
        redis_url: &str,
        folder: &Path,
        before: &Path,
    ) -> Arc<Self> {
        let node = Arc::new(Self {
            number,
            gate: Gate::open().await,
            postgres: Wire::postgres(database).await,
            redis: Wire::redis(redis_url).await,
            log: folder.join(format!("node-{number}.log")),
            before: before.to_owned(),
            state: Mutex::default(),
            turn: tokio::sync::Mutex::default(),
            link_turns: Default::default(),
        });
        tokio::spawn(keep(Arc::downgrade(&node)));
        node
    }

    /// Returns the process's unexpected exits.
    pub(crate) fn findings(&self) -> Vec<String> {
        self.state().findings.clone()
    }

    /// Marks the node as wanted; the keeper starts it.
    pub(crate) fn start(&self) {
        self.state().wanted = true;
    }

    /// Sets the version that the node runs from its next start.
    pub(crate) fn take(&self, version: Version) {
        self.state().version = version;
    }

    /// Waits until the node answers. Fails with the reason after a timeout.
    pub(crate) async fn until_healthy(&self) -> Result<(), String> {
        let begun = Instant::now();
        while !self.is_healthy().await {
            if begun.elapsed() > PATIENCE {
                return Err(format!("node {} does not answer: see its log", self.number));
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        Ok(())
    }

    async fn is_healthy(&self) -> bool {
        let Some(address) = self.state().address else {
            return false;
        };
        let http = reqwest::Client::builder().no_proxy().timeout(Duration::from_secs(2)).build();
        let asked = http.expect("a plain client").get(format!("http://{address}/healthz"));
        let healthy = asked.send().await.is_ok_and(|answer| answer.status().is_success());
        let mut state = self.state();
        if healthy && state.address == Some(address) {
            state.served = true;
        }
        healthy
    }

    /// Kills the process with SIGKILL.
    pub(crate) fn kill(&self) {
        let mut state = self.state();
        state.wanted = false;
        if let Some(mut process) = state.process.take() {
            // The process may have exited by itself.
            drop(process.kill());
            drop(process.wait());
        }
    }

    /// Sends SIGTERM and waits for the exit. Fails after a timeout.
    pub(crate) async fn end(&self) -> Result<(), String> {
        self.state().wanted = false;
        self.signal("TERM");
        let begun = Instant::now();
        loop {
            let ended = match &mut self.state().process {
                Some(process) => process.try_wait().expect("a child can be asked"),
                None => return Ok(()),
            };
            match ended {
                Some(status) => {
                    let State { process, served, .. } = &mut *self.state();
                    *process = None;
                    // Before the node serves, the signal itself may end it.
                    if status.success() || !*served {
                        return Ok(());
                    }
                    return Err(format!("node {} was told to end: {status}", self.number));
                }
                None if begun.elapsed() > PATIENCE => {
                    self.kill();
                    return Err(format!("node {} did not end when told to", self.number));
                }
                None => tokio::time::sleep(Duration::from_millis(10)).await,
            }
        }
    }

    /// Sends a signal such as `STOP` or `CONT`.
    pub(crate) fn signal(&self, name: &str) {
        let pid = self.state().process.as_ref().map(Child::id);
        if let Some(pid) = pid {
            let sent = Command::new("kill").args([&format!("-{name}"), &pid.to_string()]).output();
            drop(sent.expect("there is a kill command"));
        }
    }

    /// Returns the proxy of a link to a service.
    fn wire(&self, link: Link) -> Option<&Wire> {
        match link {
            Link::Redis => Some(&self.redis),
            Link::Postgres => Some(&self.postgres),
            Link::Clients => None,
        }
    }

    pub(crate) async fn cut(&self, link: Link) {
        let Some(wire) = self.wire(link) else { return self.gate.cut() };
        wire.refuse().await;
        wire.cut().await;
    }

    pub(crate) fn hold(&self, link: Link) {
        self.wire(link).map_or_else(|| self.gate.hold(), Wire::hold);
    }

    pub(crate) fn delay(&self, link: Link, delay: Duration) {
        self.wire(link).map_or_else(|| self.gate.delay(delay), |wire| wire.delay(delay));
    }

    pub(crate) async fn heal(&self, link: Link) {
        let Some(wire) = self.wire(link) else { return self.gate.heal() };
        wire.delay(Duration::ZERO);
        wire.release();
        wire.welcome().await;
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().expect("nobody panics while holding it")
    }

    fn spawn(&self, state: &mut State) {
        let address = reserve_address();
        let log = OpenOptions::new().create(true).append(true).open(&self.log);
        let log = log.expect("the run's folder is ours");
        let binary = match state.version {
            Version::This => Path::new(env!("CARGO_BIN_EXE_bahay")),
            Version::Before => &self.before,
        };
        let process = Command::new(binary)
            .arg("serve")
            .env_clear()
            .env("DATABASE_URL", self.postgres.url())
            .env("REDIS_URL", self.redis.url())
            .env("BAHAY_LISTEN", address.to_string())
            .env("BAHAY_PROBE_LISTEN", "127.0.0.1:0")
            .env("BAHAY_DEVELOPMENT", "true")
            .env("BAHAY_SIGNING_SECRET", SECRET)
            // No player may run out of coins in a long run.
            .env("BAHAY_WELCOME_COINS", "1000000")
            .env("BAHAY_SEPARATE_SAME_NETWORK", "false")
            // Players that are disconnected on purpose rejoin at once.
            .env("BAHAY_NOT_READY_WAITS_S", "0")
            .envs(LIMITS)
            .env("RUST_LOG", "info")
            .env("RUST_BACKTRACE", "1")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log)
            .spawn();
        state.process = Some(process.expect("the binary is built"));
        state.address = Some(address);
        state.served = false;
        self.gate.lead_to(address);
    }

    /// Starts a wanted node that does not run.
    fn look(&self) {
        let mut state = self.state();
        if !state.wanted {
            return;
        }
        let ended = match &mut state.process {
            Some(process) => process.try_wait().expect("a child can be asked"),
            None => return self.spawn(&mut state),
        };
        if let Some(status) = ended {
            if state.served {
                let number = self.number;
                state.findings.push(format!("node {number} ended by itself: {status}"));
            }
            self.spawn(&mut state);
        }
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Keeps the node running until it is dropped.
async fn keep(node: std::sync::Weak<Node>) {
    loop {
        let Some(node) = node.upgrade() else {
            return;
        };
        node.look();
        let has_served = node.state().served;
        if !has_served {
            // One answer marks the node as serving.
            node.is_healthy().await;
        }
        drop(node);
        tokio::time::sleep(LOOK).await;
    }
}
