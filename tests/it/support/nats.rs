//! A NATS server with JetStream for one test, on a free port of this machine.
//!
//! It can be killed and restarted with its data. It ends, and its folder is removed, on drop.

use std::process::{Child, Command, Stdio};

use async_nats::jetstream::Context;
use async_nats::jetstream::stream::Stream;
use async_nats::{Client, ConnectOptions};
use futures_util::StreamExt as _;
use tempfile::TempDir;

use super::cluster::{free_port, until};
use super::programs::nats_server;

/// A message as a consumer receives it.
#[derive(Debug)]
pub(crate) struct Heard {
    pub(crate) place: u64,
    pub(crate) subject: String,
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
        let program = nats_server();
        let folder = tempfile::tempdir().expect("a folder of its own can be made");
        let arguments: Vec<String> = arguments.iter().map(|one| (*one).to_owned()).collect();
        let port = free_port();
        let process = run(&program, &folder, port, &arguments);
        let nats = Self { port, program, arguments, process, folder };
        nats.listens().await;
        nats
    }

    /// Kills the server and starts it again with its data.
    pub(crate) async fn restart(&mut self) {
        self.kill();
        self.process = run(&self.program, &self.folder, self.port, &self.arguments);
        self.listens().await;
    }

    pub(crate) fn kill(&mut self) {
        // The process may have exited by itself.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }

    async fn listens(&self) {
        let address = ("127.0.0.1", self.port);
        until("NATS listens", async || tokio::net::TcpStream::connect(address).await.is_ok()).await;
    }

    pub(crate) fn url(&self) -> String {
        format!("nats://127.0.0.1:{}", self.port)
    }

    pub(crate) async fn context(&self) -> Context {
        let client: Client = ConnectOptions::new().connect(self.url()).await.expect("NATS answers");
        async_nats::jetstream::new(client)
    }

    /// Returns the last sequence of a stream; 0 if there is none, or none yet after a restart.
    pub(crate) async fn last(&self, stream: &str) -> u64 {
        let stream = self.context().await.get_stream(stream).await;
        stream.map_or(0, |stream| stream.cached_info().state.last_sequence)
    }

    /// Returns every message of a stream as a consumer receives it.
    pub(crate) async fn hear(&self, stream: &str) -> Vec<Heard> {
        let stream: Stream = self.context().await.get_stream(stream).await.expect("it is there");
        let count = usize::try_from(stream.cached_info().state.messages).expect("not so many");
        let config = async_nats::jetstream::consumer::pull::OrderedConfig::default();
        let consumer = stream.create_consumer(config).await.expect("a consumer is made");
        let messages = consumer.messages().await.expect("it hears");
        let heard = messages.take(count).map(|message| {
            let message = message.expect("nothing is in the way");
            let id = message.headers.as_ref().and_then(|headers| headers.get("Nats-Msg-Id"));
            Heard {
                place: message.info().expect("it is of a stream").stream_sequence,
                subject: message.subject.to_string(),
                id: id.map(ToString::to_string).unwrap_or_default(),
                text: String::from_utf8(message.payload.to_vec()).expect("JSON is text"),
            }
        });
        heard.collect().await
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
        .expect("the server of NATS starts")
}

impl Drop for Nats {
    fn drop(&mut self) {
        self.kill();
    }
}
