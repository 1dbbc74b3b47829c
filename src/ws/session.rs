//! The life of one connection: greeted, it joins the table where its player sits, sends commands
//! and is told what happens, until either side goes.
//!
//! One command is carried out at a time, and answered before the connection ends for a reason of
//! ours. A panic ends this connection and nothing else.
//!
//! There are many connections, and nearly all of them wait. So what a connection does only now and
//! then is in a box of its own while it is done, and takes no room in the task before and after.
//!
//! Bounds: a text of at most 8 KB; 20 commands a second with bursts of 40; what waits for a client
//! is bounded (`wire`); a client that says nothing for [`IDLE`], not even to a ping, is gone; who
//! missed more than [`RESUMED_MAX`](super::showing::RESUMED_MAX) updates is shown the table instead.

use std::mem;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::extract::ws::Message as Frame;
use bahay_engine::game::Game;
use bahay_engine::table::{ConnectionId, Input, PlayerId, Readable as _, TableId};
use futures_util::FutureExt;
use tokio::sync::watch;

use crate::auth::{AuthError, Player};
use crate::edge::{Address, Place};
use crate::entropy;
use crate::ids::SessionId;
use crate::live_store::{Over, Point};
use crate::lobby::LobbyError;
use crate::tables::{Notice, SubmitError};
use crate::ws::company::Company;
use crate::ws::door::PlayState;
use crate::ws::limit::{Limit, Verdict};
use crate::ws::pen::{Lent, Pen};
use crate::ws::protocol::brief::Form;
use crate::ws::protocol::{Command, Message, close};
use crate::ws::seeking::{Seeking, next_over};
use crate::ws::seldom::{Rare, Seldom};
use crate::ws::showing::{Seated, next_notice};
use crate::ws::spectate::{Seen, Spectator, next_seen};
use crate::ws::wire::{Ended, Wire, unreadable};
use bahay_engine::catalog::AnyGame;

/// How often a client is pinged.
pub(super) const PING: Duration = Duration::from_secs(20);
/// Silence after which a client is gone.
pub(super) const IDLE: Duration = Duration::from_secs(50);
/// Over this time a server that stops sends its clients away, so that they do not all come to the
/// next one at once.
pub(super) const STAGGER: Duration = Duration::from_millis(1_500);

/// How long a connection waits for what the database knows beside the game.
pub(super) const ASIDE_TIMEOUT: Duration = Duration::from_millis(500);

type Action = <AnyGame as Game>::Action;

/// A command whose action has not been read: that takes the game of the table.
type Unread = Command<serde_json::Value>;

/// What a session has waited for.
enum Came {
    Notice(Option<Notice<AnyGame>>),
    Frame(Option<Result<Frame, axum::Error>>),
    Seen(Seen),
    Found(Over),
    Rare(Rare),
}

pub(super) struct Session {
    pub(super) player: PlayerId,
    /// Of the token that opened the connection.
    session: SessionId,
    pub(super) connection: ConnectionId,
    /// Where it comes from.
    pub(super) from: Address,
    /// Held as long as the connection is there.
    _place: Place,
    pub(super) state: Arc<PlayState>,
    pub(super) seated: Option<Seated>,
    /// A table that is watched without a seat; never while one is joined.
    pub(super) spectator: Option<Box<Spectator>>,
    pub(super) company: Company,
    pub(super) seldom: Seldom,
    pub(super) seeking: Option<Box<Seeking>>,
    pub(super) form: Form,
    /// Lent while this waits.
    pen: Arc<Pen>,
    limit: Limit,
    pub(super) heard_at: Instant,
    /// To be said when what goes on is done.
    pub(super) pending: Vec<Message<AnyGame>>,
}

impl Session {
    pub(super) fn new(
        player: Player,
        from: Address,
        place: Place,
        pen: Arc<Pen>,
        state: Arc<PlayState>,
    ) -> Self {
        let now = Instant::now();
        Self {
            player: player.id,
            session: player.session,
            connection: ConnectionId(entropy::uuid()),
            from,
            _place: place,
            state,
            seated: None,
            spectator: None,
            company: Company::new(now),
            seldom: Seldom::new(),
            seeking: None,
            form: pen.form(),
            pen,
            limit: Limit::new(now),
            heard_at: now,
            pending: Vec::new(),
        }
    }

    /// Until either side has gone. `entry` is the command that said who the player is, to be
    /// acknowledged.
    #[expect(clippy::manual_async_fn, reason = "an async fn keeps room twice for what it is given")]
    pub(super) fn run(
        mut self,
        mut wire: Wire,
        entry: Option<u32>,
    ) -> impl Future<Output = ()> + Send {
        async move {
            let served = AssertUnwindSafe(self.serve(&mut wire, entry)).catch_unwind().await;
            let ended = served.unwrap_or_else(|_| {
                tracing::error!(player = %self.player, connection = %self.connection,
                    "a session panicked");
                Some((close::INTERNAL, "the server made a mistake; connect again"))
            });
            match ended {
                // Who comes back at once finds the seat as it was, if its end is told after that.
                Some(ended @ (close::GOING_AWAY | close::INTERNAL, _)) => {
                    Box::pin(wire.end(ended)).await;
                    Box::pin(self.ended()).await;
                }
                Some(ended) => {
                    Box::pin(self.ended()).await;
                    Box::pin(wire.end(ended)).await;
                }
                None => Box::pin(self.ended()).await,
            }
        }
    }

    /// Until the client has gone (`None`) or must.
    async fn serve(&mut self, wire: &mut Wire, entry: Option<u32>) -> Option<Ended> {
        self.seldom.hear_of_ended(self.state.auth.revocations().growth());
        self.seldom.hear_of_stop(self.state.stopping.clone(), STAGGER);
        self.seldom.ping_every(PING);
        let notices = Box::pin(self.unread_notices()).await;
        self.pending.push(Message::Hello {
            player: self.player,
            protocol: self.form.subprotocol().into(),
            server_time_ms: self.state.lobby.tables().clock().now(),
            notices,
        });
        self.pending.extend(entry.map(|id| Message::Ack { id, version: None }));
        // The session may have ended before this began to listen.
        let mut ended = self.still_signed_in();
        loop {
            // Nothing is kept for what will be said next.
            let said = wire.say(mem::take(&mut self.pending).into_iter());
            if let Err(ended) = ended.and(said) {
                return Some(ended);
            }
            self.lend_pen();
            let came = tokio::select! {
                // What comes all the time first, so that nothing else is looked at for it. It does
                // not keep the rest waiting: a client that always has something to say is too fast.
                biased;
                notice = next_notice(&mut self.seated) => Came::Notice(notice),
                frame = wire.next() => Came::Frame(frame),
                seen = next_seen(&mut self.spectator) => Came::Seen(seen),
                over = next_over(&mut self.seeking) => Came::Found(over),
                rare = self.seldom.next() => Came::Rare(rare),
            };
            self.take_pen_back();
            ended = match came {
                Came::Notice(notice) => self.notices(notice),
                Came::Frame(Some(Ok(frame))) => match self.frame(frame) {
                    Ok(Some(command)) => Box::pin(self.command(command)).await,
                    Ok(None) => Ok(()),
                    Err(ended) => Err(ended),
                },
                // Or the connection broke; then nobody hears it.
                Came::Frame(Some(Err(error))) => Err(unreadable(error)),
                Came::Frame(None) => return None,
                Came::Seen(seen) => self.seen(seen),
                Came::Found(over) => {
                    self.found(over);
                    Ok(())
                }
                Came::Rare(Rare::Ping) if self.heard_at.elapsed() > IDLE => return None,
                Came::Rare(Rare::Ping) => {
                    wire.ping();
                    Ok(())
                }
                Came::Rare(Rare::Ended) => self.still_signed_in(),
                Came::Rare(Rare::Stop) => {
                    Err((close::GOING_AWAY, "the server stops; connect again"))
                }
                Came::Rare(Rare::Said(text)) => {
                    Box::pin(self.hear(&text)).await;
                    Ok(())
                }
            };
        }
    }

    /// Has the table write what happens there, as long as this waits.
    fn lend_pen(&self) {
        if let Some(Seated { table, at, confirmed: true, .. }) = self.seated {
            let (player, connection) = (self.player, self.connection);
            self.pen.lend(Lent { table, player, connection, at });
        }
    }

    fn take_pen_back(&mut self) {
        if let (Some(at), Some(seated)) = (self.pen.take_back(), &mut self.seated) {
            seated.at = at;
        }
    }

    /// `None` when the database does not say so soon: the greeting does not wait for it.
    async fn unread_notices(&mut self) -> Option<u32> {
        let unread = self.state.notices.unread(self.player);
        tokio::time::timeout(ASIDE_TIMEOUT, unread).await.ok()?.ok()
    }

    fn still_signed_in(&self) -> Result<(), Ended> {
        if self.state.auth.revocations().contains(self.session) {
            Err((close::SIGNED_OUT, "signed out"))
        } else {
            Ok(())
        }
    }

    /// The command in a frame, if there is one and it is not refused here.
    fn frame(&mut self, frame: Frame) -> Result<Option<Unread>, Ended> {
        self.heard_at = Instant::now();
        let text = match frame {
            Frame::Text(text) => text,
            // They cost little, but they cost.
            Frame::Ping(_) | Frame::Pong(_) => {
                return match self.limit.take(self.heard_at) {
                    Verdict::Pass | Verdict::Refuse => Ok(None),
                    Verdict::Close => Err((close::TOO_FAST, "too many messages")),
                };
            }
            Frame::Close(_) => return Ok(None),
            Frame::Binary(_) => return Err((close::PROTOCOL, "send JSON as text")),
        };
        self.play().messages_in.one();
        if let Some(tap) = self.state.taps.heard {
            tap(&text);
        }
        self.still_signed_in()?;
        let verdict = self.limit.take(self.heard_at);
        if verdict == Verdict::Close {
            return Err((close::TOO_FAST, "too many messages"));
        }
        let command = match serde_json::from_str::<Unread>(&text) {
            Ok(command) => command,
            Err(error) => {
                let id = readable_id(&text);
                self.refuse(id, "malformed", None, format!("not a command: {error}"), false);
                return Ok(None);
            }
        };
        if verdict == Verdict::Refuse {
            let detail = "too many messages: at most 20 a second".to_owned();
            self.refuse(Some(command.id()), "too_fast", None, detail, true);
            return Ok(None);
        }
        Ok(Some(command))
    }

    #[tracing::instrument(level = "debug", skip_all, fields(kind = command.kind()))]
    async fn command(&mut self, command: Unread) -> Result<(), Ended> {
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
            Command::Join { from, tag, table, .. } => {
                let from = from.zip(tag).map(|(version, tag)| Point { version, tag });
                return Box::pin(self.join(id, from, table)).await;
            }
            Command::Say { phrase, .. } => {
                Box::pin(self.say(id, phrase)).await;
                return Ok(());
            }
            Command::Watch { table, .. } => {
                return Box::pin(self.watch(id, table)).await;
            }
            Command::Unwatch { .. } => {
                self.unwatch(id);
                return Ok(());
            }
            Command::Seek { rooms, .. } => {
                Box::pin(self.seek(id, &rooms)).await;
                return Ok(());
            }
            Command::CancelSeek { .. } => {
                Box::pin(self.cancel_seek(id)).await;
                return Ok(());
            }
            Command::Ready { game, seed, .. } => Input::Ready { player, game, seed },
            Command::Act { game, prompt, action, .. } => {
                let Some(kind) = self.seated.as_ref().map(|seated| seated.kind) else {
                    self.refuse_not_joined(id);
                    return Ok(());
                };
                match AnyGame::read_action(kind, action) {
                    Ok(action) => Input::Act { player, game, prompt, action },
                    Err(error) => {
                        let detail = format!("not an action of {kind}: {error}");
                        self.refuse(Some(id), "malformed", None, detail, false);
                        return Ok(());
                    }
                }
            }
            Command::TakeBack { .. } => Input::TakeBack { player },
            Command::Leave { .. } => Input::Leave { player },
        };
        let Some(seated) = &self.seated else {
            self.refuse_not_joined(id);
            return Ok(());
        };
        let table = seated.table;
        self.submit(id, table, input).await
    }

    fn play(&self) -> &crate::metrics::Play {
        self.state.lobby.tables().counts().play()
    }

    /// Has the table decide, and answers the command. What has come in meanwhile is told first,
    /// so that an ack never comes before the effects that it speaks of.
    async fn submit(&mut self, id: u32, table: TableId, input: Input<Action>) -> Result<(), Ended> {
        if let Some(seated) = &mut self.seated {
            seated.notices.look_away();
        }
        match self.state.lobby.tables().submit(table, input).await {
            Ok(version) => {
                self.waiting_notices()?;
                self.pending.push(Message::Ack { id, version: Some(version) });
                self.play().action_to_ack.took(self.heard_at.elapsed());
            }
            Err(error) => {
                self.waiting_notices()?;
                self.refuse_submit(id, &error);
            }
        }
        Ok(())
    }

    async fn join(
        &mut self,
        id: u32,
        from: Option<Point>,
        of: Option<TableId>,
    ) -> Result<(), Ended> {
        let table = match self.state.lobby.seated_at(self.player).await {
            Ok(Some(table)) => table,
            Ok(None) => {
                // What explains it comes first, and nothing of that table after it.
                self.waiting_notices()?;
                self.seated = None;
                let detail = "you do not sit at a table: ask a room for a seat".to_owned();
                self.refuse(Some(id), "not_seated", None, detail, false);
                return Ok(());
            }
            Err(error) => {
                self.refuse_lobby(id, &error);
                return Ok(());
            }
        };
        // What this connection was told already is not told again.
        let told = self.seated.as_ref().filter(|seated| seated.table == table);
        let told = told.map(|seated| seated.at);
        let from = from.filter(|_| of == Some(table)).map(|from| told.unwrap_or(from));
        let tables = self.state.lobby.tables();
        let (player, connection, pen) = (self.player, self.connection, self.pen.clone());
        let watch = match tables.watch_at_once(table, player, connection, pen, from).await {
            Ok(watch) => watch,
            Err(error) => {
                self.refuse_submit(id, &error);
                return Ok(());
            }
        };
        if self.show(&watch).is_err() {
            self.seated = None;
            self.refuse_submit(id, &SubmitError::Halted);
            return Ok(());
        }
        self.spectator = None;
        self.listen(table).await;
        self.seated = Some(Seated {
            table,
            kind: watch.table.terms().rules.kind(),
            at: watch.at,
            notices: watch.notices,
            ending: watch.ending,
            confirmed: false,
        });
        if from.is_some() {
            self.play().resume.took(self.heard_at.elapsed());
        }
        let input = Input::Connect { player: self.player, connection: self.connection };
        self.submit(id, table, input).await?;
        // The seat may have been freed between the look and the connecting.
        if let Some(seated) = &self.seated
            && !seated.confirmed
            && watch.table.seat_of(self.player).is_none()
        {
            self.seated = None;
        }
        Ok(())
    }

    /// The table that is joined.
    pub(super) fn joined(&self) -> Option<TableId> {
        self.seated.as_ref().map(|seated| seated.table)
    }

    /// Whether it is still joined or not: wherever it was, it is gone.
    async fn ended(&mut self) {
        self.state.lobby.tables().ended(self.connection).await;
    }

    pub(super) fn refuse_submit(
        &mut self,
        id: u32,
        error: &SubmitError<<AnyGame as Game>::Illegal>,
    ) {
        match error {
            SubmitError::Rejected(rejection) => {
                let (code, rule) = (rejection.code(), rejection.rule());
                self.refuse(Some(id), code, rule, rejection.to_string(), false);
            }
            SubmitError::Missing => {
                self.refuse(Some(id), "not_seated", None, error.to_string(), false);
            }
            SubmitError::Halted => {
                self.refuse(Some(id), "table_halted", None, error.to_string(), false);
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

    pub(super) fn refuse_lobby(&mut self, id: u32, error: &LobbyError) {
        let (code, retryable) = match error {
            LobbyError::NoSuchRoom => ("room_not_found", false),
            LobbyError::RoomClosed => ("room_closed", false),
            LobbyError::Banned(_) => ("banned", false),
            LobbyError::PlayerGone => (AuthError::Revoked.code(), false),
            LobbyError::TooFewCoins { .. } => ("too_few_coins", false),
            LobbyError::TooManyCoins { .. } => ("too_many_coins", false),
            LobbyError::RoomsWanted => ("rooms_invalid", false),
            LobbyError::TicketUnknown => ("ticket_not_found", false),
            LobbyError::TicketMatched => ("ticket_matched", false),
            LobbyError::Seating => ("seating", true),
            LobbyError::NotSeated => ("not_seated", false),
            LobbyError::Halted => ("table_halted", false),
            LobbyError::OtherVersion => ("other_version", true),
            // Private tables are for REST.
            LobbyError::SeatedElsewhere
            | LobbyError::CodeUnknown
            | LobbyError::BetOutOfBounds
            | LobbyError::Rules(_)
            | LobbyError::Barred
            | LobbyError::TableFull
            | LobbyError::NotHost
            | LobbyError::GameRunning
            | LobbyError::Unavailable(_)
            | LobbyError::Ledger(_) => {
                tracing::warn!(player = %self.player, %error, "a player's table could not be found");
                let detail = "the table cannot be reached just now: try again".to_owned();
                return self.refuse(Some(id), "unavailable", None, detail, true);
            }
        };
        self.refuse(Some(id), code, None, error.to_string(), retryable);
    }

    fn refuse_not_joined(&mut self, id: u32) {
        let detail = "join your table first".to_owned();
        self.refuse(Some(id), "not_joined", None, detail, false);
    }

    pub(super) fn refuse(
        &mut self,
        id: Option<u32>,
        code: &'static str,
        rule: Option<&'static str>,
        detail: String,
        retryable: bool,
    ) {
        self.play().refusals.one("code", code);
        let rule = rule.map(Into::into);
        self.pending.push(Message::Refusal { id, code: code.into(), rule, detail, retryable });
    }
}

/// Until the server stops.
pub(super) async fn stopped(stopping: &mut watch::Receiver<bool>) {
    // Without its sender the server is gone already.
    let _ = stopping.wait_for(|stopping| *stopping).await;
}

/// The id of a text that is no command, if it has one.
pub(super) fn readable_id(text: &str) -> Option<u32> {
    #[derive(serde::Deserialize)]
    struct WithId {
        id: u32,
    }
    serde_json::from_str::<WithId>(text).ok().map(|with_id| with_id.id)
}
