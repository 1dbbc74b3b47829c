//! Serves HTTP on a doorway: the loop around hyper, for the bounds that `axum::serve` does not let
//! one set.

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

use super::Doorway;
use super::doorway::Guarded;
use crate::edge::Peer;

/// Bytes that are kept of a request whose head has not ended, or of an answer before it is written.
/// A longer head is refused with 431.
const BUFFER_BYTES_MAX: usize = 64 * 1024;

/// Serves a router until `stop` is ready; then accepts nothing more, finishes the requests that have
/// begun, and returns when the last connection has ended.
pub async fn serve(mut doorway: Doorway, router: Router, stop: impl Future<Output = ()>) {
    // Both ends tell by being dropped: the one that the server stops, the other that a connection
    // has ended.
    let (running, stopping) = watch::channel(());
    let (alive, mut ended) = mpsc::channel::<Infallible>(1);
    let mut stop = pin!(stop);
    loop {
        tokio::select! {
            () = &mut stop => break,
            (io, address) = doorway.accept() => {
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
    drop((running, alive, doorway));
    ended.recv().await;
}

async fn serve_connection(
    io: Guarded,
    peer: Peer,
    router: Router,
    mut stopping: watch::Receiver<()>,
) {
    let service = service_fn(move |request| answer(router.clone(), peer.clone(), request));
    let mut server = http1::Builder::new();
    // The doorway has timers of its own for requests and for silence.
    server.max_buf_size(BUFFER_BYTES_MAX).header_read_timeout(None);
    let connection = server.serve_connection(TokioIo::new(io), service).with_upgrades();
    let mut connection = pin!(connection);
    let served = tokio::select! {
        served = connection.as_mut() => served,
        // Nothing is ever sent: this is the end of the sender.
        _ = stopping.changed() => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = served {
        tracing::trace!(%error, "a connection broke off");
    }
}

fn answer(
    mut router: Router,
    peer: Peer,
    request: http::Request<Incoming>,
) -> impl Future<Output = Result<Response, Infallible>> {
    let mut request: Request = request.map(Body::new);
    request.extensions_mut().insert(ConnectInfo(peer));
    router.call(request)
}
