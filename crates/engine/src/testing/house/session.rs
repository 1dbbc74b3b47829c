//! A connection at its node, as `src/ws/session.rs` has it: the client's commands in, what happens
//! at its table out, redacted for its player, until either side goes.

use alloc::boxed::Box;
use alloc::rc::Rc;
use alloc::string::ToString;
use alloc::vec::Vec;
use core::task::Poll;

use crate::game::Viewer;
use crate::games::tongits::{Action, Event as GameEvent, Tongits};
use crate::table::{Event, Input, PlayerId, Table, TableId};
use crate::testing::house::Mutation;
use crate::testing::house::checks::Sent;
use crate::testing::house::client::{name_of, player_of};
use crate::testing::house::connection::Connection;
use crate::testing::house::lobby::LobbyError;
use crate::testing::house::node::Node;
use crate::testing::house::redis::{Point, Registration, Request};
use crate::testing::house::slot::{Missed, Notice, Outbox, SubmitError, written};
use crate::testing::house::wire::{Command, Message, OpenPrompt};

/// Begins to serve a connection.
pub(super) fn start(node: &Rc<Node>, connection: Rc<Connection>) {
    let player = player_of(connection.client);
    let session = Session { node: node.clone(), player, connection, seated: None };
    node.spawn(session.run());
}

/// Where the connection has joined.
struct Seated {
    table: TableId,
    /// What the client has been told.
    at: Point,
    outbox: Rc<Outbox>,
    /// The table knows this connection; from then on another one means it was replaced.
    confirmed: bool,
}

struct Session {
    node: Rc<Node>,
    player: PlayerId,
    connection: Rc<Connection>,
    seated: Option<Seated>,
}

/// The connection is at its end.
struct Ended;

/// What a session waits for.
enum Next {
    Frame(Option<Rc<str>>),
    Notice(Option<Notice>),
}

impl Session {
    async fn run(mut self) {
        loop {
            if !self.connection.writable(&self.node.world).await {
                break;
            }
            let served = match self.next().await {
                Next::Frame(Some(text)) => self.frame(&text).await,
                Next::Frame(None) => break,
                Next::Notice(notice) => self.notices(notice),
            };
            if let Err(Ended) = served {
                break;
            }
        }
        self.connection.close(&self.node.world);
        if let Some(registration) = self.leave_table() {
            self.node.disconnect(registration).await;
        }
    }

    async fn next(&self) -> Next {
        let frames = &self.connection.frames;
        let notices = self.seated.as_ref().map(|seated| &seated.outbox.notices);
        core::future::poll_fn(|_| {
            if let Some(frame) = frames.try_pop() {
                return Poll::Ready(Next::Frame(frame));
            }
            if let Some(notice) = notices.and_then(|notices| notices.try_pop()) {
                return Poll::Ready(Next::Notice(notice));
            }
            frames.watch();
            if let Some(notices) = notices {
                notices.watch();
            }
            Poll::Pending
        })
        .await
    }

    /// Watches no more; gives what the table is to be told of it.
    fn leave_table(&mut self) -> Option<Registration> {
        let Seated { table, outbox, .. } = self.seated.take()?;
        outbox.is_closed.set(true);
        Some(Registration { table, player: self.player, connection: self.connection.id })
    }

    async fn frame(&mut self, text: &str) -> Result<(), Ended> {
        let player = self.player;
        let command = serde_json::from_str(text).expect("clients of a run send commands");
        let (id, input) = match command {
            Command::Seat { id } => {
                match self.node.clone().seat(player, &name_of(self.connection.client)).await {
                    Ok(_) => self.send(Message::Ack { id, version: None }, None),
                    Err(error) => self.refuse(id, code_of(error)),
                }
                return Ok(());
            }
            Command::Join { id, from, tag, table } => {
                let from = from.zip(tag).map(|(version, tag)| Point { version, tag });
                return self.join(id, from, table).await;
            }
            Command::Ready { id, game, seed } => (id, Input::Ready { player, game, seed }),
            Command::Act { id, game, prompt, action } => {
                (id, Input::Act { player, game, prompt, action })
            }
            Command::TakeBack { id } => (id, Input::TakeBack { player }),
            Command::Leave { id } => (id, Input::Leave { player }),
        };
        match &self.seated {
            Some(seated) => {
                self.submit(id, seated.table, input).await?;
            }
            None => self.refuse(id, "not_joined"),
        }
        Ok(())
    }

    /// Has the table decide, and answers. What has come in meanwhile is told first, so that an
    /// answer never comes before what it speaks of. Gives why the input was not taken.
    async fn submit(
        &mut self,
        id: u32,
        table: TableId,
        input: Input<Action>,
    ) -> Result<Option<SubmitError>, Ended> {
        if self.is(Mutation::AcksBeforeTheAppend)
            && let Some((_, version)) = self.node.slot(table).current().await
        {
            let version = Some(version + 1);
            self.send(Message::Ack { id, version }, Some((table, &input)));
            let submitted = self.node.clone().submit(table, input).await;
            self.waiting_notices()?;
            return Ok(submitted.err());
        }
        let submitted = self.node.clone().submit(table, input.clone()).await;
        self.waiting_notices()?;
        match submitted {
            Ok(version) => {
                let version = Some(version);
                self.send(Message::Ack { id, version }, Some((table, &input)));
            }
            Err(SubmitError::Rejected(rejection)) => self.refuse(id, rejection.code()),
            Err(SubmitError::Missing) => self.refuse(id, "not_seated"),
            Err(SubmitError::Unavailable) => self.refuse(id, "unavailable"),
        }
        Ok(submitted.err())
    }

    async fn join(
        &mut self,
        id: u32,
        from: Option<Point>,
        of: Option<TableId>,
    ) -> Result<(), Ended> {
        let table = match self.node.clone().seated_at(self.player).await {
            Ok(Some(table)) => table,
            Ok(None) => {
                // Where it sat before is told to its end, and then no more.
                if !self.is(Mutation::WatchesAfterARefusedJoin) {
                    self.waiting_notices()?;
                    self.free_of_table();
                }
                self.refuse(id, "not_seated");
                return Ok(());
            }
            Err(error) => {
                self.refuse(id, code_of(error));
                return Ok(());
            }
        };
        // Registered first: a node that dies between the two leaves nobody connected for ever.
        let (player, connection) = (self.player, self.connection.id);
        let registration = Registration { table, player, connection };
        if self.node.redis(Request::Register(registration)).await.is_err() {
            self.refuse(id, "unavailable");
            return Ok(());
        }
        let from = from.filter(|_| of == Some(table));
        // On a connection that has joined before, what was sent there counts, and not what the
        // client had when it asked: the rest was on its way, and must not come twice.
        let sent = self.seated.as_ref().filter(|seated| seated.table == table);
        let sent = sent.filter(|_| !self.is(Mutation::RepeatsWhatWasSent));
        let from = from.map(|from| sent.map_or(from, |seated| seated.at));
        let watch = match self.node.slot(table).watch(&self.node, connection, from).await {
            Ok(watch) => watch,
            Err(error) => {
                let code = if error == SubmitError::Missing { "not_seated" } else { "unavailable" };
                self.refuse(id, code);
                return Ok(());
            }
        };
        // Freed since it was looked up: nothing of this table is told.
        let lingers = self.is(Mutation::WatchesAfterARefusedJoin);
        if watch.table.seat_of(player).is_none() && !lingers {
            watch.outbox.is_closed.set(true);
            self.waiting_notices()?;
            self.free_of_table();
            self.refuse(id, "not_seated");
            return Ok(());
        }
        match watch.missed {
            Some(missed) if seat_is_steady(&missed, player) => {
                let last = missed.len();
                for (place, missed) in (1..).zip(missed) {
                    let table = &watch.table;
                    self.update(missed.at, &missed.events, table, place == last);
                }
            }
            Some(_) | None => self.snapshot(watch.at, &watch.table),
        }
        if let Some(before) = self.seated.take() {
            before.outbox.is_closed.set(true);
        }
        let (at, outbox) = (watch.at, watch.outbox);
        self.seated = Some(Seated { table, at, outbox, confirmed: false });
        let refused = self.submit(id, table, Input::Connect { player, connection }).await?;
        // The seat was freed meanwhile: nothing more of this table is told.
        if refused.is_some_and(|error| error != SubmitError::Unavailable) && !lingers {
            self.free_of_table();
        }
        Ok(())
    }

    fn notices(&mut self, first: Option<Notice>) -> Result<(), Ended> {
        self.notice(first)?;
        self.waiting_notices()
    }

    fn waiting_notices(&mut self) -> Result<(), Ended> {
        while let Some(notice) =
            self.seated.as_ref().and_then(|seated| seated.outbox.notices.try_pop())
        {
            self.notice(notice)?;
        }
        Ok(())
    }

    fn notice(&mut self, notice: Option<Notice>) -> Result<(), Ended> {
        // Too slow: the client connects anew and resumes.
        let Some(notice) = notice else {
            self.node.world.tally.borrow_mut().slow_watchers += 1;
            return Err(Ended);
        };
        let Some(seated) = &mut self.seated else {
            return Ok(());
        };
        if notice.at.version <= seated.at.version && !notice.anew {
            return Ok(());
        }
        let is_next = notice.at.version == seated.at.version + 1 && !notice.anew;
        seated.at = notice.at;
        let seat = notice.table.seat_of(self.player);
        let known = seat.and_then(|seat| notice.table.occupant(seat)).map(|who| who.connection);
        let was_confirmed = seated.confirmed;
        let own = self.connection.id;
        seated.confirmed |= known == Some(Some(own));
        if is_next || self.is(Mutation::OverlooksGaps) {
            self.update(notice.at, &notice.events, &notice.table, true);
        } else {
            self.snapshot(notice.at, &notice.table);
        }
        match known {
            None if was_confirmed || !self.is(Mutation::WatchesAfterARefusedJoin) => {
                self.free_of_table();
                Ok(())
            }
            // The history that this connection joined is lost: it joins the one that there is.
            Some(other) if was_confirmed && notice.parted && other != Some(own) => {
                self.free_of_table();
                Err(Ended)
            }
            Some(Some(other)) if was_confirmed && other != own => {
                self.free_of_table();
                Err(Ended)
            }
            None | Some(_) => Ok(()),
        }
    }

    /// The table knows another connection of the player, or the player no more.
    fn free_of_table(&mut self) {
        let Some(registration) = self.leave_table() else {
            return;
        };
        let node = self.node.clone();
        self.node.spawn(async move {
            let _ = node.redis(Request::Unregister { run: node.run, registration }).await;
        });
    }

    fn update(
        &self,
        at: Point,
        events: &[Event<GameEvent>],
        table: &Table<Tongits>,
        shows_prompt: bool,
    ) {
        let view = table.view(Some(self.shown_to(table)));
        let viewer =
            if self.is(Mutation::ForgetsToRedact) { Viewer::Everything } else { view.viewer() };
        let events: Vec<_> =
            events.iter().filter_map(|event| event.redact::<Tongits>(viewer)).collect();
        let prompt = if shows_prompt { OpenPrompt::of(&view) } else { None };
        let Point { version, tag } = at;
        let update = Message::Update { version, tag, events, prompt };
        self.send(update, Some((table.id(), &Input::Tick)));
    }

    fn snapshot(&self, at: Point, table: &Table<Tongits>) {
        let view = table.view(Some(self.shown_to(table)));
        let prompt = OpenPrompt::of(&view);
        let Point { version, tag } = at;
        let snapshot = Message::Snapshot { version, tag, view: Box::new(view), prompt };
        self.send(snapshot, Some((table.id(), &Input::Tick)));
    }

    /// Whose view goes out: the player's own.
    fn shown_to(&self, table: &Table<Tongits>) -> PlayerId {
        let other = table.occupants().find(|(_, other)| other.player != self.player);
        match other {
            Some((_, other)) if self.is(Mutation::ShowsAnothersView) => other.player,
            Some(_) | None => self.player,
        }
    }

    fn is(&self, mutation: Mutation) -> bool {
        self.node.world.mutation() == Some(mutation)
    }

    fn refuse(&self, id: u32, code: &str) {
        self.send(Message::Refusal { id, code: code.to_string() }, None);
    }

    /// Sends a message, which the checks see as it goes out. `about` is the table that it speaks
    /// of and, with an ack, the input that was taken.
    fn send(&self, message: Message, about: Option<(TableId, &Input<Action>)>) {
        let text = written(&message);
        let world = &self.node.world;
        world.fold(text.as_bytes());
        let (player, run) = (self.player, self.node.run);
        if let Some((table, input)) = about {
            let sent = Sent { run, player, table, input, message: &message, text: &text };
            world.check(world.checks.borrow_mut().sent(&sent));
        }
        world.tally.borrow_mut().messages += 1;
        self.connection.send_down(world, text);
    }
}

fn code_of(error: LobbyError) -> &'static str {
    match error {
        LobbyError::TooFewCoins => "too_few_coins",
        LobbyError::Seating => "seating",
        LobbyError::Unavailable => "unavailable",
    }
}

/// Whether the player kept one seat through all of this, so that one viewer may see all of it.
fn seat_is_steady(missed: &[Missed], player: PlayerId) -> bool {
    missed.iter().flat_map(|missed| missed.events.iter()).all(|event| match event {
        Event::Sat { player: sat, .. } | Event::Left { player: sat, .. } => *sat != player,
        _ => true,
    })
}
