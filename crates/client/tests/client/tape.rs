//! Plays a tape against the core (clients/tapes/README.md): provides the clock, the network and the
//! server's side of the connection, and compares the client's commands and state with those of the
//! tape. The laboratory's tests use this file too.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use bahay_client::{
    ClientCore, CommandNumber, Effect, HttpAnswer, Input, Link, Notification, Options, Outcome,
    SeedText, SocketData, Time, Wish,
};
use bahay_engine::catalog::AnyGame;
use bahay_engine::table::Readable;
use bahay_model_server::{Reply, TokenIssuer, upgrade_commands};
use bahay_protocol::Message;
use bahay_protocol::brief::{Form, Shorthand};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::rest::http_answer;

/// The client's clocks minus the server's; the client has to determine it.
const AHEAD_MS: i64 = 5_000_000;
const PING_IDS: u64 = 1_000_000;
/// The bound of timer runs before the next line, far more than any client needs.
const RUNS_MAX: u32 = 100_000;
/// The permitted error of the client's server time once it is current.
const CLOCK_MS: i64 = 1_000;
/// The number of hexadecimal digits of a digest.
const DIGEST_CHARS: usize = 16;

type TapeResult = Result<(), String>;

/// A summary of a played tape.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct TapeSummary {
    pub(crate) connections: usize,
    pub(crate) shows: usize,
}

/// Plays a tape.
///
/// # Errors
/// If the client deviates from the tape, with the number of the line.
pub(crate) fn play_tape(text: &str) -> Result<TapeSummary, String> {
    let mut lines = (1..).zip(text.trim_end().lines());
    let parse = |(number, line): (usize, &str)| {
        let value: Value =
            serde_json::from_str(line).map_err(|error| format!("line {number}: {error}"))?;
        Ok::<_, String>((number, value))
    };
    let (_, header) = parse(lines.next().ok_or("an empty tape")?)?;
    let mut player = TapePlayer::new(&header)?;
    for line in lines {
        let (number, line) = parse(line)?;
        player.play_line(&line).map_err(|error| format!("line {number}: {error}\n{line}"))?;
    }
    player.check_nothing_pending()?;
    Ok(player.summary)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Net {
    Up,
    Down,
    Dead,
    Portal,
}

struct TapePlayer {
    form: Form,
    kind: String,
    core: ClientCore,
    now_ms: i64,
    /// The time of the present line.
    at_ms: i64,
    ahead_ms: i64,
    wall_ahead_ms: i64,
    inputs: VecDeque<Input>,
    is_asleep: bool,
    stops: bool,
    net: Net,
    /// True if the connection was lost while the machine slept, without notice.
    is_stale: bool,
    /// The sockets that wait to be opened, oldest first.
    waiting: Vec<u64>,
    /// The commands within each socket's request, which count as sent when the socket opens.
    requests: BTreeMap<u64, Vec<Value>>,
    socket: Option<u64>,
    before: Option<u64>,
    sent: VecDeque<Value>,
    ended: VecDeque<(CommandNumber, Outcome)>,
    wishes: CommandNumber,
    issuer: TokenIssuer,
    valid_tokens: BTreeSet<String>,
    drops_refresh_answer: bool,
    id: String,
    summary: TapeSummary,
    /// The first violation by an effect.
    violation: Option<String>,
}

impl TapePlayer {
    fn new(header: &Value) -> Result<Self, String> {
        if header["tape"] != 2 {
            return Err(format!("a tape of version {}", header["tape"]));
        }
        let form = Form::from_subprotocol(header["form"].as_str());
        let time = Time { now_ms: AHEAD_MS, wall_ms: AHEAD_MS };
        Ok(Self {
            form,
            kind: header["kind"].as_str().unwrap_or_default().to_owned(),
            core: ClientCore::new(Options::new("http://tape", [1; 32], time)),
            now_ms: 0,
            at_ms: 0,
            ahead_ms: AHEAD_MS,
            wall_ahead_ms: 0,
            inputs: VecDeque::new(),
            is_asleep: false,
            stops: false,
            net: Net::Up,
            is_stale: false,
            waiting: Vec::new(),
            requests: BTreeMap::new(),
            socket: None,
            before: None,
            sent: VecDeque::new(),
            ended: VecDeque::new(),
            wishes: 0,
            issuer: TokenIssuer::default(),
            valid_tokens: BTreeSet::new(),
            drops_refresh_answer: false,
            id: String::new(),
            summary: TapeSummary::default(),
            violation: None,
        })
    }

    fn play_line(&mut self, line: &Value) -> TapeResult {
        match line["at"].as_i64() {
            None => self.check_expectation(line)?,
            Some(at_ms) => {
                self.check_nothing_pending()?;
                self.at_ms = at_ms;
                self.advance_to(at_ms)?;
                self.apply_event(line)?;
            }
        }
        self.violation.take().map_or(Ok(()), Err)
    }

    /// Checks that the tape has named every command and every outcome.
    fn check_nothing_pending(&self) -> TapeResult {
        require(self.sent.is_empty(), || format!("also sent: {:?}", self.sent))?;
        require(self.ended.is_empty(), || format!("also ended: {:?}", self.ended))
    }

    fn apply_event(&mut self, line: &Value) -> TapeResult {
        if !line["do"].is_null() {
            self.perform_wish(&line["do"], line)
        } else if let Some(within_ms) = line["enter"]["within"].as_i64() {
            self.expect_connection(within_ms)
        } else if !line["heard"].is_null() || !line["bytes"].is_null() {
            self.deliver_message(line)
        } else if let Some(code) = line["close"].as_u64() {
            self.close_socket(u16::try_from(code).map_err(|error| error.to_string())?)
        } else if let Some(net) = line["net"].as_str() {
            self.set_network(net)
        } else if !line["noticed"].is_null() {
            let is_live = self.core.state().link == Link::Live;
            require(!is_live, || "the client has not noticed that the connection is dead".into())
        } else if let Some(ms) = line["clock"].as_i64() {
            self.wall_ahead_ms += ms;
            Ok(())
        } else if line["refresh"] == "unanswered" {
            self.drops_refresh_answer = true;
            Ok(())
        } else if line["refresh"] == "elsewhere" {
            let newest = self.issuer.newest_refresh();
            self.refresh(&newest).map(drop)
        } else if !line["sleep"].is_null() {
            self.is_asleep = true;
            self.is_stale = true;
            self.stops = line["stops"] == true;
            Ok(())
        } else if !line["expire"].is_null() {
            self.valid_tokens.clear();
            Ok(())
        } else if let Some(link) = line["link"].as_str() {
            let found = &self.core.state().link;
            let is_it = match link {
                "replaced" => *found == Link::Replaced,
                "signed_out" => matches!(found, Link::SignedOut { .. }),
                _ => false,
            };
            require(is_it, || format!("the link is {found:?}"))
        } else {
            Err("an unknown line".into())
        }
    }

    fn check_expectation(&mut self, line: &Value) -> TapeResult {
        if !line["send"].is_null() {
            let sent = self.sent.pop_front().unwrap_or_default();
            assert_same("command", &sent, &line["send"])
        } else if !line["show"].is_null() {
            let table = self.core.state().table.as_ref().ok_or("no table is shown")?;
            let shown = json!({ "view": table.view, "prompt": table.prompt });
            let found = digest(&shown);
            self.summary.shows += 1;
            require(line["show"]["digest"] == found, || format!("shown: {}", canonical(&shown)))?;
            let found = json!({ "version": table.version, "tag": table.tag, "digest": found });
            assert_same("shown", &found, &line["show"])
        } else if !line["current"].is_null() {
            let table = self.core.state().table.as_ref();
            require(table.is_some_and(|table| table.is_current), || "not current".into())?;
            self.check_clock()
        } else if !line["unseated"].is_null() {
            let is_none = self.core.state().table.is_none();
            require(is_none, || "the table is still shown".into())
        } else if !line["end"].is_null() {
            let found = self.ended.pop_front().map(|(wish, outcome)| {
                let outcome = match outcome {
                    Outcome::Done { .. } => "done".to_owned(),
                    Outcome::Overtaken => "overtaken".to_owned(),
                    Outcome::Refused { .. } | Outcome::Dropped => format!("{outcome:?}"),
                };
                json!({ "wish": wish, "outcome": outcome })
            });
            assert_same("ended", &found.unwrap_or_default(), &line["end"])
        } else {
            Err("an unknown line".into())
        }
    }

    fn perform_wish(&mut self, wish: &Value, line: &Value) -> TapeResult {
        let wish = match wish["type"].as_str().unwrap_or_default() {
            "start" => {
                self.id = line["player"].as_str().unwrap_or_default().to_owned();
                self.push_input(Input::Start);
                return Ok(());
            }
            "wake" => {
                self.push_input(Input::Wake);
                return Ok(());
            }
            "ready" => Wish::Ready {
                seed_text: match wish["text"].as_str() {
                    Some(text) => SeedText::Chosen(text.into()),
                    None => SeedText::None,
                },
            },
            "act" => {
                let action = AnyGame::read_action(&self.kind, &wish["action"]);
                Wish::Act { action: action.map_err(|error| error.to_string())? }
            }
            "leave" => Wish::Leave,
            other => return Err(format!("an unknown wish: {other}")),
        };
        self.wishes += 1;
        self.push_input(Input::Command { command: self.wishes, wish });
        Ok(())
    }

    fn set_network(&mut self, net: &str) -> TapeResult {
        self.net = match net {
            "up" => Net::Up,
            "down" => Net::Down,
            "dead" => Net::Dead,
            "portal" => Net::Portal,
            other => return Err(format!("an unknown network: {other}")),
        };
        self.is_stale |= self.net == Net::Dead;
        Ok(())
    }

    /// Checks the client's server time, unless the line was processed late.
    fn check_clock(&self) -> TapeResult {
        if self.now_ms - self.at_ms >= CLOCK_MS {
            return Ok(());
        }
        let off_ms = self.core.server_time_ms(self.now_ms + self.ahead_ms) - self.now_ms;
        let is_right = off_ms.abs() <= CLOCK_MS;
        require(is_right, || format!("the client's server time is off by {off_ms} ms"))
    }

    fn expect_connection(&mut self, within_ms: i64) -> TapeResult {
        let end_ms = self.now_ms + within_ms;
        loop {
            let Some(socket) = self.waiting.pop() else {
                self.advance_to_next_timer(end_ms)?;
                continue;
            };
            self.open_socket(socket);
            while self.sent.is_empty() && self.socket == Some(socket) {
                self.advance_to_next_timer(end_ms)?;
            }
            // The socket was opened into a dead network, and abandoned before a token arrived.
            let Some(mut entry) = self.sent.pop_front() else {
                continue;
            };
            let token = entry["token"].take();
            assert_same("first command", &entry, &json!({ "type": "authenticate", "id": 0 }))?;
            if token.as_str().is_some_and(|token| self.valid_tokens.contains(token)) {
                return Ok(());
            }
            self.sent.clear();
            let refusal = Message::Refusal {
                id: Some(0),
                code: "token_expired".into(),
                rule: None,
                detail: "the access token has expired; use the refresh token".into(),
                retryable: false,
                retry_after_ms: None,
            };
            let data = self.encode(&refusal);
            self.push_input(Input::Received { socket, data });
            if self.socket == Some(socket) {
                self.close_socket(4401)?;
            }
        }
    }

    fn open_socket(&mut self, socket: u64) {
        self.summary.connections += 1;
        self.before = self.socket.or(self.before);
        self.socket = Some(socket);
        self.is_stale = false;
        self.sent.extend(self.requests.remove(&socket).unwrap_or_default());
        let protocol = self.form.subprotocol().to_owned();
        self.push_input(Input::Opened { socket, protocol });
    }

    fn deliver_message(&mut self, line: &Value) -> TapeResult {
        let data = match (line["heard"].as_str(), line["bytes"].as_str()) {
            (Some(text), _) => SocketData::Text(text.into()),
            (None, Some(digits)) => SocketData::Binary(read_hex(digits)),
            (None, None) => return Err("a message without content".into()),
        };
        if line["on"] == "before" {
            let state = self.core.state().clone();
            if let Some(socket) = self.before {
                self.push_input(Input::Received { socket, data });
            }
            let is_same = *self.core.state() == state;
            return require(is_same, || "a message of an old connection changed the state".into());
        }
        let socket = self.socket.ok_or("there is no connection")?;
        self.push_input(Input::Received { socket, data });
        Ok(())
    }

    fn close_socket(&mut self, code: u16) -> TapeResult {
        let socket = self.socket.take().ok_or("there is no connection")?;
        self.before = Some(socket);
        self.push_input(Input::Closed { socket, code });
        Ok(())
    }

    /// Advances time with the client's timers, unless the client sleeps.
    fn advance_to(&mut self, at_ms: i64) -> TapeResult {
        if std::mem::take(&mut self.is_asleep) {
            let slept_ms = (at_ms - self.now_ms).max(0);
            self.now_ms += slept_ms;
            if self.stops {
                self.ahead_ms -= slept_ms;
                self.wall_ahead_ms += slept_ms;
            }
        }
        for runs in 0.. {
            let Some(next_ms) = self.next_timer().filter(|next_ms| *next_ms <= at_ms) else {
                break;
            };
            require(runs < RUNS_MAX, || "the client's timers do not end".into())?;
            self.now_ms = self.now_ms.max(next_ms);
            self.push_input(Input::Timeout);
        }
        self.now_ms = self.now_ms.max(at_ms);
        Ok(())
    }

    /// Advances to the next timer, which must be due by `end_ms`.
    fn advance_to_next_timer(&mut self, end_ms: i64) -> TapeResult {
        let next_ms = self.next_timer().filter(|next_ms| *next_ms <= end_ms);
        let link = &self.core.state().link;
        let late = || format!("the client did not connect in time: {link:?}");
        let next_ms = next_ms.ok_or_else(late)?;
        self.advance_to(next_ms)
    }

    fn next_timer(&self) -> Option<i64> {
        Some(self.core.poll_timeout()? - self.ahead_ms)
    }

    /// Handles an input. An input caused by an effect waits until all effects of its input are
    /// performed.
    fn push_input(&mut self, input: Input) {
        self.inputs.push_back(input);
        if self.inputs.len() > 1 {
            return;
        }
        while let Some(input) = self.inputs.front().cloned() {
            let now_ms = self.now_ms + self.ahead_ms;
            let time = Time { now_ms, wall_ms: now_ms + self.wall_ahead_ms };
            self.core.handle_input(time, input);
            while let Some(effect) = self.core.poll_effect() {
                if let Err(violation) = self.perform(effect) {
                    self.violation.get_or_insert(violation);
                }
            }
            self.inputs.pop_front();
        }
    }

    fn perform(&mut self, effect: Effect) -> TapeResult {
        match effect {
            Effect::Open { socket, url, protocols } => match self.net {
                Net::Down | Net::Portal => {
                    self.push_input(Input::Closed { socket, code: 1006 });
                }
                Net::Up | Net::Dead => {
                    self.waiting.push(socket);
                    self.requests.insert(socket, commands_in_request(&url, &protocols));
                }
            },
            Effect::Close { socket } => {
                self.waiting.retain(|waiting| *waiting != socket);
                if self.socket == Some(socket) {
                    self.before = self.socket.take();
                }
            }
            Effect::Send { socket, text } => {
                let command = serde_json::from_str(&text).map_err(|error| error.to_string())?;
                self.receive_command(socket, command)?;
            }
            Effect::Request { request, url, body, .. } => {
                self.answer_request(request, &url, body.as_deref().unwrap_or("{}"))?;
            }
            Effect::Notify(notification) => {
                if let Notification::Ended { command, outcome, .. } = *notification {
                    self.ended.push_back((command, outcome));
                }
            }
            Effect::Store { .. } | Effect::Called { .. } => {}
        }
        Ok(())
    }

    fn receive_command(&mut self, socket: u64, command: Value) -> TapeResult {
        if command["type"] == "ping" {
            let id = command["id"].as_u64().unwrap_or_default();
            require(id >= PING_IDS, || "the id of a ping is at least a million".into())?;
            if self.net == Net::Up && !self.is_stale && self.socket == Some(socket) {
                let id = u32::try_from(id).map_err(|error| error.to_string())?;
                let data = self.encode(&Message::Ack { id, version: None });
                self.push_input(Input::Received { socket, data });
            }
            return Ok(());
        }
        let is_used = self.socket == Some(socket);
        require(is_used, || format!("sent on another connection: {command}"))?;
        self.sent.push_back(command);
        Ok(())
    }

    fn answer_request(&mut self, request: u64, url: &str, body: &str) -> TapeResult {
        match self.net {
            // A request into a dead network has no answer; the client's own timeout ends it.
            Net::Dead => return Ok(()),
            Net::Down => {
                self.push_input(Input::Unanswered { request });
                return Ok(());
            }
            Net::Portal => {
                let answer = HttpAnswer {
                    status: 200,
                    content_type: Some("text/html".into()),
                    body: "<html>".into(),
                    retry_after_ms: None,
                };
                self.push_input(Input::Answered { request, answer });
                return Ok(());
            }
            Net::Up => {}
        }
        let body: Value = serde_json::from_str(body).map_err(|error| error.to_string())?;
        let reply = if url.ends_with("/v1/token/refresh") {
            let token = body["refresh_token"].as_str().unwrap_or_default();
            let access = self.issuer.access_of(token);
            let is_valid = access.is_some_and(|access| self.valid_tokens.contains(access));
            let is_young = is_valid && self.issuer.is_young(token, self.now_ms);
            require(!is_young, || "a token that is seconds old was renewed".into())?;
            let reply = self.refresh(token)?;
            if std::mem::take(&mut self.drops_refresh_answer) {
                self.push_input(Input::Unanswered { request });
                return Ok(());
            }
            reply
        } else if url.ends_with("/v1/sign-in/guest") {
            let device = body["device_id"].as_str().unwrap_or_default();
            require(device.len() >= 16, || "a device id is too short".into())?;
            let mut tokens = self.issuer.issue(self.now_ms);
            self.trust(&tokens);
            tokens["player"] = json!({ "id": self.id, "name": "player" });
            Reply::new(200, tokens)
        } else {
            return Err(format!("an unexpected request: {url}"));
        };
        self.push_input(Input::Answered { request, answer: http_answer(&reply) });
        Ok(())
    }

    fn refresh(&mut self, token: &str) -> Result<Reply, String> {
        let reply = self.issuer.refresh(token, self.now_ms)?;
        if reply.is_new {
            self.trust(&reply.reply.body);
        }
        Ok(reply.reply)
    }

    fn trust(&mut self, tokens: &Value) {
        self.valid_tokens.insert(tokens["access_token"].as_str().unwrap_or_default().to_owned());
    }

    fn encode(&self, message: &Message<AnyGame>) -> SocketData {
        let mut bytes = Vec::new();
        Shorthand::new(self.form).write(message, &mut bytes).expect("a message is encoded");
        match self.form {
            Form::Full | Form::Brief => {
                SocketData::Text(String::from_utf8(bytes).expect("JSON is UTF-8"))
            }
            Form::Compact => SocketData::Binary(bytes),
        }
    }
}

/// Returns the commands within a request for a socket, as a server reads them; none if all of them
/// follow once the socket is open.
fn commands_in_request(url: &str, protocols: &[String]) -> Vec<Value> {
    let (_, query) = url.split_once('?').unwrap_or_default();
    let texts = upgrade_commands(query, protocols, None);
    texts.iter().map(|text| serde_json::from_str(text).expect("a command is JSON")).collect()
}

fn require(holds: bool, otherwise: impl FnOnce() -> String) -> TapeResult {
    if holds { Ok(()) } else { Err(otherwise()) }
}

fn assert_same(what: &str, found: &Value, expected: &Value) -> TapeResult {
    let (found, expected) = (canonical(found), canonical(expected));
    require(found == expected, || format!("{what}: expected {expected}, found {found}"))
}

fn read_hex(digits: &str) -> Vec<u8> {
    let byte = |pair: &[u8]| {
        let text = std::str::from_utf8(pair).expect("digits are ASCII");
        u8::from_str_radix(text, 16).expect("a hexadecimal number")
    };
    digits.as_bytes().chunks(2).map(byte).collect()
}

/// Returns the digest of a state, as a tape names it.
fn digest(value: &Value) -> String {
    let hash = Sha256::digest(canonical(value).as_bytes());
    let digits: String = hash.iter().map(|byte| format!("{byte:02x}")).collect();
    digits[..DIGEST_CHARS].to_owned()
}

/// Returns canonical JSON: keys in order, no spaces, and no nulls in objects.
fn canonical(value: &Value) -> String {
    match value {
        Value::Object(fields) => {
            let sorted: BTreeMap<_, _> =
                fields.iter().filter(|(_, field)| !field.is_null()).collect();
            let fields: Vec<String> = sorted
                .into_iter()
                .map(|(key, field)| format!("{}:{}", json!(key), canonical(field)))
                .collect();
            format!("{{{}}}", fields.join(","))
        }
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(canonical).collect();
            format!("[{}]", items.join(","))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.to_string(),
    }
}
