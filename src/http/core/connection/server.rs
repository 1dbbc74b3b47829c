//! The HTTP server: an accept loop around hyper, with bounds that `axum::serve` does not offer.

use std::convert::Infallible;
use std::pin::pin;

use axum::body::Body;
use axum::extract::ConnectInfo;
use axum::extract::Request;
use axum::response::Response;
use axum::{Router, http};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::sync::{mpsc, watch};
use tower_service::Service as _;

use super::connection_limits::LimitedConnection;
use crate::http::LimitedListener;
use crate::rate_limit::Peer;

/// The maximum size of the buffers of an unfinished request head and of a response before it is
/// written. A longer head is refused with status 431.
const BUFFER_BYTES_MAX: usize = 64 * 1024;

/// The number of connections that are accepted before other tasks run. When thousands of clients
/// connect at once, the first are served while the others wait in the kernel's queue. Otherwise all
/// would be served at the same pace, each with buffers of its own, and the first would wait for the
/// last. With fewer at a time, lookups share fewer queries.
const ACCEPTS_PER_TURN: usize = 4;

/// Serves a router until `stop` completes. It then accepts no more connections, finishes the
/// requests in progress, and returns when the last connection has ended.
pub async fn serve(mut listener: LimitedListener, router: Router, stop: impl Future<Output = ()>) {
    // Both channels signal by the drop of their sender: the first that the server is stopping, the
    // second that every connection has ended.
    let (running, stopping) = watch::channel(());
    let (alive, mut ended) = mpsc::channel::<Infallible>(1);
    let mut stop = pin!(stop);
    let mut accepted = 0;
    loop {
        if accepted == ACCEPTS_PER_TURN {
            accepted = 0;
            tokio::task::yield_now().await;
        }
        tokio::select! {
            () = &mut stop => break,
            (io, address) = listener.accept() => {
                accepted += 1;
                let peer = io.peer(address);
                let alive = alive.clone();
                let connection = serve_connection(io, peer, router.clone(), stopping.clone());
                tokio::spawn(async move {
                    connection.await;
                    drop(alive);
                });
            }
        }
    }
    drop((running, alive, listener));
    ended.recv().await;
}

async fn serve_connection(
    io: LimitedConnection,
    peer: Peer,
    router: Router,
    mut stopping: watch::Receiver<()>,
) {
    let service = service_fn(move |request| call_router(router.clone(), peer.clone(), request));
    let mut server = http1::Builder::new();
    // The listener has its own timeouts for requests and idle connections.
    server.max_buf_size(BUFFER_BYTES_MAX).header_read_timeout(None);
    let connection = server.serve_connection(TokioIo::new(io), service).with_upgrades();
    let mut connection = pin!(connection);
    let served = tokio::select! {
        served = connection.as_mut() => served,
        // No value is ever sent, so this is the drop of the sender.
        _ = stopping.changed() => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = served {
        tracing::trace!(%error, "a connection failed");
    }
}

fn call_router(
    mut router: Router,
    peer: Peer,
    request: http::Request<Incoming>,
) -> impl Future<Output = Result<Response, Infallible>> {
    let mut request: Request = request.map(Body::new);
    request.extensions_mut().insert(ConnectInfo(peer));
    router.call(request)
}
