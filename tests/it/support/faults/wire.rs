//! A proxy between a program and PostgreSQL or Redis, which a test can break at any time.
//!
//! The program connects to [`Wire::url`], the proxy's own Unix socket. Each connection is forwarded
//! byte for byte in both directions to the real server. Faults are set through the handle, from any
//! task and at any time: cut connections, refuse new ones, hold or delay traffic, and cut at a
//! chosen request.
//!
//! Of PostgreSQL's protocol the proxy knows the framing of messages, and that each Query and each
//! Sync is answered by one ReadyForQuery. The bytes that a client sends up to such a message are a
//! request; requests are forwarded whole, so a cut never leaves half of one with the server. From
//! the answers it records the server's errors. The traffic of Redis is not parsed.
//!
//! Not simulated on purpose: encryption, which is declined as by a server without it; lost,
//! duplicated or reordered bytes, which no stream has.

mod protocol;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use std::{fs, io};

use redis::{ConnectionAddr, IntoConnectionInfo as _};
use sqlx::ConnectOptions as _;
use sqlx::postgres::PgConnectOptions;
use tempfile::TempDir;
use tokio::io::Interest;
use tokio::net::{TcpStream, UnixListener, UnixStream};
use tokio::sync::{Mutex, watch};
use tokio::task::JoinHandle;

use protocol::{Answers, Piece, RequestBytes};

/// Part of the name of PostgreSQL's socket; it has no other use.
const PORT: u16 = 5432;

/// Larger than most statements and answers.
const CHUNK_BYTES: usize = 64 * 1024;

/// The point at which a request is cut off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Moment {
    /// Before the server receives it.
    Unsent,
    /// After the server received it, at once for the client. The server's side stays open until it
    /// has answered, as if it had not noticed yet.
    Unanswered,
    /// After the server answered and before the client receives the answer.
    Undelivered,
}

/// The counting of requests for a cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Count {
    /// Over all connections together, from now on. One is cut, and then no more.
    Together,
    /// For each connection from its beginning. Each is cut at its own request.
    Each,
}

/// The fate of connections after a cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Afterwards {
    Welcome,
    /// Refused as after [`Wire::refuse`], from before the client can notice the cut.
    Refuse,
}

/// A cut at a request, counted from 1.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cut {
    pub(crate) request: u64,
    pub(crate) moment: Moment,
    pub(crate) count: Count,
    pub(crate) afterwards: Afterwards,
}

/// A proxy that cuts all of its connections on drop.
#[derive(Debug)]
pub(crate) struct Wire {
    inner: Arc<Inner>,
    url: String,
}

impl Wire {
    /// Creates a proxy to the server of these options. The URL names their database.
    pub(crate) async fn postgres(options: &PgConnectOptions) -> Self {
        let host = options.get_host();
        let folder = options.get_socket().cloned();
        let folder = folder.or_else(|| host.starts_with('/').then(|| host.into()));
        let server = match folder {
            Some(folder) => Server::Unix(folder.join(socket_name(options.get_port()))),
            None => Server::Tcp(host.to_owned(), options.get_port()),
        };
        let inner = Inner::open(Protocol::Postgres, server, &socket_name(PORT)).await;
        let url = inner.through(options).to_url_lossy().to_string();
        Self { inner, url }
    }

    /// Creates a proxy to the Redis of a URL, which must need no password.
    pub(crate) async fn redis(url: &str) -> Self {
        let info = url.into_connection_info().expect("the URL is a Redis URL");
        assert!(info.redis_settings().password().is_none(), "the proxy supports no passwords");
        let server = match info.addr() {
            ConnectionAddr::Unix(path) => Server::Unix(path.clone()),
            ConnectionAddr::Tcp(host, port) => Server::Tcp(host.clone(), *port),
            other => panic!("the proxy does not support the address {other}"),
        };
        let inner = Inner::open(Protocol::Redis, server, "redis.sock").await;
        let (socket, database) = (inner.socket.display(), info.redis_settings().db());
        let url = format!("redis+unix://{socket}?db={database}");
        Self { inner, url }
    }

    /// Returns the URL for the program, which replaces the server's.
    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// Returns the same options by way of this proxy.
    pub(crate) fn through(&self, options: &PgConnectOptions) -> PgConnectOptions {
        self.inner.through(options)
    }

    /// Cuts all connections and waits until they are closed. Returns their number.
    pub(crate) async fn cut(&self) -> usize {
        let mut cut = 0;
        let mut below = 0;
        self.inner.state.send_modify(|state| {
            state.cut_below = state.arrived;
            below = state.cut_below;
            cut = state.live.len();
        });
        self.inner.wait_until(|state| state.live.keys().all(|id| *id >= below)).await;
        cut
    }

    /// Refuses new connections; existing ones stay.
    pub(crate) async fn refuse(&self) {
        self.inner.refuse().await;
    }

    /// Accepts new connections again.
    pub(crate) async fn welcome(&self) {
        self.inner.welcome().await;
    }

    /// Silently holds all traffic in both directions.
    pub(crate) fn hold(&self) {
        self.inner.state.send_modify(|state| state.held = true);
    }

    /// Forwards held traffic.
    pub(crate) fn release(&self) {
        self.inner.state.send_modify(|state| state.held = false);
    }

    /// Sets the delay of each request and each answer.
    pub(crate) fn delay(&self, delay: Duration) {
        self.inner.state.send_modify(|state| state.delay = delay);
    }

    /// Sets the request to cut at, replacing an earlier choice.
    pub(crate) fn cut_at(&self, cut: Cut) {
        self.inner.state.send_modify(|state| state.chosen = Some((cut, state.requests)));
    }

    /// Cancels the chosen cut. Returns true if it had not happened yet.
    pub(crate) fn cancel_cut(&self) -> bool {
        let mut chosen = None;
        self.inner.state.send_modify(|state| chosen = state.chosen.take());
        chosen.is_some()
    }

    /// Returns the number of requests so far.
    pub(crate) fn requests(&self) -> u64 {
        self.inner.state.borrow().requests
    }

    /// Waits until the number of requests reaches `count`.
    pub(crate) async fn wait_for_requests(&self, count: u64) {
        self.inner.wait_until(|state| state.requests >= count).await;
    }

    /// Returns the number of requests of each open connection, the oldest first.
    pub(crate) fn requests_by_connection(&self) -> Vec<u64> {
        self.inner.state.borrow().live.values().copied().collect()
    }

    /// Returns the number of the server's errors with this SQLSTATE.
    pub(crate) fn errors(&self, sqlstate: &str) -> u64 {
        self.inner.state.borrow().errors.get(sqlstate).copied().unwrap_or_default()
    }
}

impl Drop for Wire {
    fn drop(&mut self) {
        self.inner.state.send_modify(|state| state.cut_below = u64::MAX);
        if let Ok(mut acceptor) = self.inner.acceptor.try_lock()
            && let Some(accepting) = acceptor.take()
        {
            accepting.abort();
        }
    }
}

fn socket_name(port: u16) -> String {
    format!(".s.PGSQL.{port}")
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Protocol {
    Postgres,
    Redis,
}

#[derive(Debug)]
enum Server {
    Unix(PathBuf),
    Tcp(String, u16),
}

impl Server {
    async fn connect(&self) -> io::Result<Stream> {
        match self {
            Self::Unix(path) => Ok(Stream::Unix(UnixStream::connect(path).await?)),
            Self::Tcp(host, port) => {
                let stream = TcpStream::connect((host.as_str(), *port)).await?;
                stream.set_nodelay(true)?;
                Ok(Stream::Tcp(stream))
            }
        }
    }
}

/// The state that the handle and all connections share through a watch channel.
#[derive(Debug, Default)]
struct State {
    held: bool,
    delay: Duration,
    /// The number of connections so far, which is the id of the next one.
    arrived: u64,
    /// Connections with lower ids are cut.
    cut_below: u64,
    /// The number of requests of each open connection.
    live: BTreeMap<u64, u64>,
    requests: u64,
    /// The chosen cut, and the number of requests before it was chosen.
    chosen: Option<(Cut, u64)>,
    /// True from a cut with [`Afterwards::Refuse`] to the next welcome. The cut itself may come
    /// after that welcome, if the client gives its request up before the answer arrives.
    refuses: bool,
    errors: BTreeMap<String, u64>,
}

impl State {
    /// Counts a request. Returns its number on its connection and the cut that applies to it.
    fn count(&mut self, id: u64) -> (u64, Option<Cut>) {
        self.requests += 1;
        let number = self.live.entry(id).or_default();
        *number += 1;
        let due: Option<Cut> = match self.chosen {
            Some((cut, from)) => match cut.count {
                Count::Together if self.requests - from == cut.request => {
                    self.chosen.take().map(|(cut, _)| cut)
                }
                Count::Each if *number == cut.request => Some(cut),
                Count::Together | Count::Each => None,
            },
            None => None,
        };
        self.refuses |= due.is_some_and(|cut| cut.afterwards == Afterwards::Refuse);
        (*number, due)
    }
}

#[derive(Debug)]
struct Inner {
    protocol: Protocol,
    server: Server,
    /// Removed when the last connection has ended.
    folder: TempDir,
    socket: PathBuf,
    state: watch::Sender<State>,
    /// The accepting task, while there is one.
    acceptor: Mutex<Option<JoinHandle<()>>>,
}

impl Inner {
    async fn open(protocol: Protocol, server: Server, socket: &str) -> Arc<Self> {
        // A socket's address holds 103 bytes on some systems, so the name is kept short.
        let folder = tempfile::Builder::new().prefix("wire-").tempdir();
        let folder = folder.expect("a temporary folder is created");
        let (socket, state) = (folder.path().join(socket), watch::Sender::new(State::default()));
        let acceptor = Mutex::new(None);
        let inner = Arc::new(Self { protocol, server, folder, socket, state, acceptor });
        inner.welcome().await;
        inner
    }

    fn through(&self, options: &PgConnectOptions) -> PgConnectOptions {
        options.clone().socket(&self.folder).port(PORT)
    }

    async fn wait_until(&self, condition: impl FnMut(&State) -> bool) {
        drop(self.state.subscribe().wait_for(condition).await);
    }

    async fn refuse(&self) {
        stop_accepting(&mut *self.acceptor.lock().await).await;
    }

    /// Refuses new connections after a cut, unless a welcome came before it.
    async fn refuse_after_cut(&self) {
        let mut acceptor = self.acceptor.lock().await;
        if self.state.borrow().refuses {
            stop_accepting(&mut acceptor).await;
        }
    }

    async fn welcome(self: &Arc<Self>) {
        let mut acceptor = self.acceptor.lock().await;
        self.state.send_modify(|state| state.refuses = false);
        if acceptor.is_none() {
            drop(fs::remove_file(&self.socket));
            let listener = UnixListener::bind(&self.socket).expect("the socket's path is free");
            *acceptor = Some(tokio::spawn(accept_all(Arc::clone(self), listener)));
        }
    }

    /// Waits for the release of held traffic and for the delay.
    async fn wait_to_forward(&self) {
        self.wait_until(|state| !state.held).await;
        let delay = self.state.borrow().delay;
        if !delay.is_zero() {
            tokio::time::sleep(delay).await;
        }
    }
}

async fn stop_accepting(acceptor: &mut Option<JoinHandle<()>>) {
    if let Some(accepting) = acceptor.take() {
        accepting.abort();
        // The socket is closed with the task.
        drop(accepting.await);
    }
}

async fn accept_all(inner: Arc<Inner>, listener: UnixListener) {
    while let Ok((client, _)) = listener.accept().await {
        let mut id = 0;
        inner.state.send_modify(|state| {
            id = state.arrived;
            state.arrived += 1;
            state.live.insert(id, 0);
        });
        tokio::spawn(serve_connection(Arc::clone(&inner), id, Stream::Unix(client)));
    }
}

async fn serve_connection(inner: Arc<Inner>, id: u64, client: Stream) {
    tokio::select! {
        () = inner.wait_until(|state| id < state.cut_below) => {}
        () = proxy_connection(&inner, id, client) => {}
    }
    inner.state.send_modify(|state| {
        state.live.remove(&id);
    });
}

/// The end of a connection.
enum ConnectionEnd {
    /// One side has closed it, or the server is unreachable.
    Closed,
    Cut {
        cut: Cut,
        /// The number of the request on this connection.
        number: u64,
    },
}

async fn proxy_connection(inner: &Inner, id: u64, client: Stream) {
    let Ok(server) = inner.server.connect().await else {
        return;
    };
    let connection = ProxiedConnection { inner, id, undelivered: OnceLock::new() };
    let mut answers = Answers::default();
    let end = tokio::select! {
        end = connection.forward_requests(&client, &server) => end,
        end = connection.forward_answers(&server, &client, &mut answers) => end,
    };
    let ConnectionEnd::Cut { cut, number } = end else {
        return;
    };
    if cut.afterwards == Afterwards::Refuse {
        inner.refuse_after_cut().await;
    }
    drop(client);
    if cut.moment == Moment::Unanswered {
        drain_until_answered(&server, &mut answers, number).await;
    }
}

/// Reads and discards until a request is answered or the server closes.
async fn drain_until_answered(server: &Stream, answers: &mut Answers, number: u64) {
    let mut chunk = vec![0; CHUNK_BYTES];
    while let Ok(count @ 1..) = server.read(&mut chunk).await {
        answers.push_bytes(&chunk[..count]);
        while let Some(answer) = answers.next_message() {
            if answer.number == number && answer.is_last() {
                return;
            }
        }
    }
}

/// One connection of a client.
struct ProxiedConnection<'a> {
    inner: &'a Inner,
    id: u64,
    /// The request whose answer is withheld, and its cut.
    undelivered: OnceLock<(u64, Cut)>,
}

impl ProxiedConnection<'_> {
    /// Forwards the client's requests.
    async fn forward_requests(&self, client: &Stream, server: &Stream) -> ConnectionEnd {
        let mut received = RequestBytes::default();
        let mut chunk = vec![0; CHUNK_BYTES];
        loop {
            let Ok(count @ 1..) = client.read(&mut chunk).await else {
                return ConnectionEnd::Closed;
            };
            received.push_bytes(&chunk[..count]);
            while let Some(piece) = self.next_piece(&mut received) {
                self.inner.wait_to_forward().await;
                let (bytes, is_request) = match piece {
                    Piece::Request(bytes) => (bytes, true),
                    Piece::Other(bytes) => (bytes, false),
                    Piece::Encryption => {
                        if client.write_all(b"N").await.is_err() {
                            return ConnectionEnd::Closed;
                        }
                        continue;
                    }
                };
                let (mut number, mut due) = (0, None);
                if is_request {
                    self.inner.state.send_modify(|state| (number, due) = state.count(self.id));
                }
                match due {
                    Some(cut) if cut.moment == Moment::Unsent => {
                        return ConnectionEnd::Cut { cut, number };
                    }
                    Some(cut) if cut.moment == Moment::Undelivered => {
                        self.undelivered.get_or_init(|| (number, cut));
                    }
                    Some(_) | None => {}
                }
                if server.write_all(&bytes).await.is_err() {
                    return ConnectionEnd::Closed;
                }
                if let Some(cut) = due.filter(|cut| cut.moment == Moment::Unanswered) {
                    return ConnectionEnd::Cut { cut, number };
                }
            }
        }
    }

    fn next_piece(&self, received: &mut RequestBytes) -> Option<Piece> {
        match self.inner.protocol {
            Protocol::Postgres => received.next_piece(),
            Protocol::Redis => received.take_all().map(Piece::Other),
        }
    }

    /// Forwards the server's answers.
    async fn forward_answers(
        &self,
        server: &Stream,
        client: &Stream,
        answers: &mut Answers,
    ) -> ConnectionEnd {
        let mut chunk = vec![0; CHUNK_BYTES];
        loop {
            let Ok(count @ 1..) = server.read(&mut chunk).await else {
                return ConnectionEnd::Closed;
            };
            self.inner.wait_to_forward().await;
            if self.inner.protocol == Protocol::Redis {
                if client.write_all(&chunk[..count]).await.is_err() {
                    return ConnectionEnd::Closed;
                }
                continue;
            }
            answers.push_bytes(&chunk[..count]);
            let mut delivered = Vec::with_capacity(count);
            let mut end = None;
            while let Some(answer) = answers.next_message() {
                if let Some(sqlstate) = answer.sqlstate() {
                    self.inner.state.send_modify(|state| {
                        *state.errors.entry(sqlstate).or_default() += 1;
                    });
                }
                match self.undelivered.get() {
                    Some((number, cut)) if answer.number == *number => {
                        if answer.is_last() {
                            end = Some(ConnectionEnd::Cut { cut: *cut, number: *number });
                            break;
                        }
                    }
                    Some(_) | None => delivered.extend(answer.message),
                }
            }
            if client.write_all(&delivered).await.is_err() {
                return ConnectionEnd::Closed;
            }
            if let Some(end) = end {
                return end;
            }
        }
    }
}

/// A connection of either kind, whose two directions can be used at once.
pub(crate) enum Stream {
    Unix(UnixStream),
    Tcp(TcpStream),
}

impl Stream {
    async fn wait_until_ready(&self, interest: Interest) -> io::Result<()> {
        match self {
            Self::Unix(stream) => stream.ready(interest).await.map(drop),
            Self::Tcp(stream) => stream.ready(interest).await.map(drop),
        }
    }

    pub(crate) async fn read(&self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            self.wait_until_ready(Interest::READABLE).await?;
            let read = match self {
                Self::Unix(stream) => stream.try_read(buffer),
                Self::Tcp(stream) => stream.try_read(buffer),
            };
            match read {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                read => return read,
            }
        }
    }

    pub(crate) async fn write_all(&self, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            self.wait_until_ready(Interest::WRITABLE).await?;
            let written = match self {
                Self::Unix(stream) => stream.try_write(bytes),
                Self::Tcp(stream) => stream.try_write(bytes),
            };
            match written {
                Ok(count) => bytes = &bytes[count..],
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}
