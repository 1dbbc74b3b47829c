//! A client on a phone in virtual time, and the person who plays on it.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use bahay_client::{
    ClientCore, CommandNumber, Effect, Input, Link as ClientLink, Notification, Options, Outcome,
    SeedText, SocketData, Time, Wish,
};
use bahay_engine::catalog;
use bahay_engine::table::{GameId, PhaseView};
use bahay_model_server::{ModelServer, Output, RestRequest, upgrade_commands};
use bahay_protocol::OpenPrompt;
use bahay_protocol::brief::Form;

use crate::rest::{http_answer, rest_request, socket_data};
use crate::suspensions::link::{Arrival, Link, NetworkConditions};
use crate::suspensions::random::TestRandom;
use crate::suspensions::server_options;

/// The time after which a working connection has delivered every pending command.
const DELIVERED_MS: i64 = 4_000;
/// The times within which a silently dead connection is detected: while a prompt is open or a
/// command waits, and otherwise.
const DETECTED_URGENT_MS: i64 = 4_000;
const DETECTED_MS: i64 = 15_000;
/// The amount by which the phone's clock is set.
const CLOCK_SET_MS: i64 = 3_600_000;
/// The permitted error of the client's server time: the duration of a packet.
const CLOCK_MS: i64 = 1_000;

/// The kinds of interruptions of a phone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Interruption {
    Sleep,
    Cut,
    CutUnnotified,
    Dead,
    Closed,
}

/// The result of one phone's interruptions.
#[derive(Clone, Debug, Default)]
pub(crate) struct Report {
    pub(crate) interruptions: u64,
    pub(crate) wishes: usize,
    pub(crate) done: usize,
    pub(crate) overtaken: usize,
    /// The wishes sent after the clock had answered.
    pub(crate) late: usize,
    pub(crate) connections: usize,
    /// The times from each return to a current table.
    pub(crate) recovery_ms: Vec<i64>,
}

/// The subject of a wish.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Subject {
    Prompt(GameId, u32),
    Ready(GameId),
}

#[derive(Clone, Debug)]
struct SubmittedWish {
    command: CommandNumber,
    at_ms: i64,
    outcome: Option<Outcome>,
}

/// A period in which the connection worked and the phone was awake.
#[derive(Clone, Copy, Debug)]
struct Period {
    from_ms: i64,
    to_ms: i64,
}

/// The wait for a current table after a return.
#[derive(Clone, Copy, Debug)]
struct Recovery {
    at_ms: i64,
    version: u64,
}

pub(crate) struct Phone {
    random: TestRandom,
    link: Link,
    server: ModelServer,
    /// The form of the messages.
    form: Form,
    core: ClientCore,
    now_ms: i64,
    /// The time for which the monotonic clock has stood still in sleep.
    stopped_ms: i64,
    /// The wall clock minus the true time.
    wall_ahead_ms: i64,
    /// The time by which the client must have detected its dead connection.
    detect_by_ms: Option<i64>,
    /// True if nothing notifies the client of the network's return.
    is_unnotified: bool,
    is_asleep: bool,
    /// The inputs that wait until the phone wakes.
    queued: VecDeque<Input>,
    /// The commands within the requests for sockets, and the HTTP requests, until they arrive.
    requested: BTreeMap<u64, (String, Vec<String>)>,
    http: BTreeMap<u64, RestRequest>,
    next_thought_ms: i64,
    command: CommandNumber,
    /// The person's wishes.
    submitted: BTreeMap<Subject, SubmittedWish>,
    periods: Vec<Period>,
    opened: BTreeSet<u64>,
    recovering: Option<Recovery>,
    /// True once a message sent after the return has arrived; before it, the table may be outdated.
    has_received: bool,
    report: Report,
}

impl Phone {
    pub(crate) fn new(seed: u64, conditions: NetworkConditions) -> Self {
        let mut random = TestRandom::new(seed);
        let kinds = catalog::kinds();
        let kind = random.choose(&kinds);
        let form = *TestRandom::new(seed + 1).choose(&Form::ALL);
        let server = ModelServer::new(kind, &server_options(seed + 2));
        let options = Options {
            forms: vec![form],
            ..Options::new("http://model", random.draw_bytes(), Time::default())
        };
        Self {
            random,
            link: Link::new(conditions),
            server,
            form,
            core: ClientCore::new(options),
            now_ms: 0,
            stopped_ms: 0,
            wall_ahead_ms: 0,
            detect_by_ms: None,
            is_unnotified: false,
            is_asleep: false,
            queued: VecDeque::new(),
            requested: BTreeMap::new(),
            http: BTreeMap::new(),
            next_thought_ms: 0,
            command: 0,
            submitted: BTreeMap::new(),
            periods: Vec::new(),
            opened: BTreeSet::new(),
            recovering: None,
            has_received: false,
            report: Report::default(),
        }
    }

    /// Runs the phone through the interruptions.
    ///
    /// # Panics
    /// If a move was lost or doubled, or a dead connection was not detected in time.
    pub(crate) fn run_interruptions(mut self, interruptions: u64) -> Report {
        const ALL: [Interruption; 5] = [
            Interruption::Sleep,
            Interruption::Cut,
            Interruption::CutUnnotified,
            Interruption::Dead,
            Interruption::Closed,
        ];
        self.push_input(Input::Start);
        self.advance_to(self.now_ms + 5_000);
        for _ in 0..interruptions {
            let pause_ms = self.random.draw_ms(6_000);
            self.advance_to(self.now_ms + pause_ms);
            let kind = *self.random.choose(&ALL);
            self.interrupt(kind);
        }
        // Open commands end once nothing more interferes.
        self.next_thought_ms = i64::MAX;
        self.wait_until_current(120_000);
        // A connection that has survived a sleep may not know for how long the monotonic clock stood
        // still; each new one does.
        self.interrupt(Interruption::Closed);
        self.wait_until_current(30_000);
        self.check_end();
        let count = |is_it: &dyn Fn(&Outcome) -> bool| {
            let outcomes = self.submitted.values().filter_map(|wish| wish.outcome.as_ref());
            outcomes.filter(|outcome| is_it(outcome)).count()
        };
        let done = count(&|outcome| matches!(outcome, Outcome::Done { .. }));
        let overtaken = count(&|outcome| *outcome == Outcome::Overtaken);
        let wishes = self.submitted.len();
        let late = wishes - done - overtaken;
        Report {
            interruptions,
            wishes,
            done,
            overtaken,
            late,
            connections: self.opened.len(),
            ..self.report
        }
    }

    /// Lets time pass until the client shows the server's last version.
    fn wait_until_current(&mut self, ms: i64) {
        self.advance_to(self.now_ms + ms);
        // The server's last messages are in flight.
        for _ in 0..10 {
            if self.is_behind() {
                self.advance_to(self.now_ms + 300);
            }
        }
        assert!(!self.is_behind(), "the table is not current");
    }

    fn interrupt(&mut self, kind: Interruption) {
        let longest_ms = if self.random.is_drawn(10) { 1_200_000 } else { 30_000 };
        let ms = 50 + self.random.draw_ms(longest_ms);
        if self.random.is_drawn(20) {
            self.wall_ahead_ms = (self.random.draw_ms(3) - 1) * CLOCK_SET_MS;
        }
        match kind {
            Interruption::Sleep => {
                self.is_asleep = true;
                self.record_connectivity();
                // The network goes too, or it stays, and messages wait for the phone.
                if self.random.is_drawn(2) {
                    self.link.cut_link();
                }
                self.advance_to(self.now_ms + ms);
                // On some systems the monotonic clock stops in sleep too.
                if self.random.is_drawn(2) {
                    self.stopped_ms += ms;
                }
                self.link.restore_link();
                self.is_asleep = false;
                self.start_recovery();
                for input in std::mem::take(&mut self.queued) {
                    self.push_input(input);
                }
                self.push_input(Input::Wake);
            }
            Interruption::Cut | Interruption::CutUnnotified => {
                let lost = self.link.cut_link();
                self.record_connectivity();
                if kind == Interruption::Cut && self.random.is_drawn(2) {
                    for socket in lost {
                        self.push_input(Input::Closed { socket, code: 1006 });
                    }
                }
                self.advance_to(self.now_ms + ms);
                self.link.restore_link();
                self.start_recovery();
                self.push_input(Input::Wake);
            }
            Interruption::Dead => self.drop_silently(ms),
            Interruption::Closed => {
                // The server shuts down, and another node takes over at once.
                self.server.close_all(self.now_ms, 1001);
                self.deliver_outputs();
            }
        }
        assert!(self.core.state().table.is_some(), "the hand is not visible");
    }

    /// Drops all packets without notifying the client, neither of the loss nor of the network's
    /// return.
    fn drop_silently(&mut self, ms: i64) {
        let state = self.core.state();
        let is_prompted = state.table.as_ref().is_some_and(|table| table.is_prompted());
        let is_urgent = is_prompted || !state.open.is_empty();
        let is_live = state.link == ClientLink::Live;
        self.link.cut_link();
        self.record_connectivity();
        if is_live {
            let within_ms = if is_urgent { DETECTED_URGENT_MS } else { DETECTED_MS };
            self.detect_by_ms = Some(self.now_ms + within_ms);
        }
        self.advance_to(self.now_ms + ms);
        self.link.restore_link();
        self.is_unnotified = true;
        self.start_recovery();
        for _ in 0..100 {
            if self.recovering.is_some() {
                self.advance_to(self.now_ms + 1_000);
            }
        }
        assert!(self.recovering.is_none(), "the client does not recover by itself");
        self.is_unnotified = false;
    }

    fn start_recovery(&mut self) {
        self.recovering = Some(Recovery { at_ms: self.now_ms, version: self.server.version() });
        self.has_received = false;
    }

    fn advance_to(&mut self, end_ms: i64) {
        loop {
            let wake_at_ms = self.wake_at_ms().filter(|_| !self.is_asleep);
            let thought_ms = Some(self.next_thought_ms).filter(|_| !self.is_asleep);
            let times = [wake_at_ms, thought_ms, self.link.next_time(), self.server.next_time()];
            let next_ms = times.into_iter().flatten().min().unwrap_or(end_ms).min(end_ms);
            self.now_ms = self.now_ms.max(next_ms);
            self.check_detection();
            if self.now_ms >= end_ms {
                break;
            }
            while let Some(arrival) = self.link.take_arrival(self.now_ms, &mut self.random) {
                self.handle_arrival(arrival);
            }
            self.server.run_clock(self.now_ms);
            self.deliver_outputs();
            if self.is_asleep {
                continue;
            }
            if self.wake_at_ms().is_some_and(|at_ms| at_ms <= self.now_ms) {
                self.push_input(Input::Timeout);
            }
            if self.next_thought_ms <= self.now_ms {
                self.act_as_player();
            }
        }
        self.now_ms = end_ms;
    }

    /// Returns the time at which to wake the core, in true time.
    fn wake_at_ms(&self) -> Option<i64> {
        Some(self.core.poll_timeout()? + self.stopped_ms)
    }

    fn handle_arrival(&mut self, arrival: Arrival) {
        let now_ms = self.now_ms;
        match arrival {
            Arrival::Accepted { socket } => self.server.accept_socket(socket, self.form),
            Arrival::LookedUp { socket } => {
                if let Some((url, protocols)) = self.requested.get(&socket) {
                    let (_, query) = url.split_once('?').unwrap_or_default();
                    let commands = upgrade_commands(query, protocols, None);
                    self.server.handle_request(now_ms, socket, &commands);
                }
            }
            Arrival::Opened { socket } => {
                self.opened.insert(socket);
                let (_, protocols) = &self.requested[&socket];
                let protocol = protocols[0].clone();
                self.push_input(Input::Opened { socket, protocol });
            }
            Arrival::ToServer { socket, text: Some(text) } => {
                let _ = self.server.handle_command(now_ms, socket, &text);
            }
            Arrival::ToServer { socket, text: None } => {
                self.server.disconnect_socket(now_ms, socket);
            }
            Arrival::ToClient { socket, data, sent_at_ms } => {
                self.has_received |=
                    self.recovering.is_some_and(|recovery| sent_at_ms >= recovery.at_ms);
                self.push_input(Input::Received { socket, data });
            }
            Arrival::ClosedToClient { socket, code } => {
                self.push_input(Input::Closed { socket, code });
            }
            Arrival::Request { request } => {
                let wanted = self.http.remove(&request).expect("the request was sent");
                self.check_refresh(&wanted);
                let reply = self.server.answer_request(now_ms, &wanted);
                self.link.send_reply(now_ms, request, reply, &mut self.random);
            }
            Arrival::Reply { request, reply } => {
                let answer = http_answer(&reply);
                self.push_input(Input::Answered { request, answer });
            }
            Arrival::NoReply { request } => self.push_input(Input::Unanswered { request }),
        }
        self.deliver_outputs();
    }

    /// Checks that only old tokens are renewed.
    fn check_refresh(&mut self, wanted: &RestRequest) {
        let body: serde_json::Value = serde_json::from_str(&wanted.body).unwrap_or_default();
        let token = body["refresh_token"].as_str().unwrap_or_default();
        let tokens = self.server.tokens();
        let is_young = !tokens.is_used(token) && tokens.is_young(token, self.now_ms);
        assert!(!is_young, "a token that is seconds old was renewed");
    }

    /// Puts the server's messages on the link.
    fn deliver_outputs(&mut self) {
        let now_ms = self.now_ms;
        for (socket, output) in std::mem::take(&mut self.server.outputs) {
            let (bytes, arrival) = match output {
                Output::Message(message) => {
                    let data = socket_data(self.server.encode(socket, &message));
                    let bytes = match &data {
                        SocketData::Text(text) => text.len(),
                        SocketData::Binary(bytes) => bytes.len(),
                    };
                    (bytes, Arrival::ToClient { socket, data, sent_at_ms: now_ms })
                }
                Output::Close(code) => (8, Arrival::ClosedToClient { socket, code }),
            };
            self.link.send_down(now_ms, socket, bytes, arrival, &mut self.random);
        }
        assert_eq!(self.server.violations, []);
    }

    fn check_detection(&mut self) {
        if self.core.state().link != ClientLink::Live {
            self.detect_by_ms = None;
        }
        let is_late = self.detect_by_ms.is_some_and(|by_ms| self.now_ms > by_ms);
        assert!(!is_late, "the client has not detected its dead connection");
    }

    /// Acts as a person who looks at the phone: an open prompt is answered once.
    fn act_as_player(&mut self) {
        self.next_thought_ms = self.now_ms + 300 + self.random.draw_ms(2_500);
        let Some(table) = &self.core.state().table else {
            return;
        };
        let (subject, wish) = match (&table.prompt, &table.view.phase) {
            (Some(prompt), _) if !prompt.legal.is_empty() => {
                let action = self.random.choose(&prompt.legal).clone();
                (Subject::Prompt(prompt.game, prompt.number), Wish::Act { action })
            }
            (_, PhaseView::Preparing { game, .. }) => {
                (Subject::Ready(*game), Wish::Ready { seed_text: SeedText::Drawn })
            }
            _ => return,
        };
        if self.submitted.contains_key(&subject) {
            return;
        }
        self.command += 1;
        let command = self.command;
        let submitted = SubmittedWish { command, at_ms: self.now_ms, outcome: None };
        self.submitted.insert(subject, submitted);
        self.push_input(Input::Command { command, wish });
    }

    fn push_input(&mut self, input: Input) {
        if self.is_asleep {
            self.queued.push_back(input);
            return;
        }
        let now_ms = self.now_ms - self.stopped_ms;
        let wall_ms = self.now_ms + self.wall_ahead_ms;
        self.core.handle_input(Time { now_ms, wall_ms }, input);
        while let Some(effect) = self.core.poll_effect() {
            self.perform(effect);
        }
        self.check_recovery();
        self.record_connectivity();
    }

    fn check_recovery(&mut self) {
        let table = self.core.state().table.as_ref();
        let (Some(recovery), Some(table)) = (self.recovering, table) else {
            return;
        };
        if table.is_current && table.version >= recovery.version && self.has_received {
            if !self.is_unnotified {
                self.report.recovery_ms.push(self.now_ms - recovery.at_ms);
            }
            self.recovering = None;
        }
    }

    fn perform(&mut self, effect: Effect) {
        let now_ms = self.now_ms;
        match effect {
            Effect::Request { request, method, url, body, .. } => {
                let wanted = rest_request(&method, &url, None, body.as_deref());
                self.http.insert(request, wanted);
                self.link.send_request(now_ms, request, &mut self.random);
            }
            Effect::Open { socket, url, protocols } => {
                self.requested.insert(socket, (url, protocols));
                self.link.open_socket(now_ms, socket, &mut self.random);
            }
            Effect::Send { socket, text } => {
                self.link.send_up(now_ms, socket, Some(text), &mut self.random);
            }
            Effect::Close { socket } => {
                self.link.send_up(now_ms, socket, None, &mut self.random);
            }
            Effect::Notify(notification) => {
                if let Notification::Ended { command, outcome, .. } = *notification {
                    let mut wishes = self.submitted.values_mut();
                    let wish = wishes.find(|wish| wish.command == command);
                    let wish = wish.expect("an outcome is of a wish");
                    assert_eq!(wish.outcome, None, "a wish has ended twice");
                    wish.outcome = Some(outcome);
                }
            }
            Effect::Store { .. } | Effect::Called { .. } => {}
        }
    }

    /// Checks that every prompt was answered once, and that every answer that could arrive did.
    fn check_end(&self) {
        let state = self.core.state();
        assert!(state.open.is_empty(), "still open: {:?}", state.open);
        assert!(self.recovering.is_none(), "the client has not recovered");
        for (subject, wish) in &self.submitted {
            let outcome = wish.outcome.as_ref().expect("nothing is open");
            match *subject {
                Subject::Prompt(game, number) => {
                    let closed = self.server.closed_prompts.get(&(game, number));
                    let closed =
                        closed.unwrap_or_else(|| panic!("the answer to {number} was lost"));
                    let fits = match outcome {
                        Outcome::Done { .. } => closed.by_player,
                        Outcome::Overtaken => true,
                        Outcome::Refused { code, .. } => {
                            let is_late =
                                ["stale_prompt", "not_asked", "other_game", "wrong_phase"]
                                    .contains(&code.as_str());
                            is_late && !closed.by_player
                        }
                        Outcome::Dropped => !closed.by_player,
                    };
                    assert!(fits, "{subject:?} {closed:?}, but the outcome is {outcome:?}");
                    let could_arrive = self.could_arrive(wish.at_ms, closed.at_ms);
                    assert!(
                        closed.by_player || !could_arrive,
                        "the answer to {subject:?} was lost, and the clock played: {closed:?}"
                    );
                }
                Subject::Ready(game) => {
                    let is_ready = self.server.ready_games.contains(&game);
                    assert!(is_ready, "the player is not ready for {game:?}: {outcome:?}");
                }
            }
        }
        // Every move of the player had a wish.
        for ((game, number), closed) in &self.server.closed_prompts {
            let has_wish = self.submitted.contains_key(&Subject::Prompt(*game, *number));
            assert!(has_wish || !closed.by_player, "a move without a wish");
        }
        assert!(!self.is_behind(), "the table is not current");
        let off_ms = self.core.server_time_ms(self.now_ms - self.stopped_ms) - self.now_ms;
        assert!(off_ms.abs() <= CLOCK_MS, "the client's server time is off by {off_ms} ms");
        let table = state.table.as_ref().expect("the table is shown");
        let view = self.server.player_view();
        assert_eq!(table.view, view, "the view is not the table's");
        assert_eq!(table.prompt, OpenPrompt::from_view(&view), "the prompt is not the table's");
    }

    fn is_behind(&self) -> bool {
        let version = self.core.state().table.as_ref().map(|table| table.version);
        version != Some(self.server.version())
    }

    /// Returns whether the connection worked long enough between these times.
    fn could_arrive(&self, from_ms: i64, to_ms: i64) -> bool {
        let shared_ms = |period: &Period| period.to_ms.min(to_ms) - period.from_ms.max(from_ms);
        self.periods.iter().any(|period| shared_ms(period) > DELIVERED_MS)
    }

    /// Records whether the connection works.
    fn record_connectivity(&mut self) {
        let is_back = !self.is_asleep && !self.link.is_cut() && self.recovering.is_none();
        let works = is_back && self.core.state().link == ClientLink::Live;
        let last = self.periods.last_mut().filter(|period| period.to_ms == i64::MAX);
        match last {
            Some(period) if !works => period.to_ms = self.now_ms,
            None if works => {
                self.periods.push(Period { from_ms: self.now_ms, to_ms: i64::MAX });
            }
            Some(_) | None => {}
        }
    }
}
