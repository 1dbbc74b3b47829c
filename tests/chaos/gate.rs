//! A TCP proxy from clients to one node: its address stays while the node restarts, and its
//! connections can be cut, held and delayed at any time. It does not read the traffic.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::support::wire::Stream;

const CHUNK_BYTES: usize = 16 * 1024;

#[derive(Clone, Debug, Default)]
struct State {
    /// Incremented by every cut; a connection of an earlier epoch ends.
    epoch: u64,
    refused: bool,
    held: bool,
    delay: Duration,
    /// The node's address, while the node runs.
    target: Option<SocketAddr>,
}

/// A proxy that closes when it is dropped.
#[derive(Debug)]
pub(crate) struct Gate {
    address: SocketAddr,
    state: Arc<watch::Sender<State>>,
    accepting: JoinHandle<()>,
}

impl Gate {
    pub(crate) async fn open() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("loopback has a free port");
        let address = listener.local_addr().expect("a listener has an address");
        let state = Arc::new(watch::Sender::new(State::default()));
        let accepting = tokio::spawn(accept(listener, Arc::clone(&state)));
        Self { address, state, accepting }
    }

    /// Returns the base URL for clients.
    pub(crate) fn base(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Sets the address of the node.
    pub(crate) fn lead_to(&self, target: SocketAddr) {
        self.state.send_modify(|state| state.target = Some(target));
    }

    /// Breaks all connections; new ones are refused until [`Gate::heal`].
    pub(crate) fn cut(&self) {
        self.state.send_modify(|state| {
            state.epoch += 1;
            state.refused = true;
        });
    }

    /// Silently stops all traffic without closing connections.
    pub(crate) fn hold(&self) {
        self.state.send_modify(|state| state.held = true);
    }

    pub(crate) fn delay(&self, delay: Duration) {
        self.state.send_modify(|state| state.delay = delay);
    }

    /// Lets everything pass at once again.
    pub(crate) fn heal(&self) {
        self.state.send_modify(|state| {
            state.refused = false;
            state.held = false;
            state.delay = Duration::ZERO;
        });
    }
}

impl Drop for Gate {
    fn drop(&mut self) {
        self.accepting.abort();
        self.state.send_modify(|state| state.epoch = u64::MAX);
    }
}

async fn accept(listener: TcpListener, state: Arc<watch::Sender<State>>) {
    while let Ok((client, _)) = listener.accept().await {
        let State { epoch, refused, target, .. } = state.borrow().clone();
        let (Some(target), false) = (target, refused) else {
            continue;
        };
        let state = state.subscribe();
        tokio::spawn(async move {
            let mut cut = state.clone();
            tokio::select! {
                _ = cut.wait_for(|state| state.epoch != epoch) => {}
                () = carry(client, target, state) => {}
            }
        });
    }
}

async fn carry(client: TcpStream, target: SocketAddr, state: watch::Receiver<State>) {
    let Ok(node) = TcpStream::connect(target).await else {
        return;
    };
    // Nagle's algorithm would delay small frames until earlier ones are acknowledged.
    if client.set_nodelay(true).is_err() || node.set_nodelay(true).is_err() {
        return;
    }
    let (client, node) = (Stream::Tcp(client), Stream::Tcp(node));
    // Closing one side closes the other.
    tokio::select! {
        () = pass_all(&client, &node, state.clone()) => {}
        () = pass_all(&node, &client, state) => {}
    }
}

async fn pass_all(from: &Stream, to: &Stream, mut state: watch::Receiver<State>) {
    let mut chunk = vec![0; CHUNK_BYTES];
    while let Ok(count @ 1..) = from.read(&mut chunk).await {
        if state.wait_for(|state| !state.held).await.is_err() {
            return;
        }
        let delay = state.borrow().delay;
        if !delay.is_zero() {
            tokio::time::sleep(delay).await;
        }
        if to.write_all(&chunk[..count]).await.is_err() {
            return;
        }
    }
}
