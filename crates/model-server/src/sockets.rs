//! The sockets of the player: requests for them, commands, and the answers.

use bahay_bots::table::hint;
use bahay_engine::catalog::{AnyAction, AnyGame};
use bahay_engine::table::{ConnectionId, Input, Readable, TableId, Timestamp};
use bahay_protocol::brief::{Form, Shorthand};
use bahay_protocol::{
    ActionText, Command, Credential, MESSAGE_BYTES_MAX, Message, Tag, close, read_command,
};
use uuid::Uuid;

use crate::model_server::{Connection, ModelServer, Output, PLAYER, Submission, WireData};

impl ModelServer {
    /// Accepts a socket whose messages have this form.
    pub fn accept_socket(&mut self, socket: u64, form: Form) {
        let connection = Connection {
            id: ConnectionId(Uuid::from_u128(1_000 + u128::from(socket))),
            is_authenticated: false,
            is_joined: false,
            is_preview: false,
        };
        self.connections.insert(socket, connection);
        self.encoders.insert(socket, Shorthand::new(form));
    }

    /// Returns the form of a socket's messages.
    pub fn form(&self, socket: u64) -> Form {
        self.encoders.get(&socket).map_or(Form::Full, Shorthand::form)
    }

    /// Encodes a message for a socket, whose messages are encoded in their order.
    ///
    /// # Panics
    /// If the message cannot be written, as none of the protocol's own.
    pub fn encode(&mut self, socket: u64, message: &Message<AnyGame>) -> WireData {
        let mut bytes = Vec::new();
        let encoder = self.encoders.entry(socket).or_default();
        encoder.write(message, &mut bytes).expect("a message of the protocol is encoded");
        match encoder.form() {
            Form::Full | Form::Brief => {
                WireData::Text(String::from_utf8(bytes).expect("JSON is UTF-8"))
            }
            Form::Compact => WireData::Binary(bytes),
        }
    }

    /// Handles the commands within the request for a socket, as if they had been its first
    /// messages.
    pub fn handle_request(&mut self, now_ms: i64, socket: u64, commands: &[String]) {
        for text in commands {
            match read_command(text) {
                Ok(Command::Authenticate { token, ticket, .. }) => {
                    self.authenticate(now_ms, socket, token, ticket);
                }
                Ok(Command::Join { id, from, tag, table }) => {
                    let connection = self.connections.get_mut(&socket);
                    // Without credentials the join runs after `authenticate`, which this model
                    // leaves to the client.
                    let Some(connection) = connection.filter(|one| one.is_authenticated) else {
                        continue;
                    };
                    connection.is_preview = true;
                    self.send_table(now_ms, socket, id, from.zip(tag), table);
                }
                Ok(other) => {
                    let kind = other.kind();
                    self.record_violation(format!("a {kind} in the request for a socket"));
                }
                Err(error) => {
                    self.record_violation(format!("a malformed request for a socket: {error}"));
                }
            }
        }
    }

    /// Handles the end of a socket.
    pub fn disconnect_socket(&mut self, now_ms: i64, socket: u64) {
        let Some(connection) = self.connections.remove(&socket) else {
            return;
        };
        if self.joined.take_if(|joined| *joined == socket).is_some() {
            let input = Input::Disconnect { player: PLAYER, connection: connection.id };
            // The player may be away already.
            let _ = self.submit(now_ms, input, None);
        }
    }

    /// Closes every socket with a code.
    pub fn close_all(&mut self, now_ms: i64, code: u16) {
        for socket in self.connections.keys().copied().collect::<Vec<_>>() {
            self.outputs.push((socket, Output::Close(code)));
            self.disconnect_socket(now_ms, socket);
        }
    }

    /// Handles a text of a client. Returns the decision on a command of the table.
    pub fn handle_command(&mut self, now_ms: i64, socket: u64, text: &str) -> Option<Submission> {
        if !self.connections.contains_key(&socket) {
            return None;
        }
        if text.len() > MESSAGE_BYTES_MAX {
            self.record_violation(format!("a text of {} bytes", text.len()));
            self.outputs.push((socket, Output::Close(close::TOO_LONG)));
            self.disconnect_socket(now_ms, socket);
            return None;
        }
        match read_command(text) {
            Ok(command) => self.handle_parsed(now_ms, socket, command),
            Err(error) => {
                self.record_violation(format!("a malformed command: {error}: {text}"));
                self.refuse(socket, None, "malformed");
                None
            }
        }
    }

    fn handle_parsed(
        &mut self,
        now_ms: i64,
        socket: u64,
        command: Command<ActionText>,
    ) -> Option<Submission> {
        let connection = self.connections.get(&socket)?;
        let is_authenticated = connection.is_authenticated;
        let is_preview = connection.is_preview;
        let id = command.id();
        if let Command::Authenticate { token, ticket, .. } = command {
            self.authenticate(now_ms, socket, token, ticket);
            return None;
        }
        if !is_authenticated {
            self.record_violation(format!("a {} before authenticate", command.kind()));
            self.refuse(socket, Some(id), "not_authenticated");
            self.outputs.push((socket, Output::Close(close::NOT_AUTHENTICATED)));
            self.disconnect_socket(now_ms, socket);
            return None;
        }
        if is_preview && !matches!(command, Command::Join { .. }) {
            self.connect(now_ms, socket);
        }
        let is_joined = self.connections.get(&socket).is_some_and(|one| one.is_joined);
        let player = PLAYER;
        let input = match command {
            Command::Authenticate { .. } => return None,
            Command::Join { from, tag, table, .. } => {
                if !self.is_seated {
                    self.refuse(socket, Some(id), "not_seated");
                    return None;
                }
                self.connect(now_ms, socket);
                self.send_table(now_ms, socket, id, from.zip(tag), table);
                return None;
            }
            Command::Ping { .. } => {
                self.send(socket, Message::Ack { id, version: None });
                return None;
            }
            Command::Say { .. } | Command::Unwatch { .. } => {
                self.send(socket, Message::Ack { id, version: None });
                return None;
            }
            Command::Watch { .. } => {
                self.refuse(socket, Some(id), "already_joined");
                return None;
            }
            Command::Seek { .. } => {
                self.refuse(socket, Some(id), "room_not_found");
                return None;
            }
            Command::CancelSeek { .. } => {
                self.refuse(socket, Some(id), "ticket_not_found");
                return None;
            }
            Command::Hint { .. } => {
                self.advise(socket, id);
                return None;
            }
            Command::Ready { game, commitment, .. } => Input::Ready { player, game, commitment },
            Command::Reveal { game, text, .. } => Input::Reveal { player, game, text },
            Command::Act { game, prompt, action, .. } => match self.read_action(&action) {
                Some(action) => Input::Act { player, game, prompt, action },
                None => {
                    self.record_violation(format!("an action of no game: {}", action.as_str()));
                    self.refuse(socket, Some(id), "malformed");
                    return None;
                }
            },
            Command::TakeBack { .. } => Input::TakeBack { player },
            Command::Leave { .. } => Input::Leave { player },
        };
        if !is_joined || !self.is_seated {
            let code = if is_joined { "not_seated" } else { "not_joined" };
            self.refuse(socket, Some(id), code);
            return Some(Submission::Refused { code });
        }
        Some(self.decide_command(now_ms, socket, id, input))
    }

    fn decide_command(
        &mut self,
        now_ms: i64,
        socket: u64,
        id: u32,
        input: Input<AnyAction>,
    ) -> Submission {
        match self.submit(now_ms, input, Some((socket, id))) {
            Ok(is_acked) => {
                if !is_acked {
                    let version = Some(self.version);
                    self.send(socket, Message::Ack { id, version });
                }
                self.is_seated = self.table.seat_of(PLAYER).is_some();
                Submission::Accepted
            }
            Err(code) => {
                self.refuse(socket, Some(id), code);
                Submission::Refused { code }
            }
        }
    }

    fn read_action(&self, action: &ActionText) -> Option<AnyAction> {
        let mut reader = serde_json::Deserializer::from_str(action.as_str());
        AnyGame::read_action(self.table.kind(), &mut reader).ok()
    }

    fn advise(&mut self, socket: u64, id: u32) {
        match hint(&self.table, PLAYER) {
            Ok(advice) => {
                let message = Message::Advice {
                    game: advice.game,
                    prompt: advice.prompt,
                    action: advice.action,
                    by: advice.by.name().into(),
                };
                self.send(socket, message);
                self.send(socket, Message::Ack { id, version: None });
            }
            Err(rejection) => self.refuse(socket, Some(id), rejection.code()),
        }
    }

    fn authenticate(
        &mut self,
        now_ms: i64,
        socket: u64,
        token: Option<Credential>,
        ticket: Option<Credential>,
    ) {
        let by_token = token.is_some_and(|token| self.tokens.is_valid(token.as_str(), now_ms));
        let by_ticket = ticket.is_some_and(|ticket| {
            self.tickets.remove(ticket.as_str()).is_some_and(|until_ms| until_ms >= now_ms)
        });
        let Some(connection) = self.connections.get_mut(&socket) else {
            return;
        };
        if connection.is_authenticated {
            self.refuse(socket, Some(0), "already_authenticated");
            return;
        }
        if !by_token && !by_ticket {
            self.refuse(socket, Some(0), "token_expired");
            self.outputs.push((socket, Output::Close(close::NOT_AUTHENTICATED)));
            self.connections.remove(&socket);
            return;
        }
        connection.is_authenticated = true;
        let protocol = self.form(socket).subprotocol().into();
        let server_time_ms = Timestamp::from_ms(now_ms);
        let hello = Message::Hello { player: PLAYER, protocol, server_time_ms, notices: Some(0) };
        self.send(socket, hello);
        self.send(socket, Message::Ack { id: 0, version: None });
    }

    /// Tells the table of the connection, which replaces the previous one.
    fn connect(&mut self, now_ms: i64, socket: u64) {
        if let Some(replaced) = self.joined.filter(|joined| *joined != socket) {
            self.outputs.push((replaced, Output::Close(close::REPLACED)));
            self.connections.remove(&replaced);
        }
        self.joined = Some(socket);
        let Some(connection) = self.connections.get_mut(&socket) else {
            return;
        };
        let id = connection.id;
        // A connection that is shown the table follows it already; any other is sent it now.
        connection.is_joined = connection.is_preview;
        connection.is_preview = false;
        let input = Input::Connect { player: PLAYER, connection: id };
        // The same connection may join twice.
        let _ = self.submit(now_ms, input, None);
        if let Some(connection) = self.connections.get_mut(&socket) {
            connection.is_joined = true;
        }
    }

    fn send_table(
        &mut self,
        now_ms: i64,
        socket: u64,
        id: u32,
        from: Option<(u64, Tag)>,
        table: Option<TableId>,
    ) {
        if !self.is_seated {
            self.refuse(socket, Some(id), "not_seated");
            return;
        }
        let from = from.filter(|_| table == Some(self.table.id()));
        match from.and_then(|(version, tag)| self.updates_since(version, tag)) {
            Some(updates) => {
                let last = updates.len();
                for (place, update) in (1..).zip(updates) {
                    self.send_update(socket, &update, place == last, None);
                }
            }
            None => {
                let snapshot = self.snapshot(now_ms);
                self.send(socket, snapshot);
            }
        }
        let version = Some(self.version);
        self.send(socket, Message::Ack { id, version });
    }
}
