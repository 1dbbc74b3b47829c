//! The model server: one practice table with the player and house bots, and the sockets of the player.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use bahay_bots::table::ai_action;
use bahay_engine::catalog::{self, AnyAction, AnyEvent, AnyGame};
use bahay_engine::chance::{ChanceRng, Key, ServerSeed};
use bahay_engine::game::GameRules;
use bahay_engine::hex::Hex;
use bahay_engine::table::{
    Clocks, ConnectionId, Effect, Event, GameEntropy, GameId, Input, PlayerId, PracticeBot, Table,
    TableId, TableView, Terms, Timestamp,
};
use bahay_protocol::brief::Shorthand;
use bahay_protocol::{Closing, Message, OpenPrompt, Tag};
use serde_json::json;
use uuid::Uuid;

use crate::reply::Reply;
use crate::tokens::TokenIssuer;

/// The largest number of updates with which a join resumes.
const RESUMED_MAX: usize = 64;
/// The number of versions whose views are kept.
const VIEWS_MAX: usize = 300;
/// The life of a socket ticket.
const TICKET_MS: i64 = 30_000;
/// The name of the player at the table.
const PLAYER_NAME: &str = "player";

/// The player of the model.
pub const PLAYER: PlayerId = PlayerId(Uuid::from_u128(7));

/// The options of a model.
#[derive(Clone, Debug)]
pub struct ServerOptions {
    pub clocks: Clocks,
    /// The seed of every seed, id and tag.
    pub seed: u64,
    /// The server's time at the beginning, in milliseconds.
    pub now_ms: i64,
}

/// The content of a frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WireData {
    Text(String),
    Binary(Vec<u8>),
}

impl WireData {
    pub fn as_bytes(&self) -> &[u8] {
        match self {
            Self::Text(text) => text.as_bytes(),
            Self::Binary(bytes) => bytes,
        }
    }
}

/// A message to a client, or the end of its socket.
#[derive(Clone, Debug, PartialEq)]
pub enum Output {
    Message(Box<Message<AnyGame>>),
    Close(u16),
}

/// Something that a client must not do, as one line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation(pub String);

/// The end of a prompt to the player.
#[derive(Clone, Copy, Debug)]
pub struct ClosedPrompt {
    pub at_ms: i64,
    /// True if the player has answered, false if the clock or the AI has.
    pub by_player: bool,
}

/// A command that the table has decided on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Submission {
    /// The table was changed, or the command needs no change.
    Accepted,
    Refused {
        code: &'static str,
    },
}

/// An update as the player sees it.
#[derive(Clone, Debug)]
pub(crate) struct Update {
    version: u64,
    tag: Tag,
    at: Timestamp,
    events: Vec<Event<AnyEvent>>,
    prompt: Option<OpenPrompt<AnyAction>>,
}

#[derive(Debug)]
pub(crate) struct Connection {
    pub(crate) id: ConnectionId,
    pub(crate) is_authenticated: bool,
    pub(crate) is_joined: bool,
    /// True while the table is only shown: the player's other connections are replaced once this
    /// one sends a command.
    pub(crate) is_preview: bool,
}

/// The server as one player's client observes it.
#[derive(Debug)]
pub struct ModelServer {
    pub(crate) table: Table<AnyGame>,
    /// False once the table was ended.
    pub(crate) is_seated: bool,
    random: ChanceRng,
    pub(crate) connections: BTreeMap<u64, Connection>,
    /// The encoders of all sockets, also of closed ones, whose last messages may be in flight.
    pub(crate) encoders: BTreeMap<u64, Shorthand>,
    journal: Vec<Update>,
    pub(crate) version: u64,
    tag: Tag,
    /// The player's view at each of the last versions.
    views: VecDeque<(u64, TableView<AnyGame>)>,
    pub(crate) joined: Option<u64>,
    pub(crate) tokens: TokenIssuer,
    pub(crate) tickets: BTreeMap<String, i64>,
    device: Option<String>,
    /// The code with which sign-ins are refused.
    sign_in_refusal: Option<&'static str>,
    /// The player's open prompt.
    open_prompt: Option<(GameId, u32)>,
    /// Every prompt to the player that has ended.
    pub closed_prompts: BTreeMap<(GameId, u32), ClosedPrompt>,
    /// The games that the player was ready for.
    pub ready_games: BTreeSet<GameId>,
    /// The messages to send, in order.
    pub outputs: Vec<(u64, Output)>,
    /// The violations of the protocol by the client, in order.
    pub violations: Vec<Violation>,
}

impl ModelServer {
    /// Creates a server with a table of this game at which the player sits.
    ///
    /// # Panics
    /// If the game has no rule set.
    pub fn new(kind: &catalog::Kind, options: &ServerOptions) -> Self {
        let rules = kind.rule_sets.first().expect("a game has a rule set").rules.clone();
        let seats = rules.seats().most;
        let bot = |number: u8| PracticeBot {
            player: PlayerId(Uuid::from_u128(100 + u128::from(number))),
            name: format!("Bot {number}"),
            avatar: "crab".into(),
        };
        let terms = Terms::for_practice("practice", rules, options.clocks);
        let table = Table::new(TableId(Uuid::from_u128(1)), terms).with_bots((1..seats).map(bot));
        let mut key = [41; 32];
        key[..8].copy_from_slice(&options.seed.to_le_bytes());
        let mut server = Self {
            table,
            is_seated: true,
            random: ChanceRng::new(Key(Hex(key))),
            connections: BTreeMap::new(),
            encoders: BTreeMap::new(),
            journal: Vec::new(),
            version: 0,
            tag: Tag::default(),
            views: VecDeque::new(),
            joined: None,
            tokens: TokenIssuer::default(),
            tickets: BTreeMap::new(),
            device: None,
            sign_in_refusal: None,
            open_prompt: None,
            closed_prompts: BTreeMap::new(),
            ready_games: BTreeSet::new(),
            outputs: Vec::new(),
            violations: Vec::new(),
        };
        server
            .submit(options.now_ms, Input::sit(PLAYER, PLAYER_NAME), None)
            .expect("a player sits down at an empty seat");
        server
    }

    pub fn version(&self) -> u64 {
        self.version
    }

    pub fn tag(&self) -> Tag {
        self.tag
    }

    pub fn table(&self) -> &Table<AnyGame> {
        &self.table
    }

    /// Returns the table where the player sits.
    pub fn seated_table(&self) -> Option<TableId> {
        self.is_seated.then(|| self.table.id())
    }

    /// Returns the table as the player has to see it.
    pub fn player_view(&self) -> TableView<AnyGame> {
        self.table.view(Some(PLAYER))
    }

    /// Returns the player's view at each of the last versions.
    pub fn views(&self) -> impl Iterator<Item = &(u64, TableView<AnyGame>)> {
        self.views.iter()
    }

    fn keep_view(&mut self) {
        self.views.push_back((self.version, self.player_view()));
        if self.views.len() > VIEWS_MAX {
            self.views.pop_front();
        }
    }

    /// Returns the socket that follows the table and has told it of the player's presence.
    pub fn joined_socket(&self) -> Option<u64> {
        self.joined
    }

    /// Returns the time of the next change by the clock or a bot; `None` for a table that has ended.
    pub fn next_time(&self) -> Option<i64> {
        self.table.deadline().map(Timestamp::ms).filter(|_| self.is_seated)
    }

    /// Runs the clock and the bots up to this time.
    pub fn run_clock(&mut self, now_ms: i64) {
        while self.next_time().is_some_and(|at_ms| at_ms <= now_ms) {
            let now = Timestamp::from_ms(now_ms);
            let input = match self.table.effects(now).first() {
                Some(Effect::ChooseAction { seat, .. }) => ai_action(&self.table, *seat),
                Some(_) | None => Some(Input::Tick),
            };
            // A due input that is refused would be due for ever.
            if input.is_none_or(|input| self.submit(now_ms, input, None).is_err()) {
                self.record_violation("the model's own table has refused a due input");
                break;
            }
        }
    }

    pub fn record_violation(&mut self, violation: impl Into<String>) {
        self.violations.push(Violation(violation.into()));
    }

    /// Signs the device's player in, in a new session.
    pub(crate) fn sign_in(&mut self, now_ms: i64, device: String) -> Reply {
        if let Some(code) = self.sign_in_refusal {
            return Reply::problem(403, code);
        }
        if self.device.as_ref().is_some_and(|known| *known != device) {
            self.record_violation("a second device signed in: the device id is drawn once");
        }
        self.device = Some(device);
        let mut body = self.tokens.issue(now_ms);
        body["player"] = json!({ "id": PLAYER, "name": PLAYER_NAME });
        Reply::new(200, body)
    }

    pub(crate) fn refresh(&mut self, now_ms: i64, token: &str, device: Option<&str>) -> Reply {
        if self.tokens.is_superseded(token) {
            self.record_violation("a refresh token was sent although its successor was used");
        }
        if device.is_none() || device != self.device.as_deref() {
            self.record_violation("a refresh does not name the device that signed in");
        }
        match self.tokens.refresh(token, now_ms) {
            Ok(refreshed) => refreshed.reply,
            Err(_) => {
                self.record_violation("a refresh with a token that was never issued");
                Reply::problem(401, "refresh_token_unknown")
            }
        }
    }

    pub(crate) fn is_valid(&self, access: &str, now_ms: i64) -> bool {
        self.tokens.is_valid(access, now_ms)
    }

    /// Issues a ticket that opens one socket.
    pub(crate) fn issue_ticket(&mut self, now_ms: i64) -> String {
        let secret: [u8; 32] = self.draw_bytes();
        let digits: String = secret.iter().map(|byte| format!("{byte:02x}")).collect();
        let ticket = format!("pt_{digits}");
        self.tickets.insert(ticket.clone(), now_ms + TICKET_MS);
        ticket
    }

    /// Returns the tokens of the player's sessions.
    pub fn tokens(&mut self) -> &mut TokenIssuer {
        &mut self.tokens
    }

    /// Refuses every further sign-in with this code.
    pub fn refuse_sign_ins(&mut self, code: &'static str) {
        self.sign_in_refusal = Some(code);
    }

    /// Returns the table as a snapshot.
    pub fn snapshot(&self, now_ms: i64) -> Message<AnyGame> {
        let view = self.player_view();
        let prompt = OpenPrompt::from_view(&view);
        Message::Snapshot {
            version: self.version,
            tag: self.tag,
            server_time_ms: Timestamp::from_ms(now_ms),
            view: Box::new(view),
            prompt,
        }
    }

    /// Returns the updates after a version, or `None` if they are not known.
    pub(crate) fn updates_since(&self, version: u64, tag: Tag) -> Option<Vec<Update>> {
        if (version, tag) == (self.version, self.tag) {
            return Some(Vec::new());
        }
        let place =
            self.journal.iter().rposition(|one| (one.version, one.tag) == (version, tag))?;
        let missed = &self.journal[place + 1..];
        (missed.len() <= RESUMED_MAX).then(|| missed.to_vec())
    }

    /// Forgets the history, so that the next join is answered with a snapshot.
    pub fn forget_history(&mut self) {
        self.journal.clear();
        self.tag = self.draw_tag();
    }

    /// Continues with lower versions, as a house that has lost the table's last moves.
    pub fn restart_versions(&mut self, version: u64) {
        self.forget_history();
        self.version = version;
        self.keep_view();
    }

    /// Begins a version of an event that nobody sees, and returns it with its tag and the prompt
    /// that stays open.
    pub fn skip_version(&mut self) -> (u64, Tag, Option<OpenPrompt<AnyAction>>) {
        self.journal.clear();
        self.version += 1;
        self.tag = self.draw_tag();
        self.keep_view();
        (self.version, self.tag, OpenPrompt::from_view(&self.player_view()))
    }

    /// Ends the table without a settlement.
    pub fn end_table(&mut self, reason: Closing) {
        self.is_seated = false;
        let table = self.table.id();
        let followers: Vec<u64> = self.followers();
        for socket in followers {
            self.send(socket, Message::Closed { table, reason });
            if let Some(connection) = self.connections.get_mut(&socket) {
                (connection.is_joined, connection.is_preview) = (false, false);
            }
        }
        self.joined = None;
    }

    /// Returns the sockets that follow the table.
    fn followers(&self) -> Vec<u64> {
        let followers = self.connections.iter().filter(|(_, one)| one.is_joined || one.is_preview);
        followers.map(|(socket, _)| *socket).collect()
    }

    /// Applies an input, and sends the update to every connection that follows the table. Returns
    /// whether the update has acknowledged the command.
    pub(crate) fn submit(
        &mut self,
        now_ms: i64,
        input: Input<AnyAction>,
        command: Option<(u64, u32)>,
    ) -> Result<bool, &'static str> {
        let seed = ServerSeed(Hex(self.draw_bytes()));
        let game = GameId(Uuid::from_bytes(self.draw_bytes()));
        let now = Timestamp::from_ms(now_ms);
        let transition = self.table.decide(now, input, || GameEntropy { seed, game });
        let transition = transition.map_err(|rejection| rejection.code())?;
        self.table = transition.table;
        let input = transition.line.input;
        self.record_prompt(now_ms, matches!(input, Input::Act { player: PLAYER, .. }));
        if let Input::Ready { player: PLAYER, game, .. } = input {
            self.ready_games.insert(game);
        }
        let viewer = self.table.viewer(PLAYER);
        let events = transition.events.iter().filter_map(|event| event.redact::<AnyGame>(viewer));
        let events: Vec<_> = events.collect();
        if events.is_empty() {
            return Ok(false);
        }
        self.version += 1;
        self.tag = self.draw_tag();
        self.keep_view();
        let prompt = OpenPrompt::from_view(&self.player_view());
        let at = transition.line.at;
        let update = Update { version: self.version, tag: self.tag, at, events, prompt };
        self.journal.push(update.clone());
        for socket in self.followers() {
            let ack = command.filter(|(sender, _)| *sender == socket).map(|(_, id)| id);
            self.send_update(socket, &update, true, ack);
        }
        Ok(command.is_some())
    }

    /// Records the end of the player's prompt.
    fn record_prompt(&mut self, now_ms: i64, by_player: bool) {
        let prompt = OpenPrompt::from_table(&self.table, PLAYER);
        let prompt = prompt.filter(|prompt| !prompt.legal.is_empty());
        let open = prompt.map(|prompt| (prompt.game, prompt.number));
        if self.open_prompt == open {
            return;
        }
        if let Some(ended) = std::mem::replace(&mut self.open_prompt, open) {
            let closed = ClosedPrompt { at_ms: now_ms, by_player };
            let before = self.closed_prompts.insert(ended, closed);
            assert!(before.is_none(), "a prompt was open twice");
        }
    }

    pub(crate) fn send_update(
        &mut self,
        socket: u64,
        update: &Update,
        is_last: bool,
        ack: Option<u32>,
    ) {
        let Update { version, tag, at, ref events, ref prompt } = *update;
        let message = Message::Update {
            version,
            tag,
            server_time_ms: at,
            events: events.clone(),
            prompt: prompt.clone().filter(|_| is_last),
            ack,
        };
        self.send(socket, message);
    }

    pub(crate) fn refuse(&mut self, socket: u64, id: Option<u32>, code: &'static str) {
        let refusal = Message::Refusal {
            id,
            code: code.into(),
            rule: None,
            detail: code.replace('_', " "),
            retryable: false,
            retry_after_ms: None,
        };
        self.send(socket, refusal);
    }

    pub(crate) fn send(&mut self, socket: u64, message: Message<AnyGame>) {
        self.outputs.push((socket, Output::Message(Box::new(message))));
    }

    fn draw_bytes<const N: usize>(&mut self) -> [u8; N] {
        std::array::from_fn(|_| u8::try_from(self.random.below(256)).unwrap_or_default())
    }

    fn draw_tag(&mut self) -> Tag {
        Tag(Hex(self.draw_bytes()))
    }
}
