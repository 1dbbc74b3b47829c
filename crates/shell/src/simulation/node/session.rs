//! A connection at its node: reads the client's commands and sends the messages of the shell's
//! session until either side closes. The counterpart of `src/ws/session.rs`.

use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Context as TaskContext, Poll};

use bahay_engine::table::{
    ConnectionId, Event, Input, PlayerId, REVEAL_MS, Table, TableId, TableView,
};

use crate::simulation::checks::SentMessage;
use crate::simulation::connection::Connection;
use crate::simulation::tasks::{Wait, promise};
use crate::simulation::wire::{Command, Message};
use crate::simulation::{Mutation, PlantedPanic, SimulatedGame, World, player_id, to_json};
use crate::{
    CommandRefusal, Notice, OpenPrompt, PlayerSession, Point, Presenter, SessionCall, SessionEnd,
    TableError, Tag, WatchEnd, WatchRequest,
};

use super::Node;
use super::writer::{DirectMessage, Writer};

/// The timeout of a connection attempt.
const CONNECT_TIMEOUT_MS: u64 = 3_000;

/// The share of seat requests, in thousandths, whose client disconnects during the request, and
/// when.
const HANGS_UP: u32 = 100;
const HANGS_UP_AFTER_MS: (u32, u32) = (0, 4);

/// The share of acks, in thousandths, that are not sent with [`Mutation::ForgetsAcks`].
const FORGETS_ACK: u32 = 10;

impl<G: SimulatedGame> World<G> {
    /// Connects a client to a node. `None` if the node does not respond.
    pub(crate) fn connect(
        self: &Rc<Self>,
        client: usize,
        slot: usize,
    ) -> Wait<Option<Rc<Connection>>> {
        let (promise, wait) = promise(&self.tasks);
        let refused = promise.clone();
        self.schedule(CONNECT_TIMEOUT_MS, move |_| refused.resolve(None));
        self.schedule(self.random_between((10, 160)), move |world| {
            let node = {
                let slots = world.node_slots.borrow();
                let slot = &slots[slot];
                if slot.is_paused {
                    return;
                }
                slot.node.clone()
            };
            let Some(node) = node.filter(|node| node.serves.get()) else {
                promise.resolve(None);
                return;
            };
            let id = ConnectionId(world.new_id());
            let connection = Rc::new(Connection::new(id, client, node.run, &world.tasks));
            world.connections.borrow_mut().insert(id, connection.clone());
            start(&node, connection.clone());
            promise.resolve(Some(connection));
        });
        wait
    }
}

/// Begins to serve a connection.
fn start<G: SimulatedGame>(node: &Rc<Node<G>>, connection: Rc<Connection>) {
    let player = player_id(connection.client);
    let session = Session {
        node: node.clone(),
        core: PlayerSession::new(player, connection.id),
        writer: Arc::new(Writer::new(connection.id, node.world.mutation(), node.written.clone())),
        connection,
    };
    node.spawn(session.run());
}

struct Session<G: SimulatedGame> {
    node: Rc<Node<G>>,
    core: PlayerSession<G>,
    writer: Arc<Writer<G>>,
    connection: Rc<Connection>,
}

/// An input of a session.
enum SessionInput<G: SimulatedGame> {
    Frame(Option<Rc<str>>),
    Notice(Option<Notice<G>>),
}

/// The input of an ack, and the version of its line.
type AckedInput<'a, A> = (&'a Input<A>, u64);

/// Messages, and the input that their ack is about.
struct OutgoingMessages<'a, G: SimulatedGame> {
    node: &'a Node<G>,
    player: PlayerId,
    about: Option<AckedInput<'a, G::Action>>,
    table: Option<TableId>,
    messages: Vec<(Message<G>, Option<TableId>)>,
}

impl<G: SimulatedGame> Presenter<G> for OutgoingMessages<'_, G> {
    fn send_update(
        &mut self,
        at: Point,
        events: Vec<Event<G::Event>>,
        table: &Table<G>,
        is_last: bool,
    ) {
        let view = is_last.then(|| table.view(Some(self.player)));
        let prompt = view.as_ref().and_then(OpenPrompt::from_view::<G>);
        let Point { version, tag } = at;
        let server_time_ms = self.node.time().max(table.last_line_at());
        let update = Message::Update { version, tag, server_time_ms, events, prompt, ack: None };
        self.messages.push((update, Some(table.id())));
    }

    fn send_snapshot(&mut self, at: Point, view: TableView<G>, table: &Table<G>) {
        let server_time_ms = self.node.time().max(table.last_line_at());
        let prompt = OpenPrompt::from_view(&view);
        let table = view.table;
        let version = at.version;
        let tag = at.tag;
        let view = Box::new(view);
        let snapshot = Message::Snapshot { version, tag, server_time_ms, view, prompt };
        self.messages.push((snapshot, Some(table)));
    }

    fn before_showing(&mut self, table: &Table<G>) {
        self.node.panic_if(table, PlantedPanic::Showing);
    }

    fn send_closed(&mut self, table: TableId, _: WatchEnd) {
        self.messages.push((Message::Closed { table }, None));
    }

    fn send_ack(&mut self, id: u32, version: Option<u64>, line: Option<Tag>) {
        let world = &self.node.world;
        if world.has_mutation(Mutation::ForgetsAcks) && world.chance(FORGETS_ACK) {
            return;
        }
        let update = self.messages.iter_mut().find_map(|(message, _)| match message {
            Message::Update { tag, ack, .. } if Some(*tag) == line => Some(ack),
            _ => None,
        });
        match update {
            Some(ack) => *ack = Some(id),
            None => self.messages.push((Message::Ack { id, version }, self.table)),
        }
    }

    fn send_refusal(&mut self, id: u32, why: CommandRefusal<'_, G::Refusal>) {
        let code = match why {
            CommandRefusal::NotJoined => "not_joined",
            CommandRefusal::NotSeated | CommandRefusal::Table(TableError::Missing) => "not_seated",
            CommandRefusal::Table(TableError::Rejected(rejection)) => rejection.code(),
            CommandRefusal::Table(TableError::Halted) => "halted",
            CommandRefusal::Table(TableError::OtherVersion) => "other_version",
            CommandRefusal::Table(TableError::Unavailable(_)) => "unavailable",
        };
        self.messages.push((Message::Refusal { id, code: code.to_owned() }, None));
    }
}

impl<G: SimulatedGame> Session<G> {
    async fn run(mut self) {
        loop {
            if !self.wait_writable().await {
                break;
            }
            let served = match self.next_input().await {
                SessionInput::Frame(Some(text)) => self.handle_frame(&text).await,
                SessionInput::Frame(None) => break,
                SessionInput::Notice(notice) => {
                    self.present(None, |core, node, out| core.handle_notice(&**node, out, notice))
                }
            };
            if served.is_err() {
                break;
            }
        }
        self.connection.close(&self.node.world);
        let node = self.node.clone();
        let connection = self.connection.id;
        // Dropping the session ends its watch before the disconnect.
        drop(self);
        node.handle_connection_end(connection).await;
    }

    async fn wait_writable(&self) -> bool {
        let writable = self.connection.wait_writable(&self.node.world).await;
        self.writer.is_blocked.store(false, Ordering::Relaxed);
        writable
    }

    async fn next_input(&mut self) -> SessionInput<G> {
        self.writer.feed().grant(self.core.direct_lease());
        let input = std::future::poll_fn(|context| self.poll(context)).await;
        let keeps = self.node.world.has_mutation(Mutation::WritesWhileBusy);
        let mut feed = self.writer.feed();
        let cursor = if keeps { feed.cursor() } else { feed.revoke() };
        drop(feed);
        self.core.restore_cursor(cursor);
        input
    }

    fn poll(&mut self, context: &mut TaskContext<'_>) -> Poll<SessionInput<G>> {
        self.writer.is_blocked.store(!self.connection.is_read(), Ordering::Relaxed);
        if let Some(frame) = self.connection.frames.try_pop() {
            return Poll::Ready(SessionInput::Frame(frame));
        }
        if let Some(notices) = self.core.notices()
            && let Poll::Ready(notice) = notices.poll_recv(context)
        {
            return Poll::Ready(SessionInput::Notice(notice));
        }
        self.connection.frames.watch();
        Poll::Pending
    }

    async fn handle_frame(&mut self, text: &str) -> Result<(), SessionEnd> {
        let player = self.core.player();
        let command = serde_json::from_str(text).expect("clients of a run send commands");
        let (id, input) = match command {
            Command::Seat { id } => {
                self.take_seat(id).await;
                return Ok(());
            }
            Command::Join { id, from, tag, table } => {
                let from = from.zip(tag).map(|(version, tag)| Point { version, tag });
                let ask = self.core.join(id, from, table);
                return self.run_session_calls(id, Some(ask)).await;
            }
            Command::Ready { id, game, commitment } => {
                (id, Input::Ready { player, game, commitment })
            }
            Command::Reveal { id, game, text } => (id, Input::Reveal { player, game, text }),
            Command::Act { id, game, prompt, action } => {
                (id, Input::Act { player, game, prompt, action })
            }
            Command::TakeBack { id } => (id, Input::TakeBack { player }),
            Command::Leave { id } => (id, Input::Leave { player }),
        };
        let ask = self.present(None, |core, _, out| Ok(core.submit_command(out, id, input)))?;
        self.run_session_calls(id, ask).await
    }

    /// Requests a seat. In the service this is a REST request, which is dropped if the client
    /// disconnects.
    async fn take_seat(&mut self, id: u32) {
        let player = self.core.player();
        let name = format!("player {}", self.connection.client);
        let world = self.node.world.clone();
        let node = self.node.clone();
        let seat = node.take_seat(player, &name);
        let seated = if !world.is_calm.get() && world.chance(HANGS_UP) {
            let after_ms = world.random_between(HANGS_UP_AFTER_MS);
            let mut seat = std::pin::pin!(seat);
            let mut late = world.sleep(after_ms);
            std::future::poll_fn(|context| {
                if let Poll::Ready(seated) = seat.as_mut().poll(context) {
                    return Poll::Ready(Some(seated));
                }
                std::pin::Pin::new(&mut late).poll(context).map(|()| None)
            })
            .await
        } else {
            Some(seat.await)
        };
        let message = match seated {
            Some(Ok(_)) => Message::Ack { id, version: None },
            Some(Err(error)) => Message::Refusal { id, code: error.to_string() },
            None => {
                world.totals.borrow_mut().abandoned += 1;
                Message::Refusal { id, code: "unavailable".to_owned() }
            }
        };
        self.send(message, None, None);
    }

    /// Performs the calls of the shell's session until there is none.
    async fn run_session_calls(
        &mut self,
        id: u32,
        mut ask: Option<SessionCall<G>>,
    ) -> Result<(), SessionEnd> {
        while let Some(asked) = ask.take() {
            ask = match asked {
                SessionCall::FindSeat => match self.node.find_seat(self.core.player()).await {
                    Ok(seat) => {
                        self.present(None, |core, node, out| core.handle_seat(&**node, out, seat))?
                    }
                    Err(error) => {
                        self.core.cancel_join();
                        let code = error.to_string();
                        self.send(Message::Refusal { id, code }, None, None);
                        None
                    }
                },
                SessionCall::Watch { table, from } => {
                    let connection = self.connection.id;
                    let writer = Some(self.writer.clone() as _);
                    let request = WatchRequest { connection, writer, from };
                    let watch = self.node.watch(table, request).await;
                    self.present(None, |core, node, out| core.handle_watch(&**node, out, watch))?
                }
                SessionCall::Submit { table, input } => {
                    self.submit(id, table, input).await?;
                    None
                }
            };
        }
        Ok(())
    }

    async fn submit(
        &mut self,
        id: u32,
        table: TableId,
        input: Input<G::Action>,
    ) -> Result<(), SessionEnd> {
        let is_reveal = matches!(input, Input::Reveal { .. });
        if is_reveal && self.node.world.has_mutation(Mutation::DealsUnheard) {
            self.node.run_ahead(REVEAL_MS);
        }
        let forgets = is_reveal && self.node.world.has_mutation(Mutation::ForgetsReveals);
        let is_early = forgets || self.node.world.has_mutation(Mutation::AcksBeforeTheAppend);
        if is_early {
            let slot = self.node.slot(table);
            let at = slot.host.borrow().replica().map(|replica| replica.point());
            if let Some(at) = at {
                let version = at.version + 1;
                let ack = Message::Ack { id, version: Some(version) };
                self.send(ack, Some(table), Some((&input, version)));
            }
        }
        if forgets {
            return Ok(());
        }
        let submitted = self.node.submit(table, input.clone()).await;
        let taken = submitted.as_ref().ok().map(|version| (table, (&input, *version)));
        self.present(taken, |core, node, out| core.handle_submitted(&**node, out, submitted))
    }

    /// Runs a step of the shell's session and sends its messages.
    fn present<T>(
        &mut self,
        about: Option<(TableId, AckedInput<'_, G::Action>)>,
        act: impl FnOnce(
            &mut PlayerSession<G>,
            &Rc<Node<G>>,
            &mut OutgoingMessages<'_, G>,
        ) -> Result<T, SessionEnd>,
    ) -> Result<T, SessionEnd> {
        let (table, about) = about.unzip();
        let player = self.core.player();
        let mut out =
            OutgoingMessages { node: &self.node, player, about, table, messages: Vec::new() };
        let outcome = act(&mut self.core, &self.node, &mut out);
        let OutgoingMessages { messages, about, .. } = out;
        for (message, table) in messages {
            self.send(message, table, about);
        }
        outcome
    }

    fn send(
        &self,
        message: Message<G>,
        table: Option<TableId>,
        taken: Option<AckedInput<'_, G::Action>>,
    ) {
        self.node.send(&self.connection, self.core.player(), &message, table, taken);
    }
}

impl<G: SimulatedGame> Node<G> {
    /// Sends an update that a table wrote while the session slept.
    pub(crate) fn send_written(self: &Rc<Self>, written: DirectMessage<G>) {
        let DirectMessage { connection, player, table, message } = written;
        let connection = self.world.connections.borrow().get(&connection).cloned();
        if let Some(connection) = connection {
            self.world.totals.borrow_mut().written_directly += 1;
            self.send(&connection, player, &message, Some(table), None);
        }
    }

    /// Sends a message and shows it to the checks, with the table that it is about and, for an ack,
    /// the stored input.
    fn send(
        &self,
        connection: &Rc<Connection>,
        player: PlayerId,
        message: &Message<G>,
        table: Option<TableId>,
        taken: Option<AckedInput<'_, G::Action>>,
    ) {
        let text = to_json(message);
        let world = &self.world;
        world.update_digest(text.as_bytes());
        if let Some(table) = table {
            let run = self.run;
            let connection = connection.id;
            let sent = SentMessage { run, connection, player, table, taken, message, text: &text };
            world.check(world.checks.borrow_mut().check_message(&sent));
        }
        world.totals.borrow_mut().messages += 1;
        connection.send_down(world, text);
    }
}
