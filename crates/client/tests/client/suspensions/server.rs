//! A model of the server: one practice table of the engine with the player and house bots, and the
//! protocol of docs/PROTOCOL.md as far as a client can observe it.

use std::collections::{BTreeMap, BTreeSet};

use bahay_bots::table::ai_action;
use bahay_client::SocketData;
use bahay_engine::catalog::{self, AnyAction, AnyEvent, AnyGame};
use bahay_engine::chance::ServerSeed;
use bahay_engine::game::GameRules;
use bahay_engine::hex::Hex;
use bahay_engine::table::{
    Clocks, ConnectionId, Effect, Event, GameEntropy, GameId, Input, PlayerId, PracticeBot,
    Readable, Table, TableId, TableView, Terms, Timestamp,
};
use bahay_protocol::brief::{Form, Shorthand};
use bahay_protocol::{Command, Message, OpenPrompt, Tag, close, read_command};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::rest::{Reply, TokenIssuer};
use crate::suspensions::random::TestRandom;

const TOKEN_MS: i64 = 15 * 60_000;
/// The largest number of updates with which a join resumes.
const RESUMED_MAX: usize = 64;
/// The time for which the table waits until the player is ready: longer than any absence.
const PREPARE_MS: u32 = 1_000_000_000;
pub(crate) const PLAYER: PlayerId = PlayerId(Uuid::from_u128(7));

/// A message to a client, or the end of its socket.
#[derive(Clone, Debug)]
pub(crate) enum Output {
    Data(SocketData),
    Close(u16),
}

/// The end of a prompt to the player.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ClosedPrompt {
    pub(crate) at_ms: i64,
    /// True if the player has answered, false if the clock or the AI has.
    pub(crate) by_player: bool,
}

/// An update as the player sees it.
#[derive(Clone, Debug)]
struct Update {
    version: u64,
    tag: Tag,
    at: Timestamp,
    events: Vec<Event<AnyEvent>>,
    prompt: Option<OpenPrompt<AnyAction>>,
}

#[derive(Debug)]
struct Connection {
    id: ConnectionId,
    shorthand: Shorthand,
    is_authenticated: bool,
    is_joined: bool,
    /// True while the table is only shown: the player's other connections are replaced once this
    /// one sends a command.
    is_preview: bool,
}

#[derive(Debug)]
pub(crate) struct ModelServer {
    table: Table<AnyGame>,
    form: Form,
    random: TestRandom,
    connections: BTreeMap<u64, Connection>,
    journal: Vec<Update>,
    version: u64,
    tag: Tag,
    joined: Option<u64>,
    issuer: TokenIssuer,
    access_expiry_ms: BTreeMap<String, i64>,
    /// The player's open prompt.
    open_prompt: Option<(GameId, u32)>,
    /// Every prompt to the player that has ended.
    pub(crate) closed_prompts: BTreeMap<(GameId, u32), ClosedPrompt>,
    /// The games that the player was ready for.
    pub(crate) ready_games: BTreeSet<GameId>,
    /// The messages to send, in order.
    pub(crate) outputs: Vec<(u64, Output)>,
}

impl ModelServer {
    /// Creates a server with a table of this game, whose messages have this form.
    pub(crate) fn new(kind: &catalog::Kind, form: Form, random: TestRandom) -> Self {
        let rules = kind.rule_sets.first().expect("a game has a rule set").rules.clone();
        let seats = rules.seats().most;
        let clocks = Clocks { prepare_ms: PREPARE_MS, ..Clocks::default() };
        let bot = |number: u8| PracticeBot {
            player: PlayerId(Uuid::from_u128(100 + u128::from(number))),
            name: format!("Bot {number}"),
            avatar: "crab".into(),
        };
        let terms = Terms::for_practice("practice", rules, clocks);
        let table = Table::new(TableId(Uuid::from_u128(1)), terms).with_bots((1..seats).map(bot));
        let mut server = Self {
            table,
            form,
            random,
            connections: BTreeMap::new(),
            journal: Vec::new(),
            version: 0,
            tag: Tag::default(),
            joined: None,
            issuer: TokenIssuer::default(),
            access_expiry_ms: BTreeMap::new(),
            open_prompt: None,
            closed_prompts: BTreeMap::new(),
            ready_games: BTreeSet::new(),
            outputs: Vec::new(),
        };
        server.submit(0, Input::sit(PLAYER, "player"), None).expect("the player sits down");
        server
    }

    pub(crate) fn version(&self) -> u64 {
        self.version
    }

    /// Returns the table as the player has to see it.
    pub(crate) fn player_view(&self) -> TableView<AnyGame> {
        self.table.view(Some(PLAYER))
    }

    pub(crate) fn next_time(&self) -> Option<i64> {
        self.table.deadline().map(Timestamp::ms)
    }

    /// Runs the clock and the bots up to this time.
    pub(crate) fn run_clock(&mut self, now_ms: i64) {
        while self.next_time().is_some_and(|at_ms| at_ms <= now_ms) {
            let now = Timestamp::from_ms(now_ms);
            let input = match self.table.effects(now).first() {
                Some(Effect::ChooseAction { seat, .. }) => ai_action(&self.table, *seat),
                Some(_) | None => Some(Input::Tick),
            };
            let input = input.expect("the AI answers a due prompt");
            self.submit(now_ms, input, None).expect("a due input is accepted");
        }
    }

    /// Answers an HTTP request.
    pub(crate) fn answer_request(&mut self, now_ms: i64, url: &str, body: &str) -> Reply {
        if url.ends_with("/v1/me/wallet") {
            return Reply { status: 200, body: json!({ "available": 1_170, "held": 0 }) };
        }
        let body: Value = serde_json::from_str(body).expect("a body is JSON");
        let mut reply = if url.ends_with("/v1/token/refresh") {
            let token = body["refresh_token"].as_str().unwrap_or_default();
            let is_young = !self.issuer.is_used(token) && self.issuer.is_young(token, now_ms);
            assert!(!is_young, "a token that is seconds old was renewed");
            self.issuer.refresh(token, now_ms).expect("the token was issued").reply
        } else {
            let mut tokens = self.issuer.issue(now_ms);
            tokens["player"] = json!({ "id": PLAYER, "name": "player" });
            Reply { status: 200, body: tokens }
        };
        if let Some(access) = reply.body["access_token"].as_str() {
            self.access_expiry_ms.entry(access.to_owned()).or_insert(now_ms + TOKEN_MS);
        } else {
            reply.status = 401;
        }
        reply
    }

    pub(crate) fn accept_socket(&mut self, socket: u64) {
        let connection = Connection {
            id: ConnectionId(Uuid::from_u128(1_000 + u128::from(socket))),
            shorthand: Shorthand::new(self.form),
            is_authenticated: false,
            is_joined: false,
            is_preview: false,
        };
        self.connections.insert(socket, connection);
    }

    /// Handles the commands within the request for a socket, as if they had been its first
    /// messages.
    pub(crate) fn handle_request(&mut self, now_ms: i64, socket: u64, commands: &[Value]) {
        for command in commands {
            let is_authenticated =
                self.connections.get(&socket).is_some_and(|one| one.is_authenticated);
            match read_command(&command.to_string()).expect("a well-formed command") {
                Command::Authenticate { token: Some(token), .. } => {
                    self.authenticate(now_ms, socket, token.as_str());
                }
                Command::Join { id, from, tag, table } if is_authenticated => {
                    self.connection(socket).is_preview = true;
                    self.send_table(now_ms, socket, id, from.zip(tag), table);
                }
                Command::Join { .. } => {}
                other => panic!("{} in the request for a socket", other.kind()),
            }
        }
    }

    /// Handles the end of a socket, which the client has closed.
    pub(crate) fn disconnect_socket(&mut self, now_ms: i64, socket: u64) {
        let Some(connection) = self.connections.remove(&socket) else {
            return;
        };
        if self.joined.take_if(|joined| *joined == socket).is_some() {
            let input = Input::Disconnect { player: PLAYER, connection: connection.id };
            // The player may be away already.
            let _ = self.submit(now_ms, input, None);
        }
    }

    pub(crate) fn close_all(&mut self, now_ms: i64, code: u16) {
        for socket in self.connections.keys().copied().collect::<Vec<_>>() {
            self.outputs.push((socket, Output::Close(code)));
            self.disconnect_socket(now_ms, socket);
        }
    }

    pub(crate) fn handle_command(&mut self, now_ms: i64, socket: u64, text: &str) {
        let Some(connection) = self.connections.get(&socket) else {
            return;
        };
        let (is_preview, is_joined) = (connection.is_preview, connection.is_joined);
        if is_preview {
            self.connect(now_ms, socket);
        }
        let is_joined = is_joined || is_preview;
        let player = PLAYER;
        let (id, input) = match read_command(text).expect("a well-formed command") {
            Command::Authenticate { token, .. } => {
                let token = token.expect("the client authenticates with a token");
                self.authenticate(now_ms, socket, token.as_str());
                return;
            }
            Command::Join { id, from, tag, table } => {
                assert!(self.connection(socket).is_authenticated, "the client joins too early");
                self.connect(now_ms, socket);
                self.send_table(now_ms, socket, id, from.zip(tag), table);
                return;
            }
            Command::Ping { id } => {
                self.send(socket, &Message::Ack { id, version: None });
                return;
            }
            Command::Ready { id, game, commitment } => {
                (id, Input::Ready { player, game, commitment })
            }
            Command::Reveal { id, game, text } => (id, Input::Reveal { player, game, text }),
            Command::Act { id, game, prompt, action } => {
                let mut reader = serde_json::Deserializer::from_str(action.as_str());
                let action = AnyGame::read_action(&self.player_view().kind, &mut reader);
                let action = action.expect("an action of the table's game");
                (id, Input::Act { player, game, prompt, action })
            }
            other => panic!("an unexpected command: {}", other.kind()),
        };
        if !is_joined {
            self.refuse(socket, id, "not_joined", "");
            return;
        }
        match self.submit(now_ms, input, Some((socket, id))) {
            Ok(true) => {}
            Ok(false) => {
                let version = Some(self.version);
                self.send(socket, &Message::Ack { id, version });
            }
            Err(code) => self.refuse(socket, id, code, "refused by the table"),
        }
    }

    fn authenticate(&mut self, now_ms: i64, socket: u64, token: &str) {
        let is_valid = self.access_expiry_ms.get(token).is_some_and(|at_ms| *at_ms >= now_ms);
        let Some(connection) = self.connections.get_mut(&socket) else {
            return;
        };
        if connection.is_authenticated || !is_valid {
            self.refuse(socket, 0, "token_expired", "");
            self.outputs.push((socket, Output::Close(close::NOT_AUTHENTICATED)));
            self.connections.remove(&socket);
            return;
        }
        connection.is_authenticated = true;
        let hello = Message::Hello {
            player: PLAYER,
            protocol: self.form.subprotocol().into(),
            server_time_ms: Timestamp::from_ms(now_ms),
            notices: Some(0),
        };
        self.send(socket, &hello);
        self.send(socket, &Message::Ack { id: 0, version: None });
    }

    /// Tells the table of the connection, which replaces the previous one.
    fn connect(&mut self, now_ms: i64, socket: u64) {
        if let Some(replaced) = self.joined.filter(|joined| *joined != socket) {
            self.outputs.push((replaced, Output::Close(close::REPLACED)));
            self.connections.remove(&replaced);
        }
        self.joined = Some(socket);
        let connection = self.connection(socket);
        connection.is_preview = false;
        connection.is_joined = true;
        let input = Input::Connect { player: PLAYER, connection: connection.id };
        // The same connection may join twice.
        let _ = self.submit(now_ms, input, None);
    }

    fn send_table(
        &mut self,
        now_ms: i64,
        socket: u64,
        id: u32,
        from: Option<(u64, Tag)>,
        table: Option<TableId>,
    ) {
        let from = from.filter(|_| table == Some(self.table.id()));
        match from.and_then(|(version, tag)| self.updates_since(version, tag)) {
            Some(updates) => {
                let last = updates.len();
                for (place, update) in (1..).zip(updates) {
                    self.send_update(socket, &update, place == last, None);
                }
            }
            None => {
                let view = self.player_view();
                let prompt = OpenPrompt::from_view(&view);
                let snapshot = Message::Snapshot {
                    version: self.version,
                    tag: self.tag,
                    server_time_ms: Timestamp::from_ms(now_ms),
                    view: Box::new(view),
                    prompt,
                };
                self.send(socket, &snapshot);
            }
        }
        let version = Some(self.version);
        self.send(socket, &Message::Ack { id, version });
    }

    /// Returns the updates after a version, or `None` if they are not known.
    fn updates_since(&self, version: u64, tag: Tag) -> Option<Vec<Update>> {
        let place =
            self.journal.iter().rposition(|one| (one.version, one.tag) == (version, tag))?;
        let missed = &self.journal[place + 1..];
        (missed.len() <= RESUMED_MAX).then(|| missed.to_vec())
    }

    /// Applies an input, and sends the update to every connection that follows the table. Returns
    /// whether the update has acknowledged the command.
    fn submit(
        &mut self,
        now_ms: i64,
        input: Input<AnyAction>,
        command: Option<(u64, u32)>,
    ) -> Result<bool, &'static str> {
        let seed = ServerSeed(Hex(self.random.draw_bytes()));
        let game = GameId(Uuid::from_bytes(self.random.draw_bytes()));
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
        self.tag = Tag(Hex(self.random.draw_bytes()));
        let prompt = OpenPrompt::from_view(&self.player_view());
        let at = transition.line.at;
        let update = Update { version: self.version, tag: self.tag, at, events, prompt };
        self.journal.push(update.clone());
        let followers = self.connections.iter().filter(|(_, one)| one.is_joined || one.is_preview);
        for socket in followers.map(|(socket, _)| *socket).collect::<Vec<_>>() {
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
            let before =
                self.closed_prompts.insert(ended, ClosedPrompt { at_ms: now_ms, by_player });
            assert!(before.is_none(), "a prompt was open twice");
        }
    }

    fn send_update(&mut self, socket: u64, update: &Update, is_last: bool, ack: Option<u32>) {
        let Update { version, tag, at, ref events, ref prompt } = *update;
        let message = Message::Update {
            version,
            tag,
            server_time_ms: at,
            events: events.clone(),
            prompt: prompt.clone().filter(|_| is_last),
            ack,
        };
        self.send(socket, &message);
    }

    fn refuse(&mut self, socket: u64, id: u32, code: &'static str, detail: &str) {
        let refusal = Message::Refusal {
            id: Some(id),
            code: code.into(),
            rule: None,
            detail: detail.into(),
            retryable: false,
            retry_after_ms: None,
        };
        self.send(socket, &refusal);
    }

    fn send(&mut self, socket: u64, message: &Message<AnyGame>) {
        let form = self.form;
        let mut bytes = Vec::new();
        let shorthand = &mut self.connection(socket).shorthand;
        shorthand.write(message, &mut bytes).expect("a message is encoded");
        let data = match form {
            Form::Full | Form::Brief => {
                SocketData::Text(String::from_utf8(bytes).expect("JSON is UTF-8"))
            }
            Form::Compact => SocketData::Binary(bytes),
        };
        self.outputs.push((socket, Output::Data(data)));
    }

    fn connection(&mut self, socket: u64) -> &mut Connection {
        self.connections.get_mut(&socket).expect("the socket is open")
    }
}
