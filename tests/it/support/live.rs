//! Live state for one test: the Redis that `REDIS_URL` names, under a prefix of its own.

use std::time::Duration;

use bahay::live::{Live, Options, Publication};
use tokio::sync::mpsc;
use uuid::Uuid;

/// Where a test's live state is. Several nodes of one test share it.
#[derive(Clone, Debug)]
pub(crate) struct TestLive {
    url: String,
    prefix: String,
    response_timeout: Duration,
}

impl TestLive {
    pub(crate) fn new() -> Self {
        let url = std::env::var("REDIS_URL");
        Self::at(url.expect("REDIS_URL is to name a Redis for the tests"))
    }

    /// On a Redis of the test's own.
    pub(crate) fn at(url: String) -> Self {
        let prefix = format!("test-{}", Uuid::new_v4().simple());
        Self { url, prefix, response_timeout: Duration::from_secs(5) }
    }

    /// For tests that wait until it has passed.
    pub(crate) fn with_response_timeout(self, response_timeout: Duration) -> Self {
        Self { response_timeout, ..self }
    }

    pub(crate) fn options(&self) -> Options {
        Options {
            url: self.url.clone(),
            prefix: self.prefix.clone(),
            shards: 4,
            connect_timeout: Duration::from_secs(5),
            response_timeout: self.response_timeout,
        }
    }

    /// A node's connection.
    pub(crate) async fn connect(&self) -> (Live, mpsc::UnboundedReceiver<Publication>) {
        Live::connect(&self.options()).await.expect("the Redis of REDIS_URL answers")
    }
}
