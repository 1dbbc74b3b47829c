//! A NATS server with JetStream for one test, on a free port of this machine.
//!
//! It can be killed and restarted with its data. It ends, and its folder is removed, on drop.

use std::process::{Child, Command, Stdio};

use async_nats::jetstream::Context;
use async_nats::jetstream::stream::Stream;
use async_nats::{Client, ConnectOptions};
use futures_util::StreamExt as _;
use tempfile::TempDir;

use crate::support::ports::reserve_port;
use crate::support::programs::program;
use crate::support::waiting::wait_until;

/// A message as a consumer receives it.
#[derive(Debug)]
pub(crate) struct StreamMessage {
    /// The position in the stream, counted from 1.
    pub(crate) sequence: u64,
    pub(crate) subject: String,
    /// The deduplication id, from the header `Nats-Msg-Id`; empty if there is none.
    pub(crate) id: String,
    pub(crate) text: String,
}

#[derive(Debug)]
pub(crate) struct Nats {
    pub(crate) port: u16,
    program: String,
    arguments: Vec<String>,
    process: Child,
    folder: TempDir,
}

impl Nats {
    /// Starts a server and waits until it listens.
    pub(crate) async fn start(arguments: &[&str]) -> Self {
        let program = program("NATS_SERVER");
        let folder = tempfile::tempdir().expect("a temporary folder is created");
        let arguments: Vec<String> = arguments.iter().map(|one| (*one).to_owned()).collect();
        let port = reserve_port();
        let process = run(&program, &folder, port, &arguments);
        let nats = Self { port, program, arguments, process, folder };
        nats.wait_until_listening().await;
        nats
    }

    /// Kills the server and starts it again with its data.
    pub(crate) async fn restart(&mut self) {
        self.kill();
        self.process = run(&self.program, &self.folder, self.port, &self.arguments);
        self.wait_until_listening().await;
    }

    pub(crate) fn kill(&mut self) {
        // The process may have exited by itself.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }

    async fn wait_until_listening(&self) {
        let address = ("127.0.0.1", self.port);
        let is_listening = async || tokio::net::TcpStream::connect(address).await.is_ok();
        wait_until("NATS listens", is_listening).await;
    }

    pub(crate) fn url(&self) -> String {
        format!("nats://127.0.0.1:{}", self.port)
    }

    pub(crate) async fn context(&self) -> Context {
        let client: Client = ConnectOptions::new().connect(self.url()).await.expect("NATS answers");
        async_nats::jetstream::new(client)
    }

    /// Returns the last sequence of a stream; 0 if there is none, or none yet after a restart.
    pub(crate) async fn last_sequence(&self, stream: &str) -> u64 {
        let stream = self.context().await.get_stream(stream).await;
        stream.map_or(0, |stream| stream.cached_info().state.last_sequence)
    }

    /// Returns every message of a stream as a consumer receives it.
    pub(crate) async fn read_messages(&self, stream: &str) -> Vec<StreamMessage> {
        let stream = self.context().await.get_stream(stream).await;
        let stream: Stream = stream.expect("the stream exists");
        let count = usize::try_from(stream.cached_info().state.messages).expect("the count fits");
        let config = async_nats::jetstream::consumer::pull::OrderedConfig::default();
        let consumer = stream.create_consumer(config).await.expect("the consumer is created");
        let messages = consumer.messages().await.expect("the consumer receives messages");
        let received = messages.take(count).map(|message| {
            let message = message.expect("the message is received");
            let id = message.headers.as_ref().and_then(|headers| headers.get("Nats-Msg-Id"));
            StreamMessage {
                sequence: message.info().expect("the message is from a stream").stream_sequence,
                subject: message.subject.to_string(),
                id: id.map(ToString::to_string).unwrap_or_default(),
                text: String::from_utf8(message.payload.to_vec()).expect("the payload is UTF-8"),
            }
        });
        received.collect().await
    }
}

fn run(program: &str, folder: &TempDir, port: u16, arguments: &[String]) -> Child {
    Command::new(program)
        .args(["--addr", "127.0.0.1", "--port", &port.to_string(), "--jetstream"])
        .arg("--store_dir")
        .arg(folder.path())
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("the NATS server starts")
}

impl Drop for Nats {
    fn drop(&mut self) {
        self.kill();
    }
}
