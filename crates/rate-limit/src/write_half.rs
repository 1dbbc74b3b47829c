//! The write half of a connection, shared by the connection's reader and other tasks.
//!
//! A server usually answers in the task that reads the connection. Most messages of a player,
//! however, originate elsewhere, and waking the reader for each of them would cost more than the
//! write itself. Any task with the write half therefore writes whole frames, directly as long as
//! the client accepts them. The rest is queued in order, and the reader is woken to write it.
//!
//! Until [`WriteHalf::begin_frames`] is called there are no frames: only the reader writes, and it
//! receives the number of bytes that the client has accepted.

use std::collections::VecDeque;
use std::io::{self, ErrorKind, IoSlice};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};

use tokio::net::tcp::OwnedWriteHalf;

/// The write half of a connection.
#[derive(Debug)]
pub struct WriteHalf {
    half: OwnedWriteHalf,
    unsent: Mutex<UnsentFrames>,
}

/// Data that the client has not accepted yet.
#[derive(Debug, Default)]
struct UnsentFrames {
    are_frames: bool,
    /// The queued frames, each without the part that was sent with its batch.
    frames: VecDeque<Vec<u8>>,
    /// The number of bytes of the first frame that were sent from the queue.
    taken: usize,
    /// A part of the first frame has been sent.
    is_begun: bool,
    bytes: usize,
}

/// The queued frames and bytes of a client.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WriteBacklog {
    pub frames: usize,
    pub bytes: usize,
}

impl WriteBacklog {
    pub fn is_empty(self) -> bool {
        self.frames == 0
    }
}

impl WriteHalf {
    pub fn new(half: OwnedWriteHalf) -> Self {
        Self { half, unsent: Mutex::default() }
    }

    /// Switches to frames: from now on, concurrent writes do not interleave within a frame.
    pub fn begin_frames(&self) {
        self.unsent().are_frames = true;
    }

    pub fn has_frames(&self) -> bool {
        self.unsent().are_frames
    }

    /// Writes whole frames, whose ends are at `ends`, behind the queue, as far as the client
    /// accepts them now. Returns the backlog, which the caller must arrange to
    /// [drain](Self::poll_drain). A broken connection surfaces when it is read.
    pub fn write(&self, frames: &[u8], ends: &[usize]) -> WriteBacklog {
        let mut unsent = self.unsent();
        let taken = match unsent.frames.is_empty() {
            true => self.half.try_write(frames).unwrap_or(0),
            false => 0,
        };
        if taken < frames.len() {
            unsent.append(frames, ends, taken);
        }
        unsent.backlog()
    }

    pub fn backlog(&self) -> WriteBacklog {
        self.unsent().backlog()
    }

    /// Discards the queue, except for the rest of a frame of which a part has been sent.
    pub fn discard_backlog(&self) {
        let mut unsent = self.unsent();
        let begun = usize::from(unsent.is_begun);
        unsent.frames.truncate(begun);
        unsent.bytes = unsent.frames.front().map_or(0, |first| first.len() - unsent.taken);
    }

    /// Writes the queue and completes when it is empty.
    pub fn poll_drain(&self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let mut unsent = self.unsent();
        while let Some(first) = unsent.frames.front() {
            let rest = &first[unsent.taken..];
            match ready!(self.poll_write_available(context, |half| half.try_write(rest)))? {
                0 => return Poll::Ready(Err(ErrorKind::WriteZero.into())),
                taken => unsent.advance(taken),
            }
        }
        Poll::Ready(Ok(()))
    }

    /// Writes for the reader, as in `AsyncWrite`. In frame mode the bytes are accepted as one whole
    /// frame.
    pub fn poll_write(&self, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        if !self.unsent().are_frames {
            return self.poll_write_available(context, |half| half.try_write(bytes));
        }
        if !self.write(bytes, &[bytes.len()]).is_empty() {
            // Registers the reader's waker.
            let _ = self.poll_drain(context)?;
        }
        Poll::Ready(Ok(bytes.len()))
    }

    /// Writes several buffers like [`Self::poll_write`].
    pub fn poll_write_vectored(
        &self,
        context: &mut Context<'_>,
        buffers: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        if self.unsent().are_frames {
            let together: Vec<u8> =
                buffers.iter().flat_map(|buffer| buffer.iter().copied()).collect();
            return self.poll_write(context, &together);
        }
        self.poll_write_available(context, |half| half.try_write_vectored(buffers))
    }

    /// Writes the queue and shuts down the write half.
    pub fn poll_shutdown(&self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.poll_drain(context))?;
        let stream: &tokio::net::TcpStream = self.half.as_ref();
        Poll::Ready(socket2::SockRef::from(stream).shutdown(std::net::Shutdown::Write))
    }

    fn poll_write_available(
        &self,
        context: &mut Context<'_>,
        write: impl Fn(&OwnedWriteHalf) -> io::Result<usize>,
    ) -> Poll<io::Result<usize>> {
        loop {
            ready!(self.half.as_ref().poll_write_ready(context))?;
            match write(&self.half) {
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                written => return Poll::Ready(written),
            }
        }
    }

    fn unsent(&self) -> MutexGuard<'_, UnsentFrames> {
        self.unsent.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl UnsentFrames {
    /// Queues the rest of frames of which `taken` bytes have been sent.
    fn append(&mut self, frames: &[u8], ends: &[usize], taken: usize) {
        let mut begin = 0;
        for &end in ends {
            if end > taken {
                let left = &frames[begin.max(taken)..end];
                self.is_begun |= begin < taken;
                self.bytes += left.len();
                self.frames.push_back(left.to_vec());
            }
            begin = end;
        }
    }

    fn advance(&mut self, bytes: usize) {
        self.taken += bytes;
        self.bytes -= bytes;
        self.is_begun = true;
        if self.frames.front().is_some_and(|first| first.len() == self.taken) {
            self.frames.pop_front();
            self.taken = 0;
            self.is_begun = false;
        }
        if self.frames.is_empty() {
            self.frames = VecDeque::new();
        }
    }

    fn backlog(&self) -> WriteBacklog {
        WriteBacklog { frames: self.frames.len(), bytes: self.bytes }
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;

    use tokio::io::AsyncReadExt as _;
    use tokio::net::{TcpListener, TcpStream};

    use super::{WriteBacklog, WriteHalf};

    async fn pair() -> (WriteHalf, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port is free");
        let address = listener.local_addr().expect("the listener is bound");
        let client = TcpStream::connect(address).await.expect("the listener is bound");
        let (stream, _) = listener.accept().await.expect("a client has connected");
        (WriteHalf::new(stream.into_split().1), client)
    }

    fn write_frame(write_half: &WriteHalf, frame: &[u8]) -> WriteBacklog {
        write_half.write(frame, &[frame.len()])
    }

    /// Writes numbered frames until the client accepts no more, and returns the written bytes.
    fn fill(write_half: &WriteHalf, length: usize) -> Vec<u8> {
        let mut written = Vec::new();
        for number in 0_u8.. {
            let frame = vec![number; length];
            written.extend_from_slice(&frame);
            if !write_frame(write_half, &frame).is_empty() {
                return written;
            }
        }
        unreachable!("a client that does not read takes no 256 frames")
    }

    #[tokio::test]
    async fn unaccepted_frames_are_queued_in_order() {
        let (write_half, mut client) = pair().await;
        write_half.begin_frames();
        let mut written = fill(&write_half, 100_000);
        for last in [b"beside", b"reader"] {
            written.extend_from_slice(last);
        }
        // Another task writes first, and then the reader writes a whole frame.
        assert_eq!(write_frame(&write_half, b"beside").frames, 2);
        let taken = poll_fn(|context| write_half.poll_write(context, b"reader")).await;
        assert_eq!(taken.expect("the connection is open"), 6);
        let length = written.len();
        let reader = tokio::spawn(async move {
            let mut read = vec![0; length];
            client.read_exact(&mut read).await.expect("all bytes arrive");
            read
        });
        poll_fn(|context| write_half.poll_drain(context)).await.expect("the connection is open");
        assert_eq!(write_half.backlog(), WriteBacklog::default());
        assert_eq!(reader.await.expect("the task does not panic"), written);
    }

    /// Frames of one write are counted one by one, and a partly sent frame is finished alone.
    #[tokio::test]
    async fn frames_of_one_write_are_counted_one_by_one() {
        const LENGTH: usize = 1_000;
        const FRAMES: usize = 20_000;
        let (write_half, mut client) = pair().await;
        write_half.begin_frames();
        let together = vec![7; LENGTH * FRAMES];
        let ends: Vec<usize> = (1..=FRAMES).map(|number| number * LENGTH).collect();
        let waiting = write_half.write(&together, &ends);
        assert!((1..FRAMES).contains(&waiting.frames), "{waiting:?}");
        assert_eq!(waiting.bytes.div_ceil(LENGTH), waiting.frames);
        assert_eq!(write_frame(&write_half, b"one more").frames, waiting.frames + 1);
        write_half.discard_backlog();
        let begun = usize::from(!waiting.bytes.is_multiple_of(LENGTH));
        assert_eq!(
            write_half.backlog(),
            WriteBacklog { frames: begun, bytes: waiting.bytes % LENGTH }
        );
        let reader = tokio::spawn(async move {
            let mut read = Vec::new();
            client.read_to_end(&mut read).await.expect("all bytes arrive");
            read.len()
        });
        poll_fn(|context| write_half.poll_drain(context)).await.expect("the connection is open");
        drop(write_half);
        let whole = FRAMES - waiting.frames + begun;
        assert_eq!(reader.await.expect("the task does not panic"), whole * LENGTH);
    }

    /// A partly sent frame is finished, and nothing else is sent.
    #[tokio::test]
    async fn a_discarded_backlog_ends_with_a_whole_frame() {
        let (write_half, mut client) = pair().await;
        write_half.begin_frames();
        fill(&write_half, 100_000);
        write_frame(&write_half, b"never");
        write_half.discard_backlog();
        write_frame(&write_half, b"end");
        let reader = tokio::spawn(async move {
            let mut read = Vec::new();
            client.read_to_end(&mut read).await.expect("all bytes arrive");
            read
        });
        poll_fn(|context| write_half.poll_drain(context)).await.expect("the connection is open");
        drop(write_half);
        let read = reader.await.expect("the task does not panic");
        let frames = read.strip_suffix(b"end").expect("the last frame arrives");
        assert_eq!(frames.len() % 100_000, 0);
        assert!(!frames.is_empty());
    }
}
