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
use tokio::net::{TcpStream, UnixListener, UnixStream};
use tokio::sync::{Mutex, watch};
use tokio::task::JoinHandle;
use uuid::Uuid;

use protocol::{Answers, Piece, Said};

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
    Unheard,
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
        let inner = Inner::open(Language::Postgres, server, &socket_name(PORT)).await;
        let url = inner.through(options).to_url_lossy().to_string();
        Self { inner, url }
    }

    /// Creates a proxy to the Redis of a URL, which must need no password.
    pub(crate) async fn redis(url: &str) -> Self {
        let info = url.into_connection_info().expect("the URL is one of Redis");
        assert!(info.redis_settings().password().is_none(), "the wire knows no passwords");
        let server = match info.addr() {
            ConnectionAddr::Unix(path) => Server::Unix(path.clone()),
            ConnectionAddr::Tcp(host, port) => Server::Tcp(host.clone(), *port),
            other => panic!("the wire knows no way to {other}"),
        };
        let inner = Inner::open(Language::Redis, server, "redis.sock").await;
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
        self.inner.until(|state| state.live.keys().all(|id| *id >= below)).await;
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
    pub(crate) fn cut_no_more(&self) -> bool {
        let mut chosen = None;
        self.inner.state.send_modify(|state| chosen = state.chosen.take());
        chosen.is_some()
    }

    /// Returns the number of requests so far.
    pub(crate) fn requests(&self) -> u64 {
        self.inner.state.borrow().requests
    }

    /// Waits until the number of requests reaches `count`.
    pub(crate) async fn until_requests(&self, count: u64) {
        self.inner.until(|state| state.requests >= count).await;
    }

    /// Returns the number of requests of each open connection, the oldest first.
    pub(crate) fn conversations(&self) -> Vec<u64> {
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
        if let Ok(mut door) = self.inner.door.try_lock()
            && let Some(accepting) = door.take()
        {
            accepting.abort();
        }
        // The folder may have been removed already.
        drop(fs::remove_dir_all(&self.inner.folder));
    }
}

fn socket_name(port: u16) -> String {
    format!(".s.PGSQL.{port}")
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Language {
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
    errors: BTreeMap<String, u64>,
}

impl State {
    /// Counts a request. Returns its number on its connection and the cut that applies to it.
    fn count(&mut self, id: u64) -> (u64, Option<Cut>) {
        self.requests += 1;
        let number = self.live.entry(id).or_default();
        *number += 1;
        let due = match self.chosen {
            Some((cut, from)) => match cut.count {
                Count::Together if self.requests - from == cut.request => {
                    self.chosen.take().map(|(cut, _)| cut)
                }
                Count::Each if *number == cut.request => Some(cut),
                Count::Together | Count::Each => None,
            },
            None => None,
        };
        (*number, due)
    }
}

#[derive(Debug)]
struct Inner {
    language: Language,
    server: Server,
    folder: PathBuf,
    socket: PathBuf,
    state: watch::Sender<State>,
    /// The accepting task, while there is one.
    door: Mutex<Option<JoinHandle<()>>>,
}

impl Inner {
    async fn open(language: Language, server: Server, socket: &str) -> Arc<Self> {
        // A socket's address holds 103 bytes on some systems, so the name is kept short.
        let name = Uuid::new_v4().simple().to_string();
        let folder = std::env::temp_dir().join(format!("wire-{}", &name[..12]));
        fs::create_dir(&folder).expect("a folder of a new name can be made");
        let (socket, state) = (folder.join(socket), watch::Sender::new(State::default()));
        let door = Mutex::new(None);
        let inner = Arc::new(Self { language, server, folder, socket, state, door });
        inner.welcome().await;
        inner
    }

    fn through(&self, options: &PgConnectOptions) -> PgConnectOptions {
        options.clone().socket(&self.folder).port(PORT)
    }

    async fn until(&self, condition: impl FnMut(&State) -> bool) {
        drop(self.state.subscribe().wait_for(condition).await);
    }

    async fn refuse(&self) {
        if let Some(accepting) = self.door.lock().await.take() {
            accepting.abort();
            // The socket is closed with the task.
            drop(accepting.await);
        }
    }

    async fn welcome(self: &Arc<Self>) {
        let mut door = self.door.lock().await;
        if door.is_none() {
            drop(fs::remove_file(&self.socket));
            let listener = UnixListener::bind(&self.socket).expect("the socket's name is free");
            *door = Some(tokio::spawn(accept_all(Arc::clone(self), listener)));
        }
    }

    /// Waits for the release of held traffic and for the delay.
    async fn pass(&self) {
        self.until(|state| !state.held).await;
        let delay = self.state.borrow().delay;
        if !delay.is_zero() {
            tokio::time::sleep(delay).await;
        }
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
        tokio::spawn(carry(Arc::clone(&inner), id, Stream::Unix(client)));
    }
}

async fn carry(inner: Arc<Inner>, id: u64, client: Stream) {
    tokio::select! {
        () = inner.until(|state| id < state.cut_below) => {}
        () = converse(&inner, id, client) => {}
    }
    inner.state.send_modify(|state| {
        state.live.remove(&id);
    });
}

/// The end of a connection.
enum Ending {
    /// One side has closed it, or the server is unreachable.
    Closed,
    Cut {
        cut: Cut,
        /// The number of the request on this connection.
        number: u64,
    },
}

async fn converse(inner: &Inner, id: u64, client: Stream) {
    let Ok(server) = inner.server.connect().await else {
        return;
    };
    let line = Line { inner, id, unheard: OnceLock::new() };
    let mut answers = Answers::default();
    let ending = tokio::select! {
        ending = line.ask(&client, &server) => ending,
        ending = line.answer(&server, &client, &mut answers) => ending,
    };
    let Ending::Cut { cut, number } = ending else {
        return;
    };
    if cut.afterwards == Afterwards::Refuse {
        inner.refuse().await;
    }
    drop(client);
    if cut.moment == Moment::Unanswered {
        hear_out(&server, &mut answers, number).await;
    }
}

/// Reads and discards until a request is answered or the server closes.
async fn hear_out(server: &Stream, answers: &mut Answers, number: u64) {
    let mut chunk = vec![0; CHUNK_BYTES];
    while let Ok(count @ 1..) = server.read(&mut chunk).await {
        answers.take_in(&chunk[..count]);
        while let Some(answer) = answers.next() {
            if answer.number == number && answer.is_last() {
                return;
            }
        }
    }
}

/// One connection of a client.
struct Line<'a> {
    inner: &'a Inner,
    id: u64,
    /// The request whose answer is withheld, and its cut.
    unheard: OnceLock<(u64, Cut)>,
}

impl Line<'_> {
    /// Forwards the client's requests.
    async fn ask(&self, client: &Stream, server: &Stream) -> Ending {
        let mut said = Said::default();
        let mut chunk = vec![0; CHUNK_BYTES];
        loop {
            let Ok(count @ 1..) = client.read(&mut chunk).await else {
                return Ending::Closed;
            };
            said.take_in(&chunk[..count]);
            while let Some(piece) = self.next_piece(&mut said) {
                self.inner.pass().await;
                let (bytes, is_request) = match piece {
                    Piece::Request(bytes) => (bytes, true),
                    Piece::Other(bytes) => (bytes, false),
                    Piece::Encryption => {
                        if client.write_all(b"N").await.is_err() {
                            return Ending::Closed;
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
                        return Ending::Cut { cut, number };
                    }
                    Some(cut) if cut.moment == Moment::Unheard => {
                        self.unheard.get_or_init(|| (number, cut));
                    }
                    Some(_) | None => {}
                }
                if server.write_all(&bytes).await.is_err() {
                    return Ending::Closed;
                }
                if let Some(cut) = due.filter(|cut| cut.moment == Moment::Unanswered) {
                    return Ending::Cut { cut, number };
                }
            }
        }
    }

    fn next_piece(&self, said: &mut Said) -> Option<Piece> {
        match self.inner.language {
            Language::Postgres => said.next(),
            Language::Redis => said.all().map(Piece::Other),
        }
    }

    /// Forwards the server's answers.
    async fn answer(&self, server: &Stream, client: &Stream, answers: &mut Answers) -> Ending {
        let mut chunk = vec![0; CHUNK_BYTES];
        loop {
            let Ok(count @ 1..) = server.read(&mut chunk).await else {
                return Ending::Closed;
            };
            self.inner.pass().await;
            if self.inner.language == Language::Redis {
                if client.write_all(&chunk[..count]).await.is_err() {
                    return Ending::Closed;
                }
                continue;
            }
            answers.take_in(&chunk[..count]);
            let mut heard = Vec::with_capacity(count);
            let mut ending = None;
            while let Some(answer) = answers.next() {
                if let Some(sqlstate) = answer.sqlstate() {
                    self.inner.state.send_modify(|state| {
                        *state.errors.entry(sqlstate).or_default() += 1;
                    });
                }
                match self.unheard.get() {
                    Some((number, cut)) if answer.number == *number => {
                        if answer.is_last() {
                            ending = Some(Ending::Cut { cut: *cut, number: *number });
                            break;
                        }
                    }
                    Some(_) | None => heard.extend(answer.message),
                }
            }
            if client.write_all(&heard).await.is_err() {
                return Ending::Closed;
            }
            if let Some(ending) = ending {
                return ending;
            }
        }
    }
}

enum Stream {
    Unix(UnixStream),
    Tcp(TcpStream),
}

impl Stream {
    async fn read(&self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let read = match self {
                Self::Unix(stream) => {
                    stream.readable().await?;
                    stream.try_read(buffer)
                }
                Self::Tcp(stream) => {
                    stream.readable().await?;
                    stream.try_read(buffer)
                }
            };
            match read {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                read => return read,
            }
        }
    }

    async fn write_all(&self, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            let written = match self {
                Self::Unix(stream) => {
                    stream.writable().await?;
                    stream.try_write(bytes)
                }
                Self::Tcp(stream) => {
                    stream.writable().await?;
                    stream.try_write(bytes)
                }
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
