//! The life of one connection: greeted, it joins the table where its player sits, sends commands
//! and is told what happens, until either side goes.
//!
//! Bounds: a text of at most [`MESSAGE_BYTES_MAX`]; 20 commands a second with bursts of 40; at
//! most 64 notices wait for a client, then the connection is closed and the client resumes by
//! version; a client that says nothing for [`IDLE`], not even to a ping, is gone. Everything that
//! waits is written before one flush.

use std::convert::Infallible;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use axum::extract::ws::{CloseFrame, Message as Frame, Utf8Bytes, WebSocket, WebSocketUpgrade};
use axum::extract::{FromRef, State};
use axum::response::Response;
use bahay_engine::game::Game;
use bahay_engine::table::{ConnectionId, Input, PlayerId, Table, TableId};
use futures_util::{SinkExt, StreamExt};
use tokio::sync::{mpsc, watch};
use tokio::time::{MissedTickBehavior, interval_at};

use crate::auth::{Auth, Player};
use crate::clock::Clock;
use crate::entropy;
use crate::ids::SessionId;
use crate::lobby::{Lobby, LobbyError};
use crate::notices::Notices;
use crate::tables::catalog::Tongits;
use crate::tables::{Ending, Notice, SubmitError};
use crate::ws::limit::{Limit, Verdict};
use crate::ws::protocol::{Command, MESSAGE_BYTES_MAX, Message, OpenPrompt, SUBPROTOCOL, close};

/// How often a client is pinged.
pub(super) const PING: Duration = Duration::from_secs(20);
/// Silence after which a client is gone.
pub(super) const IDLE: Duration = Duration::from_secs(50);
/// How long a connection that the server has closed may take to end.
const LINGER: Duration = Duration::from_secs(1);
/// How long the greeting waits for the number of unread notices.
const NOTICES_TIMEOUT: Duration = Duration::from_millis(500);
/// Read and write buffers a connection keeps.
const BUFFER_BYTES: usize = 4096;

type Action = <Tongits as Game>::Action;

/// What connections share.
#[derive(Clone, Debug)]
pub struct PlayState {
    pub auth: Auth,
    pub lobby: Lobby,
    pub notices: Notices,
    /// That of the tables: deadlines are in its time.
    pub clock: Clock,
    /// Turns true when the server stops.
    pub stopping: watch::Receiver<bool>,
    /// Never sent on: who waits for its end waits for the last connection.
    pub alive: mpsc::Sender<Infallible>,
}

impl FromRef<PlayState> for Auth {
    fn from_ref(state: &PlayState) -> Self {
        state.auth.clone()
    }
}

/// `GET /v1/play`: opens the socket for a player whose token was good.
pub(super) async fn upgrade(
    player: Player,
    State(state): State<PlayState>,
    upgrade: WebSocketUpgrade,
) -> Response {
    upgrade
        .protocols([SUBPROTOCOL])
        .read_buffer_size(BUFFER_BYTES)
        .write_buffer_size(BUFFER_BYTES)
        .max_message_size(MESSAGE_BYTES_MAX)
        .max_frame_size(MESSAGE_BYTES_MAX)
        .on_upgrade(move |socket| async move {
            Session::new(player, state).run(socket).await;
        })
}

/// Where the connection has joined.
struct Seated {
    table: TableId,
    /// The version that the client has.
    version: u64,
    notices: mpsc::Receiver<Notice<Tongits>>,
    /// Why the notices have ended, once they have.
    ending: Arc<OnceLock<Ending>>,
    /// The table knows this connection; from then on another one means it was replaced.
    confirmed: bool,
}

struct Session {
    player: PlayerId,
    /// Of the token that opened the connection.
    session: SessionId,
    connection: ConnectionId,
    state: PlayState,
    seated: Option<Seated>,
    limit: Limit,
    heard_at: Instant,
    /// Written and not yet flushed.
    pending: Vec<Message<Tongits>>,
}

/// What ends a connection.
type Ended = (u16, &'static str);

impl Session {
    fn new(player: Player, state: PlayState) -> Self {
        let now = Instant::now();
        Self {
            player: player.id,
            session: player.session,
            connection: ConnectionId(entropy::uuid()),
            state,
            seated: None,
            limit: Limit::new(now),
            heard_at: now,
            pending: Vec::new(),
        }
    }

    async fn run(mut self, mut socket: WebSocket) {
        let ended = self.serve(&mut socket).await;
        // Whether it is still joined or not: wherever it was, it is gone.
        self.state.lobby.tables().ended(self.connection).await;
        if let Some((code, reason)) = ended {
            let frame = CloseFrame { code, reason: Utf8Bytes::from_static(reason) };
            // The client may be gone already.
            let close = socket.send(Frame::Close(Some(frame)));
            let _ = tokio::time::timeout(LINGER, close).await;
            // A socket dropped with something unread is reset, and the client would never see
            // why: read until it has closed its side, or for long enough.
            let unread = async { while let Some(Ok(_)) = socket.next().await {} };
            let _ = tokio::time::timeout(LINGER, unread).await;
        }
    }

    /// Until the client has gone (`None`) or must.
    async fn serve(&mut self, socket: &mut WebSocket) -> Option<Ended> {
        self.pending.push(Message::Hello {
            player: self.player,
            protocol: SUBPROTOCOL.into(),
            server_time_ms: self.state.clock.now(),
            notices: self.unread_notices().await,
        });
        let mut stopping = self.state.stopping.clone();
        // Staggered, so that a burst of connections is not pinged in one burst for ever.
        let first = tokio::time::Instant::now() + entropy::up_to(PING);
        let mut pings = interval_at(first, PING);
        pings.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            // A client that reads nothing for as long as it may be silent is gone too.
            match tokio::time::timeout(IDLE, self.write(socket)).await {
                Ok(Ok(())) => {}
                Ok(Err(_)) | Err(_) => return None,
            }
            let ended = tokio::select! {
                frame = socket.next() => match frame {
                    Some(Ok(frame)) => self.frame(frame).await,
                    // Or the connection broke; then nobody hears it.
                    Some(Err(_)) => Err((close::PROTOCOL, "not readable, or too long")),
                    None => return None,
                },
                notice = next_notice(&mut self.seated) => self.notices(notice),
                () = stopped(&mut stopping) => {
                    Err((close::GOING_AWAY, "the server stops; connect again"))
                }
                _ = pings.tick() => {
                    if self.heard_at.elapsed() > IDLE {
                        return None;
                    }
                    match socket.send(Frame::Ping(Default::default())).await {
                        Ok(()) => Ok(()),
                        Err(_) => return None,
                    }
                }
            };
            if let Err(ended) = ended {
                // What was said before the end is still written, if the client reads it.
                let _ = tokio::time::timeout(LINGER, self.write(socket)).await;
                return Some(ended);
            }
        }
    }

    /// `None` when the database does not say so soon: the greeting does not wait for it.
    async fn unread_notices(&self) -> Option<u32> {
        let unread = self.state.notices.unread(self.player);
        tokio::time::timeout(NOTICES_TIMEOUT, unread).await.ok()?.ok()
    }

    /// Writes all that is pending, then flushes once.
    async fn write(&mut self, socket: &mut WebSocket) -> Result<(), axum::Error> {
        if self.pending.is_empty() {
            return Ok(());
        }
        for message in self.pending.drain(..) {
            let text = serde_json::to_string(&message).map_err(axum::Error::new)?;
            socket.feed(Frame::Text(text.into())).await?;
        }
        socket.flush().await
    }

    async fn frame(&mut self, frame: Frame) -> Result<(), Ended> {
        self.heard_at = Instant::now();
        let text = match frame {
            Frame::Text(text) => text,
            Frame::Ping(_) | Frame::Pong(_) | Frame::Close(_) => return Ok(()),
            Frame::Binary(_) => return Err((close::PROTOCOL, "send JSON as text")),
        };
        if self.state.auth.revocations().contains(self.session) {
            return Err((close::SIGNED_OUT, "signed out"));
        }
        let verdict = self.limit.take(self.heard_at);
        if verdict == Verdict::Close {
            return Err((close::TOO_FAST, "too many messages"));
        }
        let command = match serde_json::from_str::<Command<Action>>(&text) {
            Ok(command) => command,
            Err(error) => {
                let id = readable_id(&text);
                self.refuse(id, "malformed", None, format!("not a command: {error}"), false);
                return Ok(());
            }
        };
        if verdict == Verdict::Refuse {
            let detail = "too many messages: at most 20 a second".to_owned();
            self.refuse(Some(command.id()), "too_fast", None, detail, true);
            return Ok(());
        }
        self.command(command).await
    }

    async fn command(&mut self, command: Command<Action>) -> Result<(), Ended> {
        let id = command.id();
        let player = self.player;
        let input = match command {
            Command::Ping { .. } => {
                self.pending.push(Message::Ack { id, version: None });
                return Ok(());
            }
            Command::Join { from, table, .. } => {
                return self.join(id, from.filter(|_| table.is_some()), table).await;
            }
            Command::Ready { game, seed, .. } => Input::Ready { player, game, seed },
            Command::Act { game, prompt, action, .. } => {
                Input::Act { player, game, prompt, action }
            }
            Command::TakeBack { .. } => Input::TakeBack { player },
            Command::Leave { .. } => Input::Leave { player },
        };
        let Some(seated) = &self.seated else {
            let detail = "join your table first".to_owned();
            self.refuse(Some(id), "not_joined", None, detail, false);
            return Ok(());
        };
        let table = seated.table;
        self.submit(id, table, input).await
    }

    /// Has the table decide, and answers the command. What has come in meanwhile is told first,
    /// so that an ack never comes before the effects that it speaks of.
    async fn submit(&mut self, id: u32, table: TableId, input: Input<Action>) -> Result<(), Ended> {
        match self.state.lobby.tables().submit(table, input).await {
            Ok(version) => {
                self.waiting_notices()?;
                self.pending.push(Message::Ack { id, version: Some(version) });
            }
            Err(error) => self.refuse_submit(id, &error),
        }
        Ok(())
    }

    async fn join(&mut self, id: u32, from: Option<u64>, of: Option<TableId>) -> Result<(), Ended> {
        let table = match self.state.lobby.seated_at(self.player).await {
            Ok(Some(table)) => table,
            Ok(None) => {
                let detail = "you do not sit at a table: ask a room for a seat".to_owned();
                self.refuse(Some(id), "not_seated", None, detail, false);
                return Ok(());
            }
            Err(error) => {
                self.refuse_lobby(id, &error);
                return Ok(());
            }
        };
        let from = from.filter(|_| of == Some(table));
        let tables = self.state.lobby.tables();
        let watch = match tables.watch(table, self.player, self.connection, from).await {
            Ok(watch) => watch,
            Err(error) => {
                self.refuse_submit(id, &error);
                return Ok(());
            }
        };
        match watch.missed {
            Some(missed) if seat_is_steady(&missed, self.player) => {
                let last = missed.len();
                for (place, missed) in (1..).zip(missed) {
                    let prompt_of = (place == last).then_some(&*watch.table);
                    self.update(missed.version, &missed.events, &watch.table, prompt_of);
                }
            }
            Some(_) | None => self.snapshot(watch.version, &watch.table),
        }
        self.seated = Some(Seated {
            table,
            version: watch.version,
            notices: watch.notices,
            ending: watch.ending,
            confirmed: false,
        });
        let input = Input::Connect { player: self.player, connection: self.connection };
        self.submit(id, table, input).await
    }

    /// A notice and all that wait behind it.
    fn notices(&mut self, first: Option<Notice<Tongits>>) -> Result<(), Ended> {
        let Some(first) = first else {
            let ending = self.seated.as_ref().and_then(|seated| seated.ending.get().copied());
            return match ending {
                None => Err((close::TOO_SLOW, "too slow; connect again and resume")),
                Some(Ending::NodeGone) => {
                    Err((close::GOING_AWAY, "this node was away; connect again and resume"))
                }
                Some(Ending::Closed) => {
                    // The connection stays, for the next table.
                    let closed = self.seated.take().map(|seated| seated.table);
                    self.pending.extend(closed.map(|table| Message::Closed { table }));
                    Ok(())
                }
            };
        };
        self.notice(&first)?;
        self.waiting_notices()
    }

    /// The notices that are there already.
    fn waiting_notices(&mut self) -> Result<(), Ended> {
        while let Some(notice) =
            self.seated.as_mut().and_then(|seated| seated.notices.try_recv().ok())
        {
            self.notice(&notice)?;
        }
        Ok(())
    }

    fn notice(&mut self, notice: &Notice<Tongits>) -> Result<(), Ended> {
        let Some(seated) = &mut self.seated else {
            return Ok(());
        };
        if notice.version <= seated.version && !notice.anew {
            return Ok(());
        }
        let is_next = notice.version == seated.version + 1;
        seated.version = notice.version;
        let seat = notice.table.seat_of(self.player);
        let connection =
            seat.and_then(|seat| notice.table.occupant(seat)).map(|who| who.connection);
        let was_confirmed = seated.confirmed;
        seated.confirmed |= connection == Some(Some(self.connection));
        if is_next && !notice.anew {
            self.update(notice.version, &notice.events, &notice.table, Some(&notice.table));
        } else {
            self.snapshot(notice.version, &notice.table);
        }
        match connection {
            // The seat is free: the connection stays, for the next table.
            None => {
                if was_confirmed {
                    self.seated = None;
                }
                Ok(())
            }
            Some(Some(other)) if was_confirmed && other != self.connection => {
                self.seated = None;
                Err((close::REPLACED, "replaced by a newer connection"))
            }
            Some(_) => Ok(()),
        }
    }

    fn update(
        &mut self,
        version: u64,
        events: &Arc<[bahay_engine::table::Event<<Tongits as Game>::Event>]>,
        table: &Table<Tongits>,
        prompt_of: Option<&Table<Tongits>>,
    ) {
        let viewer = table.view(Some(self.player)).viewer();
        let prompt = prompt_of.and_then(|table| OpenPrompt::of(&table.view(Some(self.player))));
        self.pending.push(Message::Update {
            version,
            server_time_ms: self.state.clock.now(),
            events: events.iter().filter_map(|event| event.redact::<Tongits>(viewer)).collect(),
            prompt,
        });
    }

    fn snapshot(&mut self, version: u64, table: &Table<Tongits>) {
        let view = table.view(Some(self.player));
        let prompt = OpenPrompt::of(&view);
        self.pending.push(Message::Snapshot {
            version,
            server_time_ms: self.state.clock.now(),
            view: Box::new(view),
            prompt,
        });
    }

    fn refuse_submit(&mut self, id: u32, error: &SubmitError<<Tongits as Game>::Illegal>) {
        match error {
            SubmitError::Rejected(rejection) => {
                let (code, rule) = (rejection.code(), rejection.rule());
                self.refuse(Some(id), code, rule, rejection.to_string(), false);
            }
            SubmitError::Missing => {
                self.refuse(Some(id), "not_seated", None, error.to_string(), false);
            }
            SubmitError::Halted => {
                self.refuse(Some(id), "halted", None, error.to_string(), false);
            }
            SubmitError::OtherVersion => {
                self.refuse(Some(id), "other_version", None, error.to_string(), true);
            }
            SubmitError::Unavailable(cause) => {
                tracing::warn!(player = %self.player, error = %cause, "a command met no live state");
                let detail = "the table cannot be reached just now: try again".to_owned();
                self.refuse(Some(id), "unavailable", None, detail, true);
            }
        }
    }

    fn refuse_lobby(&mut self, id: u32, error: &LobbyError) {
        let (code, retryable) = match error {
            LobbyError::NoSuchRoom => ("no_such_room", false),
            LobbyError::TooFewCoins { .. } => ("too_few_coins", false),
            LobbyError::Seating => ("seating", true),
            LobbyError::NotSeated => ("not_seated", false),
            LobbyError::Halted => ("halted", false),
            LobbyError::OtherVersion => ("other_version", true),
            LobbyError::Unavailable(_) | LobbyError::Ledger(_) => {
                tracing::warn!(player = %self.player, %error, "a player's table could not be found");
                let detail = "the table cannot be reached just now: try again".to_owned();
                return self.refuse(Some(id), "unavailable", None, detail, true);
            }
        };
        self.refuse(Some(id), code, None, error.to_string(), retryable);
    }

    fn refuse(
        &mut self,
        id: Option<u32>,
        code: &'static str,
        rule: Option<&'static str>,
        detail: String,
        retryable: bool,
    ) {
        let rule = rule.map(Into::into);
        self.pending.push(Message::Refusal { id, code: code.into(), rule, detail, retryable });
    }
}

/// Until the server stops. The guard that the channel gives must not outlive this.
async fn stopped(stopping: &mut watch::Receiver<bool>) {
    // Without its sender the server is gone already.
    let _ = stopping.wait_for(|stopping| *stopping).await;
}

/// The next notice of the table that was joined; never, before that.
async fn next_notice(seated: &mut Option<Seated>) -> Option<Notice<Tongits>> {
    match seated {
        Some(seated) => seated.notices.recv().await,
        None => std::future::pending().await,
    }
}

/// Whether the player kept one seat through all of this, so that one viewer may see all of it.
fn seat_is_steady(missed: &[crate::tables::Missed<Tongits>], player: PlayerId) -> bool {
    use bahay_engine::table::Event;
    missed.iter().flat_map(|missed| missed.events.iter()).all(|event| match event {
        Event::Sat { player: sat, .. } | Event::Left { player: sat, .. } => *sat != player,
        _ => true,
    })
}

/// The id of a text that is no command, if it has one.
fn readable_id(text: &str) -> Option<u32> {
    #[derive(serde::Deserialize)]
    struct WithId {
        id: u32,
    }
    serde_json::from_str::<WithId>(text).ok().map(|with_id| with_id.id)
}
