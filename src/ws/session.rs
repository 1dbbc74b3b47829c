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
//! is bounded (`wire`); a client that is silent for too long, even to a ping, is gone (`link_monitor`);
//! who missed too many updates is shown the table instead.

use std::mem;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::extract::ws::Message as Frame;
use bahay_engine::game::Game;
use bahay_engine::table::{ConnectionId, Input, PlayerId, Readable as _, TableId};
use bahay_shell::{SessionCall, SessionEnd, Notice, PlayerSession, Presenter as _, CommandRefusal};
use futures_util::FutureExt;
use tokio::sync::watch;

use crate::auth::ReturningPlayer;
use crate::rate_limit::{self, Address, ConnectionPermit};
use crate::entropy;
use crate::ids::Tag;
use crate::live_store::{TicketUpdate, Point};
use crate::lobby::Invitation;
use crate::tables::{SubmitError, TableContext};
use crate::ws::chat::Chat;
use crate::ws::control::{ControlEvent, ControlEvents};
use crate::ws::door::PlayState;
use crate::ws::feed::{TableFeed, ended, next_notice, refusal, table_refusal};
use crate::ws::limit::{Limit, Verdict};
use crate::ws::opening::Unreadable;
use crate::ws::protocol::brief::Form;
use crate::ws::protocol::{ActionText, Command, Message, close, read_command};
use crate::ws::returning::Standing;
use crate::ws::seeking::{Seeking, next_over};
use crate::ws::spectate::{Seen, Spectator, next_seen};
use crate::ws::wire::{Ended, Wire, unreadable};
use crate::ws::writer::MessageWriter;
use bahay_engine::catalog::AnyGame;

/// Over this time a server that stops sends its clients away, so that they do not all come to the
/// next one at once.
pub(super) const STAGGER: Duration = Duration::from_millis(1_500);

/// How long a connection waits for what the database knows beside the game.
pub(super) const ASIDE_TIMEOUT: Duration = Duration::from_millis(500);

type Action = <AnyGame as Game>::Action;

/// A command whose action has not been read: that takes the game of the table.
type Unread = Command<ActionText>;

/// What was said as a command, or why it is none.
pub(super) type Said = Result<Unread, Unreadable>;

/// What a session has waited for.
enum Came {
    Notice(Option<Notice<AnyGame>>),
    Frame(Option<Result<Frame, axum::Error>>),
    Seen(Seen),
    Found(Over),
    Control(ControlEvent),
}

pub(super) struct Session {
    pub(super) player: PlayerId,
    /// By the token that opened the connection.
    standing: Standing,
    /// What its table shows it.
    pub(super) core: PlayerSession<AnyGame>,
    /// Where it comes from.
    pub(super) from: Address,
    /// Held as long as the connection is there.
    _place: ConnectionPermit,
    pub(super) state: Arc<PlayState>,
    /// A table that is watched without a seat; never while one is joined.
    pub(super) spectator: Option<Box<Spectator>>,
    pub(super) chat: Chat,
    pub(super) control: ControlEvents,
    pub(super) seeking: Option<Box<Seeking>>,
    pub(super) form: Form,
    /// Lent to the table while this waits.
    writer: Arc<MessageWriter>,
    limit: Limit,
    pub(super) heard_at: Instant,
    /// To be said when what goes on is done.
    pub(super) pending: Vec<Message<AnyGame>>,
}

impl Session {
    pub(super) fn new(
        player: ReturningPlayer,
        from: Address,
        place: ConnectionPermit,
        writer: Arc<MessageWriter>,
        state: Arc<PlayState>,
    ) -> Self {
        let now = Instant::now();
        let standing = Standing::new(player, &state.auth);
        Self {
            player: standing.player,
            core: PlayerSession::new(standing.player, ConnectionId(entropy::uuid())),
            standing,
            from,
            _place: place,
            state,
            spectator: None,
            chat: Chat::new(now),
            control: ControlEvents::new(),
            seeking: None,
            form: writer.form(),
            writer,
            limit: Limit::new(now),
            heard_at: now,
            pending: Vec::new(),
        }
    }

    /// Until either side has gone. `entry` is the command that said who the player is, to be
    /// acknowledged; `first` was said in the request for the socket.
    #[expect(clippy::manual_async_fn, reason = "an async fn keeps room twice for what it is given")]
    pub(super) fn run(
        mut self,
        mut wire: Wire,
        entry: Option<u32>,
        first: Vec<Said>,
    ) -> impl Future<Output = ()> + Send {
        async move {
            let open_socket = self.state.lobby.register_socket(self.player).await;
            if let Some(invited) = open_socket.subscribe_to_invitations() {
                self.control.hear_of_invitations(invited);
            }
            let served = AssertUnwindSafe(self.serve(&mut wire, entry, first)).catch_unwind().await;
            let ended = served.unwrap_or_else(|_| {
                tracing::error!(player = %self.player, connection = %self.core.connection(),
                    "a session panicked");
                Some((close::INTERNAL, "the server made a mistake; connect again"))
            });
            open_socket.close(&self.state.lobby).await;
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
    async fn serve(
        &mut self,
        wire: &mut Wire,
        entry: Option<u32>,
        first: Vec<Said>,
    ) -> Option<Ended> {
        self.control.hear_of_ended(self.state.auth.revocations().subscribe());
        self.control.hear_of_stop(self.state.stopping.clone(), STAGGER);
        self.control.hear_of_loss(self.writer.clone());
        self.state.links.watch(&self.writer);
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
        let mut first = first.into_iter();
        loop {
            // Nothing is kept for what will be said next.
            let said = wire.say(mem::take(&mut self.pending).into_iter());
            if let Err(ended) = ended.and(said) {
                return Some(ended);
            }
            if let Some(said) = first.next() {
                ended = Box::pin(self.first(said)).await;
                continue;
            }
            self.writer.grant_lease(self.core.direct_lease());
            let came = tokio::select! {
                // What comes all the time first, so that nothing else is looked at for it. It does
                // not keep the rest waiting: a client that always has something to say is too fast.
                biased;
                notice = next_notice(&mut self.core) => Came::Notice(notice),
                frame = wire.next() => Came::Frame(frame),
                seen = next_seen(&mut self.spectator) => Came::Seen(seen),
                over = next_over(&mut self.seeking) => Came::Found(over),
                event = self.control.next() => Came::Control(event),
            };
            self.core.restore_cursor(self.writer.revoke_lease());
            ended = match came {
                Came::Notice(notice) => {
                    self.speak(|core, ctx, feed| core.notified(ctx, feed, notice))
                }
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
                    self.seek_over(over);
                    Ok(())
                }
                Came::Control(ControlEvent::Lost) => return None,
                Came::Control(ControlEvent::Ended) => self.still_signed_in(),
                Came::Control(ControlEvent::Stop) => {
                    Err((close::GOING_AWAY, "the server stops; connect again"))
                }
                Came::Control(ControlEvent::Said(text)) => {
                    Box::pin(self.hear(&text)).await;
                    Ok(())
                }
                Came::Control(ControlEvent::Invited(invitation)) => {
                    self.pending.push(invited(&invitation));
                    Ok(())
                }
            };
        }
    }

    /// `None` when the database does not say so soon: the greeting does not wait for it.
    async fn unread_notices(&mut self) -> Option<u32> {
        let unread = self.state.notices.count_unread(self.player);
        tokio::time::timeout(ASIDE_TIMEOUT, unread).await.ok()?.ok()
    }

    fn still_signed_in(&self) -> Result<(), Ended> {
        if self.state.auth.revocations().contains(self.standing.session) {
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
        if let Some(hook) = self.state.hooks.heard {
            hook(&text);
        }
        self.checked(|| {
            read_command(&text).map_err(|error| Unreadable {
                id: readable_id(&text),
                detail: format!("not a command: {error}"),
            })
        })
    }

    /// Carries out what was said in the request for the socket, as if it had come as a message; but
    /// who joins so only looks, until it says something. A client may open several sockets and use
    /// one, and asking for a socket changes nothing at a table.
    async fn first(&mut self, said: Said) -> Result<(), Ended> {
        match self.checked(|| said)? {
            Some(Command::Join { id, from, tag, table }) => {
                if Box::pin(self.refuse_banned(id)).await {
                    return Ok(());
                }
                let from = from.zip(tag).map(|(version, tag)| Point { version, tag });
                let ask = self.core.look(id, from, table);
                self.carry_out(id, ask).await
            }
            Some(command) => self.command(command).await,
            None => Ok(()),
        }
    }

    /// Who has only looked is there from the first thing on that it says. `false` where that was
    /// refused, and the command with it.
    async fn connect(&mut self, command: &Unread) -> Result<bool, Ended> {
        if matches!(command, Command::Join { .. } | Command::Authenticate { .. }) {
            return Ok(true);
        }
        let Some(ask) = self.core.connect(command.id()) else {
            return Ok(true);
        };
        self.carry_out(command.id(), ask).await?;
        let said = self.pending.last();
        let refused =
            matches!(said, Some(Message::Refusal { id, .. }) if *id == Some(command.id()));
        Ok(!refused)
    }

    /// A command, if it is one and may be said now.
    fn checked(&mut self, read: impl FnOnce() -> Said) -> Result<Option<Unread>, Ended> {
        self.still_signed_in()?;
        let verdict = self.limit.take(self.heard_at);
        if verdict == Verdict::Close {
            return Err((close::TOO_FAST, "too many messages"));
        }
        let command = match read() {
            Ok(command) => command,
            Err(Unreadable { id, detail }) => {
                self.refuse(id, "malformed", None, detail, false);
                return Ok(None);
            }
        };
        if verdict == Verdict::Refuse {
            let detail = "too many messages: at most 20 a second".to_owned();
            self.refuse(Some(command.id()), "too_fast", None, detail, true);
            return Ok(None);
        }
        if !self.standing.allows(&command) {
            let detail = "only your table can be used just now: try again later".to_owned();
            self.refuse(Some(command.id()), "unavailable", None, detail, true);
            return Ok(None);
        }
        if let Err(refused) = self.metered(&command) {
            self.refuse(Some(command.id()), "too_fast", None, refused.to_string(), true);
            return Ok(None);
        }
        Ok(Some(command))
    }

    /// What costs as much as a request over REST is counted with them, by account and address: who
    /// opens several sockets does not have several times as much.
    fn metered(&self, command: &Unread) -> Result<(), rate_limit::AdmissionError> {
        match command {
            Command::Join { .. }
            | Command::Watch { .. }
            | Command::Seek { .. }
            | Command::CancelSeek { .. }
            | Command::Hint { .. } => {
                self.state.rate_limits.check_account_request(self.player)?;
                self.state.rate_limits.check_request(self.from)
            }
            Command::Authenticate { .. }
            | Command::Unwatch { .. }
            | Command::Ready { .. }
            | Command::Reveal { .. }
            | Command::Act { .. }
            | Command::TakeBack { .. }
            | Command::Leave { .. }
            | Command::Say { .. }
            | Command::Ping { .. } => Ok(()),
        }
    }

    #[tracing::instrument(level = "debug", skip_all, fields(kind = command.kind()))]
    async fn command(&mut self, command: Unread) -> Result<(), Ended> {
        let id = command.id();
        let player = self.player;
        if self.core.is_looking() && !Box::pin(self.connect(&command)).await? {
            return Ok(());
        }
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
                if Box::pin(self.refuse_banned(id)).await {
                    return Ok(());
                }
                let from = from.zip(tag).map(|(version, tag)| Point { version, tag });
                let ask = self.core.join(id, from, table);
                return Box::pin(self.carry_out(id, ask)).await;
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
            Command::Hint { .. } => return Box::pin(self.hint(id)).await,
            Command::Ready { game, commitment, .. } => Input::Ready { player, game, commitment },
            Command::Reveal { game, text, .. } => Input::Reveal { player, game, text },
            Command::Act { game, prompt, action, .. } => {
                let Some(kind) = self.core.kind() else {
                    return self.speak(|_, _, feed| {
                        feed.send_refusal(id, CommandRefusal::NotJoined);
                        Ok(())
                    });
                };
                let mut action = serde_json::Deserializer::from_str(action.as_str());
                match AnyGame::read_action(kind, &mut action) {
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
        match self.speak(|core, _, feed| Ok(core.command(feed, id, input)))? {
            Some(ask) => self.carry_out(id, ask).await,
            None => Ok(()),
        }
    }

    pub(super) fn play(&self) -> &crate::metrics::Play {
        self.state.lobby.tables().counts().play()
    }

    /// Has the shell's session say what it has to.
    pub(super) fn speak<T>(
        &mut self,
        speak: impl FnOnce(
            &mut PlayerSession<AnyGame>,
            &TableContext<'_, AnyGame>,
            &mut TableFeed<'_>,
        ) -> Result<T, SessionEnd>,
    ) -> Result<T, Ended> {
        let Self { core, state, form, player, writer, pending: messages, .. } = self;
        let link = writer.link();
        let (tables, hooks) = (state.lobby.tables(), state.hooks);
        let mut feed = TableFeed { tables, player: *player, form: *form, hooks, link, messages };
        speak(core, &tables.context(), &mut feed).map_err(ended)
    }

    /// Does what the shell's session asks for, until it asks for nothing more.
    async fn carry_out(&mut self, id: u32, ask: SessionCall<AnyGame>) -> Result<(), Ended> {
        let mut next = Some(ask);
        while let Some(ask) = next.take() {
            next = match ask {
                SessionCall::FindSeat => match self.state.lobby.seated_at(self.player).await {
                    Ok(seat) => self.speak(|core, ctx, feed| core.seat_found(ctx, feed, seat))?,
                    Err(error) => {
                        self.core.seat_unknown();
                        self.refuse_lobby(id, &error);
                        None
                    }
                },
                SessionCall::Watch { table, from } => Box::pin(self.watch_own(table, from)).await?,
                SessionCall::Submit { table, input } => {
                    self.submit(table, input).await?;
                    None
                }
            };
        }
        Ok(())
    }

    /// Has the table decide, and answers the command.
    async fn submit(&mut self, table: TableId, input: Input<Action>) -> Result<(), Ended> {
        let submitted = self.state.lobby.tables().submit_noted(table, input).await;
        let is_taken = submitted.is_ok();
        self.speak(|core, ctx, feed| core.submitted(ctx, feed, submitted))?;
        if is_taken {
            self.play().action_to_ack.took(self.heard_at.elapsed());
        }
        Ok(())
    }

    /// Watches the table where the player sits.
    async fn watch_own(
        &mut self,
        table: TableId,
        from: Option<Tag>,
    ) -> Result<Option<SessionCall<AnyGame>>, Ended> {
        let (connection, writer) = (self.core.connection(), self.writer.clone());
        let tables = self.state.lobby.tables();
        let watch = tables.watch_directly(table, connection, writer, from).await;
        let next = self.speak(|core, ctx, feed| core.watched(ctx, feed, watch))?;
        if next.is_some() || self.core.is_looking() {
            self.spectator = None;
            self.listen(table).await;
            if from.is_some() {
                self.play().resume.took(self.heard_at.elapsed());
            }
        }
        Ok(next)
    }

    /// The table that is joined.
    pub(super) fn joined(&self) -> Option<TableId> {
        self.core.joined()
    }

    /// Whether it is still joined or not: wherever it was, it is gone.
    async fn ended(&mut self) {
        self.state.lobby.tables().ended(self.core.connection()).await;
    }

    pub(super) fn refuse_submit(
        &mut self,
        id: u32,
        error: &SubmitError<<AnyGame as Game>::Refusal>,
    ) {
        let refusal = table_refusal(self.play(), self.player, id, error);
        self.pending.push(refusal);
    }

    pub(super) fn refuse(
        &mut self,
        id: Option<u32>,
        code: &'static str,
        rule: Option<&'static str>,
        detail: String,
        retryable: bool,
    ) {
        let refusal = refusal(self.play(), id, code, rule, detail, retryable);
        self.pending.push(refusal);
    }
}

fn invited(invitation: &Invitation) -> Message<AnyGame> {
    let Invitation { code, from, name, game } = invitation.clone();
    Message::Invited { code, from, name, game }
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
