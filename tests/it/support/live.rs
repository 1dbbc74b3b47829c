//! Live state for one test: the Redis that `REDIS_URL` names, under a prefix of its own.

use std::time::Duration;

use bahay::live::{Live, Options, Publication};
use tokio::sync::mpsc;
use uuid::Uuid;

/// Where a test's live state is. Several nodes of one test share it.
#[derive(Clone, Debug)]
pub(crate) struct TestLive {
    prefix: String,
}

impl TestLive {
    pub(crate) fn new() -> Self {
        Self { prefix: format!("test-{}", Uuid::new_v4().simple()) }
    }

    pub(crate) fn options(&self) -> Options {
        Options {
            url: std::env::var("REDIS_URL").expect("REDIS_URL is to name a Redis for the tests"),
            prefix: self.prefix.clone(),
            shards: 4,
            connect_timeout: Duration::from_secs(5),
            response_timeout: Duration::from_secs(5),
        }
    }

    /// A node's connection.
    pub(crate) async fn connect(&self) -> (Live, mpsc::UnboundedReceiver<Publication>) {
        Live::connect(&self.options()).await.expect("the Redis of REDIS_URL answers")
    }
}
