//! Redis processes for one test, alone or as a cluster, on free ports of this machine.
//!
//! A process ends, and its folder is removed, when its value is dropped, whether or not the test
//! passed.

use std::process::{Child, Command, Stdio};

use redis::aio::MultiplexedConnection;
use redis::{Cmd, FromRedisValue};
use tempfile::TempDir;

use crate::support::ports::reserve_port;
use crate::support::programs::program;
pub(crate) use crate::support::waiting::wait_until;

pub(crate) const SLOTS: u16 = 16_384;

/// A Redis process.
#[derive(Debug)]
pub(crate) struct Server {
    pub(crate) port: u16,
    bus: u16,
    /// The port at which other nodes of a cluster reach it: its TLS port if they use TLS.
    cluster_port: u16,
    process: Child,
    /// Removed after the process has ended.
    _folder: TempDir,
}

impl Server {
    /// Starts a process and waits until it answers.
    pub(crate) async fn start(settings: &[&str]) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder is created");
        let [port, bus] = [(); 2].map(|()| reserve_port());
        let tls_port = settings.iter().skip_while(|setting| **setting != "--tls-port").nth(1);
        let cluster_port = tls_port.map_or(port, |port| port.parse().expect("a port is a number"));
        let process = Command::new(program("REDIS_SERVER"))
            .args(["--port", &port.to_string(), "--cluster-port", &bus.to_string()])
            .args(["--bind", "127.0.0.1", "--save", "", "--appendonly", "no"])
            .args(["--dir", &folder.path().to_string_lossy(), "--logfile", "log"])
            .args(settings)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .spawn()
            .expect("the program of Redis starts");
        let server = Self { port, bus, cluster_port, process, _folder: folder };
        wait_until("Redis answers", async || {
            let ping = redis::cmd("PING");
            match server.try_connect().await {
                Ok(mut connection) => ping.query_async::<()>(&mut connection).await.is_ok(),
                Err(_) => false,
            }
        })
        .await;
        server
    }

    pub(crate) fn url(&self) -> String {
        format!("redis://127.0.0.1:{}", self.port)
    }

    async fn try_connect(&self) -> redis::RedisResult<MultiplexedConnection> {
        redis::Client::open(self.url())?.get_multiplexed_async_connection().await
    }

    /// Sends a command, its words separated by spaces, and returns the reply.
    pub(crate) async fn send_command<T: FromRedisValue>(&self, words: &str) -> T {
        let mut command = Cmd::new();
        command.arg(words.split(' ').collect::<Vec<_>>());
        let mut connection = self.try_connect().await.expect("Redis answers");
        command.query_async(&mut connection).await.expect("Redis executes the command")
    }

    /// Suspends the process, which keeps its connections.
    pub(crate) fn freeze(&self) {
        self.signal("-STOP");
    }

    pub(crate) fn thaw(&self) {
        self.signal("-CONT");
    }

    fn signal(&self, signal: &str) {
        let sent = Command::new("kill").args([signal, &self.process.id().to_string()]).status();
        assert!(sent.expect("the kill command exists").success());
    }

    pub(crate) fn kill(&mut self) {
        // The process may have exited by itself.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Three masters that share the slots in three equal parts.
#[derive(Debug)]
pub(crate) struct Cluster {
    pub(crate) masters: Vec<Server>,
}

impl Cluster {
    pub(crate) async fn start() -> Self {
        let (a, b, c) = tokio::join!(node(&[]), node(&[]), node(&[]));
        Self::from_masters(vec![a, b, c]).await
    }

    /// Forms a cluster of fresh nodes.
    pub(crate) async fn from_masters(masters: Vec<Server>) -> Self {
        for (number, master) in (0..).zip(&masters) {
            let (first, last) = (SLOTS / 3 * number, SLOTS / 3 * (number + 1) - 1);
            let last = if number == 2 { SLOTS - 1 } else { last };
            master.send_command::<()>(&format!("CLUSTER ADDSLOTSRANGE {first} {last}")).await;
            master.send_command::<()>(&format!("CLUSTER SET-CONFIG-EPOCH {}", number + 1)).await;
        }
        let cluster = Self { masters };
        for other in &cluster.masters[1..] {
            cluster.meet(other).await;
        }
        for master in &cluster.masters {
            wait_until("all slots are served", async || {
                let info: String = master.send_command("CLUSTER INFO").await;
                info.contains("cluster_state:ok") && info.contains("cluster_slots_ok:16384")
            })
            .await;
        }
        cluster
    }

    /// Returns a URL of two of the three nodes: the third is discovered.
    pub(crate) fn url(&self) -> String {
        let [a, b, ..] = self.masters.as_slice() else { panic!("there are three masters") };
        format!("redis+cluster://127.0.0.1:{},127.0.0.1:{}", a.port, b.port)
    }

    /// Returns the slot of a key and the master to which it was first assigned.
    pub(crate) async fn locate_key(&self, key: &str) -> (u16, usize) {
        let slot: u16 = self.masters[0].send_command(&format!("CLUSTER KEYSLOT {key}")).await;
        (slot, usize::from(slot / (SLOTS / 3)).min(2))
    }

    async fn meet(&self, other: &Server) {
        let (port, bus) = (other.cluster_port, other.bus);
        let meet = format!("CLUSTER MEET 127.0.0.1 {port} {bus}");
        self.masters[0].send_command::<()>(&meet).await;
    }

    /// Starts a replica of a master and waits until it is synchronised.
    pub(crate) async fn replica_of(&self, master: usize) -> Server {
        let replica = node(&[]).await;
        self.meet(&replica).await;
        let id: String = self.masters[master].send_command("CLUSTER MYID").await;
        // A master that does not know the replica would never learn of its takeover.
        for node in self.masters.iter().chain([&replica]) {
            wait_until("all nodes know each other", async || {
                let nodes: String = node.send_command("CLUSTER NODES").await;
                nodes.lines().filter(|line| line.contains(" connected")).count() == 4
                    && !nodes.contains("handshake")
            })
            .await;
        }
        replica.send_command::<()>(&format!("CLUSTER REPLICATE {id}")).await;
        wait_until("the replica follows its master", async || {
            let info: String = replica.send_command("INFO replication").await;
            info.contains("master_link_status:up")
        })
        .await;
        replica
    }
}

/// Starts a node for a cluster, with further settings.
pub(crate) async fn node(settings: &[&str]) -> Server {
    // A lost master makes only its own slots unavailable.
    let own = "--cluster-enabled yes --cluster-announce-ip 127.0.0.1 \
        --cluster-require-full-coverage no --repl-diskless-sync-delay 0";
    let settings: Vec<_> = own.split(' ').chain(settings.iter().copied()).collect();
    Server::start(&settings).await
}
