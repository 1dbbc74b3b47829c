//! The server as a process, ended with the test.

use std::io::Write as _;
use std::net::SocketAddr;
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::time::{Duration, Instant};

use super::db::TestDatabase;
use super::house::PATIENCE;
use super::live::TestLive;
use super::ports::reserve_address;

pub(crate) const SECRET: &str = "0f9c3c6d5f1b4a7e8d2c1b0a9f8e7d6c5b4a39281706f5e4d3c2b1a09f8e7d6c";

pub(crate) fn bahay() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_bahay"));
    command.env_clear().stdin(Stdio::null());
    command
}

/// Runs a command on a database. Returns the output, without the end of the last line, or the error
/// output of a command that fails.
pub(crate) fn run_bahay<'a>(
    database: &TestDatabase,
    words: impl IntoIterator<Item = &'a str>,
) -> Result<String, String> {
    let mut command = bahay();
    command.env("DATABASE_URL", database.url()).args(words);
    let Output { status, stdout, stderr } = command.output().unwrap();
    let output = if status.success() { stdout } else { stderr };
    let output = String::from_utf8(output).unwrap().trim_end().to_owned();
    if status.success() { Ok(output) } else { Err(output) }
}

/// Runs a command with this input.
pub(crate) fn run_with_input(command: &mut Command, input: &[u8]) -> Output {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut running = command.spawn().unwrap();
    let mut writer = running.stdin.take().unwrap();
    std::thread::scope(|scope| {
        // The thread owns the writer, so that the input ends.
        let written = scope.spawn(move || writer.write_all(input));
        let output = running.wait_with_output().unwrap();
        written.join().unwrap().unwrap();
        output
    })
}

/// Returns a server's command line with this test's services and a free port.
pub(crate) fn serve(database: &TestDatabase) -> Command {
    let live = TestLive::new().options();
    let mut command = bahay();
    command
        .arg("serve")
        .env("DATABASE_URL", database.url())
        .env("REDIS_URL", live.url)
        .env("BAHAY_REDIS_PREFIX", live.prefix)
        .env("BAHAY_LISTEN", "127.0.0.1:0")
        .env("BAHAY_PROBE_LISTEN", "127.0.0.1:0")
        .env("BAHAY_SIGNING_SECRET", SECRET)
        .env("BAHAY_SECOND_FACTOR_KEYS", SECRET)
        // All of a test's players share one address.
        .env("BAHAY_SEPARATE_SAME_NETWORK", "false")
        .env("BAHAY_NOT_READY_WAITS_S", "0")
        .env("BAHAY_WELCOMES_PER_NETWORK", "0")
        .env("RUST_LOG", "error");
    command
}

/// A server process that answers; killed on drop.
pub(crate) struct Server {
    pub(crate) process: Child,
    pub(crate) url: String,
}

impl Server {
    pub(crate) async fn start(command: &mut Command) -> Self {
        Self::start_at(command, reserve_address()).await
    }

    /// Starts the server at an address that this process has reserved.
    pub(crate) async fn start_at(command: &mut Command, address: SocketAddr) -> Self {
        let process = command.env("BAHAY_LISTEN", address.to_string()).spawn().unwrap();
        let mut server = Self { process, url: format!("http://{address}") };
        let started = Instant::now();
        while !server.is_healthy() {
            assert!(server.process.try_wait().unwrap().is_none(), "the server ended");
            assert!(started.elapsed() < PATIENCE, "the server does not answer");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        server
    }

    pub(crate) fn is_healthy(&self) -> bool {
        let check = bahay().arg("healthcheck").args(["--url", &self.url]).output().unwrap();
        check.status.success()
    }

    /// Sends SIGTERM, as a supervisor does.
    pub(crate) fn terminate(&self) {
        self.signal("TERM");
    }

    /// Sends a signal by its name.
    pub(crate) fn signal(&self, name: &str) {
        let process = self.process.id().to_string();
        let status = Command::new("kill").args(["-s", name, &process]).status().unwrap();
        assert!(status.success());
    }

    pub(crate) fn wait(&mut self) -> ExitStatus {
        self.process.wait().unwrap()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // The process may have exited by itself.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
