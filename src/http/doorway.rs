//! What accepts connections, before a byte of HTTP: so many of an address, and none that stays
//! silent for long, whether it has asked for something or not.
//!
//! The server that we stand on gives a client all the time in the world for its request, so who
//! opens connections and says nothing, or a letter now and then, is held off here. Connections of
//! proxies of ours are not counted.

use std::net::SocketAddr;
use std::pin::{Pin, pin};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::serve::Listener;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::{Instant, Sleep};

use crate::edge::{Edge, Place};

/// Longer than an open socket may be silent: that is the session's to say.
const SILENCE: Duration = Duration::from_secs(75);

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
                let silence = Box::pin(tokio::time::sleep(SILENCE));
                return (Guarded { stream, silence, _place: place }, peer);
            }
        }
    }

    fn local_addr(&self) -> std::io::Result<SocketAddr> {
        self.listener.local_addr()
    }
}

/// A connection that ends when nothing is heard on it.
#[derive(Debug)]
pub struct Guarded {
    stream: TcpStream,
    silence: Pin<Box<Sleep>>,
    _place: Option<Place>,
}

impl AsyncRead for Guarded {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<std::io::Result<()>> {
        match pin!(&mut self.stream).poll_read(context, buffer) {
            Poll::Ready(read) => {
                self.silence.as_mut().reset(Instant::now() + SILENCE);
                Poll::Ready(read)
            }
            Poll::Pending => match self.silence.as_mut().poll(context) {
                Poll::Ready(()) => Poll::Ready(Err(std::io::ErrorKind::TimedOut.into())),
                Poll::Pending => Poll::Pending,
            },
        }
    }
}

impl AsyncWrite for Guarded {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<std::io::Result<usize>> {
        pin!(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffers: &[std::io::IoSlice<'_>],
    ) -> Poll<std::io::Result<usize>> {
        pin!(&mut self.stream).poll_write_vectored(context, buffers)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<std::io::Result<()>> {
        pin!(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<std::io::Result<()>> {
        pin!(&mut self.stream).poll_shutdown(context)
    }
}
