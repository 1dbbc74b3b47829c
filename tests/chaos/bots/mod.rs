//! Real clients: guests that take a seat in a room of each kind, play over the socket, and
//! reconnect to any node as the protocol's page says. Each keeps a [`Journal`] of every text that
//! it sent and received; the checks interpret it.
//!
//! A client thinks for some time, mostly plays what the house's bot would play and sometimes any
//! legal action, and treats a command without an answer for [`ANSWER`] as a broken connection.
//! Orders make it misbehave for a while. When all are to finish, it becomes ready no more, plays
//! its game to the end in haste, and leaves.

mod entry;
mod goals;
mod orders;
pub(crate) mod rest;
mod seat;

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use bahay::ws::protocol::brief::Form;
use bahay::ws::protocol::{Command, Message, MessageReader, SUBPROTOCOL};
use bahay_engine::catalog::AnyGame;
use bahay_engine::game::Game;
use bahay_engine::table::GameId;
use futures_util::{SinkExt as _, StreamExt as _};
use tokio::net::TcpStream;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;
use tokio::time::{sleep, sleep_until, timeout};
use tokio_tungstenite::tungstenite::Message as Frame;
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;
use tokio_tungstenite::tungstenite::http::HeaderValue;
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async};

use crate::dice::Dice;
use crate::journal::{EntryKind, Journal};
use crate::nodes::Node;
use entry::Entries;
use orders::Manners;
use rest::RestError;
use seat::BotTable;

pub(crate) use entry::Programme;
pub(crate) use goals::{Goal, rooms};
pub(crate) use orders::Order;

pub(crate) type Action = <AnyGame as Game>::Action;
type Socket = WebSocketStream<MaybeTlsStream<TcpStream>>;

/// The timeout of a command; after it the connection counts as broken.
const ANSWER: Duration = Duration::from_secs(6);

/// The timeout of a connection attempt.
const CONNECT: Duration = Duration::from_secs(4);

/// The longest think time of a client that is to finish, in ms.
const HURRY_MS: u64 = 40;

/// The interval at which a quiet connection is pinged.
const QUIET: Duration = Duration::from_secs(3);

/// The pause from which on a client counts as having stayed away on purpose.
const ON_PURPOSE: Duration = Duration::from_millis(1_500);

/// The interval at which a client takes its seat back that the AI plays.
const TAKE_BACK: Duration = Duration::from_millis(500);

/// The age at which an access token is renewed; it is valid for 15 minutes.
const TOKEN: Duration = Duration::from_secs(10 * 60);

/// The node number of a client that is not connected.
const NOWHERE: u64 = u64::MAX;

/// A playing client, as seen by others.
#[derive(Debug)]
pub(crate) struct Bot {
    orders: mpsc::UnboundedSender<Order>,
    whereabouts: Arc<Whereabouts>,
    journal: PathBuf,
    task: JoinHandle<()>,
}

#[derive(Debug)]
struct Whereabouts {
    /// The node of the client's current connection.
    node: AtomicU64,
    /// The number of times that the client has joined a table.
    joined: AtomicU64,
}

impl Bot {
    pub(crate) fn start(
        (number, goal): (u64, Goal),
        (seed, thinks_ms): (u64, u64),
        folder: &Path,
        began: Instant,
        nodes: &[Arc<Node>],
        finishing: watch::Receiver<bool>,
    ) -> Self {
        let (orders, ordered) = mpsc::unbounded_channel();
        let whereabouts =
            Arc::new(Whereabouts { node: AtomicU64::new(NOWHERE), joined: AtomicU64::new(0) });
        let path = folder.join(format!("client-{number:03}.log"));
        let (room, entries) = match goal {
            Goal::Room(room) => (Some(room), None),
            Goal::Tournaments(programme) => (None, Some(Entries::new(programme))),
        };
        let client = Client {
            number,
            room,
            entries,
            device: format!("chaos-device-{seed:020}-{number:04}"),
            dice: Dice::new(seed, number + 1),
            thinks_ms,
            journal: Journal::create(&path, began),
            bases: nodes.iter().map(|node| node.gate.base()).collect(),
            ordered,
            finishing,
            whereabouts: Arc::clone(&whereabouts),
            token: None,
            place: BotTable::default(),
            seated: false,
            next_id: 1,
            asked: BTreeMap::new(),
            manners: Manners::default(),
        };
        Self { orders, whereabouts, journal: path, task: tokio::spawn(client.live()) }
    }

    /// Sends an order. A client that has finished ignores it.
    pub(crate) fn order(&self, order: Order) {
        let _ = self.orders.send(order);
    }

    pub(crate) fn is_at(&self, node: u64) -> bool {
        self.whereabouts.node.load(Ordering::Relaxed) == node
    }

    pub(crate) fn has_joined(&self) -> bool {
        self.whereabouts.joined.load(Ordering::Relaxed) > 0
    }

    pub(crate) fn has_finished(&self) -> bool {
        self.task.is_finished()
    }

    /// Returns the client's journal. A client that has not finished is aborted, and its journal may
    /// lack the last few lines.
    pub(crate) async fn journal(self) -> PathBuf {
        self.task.abort();
        // An aborted task ends with an error.
        let _ = self.task.await;
        self.journal
    }
}

/// The state of one connection.
struct Connection {
    socket: Socket,
    reader: MessageReader,
    /// The time of the last frame.
    heard: Instant,
    joined: bool,
    /// The time at which to answer the open prompt, and its game and number.
    answer: Option<(Instant, (GameId, u32))>,
    /// The time from which to send again, after a refusal that asked for it.
    retry_at: Option<Instant>,
    /// The time of the last request to take the seat back from the AI.
    took_back: Option<Instant>,
}

/// The end of a connection.
enum ConnectionEnd {
    /// To be reopened after this time, with the reason.
    For(Duration, String),
    /// The client has finished.
    Finished,
}

struct Client {
    number: u64,
    /// The room in which the client plays, unless it plays tournaments.
    room: Option<&'static str>,
    entries: Option<Entries>,
    device: String,
    dice: Dice,
    /// The longest think time before a move, in ms.
    thinks_ms: u64,
    journal: Journal,
    bases: Vec<String>,
    ordered: mpsc::UnboundedReceiver<Order>,
    finishing: watch::Receiver<bool>,
    whereabouts: Arc<Whereabouts>,
    token: Option<(String, Instant)>,
    place: BotTable,
    /// True if the client believes that it has a seat.
    seated: bool,
    next_id: u32,
    /// The commands without an answer, with the time from which each counts.
    asked: BTreeMap<u32, (Instant, &'static str)>,
    manners: Manners,
}

impl Client {
    async fn live(mut self) {
        let mut failures = 0;
        loop {
            let lost = match self.connect().await {
                Ok(socket) => {
                    failures = 0;
                    let Err(lost) = self.converse(socket).await;
                    self.whereabouts.node.store(NOWHERE, Ordering::Relaxed);
                    lost
                }
                Err(ConnectionEnd::For(pause, why)) => {
                    failures += 1;
                    self.whereabouts.node.store(NOWHERE, Ordering::Relaxed);
                    self.journal.write(&EntryKind::Note(format!("not connected: {why}")));
                    // A growing back-off, as the protocol's page asks for.
                    ConnectionEnd::For(pause * failures.min(8), String::new())
                }
                Err(ConnectionEnd::Finished) => ConnectionEnd::Finished,
            };
            match lost {
                ConnectionEnd::Finished => break,
                ConnectionEnd::For(pause, why) => {
                    if !why.is_empty() {
                        self.journal.write(&EntryKind::Lost(why));
                    }
                    let linger = std::mem::take(&mut self.manners.linger);
                    sleep(pause.max(linger)).await;
                    // After a deliberate absence, the time to reconnect counts from here.
                    if pause.max(linger) > ON_PURPOSE {
                        self.journal.write(&EntryKind::Note("returning".into()));
                    }
                }
            }
        }
        self.journal.close();
    }

    fn again(&mut self, why: impl Into<String>) -> ConnectionEnd {
        let pause = Duration::from_millis(self.dice.within(10, 150));
        ConnectionEnd::For(pause, why.into())
    }

    /// Signs in and takes a seat if needed, and opens a socket to some node.
    async fn connect(&mut self) -> Result<Socket, ConnectionEnd> {
        let node = self.dice.below(self.bases.len() as u64);
        let base = self.bases[usize::try_from(node).expect("a node's number is small")].clone();
        if self.token.as_ref().is_none_or(|(_, since)| since.elapsed() > TOKEN) {
            let name = format!("Chaos {}", self.number);
            match rest::sign_in(&base, &self.device, &name).await {
                Ok((player, token)) => {
                    self.journal.write(&EntryKind::Note(format!("player {player}")));
                    self.token = Some((token, Instant::now()));
                }
                Err(error) => return Err(self.again(format!("signing in: {error}"))),
            }
        }
        let token = self.token.as_ref().map(|(token, _)| token.clone()).unwrap_or_default();
        if !self.seated && self.is_leaving() {
            return Err(ConnectionEnd::Finished);
        }
        let url = format!("{}/v1/play", base.replacen("http", "ws", 1));
        let mut request = url.into_client_request().expect("a gate's address is a URL");
        let headers = request.headers_mut();
        let bearer = HeaderValue::from_str(&format!("Bearer {token}"));
        headers.insert("authorization", bearer.expect("a token is plain text"));
        headers.insert("sec-websocket-protocol", HeaderValue::from_static(SUBPROTOCOL));
        match timeout(CONNECT, connect_async(request)).await {
            Ok(Ok((mut socket, _))) => {
                if !self.seated {
                    // From its hello on the node counts the bot as connected.
                    let greeted = timeout(CONNECT, socket.next()).await;
                    if !matches!(greeted, Ok(Some(Ok(Frame::Text(_))))) {
                        return Err(self.again("a socket without a greeting"));
                    }
                    match self.room {
                        Some(room) => self.take_seat(&base, &token, room).await?,
                        None => {
                            self.note_connection(node);
                            self.wait_for_tournament_table(&mut socket, &base, &token).await?;
                            return Ok(socket);
                        }
                    }
                }
                self.note_connection(node);
                Ok(socket)
            }
            Ok(Err(error)) => {
                if error.to_string().contains("401") {
                    self.token = None;
                }
                Err(self.again(format!("opening a socket: {error}")))
            }
            Err(_) => Err(self.again("opening a socket took too long")),
        }
    }

    fn note_connection(&mut self, node: u64) {
        self.journal.write(&EntryKind::Connected { node });
        self.whereabouts.node.store(node, Ordering::Relaxed);
    }

    /// Returns true if the client gives up its seat between games. A tournament is played to its
    /// end.
    fn is_leaving(&self) -> bool {
        self.room.is_some() && *self.finishing.borrow()
    }

    /// Takes a seat over REST, after the socket was opened.
    async fn take_seat(
        &mut self,
        base: &str,
        token: &str,
        room: &str,
    ) -> Result<(), ConnectionEnd> {
        match rest::seat(base, token, room).await {
            Ok(table) => {
                self.journal.write(&EntryKind::Note(format!("seated at {table}")));
                self.seated = true;
                Ok(())
            }
            Err(RestError::Refused { status: 401, code }) => {
                self.token = None;
                Err(self.again(code))
            }
            Err(error) => Err(self.again(format!("asking for a seat: {error}"))),
        }
    }

    /// Joins and plays until the connection is lost.
    async fn converse(&mut self, socket: Socket) -> Result<Infallible, ConnectionEnd> {
        self.asked.clear();
        let mut reader = MessageReader::new(Form::Full);
        if let Some(kind) = self.place.kind() {
            reader.set_game_kind(kind);
        }
        let heard = Instant::now();
        let mut open = Connection {
            socket,
            reader,
            heard,
            joined: false,
            answer: None,
            retry_at: None,
            took_back: None,
        };
        self.place.join();
        let id = self.take_id();
        let join = self.place.join_from(id);
        self.say(&mut open.socket, &join, "join").await?;
        loop {
            let now = Instant::now();
            if let Some((id, (_, what))) =
                self.asked.iter().find(|(_, (since, _))| since.elapsed() > ANSWER)
            {
                let why = format!("no answer to {what} {id}");
                return Err(self.again(why));
            }
            if std::mem::take(&mut self.manners.leave) && open.joined {
                self.leave(&mut open.socket).await?;
            }
            let finishing = *self.finishing.borrow();
            let idle = Some(now) < self.manners.idle_until && !finishing;
            if open.joined && !idle && open.retry_at.is_none_or(|at| at <= now) {
                open.retry_at = None;
                self.play(&mut open, finishing).await?;
            }
            if open.heard.elapsed() > QUIET && self.asked.is_empty() {
                let ping = Command::Ping { id: self.take_id() };
                self.say(&mut open.socket, &ping, "ping").await?;
            }
            let slow = Some(Instant::now()) < self.manners.slow_until && !finishing;
            let mut wake = now + Duration::from_millis(250);
            if let Some((at, _)) = open.answer {
                wake = wake.min(at);
            }
            tokio::select! {
                order = self.ordered.recv() => {
                    if let Some(order) = order {
                        self.obey(order)?;
                    }
                }
                frame = open.socket.next(), if !slow => {
                    open.heard = Instant::now();
                    match frame {
                        Some(Ok(Frame::Text(text))) => self.receive(text.as_str(), &mut open)?,
                        Some(Ok(Frame::Close(frame))) => {
                            let code = frame.map_or(1005, |frame| frame.code.into());
                            return Err(self.again(format!("closed with {code}")));
                        }
                        Some(Ok(_)) => {}
                        Some(Err(error)) => return Err(self.again(format!("broken: {error}"))),
                        None => return Err(self.again("ended without a word")),
                    }
                }
                () = sleep_until(wake.into()) => {}
            }
        }
    }

    /// Sends the command that is due, if any.
    async fn play(&mut self, open: &mut Connection, finishing: bool) -> Result<(), ConnectionEnd> {
        let is_leaving = self.is_leaving();
        if is_leaving && self.place.may_go() && !self.asked.values().any(|(_, w)| *w == "leave") {
            self.leave(&mut open.socket).await
        } else if let Some(game) = self.place.to_ready().filter(|_| !is_leaving) {
            let text = format!("seed {} of {}", self.dice.below(1 << 30), self.number);
            let id = self.take_id();
            let commitment = Some(self.place.commit(game, || text));
            let ready = Command::Ready { id, game, commitment };
            self.place.readied(game);
            self.say(&mut open.socket, &ready, "ready").await
        } else if let Some((game, text)) = self.place.reveal() {
            let reveal = Command::Reveal { id: self.take_id(), game, text };
            self.say(&mut open.socket, &reveal, "reveal").await
        } else if self.place.wants_back()
            && open.took_back.is_none_or(|at| at.elapsed() > TAKE_BACK)
        {
            open.took_back = Some(Instant::now());
            let take_back = Command::TakeBack { id: self.take_id() };
            self.say(&mut open.socket, &take_back, "take_back").await
        } else if let Some(question) = self.place.to_answer() {
            self.answer(open, question, finishing).await
        } else {
            Ok(())
        }
    }

    /// Answers the open prompt once its think time is over.
    async fn answer(
        &mut self,
        open: &mut Connection,
        question: (GameId, u32),
        finishing: bool,
    ) -> Result<(), ConnectionEnd> {
        let now = Instant::now();
        match open.answer {
            Some((at, of)) if of == question => {
                if at <= now {
                    open.answer = None;
                    if let Some(act) = self.place.act(self.next_id, &mut self.dice) {
                        self.take_id();
                        self.say(&mut open.socket, &act, "act").await?;
                    }
                }
            }
            Some(_) | None => {
                let most_ms = if finishing { HURRY_MS } else { u64::MAX }.min(self.thinks_ms);
                let think = Duration::from_millis(self.dice.within(1, most_ms));
                open.answer = Some((now + think, question));
            }
        }
        Ok(())
    }

    async fn leave(&mut self, socket: &mut Socket) -> Result<(), ConnectionEnd> {
        let leave = Command::Leave { id: self.take_id() };
        self.say(socket, &leave, "leave").await
    }

    /// Applies a message. Fails with the reason if it ends the connection.
    fn receive(&mut self, text: &str, open: &mut Connection) -> Result<(), ConnectionEnd> {
        self.journal.write(&EntryKind::Received(text.to_owned()));
        // The house ended the table.
        if text.starts_with(r#"{"type":"closed""#) {
            self.seated = false;
            self.place.forget();
            return Err(self.again("the table is closed"));
        }
        let Ok(message) = open.reader.read(text.as_bytes()) else {
            return Ok(());
        };
        if !self.place.take(&message) {
            // The checks report the offending message.
            self.place.forget();
            return Err(self.again("an update that does not follow"));
        }
        let acked = match &message {
            Message::Ack { id, .. } => Some(*id),
            Message::Update { ack, .. } => *ack,
            _ => None,
        };
        if let Some((_, what)) = acked.and_then(|id| self.asked.remove(&id)) {
            if what == "join" && !open.joined {
                open.joined = true;
                self.whereabouts.joined.fetch_add(1, Ordering::Relaxed);
            }
            if what == "leave" && !self.place.leave() {
                self.seated = false;
            }
        }
        if let Message::Refusal { id: Some(id), code, retryable, .. } = &message
            && let Some((_, what)) = self.asked.remove(id)
        {
            match (what, code.as_ref()) {
                ("join", "not_seated") => self.seated = false,
                ("join", _) => {
                    let why = format!("join was refused: {code}");
                    return Err(self.again(why));
                }
                (_, "not_joined" | "not_seated" | "table_halted") => self.seated = false,
                (_, _) => {}
            }
            if *retryable {
                self.place.say_again();
                let pause = Duration::from_millis(self.dice.within(50, 300));
                open.retry_at = Some(Instant::now() + pause);
            }
        }
        if self.place.has_lost_its_seat() {
            self.seated = false;
        }
        if !self.seated {
            self.place.forget();
            if self.is_leaving() {
                self.journal.write(&EntryKind::Lost("finished".into()));
                return Err(ConnectionEnd::Finished);
            }
            return Err(self.again("without a seat"));
        }
        Ok(())
    }

    /// Carries out an order. Fails with the reason if it ends the connection.
    fn obey(&mut self, order: Order) -> Result<(), ConnectionEnd> {
        self.journal.write(&EntryKind::Note(format!("ordered: {order:?}")));
        let now = Instant::now();
        match order {
            Order::Drop(away) => return Err(ConnectionEnd::For(away, "dropped".into())),
            Order::Linger(away) => self.manners.linger = away,
            Order::Leave => self.manners.leave = true,
            Order::Slow(long) => {
                self.manners.slow_until = Some(now + long);
                // Nothing is received meanwhile, so no timeout may pass.
                for (since, _) in self.asked.values_mut() {
                    *since = now + long;
                }
            }
            Order::Idle(long) => self.manners.idle_until = Some(now + long),
            Order::Repeat(long) => self.manners.repeat_until = Some(now + long),
            Order::Behave => self.manners = Manners::default(),
        }
        Ok(())
    }

    fn take_id(&mut self) -> u32 {
        self.next_id += 1;
        self.next_id - 1
    }

    async fn say(
        &mut self,
        socket: &mut Socket,
        command: &Command<Action>,
        what: &'static str,
    ) -> Result<(), ConnectionEnd> {
        let text = serde_json::to_string(command).expect("a command is plain data");
        let now = Instant::now();
        let counts_from = self.manners.slow_until.map_or(now, |until| until.max(now));
        self.asked.insert(command.id(), (counts_from, what));
        let times = if Some(now) < self.manners.repeat_until { 2 } else { 1 };
        for _ in 0..times {
            // Recorded before sending, because the command may take effect even if the call fails.
            self.journal.write(&EntryKind::Sent(text.clone()));
            match timeout(ANSWER, socket.send(Frame::Text(text.clone().into()))).await {
                Ok(Ok(())) => {}
                Ok(Err(error)) => return Err(self.again(format!("broken: {error}"))),
                Err(_) => return Err(self.again("a frame could not be sent")),
            }
        }
        Ok(())
    }
}
