//! Accepts connections, before a byte of HTTP: a bounded number of an address, and none on which
//! nothing moves for long.
//!
//! The HTTP server behind it gives a client unlimited time for its request, so connections are ended
//! here that say nothing, that take too long to say a request, and that take their answers too
//! slowly ([`WriteDebt`]). A client that takes a long answer says nothing either, and is not silent as
//! long as it takes. Connections of trusted proxies are not counted.

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

use super::slow_reader::WriteDebt;
use crate::edge::{Edge, Peer, Place, WriteHalf};

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

    /// Waits for the next connection for which there is room.
    pub(super) async fn accept(&mut self) -> (Guarded, SocketAddr) {
        loop {
            let (stream, peer) = Listener::accept(&mut self.listener).await;
            // Dropped, and so closed: there is no protocol yet to say why in.
            if let Ok(place) = self.edge.connection(peer.ip()) {
                // Small answers must not wait for each other; without it they only come later.
                let _ = stream.set_nodelay(true);
                let patience = Patience {
                    silence: self.edge.keep_alive(),
                    request: REQUEST,
                    stall: self.edge.slow_reader(),
                };
                return (Guarded::new(stream, patience, place), peer);
            }
        }
    }
}

/// How long a connection may take.
#[derive(Clone, Copy, Debug)]
struct Patience {
    /// Without anything that moves.
    silence: Duration,
    /// To say a request, until something is answered.
    request: Duration,
    /// To take what is answered.
    stall: Duration,
}

/// A connection that ends when nothing moves on it, a request takes too long to be said or an answer
/// is taken too slowly, unless it has become a socket.
#[derive(Debug)]
pub(super) struct Guarded {
    half: OwnedReadHalf,
    write_half: Arc<WriteHalf>,
    /// Looked at when it is over: whatever moved meanwhile puts it off. A socket has none: its
    /// session says how long it may be silent.
    silence: Option<Pin<Box<Sleep>>>,
    patience: Patience,
    moved_at: Instant,
    /// Since when something is said that was not answered yet.
    request_since: Option<Instant>,
    write_debt: WriteDebt,
    _place: Option<Place>,
}

impl Guarded {
    fn new(stream: TcpStream, patience: Patience, place: Option<Place>) -> Self {
        let silence = Some(Box::pin(tokio::time::sleep(patience.silence)));
        let (half, write_half) = stream.into_split();
        Self {
            half,
            write_half: Arc::new(WriteHalf::new(write_half)),
            silence,
            patience,
            moved_at: Instant::now(),
            request_since: None,
            write_debt: WriteDebt::new(patience.stall),
            _place: place,
        }
    }

    /// Names the other end to the handlers of its requests.
    pub(super) fn peer(&self, address: SocketAddr) -> Peer {
        Peer { address, write_half: Arc::downgrade(&self.write_half) }
    }

    /// Notes what became of a write, and fails it once the client has let it wait for too long.
    fn note_written(
        &mut self,
        context: &mut Context<'_>,
        written: Poll<std::io::Result<usize>>,
    ) -> Poll<std::io::Result<usize>> {
        match written {
            Poll::Ready(Ok(taken @ 1..)) => {
                self.moved_at = Instant::now();
                self.request_since = None;
                self.write_debt.note_taken(taken, self.moved_at);
                written
            }
            Poll::Ready(_) => written,
            Poll::Pending => {
                ready!(self.write_debt.poll_exhausted(context));
                Poll::Ready(Err(ErrorKind::TimedOut.into()))
            }
        }
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

    /// Returns when this is over, if nothing moves until then.
    fn deadline(&self) -> Instant {
        let silent = self.moved_at + self.patience.silence;
        let said = self.request_since.map(|since| since + self.patience.request);
        said.map_or(silent, |said| said.min(silent))
    }

    fn poll_silence(&mut self, context: &mut Context<'_>) -> Poll<()> {
        let deadline = self.deadline();
        let Some(silence) = &mut self.silence else {
            return Poll::Pending;
        };
        if self.write_half.has_frames() {
            self.silence = None;
            return Poll::Pending;
        }
        if deadline < silence.deadline() {
            silence.as_mut().reset(deadline);
        }
        while silence.as_mut().poll(context).is_ready() {
            if Instant::now() >= deadline {
                return Poll::Ready(());
            }
            silence.as_mut().reset(deadline);
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
        self.note_written(context, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffers: &[std::io::IoSlice<'_>],
    ) -> Poll<std::io::Result<usize>> {
        let written = self.write_half.poll_write_vectored(context, buffers);
        self.note_written(context, written)
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
        let (mut client, mut guarded) =
            connection(Patience { silence: LONG, request, stall: LONG }).await;
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
        let (mut client, mut guarded) =
            connection(Patience { silence: LONG, request, stall: LONG }).await;
        for _ in 0..3 {
            client.write_u8(b'x').await.expect("there is room for it");
            guarded.read_u8().await.expect("it is in time");
            guarded.write_u8(b'y').await.expect("there is room for it");
            client.read_u8().await.expect("it is answered");
            tokio::time::sleep(Duration::from_millis(500)).await;
        }
    }

    /// A request that breaks off has no more time than one that is said slowly.
    #[tokio::test]
    async fn a_request_that_is_never_finished_is_not_waited_for() {
        let request = Duration::from_millis(200);
        let hour = Duration::from_hours(1);
        let patience = Patience { silence: hour, request, stall: hour };
        let (mut client, mut guarded) = connection(patience).await;
        client.write_all(b"GET /").await.expect("there is room for it");
        let mut heard = [0; 5];
        guarded.read_exact(&mut heard).await.expect("it is in time");
        let error = timeout(LONG, guarded.read_u8()).await.expect("it is not waited for");
        assert_eq!(error.map_err(|error| error.kind()), Err(ErrorKind::TimedOut));
    }

    /// A client that never reads holds an answer for a bounded time.
    #[tokio::test]
    async fn an_answer_that_is_not_taken_is_given_up() {
        let hour = Duration::from_hours(1);
        let patience = Patience { silence: hour, request: hour, stall: Duration::from_millis(200) };
        let (client, mut guarded) = connection(patience).await;
        let portion = vec![7; 1 << 20];
        let error = loop {
            match guarded.write_all(&portion).await {
                Ok(()) => {}
                Err(error) => break error.kind(),
            }
        };
        assert_eq!(error, ErrorKind::TimedOut);
        drop(client);
    }

    /// An answer that takes long to read is read to its end.
    #[tokio::test]
    async fn who_only_takes_is_not_silent() {
        let (client, mut guarded) =
            connection(Patience { silence: LONG, request: LONG, stall: LONG }).await;
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
        let none = Duration::ZERO;
        let patience = Patience { silence: none, request: none, stall: none };
        let (client, mut guarded) = connection(patience).await;
        guarded.write_half.frames();
        let heard = timeout(Duration::from_millis(50), guarded.read_u8()).await;
        assert!(heard.is_err(), "nothing was said: {heard:?}");
        drop(client);
    }
}
