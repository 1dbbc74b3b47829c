//! The requests of a client, over HTTP and for sockets, and the faults planted at them.

use std::collections::BTreeMap;

use bahay_engine::table::TableId;
use bahay_model_server::{Output, Reply, RestRequest, upgrade_commands};
use bahay_protocol::brief::Form;
use bahay_protocol::{Command, Message, Tag, read_command};

use crate::certify::fault::{Fault, RefreshFault, SessionEnd, TableFault, UpgradeFault};
use crate::certify::planting::{IN_FLIGHT_MS, WAIT_MS};
use crate::certify::scenario_run::{ClientSocket, ScenarioRun};
use crate::certify::wire::{HttpReply, Reaction};

/// The time for which requests for sockets fail.
const UPGRADE_FAULT_MS: i64 = 3_000;
/// The number of requests for sockets without an answer.
const UNANSWERED_UPGRADES: u32 = 2;
/// The time for which a table is halted, and the largest number of joins in that time.
const HALTED_MS: i64 = 4_000;
const HALTED_JOINS_MAX: u32 = 4;
/// The earliness by which a wait may end, because the client's clock began later.
const EARLY_MS: i64 = 100;
/// The number of a portal's answers to refreshes.
const PORTAL_ANSWERS: u32 = 3;
/// The time for which a client may try its old access token after its refresh was refused.
const RETRIES_MS: i64 = 5_000;
/// The same wait as [`WAIT_MS`] in seconds, as `Retry-After` has it.
const WAIT_S: u64 = 2;

impl ScenarioRun {
    /// Handles a request of the client.
    pub(super) fn handle_request(&mut self, request: u64, rest: &RestRequest) {
        let is_refresh = rest.path == "/v1/token/refresh";
        let is_sign_in = rest.path.starts_with("/v1/sign-in/");
        if is_refresh || is_sign_in {
            self.conduct.record_request(self.now_ms);
            self.check_session_request(is_refresh);
        }
        if is_refresh && self.plan.planted > 0 && self.handle_refresh(request, rest) {
            return;
        }
        let reply = self.server.answer_request(self.server_ms(), rest);
        self.plan.has_signed_in |= is_sign_in && self.plan.planted > 0 && reply.status == 200;
        if reply.status == 403 {
            self.plan.refused_at_ms.get_or_insert(self.now_ms);
        }
        self.push_reaction(Reaction::Answer { request, answer: reply.into() });
    }

    /// Checks a refresh or a sign-in against the end of the session.
    fn check_session_request(&mut self, is_refresh: bool) {
        let early_ms = self.plan.no_request_before_ms - self.now_ms;
        if early_ms > EARLY_MS {
            self.conduct.record_violation(format!("a request came {early_ms} ms too early"));
        }
        let is_refused =
            self.plan.refused_at_ms.is_some_and(|at_ms| self.now_ms - at_ms > IN_FLIGHT_MS);
        if is_refused {
            self.conduct.record_violation("a request of a banned player");
        }
        match self.fault() {
            Fault::Session(SessionEnd::Replaced) if self.is_quiet() => {
                self.conduct.record_violation("a replaced client renewed its sign-in");
            }
            Fault::Session(SessionEnd::SignedOut) if self.is_quiet() && is_refresh => {
                self.conduct.record_violation("an ended session was refreshed");
            }
            Fault::Clock { .. } if self.plan.planted > 0 => {
                self.plan.count += 1;
                if self.plan.count > 1 {
                    self.conduct.record_violation("a token was renewed for a wrong clock again");
                }
            }
            _ => {}
        }
    }

    /// Answers a refresh with the planted fault. Returns false if the server answers it.
    fn handle_refresh(&mut self, request: u64, rest: &RestRequest) -> bool {
        let Fault::Refresh(fault) = self.fault() else {
            return false;
        };
        let body: serde_json::Value = serde_json::from_str(&rest.body).unwrap_or_default();
        let token = body["refresh_token"].as_str().map(str::to_owned);
        self.plan.count += 1;
        let count = self.plan.count;
        let is_first = count == 1;
        let is_same = self.plan.refresh_token.is_none() || self.plan.refresh_token == token;
        match fault {
            RefreshFault::None => {
                if token != Some(self.server.tokens().newest_refresh()) {
                    self.conduct.record_violation("an older refresh token was sent again");
                }
                false
            }
            RefreshFault::Banned => {
                self.plan.refused_at_ms.get_or_insert(self.now_ms);
                let answer = Reply::problem(403, "banned").into();
                self.push_reaction(Reaction::Answer { request, answer });
                true
            }
            RefreshFault::AnswerLost => {
                if is_first {
                    self.plan.refresh_token = token;
                    self.server.answer_request(self.server_ms(), rest);
                    self.push_reaction(Reaction::Drop { request });
                } else if count == 2 && !is_same {
                    self.conduct.record_violation("a lost refresh was not repeated alike");
                }
                is_first
            }
            RefreshFault::Portal => {
                if !is_same {
                    self.conduct.record_violation("a lost refresh was not repeated alike");
                }
                self.plan.refresh_token = token;
                if count <= PORTAL_ANSWERS {
                    self.push_reaction(Reaction::Answer { request, answer: HttpReply::portal() });
                }
                count <= PORTAL_ANSWERS
            }
            RefreshFault::TooManyRequests => {
                if is_first {
                    self.plan.no_request_before_ms = self.now_ms + WAIT_MS;
                    let refusal = HttpReply::from(Reply::problem(429, "too_many_requests"));
                    let answer = refusal.with_retry_after(WAIT_S);
                    self.push_reaction(Reaction::Answer { request, answer });
                }
                is_first
            }
            RefreshFault::Reused => {
                if !is_first && is_same {
                    self.conduct.record_violation("a refused refresh token was sent again");
                }
                self.plan.may_stop = true;
                self.plan.refresh_token = token;
                if is_first {
                    let answer = Reply::problem(401, "refresh_token_reused").into();
                    self.push_reaction(Reaction::Answer { request, answer });
                }
                is_first
            }
        }
    }

    /// Handles a request for a socket.
    pub(super) fn handle_upgrade(
        &mut self,
        socket: u64,
        query: &str,
        protocols: &[String],
        bearer: Option<&str>,
    ) {
        self.conduct.record_upgrade(self.now_ms);
        self.check_upgrade();
        if self.fail_upgrade(socket) {
            return;
        }
        // The server selects the shortest form that it knows.
        let form = Form::ALL
            .into_iter()
            .find(|form| protocols.iter().any(|protocol| protocol == form.subprotocol()));
        if form.is_none() {
            self.conduct.record_violation("a request for a socket offers no message form");
        }
        let form = form.unwrap_or_default();
        let open = ClientSocket {
            position: None,
            join_id: None,
            is_frozen: false,
            slow_until_ms: 0,
            questions: BTreeMap::new(),
        };
        self.sockets.insert(socket, open);
        self.push_reaction(Reaction::Accept { socket, form });
        self.server.accept_socket(socket, form);
        let mut accepted = Vec::new();
        let mut refused_join = None;
        for text in upgrade_commands(query, protocols, bearer) {
            if let Ok(Command::Join { id, from, tag, table }) = read_command(&text)
                && !self.observe_join(socket, id, (from, tag, table))
            {
                refused_join = Some(id);
            } else {
                accepted.push(text);
            }
        }
        self.server.handle_request(self.server_ms(), socket, &accepted);
        if let Some(id) = refused_join {
            self.refuse_join(socket, id);
        }
    }

    fn check_upgrade(&mut self) {
        let early_ms = self.plan.no_socket_before_ms - self.now_ms;
        if early_ms > EARLY_MS {
            self.conduct
                .record_violation(format!("a request for a socket came {early_ms} ms too early"));
        }
        let since_ms = self.now_ms - self.plan.planted_at_ms;
        match self.fault() {
            Fault::Session(_) if self.is_quiet() && !self.plan.has_signed_in => {
                self.conduct.record_violation("a socket was requested after the end");
            }
            Fault::Refresh(RefreshFault::Banned) if self.is_quiet() => {
                let is_told =
                    self.plan.refused_at_ms.is_some_and(|at_ms| self.now_ms - at_ms > IN_FLIGHT_MS);
                if is_told {
                    self.conduct.record_violation("a socket was requested by a banned player");
                }
            }
            Fault::Refresh(RefreshFault::Reused)
                if self.plan.may_stop() && since_ms > RETRIES_MS =>
            {
                self.conduct.record_violation("a socket was requested without a sign-in");
            }
            _ => {}
        }
    }

    /// Lets a request for a socket fail, if that is the fault.
    fn fail_upgrade(&mut self, socket: u64) -> bool {
        let is_within =
            self.plan.planted > 0 && self.now_ms - self.plan.planted_at_ms < UPGRADE_FAULT_MS;
        let unavailable = || HttpReply::from(Reply::problem(503, "unavailable"));
        let answer = match self.fault() {
            Fault::Upgrade(UpgradeFault::Unanswered) if self.plan.planted > 0 => {
                self.plan.count += 1;
                return self.plan.count <= UNANSWERED_UPGRADES;
            }
            Fault::Upgrade(UpgradeFault::Portal) if is_within => HttpReply::portal(),
            Fault::Upgrade(UpgradeFault::Unavailable) if is_within => unavailable(),
            Fault::Table(TableFault::Takeover) if self.now_ms < self.plan.away_until_ms => {
                unavailable()
            }
            _ => return false,
        };
        self.push_reaction(Reaction::Reject { socket, answer });
        true
    }

    /// Records a join, and returns whether the table answers it.
    pub(super) fn observe_join(
        &mut self,
        socket: u64,
        id: u32,
        (from, tag, table): (Option<u64>, Option<Tag>, Option<TableId>),
    ) -> bool {
        self.conduct.record_join(self.now_ms, from, tag, table);
        if let Some(open) = self.sockets.get_mut(&socket) {
            open.join_id = Some(id);
            if let Some(position) = from.zip(tag) {
                open.position = Some(position);
            }
        }
        !self.is_halted()
    }

    fn is_halted(&self) -> bool {
        self.fault() == Fault::Table(TableFault::Halted)
            && self.plan.planted > 0
            && self.now_ms - self.plan.planted_at_ms < HALTED_MS
    }

    pub(super) fn refuse_join(&mut self, socket: u64, id: u32) {
        self.plan.count += 1;
        if self.plan.count > HALTED_JOINS_MAX {
            self.conduct.record_violation("a halted table was joined again and again");
        }
        self.refuse(socket, id, "table_halted", false);
    }

    pub(super) fn refuse(&mut self, socket: u64, id: u32, code: &'static str, retryable: bool) {
        let refusal = Message::Refusal {
            id: Some(id),
            code: code.into(),
            rule: None,
            detail: code.replace('_', " "),
            retryable,
            retry_after_ms: None,
        };
        self.server.outputs.push((socket, Output::Message(Box::new(refusal))));
    }
}
