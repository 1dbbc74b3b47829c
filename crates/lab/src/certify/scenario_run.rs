//! One scenario against one client, without I/O: the model server, the planted fault, and the
//! verdict on the client.
//!
//! The listener passes arrivals to [`ScenarioRun::handle_arrival`], and performs the reactions of
//! [`ScenarioRun::poll_reaction`]. `planting` has the faults, `conduct` the rules of every scenario.

use std::collections::{BTreeMap, VecDeque};

use bahay_engine::catalog::{AnyGame, Kind};
use bahay_engine::table::{Clocks, Event, PhaseView};
use bahay_model_server::{ModelServer, Output, ServerOptions, WireData};
use bahay_protocol::{Message, OpenPrompt, Tag};
use serde_json::Value;

use crate::certify::conduct::{AnswerKind, CommandKey, Conduct};
use crate::certify::fault::Fault;
use crate::certify::plan::Plan;
use crate::certify::report::Verdict;
use crate::certify::scenarios::Scenario;
use crate::certify::wire::{Arrival, Reaction};

/// The time between two looks at the clock.
const TICK_MS: i64 = 100;
/// The time within which a scenario has to end.
const DEADLINE_MS: i64 = 120_000;
/// The time within which a client that has lost its connection has to join again.
const RETURN_MS: i64 = 40_000;
/// The time within which a client with a working connection answers what it is asked.
const ANSWER_MS: i64 = 8_000;
/// The time for which a client is watched in quiet after a final fault.
const QUIET_MS: i64 = 8_000;
/// The number of actions that a client has to take after the last fault.
const RECOVERY_ACTS: u32 = 3;
/// The time within which a client has to report a deal.
const REPORT_MS: i64 = 8_000;
/// The clocks of the table: bots are quick, and the AI takes over soon.
const CLOCKS: Clocks = Clocks {
    prepare_ms: 60_000,
    think_ms: 40,
    grace_ms: 2_000,
    missed_turns_to_takeover: 2,
    absence_ms: 120_000,
    retry_ms: 200,
};

/// A socket of the client.
#[derive(Debug)]
pub(super) struct ClientSocket {
    /// The version that the client has reached on this socket.
    pub(super) position: Option<(u64, Tag)>,
    /// The id of the join whose answer is being sent.
    pub(super) join_id: Option<u32>,
    pub(super) is_frozen: bool,
    /// The time until which messages are held back.
    pub(super) slow_until_ms: i64,
    /// The questions that commands on this socket answer, by id.
    pub(super) questions: BTreeMap<u32, CommandKey>,
}

/// The reports of the client on its shown state.
#[derive(Debug, Default)]
struct Reports {
    count: u32,
    /// True once a deal was reported that does not hold.
    has_forged_deal: bool,
}

/// One scenario against one client.
#[derive(Debug)]
pub struct ScenarioRun {
    pub(super) scenario: &'static Scenario,
    pub(super) server: ModelServer,
    pub(super) conduct: Conduct,
    pub(super) plan: Plan,
    pub(super) sockets: BTreeMap<u64, ClientSocket>,
    reactions: VecDeque<Reaction>,
    /// The messages that are held back, by time and number.
    held: BTreeMap<(i64, u64), (u64, Message<AnyGame>)>,
    held_count: u64,
    pub(super) now_ms: i64,
    /// The server's time at the zero of the run's clock.
    start_ms: i64,
    began_at_ms: Option<i64>,
    /// The time since which the client has had no joined connection.
    away_since_ms: Option<i64>,
    /// The question that the client has to answer, its socket, and the time since which it has to.
    awaited: Option<(CommandKey, u64, i64)>,
    /// The actions that the table has accepted since the last fault, and in total.
    pub(super) acts_since: u32,
    pub(super) acts: u32,
    reports: Reports,
    verdict: Option<Verdict>,
}

impl ScenarioRun {
    /// Creates a run that waits for a client. `start_ms` is the server's time at the zero of the
    /// times passed to this run.
    pub fn new(scenario: &'static Scenario, kind: &Kind, start_ms: i64) -> Self {
        let options = ServerOptions { clocks: CLOCKS, seed: 1, now_ms: start_ms };
        let server = ModelServer::new(kind, &options);
        let table = server.table().id();
        Self {
            scenario,
            server,
            conduct: Conduct::new(table),
            plan: Plan::default(),
            sockets: BTreeMap::new(),
            reactions: VecDeque::new(),
            held: BTreeMap::new(),
            held_count: 0,
            now_ms: 0,
            start_ms,
            began_at_ms: None,
            away_since_ms: None,
            awaited: None,
            acts_since: 0,
            acts: 0,
            reports: Reports::default(),
            verdict: None,
        }
    }

    pub fn scenario(&self) -> &'static Scenario {
        self.scenario
    }

    /// Returns the verdict, once there is one.
    pub fn verdict(&self) -> Option<&Verdict> {
        self.verdict.as_ref()
    }

    /// Returns the next thing to do.
    pub fn poll_reaction(&mut self) -> Option<Reaction> {
        self.reactions.pop_front()
    }

    /// Returns the time at which to call [`Self::handle_timeout`].
    pub fn poll_timeout(&self) -> Option<i64> {
        let is_running = self.began_at_ms.is_some() && self.verdict.is_none();
        let held_ms = self.held.keys().next().map(|(at_ms, _)| *at_ms);
        let table_ms = self.server.next_time().map(|at_ms| at_ms - self.start_ms);
        let tick_ms = Some(self.now_ms + TICK_MS);
        let times = [tick_ms, held_ms, table_ms].into_iter().flatten();
        times.min().filter(|_| is_running)
    }

    pub fn handle_timeout(&mut self, now_ms: i64) {
        self.now_ms = self.now_ms.max(now_ms);
        self.settle();
    }

    /// Handles something of the client that has arrived.
    pub fn handle_arrival(&mut self, now_ms: i64, arrival: Arrival) {
        self.now_ms = self.now_ms.max(now_ms);
        self.began_at_ms.get_or_insert(self.now_ms);
        match arrival {
            Arrival::Shown { body } => self.record_report(&body),
            Arrival::Request { request, rest } => self.handle_request(request, &rest),
            Arrival::Upgrade { socket, query, protocols, bearer } => {
                self.handle_upgrade(socket, &query, &protocols, bearer.as_deref());
            }
            Arrival::Text { socket, text } => self.handle_text(socket, &text),
            Arrival::Binary { socket } => {
                self.conduct.record_violation("a binary frame was sent");
                self.close_socket(socket, bahay_protocol::close::PROTOCOL);
            }
            Arrival::Ended { socket } => {
                self.sockets.remove(&socket);
                self.server.disconnect_socket(self.server_ms(), socket);
            }
        }
        self.settle();
    }

    pub(super) fn server_ms(&self) -> i64 {
        self.start_ms + self.now_ms
    }

    pub(super) fn push_reaction(&mut self, reaction: Reaction) {
        self.reactions.push_back(reaction);
    }

    /// Returns the socket on which the client follows the table, if it works.
    pub(super) fn working_socket(&self) -> Option<u64> {
        let joined = self.server.joined_socket()?;
        let socket = self.sockets.get(&joined)?;
        (!socket.is_frozen && socket.join_id.is_none()).then_some(joined)
    }

    /// Ends a socket without a closing frame.
    pub(super) fn cut_socket(&mut self, socket: u64) {
        if self.sockets.remove(&socket).is_some() {
            self.push_reaction(Reaction::Cut { socket });
        }
        self.server.disconnect_socket(self.server_ms(), socket);
        self.server.outputs.retain(|(other, _)| *other != socket);
        self.held.retain(|_, (other, _)| *other != socket);
    }

    /// Closes a socket with a code, after its messages.
    pub(super) fn close_socket(&mut self, socket: u64, code: u16) {
        self.flush_outputs();
        if self.sockets.remove(&socket).is_some() {
            self.push_reaction(Reaction::Close { socket, code });
        }
        self.server.disconnect_socket(self.server_ms(), socket);
    }

    /// Runs the clock, sends what is due, and looks at the client. The answers to what has arrived
    /// are sent before the clock runs: they show the table as it was, and the client may answer them.
    fn settle(&mut self) {
        if self.verdict.is_some() {
            return;
        }
        self.flush_outputs();
        self.server.run_clock(self.server_ms());
        self.run_plan();
        self.flush_outputs();
        self.send_held();
        self.flush_outputs();
        for violation in std::mem::take(&mut self.server.violations) {
            self.conduct.record_violation(violation.0);
        }
        self.look_at_client();
        self.decide_verdict();
    }

    /// Sends the server's messages, with the planted faults.
    pub(super) fn flush_outputs(&mut self) {
        while !self.server.outputs.is_empty() {
            for (socket, output) in std::mem::take(&mut self.server.outputs) {
                match output {
                    Output::Close(code) => {
                        if self.sockets.remove(&socket).is_some_and(|one| !one.is_frozen) {
                            self.push_reaction(Reaction::Close { socket, code });
                        }
                    }
                    Output::Message(message) => self.send_message(socket, *message),
                }
            }
        }
    }

    fn send_message(&mut self, socket: u64, message: Message<AnyGame>) {
        let Some(open) = self.sockets.get(&socket).filter(|open| !open.is_frozen) else {
            return;
        };
        if open.slow_until_ms > self.now_ms {
            let at_ms = open.slow_until_ms;
            self.held_count += 1;
            self.held.insert((at_ms, self.held_count), (socket, message));
            return;
        }
        for message in self.alter_message(socket, message) {
            self.send_now(socket, &message);
        }
    }

    fn send_held(&mut self) {
        while let Some(entry) = self.held.first_entry().filter(|one| one.key().0 <= self.now_ms) {
            let (socket, message) = entry.remove();
            self.send_message(socket, message);
        }
    }

    fn send_now(&mut self, socket: u64, message: &Message<AnyGame>) {
        let data = self.server.encode(socket, message);
        let data = self.alter_data(data);
        self.observe_sent(socket, message);
        self.push_reaction(Reaction::Send { socket, data });
    }

    pub(super) fn send_data(&mut self, socket: u64, data: WireData) {
        self.push_reaction(Reaction::Send { socket, data });
    }

    /// Records what a client knows once it has received a message.
    pub(super) fn observe_sent(&mut self, socket: u64, message: &Message<AnyGame>) {
        let now_ms = self.now_ms;
        let Some(open) = self.sockets.get_mut(&socket) else {
            return;
        };
        let reached = match message {
            Message::Snapshot { version, tag, .. } => Some((*version, *tag)),
            Message::Update { version, tag, .. } => {
                let follows = open.position.is_some_and(|(before, _)| before + 1 == *version);
                follows.then_some((*version, *tag))
            }
            _ => None,
        };
        if reached.is_some() {
            open.position = reached;
        }
        let answered = match message {
            Message::Refusal { id, retryable, .. } => {
                let kind = if *retryable { AnswerKind::ForNow } else { AnswerKind::Final };
                id.map(|id| (id, kind))
            }
            other => other.acked_command().map(|id| (id, AnswerKind::Final)),
        };
        let question = answered.and_then(|(id, kind)| {
            open.join_id.take_if(|join_id| *join_id == id);
            Some((*open.questions.get(&id)?, kind))
        });
        if let Some((version, tag)) = reached {
            self.conduct.record_position(version, tag);
        }
        if let Some((key, kind)) = question {
            self.conduct.record_answer(now_ms, key, kind);
        }
        for key in self.open_questions() {
            self.conduct.record_shown(key);
        }
    }

    /// Returns the questions that the table asks the player now.
    pub(super) fn open_questions(&self) -> Vec<CommandKey> {
        if self.server.seated_table().is_none() {
            return Vec::new();
        }
        let view = self.server.player_view();
        let mut questions = Vec::new();
        if let PhaseView::Preparing { game, ready, .. } = &view.phase
            && view.seat.is_some_and(|seat| !ready.contains(seat))
        {
            questions.push(CommandKey::Ready(*game));
        }
        if let Some((game, ..)) = view.reveal_request() {
            questions.push(CommandKey::Reveal(game));
        }
        let prompt = OpenPrompt::from_view(&view).filter(|prompt| !prompt.legal.is_empty());
        if let Some(prompt) = prompt {
            questions.push(CommandKey::Act(prompt.game, prompt.number));
        }
        questions
    }

    /// Restarts the time within which the client has to answer.
    pub(super) fn restart_answer_time(&mut self) {
        if let Some((_, _, since_ms)) = &mut self.awaited {
            *since_ms = self.now_ms;
        }
    }

    /// Checks that the client returns, and answers what it is asked.
    fn look_at_client(&mut self) {
        let is_over = self.is_quiet() || self.plan.may_stop();
        let Some(socket) = self.working_socket().filter(|_| !is_over) else {
            self.awaited = None;
            let since_ms = *self.away_since_ms.get_or_insert(self.now_ms);
            if !is_over && self.now_ms - since_ms > RETURN_MS {
                let seconds = RETURN_MS / 1_000;
                self.conduct.record_violation(format!("no join within {seconds} s"));
            }
            return;
        };
        self.away_since_ms = None;
        let question = self.open_questions().first().copied();
        let is_same =
            self.awaited.is_some_and(|(key, on, _)| (Some(key), on) == (question, socket));
        if !is_same {
            self.awaited = question.map(|key| (key, socket, self.now_ms));
        }
        let slow_until_ms = self.sockets.get(&socket).map_or(0, |open| open.slow_until_ms);
        if let Some((key, _, since_ms)) = self.awaited
            && self.now_ms - since_ms.max(slow_until_ms) > ANSWER_MS
        {
            let seconds = ANSWER_MS / 1_000;
            self.conduct.record_violation(format!(
                "{} was not sent within {seconds} s of a working connection",
                key.name()
            ));
        }
    }

    /// Returns whether the client is being watched after a final fault.
    pub(super) fn is_quiet(&self) -> bool {
        self.scenario.fault.is_final() && self.plan.planted > 0
    }

    fn decide_verdict(&mut self) {
        let violations = self.conduct.violations();
        if !violations.is_empty() {
            self.verdict = Some(Verdict::Failed(violations.to_vec()));
            return;
        }
        let since_ms = self.now_ms - self.plan.planted_at_ms;
        let is_planted = self.plan.planted >= self.scenario.fault.times();
        let has_recovered = self.acts_since >= RECOVERY_ACTS && self.working_socket().is_some();
        let is_passed = match self.scenario.fault {
            _ if !is_planted => false,
            fault if fault.is_final() => since_ms > QUIET_MS,
            Fault::ForgedSeed => self.reports.has_forged_deal,
            _ => has_recovered || (self.plan.may_stop() && since_ms > QUIET_MS),
        };
        if is_passed {
            self.verdict = Some(Verdict::Passed);
            return;
        }
        if is_planted && self.scenario.fault == Fault::ForgedSeed && since_ms > REPORT_MS {
            self.verdict = Some(if self.reports.count == 0 {
                Verdict::NotShown
            } else {
                Verdict::Failed(vec!["no deal was reported as one that does not hold".into()])
            });
            return;
        }
        if self.began_at_ms.is_some_and(|began_ms| self.now_ms - began_ms > DEADLINE_MS) {
            let planted = self.plan.planted;
            let times = self.scenario.fault.times();
            self.verdict = Some(Verdict::Failed(vec![format!(
                "not finished: {planted} of {times} faults planted, {} actions since",
                self.acts_since
            )]));
        }
    }

    /// Records what the client reports that it shows.
    fn record_report(&mut self, body: &str) {
        let Ok(report) = serde_json::from_str::<Value>(body) else {
            self.conduct.record_violation("a report is not JSON");
            return;
        };
        self.reports.count += 1;
        let is_forged = self.scenario.fault == Fault::ForgedSeed && self.plan.planted > 0;
        let deals = report["deals"].as_array().map(Vec::as_slice).unwrap_or_default();
        for deal in deals {
            match deal["holds"].as_bool() {
                Some(false) if is_forged => self.reports.has_forged_deal = true,
                Some(false) => {
                    self.conduct.record_violation("an honest deal was reported as forged");
                }
                Some(true) | None => {}
            }
        }
        let shown = &report["view"];
        let Some(version) = report["version"].as_u64().filter(|_| shown.is_object()) else {
            return;
        };
        let shown = without_nulls(shown);
        let views = self.server.views().filter(|(other, _)| *other == version);
        let expected: Vec<Value> = views
            .map(|(_, view)| without_nulls(&serde_json::to_value(view).unwrap_or_default()))
            .collect();
        if !expected.contains(&shown) {
            self.conduct.record_violation(format!(
                "the view shown at version {version} is not the table's"
            ));
        }
    }
}

/// Returns whether an update ends a game.
pub(super) fn ends_game(message: &Message<AnyGame>) -> bool {
    let Message::Update { events, .. } = message else {
        return false;
    };
    events.iter().any(|event| matches!(event, Event::Over { .. }))
}

fn without_nulls(value: &Value) -> Value {
    match value {
        Value::Object(fields) => {
            let fields = fields.iter().filter(|(_, field)| !field.is_null());
            Value::Object(fields.map(|(key, field)| (key.clone(), without_nulls(field))).collect())
        }
        Value::Array(items) => items.iter().map(without_nulls).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.clone(),
    }
}
