//! A player who reconnects automatically: the table is followed without a gap, and every command
//! gets one outcome.
//!
//! The behaviour is that of the client core, `bahay_client`; this is its driver on tokio. Each
//! socket and each request of the core goes to the next address of the house. A command whose
//! answer was lost is sent again only if the table still waits for it: a numbered prompt is
//! answered once. If the table has moved on, the outcome is [`Outcome::Overtaken`]: the
//! command, the clock or the AI acted. [`ATTEMPTS_MAX`] failed attempts in a row are an error.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use bahay_base::clock::Moment;
use bahay_base::entropy;
use bahay_client::{
    ClientCore, Effect, Input, Link, Notification, Options, Outcome, SeedText, Time, Wish,
};
use bahay_engine::catalog::AnyGame;
use bahay_engine::game::Game;
use bahay_engine::table::{Event, GameId, TableId, TableView, Timestamp};
use bahay_protocol::{Message, OpenPrompt};
use tokio::sync::mpsc;

use crate::client::Client;
use crate::io::{SocketHandle, send_request};
use crate::play::PlayError;
use crate::table::{AwaitedInput, ClientTable};

type Action = <AnyGame as Game>::Action;

/// The number of failed attempts in a row before a player gives up, after some minutes.
const ATTEMPTS_MAX: u32 = 64;
/// The number of inputs that wait for the player, beyond which sockets are read no further.
const INPUTS_MAX: usize = 256;
/// The address that the core knows, in whose place each socket and request gets that of a node.
const HOUSE: &str = "://house";

/// An error that ends all attempts to reconnect.
#[derive(Debug, thiserror::Error)]
pub enum ReconnectError {
    /// Another connection of the same player took over.
    #[error("replaced by another connection of this player")]
    Replaced,
    #[error("the session has ended: {0}")]
    SignedOut(String),
    #[error("no connection after many attempts: {0}")]
    Unreachable(String),
    /// The server violated the protocol.
    #[error(transparent)]
    Broken(PlayError),
}

/// An event of a player's connection.
#[derive(Clone, Debug, PartialEq)]
pub enum PlayEvent {
    /// A snapshot or an update, applied to the copy of the table.
    Table(Message<AnyGame>),
    Answered {
        command: CommandNumber,
        outcome: Outcome,
    },
    /// A game is over, and its revealed seed was compared with the commitment made before it.
    Deal {
        game: GameId,
        /// False for a forged deal; `None` if no commitment was shown, as after a late arrival.
        holds: Option<bool>,
    },
    /// The player sits at no table, for this reason: request a seat, then call
    /// [`ReconnectingPlay::join`].
    Unseated(String),
}

/// The number of a command of one [`ReconnectingPlay`], across connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CommandNumber(u64);

/// A player at a table.
#[derive(Debug)]
pub struct ReconnectingPlay {
    client: Client,
    /// The nodes of the house; each socket and request takes the next.
    bases: Vec<String>,
    next_base: usize,
    core: ClientCore,
    /// The zero of the core's clock.
    began: Moment,
    inputs: mpsc::Receiver<Input>,
    input_sender: mpsc::Sender<Input>,
    sockets: BTreeMap<u64, SocketHandle>,
    /// The events that were not reported yet, each with the copy of the table after it.
    events: VecDeque<(PlayEvent, Option<ClientTable>)>,
    /// The copy of the table after the last reported event.
    shown: ClientTable,
    /// The reason for which the seat was lost, until it is reported.
    unseated: Option<String>,
    is_unseated: bool,
    numbers: u64,
    connections: u64,
}

impl ReconnectingPlay {
    /// Creates a player who plays through any of these addresses, and connects at the first
    /// [`Self::next`]. No other user of the client may renew its tokens.
    pub fn new(client: Client, bases: &[String]) -> Self {
        let bases = if bases.is_empty() { vec![client.base().to_owned()] } else { bases.to_vec() };
        // A random start distributes players over the nodes.
        let next_base = entropy::random_duration(Duration::from_secs(3600)).as_millis();
        let options = Options {
            stored: client.stored_values(),
            forms: vec![client.form()],
            stores_table: false,
            ..Options::new(format!("http{HOUSE}"), entropy::seed(), Time::default())
        };
        let (input_sender, inputs) = mpsc::channel(INPUTS_MAX);
        Self {
            client,
            bases,
            next_base: usize::try_from(next_base).unwrap_or(0),
            core: ClientCore::new(options),
            began: Moment::now(),
            inputs,
            input_sender,
            sockets: BTreeMap::new(),
            events: VecDeque::new(),
            shown: ClientTable::default(),
            unseated: None,
            is_unseated: false,
            numbers: 0,
            connections: 0,
        }
    }

    pub fn client(&self) -> &Client {
        &self.client
    }

    pub fn view(&self) -> Option<&TableView<AnyGame>> {
        self.shown.view()
    }

    pub fn version(&self) -> Option<u64> {
        self.shown.version()
    }

    pub fn table(&self) -> Option<TableId> {
        self.shown.table()
    }

    /// Returns the open prompt of the player's copy.
    pub fn prompt(&self) -> Option<&OpenPrompt<Action>> {
        self.shown.prompt()
    }

    /// Returns the input that the table awaits from the player.
    pub fn awaited_input(&self) -> Option<AwaitedInput> {
        self.shown.awaited_input()
    }

    /// Returns the action that a house bot would choose; `None` if other players are to act.
    pub fn advice(&self) -> Option<Action> {
        self.shown.advice()
    }

    /// Returns the number of connections opened so far.
    pub fn connections(&self) -> u64 {
        self.connections
    }

    /// Returns the number of commands without an outcome.
    pub fn unanswered(&self) -> usize {
        self.core.state().open.len()
    }

    /// Breaks every connection as a network failure does. The next call reconnects.
    pub fn break_connection(&mut self) {
        for socket in std::mem::take(&mut self.sockets).into_keys() {
            self.handle_input(Input::Closed { socket, code: 1006 });
        }
    }

    /// Declares readiness. The text of the seed is revealed when the table asks for it.
    pub async fn ready(&mut self, game: GameId, text: Option<String>) -> CommandNumber {
        let seed_text = text.map_or(SeedText::None, SeedText::Chosen);
        let is_awaited = self.core_table().awaited_input() == Some(AwaitedInput::Ready(game));
        self.submit(Wish::Ready { seed_text }, is_awaited)
    }

    /// Answers the open prompt; `None` if none is open.
    pub async fn act(&mut self, action: Action) -> Option<CommandNumber> {
        let prompt = self.prompt().map(|prompt| (prompt.game, prompt.number))?;
        // The core may know of a later prompt than was reported.
        let table = self.core_table();
        let is_open = table.prompt().is_some_and(|open| (open.game, open.number) == prompt);
        Some(self.submit(Wish::Act { action }, is_open))
    }

    pub async fn take_back(&mut self) -> CommandNumber {
        self.submit(Wish::TakeBack, true)
    }

    pub async fn leave(&mut self) -> CommandNumber {
        self.submit(Wish::Leave, true)
    }

    /// Joins again, after the player was given another seat.
    pub fn join(&mut self) {
        self.is_unseated = false;
        self.handle_input(Input::Join);
    }

    /// Waits for the next event, and reconnects as often as necessary. Cancel safe.
    pub async fn next(&mut self) -> Result<PlayEvent, ReconnectError> {
        if self.core.state().link == Link::Off {
            self.handle_input(Input::Start);
        }
        loop {
            if let Some((event, table)) = self.events.pop_front() {
                if let Some(table) = table {
                    self.shown = table;
                }
                return Ok(event);
            }
            self.check_link()?;
            let timeout_ms =
                self.core.poll_timeout().map_or(i64::MAX, |at_ms| at_ms - self.now_ms());
            let timeout = Duration::from_millis(u64::try_from(timeout_ms).unwrap_or_default());
            let input = tokio::select! {
                biased;
                Some(input) = self.inputs.recv() => input,
                () = tokio::time::sleep(timeout) => Input::Timeout,
            };
            self.handle_input(input);
        }
    }

    /// Waits for the outcome of a command. Returns it with the other events until then.
    pub async fn wait_for_outcome(
        &mut self,
        command: CommandNumber,
    ) -> Result<(Outcome, Vec<PlayEvent>), ReconnectError> {
        let mut meanwhile = Vec::new();
        loop {
            match self.next().await? {
                PlayEvent::Answered { command: answered, outcome } if answered == command => {
                    return Ok((outcome, meanwhile));
                }
                event => meanwhile.push(event),
            }
        }
    }

    fn submit(&mut self, wish: Wish, is_awaited: bool) -> CommandNumber {
        self.numbers += 1;
        let command = self.numbers;
        if is_awaited {
            self.handle_input(Input::Command { command, wish });
        } else {
            self.push_outcome(command, Outcome::Overtaken);
        }
        CommandNumber(command)
    }

    /// Returns an error if the core has given up.
    fn check_link(&self) -> Result<(), ReconnectError> {
        match &self.core.state().link {
            Link::Replaced => Err(ReconnectError::Replaced),
            Link::SignedOut { code, detail } => {
                Err(ReconnectError::SignedOut(format!("{code}: {detail}")))
            }
            Link::Broken { reason } => {
                Err(ReconnectError::Broken(PlayError::Nonsense(reason.clone())))
            }
            Link::Pausing { attempt, reason, .. } if *attempt > ATTEMPTS_MAX => {
                Err(ReconnectError::Unreachable(reason.clone()))
            }
            Link::Off
            | Link::SigningIn
            | Link::Connecting { .. }
            | Link::Joining
            | Link::Live
            | Link::Weak
            | Link::Pausing { .. } => Ok(()),
        }
    }

    /// Returns the core's copy of the table, which may be later than the reported one.
    fn core_table(&self) -> ClientTable {
        self.core.state().table.clone().map(ClientTable::from).unwrap_or_default()
    }

    fn handle_input(&mut self, input: Input) {
        let now_ms = self.now_ms();
        self.core.handle_input(Time { now_ms, wall_ms: now_ms }, input);
        while let Some(effect) = self.core.poll_effect() {
            self.perform(effect);
        }
        let state = self.core.state();
        if state.table.is_some() {
            self.is_unseated = false;
        } else if state.link.is_live() && !self.is_unseated {
            self.is_unseated = true;
            let reason = self.unseated.take().unwrap_or_else(|| "not seated".to_owned());
            let event = PlayEvent::Unseated(reason);
            self.events.push_back((event, Some(ClientTable::default())));
        }
    }

    fn perform(&mut self, effect: Effect) {
        match effect {
            Effect::Open { socket, url, protocols } => {
                self.connections += 1;
                let url = self.at_next_node(&url);
                let inputs = self.input_sender.clone();
                self.sockets.insert(socket, SocketHandle::open(socket, url, &protocols, inputs));
            }
            Effect::Send { socket, text } => {
                if let Some(handle) = self.sockets.get(&socket) {
                    handle.send_text(text);
                }
            }
            Effect::Close { socket } => drop(self.sockets.remove(&socket)),
            Effect::Request { request, method, url, headers, body } => {
                let url = self.at_next_node(&url);
                let inputs = self.input_sender.clone();
                let http = self.client.http();
                send_request(request, http, (&method, url), headers, body, inputs);
            }
            Effect::Notify(notification) => self.handle_notification(*notification),
            // The process keeps nothing over a restart.
            Effect::Store { .. } | Effect::Called { .. } => {}
        }
    }

    fn handle_notification(&mut self, notification: Notification) {
        match notification {
            Notification::Table { events, after, is_snapshot, .. } => {
                let version = after.version;
                let tag = after.tag;
                let prompt = after.prompt.clone();
                let now_ms = self.core.server_time_ms(self.now_ms());
                let server_time_ms = Timestamp::from_ms(now_ms);
                let message = if is_snapshot {
                    let view = Box::new(after.view.clone());
                    Message::Snapshot { version, tag, server_time_ms, view, prompt }
                } else {
                    Message::Update { version, tag, server_time_ms, events, prompt, ack: None }
                };
                self.events.push_back((PlayEvent::Table(message), Some((*after).into())));
            }
            Notification::Ended { command, outcome, .. } => {
                self.push_outcome(command, outcome);
            }
            Notification::Deal { game, check } => {
                let event = PlayEvent::Deal { game, holds: check.holds() };
                self.events.push_back((event, None));
            }
            Notification::Unseated(reason) => self.unseated = Some(format!("{reason:?}")),
            Notification::Link(_)
            | Notification::Watched { .. }
            | Notification::Seek { .. }
            | Notification::Said { .. }
            | Notification::Hint(_)
            | Notification::Invited { .. }
            | Notification::Standing { .. } => {}
        }
    }

    fn push_outcome(&mut self, command: u64, outcome: Outcome) {
        let command = CommandNumber(command);
        self.events.push_back((PlayEvent::Answered { command, outcome }, None));
    }

    /// Returns an address of the core at the next node.
    fn at_next_node(&mut self, url: &str) -> String {
        let base = &self.bases[self.next_base % self.bases.len()];
        self.next_base = self.next_base.wrapping_add(1);
        let (scheme, path) = url.split_once(HOUSE).unwrap_or(("http", url));
        let base = if scheme == "ws" { base.replacen("http", "ws", 1) } else { base.clone() };
        format!("{}{path}", base.trim_end_matches('/'))
    }

    fn now_ms(&self) -> i64 {
        i64::try_from(self.began.elapsed().as_millis()).unwrap_or(i64::MAX)
    }
}

/// Returns the table events of an event.
pub fn table_events(event: &PlayEvent) -> &[Event<<AnyGame as Game>::Event>] {
    match event {
        PlayEvent::Table(Message::Update { events, .. }) => events,
        PlayEvent::Table(_)
        | PlayEvent::Answered { .. }
        | PlayEvent::Deal { .. }
        | PlayEvent::Unseated(_) => &[],
    }
}
