//! The socket connection: opens, authenticates, supervises and reopens it.
//!
//! Sockets may race. If the one in use is in doubt, as after a phone's sleep or a change of
//! network, others are opened at once while the first is pinged, and the first of all to answer is
//! used. The first packet of a TCP connection is retransmitted only after a second, so the race
//! saves much. After a server's shutdown no client races, because all of them reconnect at once.
//!
//! The first commands, `authenticate` and `join`, are sent in the request for the socket
//! (`sockets`), so that their answers arrive with it. The table learns of the connection from the
//! first command sent on the socket, which is an immediate `ping`; an unused socket therefore
//! disturbs no other. Until the table has arrived, a socket that has received more replaces the one
//! in use.
//!
//! Without a token, all commands are sent together once the socket is open. A `ping` follows them,
//! so that a lost packet is followed by one that arrives: TCP then retransmits after one round trip
//! instead of two.

use bahay_protocol::{Command, Credential};

use crate::client_core::{ClientCore, Join};
use crate::effect::Effect;
use crate::limits::{
    ATTEMPT_TIMEOUT_MS, BACKOFF_LOST_MS, BACKOFF_MAX_MS, FIRST_PING_ID, FRESH_MS, HEDGE_MS,
    PAUSE_MAX_MS, PING_DELAY_MS, PROTOCOL_ERRORS_MAX, RACERS, TIME_MAX_MS, USUAL_OPEN_MIN_MS,
    WAKE_MS,
};
use crate::sockets::{AUTHENTICATE_ID, ActiveSocket, JOIN_ID, PendingSocket, socket_request};
use crate::state::{Action, Link};
use crate::timers::{Check, Timer};

impl ClientCore {
    pub(super) fn start_connection(&mut self) {
        if self.state.link.is_wanted() {
            return;
        }
        self.failures = 0;
        self.protocol_errors = 0;
        self.connect(false);
    }

    pub(super) fn stop_connection(&mut self) {
        self.close_all();
        self.set_link(Link::Off);
    }

    /// Checks the connection after the app became visible or the network returned.
    pub(super) fn wake_connection(&mut self) {
        if !self.state.link.is_wanted() {
            return;
        }
        // A pending request or socket may wait for a network that is gone.
        self.wake_session();
        if self.active.is_some() && self.watchdog.missing_ms(self.cx.now()) < WAKE_MS {
            let is_old = |socket: &PendingSocket| {
                socket.since_ms.is_none_or(|since_ms| self.ms_since(since_ms) > FRESH_MS)
            };
            if self.pending.iter().any(is_old) {
                self.race_sockets();
            }
            self.check_now();
            return;
        }
        self.close_active();
        self.failures = 0;
        self.connect(true);
    }

    /// Records that the table is current, or that it is known that there is none.
    pub(super) fn confirm_table(&mut self) {
        self.failures = 0;
        self.protocol_errors = 0;
        self.cx.timers.cancel_timers(|timer| matches!(timer, Timer::AttemptTimeout));
        self.close_all_pending();
        if let Some(active) = &mut self.active {
            active.pending.received.clear();
        }
        self.set_link(Link::Live);
    }

    pub(super) fn connect(&mut self, is_race: bool) {
        self.cx.timers.cancel_timers(|timer| matches!(timer, Timer::EndPause));
        let attempt = self.failures.saturating_add(1);
        let is_known = self.session.player().is_some();
        self.set_link(if is_known { Link::Connecting { attempt } } else { Link::SigningIn });
        // A missing token is requested while the socket opens.
        if self.session.token(self.cx.time).is_none() {
            if self.renewal_wait_ms() > 0 {
                self.retry_connection("the server has asked for a wait", None);
                return;
            }
            self.request_token();
            if !self.state.link.is_wanted() {
                return;
            }
        }
        if is_race {
            self.race_sockets();
        } else {
            self.open_socket();
        }
        self.limit_attempt();
    }

    pub(super) fn limit_attempt(&mut self) {
        self.cx.timers.cancel_timers(|timer| matches!(timer, Timer::AttemptTimeout));
        self.cx.schedule(ATTEMPT_TIMEOUT_MS, Timer::AttemptTimeout);
    }

    /// Opens several sockets at once, in place of those that are pending.
    fn race_sockets(&mut self) {
        self.close_all_pending();
        for _ in 0..RACERS {
            self.open_socket();
        }
    }

    fn open_socket(&mut self) {
        if let Some(oldest) = self.pending.first().map(|pending| pending.socket)
            && self.pending.len() >= RACERS
        {
            self.close_pending(oldest);
        }
        self.sockets += 1;
        let socket = self.sockets;
        let token = self.session.token(self.cx.time).map(str::to_owned);
        let session = self.session.id().map(str::to_owned);
        let position = self.table_position();
        let (url, protocols) =
            socket_request(self.cx.socket_url(), &self.forms, token.as_deref(), position);
        self.pending.push(PendingSocket {
            socket,
            since_ms: Some(self.cx.now()),
            token,
            session,
            protocol: None,
            received: Vec::new(),
        });
        self.cx.effects.push_back(Effect::Open { socket, url, protocols });
        // A socket that takes much longer than usual has probably lost a packet, or waits for a
        // network that is gone.
        let is_only = self.pending.len() == 1;
        let hedge_ms = if is_only { self.usual_open_ms * 3 / 2 + 100 } else { HEDGE_MS };
        self.cx.timers.cancel_timers(|timer| matches!(timer, Timer::Hedge { .. }));
        self.cx.schedule(hedge_ms, Timer::Hedge { socket });
    }

    pub(super) fn hedge_socket(&mut self, socket: u64) {
        if self.pending.iter().any(|pending| pending.socket == socket) {
            self.open_socket();
        }
    }

    pub(super) fn handle_open(&mut self, socket: u64, protocol: String) {
        let Some(pending) = self.pending.iter_mut().find(|pending| pending.socket == socket) else {
            self.cx.effects.push_back(Effect::Close { socket });
            return;
        };
        pending.protocol = Some(protocol);
        let has_token = pending.token.is_some();
        // Outliers are capped.
        let opened_ms = pending.since_ms.map_or(TIME_MAX_MS, |ms| self.cx.time.now_ms - ms);
        let capped_ms = opened_ms.min(2 * self.usual_open_ms);
        self.usual_open_ms = ((7 * self.usual_open_ms + 3 * capped_ms) / 10).max(USUAL_OPEN_MIN_MS);
        if self.active.is_none() || self.watchdog.is_in_doubt() {
            self.activate_socket(socket);
        } else if !has_token || self.state.link == Link::Live {
            self.close_pending(socket);
        }
    }

    /// Makes a socket the connection in use, with all messages it has received.
    pub(super) fn activate_socket(&mut self, socket: u64) {
        let Some(place) = self.pending.iter().position(|pending| pending.socket == socket) else {
            return;
        };
        let pending = self.pending.remove(place);
        // The previous connection worked, so no attempt's timeout is running.
        if self.state.link.is_live() {
            self.limit_attempt();
            self.set_link(Link::Connecting { attempt: 1 });
        }
        self.close_active();
        let received = pending.received.clone();
        self.active = Some(ActiveSocket::new(pending, self.kind.as_deref()));
        self.authenticate();
        if !received.is_empty() {
            self.handle_first_answer();
        }
        for data in received {
            self.read_if_active(socket, &data);
        }
    }

    pub(super) fn authenticate(&mut self) {
        let Some(active) = &self.active else {
            return;
        };
        let is_in_request = active.pending.token.is_some();
        let token = active.pending.token.as_deref().or_else(|| self.session.token(self.cx.time));
        let Some(token) = token.map(str::to_owned) else {
            self.request_token();
            return;
        };
        let session = self.session.id().map(str::to_owned);
        let Some(active) = &mut self.active else {
            return;
        };
        active.token = Some(token.clone());
        active.is_authenticated = true;
        if !is_in_request {
            active.session = session;
        }
        let socket = active.socket();
        self.set_link(Link::Joining);
        if !is_in_request {
            let token = Some(Credential::new(token));
            self.push_command(&Command::Authenticate { id: AUTHENTICATE_ID, token, ticket: None });
            if let Some(active) = &mut self.active {
                active.next_id = AUTHENTICATE_ID + 1;
            }
        }
        self.record_received(true);
        if is_in_request {
            self.record_join(Some(JOIN_ID));
        } else {
            self.send_join();
            self.cx.schedule(PING_DELAY_MS, Timer::Ping { socket });
        }
    }

    /// Handles the first answer. If all commands were in the request, the table is now told of the
    /// connection.
    pub(super) fn handle_first_answer(&mut self) {
        let Some(active) = &mut self.active else {
            return;
        };
        if active.pending.token.is_none() {
            active.has_answered = active.is_authenticated;
        } else if !active.has_sent {
            self.push_command(&Command::Ping { id: FIRST_PING_ID });
        }
    }

    pub(super) fn ping_socket(&mut self, socket: u64) {
        if self.active.as_ref().is_some_and(|active| active.socket() == socket) {
            self.push_command(&Command::Ping { id: FIRST_PING_ID });
        }
    }

    /// Sends a command with the next id of the connection in use, and returns the id; `None` if
    /// there is no authenticated connection.
    pub(super) fn send_command(
        &mut self,
        command: impl FnOnce(u32) -> Command<Action>,
    ) -> Option<u32> {
        let active = self.active.as_mut().filter(|active| active.is_authenticated)?;
        let id = active.next_id;
        active.next_id = id.checked_add(1)?;
        self.push_command(&command(id));
        Some(id)
    }

    fn push_command(&mut self, command: &Command<Action>) {
        let Some(active) = &mut self.active else {
            return;
        };
        active.has_sent = true;
        let socket = active.socket();
        let text = serde_json::to_string(command).expect("a command is written as JSON");
        self.cx.effects.push_back(Effect::Send { socket, text });
    }

    /// Starts the timeout of an expected answer, after which the connection is in doubt.
    pub(super) fn expect_answer(&mut self) {
        if let Some((ms, check)) = self.watchdog.expect_answer() {
            self.schedule_check(ms, check);
        }
    }

    /// Records a received message or the start of a connection.
    pub(super) fn record_received(&mut self, is_due: bool) {
        let is_urgent = self.is_urgent();
        let (ms, check) = self.watchdog.record_received(self.cx.now(), is_due, is_urgent);
        self.schedule_check(ms, check);
    }

    fn schedule_check(&mut self, ms: i64, check: Check) {
        self.cx.timers.cancel_timers(|timer| matches!(timer, Timer::Watchdog(_)));
        self.watchdog.record_check(self.cx.now() + ms);
        self.cx.schedule(ms, Timer::Watchdog(check));
    }

    pub(super) fn run_check(&mut self, check: Check) {
        match check {
            Check::Silence => {
                let (ms, check) = self.watchdog.begin_doubt(self.cx.now());
                self.ping_server();
                self.schedule_check(ms, check);
            }
            Check::Missing => {
                self.watchdog.begin_missing(self.cx.now());
                self.ping_server();
                self.check_now();
            }
            Check::Doubt => self.check_now(),
        }
    }

    fn ping_server(&mut self) {
        if self.active.as_ref().is_some_and(|active| active.is_authenticated) {
            self.push_command(&Command::Ping { id: FIRST_PING_ID });
        }
    }

    fn check_now(&mut self) {
        let actions = self.watchdog.check(self.cx.now());
        if actions.pings {
            self.ping_server();
        }
        if actions.marks_weak && self.state.link == Link::Live {
            self.set_link(Link::Weak);
        }
        if actions.opens_others && self.pending.is_empty() {
            self.race_sockets();
        }
        self.schedule_check(actions.next_ms, Check::Doubt);
        // Before the table has arrived, the attempt's own timeout applies.
        if actions.gives_up && self.state.link == Link::Weak {
            self.close_active();
            self.connect(false);
        }
    }

    pub(super) fn handle_protocol_error(&mut self, reason: String) {
        self.protocol_errors = self.protocol_errors.saturating_add(1);
        if self.protocol_errors >= PROTOCOL_ERRORS_MAX {
            self.end_connection(Link::Broken { reason });
        } else {
            self.retry_connection(&reason, None);
        }
    }

    /// Returns the time until the server reads another request for a token; 0 while there is a
    /// token.
    fn renewal_wait_ms(&self) -> i64 {
        let has_token = self.session.token(self.cx.time).is_some();
        let renew_at_ms = self.renew_at_ms.filter(|_| !has_token);
        renew_at_ms.map_or(0, |at_ms| (at_ms - self.cx.now()).clamp(0, PAUSE_MAX_MS))
    }

    /// Closes everything and retries after a back-off, or after at most this time.
    pub(super) fn retry_connection(&mut self, reason: &str, longest_ms: Option<i64>) {
        if !self.state.link.is_wanted() {
            return;
        }
        let has_worked = self.state.link.is_live();
        self.close_all();
        self.failures = self.failures.saturating_add(1);
        let backoff_ms = if has_worked { BACKOFF_LOST_MS } else { self.backoff_ms(BACKOFF_MAX_MS) };
        let ms =
            self.renewal_wait_ms() + self.cx.random.draw_jitter(longest_ms.unwrap_or(backoff_ms));
        let until_ms = self.cx.now() + ms;
        self.set_link(Link::Pausing {
            until_ms,
            attempt: self.failures,
            reason: reason.to_owned(),
        });
        self.cx.schedule(ms, Timer::EndPause);
    }

    pub(super) fn end_connection(&mut self, link: Link) {
        self.close_all();
        self.set_link(link);
    }

    fn close_all(&mut self) {
        self.cx.timers.cancel_timers(|timer| {
            matches!(timer, Timer::EndPause | Timer::AttemptTimeout | Timer::Hedge { .. })
        });
        self.close_all_pending();
        self.close_active();
    }

    /// Closes the connection in use, or records that it is closed.
    pub(super) fn close_active(&mut self) {
        self.stop_watching();
        if let Some(active) = self.active.take() {
            self.record_left(&active);
            self.cx.effects.push_back(Effect::Close { socket: active.socket() });
        }
        self.handle_lost();
    }

    /// Stops the watchdog, as there is no connection.
    pub(super) fn stop_watching(&mut self) {
        self.cx.timers.cancel_timers(|timer| matches!(timer, Timer::Watchdog(_)));
        self.watchdog.stop_watching();
    }

    pub(super) fn record_left(&mut self, active: &ActiveSocket) {
        if active.has_sent && !active.has_answered {
            self.left_at_ms = Some(self.cx.now());
        }
    }

    fn close_all_pending(&mut self) {
        for pending in std::mem::take(&mut self.pending) {
            self.cx.effects.push_back(Effect::Close { socket: pending.socket });
        }
    }

    pub(super) fn close_pending(&mut self, socket: u64) {
        self.pending.retain(|pending| pending.socket != socket);
        self.cx.effects.push_back(Effect::Close { socket });
    }

    /// Records the loss of the connection: its answers are lost, and the table is outdated.
    fn handle_lost(&mut self) {
        self.outbox.forget_ids();
        self.join = Join::Wanted;
        self.join_id = None;
        let tables = [&mut self.state.table, &mut self.state.watched];
        for table in tables.into_iter().flatten() {
            table.is_current = false;
        }
    }
}
