//! A listener that limits the number of connections per address, and connections with timeouts.
//!
//! The HTTP server behind it sets no time limit on reading a request. This module therefore closes
//! connections that are idle, that take too long to send a request, or that read their responses
//! too slowly ([`WriteStall`]). A client that is reading a long response sends nothing, and does
//! not count as idle while it reads. Connections of trusted proxies are not counted.

use std::io::ErrorKind;
use std::net::SocketAddr;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::serve::Listener;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::tcp::OwnedReadHalf;
use tokio::net::{TcpListener, TcpStream};
use tokio::time::{Instant, Sleep};

use super::slow_reader::WriteStall;
use crate::rate_limit::{ConnectionPermit, Peer, RateLimits, WriteHalf};

/// The maximum time from the first byte of a request to the first byte of its response. It is
/// longer than the timeout of a handler.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(20);

/// A listener that limits the number of connections per address.
#[derive(Debug)]
pub struct LimitedListener {
    listener: TcpListener,
    rate_limits: RateLimits,
}

impl LimitedListener {
    pub fn new(listener: TcpListener, rate_limits: RateLimits) -> Self {
        Self { listener, rate_limits }
    }

    /// Waits for the next connection that is within the limit of its address.
    pub(crate) async fn accept(&mut self) -> (LimitedConnection, SocketAddr) {
        loop {
            let (stream, peer) = Listener::accept(&mut self.listener).await;
            // A rejected connection is dropped and thereby closed; no protocol is established yet
            // in which a reason could be sent.
            if let Ok(permit) = self.rate_limits.acquire_connection(peer.ip()) {
                // `TCP_NODELAY` keeps small responses from waiting for each other. A failure to set
                // it only delays them.
                let _ = stream.set_nodelay(true);
                let timeouts = ConnectionTimeouts {
                    idle: self.rate_limits.keep_alive(),
                    request: REQUEST_TIMEOUT,
                    stall: self.rate_limits.slow_reader(),
                };
                return (LimitedConnection::new(stream, timeouts, permit), peer);
            }
        }
    }
}

/// The timeouts of a connection.
#[derive(Clone, Copy, Debug)]
struct ConnectionTimeouts {
    /// The maximum time without any byte in either direction.
    idle: Duration,
    /// The maximum time from the first byte of a request to the first byte of its response.
    request: Duration,
    /// The limit of the time for which response bytes wait for the client.
    stall: Duration,
}

/// A connection that fails with `TimedOut` when it is idle, when a request takes too long to
/// arrive, or when a response is read too slowly. It has no timeouts once it has become a
/// WebSocket.
#[derive(Debug)]
pub(crate) struct LimitedConnection {
    half: OwnedReadHalf,
    write_half: Arc<WriteHalf>,
    /// The timer for the next deadline. Traffic does not reset it; when it fires, the deadline is
    /// computed anew. It is `None` for a WebSocket, whose session has its own idle timeout.
    idle_timer: Option<Pin<Box<Sleep>>>,
    timeouts: ConnectionTimeouts,
    moved_at: Instant,
    /// The time of the first byte of the request that has not been answered yet.
    request_since: Option<Instant>,
    write_stall: WriteStall,
    _permit: Option<ConnectionPermit>,
}

impl LimitedConnection {
    fn new(
        stream: TcpStream,
        timeouts: ConnectionTimeouts,
        permit: Option<ConnectionPermit>,
    ) -> Self {
        let idle_timer = Some(Box::pin(tokio::time::sleep(timeouts.idle)));
        let (half, write_half) = stream.into_split();
        Self {
            half,
            write_half: Arc::new(WriteHalf::new(write_half)),
            idle_timer,
            timeouts,
            moved_at: Instant::now(),
            request_since: None,
            write_stall: WriteStall::new(timeouts.stall),
            _permit: permit,
        }
    }

    /// Returns the peer's address and a handle of its write half, for the handlers of its requests.
    pub(crate) fn peer(&self, address: SocketAddr) -> Peer {
        Peer { address, write_half: Arc::downgrade(&self.write_half) }
    }

    /// Records the result of a write, and fails it if the client has let bytes wait for too long.
    fn record_write(
        &mut self,
        context: &mut Context<'_>,
        written: Poll<std::io::Result<usize>>,
    ) -> Poll<std::io::Result<usize>> {
        match written {
            Poll::Ready(Ok(taken @ 1..)) => {
                self.moved_at = Instant::now();
                self.request_since = None;
                self.write_stall.record_taken(taken, self.moved_at);
                written
            }
            Poll::Ready(_) => written,
            Poll::Pending => {
                ready!(self.write_stall.poll_exhausted(context));
                Poll::Ready(Err(ErrorKind::TimedOut.into()))
            }
        }
    }

    /// Records that bytes or the end of the stream were read. Returns whether the current request
    /// has exceeded its timeout.
    fn record_read(&mut self) -> bool {
        let now = Instant::now();
        self.moved_at = now;
        if self.idle_timer.is_none() || self.write_half.has_frames() {
            return false;
        }
        let since = *self.request_since.get_or_insert(now);
        now.duration_since(since) > self.timeouts.request
    }

    /// Returns the time at which the connection times out unless there is traffic before.
    fn deadline(&self) -> Instant {
        let idle_deadline = self.moved_at + self.timeouts.idle;
        let request_deadline = self.request_since.map(|since| since + self.timeouts.request);
        request_deadline.map_or(idle_deadline, |deadline| deadline.min(idle_deadline))
    }

    fn poll_timeout(&mut self, context: &mut Context<'_>) -> Poll<()> {
        let deadline = self.deadline();
        let Some(timer) = &mut self.idle_timer else {
            return Poll::Pending;
        };
        if self.write_half.has_frames() {
            self.idle_timer = None;
            return Poll::Pending;
        }
        if deadline < timer.deadline() {
            timer.as_mut().reset(deadline);
        }
        while timer.as_mut().poll(context).is_ready() {
            if Instant::now() >= deadline {
                return Poll::Ready(());
            }
            timer.as_mut().reset(deadline);
        }
        Poll::Pending
    }
}

impl AsyncRead for LimitedConnection {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<std::io::Result<()>> {
        let read = pin!(&mut self.half).poll_read(context, buffer);
        if read.is_ready() {
            let too_slow = self.record_read();
            return if too_slow { Poll::Ready(Err(ErrorKind::TimedOut.into())) } else { read };
        }
        let timed_out = self.poll_timeout(context);
        timed_out.map(|()| Err(ErrorKind::TimedOut.into()))
    }
}

impl AsyncWrite for LimitedConnection {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<std::io::Result<usize>> {
        let written = self.write_half.poll_write(context, bytes);
        self.record_write(context, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffers: &[std::io::IoSlice<'_>],
    ) -> Poll<std::io::Result<usize>> {
        let written = self.write_half.poll_write_vectored(context, buffers);
        self.record_write(context, written)
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        self.write_half.poll_drain(context)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        self.write_half.poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use super::{ConnectionTimeouts, ErrorKind, LimitedConnection};
    use std::time::Duration;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::net::{TcpListener, TcpStream};
    use tokio::time::timeout;

    /// A timeout that is long compared with the delays of a busy machine.
    const LONG: Duration = Duration::from_secs(5);

    async fn connect(timeouts: ConnectionTimeouts) -> (TcpStream, LimitedConnection) {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port is available");
        let address = listener.local_addr().expect("it listens");
        let client = TcpStream::connect(address).await.expect("it listens");
        let (stream, _) = listener.accept().await.expect("a client has connected");
        (client, LimitedConnection::new(stream, timeouts, None))
    }

    /// Occasional bytes keep a connection from being idle, but do not extend the request timeout.
    #[tokio::test]
    async fn a_request_sent_byte_by_byte_times_out() {
        let request = Duration::from_millis(200);
        let (mut client, mut connection) =
            connect(ConnectionTimeouts { idle: LONG, request, stall: LONG }).await;
        let dripping = tokio::spawn(async move {
            while client.write_u8(b'x').await.is_ok() {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        });
        let mut read = 0;
        let error = loop {
            match connection.read_u8().await {
                Ok(_) => read += 1,
                Err(error) => break error.kind(),
            }
        };
        assert_eq!(error, ErrorKind::TimedOut, "after {read} bytes");
        drop(connection);
        dripping.await.expect("the client notices");
    }

    /// The request timeout of each request starts with its first byte.
    #[tokio::test]
    async fn the_request_timeout_restarts_after_each_response() {
        let request = Duration::from_secs(1);
        let (mut client, mut connection) =
            connect(ConnectionTimeouts { idle: LONG, request, stall: LONG }).await;
        for _ in 0..3 {
            client.write_u8(b'x').await.expect("the write succeeds");
            connection.read_u8().await.expect("the read succeeds in time");
            connection.write_u8(b'y').await.expect("the write succeeds");
            client.read_u8().await.expect("the response arrives");
            tokio::time::sleep(Duration::from_millis(500)).await;
        }
    }

    /// The request timeout also applies to a request that stops halfway.
    #[tokio::test]
    async fn an_unfinished_request_times_out() {
        let request = Duration::from_millis(200);
        let hour = Duration::from_hours(1);
        let timeouts = ConnectionTimeouts { idle: hour, request, stall: hour };
        let (mut client, mut connection) = connect(timeouts).await;
        client.write_all(b"GET /").await.expect("the write succeeds");
        let mut read = [0; 5];
        connection.read_exact(&mut read).await.expect("the read succeeds in time");
        let error = timeout(LONG, connection.read_u8()).await.expect("the read fails in time");
        assert_eq!(error.map_err(|error| error.kind()), Err(ErrorKind::TimedOut));
    }

    /// A client that never reads occupies a response for a bounded time.
    #[tokio::test]
    async fn a_response_that_is_not_read_times_out() {
        let hour = Duration::from_hours(1);
        let stall = Duration::from_millis(200);
        let timeouts = ConnectionTimeouts { idle: hour, request: hour, stall };
        let (client, mut connection) = connect(timeouts).await;
        let portion = vec![7; 1 << 20];
        let error = loop {
            match connection.write_all(&portion).await {
                Ok(()) => {}
                Err(error) => break error.kind(),
            }
        };
        assert_eq!(error, ErrorKind::TimedOut);
        drop(client);
    }

    /// Writing counts as traffic, so the connection is not idle while the client reads slowly.
    #[tokio::test]
    async fn a_client_that_reads_a_response_is_not_idle() {
        let (client, mut connection) =
            connect(ConnectionTimeouts { idle: LONG, request: LONG, stall: LONG }).await;
        for _ in 0..6 {
            let read = timeout(Duration::from_secs(1), connection.read_u8()).await;
            assert!(read.is_err(), "nothing was sent: {read:?}");
            connection.write_u8(7).await.expect("the write succeeds");
        }
        let read = connection.read_u8().await;
        assert_eq!(read.map_err(|error| error.kind()), Err(ErrorKind::TimedOut));
        drop(client);
    }

    /// The idle timeout of a WebSocket is that of its session.
    #[tokio::test]
    async fn a_websocket_may_be_idle() {
        let none = Duration::ZERO;
        let timeouts = ConnectionTimeouts { idle: none, request: none, stall: none };
        let (client, mut connection) = connect(timeouts).await;
        connection.write_half.begin_frames();
        let read = timeout(Duration::from_millis(50), connection.read_u8()).await;
        assert!(read.is_err(), "nothing was sent: {read:?}");
        drop(client);
    }
}
