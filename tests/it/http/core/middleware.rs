//! The middleware around every handler.

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::Body;
use axum::routing::get;
use bahay::http::{Options, Probe};
use bahay::rate_limit;
use futures_util::stream;
use reqwest::Method;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::sync::mpsc;
use tokio::time::timeout;

use crate::http::server::{Server, Setup, expect_delay, expect_refusal, ok, text};
use crate::support::house::PATIENCE;

async fn panics() {
    panic!("on purpose");
}

#[tokio::test]
async fn a_panic_refuses_one_request_and_the_server_goes_on() {
    let more = Router::new().route("/panic", get(panics));
    let server = Server::with_setup(Setup { more, ..Setup::default() }).await;
    for _ in 0..3 {
        expect_refusal(server.request(Method::GET, "/panic"), 500, "internal").await;
    }
    ok(server.request(Method::GET, "/healthz")).await;
}

#[tokio::test]
async fn a_slow_request_times_out() {
    let more = Router::new().route("/never", get(std::future::pending::<()>));
    let options = Options { timeout: Duration::from_millis(50), ..Options::default() };
    let server = Server::with_setup(Setup { more, options, ..Setup::default() }).await;
    let request = server.request(Method::GET, "/never");
    assert_eq!(expect_delay(request, 503, "timed_out").await, 1);
}

async fn connect(server: &Server, request: &str) -> TcpStream {
    let mut client = TcpStream::connect(server.address()).await.unwrap();
    client.write_all(request.as_bytes()).await.unwrap();
    client
}

/// Sends bytes, and returns all that the server sends until it closes the connection.
async fn exchange(server: &Server, request: &str) -> String {
    let mut answer = String::new();
    connect(server, request).await.read_to_string(&mut answer).await.unwrap();
    answer
}

/// A body that does not arrive is reported as the client's fault.
#[tokio::test]
async fn a_missing_body_is_reported_as_a_request_timeout() {
    let options = Options { timeout: Duration::from_millis(200), ..Options::default() };
    let server = Server::with_setup(Setup { options, ..Setup::default() }).await;
    let begun = "POST /v1/sign-in/guest HTTP/1.1\r\nhost: here\r\nconnection: close\r\n\
        content-type: application/json\r\ncontent-length: 40\r\n\r\n{\"device_id\": ";
    let answer = exchange(&server, begun).await;
    assert!(answer.starts_with("HTTP/1.1 408"), "{answer}");
    assert!(answer.contains("request_timeout"), "{answer}");
}

#[tokio::test]
async fn a_request_must_name_exactly_one_host() {
    let server = Server::new().await;
    for (request, status) in [
        ("HTTP/1.1\r\nhost: here", "HTTP/1.1 200"),
        ("HTTP/1.1\r\nhost:", "HTTP/1.1 200"),
        ("HTTP/1.0", "HTTP/1.0 200"),
        ("HTTP/1.1", "HTTP/1.1 400"),
        ("HTTP/1.1\r\nhost: here\r\nHost: there", "HTTP/1.1 400"),
        ("HTTP/1.0\r\nhost: here\r\nhost: here", "HTTP/1.0 400"),
    ] {
        let request = format!("GET /healthz {request}\r\nconnection: close\r\n\r\n");
        let answer = exchange(&server, &request).await;
        assert!(answer.starts_with(status), "{request}: {answer}");
        assert_eq!(answer.contains("host_invalid"), status.ends_with("400"), "{answer}");
    }
}

#[tokio::test]
async fn a_request_id_is_adopted_or_assigned() {
    let server = Server::new().await;
    let alive = || server.request(Method::GET, "/healthz");
    let adopted = alive().header("x-request-id", "abc-1").send().await.unwrap();
    assert_eq!(adopted.headers()["x-request-id"], "abc-1");
    for unsound in ["", "with space", &"x".repeat(65)] {
        let response = alive().header("x-request-id", unsound).send().await.unwrap();
        let id = response.headers()["x-request-id"].to_str().unwrap();
        assert!(id.parse::<uuid::Uuid>().is_ok(), "{id}");
    }
}

#[tokio::test]
async fn responses_forbid_caching_and_sniffing() {
    let (server, guest) = Server::with_guest().await;
    let response = server.get("/v1/me", &guest).send().await.unwrap();
    assert_eq!(response.headers()["cache-control"], "no-store");
    assert_eq!(response.headers()["x-content-type-options"], "nosniff");
}

#[tokio::test]
async fn cors_is_limited_to_configured_origins() {
    let origins = "https://play.example".parse().unwrap();
    let open = Server::with_rate_limits(|limits| limits.origins = origins).await;
    let closed = Server::new().await;
    for (server, from, allowed) in [
        (&open, "https://play.example", true),
        (&open, "https://evil.example", false),
        (&closed, "https://play.example", false),
    ] {
        let preflight = server
            .request(Method::OPTIONS, "/v1/me")
            .header("origin", from)
            .header("access-control-request-method", "GET")
            .send()
            .await
            .unwrap();
        let named = preflight.headers().get("access-control-allow-origin");
        assert_eq!(named.is_some(), allowed, "{from}");
    }
}

/// Endpoints that query other services or reveal the state of the house are not served on the
/// public address.
#[tokio::test]
async fn readiness_and_metrics_are_on_the_probe_listener_only() {
    let server = Server::new().await;
    for path in ["/readyz", "/metrics"] {
        expect_refusal(server.request(Method::GET, path), 404, "route_not_found").await;
        let response = server.probe(path).send().await.unwrap();
        assert_eq!(response.status(), 200, "{path}");
    }
    ok(server.request(Method::GET, "/healthz")).await;
    ok(server.probe("/healthz")).await;
    let elsewhere = server.probe("/v1/rooms").send().await.unwrap();
    assert_eq!(elsewhere.status(), 404);
    let paths = ok(server.request(Method::GET, "/openapi.json")).await["paths"].clone();
    assert!(paths.get("/readyz").is_none() && paths.get("/metrics").is_none());
}

/// `Strict-Transport-Security` is sent if TLS ended at a trusted proxy. The header of an untrusted
/// client does not count.
#[tokio::test]
async fn hsts_is_sent_behind_tls_only() {
    let hsts_header = async |proxies: &str, hsts_seconds: u32, forwarded_proto: Option<&str>| {
        let server = Server::with_rate_limits(|limits| {
            limits.proxies = proxies.parse().unwrap();
            limits.hsts_seconds = hsts_seconds;
        })
        .await;
        let mut request = server.request(Method::GET, "/v1/nowhere");
        if let Some(forwarded_proto) = forwarded_proto {
            request = request.header("x-forwarded-proto", forwarded_proto);
        }
        let response = request.send().await.unwrap();
        let header = response.headers().get("strict-transport-security").cloned();
        header.map(|value| value.to_str().unwrap().to_owned())
    };
    let year = rate_limit::HSTS_SECONDS;
    let expected = Some("max-age=31536000".to_owned());
    assert_eq!(hsts_header("127.0.0.1", year, Some("https")).await, expected);
    assert_eq!(hsts_header("127.0.0.1", year, Some("http")).await, None);
    assert_eq!(hsts_header("127.0.0.1", year, None).await, None);
    assert_eq!(hsts_header("127.0.0.1", 0, Some("https")).await, None);
    let untrusted = hsts_header("192.0.2.1", year, Some("https")).await;
    assert_eq!(untrusted, None, "the proxy is not trusted");
}

/// Any number of readiness requests leads to a bounded number of probes.
#[tokio::test]
async fn readiness_results_are_cached() {
    let probed = Arc::new(AtomicU32::new(0));
    let count = probed.clone();
    let redis = Probe::new("redis", move || {
        count.fetch_add(1, Ordering::SeqCst);
        async { Ok(()) }
    });
    let server = Server::with_setup(Setup { probes: vec![redis], ..Setup::default() }).await;
    let began = Instant::now();
    let requests = (0..200).map(|_| ok(server.probe("/readyz")));
    futures_util::future::join_all(requests).await;
    let most = 1 + u32::try_from(began.elapsed().as_secs()).unwrap();
    let probed = probed.load(Ordering::SeqCst);
    assert!((1..=most).contains(&probed), "probed {probed} times in {most} s");
}

#[tokio::test]
async fn readiness_names_missing_services() {
    let up = Probe::new("redis", async || Ok(()));
    let server = Server::with_setup(Setup { probes: vec![up.clone()], ..Setup::default() }).await;
    let ready = ok(server.probe("/readyz")).await;
    assert_eq!(ready["answering"], serde_json::json!(["postgres", "redis"]));

    let down = Probe::new("moon", async || Err("it is new".to_owned()));
    let server = Server::with_setup(Setup { probes: vec![up, down], ..Setup::default() }).await;
    let response = server.probe("/readyz").send().await.unwrap();
    let problem: serde_json::Value = response.json().await.unwrap();
    assert_eq!(problem["code"], "unavailable");
    assert_eq!(text(&problem["detail"]), "not ready: moon");
    ok(server.request(Method::GET, "/healthz")).await;
}

/// A HEAD request gets the status and headers of a GET request without the body.
#[tokio::test]
async fn head_is_answered_wherever_get_is() {
    let (server, guest) = Server::with_guest().await;
    for path in [
        "/",
        "/play",
        "/docs",
        "/openapi.json",
        "/problems",
        "/healthz",
        "/v1/rooms",
        "/v1/avatars",
        "/v1/me",
        "/v1/me/wallet/entries",
        "/v1/leaderboards/coins/day",
        "/v1/nowhere",
        "/v1/play",
        "/desk",
        "/desk/sign-in",
        "/desk/today",
        "/desk/settlements?room=newbie",
        "/desk/audit.csv",
        "/desk/enrolment",
        "/v1/operator/today",
    ] {
        let ask = async |method| {
            let request = server.call(method, path, &guest);
            let response = request.send().await.unwrap();
            let headers = response.headers();
            let of = |name: &str| headers.get(name).map(|value| value.to_str().unwrap().to_owned());
            (response.status(), of("content-type"), of("location"), of("upgrade"))
        };
        assert_eq!(ask(Method::HEAD).await, ask(Method::GET).await, "{path}");
    }
}

/// The memory for an unfinished request is bounded.
#[tokio::test]
async fn a_head_of_more_than_64_kb_is_refused() {
    let server = Server::new().await;
    let long = "x".repeat(60_000);
    let whole = format!(
        "GET /healthz HTTP/1.1\r\nhost: here\r\nconnection: close\r\nx-long: {long}\r\n\r\n"
    );
    let answer = exchange(&server, &whole).await;
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");

    let mut client = connect(&server, "GET /healthz HTTP/1.1\r\nhost: here\r\nx-long: ").await;
    let (mut reading, mut writing) = client.split();
    let write = async {
        let mut written = 0;
        while written < 10_000_000 && writing.write_all(&[b'x'; 1_024]).await.is_ok() {
            written += 1_024;
        }
        written
    };
    let read = async {
        let mut answer = [0; 12];
        reading.read_exact(&mut answer).await.map(|_| String::from_utf8_lossy(&answer).into_owned())
    };
    let (written, answer) = tokio::join!(write, read);
    assert!(written < 10_000_000, "the server read everything");
    // The connection is closed at once, so that the response may be lost if the client is still
    // sending.
    assert!(answer.is_err() || answer.is_ok_and(|answer| answer == "HTTP/1.1 431"));
}

/// The timeout of an idle connection is a setting.
#[tokio::test]
async fn an_idle_connection_ends_after_the_configured_time() {
    let keep_alive = Duration::from_millis(300);
    let server = Server::with_rate_limits(|limits| limits.keep_alive = keep_alive).await;
    let answer = exchange(&server, "GET /healthz HTTP/1.1\r\nhost: here\r\n\r\n").await;
    assert!(answer.starts_with("HTTP/1.1 200"), "the response came before the close");
}

/// Returns a router with an endless response, and signals when the response is dropped.
fn endless_response_router(given_up: mpsc::UnboundedSender<()>) -> Router {
    struct DropSignal(mpsc::UnboundedSender<()>);
    impl Drop for DropSignal {
        fn drop(&mut self) {
            let _ = self.0.send(());
        }
    }
    let answer = move || {
        let signal = DropSignal(given_up.clone());
        let portions = stream::repeat_with(move || {
            let _ = &signal;
            Ok::<_, Infallible>(vec![b'x'; 16_384])
        });
        async { Body::from_stream(portions) }
    };
    Router::new().route("/endless", get(answer))
}

/// A client that hardly reads its response does not occupy it for long.
#[tokio::test]
async fn a_response_that_is_read_too_slowly_is_aborted() {
    let (given_up, mut dropped) = mpsc::unbounded_channel();
    let slow_reader = Duration::from_millis(500);
    let mut setup = Setup::with_rate_limits(|limits| limits.slow_reader = slow_reader);
    setup.more = endless_response_router(given_up);
    let server = Server::with_setup(setup).await;
    let request = "GET /endless HTTP/1.1\r\nhost: here\r\n\r\n";
    let silent = connect(&server, request).await;
    timeout(PATIENCE, dropped.recv()).await.expect("an unread response is aborted");
    drop(silent);
    let mut dripping = connect(&server, request).await;
    let drip = async {
        while dripping.read_u8().await.is_ok() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::select! {
        () = drip => panic!("the response ended prematurely"),
        given_up = timeout(PATIENCE, dropped.recv()) => {
            given_up.expect("a slowly read response is aborted");
        }
    }
    // A client that reads keeps its connection beyond that time.
    let mut reading = connect(&server, request).await;
    let began = Instant::now();
    let mut portion = vec![0; 65_536];
    while began.elapsed() < Duration::from_secs(2) {
        assert!(reading.read(&mut portion).await.unwrap() > 0);
    }
    assert!(dropped.try_recv().is_err());
}
