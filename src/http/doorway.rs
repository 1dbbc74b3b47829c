//! What accepts connections, before a byte of HTTP: so many of an address, and none on which nothing
//! moves for long, whether something was asked for or not.
//!
//! The server that we stand on gives a client all the time in the world for its request, so who
//! opens connections and says nothing is held off here, and so is who says a request so slowly that it
//! is never said. Who takes a long answer says nothing either, and is not silent as long as it takes.
//! Connections of proxies of ours are not counted.

use std::io::ErrorKind;
use std::net::SocketAddr;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::extract::connect_info::Connected;
use axum::serve::{IncomingStream, Listener};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::tcp::OwnedReadHalf;
use tokio::net::{TcpListener, TcpStream};
use tokio::time::{Instant, Sleep};

use crate::edge::{Edge, Peer, Place, WriteHalf};

/// Of whoever speaks HTTP.
const SILENCE: Duration = Duration::from_secs(75);

/// From the first byte of a request to the first of its answer. Longer than a handler may take.
const REQUEST: Duration = Duration::from_secs(20);

/// A listener with a limit.
#[derive(Debug)]
pub struct Doorway {
    listener: TcpListener,
    edge: Edge,
}

impl Doorway {
    pub fn new(listener: TcpListener, edge: Edge) -> Self {
        Self { listener, edge }
    }
}

impl Listener for Doorway {
    type Io = Guarded;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Guarded, SocketAddr) {
        loop {
            let (stream, peer) = Listener::accept(&mut self.listener).await;
            // Dropped, and so closed: there is no protocol yet to say why in.
            if let Ok(place) = self.edge.connection(peer.ip()) {
                // Small answers must not wait for each other; without it they only come later.
                let _ = stream.set_nodelay(true);
                let patience = Patience { silence: SILENCE, request: REQUEST };
                return (Guarded::new(stream, patience, place), peer);
            }
        }
    }

    fn local_addr(&self) -> std::io::Result<SocketAddr> {
        self.listener.local_addr()
    }
}

impl Connected<IncomingStream<'_, Doorway>> for Peer {
    fn connect_info(stream: IncomingStream<'_, Doorway>) -> Self {
        Self { address: *stream.remote_addr(), write_half: Arc::downgrade(&stream.io().write_half) }
    }
}

/// How long a connection may take.
#[derive(Clone, Copy, Debug)]
struct Patience {
    /// Without anything that moves.
    silence: Duration,
    /// To say a request, until something is answered.
    request: Duration,
}

/// A connection that ends when nothing moves on it or a request takes too long to be said, unless it
/// has become a socket.
#[derive(Debug)]
pub struct Guarded {
    half: OwnedReadHalf,
    write_half: Arc<WriteHalf>,
    /// Looked at when it is over: whatever moved meanwhile puts it off. A socket has none: its
    /// session says how long it may be silent.
    silence: Option<Pin<Box<Sleep>>>,
    patience: Patience,
    moved_at: Instant,
    /// Since when something is said that was not answered yet.
    request_since: Option<Instant>,
    _place: Option<Place>,
}

impl Guarded {
    fn new(stream: TcpStream, patience: Patience, place: Option<Place>) -> Self {
        let silence = Some(Box::pin(tokio::time::sleep(patience.silence)));
        let (half, write_half) = stream.into_split();
        let write_half = Arc::new(WriteHalf::new(write_half));
        let (moved_at, request_since) = (Instant::now(), None);
        Self { half, write_half, silence, patience, moved_at, request_since, _place: place }
    }

    fn written(&mut self, written: Poll<std::io::Result<usize>>) -> Poll<std::io::Result<usize>> {
        if matches!(written, Poll::Ready(Ok(1..))) {
            self.moved_at = Instant::now();
            self.request_since = None;
        }
        written
    }

    /// Something was said, or the end of it. Whether it has taken too long by now.
    fn was_said(&mut self) -> bool {
        let now = Instant::now();
        self.moved_at = now;
        if self.silence.is_none() || self.write_half.has_frames() {
            return false;
        }
        let since = *self.request_since.get_or_insert(now);
        now.duration_since(since) > self.patience.request
    }

    fn poll_silence(&mut self, context: &mut Context<'_>) -> Poll<()> {
        let Some(silence) = &mut self.silence else {
            return Poll::Pending;
        };
        if self.write_half.has_frames() {
            self.silence = None;
            return Poll::Pending;
        }
        while silence.as_mut().poll(context).is_ready() {
            let over = self.moved_at + self.patience.silence;
            if Instant::now() >= over {
                return Poll::Ready(());
            }
            silence.as_mut().reset(over);
        }
        Poll::Pending
    }
}

impl AsyncRead for Guarded {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<std::io::Result<()>> {
        let read = pin!(&mut self.half).poll_read(context, buffer);
        if read.is_ready() {
            let too_slow = self.was_said();
            return if too_slow { Poll::Ready(Err(ErrorKind::TimedOut.into())) } else { read };
        }
        let silent = self.poll_silence(context);
        silent.map(|()| Err(ErrorKind::TimedOut.into()))
    }
}

impl AsyncWrite for Guarded {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<std::io::Result<usize>> {
        let written = self.write_half.poll_write(context, bytes);
        self.written(written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffers: &[std::io::IoSlice<'_>],
    ) -> Poll<std::io::Result<usize>> {
        let written = self.write_half.poll_write_vectored(context, buffers);
        self.written(written)
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
    use super::{ErrorKind, Guarded, Patience};
    use std::time::Duration;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::net::{TcpListener, TcpStream};
    use tokio::time::timeout;

    /// Long beside what a busy machine may hold a test up.
    const LONG: Duration = Duration::from_secs(5);

    async fn connection(patience: Patience) -> (TcpStream, Guarded) {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port is free");
        let address = listener.local_addr().expect("it listens");
        let client = TcpStream::connect(address).await.expect("it listens");
        let (stream, _) = listener.accept().await.expect("somebody has come");
        (client, Guarded::new(stream, patience, None))
    }

    /// A byte now and then keeps a connection from being silent, and is no request all the same.
    #[tokio::test]
    async fn who_says_a_request_byte_by_byte_is_not_heard_out() {
        let request = Duration::from_millis(200);
        let (mut client, mut guarded) = connection(Patience { silence: LONG, request }).await;
        let dripping = tokio::spawn(async move {
            while client.write_u8(b'x').await.is_ok() {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        });
        let mut heard = 0;
        let error = loop {
            match guarded.read_u8().await {
                Ok(_) => heard += 1,
                Err(error) => break error.kind(),
            }
        };
        assert_eq!(error, ErrorKind::TimedOut, "after {heard} bytes");
        drop(guarded);
        dripping.await.expect("the client notices");
    }

    /// Each request has its own time, from its first byte on.
    #[tokio::test]
    async fn a_request_that_is_answered_is_over() {
        let request = Duration::from_secs(1);
        let (mut client, mut guarded) = connection(Patience { silence: LONG, request }).await;
        for _ in 0..3 {
            client.write_u8(b'x').await.expect("there is room for it");
            guarded.read_u8().await.expect("it is in time");
            guarded.write_u8(b'y').await.expect("there is room for it");
            client.read_u8().await.expect("it is answered");
            tokio::time::sleep(Duration::from_millis(500)).await;
        }
    }

    /// An answer that takes long to read is read to its end.
    #[tokio::test]
    async fn who_only_takes_is_not_silent() {
        let (client, mut guarded) = connection(Patience { silence: LONG, request: LONG }).await;
        for _ in 0..6 {
            let heard = timeout(Duration::from_secs(1), guarded.read_u8()).await;
            assert!(heard.is_err(), "nothing was said: {heard:?}");
            guarded.write_u8(7).await.expect("there is room for it");
        }
        let heard = guarded.read_u8().await;
        assert_eq!(heard.map_err(|error| error.kind()), Err(ErrorKind::TimedOut));
        drop(client);
    }

    /// How long a socket may say nothing is its session's to say.
    #[tokio::test]
    async fn a_socket_may_be_silent() {
        let patience = Patience { silence: Duration::ZERO, request: Duration::ZERO };
        let (client, mut guarded) = connection(patience).await;
        guarded.write_half.frames();
        let heard = timeout(Duration::from_millis(50), guarded.read_u8()).await;
        assert!(heard.is_err(), "nothing was said: {heard:?}");
        drop(client);
    }
}
