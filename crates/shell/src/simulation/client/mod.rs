//! A player with a client. The client asks for a seat, joins, applies the updates to a view of its
//! own, and plays the house AI's action for that view at human speed. It goes silent, drops, reads
//! slowly, leaves, sends commands twice or wrongly, and reconnects to any node: then it resumes by
//! version and resends unacknowledged actions.

mod intents;
mod repeated_joins;
mod seed;

use std::collections::BTreeMap;
use std::rc::Rc;

use crate::simulation::checks::{MessageTarget, ShownVersion};
use crate::simulation::connection::Connection;
use crate::simulation::tasks::Owner;
use crate::simulation::wire::{Command, Message};
use crate::simulation::{SimulatedGame, World, player_id, to_json};
use crate::{OpenPrompt, Tag};
use bahay_engine::table::{ConnectionId, GameId, PhaseView, PlayerId, TableView};

pub(super) use intents::{ClientEvent, Intent};

/// The time between a prompt and the action.
const THINKING_MS: (u32, u32) = (300, 4_000);

/// The silence after which a client rejoins, and a quarter of it later reconnects.
const SILENCE_MS: u64 = 25_000;

/// How long a player waits for others before it leaves.
const PATIENCE_MS: (u32, u32) = (20_000, 90_000);

/// Misbehaviour in place of an action, in thousandths of the prompts.
const SILENT: u32 = 40;
const DROPS: u32 = 40;
const LEAVES: u32 = 6;
/// Misbehaviour beside an action.
const SENDS_TWICE: u32 = 40;
const SENDS_NONSENSE: u32 = 40;
/// The share of updates after which the client stops reading for a while.
const READS_SLOWLY: u32 = 4;
const READS_AFTER_MS: (u32, u32) = (1_000, 45_000);
/// The share of games for which the player is not ready, and that of clients that commit to a seed.
const NOT_READY: u32 = 10;
const COMMITS: u32 = 800;
/// The share of reveals that come too late.
const REVEALS_LATE: u32 = 60;
const REVEALED_MS: (u32, u32) = (20, 400);
const REVEALED_LATE_MS: (u32, u32) = (1_700, 2_600);

/// A command that waits for its answer.
#[derive(Clone, PartialEq)]
pub(super) enum Request<A> {
    Seat,
    Join {
        /// Ask for a snapshot, whatever is known.
        is_full: bool,
    },
    Reveal,
    Act {
        game: GameId,
        prompt: u32,
        action: A,
    },
    Leave,
    Other,
}

/// The client's copy of the table.
pub(super) struct KnownTable<G: SimulatedGame> {
    version: u64,
    tag: Tag,
    pub(super) view: TableView<G>,
}

pub(super) struct Client<G: SimulatedGame> {
    pub(super) world: Rc<World<G>>,
    pub(super) number: usize,
    pub(super) player: PlayerId,
    pub(super) connection: Option<Rc<Connection>>,
    pub(super) known: Option<KnownTable<G>>,
    /// The commands that wait for an answer on this connection.
    pub(super) pending: BTreeMap<u32, Request<G::Action>>,
    /// An action that is neither acknowledged nor refused, on any connection.
    unanswered: Option<Request<G::Action>>,
    intended: Option<Intent>,
    /// The seed text of the last game that the client committed to; kept for a resent command.
    pub(super) seed_text: Option<(GameId, String)>,
    pub(super) next_id: u32,
    messages_received: u64,
    /// The pause before the next connection, in ms.
    away_ms: u64,
}

/// The reason why a client stops using its connection.
enum Exit {
    Connection,
    Player,
}

impl<G: SimulatedGame> Client<G> {
    /// Adds a player to the house.
    pub(super) fn start(world: &Rc<World<G>>, number: usize) {
        let client = Self {
            world: world.clone(),
            number,
            player: player_id(number),
            connection: None,
            known: None,
            pending: BTreeMap::new(),
            unanswered: None,
            intended: None,
            seed_text: None,
            next_id: 0,
            messages_received: 0,
            away_ms: world.random_between((0, 5_000)),
        };
        world.spawn(Owner::Client(number), client.run());
    }

    async fn run(mut self) {
        loop {
            let away_ms = std::mem::take(&mut self.away_ms);
            self.world.sleep(away_ms).await;
            let slot = self.world.random_slot();
            let connected = self.world.connect(self.number, slot).await;
            let Some(connection) = connected else {
                self.away_ms = self.world.random_between((100, 1_500));
                continue;
            };
            self.connection = Some(connection);
            self.pending.clear();
            self.intended = None;
            self.watch_silence(false);
            self.rejoin_or_seat();
            if let Exit::Player = self.handle_events().await {
                return;
            }
            if let Some(connection) = self.connection.take() {
                let node_after_ms = if self.world.chance(700) {
                    50
                } else {
                    self.world.random_between((0, 50_000))
                };
                self.world.break_off(&connection, 0, node_after_ms);
            }
            self.away_ms = self.away_ms.max(self.world.random_between((50, 1_000)));
        }
    }

    async fn handle_events(&mut self) -> Exit {
        loop {
            let world = self.world.clone();
            let event = world.clients[self.number].pop().await;
            let own = self.own_connection();
            let done = match event {
                ClientEvent::Message(from, text) if Some(from) == own => {
                    self.messages_received += 1;
                    self.handle_message(&text)
                }
                ClientEvent::Disconnected(id) if Some(id) == own => Err(Exit::Connection),
                ClientEvent::Message(..) | ClientEvent::Disconnected(_) => Ok(()),
                ClientEvent::Alarm(intent) => self.handle_alarm(intent).await,
            };
            if let Err(over) = done {
                return over;
            }
        }
    }

    pub(super) fn own_connection(&self) -> Option<ConnectionId> {
        self.connection.as_ref().map(|connection| connection.id)
    }

    /// Rejoins the known table, or asks for a seat.
    pub(super) fn rejoin_or_seat(&mut self) {
        if self.known.is_some() || self.world.is_closing.get() {
            self.join()
        } else {
            self.seek_seat()
        }
    }

    fn seek_seat(&mut self) {
        self.send(Request::Seat, |id| Command::Seat { id });
    }

    fn join(&mut self) {
        self.join_with(false);
    }

    pub(super) fn join_with(&mut self, is_full: bool) {
        let known = self.known.as_ref().filter(|_| !is_full);
        let is_full = known.is_none();
        let from = known.map(|known| known.version);
        let tag = known.map(|known| known.tag);
        let table = known.map(|known| known.view.table);
        if from.is_some() {
            self.world.totals.borrow_mut().resumes += 1;
        }
        self.send(Request::Join { is_full }, |id| Command::Join { id, from, tag, table });
    }

    pub(super) fn send(
        &mut self,
        request: Request<G::Action>,
        command: impl FnOnce(u32) -> Command<G::Action>,
    ) {
        let Some(connection) = &self.connection else {
            return;
        };
        self.next_id += 1;
        self.pending.insert(self.next_id, request);
        connection.send_up(&self.world, to_json(&command(self.next_id)));
    }

    fn handle_message(&mut self, text: &str) -> Result<(), Exit> {
        let message: Message<G> = match serde_json::from_str(text) {
            Ok(message) => message,
            Err(error) => {
                self.world.fail(format!("a client cannot read {text}: {error}"));
                return Err(Exit::Connection);
            }
        };
        match message {
            Message::Snapshot { version, tag, server_time_ms: time, view, prompt } => {
                let is_for_all =
                    |request: &Request<G::Action>| *request == Request::Join { is_full: true };
                let may_repeat = self.known.is_none() || self.pending.values().any(is_for_all);
                let table = view.table;
                self.check_delivery(ShownVersion { table, version, tag, time, may_repeat });
                self.known = Some(KnownTable { version, tag, view: *view });
                self.handle_view(prompt, true)
            }
            Message::Update { version, tag, server_time_ms: time, events, prompt, ack } => {
                let Some(known) = &mut self.known else {
                    self.world.fail(format!("{}: an update before a snapshot", self.player));
                    return Err(Exit::Connection);
                };
                if version != known.version + 1 {
                    let from = known.version;
                    let message = format!("{}: an update from {from} to {version}", self.player);
                    self.world.fail(message);
                    return Err(Exit::Connection);
                }
                (known.version, known.tag) = (version, tag);
                let table = known.view.table;
                for event in &events {
                    known.view.observe(event);
                }
                self.check_delivery(ShownVersion { table, version, tag, time, may_repeat: false });
                let is_shown = prompt.is_some();
                self.handle_view(prompt, is_shown)?;
                match ack {
                    Some(id) => {
                        self.world.totals.borrow_mut().acks_in_updates += 1;
                        self.handle_ack(id)
                    }
                    None => Ok(()),
                }
            }
            Message::Closed { table } => {
                self.world.totals.borrow_mut().tables_closed += 1;
                if self.known.as_ref().is_none_or(|known| known.view.table != table) {
                    self.world.fail(format!("{}: {table} is closed but not joined", self.player));
                }
                self.forget_table()?;
                self.form_intent(Intent::Seat, self.world.random_between((200, 5_000)));
                Ok(())
            }
            Message::Ack { id, version } => {
                let shown = self.known.as_ref().map(|known| known.version);
                if let (Some(version), Some(shown)) = (version, shown)
                    && shown < version
                {
                    let player = self.player;
                    self.world
                        .fail(format!("{player}: v{version} is acknowledged, v{shown} shown"));
                }
                self.handle_ack(id)
            }
            Message::Refusal { id, code } => {
                self.world.totals.borrow_mut().refusals += 1;
                let request = self.take_answered(id);
                self.handle_refusal(request, &code)
            }
        }
    }

    /// Forgets the table, where the player no longer sits. While the house closes, the player ends.
    fn forget_table(&mut self) -> Result<(), Exit> {
        self.known = None;
        self.unanswered = None;
        if self.world.is_closing.get() { Err(Exit::Player) } else { Ok(()) }
    }

    fn check_delivery(&self, shown: ShownVersion) {
        let target = MessageTarget::Client(self.player);
        self.world.check(self.world.checks.borrow_mut().check_order(target, shown));
    }

    /// Compares a changed view with the truth, and reacts to it.
    fn handle_view(
        &mut self,
        prompt: Option<OpenPrompt<G::Action>>,
        is_shown: bool,
    ) -> Result<(), Exit> {
        let world = self.world.clone();
        if !world.is_calm.get() {
            self.rejoin_at_random();
        }
        let Some(KnownTable { version, tag, view }) = &self.known else {
            return Ok(());
        };
        world.check(world.checks.borrow_mut().check_view(self.player, (*version, *tag), view));
        if !world.is_calm.get() && world.chance(READS_SLOWLY) {
            self.stop_reading();
        }
        let open = OpenPrompt::from_view(view);
        if is_shown && prompt != open {
            world.fail(format!("{}: sent {prompt:?} while {open:?} is open", self.player));
        }
        let Some(seat) = view.seat else {
            // The player has lost its seat or left.
            self.forget_table()?;
            self.form_intent(Intent::Seat, world.random_between((200, 5_000)));
            return Ok(());
        };
        let thinking_ms = world.random_between(THINKING_MS);
        match &view.phase {
            PhaseView::Waiting => {
                let patience_ms = world.random_between(PATIENCE_MS);
                let wait_ms = if world.is_closing.get() { 50 } else { patience_ms };
                self.form_intent(Intent::GiveUp(view.table), wait_ms);
            }
            PhaseView::Preparing { game, ready, .. } => {
                if !ready.contains(seat) {
                    self.form_intent(Intent::Ready(*game), thinking_ms);
                }
            }
            PhaseView::Playing { game, .. } => {
                let own = view.seats.get(seat.index()).and_then(Option::as_ref);
                if own.is_some_and(|own| own.taken_over && own.connected) {
                    self.form_intent(Intent::TakeBack(*game), 400);
                } else if let Some(open) = open.filter(|open| !open.legal.is_empty()) {
                    self.form_intent(Intent::Act(open.game, open.number), thinking_ms);
                }
            }
            PhaseView::Revealing { .. } => {
                if let Some((game, ..)) = view.reveal_request() {
                    let is_late = !world.is_calm.get() && world.chance(REVEALS_LATE);
                    let after_ms = if is_late { REVEALED_LATE_MS } else { REVEALED_MS };
                    self.form_intent(Intent::Reveal(game), world.random_between(after_ms));
                }
            }
            PhaseView::Opening { .. } | PhaseView::Settling { .. } => {}
        }
        Ok(())
    }

    fn stop_reading(&self) {
        let Some(connection) = self.connection.clone() else {
            return;
        };
        connection.stop_reading();
        let after_ms = self.world.random_between(READS_AFTER_MS);
        self.world.schedule(after_ms, move |_| connection.resume_reading());
    }

    /// Returns the request that is answered, which each is once, in the order of sending.
    fn take_answered(&mut self, id: u32) -> Option<Request<G::Action>> {
        if let Some(first) = self.pending.keys().next().filter(|first| **first < id) {
            let player = self.player;
            self.world.fail(format!("{player}: an answer to {id}, but none to {first}"));
        }
        let request = self.pending.remove(&id);
        if request.is_none() {
            self.world.fail(format!("{}: an answer to {id}, which waits for none", self.player));
        }
        request
    }

    fn handle_ack(&mut self, id: u32) -> Result<(), Exit> {
        match self.take_answered(id) {
            Some(Request::Seat) => self.join(),
            Some(Request::Join { .. }) => {
                // An unanswered action is sent again if its prompt is still open.
                if let Some(Request::Act { game, prompt, action }) = self.unanswered.take()
                    && self.is_open(game, prompt)
                {
                    self.world.totals.borrow_mut().sent_again += 1;
                    self.send_action(game, prompt, action);
                }
            }
            Some(Request::Act { .. }) => {
                self.unanswered = None;
                self.world.totals.borrow_mut().acks += 1;
            }
            Some(Request::Leave) => {
                // During a game the seat is kept; the player disconnects and may return.
                if self.known.as_ref().is_some_and(|known| known.view.seat.is_some()) {
                    self.away_ms = self.world.random_between((3_000, 60_000));
                    return Err(Exit::Connection);
                }
            }
            Some(Request::Reveal | Request::Other) | None => {}
        }
        Ok(())
    }

    fn handle_refusal(
        &mut self,
        request: Option<Request<G::Action>>,
        code: &str,
    ) -> Result<(), Exit> {
        let world = self.world.clone();
        let pause_ms = world.random_between((300, 2_000));
        match (request, code) {
            (Some(Request::Seat | Request::Join { .. }), "not_seated") => {
                self.forget_table()?;
                self.form_intent(Intent::Seat, pause_ms);
            }
            (Some(Request::Seat), "too_few_coins") => {
                world.grant(self.player);
                self.form_intent(Intent::Seat, pause_ms);
            }
            (Some(Request::Seat), _) => self.form_intent(Intent::Seat, pause_ms),
            (Some(Request::Join { .. }), _) | (_, "not_joined" | "not_seated") => {
                self.form_intent(Intent::Join, pause_ms)
            }
            (Some(Request::Act { game, prompt, .. }), "unavailable") => {
                self.intended = None;
                self.form_intent(Intent::Act(game, prompt), pause_ms);
            }
            (Some(Request::Act { .. }), _) => self.unanswered = None,
            (Some(Request::Reveal), "unavailable") => {
                let view = self.known.as_ref().map(|known| &known.view);
                if let Some((game, ..)) = view.and_then(TableView::reveal_request) {
                    self.intended = None;
                    self.form_intent(Intent::Reveal(game), 50);
                }
            }
            (Some(Request::Reveal | Request::Leave | Request::Other) | None, _) => {}
        }
        Ok(())
    }

    /// Returns true if this prompt is still open for the player.
    fn is_open(&self, game: GameId, prompt: u32) -> bool {
        let open = self.known.as_ref().and_then(|known| OpenPrompt::from_view(&known.view));
        open.is_some_and(|open| {
            open.game == game && open.number == prompt && !open.legal.is_empty()
        })
    }

    fn send_action(&mut self, game: GameId, prompt: u32, action: G::Action) {
        let request = Request::Act { game, prompt, action: action.clone() };
        self.unanswered = Some(request.clone());
        self.send(request, |id| Command::Act { id, game, prompt, action });
    }

    /// Schedules an intent unless it equals the last one.
    fn form_intent(&mut self, intent: Intent, after_ms: u64) {
        if self.intended == Some(intent) {
            return;
        }
        self.intended = Some(intent);
        self.schedule_intent(intent, after_ms);
    }

    pub(super) fn schedule_intent(&self, intent: Intent, after_ms: u64) {
        let number = self.number;
        self.world.schedule(after_ms, move |world| {
            world.clients[number].push(ClientEvent::Alarm(intent))
        });
    }

    fn watch_silence(&self, is_asked: bool) {
        let received = self.messages_received;
        let after_ms = if is_asked { SILENCE_MS / 4 } else { SILENCE_MS };
        self.schedule_intent(Intent::CheckSilence { received, is_asked }, after_ms);
    }

    async fn handle_alarm(&mut self, intent: Intent) -> Result<(), Exit> {
        if self.intended == Some(intent) {
            self.intended = None;
        }
        let world = self.world.clone();
        let phase = self.known.as_ref().map(|known| &known.view.phase);
        match intent {
            Intent::CheckSilence { received, is_asked } => {
                // The message count of an earlier connection does not match.
                if received == self.messages_received && is_asked {
                    return Err(Exit::Connection);
                }
                if received == self.messages_received {
                    self.rejoin_or_seat();
                }
                self.watch_silence(received == self.messages_received);
            }
            Intent::Seat => {
                if self.known.is_none() {
                    self.rejoin_or_seat();
                }
            }
            Intent::Join => self.join(),
            Intent::JoinAgain(connection, joins) => self.join_again(connection, joins),
            Intent::ConnectTwice(connection) => self.connect_twice(connection).await,
            Intent::Ready(game) => {
                if !matches!(phase, Some(PhaseView::Preparing { game: now, .. }) if *now == game) {
                    return Ok(());
                }
                if world.is_closing.get() {
                    self.send(Request::Leave, |id| Command::Leave { id });
                } else if world.is_calm.get() || !world.chance(NOT_READY) {
                    let commitment = world.chance(COMMITS).then(|| self.commitment(game));
                    self.send(Request::Other, |id| Command::Ready { id, game, commitment });
                }
            }
            Intent::Reveal(game) => self.reveal(game),
            Intent::TakeBack(game) => {
                if matches!(phase, Some(PhaseView::Playing { game: now, .. }) if *now == game) {
                    self.send(Request::Other, |id| Command::TakeBack { id });
                }
            }
            Intent::GiveUp(table) => {
                let waits = self.known.as_ref().is_some_and(|known| {
                    known.view.table == table && known.view.phase == PhaseView::Waiting
                });
                if waits {
                    self.send(Request::Leave, |id| Command::Leave { id });
                }
            }
            Intent::Act(game, prompt) => {
                if self.is_open(game, prompt) {
                    return self.take_turn(game, prompt).await;
                }
            }
        }
        Ok(())
    }

    async fn take_turn(&mut self, game: GameId, prompt: u32) -> Result<(), Exit> {
        let world = self.world.clone();
        let view = self.known.as_ref().map(|known| &known.view.phase);
        let Some(PhaseView::Playing { view, .. }) = view else {
            return Ok(());
        };
        let Some(action) = G::choose_action(view) else {
            world.fail(format!("{} has a prompt and no action", self.player));
            return Ok(());
        };
        if world.is_calm.get() {
            self.send_action(game, prompt, action);
            return Ok(());
        }
        if world.chance(SILENT) {
            return Ok(());
        }
        if world.chance(DROPS) {
            // Some drops follow a sent command.
            if world.chance(500) {
                self.send_action(game, prompt, action);
            }
            self.away_ms = world.random_between((100, 40_000));
            return Err(Exit::Connection);
        }
        if world.chance(LEAVES) {
            self.send(Request::Leave, |id| Command::Leave { id });
            return Ok(());
        }
        if world.chance(SENDS_NONSENSE) {
            let (game, prompt) = if world.chance(500) {
                (game, prompt.wrapping_sub(1))
            } else {
                (GameId(world.new_id()), prompt)
            };
            let action = action.clone();
            self.send(Request::Other, |id| Command::Act { id, game, prompt, action });
        }
        self.send_action(game, prompt, action.clone());
        if world.chance(SENDS_TWICE) {
            self.send_action(game, prompt, action);
        }
        Ok(())
    }
}
