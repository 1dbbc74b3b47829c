//! Spans as a collector receives them from a server.

use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::Bytes;
use axum::http::HeaderMap;
use axum::routing::post;
use tokio::net::TcpListener;
use tokio::sync::Notify;
use tokio::time::timeout;

use crate::support::db::TestDatabase;
use crate::support::house::{PATIENCE, guest_at, join_table};
use crate::support::process::{Server, serve};
use crate::support::rest::http_client;

/// A trace id as a proxy in front of the server sends it.
const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
const PARENT: &str = "00f067aa0ba902b7";

/// A collector that stores the received spans.
struct Collector {
    endpoint: String,
    sent: Arc<Mutex<Vec<u8>>>,
    more: Arc<Notify>,
}

impl Collector {
    async fn start() -> Self {
        let (sent, more) = (Arc::new(Mutex::new(Vec::new())), Arc::new(Notify::new()));
        let (kept, told) = (sent.clone(), more.clone());
        let take = move |headers: HeaderMap, body: Bytes| async move {
            assert_eq!(headers["content-type"], "application/x-protobuf");
            kept.lock().unwrap().extend_from_slice(&body);
            told.notify_one();
        };
        let router = Router::new().route("/v1/traces", post(take));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let endpoint = format!("http://{}", listener.local_addr().unwrap());
        tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        Self { endpoint, sent, more }
    }

    fn has(&self, part: &[u8]) -> bool {
        self.sent.lock().unwrap().windows(part.len()).any(|bytes| bytes == part)
    }

    async fn receives(&self, parts: &[&[u8]]) {
        let receiving = async {
            while !parts.iter().all(|part| self.has(part)) {
                self.more.notified().await;
            }
        };
        let received = timeout(PATIENCE, receiving).await;
        let text = || String::from_utf8_lossy(&self.sent.lock().unwrap()).into_owned();
        received.unwrap_or_else(|_| panic!("spans are missing in {}", text()));
    }
}

/// Starts a server that sends one in so many traces to the collector.
async fn start_server(
    database: &TestDatabase,
    collector: &Collector,
    one_in: &str,
    settings: &[(&str, &str)],
) -> Server {
    let mut command = serve(database);
    command.env("BAHAY_OTLP_ENDPOINT", &collector.endpoint).env("BAHAY_OTLP_ONE_IN", one_in);
    Server::start(command.envs(settings.iter().copied())).await
}

/// Requests the rooms in a trace of this id, and stops the server, which then sends pending spans.
async fn request_and_stop(mut server: Server, trace: &str) {
    let request = http_client().get(format!("{}/v1/rooms", server.url));
    let request = request.header("traceparent", format!("00-{trace}-{PARENT}-01"));
    request.send().await.unwrap().error_for_status().unwrap();
    server.terminate();
    assert!(server.wait().success());
}

fn bytes(hex: &str) -> Vec<u8> {
    let pair = |at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap();
    (0..hex.len()).step_by(2).map(pair).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_collector_receives_spans_in_the_trace_that_a_request_names() {
    let (database, collector) = (TestDatabase::new().await, Collector::start().await);
    let settings = [("BAHAY_TRUSTED_PROXIES", "127.0.0.1")];
    let server = start_server(&database, &collector, "1", &settings).await;
    let client = guest_at(&server.url, "Althea").await;
    client.seat("newbie").await.unwrap();
    drop(join_table(&client).await);
    request_and_stop(server, TRACE).await;
    let named = [bytes(TRACE), bytes(PARENT)];
    collector.receives(&[&named[0], &named[1]]).await;
    collector.receives(&[b"bahay", b"request", b"/v1/rooms", b"command", b"join", b"append"]).await;
    let token = client.access_token().as_bytes();
    assert!(!collector.has(token), "a token is in a span");
}

/// Only the house's own proxy may name the trace of a request, because its id decides on sampling.
#[tokio::test(flavor = "multi_thread")]
async fn a_stranger_does_not_name_a_trace() {
    let (database, collector) = (TestDatabase::new().await, Collector::start().await);
    request_and_stop(start_server(&database, &collector, "1", &[]).await, TRACE).await;
    collector.receives(&[b"/v1/rooms"]).await;
    assert!(!collector.has(&bytes(TRACE)), "it is in the trace that a stranger has named");
}

/// So few traces are kept that none of these is sampled: the named id is the highest.
#[tokio::test(flavor = "multi_thread")]
async fn traces_that_are_not_kept_are_not_sent() {
    let (database, collector) = (TestDatabase::new().await, Collector::start().await);
    let server = start_server(&database, &collector, "4000000000", &[]).await;
    request_and_stop(server, &"f".repeat(32)).await;
    assert!(collector.sent.lock().unwrap().is_empty(), "a trace was forced on us");
}
