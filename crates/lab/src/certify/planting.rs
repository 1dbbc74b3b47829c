//! The planting of a scenario's fault, at commands and messages. `requests` has those at requests.

use bahay_engine::catalog::AnyGame;
use bahay_engine::chance::ServerSeed;
use bahay_engine::hex::Hex;
use bahay_engine::table::{Event, Timestamp};
use bahay_model_server::{Output, PLAYER, Submission, WireData};
use bahay_protocol::{ActionText, Closing, Command, Message, close, read_command};

use crate::certify::conduct::{CommandKey, answered_question};
use crate::certify::fault::{
    CommandFault, Fault, Injection, RefreshFault, SessionEnd, TableFault, UpdateFault,
};
use crate::certify::injection::{
    LARGE_BYTES, malformed_data, unknown_event, unknown_message, with_unknown_field,
};
use crate::certify::scenario_run::{ScenarioRun, ends_game};
use crate::certify::wire::Reaction;

/// The least time between two faults.
const SPACING_MS: i64 = 1_500;
/// The number of accepted actions before most faults.
const ACTS_BEFORE: u32 = 2;
/// The time by which a slow answer is late.
const SLOW_MS: i64 = 6_000;
/// The longest time for which a client is kept away until the AI takes over. Not every phase of a
/// game has a takeover, so the client is kept away again later.
const AWAY_MS: i64 = 6_000;
/// The least wait after too many commands or requests, in milliseconds.
pub(super) const WAIT_MS: i64 = 2_000;
/// The time in which requests may be on their way when a client learns of its end.
pub(super) const IN_FLIGHT_MS: i64 = 1_500;
const TOO_FAST_REFUSALS: u32 = 3;
/// The codes with which a table refuses a command that comes too late.
const LATE_CODES: [&str; 8] = [
    "stale_prompt",
    "not_asked",
    "other_game",
    "wrong_phase",
    "already_ready",
    "already_revealed",
    "not_taken_over",
    "not_seated",
];

impl ScenarioRun {
    pub(super) fn fault(&self) -> Fault {
        self.scenario.fault
    }

    pub(super) fn has_more_to_plant(&self) -> bool {
        self.plan.planted < self.fault().times()
    }

    /// Returns whether a fault may be planted now, after some play and some time since the last.
    fn is_due(&self) -> bool {
        let is_apart =
            self.plan.planted == 0 || self.now_ms - self.plan.planted_at_ms >= SPACING_MS;
        self.acts >= ACTS_BEFORE && self.has_more_to_plant() && is_apart
    }

    pub(super) fn record_planted(&mut self) {
        self.plan.planted += 1;
        self.plan.planted_at_ms = self.now_ms;
        self.acts_since = 0;
    }

    /// Handles a text of the client.
    pub(super) fn handle_text(&mut self, socket: u64, text: &str) {
        if self.sockets.get(&socket).is_none_or(|open| open.is_frozen) {
            return;
        }
        let Ok(command) = read_command(text) else {
            self.server.handle_command(self.server_ms(), socket, text);
            return;
        };
        if let Command::Join { id, from, tag, table } = &command
            && !self.observe_join(socket, *id, (*from, *tag, *table))
        {
            self.refuse_join(socket, *id);
            return;
        }
        match answered_question(&command) {
            Some((key, content)) => {
                self.handle_table_command(socket, text, &command, (key, content))
            }
            None => {
                self.server.handle_command(self.server_ms(), socket, text);
            }
        }
    }

    fn handle_table_command(
        &mut self,
        socket: u64,
        text: &str,
        command: &Command<ActionText>,
        (key, content): (CommandKey, String),
    ) {
        let id = command.id();
        if self.is_quiet() {
            if self.now_ms - self.plan.planted_at_ms > IN_FLIGHT_MS {
                let kind = command.kind();
                self.conduct.record_violation(format!("{kind} was sent after the end"));
            }
            self.server.handle_command(self.server_ms(), socket, text);
            return;
        }
        self.conduct.record_command(self.now_ms, socket, key, content);
        self.restart_answer_time();
        if let Some(open) = self.sockets.get_mut(&socket) {
            open.questions.insert(id, key);
        }
        if let Fault::Command(fault) = self.fault()
            && self.plant_before_command(fault, (socket, id), key)
        {
            return;
        }
        match self.server.handle_command(self.server_ms(), socket, text) {
            Some(Submission::Accepted) if key.is_act() => {
                self.acts += 1;
                self.acts_since += 1;
            }
            Some(Submission::Refused { code }) if !LATE_CODES.contains(&code) => {
                self.conduct.record_violation(format!("a command was refused as {code}: {text}"));
            }
            Some(Submission::Accepted | Submission::Refused { .. }) | None => {}
        }
        if let Fault::Command(fault) = self.fault() {
            self.plant_after_command(fault, (socket, id), key);
        } else if key.is_act() && self.is_due() {
            self.flush_outputs();
            self.plant_after_action(socket);
        }
    }

    /// Plants a fault before the table decides on a command. Returns true if it must not decide.
    fn plant_before_command(
        &mut self,
        fault: CommandFault,
        (socket, id): (u64, u32),
        key: CommandKey,
    ) -> bool {
        if !self.has_more_to_plant() {
            return false;
        }
        let is_played = self.acts >= ACTS_BEFORE && key.is_act();
        match fault {
            CommandFault::CutBeforeCommand if self.plan.commands.insert(key) => {
                self.record_planted();
                self.cut_socket(socket);
                true
            }
            CommandFault::RefusedForNow if self.plan.commands.insert(key) => {
                self.record_planted();
                self.refuse(socket, id, "unavailable", true);
                true
            }
            CommandFault::TooFast if is_played => {
                self.plan.count += 1;
                self.refuse(socket, id, "too_fast", true);
                if self.plan.count >= TOO_FAST_REFUSALS {
                    self.record_planted();
                    self.plan.no_socket_before_ms = self.now_ms + WAIT_MS;
                    self.close_socket(socket, close::TOO_FAST);
                }
                true
            }
            CommandFault::Silence if is_played => {
                self.record_planted();
                self.freeze_socket(socket);
                true
            }
            CommandFault::Stale if is_played => {
                self.plan.withheld = Some((socket, id));
                false
            }
            CommandFault::SlowAnswer if is_played && self.is_due() => {
                self.record_planted();
                let until_ms = self.now_ms + SLOW_MS;
                if let Some(open) = self.sockets.get_mut(&socket) {
                    open.slow_until_ms = until_ms;
                }
                false
            }
            CommandFault::PromptRepeated => {
                self.record_planted();
                self.send_snapshot(socket);
                false
            }
            CommandFault::CutBeforeCommand
            | CommandFault::RefusedForNow
            | CommandFault::CutBeforeAnswer
            | CommandFault::TooFast
            | CommandFault::Silence
            | CommandFault::Stale
            | CommandFault::SlowAnswer => false,
        }
    }

    /// Plants a fault after the table has decided on a command.
    fn plant_after_command(
        &mut self,
        fault: CommandFault,
        (socket, id): (u64, u32),
        key: CommandKey,
    ) {
        match fault {
            CommandFault::CutBeforeAnswer
                if self.has_more_to_plant() && self.plan.commands.insert(key) =>
            {
                self.record_planted();
                self.cut_socket(socket);
            }
            CommandFault::Stale if self.plan.withheld.is_some() => {
                self.record_planted();
                self.flush_outputs();
                self.plan.withheld = None;
                self.refuse(socket, id, "stale_prompt", false);
            }
            _ => {}
        }
    }

    /// Plants a fault after an action was answered.
    fn plant_after_action(&mut self, socket: u64) {
        let fault = self.fault();
        match fault {
            Fault::Closes(codes) => {
                let code = codes.get(usize::try_from(self.plan.planted).unwrap_or_default());
                self.record_planted();
                self.close_socket(socket, code.copied().unwrap_or(close::GOING_AWAY));
            }
            Fault::Clock { .. } | Fault::Upgrade(_) => {
                self.record_planted();
                self.cut_socket(socket);
            }
            Fault::Refresh(refresh) => self.expire_token(socket, refresh),
            Fault::Session(end) => {
                self.record_planted();
                let code = match end {
                    SessionEnd::SignedOut => {
                        self.server.tokens().end_session();
                        close::SIGNED_OUT
                    }
                    SessionEnd::Replaced => close::REPLACED,
                };
                self.close_socket(socket, code);
            }
            Fault::Inject(injection) => self.inject(socket, injection),
            Fault::Table(table) => self.plant_at_table(socket, table),
            Fault::Command(_) | Fault::Update(_) | Fault::ForgedSeed => {}
        }
    }

    fn expire_token(&mut self, socket: u64, fault: RefreshFault) {
        self.record_planted();
        match fault {
            RefreshFault::Reused => self.server.tokens().end_session(),
            RefreshFault::Banned => {
                self.server.tokens().end_session();
                self.server.refuse_sign_ins("banned");
            }
            RefreshFault::None
            | RefreshFault::AnswerLost
            | RefreshFault::Portal
            | RefreshFault::TooManyRequests => self.server.tokens().expire_access_tokens(),
        }
        self.close_socket(socket, close::NOT_AUTHENTICATED);
    }

    fn plant_at_table(&mut self, socket: u64, fault: TableFault) {
        match fault {
            TableFault::CutWhileJoining => {
                self.plan.has_begun = true;
                self.cut_socket(socket);
            }
            TableFault::Silence => {
                if self.open_questions().is_empty() {
                    self.record_planted();
                    self.freeze_socket(socket);
                }
            }
            TableFault::Halted => {
                self.record_planted();
                self.cut_socket(socket);
            }
            TableFault::Takeover => {
                self.plan.away_until_ms = self.now_ms + AWAY_MS;
                self.cut_socket(socket);
            }
            TableFault::Ended(reason) => {
                self.record_planted();
                self.end_table(reason);
            }
            TableFault::HistoryForgotten => {
                self.record_planted();
                self.cut_socket(socket);
                self.server.forget_history();
            }
            TableFault::VersionsRestart => {
                self.record_planted();
                self.server.restart_versions(1);
                self.send_snapshot(socket);
            }
        }
    }

    fn end_table(&mut self, reason: Closing) {
        self.server.end_table(reason);
    }

    fn freeze_socket(&mut self, socket: u64) {
        if let Some(open) = self.sockets.get_mut(&socket) {
            open.is_frozen = true;
            self.push_reaction(Reaction::Freeze { socket });
        }
    }

    fn send_snapshot(&mut self, socket: u64) {
        let snapshot = self.server.snapshot(self.server_ms());
        self.server.outputs.push((socket, Output::Message(Box::new(snapshot))));
    }

    fn inject(&mut self, socket: u64, injection: Injection) {
        let form = self.server.form(socket);
        match injection {
            Injection::LaterVersion => {
                self.send_data(socket, unknown_message(form, 0));
                let (version, tag, prompt) = self.server.skip_version();
                let update = Message::Update {
                    version,
                    tag,
                    server_time_ms: Timestamp::from_ms(self.server_ms()),
                    events: Vec::new(),
                    prompt,
                    ack: None,
                };
                self.observe_sent(socket, &update);
                let data = self.server.encode(socket, &update);
                self.send_data(socket, unknown_event(data));
            }
            Injection::Malformed => self.send_data(socket, malformed_data(form)),
            Injection::Large => self.send_data(socket, unknown_message(form, LARGE_BYTES)),
        }
        self.record_planted();
    }

    /// Lets a client return once the AI plays its seat.
    pub(super) fn run_plan(&mut self) {
        let table = self.server.table();
        let seat = table.seat_of(PLAYER);
        let is_taken_over = seat.is_some_and(|seat| table.taken_over_seats().contains(seat));
        if self.now_ms < self.plan.away_until_ms && is_taken_over {
            self.plan.away_until_ms = 0;
            self.record_planted();
        }
    }

    /// Returns the messages that a client is sent in place of one.
    pub(super) fn alter_message(
        &mut self,
        socket: u64,
        message: Message<AnyGame>,
    ) -> Vec<Message<AnyGame>> {
        match self.fault() {
            Fault::Clock { shift_ms } if self.plan.planted > 0 => {
                vec![shift_hello(message, shift_ms)]
            }
            Fault::ForgedSeed if ends_game(&message) => {
                if self.has_more_to_plant() {
                    self.record_planted();
                }
                vec![forge_seed(message)]
            }
            Fault::Command(CommandFault::Stale) => self.withhold_answer(socket, message),
            Fault::Update(fault) => self.alter_update(socket, fault, message),
            Fault::Table(TableFault::CutWhileJoining) => self.cut_while_joining(socket, message),
            _ => vec![message],
        }
    }

    fn withhold_answer(&self, socket: u64, mut message: Message<AnyGame>) -> Vec<Message<AnyGame>> {
        let withheld = self.plan.withheld.filter(|(of, _)| *of == socket).map(|(_, id)| id);
        match &mut message {
            Message::Update { ack, .. } if withheld.is_some() && *ack == withheld => {
                *ack = None;
                vec![message]
            }
            Message::Ack { id, .. } if Some(*id) == withheld => Vec::new(),
            _ => vec![message],
        }
    }

    fn alter_update(
        &mut self,
        socket: u64,
        fault: UpdateFault,
        message: Message<AnyGame>,
    ) -> Vec<Message<AnyGame>> {
        let is_joined = self.working_socket() == Some(socket);
        match (fault, &message) {
            (UpdateFault::AnswerTwice, other) if self.has_more_to_plant() => {
                let version = match other {
                    Message::Ack { version, .. } => *version,
                    Message::Update { version, .. } => Some(*version),
                    _ => None,
                };
                let Some(id) = other.acked_command() else {
                    return vec![message];
                };
                self.record_planted();
                vec![message, Message::Ack { id, version }]
            }
            (UpdateFault::Twice, Message::Update { .. }) if is_joined && self.is_due() => {
                self.record_planted();
                let mut again = message.clone();
                if let Message::Update { ack, .. } = &mut again {
                    *ack = None;
                }
                vec![message, again]
            }
            (UpdateFault::Missing, Message::Update { ack: None, .. })
                if is_joined && self.is_due() && self.open_questions().is_empty() =>
            {
                self.record_planted();
                Vec::new()
            }
            _ => vec![message],
        }
    }

    fn cut_while_joining(
        &mut self,
        socket: u64,
        message: Message<AnyGame>,
    ) -> Vec<Message<AnyGame>> {
        let is_table = matches!(message, Message::Snapshot { .. } | Message::Update { .. });
        let is_joining = self.sockets.get(&socket).is_some_and(|open| open.join_id.is_some());
        if self.plan.has_begun && self.has_more_to_plant() && is_joining && is_table {
            self.record_planted();
            self.cut_socket(socket);
            return Vec::new();
        }
        vec![message]
    }

    /// Returns a text with the planted changes.
    pub(super) fn alter_data(&self, data: WireData) -> WireData {
        match self.fault() {
            Fault::Inject(Injection::LaterVersion) => with_unknown_field(data),
            _ => data,
        }
    }
}

fn shift_hello(mut message: Message<AnyGame>, shift_ms: i64) -> Message<AnyGame> {
    if let Message::Hello { server_time_ms, .. } = &mut message {
        *server_time_ms = Timestamp::from_ms(server_time_ms.ms() + shift_ms);
    }
    message
}

fn forge_seed(mut message: Message<AnyGame>) -> Message<AnyGame> {
    if let Message::Update { events, .. } = &mut message {
        for event in events {
            if let Event::Over { server_seed, .. } = event {
                *server_seed = Some(ServerSeed(Hex([7; 32])));
            }
        }
    }
    message
}
