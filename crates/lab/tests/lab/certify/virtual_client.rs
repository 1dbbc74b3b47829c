//! The client core against a scenario in virtual time, with or without a planted bug.

use std::collections::{BTreeMap, BTreeSet};

use bahay_client::{
    ClientCore, Effect, HttpAnswer, Input, Link, Notification, Options, SeedText, SocketData, Time,
    Wish,
};
use bahay_engine::catalog::Kind;
use bahay_engine::table::{GameId, PhaseView};
use bahay_lab::certify::{Arrival, HttpReply, Reaction, Scenario, ScenarioRun, Verdict};
use bahay_model_server::{RestRequest, WireData};
use bahay_protocol::brief::Form;
use serde_json::{Value, json};

use crate::certify::bugs::{Bug, BuggyClient};

/// The time of a message from one end to the other.
const LATENCY_MS: i64 = 20;
/// The server's time at the beginning.
const START_MS: i64 = 1_772_366_400_000;
/// The time within which every scenario has its verdict.
const END_MS: i64 = 300_000;
/// The delay of a command that is sent to a table that is gone.
const LATE_MS: i64 = 3_000;
/// The number of versions between two reports of the view.
const REPORT_EVERY: u64 = 4;

/// Something on its way.
#[derive(Debug)]
enum Delivery {
    ToServer(Arrival),
    ToClient(Input),
}

/// A client, the network and a scenario.
pub(crate) struct VirtualClient {
    run: ScenarioRun,
    core: ClientCore,
    bug: BuggyClient,
    now_ms: i64,
    deliveries: BTreeMap<(i64, u64), Delivery>,
    delivered: u64,
    /// The sockets that the client has not ended.
    open: BTreeSet<u64>,
    answered: BTreeSet<(GameId, Option<u32>)>,
    commands: u64,
    reported_version: u64,
    /// The interval at whose multiples the server runs, as on a machine with other work.
    server_interval_ms: i64,
}

/// Runs a scenario against a client with this bug, if any.
pub(crate) fn run_scenario(
    scenario: &'static Scenario,
    kind: &Kind,
    form: Form,
    bug: Option<Bug>,
) -> Verdict {
    run_scenario_late(scenario, kind, form, bug, 1)
}

/// Runs a scenario with a server that is given the processor only once in each interval.
pub(crate) fn run_scenario_late(
    scenario: &'static Scenario,
    kind: &Kind,
    form: Form,
    bug: Option<Bug>,
    server_interval_ms: i64,
) -> Verdict {
    let time = Time { now_ms: 0, wall_ms: START_MS };
    let options = Options { forms: vec![form], ..Options::new("http://house", [5; 32], time) };
    let mut client = VirtualClient {
        run: ScenarioRun::new(scenario, kind, START_MS),
        core: ClientCore::new(options),
        bug: BuggyClient::new(bug),
        now_ms: 0,
        deliveries: BTreeMap::new(),
        delivered: 0,
        open: BTreeSet::new(),
        answered: BTreeSet::new(),
        commands: 0,
        reported_version: 0,
        server_interval_ms,
    };
    client.handle_input(Input::Start);
    while client.run.verdict().is_none() {
        assert!(client.now_ms < END_MS, "{}: no verdict", scenario.name);
        client.advance();
    }
    client.run.verdict().cloned().expect("the loop ends with a verdict")
}

impl VirtualClient {
    /// Advances to whatever happens next.
    fn advance(&mut self) {
        let delivery_ms = self.deliveries.keys().next().map(|(at_ms, _)| *at_ms);
        let times = [delivery_ms, self.core.poll_timeout(), self.server_timeout()];
        let next_ms = times.into_iter().flatten().min().unwrap_or(END_MS);
        self.now_ms = self.now_ms.max(next_ms);
        while let Some(entry) =
            self.deliveries.first_entry().filter(|entry| entry.key().0 <= self.now_ms)
        {
            match entry.remove() {
                Delivery::ToServer(arrival) => {
                    self.run.handle_arrival(self.now_ms, arrival);
                    self.deliver_reactions();
                }
                Delivery::ToClient(input) => self.receive(input),
            }
        }
        if self.server_timeout().is_some_and(|at_ms| at_ms <= self.now_ms) {
            self.run.handle_timeout(self.now_ms);
            self.deliver_reactions();
        }
        if self.core.poll_timeout().is_some_and(|at_ms| at_ms <= self.now_ms) {
            self.handle_input(Input::Timeout);
        }
    }

    fn deliver(&mut self, delivery: Delivery) {
        self.deliver_after(LATENCY_MS, delivery);
    }

    fn deliver_after(&mut self, ms: i64, delivery: Delivery) {
        self.delivered += 1;
        let at_ms = match delivery {
            Delivery::ToServer(_) => self.server_time(self.now_ms + ms),
            Delivery::ToClient(_) => self.now_ms + ms,
        };
        self.deliveries.insert((at_ms, self.delivered), delivery);
    }

    /// Returns the time at which the server does what is due at a time.
    fn server_time(&self, due_ms: i64) -> i64 {
        due_ms + (-due_ms).rem_euclid(self.server_interval_ms)
    }

    fn server_timeout(&self) -> Option<i64> {
        self.run.poll_timeout().map(|at_ms| self.server_time(at_ms))
    }

    fn deliver_reactions(&mut self) {
        while let Some(reaction) = self.run.poll_reaction() {
            let input = match reaction {
                Reaction::Answer { request, answer } => {
                    Input::Answered { request, answer: http_answer(answer) }
                }
                Reaction::Drop { request } => Input::Unanswered { request },
                Reaction::Accept { socket, form } => {
                    Input::Opened { socket, protocol: form.subprotocol().into() }
                }
                Reaction::Reject { socket, .. } | Reaction::Cut { socket } => {
                    Input::Closed { socket, code: 1006 }
                }
                Reaction::Send { socket, data } => {
                    Input::Received { socket, data: socket_data(data) }
                }
                Reaction::Close { socket, code } => Input::Closed { socket, code },
                Reaction::Freeze { .. } => continue,
            };
            self.deliver(Delivery::ToClient(input));
        }
    }

    /// Passes an input to the client, unless the client has ended its socket.
    fn receive(&mut self, input: Input) {
        match &input {
            Input::Opened { socket, .. } | Input::Received { socket, .. }
                if !self.open.contains(socket) => {}
            Input::Closed { socket, .. } if !self.open.remove(socket) => {}
            _ => {
                for (after_ms, input) in self.bug.alter_input(input) {
                    if after_ms == 0 {
                        self.handle_input(input);
                    } else {
                        self.deliver_after(after_ms, Delivery::ToClient(input));
                    }
                }
            }
        }
    }

    fn handle_input(&mut self, input: Input) {
        let time = Time { now_ms: self.now_ms, wall_ms: START_MS + self.now_ms };
        self.core.handle_input(time, input);
        while let Some(effect) = self.core.poll_effect() {
            self.perform(effect);
        }
        self.act_as_player();
    }

    fn perform(&mut self, effect: Effect) {
        match effect {
            Effect::Request { request, method, url, headers, body } => {
                let bearer = headers.get("authorization");
                let bearer = bearer.and_then(|value| value.strip_prefix("Bearer "));
                let path = url.trim_start_matches("http://house").to_owned();
                let body = body.unwrap_or_default();
                let bearer = bearer.map(str::to_owned);
                let rest = self.bug.alter_request(RestRequest { method, path, bearer, body });
                self.deliver(Delivery::ToServer(Arrival::Request { request, rest }));
            }
            Effect::Open { socket, url, protocols } => {
                self.open.insert(socket);
                let (_, query) = url.split_once('?').unwrap_or_default();
                let query = query.to_owned();
                let upgrade = Arrival::Upgrade { socket, query, protocols, bearer: None };
                self.deliver(Delivery::ToServer(upgrade));
            }
            Effect::Send { socket, text } => {
                for text in self.bug.alter_text(&text) {
                    self.deliver(Delivery::ToServer(Arrival::Text { socket, text }));
                }
            }
            Effect::Close { socket } => {
                self.open.remove(&socket);
                self.deliver(Delivery::ToServer(Arrival::Ended { socket }));
            }
            Effect::Notify(notification) => self.handle_notification(*notification),
            Effect::Store { .. } | Effect::Called { .. } => {}
        }
    }

    fn handle_notification(&mut self, notification: Notification) {
        match notification {
            Notification::Deal { game, check } => {
                let holds = self.bug.alter_check(check.holds());
                self.report(&json!({ "deals": [{ "game": game, "holds": holds }] }));
            }
            Notification::Table { after, .. }
                if after.version.abs_diff(self.reported_version) >= REPORT_EVERY =>
            {
                self.reported_version = after.version;
                self.report(&json!({ "version": after.version, "view": after.view }));
            }
            Notification::Link(link) => {
                if let Some((after_ms, input)) = self.bug.react_to_link(&link) {
                    self.deliver_after(after_ms, Delivery::ToClient(input));
                }
            }
            Notification::Unseated(_) => {
                let socket = self.open.last().copied();
                if let (Some(socket), Some(text)) = (socket, self.bug.text_after_end()) {
                    let late = Delivery::ToServer(Arrival::Text { socket, text });
                    self.deliver_after(LATE_MS, late);
                }
            }
            _ => {}
        }
    }

    fn report(&mut self, report: &Value) {
        let body = report.to_string();
        self.deliver(Delivery::ToServer(Arrival::Shown { body }));
    }

    /// Is ready for every game, and answers each prompt with its first legal action.
    fn act_as_player(&mut self) {
        let state = self.core.state();
        let Some(table) = state.table.as_ref().filter(|_| state.link == Link::Live) else {
            return;
        };
        let (question, wish) = match (&table.prompt, &table.view.phase) {
            (Some(prompt), _) if !prompt.legal.is_empty() => {
                let action = prompt.legal[0].clone();
                ((prompt.game, Some(prompt.number)), Wish::Act { action })
            }
            (_, PhaseView::Preparing { game, .. }) => {
                ((*game, None), Wish::Ready { seed_text: SeedText::Drawn })
            }
            _ => return,
        };
        if self.answered.insert(question) {
            self.commands += 1;
            self.handle_input(Input::Command { command: self.commands, wish });
        }
    }
}

fn http_answer(reply: HttpReply) -> HttpAnswer {
    HttpAnswer {
        status: reply.status,
        content_type: Some(reply.content_type.into()),
        body: reply.body,
        retry_after_ms: reply.retry_after_s.map(|seconds| 1_000 * seconds),
    }
}

fn socket_data(data: WireData) -> SocketData {
    match data {
        WireData::Text(text) => SocketData::Text(text),
        WireData::Binary(bytes) => SocketData::Binary(bytes),
    }
}
