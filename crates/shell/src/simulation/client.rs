//! A player with a client: it asks for a seat, joins, follows what it is told on a view of its
//! own, and plays what the house's AI would play from that view, at a person's pace. It goes
//! silent, drops, reads slowly, leaves, sends things twice or wrong, and comes back to any node:
//! then it resumes by version and sends again what was not acknowledged.

use std::collections::BTreeMap;
use std::rc::Rc;

use uuid::Uuid;

use crate::Tag;
use crate::simulation::checks::{Showing, Viewing};
use crate::simulation::connection::Connection;
use crate::simulation::tasks::Owner;
use crate::simulation::wire::{Command, Message, OpenPrompt};
use crate::simulation::world::{World, written};
use bahay_engine::game::Game;
use bahay_engine::games::tongits::{Action, Tongits};
use bahay_engine::table::{ConnectionId, GameId, PhaseView, PlayerId, TableId, TableView};

/// How a person is between a question and the answer.
const THOUGHT_MS: (u32, u32) = (300, 4_000);

/// Silence after which a client asks where it is, and after that connects anew.
const SILENCE_MS: u64 = 25_000;

/// How long a player waits for others before trying elsewhere.
const PATIENCE_MS: (u32, u32) = (20_000, 90_000);

/// What players do instead of playing, in thousandths of their turns.
const SILENT: u32 = 40;
const DROPS: u32 = 40;
const LEAVES: u32 = 6;
/// What they do beside it.
const SENDS_TWICE: u32 = 40;
const SENDS_NONSENSE: u32 = 40;
/// Of what they are told: for a while they read nothing after it.
const READS_SLOWLY: u32 = 4;
const READS_AFTER_MS: (u32, u32) = (1_000, 45_000);
/// Of being ready.
const NOT_READY: u32 = 10;
const COMMITS: u32 = 800;
/// Of revealing: too late.
const REVEALS_LATE: u32 = 60;
const REVEALED_MS: (u32, u32) = (20, 400);
const REVEALED_LATE_MS: (u32, u32) = (1_700, 2_600);

/// What reaches a client.
pub(super) enum Heard {
    Text(ConnectionId, Rc<str>),
    Broken(ConnectionId),
    Alarm(Intent),
}

/// What a client has made up its mind to do by then, if things are still so.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Intent {
    /// Ask again where it sits.
    Seat,
    Join,
    /// Join again so many times, on this connection.
    JoinAgain(ConnectionId, u32),
    /// Join by a second connection.
    ConnectTwice(ConnectionId),
    Ready(GameId),
    Reveal(GameId),
    Act(GameId, u32),
    TakeBack(GameId),
    /// Try another table.
    GiveUp(TableId),
    /// Find out whether anybody is there, if nothing was heard since.
    Listen {
        heard: u64,
        asked: bool,
    },
}

/// What a command was about.
#[derive(Clone, PartialEq)]
pub(super) enum Asked {
    Seat,
    Join {
        /// The whole table, whatever is known.
        for_all: bool,
    },
    Reveal,
    Act {
        game: GameId,
        prompt: u32,
        action: Action,
    },
    Leave,
    Other,
}

/// The table as the client has it.
pub(super) struct Known {
    version: u64,
    tag: Tag,
    pub(super) view: TableView<Tongits>,
}

pub(super) struct Client {
    pub(super) world: Rc<World>,
    pub(super) number: usize,
    pub(super) player: PlayerId,
    pub(super) connection: Option<Rc<Connection>>,
    pub(super) known: Option<Known>,
    /// Commands that wait for an answer on this connection.
    pub(super) asked: BTreeMap<u32, Asked>,
    /// An act that was sent and neither acknowledged nor refused, on whatever connection.
    unanswered: Option<Asked>,
    intended: Option<Intent>,
    /// What the seed of its last game is made of, once it has committed to it: also where the
    /// command is sent again.
    pub(super) text: Option<(GameId, String)>,
    pub(super) next_id: u32,
    heard: u64,
    /// The next time that it connects, after this pause.
    away_ms: u64,
}

/// The connection is at its end, or the player is.
enum Over {
    Connection,
    Player,
}

pub(super) fn player_of(client: usize) -> PlayerId {
    PlayerId(Uuid::from_u64_pair(0x0070_6c61_7965_7200, client as u64))
}

pub(super) fn name_of(client: usize) -> String {
    format!("player {client}")
}

/// Has a player come to the house.
pub(super) fn start(world: &Rc<World>, number: usize) {
    let client = Client {
        world: world.clone(),
        number,
        player: player_of(number),
        connection: None,
        known: None,
        asked: BTreeMap::new(),
        unanswered: None,
        intended: None,
        text: None,
        next_id: 0,
        heard: 0,
        away_ms: world.between(0, 5_000),
    };
    world.spawn(Owner::Client(number), client.run());
}

impl Client {
    async fn run(mut self) {
        loop {
            let away_ms = std::mem::take(&mut self.away_ms);
            self.world.sleep(away_ms).await;
            let place = self.world.below(u32::try_from(self.world.options.nodes).unwrap_or(1));
            let connected = self.world.connect(self.number, place as usize).await;
            let Some(connection) = connected else {
                self.away_ms = self.world.between(100, 1_500);
                continue;
            };
            self.connection = Some(connection);
            self.asked.clear();
            self.intended = None;
            self.listen(false);
            self.begin();
            match self.attend().await {
                Over::Connection => {}
                Over::Player => return,
            }
            if let Some(connection) = self.connection.take() {
                let node_after_ms =
                    if self.world.per_mille(700) { 50 } else { self.world.between(0, 50_000) };
                self.world.break_off(&connection, 0, node_after_ms);
            }
            self.away_ms = self.away_ms.max(self.world.between(50, 1_000));
        }
    }

    async fn attend(&mut self) -> Over {
        loop {
            let world = self.world.clone();
            let heard = world.clients[self.number].pop().await;
            let own = self.own_connection();
            let done = match heard {
                Heard::Text(from, text) if Some(from) == own => {
                    self.heard += 1;
                    self.message(&text)
                }
                Heard::Broken(which) if Some(which) == own => Err(Over::Connection),
                Heard::Text(..) | Heard::Broken(_) => Ok(()),
                Heard::Alarm(intent) => self.alarm(intent).await,
            };
            if let Err(over) = done {
                return over;
            }
        }
    }

    pub(super) fn own_connection(&self) -> Option<ConnectionId> {
        self.connection.as_ref().map(|connection| connection.id)
    }

    /// Back to its table, or to any.
    pub(super) fn begin(&mut self) {
        if self.known.is_some() || self.world.is_closing.get() { self.join() } else { self.seat() }
    }

    fn seat(&mut self) {
        self.send(Asked::Seat, |id| Command::Seat { id });
    }

    fn join(&mut self) {
        self.join_for(false);
    }

    pub(super) fn join_for(&mut self, for_all: bool) {
        let known = self.known.as_ref().filter(|_| !for_all);
        let for_all = known.is_none();
        let (from, tag) = (known.map(|known| known.version), known.map(|known| known.tag));
        let table = known.map(|known| known.view.table);
        if from.is_some() {
            self.world.tally.borrow_mut().resumes += 1;
        }
        self.send(Asked::Join { for_all }, |id| Command::Join { id, from, tag, table });
    }

    pub(super) fn send(&mut self, asked: Asked, command: impl FnOnce(u32) -> Command) {
        let Some(connection) = &self.connection else {
            return;
        };
        self.next_id += 1;
        self.asked.insert(self.next_id, asked);
        connection.send_up(&self.world, written(&command(self.next_id)));
    }

    fn message(&mut self, text: &str) -> Result<(), Over> {
        let message: Message = match serde_json::from_str(text) {
            Ok(message) => message,
            Err(error) => {
                self.world.fail(format!("a client cannot read {text}: {error}"));
                return Err(Over::Connection);
            }
        };
        match message {
            Message::Snapshot { version, tag, server_time_ms: time, view, prompt } => {
                let is_for_all = |asked: &Asked| *asked == Asked::Join { for_all: true };
                let may_repeat = self.known.is_none() || self.asked.values().any(is_for_all);
                self.check_order(Showing { table: view.table, version, tag, time, may_repeat });
                self.known = Some(Known { version, tag, view: *view });
                self.changed(prompt, true)
            }
            Message::Update { version, tag, server_time_ms: time, events, prompt } => {
                let Some(known) = &mut self.known else {
                    self.world.fail(format!("{}: an update before a snapshot", self.player));
                    return Err(Over::Connection);
                };
                if version != known.version + 1 {
                    let from = known.version;
                    let what = format!("{}: an update from {from} to {version}", self.player);
                    self.world.fail(what);
                    return Err(Over::Connection);
                }
                (known.version, known.tag) = (version, tag);
                let table = known.view.table;
                for event in &events {
                    known.view.observe(event);
                }
                self.check_order(Showing { table, version, tag, time, may_repeat: false });
                let shows_prompt = prompt.is_some();
                self.changed(prompt, shows_prompt)
            }
            Message::Closed { table } => {
                self.world.tally.borrow_mut().closed += 1;
                if self.known.as_ref().is_none_or(|known| known.view.table != table) {
                    self.world.fail(format!("{}: {table} is closed, and not joined", self.player));
                }
                self.known = None;
                self.unanswered = None;
                if self.world.is_closing.get() {
                    return Err(Over::Player);
                }
                self.intend(Intent::Seat, self.world.between(200, 5_000));
                Ok(())
            }
            Message::Ack { id, version } => {
                let shown = self.known.as_ref().map(|known| known.version);
                if let (Some(version), Some(shown)) = (version, shown)
                    && shown < version
                {
                    let what = format!("v{version} is acknowledged, and v{shown} was shown");
                    self.world.fail(format!("{}: {what}", self.player));
                }
                let asked = self.asked.remove(&id);
                self.answered(asked)
            }
            Message::Refusal { id, code } => {
                self.world.tally.borrow_mut().refusals += 1;
                let asked = self.asked.remove(&id);
                self.refused(asked, &code)
            }
        }
    }

    fn check_order(&self, showing: Showing) {
        let viewing = Viewing::Client(self.player);
        self.world.check(self.world.checks.borrow_mut().shows(viewing, showing));
    }

    /// The view has changed: it is compared with the truth, and acted upon.
    fn changed(&mut self, prompt: Option<OpenPrompt>, shows_prompt: bool) -> Result<(), Over> {
        let world = self.world.clone();
        if !world.is_calm.get() {
            self.join_at_whim();
        }
        let Some(Known { version, tag, view }) = &self.known else {
            return Ok(());
        };
        world.check(world.checks.borrow_mut().seen(self.player, (*version, *tag), view));
        if !world.is_calm.get() && world.per_mille(READS_SLOWLY) {
            self.stop_reading();
        }
        let open = OpenPrompt::of(view);
        if shows_prompt && prompt != open {
            world.fail(format!("{}: told {prompt:?} where {open:?} is open", self.player));
        }
        let Some(seat) = view.seat else {
            // It has lost its seat, or left.
            self.known = None;
            self.unanswered = None;
            if world.is_closing.get() {
                return Err(Over::Player);
            }
            self.intend(Intent::Seat, world.between(200, 5_000));
            return Ok(());
        };
        let thought_ms = world.between(THOUGHT_MS.0, THOUGHT_MS.1);
        match &view.phase {
            PhaseView::Waiting => {
                let patience_ms = world.between(PATIENCE_MS.0, PATIENCE_MS.1);
                let wait_ms = if world.is_closing.get() { 50 } else { patience_ms };
                self.intend(Intent::GiveUp(view.table), wait_ms);
            }
            PhaseView::Preparing { game, ready, .. } => {
                if !ready.contains(seat) {
                    self.intend(Intent::Ready(*game), thought_ms);
                }
            }
            PhaseView::Playing { game, .. } => {
                let own = view.seats.get(seat.index()).and_then(Option::as_ref);
                if own.is_some_and(|own| own.taken_over && own.connected) {
                    self.intend(Intent::TakeBack(*game), 400);
                } else if let Some(open) = open.filter(|open| !open.legal.is_empty()) {
                    self.intend(Intent::Act(open.game, open.number), thought_ms);
                }
            }
            PhaseView::Revealing { .. } => {
                if let Some((game, ..)) = view.asked_to_reveal() {
                    let is_late = !world.is_calm.get() && world.per_mille(REVEALS_LATE);
                    let (least, most) = if is_late { REVEALED_LATE_MS } else { REVEALED_MS };
                    self.intend(Intent::Reveal(game), world.between(least, most));
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
        connection.block();
        let after_ms = self.world.between(READS_AFTER_MS.0, READS_AFTER_MS.1);
        self.world.plan(after_ms, move |_| connection.read());
    }

    fn answered(&mut self, asked: Option<Asked>) -> Result<(), Over> {
        match asked {
            Some(Asked::Seat) => self.join(),
            Some(Asked::Join { .. }) => {
                // What was sent before and not answered is sent again, if it can still be meant.
                if let Some(Asked::Act { game, prompt, action }) = self.unanswered.take()
                    && self.is_open(game, prompt)
                {
                    self.world.tally.borrow_mut().sent_again += 1;
                    self.act(game, prompt, action);
                }
            }
            Some(Asked::Act { .. }) => {
                self.unanswered = None;
                self.world.tally.borrow_mut().acks += 1;
            }
            Some(Asked::Leave) => {
                // In mid-game the seat stays; the player goes, and may come back.
                if self.known.as_ref().is_some_and(|known| known.view.seat.is_some()) {
                    self.away_ms = self.world.between(3_000, 60_000);
                    return Err(Over::Connection);
                }
            }
            Some(Asked::Reveal | Asked::Other) | None => {}
        }
        Ok(())
    }

    fn refused(&mut self, asked: Option<Asked>, code: &str) -> Result<(), Over> {
        let world = self.world.clone();
        let pause_ms = world.between(300, 2_000);
        match (asked, code) {
            (Some(Asked::Seat | Asked::Join { .. }), "not_seated") => {
                self.known = None;
                self.unanswered = None;
                if world.is_closing.get() {
                    return Err(Over::Player);
                }
                self.intend(Intent::Seat, pause_ms);
            }
            (Some(Asked::Seat), "too_few_coins") => {
                world.grant(self.player);
                self.intend(Intent::Seat, pause_ms);
            }
            (Some(Asked::Seat), _) => self.intend(Intent::Seat, pause_ms),
            (Some(Asked::Join { .. }), _) | (_, "not_joined" | "not_seated") => {
                self.intend(Intent::Join, pause_ms)
            }
            (Some(Asked::Act { game, prompt, .. }), "unavailable") => {
                self.intended = None;
                self.intend(Intent::Act(game, prompt), pause_ms);
            }
            (Some(Asked::Act { .. }), _) => self.unanswered = None,
            (Some(Asked::Reveal), "unavailable") => {
                let view = self.known.as_ref().map(|known| &known.view);
                if let Some((game, ..)) = view.and_then(TableView::asked_to_reveal) {
                    self.intended = None;
                    self.intend(Intent::Reveal(game), 50);
                }
            }
            (Some(Asked::Reveal | Asked::Leave | Asked::Other) | None, _) => {}
        }
        Ok(())
    }

    /// Whether a prompt is still the one that this player is asked.
    fn is_open(&self, game: GameId, prompt: u32) -> bool {
        let open = self.known.as_ref().and_then(|known| OpenPrompt::of(&known.view));
        open.is_some_and(|open| {
            open.game == game && open.number == prompt && !open.legal.is_empty()
        })
    }

    fn act(&mut self, game: GameId, prompt: u32, action: Action) {
        let asked = Asked::Act { game, prompt, action };
        self.unanswered = Some(asked.clone());
        self.send(asked, |id| Command::Act { id, game, prompt, action });
    }

    /// Makes up its mind; the same thing is not decided twice in a row.
    fn intend(&mut self, intent: Intent, after_ms: u64) {
        if self.intended == Some(intent) {
            return;
        }
        self.intended = Some(intent);
        self.plan(intent, after_ms);
    }

    pub(super) fn plan(&self, intent: Intent, after_ms: u64) {
        let number = self.number;
        self.world.plan(after_ms, move |world| world.clients[number].push(Heard::Alarm(intent)));
    }

    fn listen(&self, asked: bool) {
        let (number, heard) = (self.number, self.heard);
        let after_ms = if asked { SILENCE_MS / 4 } else { SILENCE_MS };
        self.world.plan(after_ms, move |world| {
            world.clients[number].push(Heard::Alarm(Intent::Listen { heard, asked }));
        });
    }

    async fn alarm(&mut self, intent: Intent) -> Result<(), Over> {
        if self.intended == Some(intent) {
            self.intended = None;
        }
        let world = self.world.clone();
        let phase = self.known.as_ref().map(|known| &known.view.phase);
        match intent {
            Intent::Listen { heard, asked } => {
                // Of an earlier connection, whose listening has begun anew.
                if heard == self.heard && asked {
                    return Err(Over::Connection);
                }
                if heard == self.heard {
                    self.begin();
                }
                self.listen(heard == self.heard);
            }
            Intent::Seat => {
                if self.known.is_none() {
                    self.begin();
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
                    self.send(Asked::Leave, |id| Command::Leave { id });
                } else if world.is_calm.get() || !world.per_mille(NOT_READY) {
                    let commitment = world.per_mille(COMMITS).then(|| self.commitment(game));
                    self.send(Asked::Other, |id| Command::Ready { id, game, commitment });
                }
            }
            Intent::Reveal(game) => self.reveal(game),
            Intent::TakeBack(game) => {
                if matches!(phase, Some(PhaseView::Playing { game: now, .. }) if *now == game) {
                    self.send(Asked::Other, |id| Command::TakeBack { id });
                }
            }
            Intent::GiveUp(table) => {
                let waits = self.known.as_ref().is_some_and(|known| {
                    known.view.table == table && known.view.phase == PhaseView::Waiting
                });
                if waits {
                    self.send(Asked::Leave, |id| Command::Leave { id });
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

    async fn take_turn(&mut self, game: GameId, prompt: u32) -> Result<(), Over> {
        let world = self.world.clone();
        let view = self.known.as_ref().map(|known| &known.view.phase);
        let Some(PhaseView::Playing { view, .. }) = view else {
            return Ok(());
        };
        let Some(action) = Tongits::advise(view) else {
            world.fail(format!("{} is asked and knows no answer", self.player));
            return Ok(());
        };
        if world.is_calm.get() {
            self.act(game, prompt, action);
            return Ok(());
        }
        if world.per_mille(SILENT) {
            return Ok(());
        }
        if world.per_mille(DROPS) {
            // Sometimes in the midst of a command.
            if world.per_mille(500) {
                self.act(game, prompt, action);
            }
            self.away_ms = world.between(100, 40_000);
            return Err(Over::Connection);
        }
        if world.per_mille(LEAVES) {
            self.send(Asked::Leave, |id| Command::Leave { id });
            return Ok(());
        }
        if world.per_mille(SENDS_NONSENSE) {
            let (game, prompt) = if world.per_mille(500) {
                (game, prompt.wrapping_sub(1))
            } else {
                (GameId(world.id()), prompt)
            };
            self.send(Asked::Other, |id| Command::Act { id, game, prompt, action });
        }
        self.act(game, prompt, action);
        if world.per_mille(SENDS_TWICE) {
            self.act(game, prompt, action);
        }
        Ok(())
    }
}
