//! A client among hostile events: valid and mutated messages of a server, arbitrary bytes, ends of
//! sockets and requests, sleeps, and the player's wishes, in any order and at any time.
//!
//! The tests of the client (`crates/client/tests/client/hostile.rs`) use this module too.

use bahay_client::{
    Call, ClientCore, Effect, HttpAnswer, Input, Options, SeedText, SocketData, Time, Wish,
};
use bahay_engine::catalog::AnyGame;
use bahay_engine::table::{Readable, TEXT_BYTES_MAX, TableId, Timestamp};
use bahay_protocol::brief::{Form, Shorthand};
use bahay_protocol::{
    Closing, Command, MESSAGE_BYTES_MAX, Message, Phrase, SeekState, close, read_command,
};
use serde_json::{Value, json};

use crate::Choices;
use crate::documents::edit_copy;
use crate::messages::{WireTraffic, wire_traffic};

/// The largest number of events of one run.
const EVENTS_MAX: u32 = 400;
/// The largest number of timers that run without time passing, far more than a client needs.
const RUNS_MAX: u32 = 1_000;
/// The largest number of rooms of a request for a seat.
const ROOMS_MAX: usize = 8;
const ID: &str = "019ca944-3c00-7000-8000-00000000071c";
/// The time of the traffic's hello.
const START_MS: i64 = 1_772_366_400_000;

const CLOSE_CODES: [u16; 8] = [
    1001,
    1006,
    close::PROTOCOL,
    close::REPLACED,
    close::SIGNED_OUT,
    close::TOO_SLOW,
    close::TOO_FAST,
    close::NOT_AUTHENTICATED,
];

/// A client whose surroundings the bytes decide on.
struct HostileRun<'a, 'b> {
    choices: &'a mut Choices<'b>,
    traffic: &'static WireTraffic,
    core: ClientCore,
    time: Time,
    form: Form,
    writer: Shorthand,
    /// The place of the next message of the traffic.
    next: usize,
    /// The sockets and requests that the client has opened, the newest last.
    sockets: Vec<u64>,
    requests: Vec<(u64, String)>,
    commands: u64,
}

/// Runs a client among the events that the bytes decide on.
///
/// # Panics
/// If the client sends what a server has to refuse as malformed, or its timers do not end.
pub fn run_client(choices: &mut Choices<'_>) {
    let traffic = wire_traffic(choices);
    let time = Time { now_ms: 1_000, wall_ms: START_MS };
    let form = Form::ALL[choices.below(Form::ALL.len())];
    let options = Options {
        name: Some("Maria".into()),
        follows_wallet: choices.below(4) == 0,
        ..Options::new("https://house.example", [3; 32], time)
    };
    let mut run = HostileRun {
        choices,
        traffic,
        core: ClientCore::new(options),
        time,
        form,
        writer: Shorthand::new(form),
        next: 0,
        sockets: Vec::new(),
        requests: Vec::new(),
        commands: 0,
    };
    run.handle(Input::Start);
    run.answer_request(false);
    run.open_socket();
    for _ in 0..EVENTS_MAX {
        if run.choices.are_spent() {
            break;
        }
        run.take_step();
    }
    // Whatever has happened, a later timer ends no differently.
    run.pass_time(60_000);
    run.handle(Input::Stop);
}

impl HostileRun<'_, '_> {
    fn take_step(&mut self) {
        match self.choices.below(24) {
            0..=7 => self.deliver_next(false),
            8..=10 => self.deliver_next(true),
            11 => self.deliver_bytes(),
            12 => self.deliver_answer(),
            13 => self.open_socket(),
            14 => self.close_socket(),
            15 => self.answer_request(true),
            16 => self.answer_request(false),
            17 => {
                if let Some((request, _)) = self.requests.pop() {
                    self.handle(Input::Unanswered { request });
                }
            }
            18 | 19 => {
                let ms = i64::from(self.choices.byte()) * i64::from(self.choices.byte());
                self.pass_time(ms);
            }
            20 => {
                self.time.wall_ms = self.time.wall_ms.wrapping_add(self.any_ms());
                self.handle(Input::Wake);
            }
            21 => self.handle_rare(),
            _ => self.wish(),
        }
    }

    /// Delivers the next message of the traffic, which may be mutated.
    fn deliver_next(&mut self, is_mutated: bool) {
        let message = &self.traffic.messages[self.next % self.traffic.messages.len()];
        if !is_mutated || self.choices.below(2) == 0 {
            self.next += 1;
        }
        let mut bytes = Vec::new();
        self.writer.write(message, &mut bytes).expect("messages can be serialized");
        if is_mutated {
            match self.form {
                Form::Full | Form::Brief => {
                    let document: Value = serde_json::from_slice(&bytes).expect("JSON");
                    bytes = edit_copy(&document, self.choices).to_string().into_bytes();
                }
                Form::Compact => {
                    for _ in 0..=self.choices.byte() % 4 {
                        let place = self.choices.below(bytes.len());
                        bytes[place] = self.choices.byte();
                    }
                }
            }
        }
        self.deliver(bytes);
    }

    fn deliver_bytes(&mut self) {
        let length = self.choices.below(32);
        let bytes = (0..length).map(|_| self.choices.byte()).collect();
        self.deliver(bytes);
    }

    /// Delivers an ack, a refusal or another short message, with an id that the client may have
    /// used.
    fn deliver_answer(&mut self) {
        const CODES: [&str; 8] = [
            "stale_prompt",
            "not_seated",
            "table_halted",
            "unavailable",
            "token_expired",
            "token_revoked",
            "not_joined",
            "too_fast",
        ];
        let id = match self.choices.byte() % 12 {
            10 => 1_000_000,
            11 => u32::MAX,
            small => u32::from(small),
        };
        let version = (self.choices.below(2) == 0).then(|| u64::from(self.choices.byte()));
        let message = match self.choices.below(5) {
            0 | 1 => Message::Ack { id, version },
            2 => Message::Refusal {
                id: Some(id),
                code: CODES[self.choices.below(CODES.len())].into(),
                rule: None,
                detail: String::new(),
                retryable: self.choices.below(2) == 0,
                retry_after_ms: None,
            },
            3 => self.any_ticket(),
            _ => {
                let table: TableId = ID.parse().expect("the id is valid");
                Message::Closed { table, reason: Closing::Voided }
            }
        };
        let mut bytes = Vec::new();
        self.writer.write(&message, &mut bytes).expect("messages can be serialized");
        self.deliver(bytes);
    }

    fn any_ticket(&mut self) -> Message<AnyGame> {
        const STATES: [SeekState; 4] =
            [SeekState::Waiting, SeekState::Seated, SeekState::Cancelled, SeekState::Expired];
        Message::Ticket {
            ticket: ID.parse().expect("the id is valid"),
            state: STATES[self.choices.below(STATES.len())],
            rooms: vec!["newbie".into(); self.choices.below(300)],
            table: None,
            reason: None,
            expires_at_ms: Timestamp::from_ms(self.any_ms()),
        }
    }

    fn deliver(&mut self, bytes: Vec<u8>) {
        let socket = self.any_socket();
        let data = match String::from_utf8(bytes) {
            Ok(text) if self.form != Form::Compact => SocketData::Text(text),
            Ok(text) => SocketData::Binary(text.into_bytes()),
            Err(error) => SocketData::Binary(error.into_bytes()),
        };
        self.handle(Input::Received { socket, data });
    }

    fn open_socket(&mut self) {
        let socket = self.any_socket();
        let protocol = self.form.subprotocol().to_owned();
        self.writer = Shorthand::new(self.form);
        self.handle(Input::Opened { socket, protocol });
    }

    fn close_socket(&mut self) {
        let socket = self.any_socket();
        let code = CLOSE_CODES[self.choices.below(CLOSE_CODES.len())];
        self.handle(Input::Closed { socket, code });
    }

    fn answer_request(&mut self, is_mutated: bool) {
        let Some((request, _)) = self.requests.pop() else {
            return;
        };
        let mut body = json!({
            "player": { "id": "019ca944-3c00-7000-8000-00000091a7e0", "name": "Maria" },
            "access_token": format!("a{request}"), "access_expires_at": "2026-03-01T12:15:00Z",
            "refresh_token": format!("r{request}"), "session": "s", "code": "refused",
            "available": 100, "held": 0,
        });
        let mut status = 200;
        if is_mutated {
            status = [200, 204, 401, 403, 409, 429, 503][self.choices.below(7)];
            body = edit_copy(&body, self.choices);
        }
        let content_type = Some("application/json".to_owned());
        let retry_after_ms = (self.choices.below(8) == 1).then(|| self.choices.word());
        let body = body.to_string();
        let answer = HttpAnswer { status, content_type, body, retry_after_ms };
        self.handle(Input::Answered { request, answer });
    }

    fn handle_rare(&mut self) {
        let number = u64::from(self.choices.byte());
        let input = match self.choices.below(8) {
            0 => Input::Join,
            1 => Input::Forget,
            2 => Input::Stop,
            3 => Input::SignIn {
                call: number,
                path: "/v1/sign-in/password".into(),
                body: r#"{"name":"Maria","password":"x"}"#.into(),
            },
            4 => Input::Shared { session: r#"{"session":"s"}"#.into() },
            5 => {
                let call =
                    Call { method: "GET".into(), path: "/v1/rooms".into(), ..Call::default() };
                Input::Call { number, call }
            }
            _ => Input::Start,
        };
        self.handle(input);
    }

    fn wish(&mut self) {
        let table = self.core.state().table.as_ref();
        let legal = table.and_then(|table| table.prompt.as_ref()).map(|prompt| &prompt.legal);
        let wish = match self.choices.below(10) {
            0..=2 => match legal.filter(|legal| !legal.is_empty()) {
                Some(legal) => Wish::Act { action: legal[self.choices.below(legal.len())].clone() },
                None => Wish::Ready { seed_text: SeedText::Drawn },
            },
            3 => {
                Wish::Ready { seed_text: SeedText::Chosen("luck".repeat(self.choices.below(200))) }
            }
            4 => Wish::TakeBack,
            5 => Wish::Leave,
            6 => Wish::Hint,
            7 => Wish::Say { phrase: Phrase::Hello },
            8 => Wish::Seek { rooms: vec!["newbie".into(); self.choices.below(12)] },
            _ => Wish::CancelSeek,
        };
        self.commands += 1;
        let command = self.commands;
        self.handle(Input::Command { command, wish });
    }

    /// Lets time pass, and runs the client's timers as they become due.
    fn pass_time(&mut self, ms: i64) {
        let end_ms = self.time.now_ms.saturating_add(ms);
        for runs in 0.. {
            let Some(at_ms) = self.core.poll_timeout().filter(|at_ms| *at_ms <= end_ms) else {
                break;
            };
            assert!(runs < RUNS_MAX, "the client's timers do not end");
            let passed_ms = (at_ms - self.time.now_ms).max(0);
            self.time.now_ms += passed_ms;
            self.time.wall_ms = self.time.wall_ms.wrapping_add(passed_ms);
            self.handle(Input::Timeout);
        }
        self.time.now_ms = end_ms;
    }

    /// Handles an input, and performs its effects.
    fn handle(&mut self, input: Input) {
        self.core.handle_input(self.time, input);
        while let Some(effect) = self.core.poll_effect() {
            match effect {
                Effect::Open { socket, .. } => self.sockets.push(socket),
                Effect::Request { request, url, .. } => self.requests.push((request, url)),
                Effect::Send { text, .. } => self.check_command(&text),
                Effect::Close { .. }
                | Effect::Store { .. }
                | Effect::Notify(_)
                | Effect::Called { .. } => {}
            }
        }
    }

    /// Checks that a server does not refuse a command as malformed.
    fn check_command(&self, text: &str) {
        assert!(text.len() <= MESSAGE_BYTES_MAX, "a text of {} bytes", text.len());
        let command = read_command(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        match command {
            Command::Act { action, .. } => {
                let table = self.core.state().table.as_ref().expect("an action is for a table");
                let mut reader = serde_json::Deserializer::from_str(action.as_str());
                let read = AnyGame::read_action(&table.view.kind, &mut reader);
                assert!(read.is_ok(), "{text} at a table of {}", table.view.kind);
            }
            Command::Reveal { text, .. } => assert!(text.len() <= TEXT_BYTES_MAX, "{text}"),
            Command::Seek { rooms, .. } => {
                assert!((1..=ROOMS_MAX).contains(&rooms.len()), "{} rooms", rooms.len());
            }
            _ => {}
        }
    }

    /// Returns the newest socket, or seldom another one.
    fn any_socket(&mut self) -> u64 {
        let place = match self.choices.below(16) {
            15 => self.choices.below(self.sockets.len()),
            _ => 0,
        };
        self.sockets.iter().rev().nth(place).copied().unwrap_or_default()
    }

    fn any_ms(&mut self) -> i64 {
        match self.choices.below(4) {
            0 => i64::from(self.choices.byte()) * 1_000,
            1 => -i64::from(self.choices.byte()) * 1_000_000,
            2 => i64::from_le_bytes(self.choices.word().to_le_bytes()),
            _ => START_MS,
        }
    }
}
