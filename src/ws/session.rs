//! The life of one connection: greeted, it joins the table where its player sits, sends commands
//! and is told what happens, until either side goes.
//!
//! One command is carried out at a time, and answered before the connection ends for a reason of
//! ours. A panic ends this connection and nothing else.
//!
//! Bounds: a text of at most 8 KB; 20 commands a second with bursts of 40; what waits for a client
//! is bounded (`wire`); a client that says nothing for [`IDLE`], not even to a ping, is gone; who
//! missed more than [`RESUMED_MAX`] updates is shown the table instead.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::extract::ws::Message as Frame;
use bahay_engine::game::{Game, Viewer};
use bahay_engine::table::{ConnectionId, Input, PlayerId, Table, TableId};
use futures_util::FutureExt;
use tokio::sync::{mpsc, watch};
use tokio::time::{MissedTickBehavior, interval_at};

use crate::auth::Player;
use crate::entropy;
use crate::ids::SessionId;
use crate::lobby::LobbyError;
use crate::tables::catalog::Tongits;
use crate::tables::{Notice, SubmitError};
use crate::ws::door::PlayState;
use crate::ws::limit::{Limit, Verdict};
use crate::ws::protocol::{Command, Message, OpenPrompt, SUBPROTOCOL, close};
use crate::ws::wire::{Ended, Wire};

/// How often a client is pinged.
pub(super) const PING: Duration = Duration::from_secs(20);
/// Silence after which a client is gone.
pub(super) const IDLE: Duration = Duration::from_secs(50);
/// The most updates that resume a connection; a longer gap is closed by a snapshot.
pub(super) const RESUMED_MAX: usize = 64;
/// Over this time a server that stops sends its clients away, so that they do not all come to the
/// next one at once.
pub(super) const STAGGER: Duration = Duration::from_millis(1_500);

type Action = <Tongits as Game>::Action;

/// Where the connection has joined.
struct Seated {
    table: TableId,
    /// The version that the client has.
    version: u64,
    notices: mpsc::Receiver<Notice<Tongits>>,
    /// The table knows this connection; from then on another one means it was replaced.
    confirmed: bool,
}

pub(super) struct Session {
    player: PlayerId,
    /// Of the token that opened the connection.
    session: SessionId,
    connection: ConnectionId,
    state: PlayState,
    seated: Option<Seated>,
    limit: Limit,
    heard_at: Instant,
    /// To be said when what goes on is done.
    pending: Vec<Message<Tongits>>,
}

impl Session {
    pub(super) fn new(player: Player, state: PlayState) -> Self {
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

    /// Until either side has gone. `entry` is the command that said who the player is, to be
    /// acknowledged.
    pub(super) async fn run(mut self, mut wire: Wire, entry: Option<u32>) {
        let served = AssertUnwindSafe(self.serve(&mut wire, entry)).catch_unwind().await;
        let ended = served.unwrap_or_else(|_| {
            tracing::error!(player = %self.player, connection = %self.connection,
                "a session panicked");
            Some((close::INTERNAL, "the server made a mistake; connect again"))
        });
        let seated = self.seated.take().map(|seated| seated.table);
        match ended {
            // Who comes back at once finds the seat as it was, if its end is told after that.
            Some(ended @ (close::GOING_AWAY | close::INTERNAL, _)) => {
                wire.end(ended).await;
                self.disconnect(seated).await;
            }
            Some(ended) => {
                self.disconnect(seated).await;
                wire.end(ended).await;
            }
            None => self.disconnect(seated).await,
        }
    }

    /// Until the client has gone (`None`) or must.
    async fn serve(&mut self, wire: &mut Wire, entry: Option<u32>) -> Option<Ended> {
        let mut growth = self.state.auth.revocations().growth();
        self.pending.push(Message::Hello {
            player: self.player,
            protocol: SUBPROTOCOL.into(),
            server_time_ms: self.state.clock.now(),
        });
        self.pending.extend(entry.map(|id| Message::Ack { id, version: None }));
        let stopping = self.state.stopping.clone();
        let sent_away = async {
            stopped(stopping).await;
            tokio::time::sleep(entropy::up_to(STAGGER)).await;
        };
        tokio::pin!(sent_away);
        // Staggered, so that a burst of connections is not pinged in one burst for ever.
        let first = tokio::time::Instant::now() + entropy::up_to(PING);
        let mut pings = interval_at(first, PING);
        pings.set_missed_tick_behavior(MissedTickBehavior::Delay);
        // The session may have ended before this began to listen.
        let mut ended = self.still_signed_in();
        loop {
            let said = wire.say(self.pending.drain(..)).await;
            if let Err(ended) = ended.and(said) {
                return Some(ended);
            }
            ended = tokio::select! {
                frame = wire.next() => match frame {
                    Some(Ok(frame)) => self.frame(frame).await,
                    // Or the connection broke; then nobody hears it.
                    Some(Err(_)) => Err((close::PROTOCOL, "not readable, or too long")),
                    None => return None,
                },
                notice = next_notice(&mut self.seated) => self.notices(notice),
                () = &mut sent_away => {
                    Err((close::GOING_AWAY, "the server stops; connect again"))
                }
                () = grown(&mut growth) => self.still_signed_in(),
                _ = pings.tick() => {
                    if self.heard_at.elapsed() > IDLE {
                        return None;
                    }
                    wire.ping();
                    Ok(())
                }
            };
        }
    }

    fn still_signed_in(&self) -> Result<(), Ended> {
        if self.state.auth.revocations().contains(self.session) {
            Err((close::SIGNED_OUT, "signed out"))
        } else {
            Ok(())
        }
    }

    async fn frame(&mut self, frame: Frame) -> Result<(), Ended> {
        self.heard_at = Instant::now();
        let text = match frame {
            Frame::Text(text) => text,
            // They cost little, but they cost.
            Frame::Ping(_) | Frame::Pong(_) => {
                return match self.limit.take(self.heard_at) {
                    Verdict::Pass | Verdict::Refuse => Ok(()),
                    Verdict::Close => Err((close::TOO_FAST, "too many messages")),
                };
            }
            Frame::Close(_) => return Ok(()),
            Frame::Binary(_) => return Err((close::PROTOCOL, "send JSON as text")),
        };
        if let Some(tap) = self.state.tap {
            tap(&text);
        }
        self.still_signed_in()?;
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
            Command::Authenticate { .. } => {
                let detail = "this connection has said already who it is".to_owned();
                self.refuse(Some(id), "already_authenticated", None, detail, false);
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
            Some(missed) if missed.len() <= RESUMED_MAX && seat_is_steady(&missed, self.player) => {
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
            confirmed: false,
        });
        let input = Input::Connect { player: self.player, connection: self.connection };
        self.submit(id, table, input).await
    }

    /// A notice and all that wait behind it.
    fn notices(&mut self, first: Option<Notice<Tongits>>) -> Result<(), Ended> {
        let Some(first) = first else {
            return Err((close::TOO_SLOW, "too slow; connect again and resume"));
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
        let viewer = table.seat_of(self.player).map_or(Viewer::Public, Viewer::Seat);
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

    async fn disconnect(&self, table: Option<TableId>) {
        let Some(table) = table else {
            return;
        };
        let input = Input::Disconnect { player: self.player, connection: self.connection };
        match self.state.lobby.tables().submit(table, input).await {
            Ok(_) | Err(SubmitError::Rejected(_) | SubmitError::Missing) => {}
            Err(SubmitError::Unavailable(error)) => {
                tracing::warn!(%table, player = %self.player, %error, "a table was not told that a player is away");
            }
        }
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

/// Until a session has ended somewhere; never, when none can any more.
async fn grown(growth: &mut watch::Receiver<u64>) {
    if growth.changed().await.is_err() {
        std::future::pending::<()>().await;
    }
}

/// Until the server stops.
pub(super) async fn stopped(mut stopping: watch::Receiver<bool>) {
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
pub(super) fn readable_id(text: &str) -> Option<u32> {
    #[derive(serde::Deserialize)]
    struct WithId {
        id: u32,
    }
    serde_json::from_str::<WithId>(text).ok().map(|with_id| with_id.id)
}
