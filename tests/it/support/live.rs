//! Live state for one test: the Redis that `REDIS_URL` names, under a prefix of its own.

use std::path::PathBuf;
use std::time::Duration;

use bahay::live_store::{LiveStore, Options, Publication};
use bahay_engine::table::TableId;
use redis::AsyncCommands as _;
use redis::aio::MultiplexedConnection;
use tokio::sync::mpsc;
use uuid::Uuid;

const SHARDS: u16 = 4;

/// The location of a test's live state. Several nodes of one test share it.
#[derive(Clone, Debug)]
pub(crate) struct TestLive {
    pub(crate) prefix: String,
    url: String,
    /// The certificate of the authority that signs the server's, if the connection uses TLS.
    root_certificate: Option<PathBuf>,
    timeout: Duration,
}

impl TestLive {
    pub(crate) fn new() -> Self {
        let url = std::env::var("REDIS_URL").expect("REDIS_URL must name a Redis for the tests");
        Self { timeout: Duration::from_secs(5), ..Self::with_url(&url) }
    }

    /// Uses another Redis than that of `REDIS_URL`, with a server's timeouts.
    pub(crate) fn with_url(url: &str) -> Self {
        let prefix = format!("test-{}", Uuid::new_v4().simple());
        let timeout = Duration::from_secs(2);
        Self { prefix, url: url.to_owned(), root_certificate: None, timeout }
    }

    /// Uses TLS with this authority.
    pub(crate) fn trusting(self, root_certificate: PathBuf) -> Self {
        Self { root_certificate: Some(root_certificate), ..self }
    }

    /// Sets the timeout, for tests that wait until it has expired.
    pub(crate) fn with_timeout(self, timeout: Duration) -> Self {
        Self { timeout, ..self }
    }

    pub(crate) fn options(&self) -> Options {
        Options {
            url: self.url.clone(),
            root_certificate: self.root_certificate.clone(),
            prefix: self.prefix.clone(),
            shards: SHARDS,
            connect_timeout: self.timeout,
            response_timeout: self.timeout,
        }
    }

    /// Opens a node's connection.
    pub(crate) async fn connect(&self) -> (LiveStore, mpsc::UnboundedReceiver<Publication>) {
        LiveStore::connect(&self.options()).await.expect("the Redis of REDIS_URL answers")
    }

    /// Opens a connection that bypasses the service, for a test that corrupts stored data.
    pub(crate) async fn raw(&self) -> MultiplexedConnection {
        let client = redis::Client::open(self.url.as_str()).expect("REDIS_URL is a URL");
        client.get_multiplexed_async_connection().await.expect("Redis answers")
    }

    /// Returns every key of this test that contains a text.
    pub(crate) async fn keys_with(&self, text: &str) -> Vec<String> {
        let mut call = redis::cmd("KEYS");
        call.arg(format!("{}:*{text}*", self.prefix));
        call.query_async(&mut self.raw().await).await.expect("Redis answers")
    }

    /// Returns a table's key, as docs/OPERATIONS.md names it: `journal`, `head`.
    pub(crate) fn table_key(&self, table: TableId, part: &str) -> String {
        let shard = table.0.as_u128() % u128::from(SHARDS);
        format!("{}:{{s{shard}}}:table:{table}:{part}", self.prefix)
    }

    /// Removes a table, as when it was forgotten.
    pub(crate) async fn forget_table(&self, table: TableId) {
        let keys = ["head", "journal"].map(|part| self.table_key(table, part));
        let _: i64 = self.raw().await.del(keys.to_vec()).await.unwrap();
    }

    /// Returns the key of data that nodes share about a shard.
    pub(crate) fn shard_key(&self, shard: u16, part: &str) -> String {
        format!("{}:{{s{shard}}}:{part}", self.prefix)
    }
}
