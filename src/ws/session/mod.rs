//! The life of one connection: it greets the client, joins the player's table, handles commands and
//! delivers updates until either side closes.
//!
//! Commands are handled one at a time, and each is answered before the server closes the
//! connection. A panic closes this connection only.
//!
//! There are many connections, and nearly all of them wait. Rare work is therefore boxed while it
//! runs, so that it takes no space in the task otherwise.
//!
//! Bounds: a text of at most 8 KB; a rate of commands (`command_rate`); a bounded queue of unread
//! frames (`link::socket`); a client that is silent for too long is disconnected
//! (`link::monitor`); a client that missed too many updates gets a snapshot.

mod advice;
mod chat;
pub(super) mod command_rate;
pub(super) mod control_events;
mod feed;
mod lobby_refusals;
mod matchmaking;
mod sanctions;
mod spectator;

use std::mem;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::extract::ws::Message as Frame;
use bahay_engine::game::Game;
use bahay_engine::table::{ConnectionId, Input, PlayerId, Readable as _, TableId};
use bahay_engine::variants;
use bahay_shell::{Notice, PlayerSession, SessionCall, SessionEnd};
use futures_util::FutureExt;

use crate::auth::ReturningPlayer;
use crate::entropy;
use crate::ids::Tag;
use crate::live_store::{Point, TicketUpdate};
use crate::rate_limit::{self, Address, ConnectionPermit};
use crate::tables::{TableContext, TableError};
use crate::ws::entry::handshake::{CommandParseError, readable_id};
use crate::ws::entry::session_confirmation::SessionAuthority;
use crate::ws::link::socket::{CloseReason, PlayerSocket, read_error_reason};
use crate::ws::link::writer::MessageWriter;
use crate::ws::protocol::brief::Form;
use crate::ws::protocol::limits::SHUTDOWN_STAGGER;
use crate::ws::protocol::{ActionText, Command, Message, close, read_command};
use crate::ws::refusal::SessionRefusal;
use crate::ws::session::chat::Chat;
use crate::ws::session::command_rate::{CommandRate, RateDecision};
use crate::ws::session::control_events::{ControlEvent, ControlEvents};
use crate::ws::session::feed::{TableFeed, close_reason, next_notice, refusal, table_refusal};
use crate::ws::session::matchmaking::{PendingTicket, news_message, next_ticket_update};
use crate::ws::session::spectator::{Spectator, SpectatorEvent, next_spectator_event};
use crate::ws::state::PlayState;
use bahay_engine::catalog::AnyGame;

/// The timeout of database queries beside the game.
const SIDE_QUERY_TIMEOUT: Duration = Duration::from_millis(500);

type Action = <AnyGame as Game>::Action;

/// A command whose action is not parsed yet, because that requires the table's game.
type UnparsedCommand = Command<ActionText>;

/// A received command, or the reason why the text is none.
pub(super) type ReceivedCommand = Result<UnparsedCommand, CommandParseError>;

/// An input of a session.
enum SessionInput {
    Notice(Option<Notice<AnyGame>>),
    Frame(Option<Result<Frame, axum::Error>>),
    Spectator(SpectatorEvent),
    Ticket(TicketUpdate),
    Control(ControlEvent),
}

/// One authenticated connection of a player.
pub(super) struct Session {
    player: PlayerId,
    /// The rights of the token that opened the connection.
    authority: SessionAuthority,
    /// The table's side of the connection.
    core: PlayerSession<AnyGame>,
    /// The client's address.
    from: Address,
    /// Held until the connection closes.
    _permit: ConnectionPermit,
    state: Arc<PlayState>,
    /// The spectated table; never set while a table is joined.
    spectator: Option<Box<Spectator>>,
    chat: Chat,
    control: ControlEvents,
    seeking: Option<Box<PendingTicket>>,
    form: Form,
    /// Leased to the table while the session waits.
    writer: Arc<MessageWriter>,
    rate: CommandRate,
    received_at: Instant,
    /// The messages to send after the current work.
    pending: Vec<Message<AnyGame>>,
}

impl Session {
    pub(super) fn new(
        player: ReturningPlayer,
        from: Address,
        permit: ConnectionPermit,
        writer: Arc<MessageWriter>,
        state: Arc<PlayState>,
    ) -> Self {
        let now = Instant::now();
        let authority = SessionAuthority::new(player, &state.auth);
        let rate = CommandRate::new(state.rate_limits.commands_per_socket(), now);
        Self {
            player: authority.player,
            core: PlayerSession::new(authority.player, ConnectionId(entropy::uuid())),
            authority,
            from,
            _permit: permit,
            state,
            spectator: None,
            chat: Chat::new(now),
            control: ControlEvents::new(),
            seeking: None,
            form: writer.form(),
            writer,
            rate,
            received_at: now,
            pending: Vec::new(),
        }
    }

    /// Runs the connection until either side closes. `entry` is the id of the command that
    /// authenticated the client, to be acknowledged; `initial` are the commands of the socket
    /// request.
    #[expect(
        clippy::manual_async_fn,
        reason = "an async fn reserves space for its arguments twice"
    )]
    pub(super) fn run(
        mut self,
        mut socket: PlayerSocket,
        entry: Option<u32>,
        initial: Vec<ReceivedCommand>,
    ) -> impl Future<Output = ()> + Send {
        async move {
            let open_socket = self.state.lobby.register_socket(self.player).await;
            if let Some(news) = open_socket.subscribe_to_news() {
                self.control.watch_news(news);
            }
            let served =
                AssertUnwindSafe(self.serve(&mut socket, entry, initial)).catch_unwind().await;
            let ended = served.unwrap_or_else(|_| {
                tracing::error!(player = %self.player, connection = %self.core.connection(),
                    "a session panicked");
                Some((close::INTERNAL, "internal error; connect again"))
            });
            open_socket.close(&self.state.lobby).await;
            match ended {
                // A client that reconnects at once finds its seat unchanged if its disconnect is
                // sent after the close.
                Some(ended @ (close::GOING_AWAY | close::INTERNAL, _)) => {
                    Box::pin(socket.close(ended)).await;
                    Box::pin(self.report_end()).await;
                }
                Some(ended) => {
                    Box::pin(self.report_end()).await;
                    Box::pin(socket.close(ended)).await;
                }
                None => Box::pin(self.report_end()).await,
            }
        }
    }

    /// Serves until the client disconnects (`None`) or must be disconnected.
    async fn serve(
        &mut self,
        socket: &mut PlayerSocket,
        entry: Option<u32>,
        initial: Vec<ReceivedCommand>,
    ) -> Option<CloseReason> {
        self.control.watch_revocations(self.state.auth.revocations().subscribe());
        self.control.watch_shutdown(self.state.stopping.clone(), SHUTDOWN_STAGGER);
        self.control.watch_link(self.writer.clone());
        self.state.links.watch(&self.writer);
        let notices = Box::pin(self.unread_notices()).await;
        self.pending.push(Message::Hello {
            player: self.player,
            protocol: self.form.subprotocol().into(),
            server_time_ms: self.state.lobby.tables().clock().now(),
            notices,
        });
        self.pending.extend(entry.map(|id| Message::Ack { id, version: None }));
        // The session may have been revoked before this subscription.
        let mut ended = self.check_signed_in();
        let mut initial = initial.into_iter();
        loop {
            // The vector is replaced, so that it keeps no capacity.
            let sent = socket.send(mem::take(&mut self.pending).into_iter());
            if let Err(ended) = ended.and(sent) {
                return Some(ended);
            }
            if let Some(command) = initial.next() {
                ended = Box::pin(self.handle_initial_command(command)).await;
                continue;
            }
            self.writer.grant_lease(self.core.direct_lease());
            let input = tokio::select! {
                // Frequent inputs are polled first, so that the others are not polled for them. The
                // others do not starve: a client that always has a frame exceeds its rate limit.
                biased;
                notice = next_notice(&mut self.core) => SessionInput::Notice(notice),
                frame = socket.next_frame() => SessionInput::Frame(frame),
                event = next_spectator_event(&mut self.spectator) => SessionInput::Spectator(event),
                update = next_ticket_update(&mut self.seeking) => SessionInput::Ticket(update),
                event = self.control.next() => SessionInput::Control(event),
            };
            self.core.restore_cursor(self.writer.revoke_lease());
            ended = match input {
                SessionInput::Notice(notice) => {
                    self.present(|core, ctx, feed| core.handle_notice(ctx, feed, notice))
                }
                SessionInput::Frame(Some(Ok(frame))) => match self.read_frame(frame) {
                    Ok(Some(command)) => Box::pin(self.handle_command(command)).await,
                    Ok(None) => Ok(()),
                    Err(ended) => Err(ended),
                },
                // The connection may be broken; then the close frame reaches nobody.
                SessionInput::Frame(Some(Err(error))) => Err(read_error_reason(error)),
                SessionInput::Frame(None) => return None,
                SessionInput::Spectator(event) => self.handle_spectator_event(event),
                SessionInput::Ticket(update) => {
                    self.handle_ticket_update(update);
                    Ok(())
                }
                SessionInput::Control(ControlEvent::Lost) => return None,
                SessionInput::Control(ControlEvent::SessionsRevoked) => self.check_signed_in(),
                SessionInput::Control(ControlEvent::Shutdown) => {
                    Err((close::GOING_AWAY, "the server shuts down; connect again"))
                }
                SessionInput::Control(ControlEvent::Talk(text)) => {
                    Box::pin(self.handle_talk(&text)).await;
                    Ok(())
                }
                SessionInput::Control(ControlEvent::News(news)) => {
                    self.pending.extend(news_message(&news, self.player, &self.state));
                    Ok(())
                }
            };
        }
    }

    /// Returns the number of unread notices, or `None` if the database does not respond in time:
    /// the greeting does not wait for it.
    async fn unread_notices(&mut self) -> Option<u32> {
        let unread = self.state.notices.count_unread(self.player);
        tokio::time::timeout(SIDE_QUERY_TIMEOUT, unread).await.ok()?.ok()
    }

    fn check_signed_in(&self) -> Result<(), CloseReason> {
        if self.state.auth.revocations().contains(self.authority.session) {
            Err((close::SIGNED_OUT, "signed out"))
        } else {
            Ok(())
        }
    }

    /// Reads the command of a frame, unless there is none or it is refused.
    fn read_frame(&mut self, frame: Frame) -> Result<Option<UnparsedCommand>, CloseReason> {
        self.received_at = Instant::now();
        let text = match frame {
            Frame::Text(text) => text,
            // Control frames cost little, but not nothing.
            Frame::Ping(_) | Frame::Pong(_) => {
                return match self.rate.try_acquire(self.received_at) {
                    RateDecision::Allow | RateDecision::Reject => Ok(None),
                    RateDecision::Close => Err((close::TOO_FAST, "too many messages")),
                };
            }
            Frame::Close(_) => return Ok(None),
            Frame::Binary(_) => return Err((close::PROTOCOL, "send JSON as text")),
        };
        self.metrics().messages_in.inc();
        if let Some(hook) = self.state.hooks.before_parse {
            hook(&text);
        }
        self.admit_command(|| {
            read_command(&text).map_err(|error| CommandParseError {
                id: readable_id(&text),
                detail: format!("not a command: {error}"),
            })
        })
    }

    /// Handles a command of the socket request like a message, except that a join only previews the
    /// table until the client sends a command. A client may open several sockets and use one, and
    /// opening a socket changes nothing at a table.
    async fn handle_initial_command(
        &mut self,
        received: ReceivedCommand,
    ) -> Result<(), CloseReason> {
        match self.admit_command(|| received)? {
            Some(Command::Join { id, from, tag, table }) => {
                if Box::pin(self.refuse_banned(id)).await {
                    return Ok(());
                }
                let from = from.zip(tag).map(|(version, tag)| Point { version, tag });
                let ask = self.core.preview(id, from, table);
                self.run_session_calls(id, ask).await
            }
            Some(command) => self.handle_command(command).await,
            None => Ok(()),
        }
    }

    /// Connects a previewing client at its first command. Returns false if the table refused, and
    /// the command with it.
    async fn connect(&mut self, command: &UnparsedCommand) -> Result<bool, CloseReason> {
        if matches!(command, Command::Join { .. } | Command::Authenticate { .. }) {
            return Ok(true);
        }
        let Some(ask) = self.core.connect(command.id()) else {
            return Ok(true);
        };
        self.run_session_calls(command.id(), ask).await?;
        let answer = self.pending.last();
        let refused =
            matches!(answer, Some(Message::Refusal { id, .. }) if *id == Some(command.id()));
        Ok(!refused)
    }

    /// Returns a command that passes the checks of the session, its rate limits and its rights.
    fn admit_command(
        &mut self,
        read: impl FnOnce() -> ReceivedCommand,
    ) -> Result<Option<UnparsedCommand>, CloseReason> {
        self.check_signed_in()?;
        let decision = self.rate.try_acquire(self.received_at);
        if decision == RateDecision::Close {
            return Err((close::TOO_FAST, "too many messages"));
        }
        let command = match read() {
            Ok(command) => command,
            Err(CommandParseError { id, detail }) => {
                self.refuse_with(id, SessionRefusal::Malformed, detail);
                return Ok(None);
            }
        };
        if decision == RateDecision::Reject {
            self.refuse(command.id(), SessionRefusal::TooFast);
            return Ok(None);
        }
        if !self.authority.allows(&command) {
            let detail = "only your own table is available: try again later".to_owned();
            self.refuse_with(Some(command.id()), SessionRefusal::Unavailable, detail);
            return Ok(None);
        }
        if let Err(refused) = self.check_request_rate(&command) {
            let detail = refused.to_string();
            self.refuse_with(Some(command.id()), SessionRefusal::TooFast, detail);
            return Ok(None);
        }
        Ok(Some(command))
    }

    /// Counts commands that are as expensive as REST requests against the account and the address,
    /// so that several sockets do not multiply a client's rate.
    fn check_request_rate(
        &self,
        command: &UnparsedCommand,
    ) -> Result<(), rate_limit::AdmissionError> {
        match command {
            variants!(Command: Join, Watch, Seek, CancelSeek, Hint) => {
                self.state.rate_limits.check_account_request(self.player)?;
                self.state.rate_limits.check_request(self.from)
            }
            variants!(Command: Authenticate, Unwatch, Ready, Reveal, Act, TakeBack, Leave, Say,
                Ping) => Ok(()),
        }
    }

    #[tracing::instrument(level = "debug", skip_all, fields(kind = command.kind()))]
    async fn handle_command(&mut self, command: UnparsedCommand) -> Result<(), CloseReason> {
        let id = command.id();
        let player = self.player;
        if self.core.is_previewing() && !Box::pin(self.connect(&command)).await? {
            return Ok(());
        }
        let input = match command {
            Command::Ping { .. } => {
                self.pending.push(Message::Ack { id, version: None });
                return Ok(());
            }
            Command::Authenticate { .. } => {
                self.refuse(id, SessionRefusal::AlreadyAuthenticated);
                return Ok(());
            }
            Command::Join { from, tag, table, .. } => {
                if Box::pin(self.refuse_banned(id)).await {
                    return Ok(());
                }
                let from = from.zip(tag).map(|(version, tag)| Point { version, tag });
                let ask = self.core.join(id, from, table);
                return Box::pin(self.run_session_calls(id, ask)).await;
            }
            Command::Say { phrase, .. } => {
                Box::pin(self.send_phrase(id, phrase)).await;
                return Ok(());
            }
            Command::Watch { table, .. } => return Box::pin(self.watch(id, table)).await,
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
            Command::Hint { .. } => return Box::pin(self.send_advice(id)).await,
            Command::Ready { game, commitment, .. } => Input::Ready { player, game, commitment },
            Command::Reveal { game, text, .. } => Input::Reveal { player, game, text },
            Command::Act { game, prompt, action, .. } => {
                let Some(kind) = self.core.kind() else {
                    self.refuse(id, SessionRefusal::NotJoined);
                    return Ok(());
                };
                let mut action = serde_json::Deserializer::from_str(action.as_str());
                match AnyGame::read_action(kind, &mut action) {
                    Ok(action) => Input::Act { player, game, prompt, action },
                    Err(error) => {
                        let detail = format!("not an action of {kind}: {error}");
                        self.refuse_with(Some(id), SessionRefusal::Malformed, detail);
                        return Ok(());
                    }
                }
            }
            Command::TakeBack { .. } => Input::TakeBack { player },
            Command::Leave { .. } => Input::Leave { player },
        };
        match self.present(|core, _, feed| Ok(core.submit_command(feed, id, input)))? {
            Some(ask) => self.run_session_calls(id, ask).await,
            None => Ok(()),
        }
    }

    fn metrics(&self) -> &crate::metrics::PlayMetrics {
        self.state.lobby.tables().counts().play()
    }

    /// Runs a step of the shell's session, which queues its messages.
    fn present<T>(
        &mut self,
        act: impl FnOnce(
            &mut PlayerSession<AnyGame>,
            &TableContext<'_, AnyGame>,
            &mut TableFeed<'_>,
        ) -> Result<T, SessionEnd>,
    ) -> Result<T, CloseReason> {
        let Self { core, state, form, player, writer, pending: messages, .. } = self;
        let link = writer.link();
        let tables = state.lobby.tables();
        let hooks = state.hooks;
        let mut feed = TableFeed { tables, player: *player, form: *form, hooks, link, messages };
        act(core, &tables.context(), &mut feed).map_err(close_reason)
    }

    /// Performs the calls of the shell's session until there is none.
    async fn run_session_calls(
        &mut self,
        id: u32,
        ask: SessionCall<AnyGame>,
    ) -> Result<(), CloseReason> {
        let mut next = Some(ask);
        while let Some(ask) = next.take() {
            next = match ask {
                SessionCall::FindSeat => match self.state.lobby.seated_at(self.player).await {
                    Ok(seat) => {
                        self.present(|core, ctx, feed| core.handle_seat(ctx, feed, seat))?
                    }
                    Err(error) => {
                        self.core.cancel_join();
                        self.refuse_lobby(id, &error);
                        None
                    }
                },
                SessionCall::Watch { table, from } => {
                    Box::pin(self.watch_table(table, from)).await?
                }
                SessionCall::Submit { table, input } => {
                    self.submit(table, input).await?;
                    None
                }
            };
        }
        Ok(())
    }

    /// Submits an input to the table and answers the command.
    async fn submit(&mut self, table: TableId, input: Input<Action>) -> Result<(), CloseReason> {
        let submitted = self.state.lobby.tables().submit(table, input).await;
        let is_taken = submitted.is_ok();
        self.present(|core, ctx, feed| core.handle_submitted(ctx, feed, submitted))?;
        if is_taken {
            self.metrics().action_to_ack.observe(self.received_at.elapsed());
        }
        Ok(())
    }

    /// Watches the player's table.
    async fn watch_table(
        &mut self,
        table: TableId,
        from: Option<Tag>,
    ) -> Result<Option<SessionCall<AnyGame>>, CloseReason> {
        let connection = self.core.connection();
        let writer = self.writer.clone();
        let tables = self.state.lobby.tables();
        let watch = tables.watch_directly(table, connection, writer, from).await;
        let next = self.present(|core, ctx, feed| core.handle_watch(ctx, feed, watch))?;
        if next.is_some() || self.core.is_previewing() {
            self.spectator = None;
            self.follow_talk(table).await;
            if from.is_some() {
                self.metrics().resume.observe(self.received_at.elapsed());
            }
        }
        Ok(next)
    }

    /// Reports the end of the connection to its table, joined or not.
    async fn report_end(&mut self) {
        self.state.lobby.tables().handle_connection_end(self.core.connection()).await;
    }

    fn refuse_submit(&mut self, id: u32, error: &TableError<<AnyGame as Game>::Refusal>) {
        let refusal = table_refusal(self.metrics(), self.player, id, error);
        self.pending.push(refusal);
    }

    fn refuse(&mut self, id: u32, refused: SessionRefusal) {
        let refusal = refusal(self.metrics(), Some(id), refused, None);
        self.pending.push(refusal);
    }

    /// Refuses a command with a more precise reason.
    fn refuse_with(&mut self, id: Option<u32>, refused: SessionRefusal, detail: String) {
        let refusal = refusal(self.metrics(), id, refused, Some(detail));
        self.pending.push(refusal);
    }
}
