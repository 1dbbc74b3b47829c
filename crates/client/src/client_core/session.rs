//! The renewal of tokens, and authenticated requests.

use serde_json::{Value, json};

use crate::client_core::ClientCore;
use crate::context::Purpose;
use crate::effect::{Effect, StoreKey};
use crate::limits::{
    READ_ATTEMPTS_MAX, READ_PAUSE_MS, RENEW_PAUSE_MS, SHARE_DELAY_MS, WAKE_AFTER_MS, clamp_time,
};
use crate::rest::{
    Answer, Call, CallOwner, CallProblem, PendingCall, Player, ServerAnswer, SessionTokens,
    to_answer, to_problem,
};
use crate::session::{Renewal, RenewalWaiter, RenewingSince, StoredSession};
use crate::state::Link;
use crate::timers::Timer;

impl ClientCore {
    /// Renews the token before it expires, as long as the connection wants it, so that a
    /// reconnection need not wait for one.
    pub(super) fn renew_ahead(&mut self, least_ms: i64) {
        self.cx.timers.cancel_timers(|timer| matches!(timer, Timer::RenewAhead));
        if let Some(renew_in_ms) = self.session.renew_in_ms(self.cx.time) {
            self.cx.schedule(renew_in_ms.max(least_ms), Timer::RenewAhead);
        }
    }

    pub(super) fn renew_ahead_now(&mut self) {
        // Another token may have arrived meanwhile.
        if self.session.renew_in_ms(self.cx.time) != Some(0) {
            self.renew_ahead(0);
        } else if self.state.link.is_authenticated() {
            self.renew_tokens(RenewalWaiter::Ahead);
        }
    }

    /// Records the server's time.
    pub(super) fn set_server_time(&mut self, server_ms: i64) {
        self.session.set_server_time(server_ms, self.cx.time);
        if self.session.stored.is_some() {
            self.store_session();
        }
    }

    /// Adopts newer tokens of the same session from another client.
    pub(super) fn adopt_tokens(&mut self, text: &str) {
        let other = StoredSession::read(text);
        let Some(other) = other.filter(|other| self.session.is_older_than(other)) else {
            return;
        };
        self.session.set_received(other, self.cx.time);
        self.store_session();
        if self.session.renewing_since.is_some() {
            // An answer in flight has nothing newer.
            self.session.attempts += 1;
            self.finish_renewal(&Renewal::Renewed);
        }
    }

    /// Marks a token as rejected by the server.
    pub(super) fn reject_token(&mut self, token: &str) {
        if self.session.reject_token(token) {
            self.store_session();
        }
    }

    pub(super) fn forget_session(&mut self) {
        self.session.stored = None;
        self.cx.store(StoreKey::Session, None);
    }

    /// Renews the tokens by the refresh token, or by the device without one.
    pub(super) fn renew_tokens(&mut self, waiter: RenewalWaiter) {
        self.session.waiters.push(waiter);
        if self.session.renewing_since.is_none() {
            self.begin_renewal();
        }
    }

    /// Repeats a renewal that may wait for a network that is gone, after the network has returned.
    pub(super) fn wake_session(&mut self) {
        let is_old = match self.session.renewing_since {
            Some(RenewingSince::Ms(since_ms)) => self.ms_since(since_ms) > WAKE_AFTER_MS,
            Some(RenewingSince::LongAgo) => true,
            None => false,
        };
        if is_old {
            self.begin_renewal();
        }
    }

    /// Marks everything in flight as old, after a sleep that the monotonic clock did not measure.
    pub(super) fn mark_stale(&mut self) {
        if let Some(since) = &mut self.session.renewing_since {
            *since = RenewingSince::LongAgo;
        }
        self.watchdog.mark_stale();
        for pending in &mut self.pending {
            pending.since_ms = None;
        }
    }

    fn begin_renewal(&mut self) {
        self.session.renewing_since = Some(RenewingSince::Ms(self.cx.now()));
        self.session.attempts += 1;
        let attempt = self.session.attempts;
        let stored = self.session.stored.as_ref();
        let by_device = stored.is_none_or(|stored| stored.by_device);
        match stored.and_then(|stored| stored.refresh.clone()) {
            Some(refresh) if self.session.is_restored() => {
                self.cx.schedule(SHARE_DELAY_MS, Timer::RefreshStored { attempt, refresh });
            }
            Some(refresh) => self.refresh_tokens(refresh),
            None if by_device => self.sign_in_by_device(true),
            None => {
                let problem = CallProblem::with_code("session_ended");
                self.finish_renewal(&Renewal::SignedOut(problem));
            }
        }
    }

    pub(super) fn refresh_unless_late(&mut self, attempt: u32, refresh: String) {
        if attempt == self.session.attempts {
            self.refresh_tokens(refresh);
        }
    }

    fn refresh_tokens(&mut self, refresh: String) {
        // The device lets the server distinguish a repetition from a theft.
        let body = json!({ "refresh_token": refresh, "device_id": self.device_id() });
        let attempt = self.session.attempts;
        let call = Call::post("/v1/token/refresh", &body);
        self.cx.send_request(&call, None, Purpose::Refresh { attempt, refresh });
    }

    pub(super) fn end_refresh(
        &mut self,
        attempt: u32,
        refresh: &str,
        answer: Option<&ServerAnswer>,
    ) {
        if attempt != self.session.attempts {
            return;
        }
        let Some(stored) = &mut self.session.stored else {
            return;
        };
        let player = stored.player.clone();
        let by_device = stored.by_device;
        let is_refused = answer.is_some_and(|answer| matches!(answer.status, 401 | 403));
        if let Some(tokens) = answer.and_then(ServerAnswer::tokens) {
            self.store_tokens(tokens, player, by_device);
            self.finish_renewal(&Renewal::Renewed);
        } else if !is_refused {
            // It is unknown whether the refresh token was used, so it is sent again.
            self.finish_renewal(&Renewal::Failed(to_problem(answer)));
        } else if stored.refresh.as_deref() != Some(refresh) {
            self.begin_renewal();
        } else {
            // The access token stays valid for its remaining lifetime.
            stored.refresh = None;
            self.store_session();
            if by_device {
                self.sign_in_by_device(true);
            } else {
                self.finish_renewal(&Renewal::SignedOut(to_problem(answer)));
            }
        }
    }

    fn sign_in_by_device(&mut self, with_name: bool) {
        let mut body = json!({ "device_id": self.device_id() });
        let name = self.name.as_ref().filter(|_| with_name);
        if let Some(name) = name {
            body["name"] = json!(name);
        }
        let has_name = name.is_some();
        let attempt = self.session.attempts;
        let call = Call::post("/v1/sign-in/guest", &body);
        self.cx.send_request(&call, None, Purpose::SignInByDevice { attempt, has_name });
    }

    pub(super) fn end_sign_in_by_device(
        &mut self,
        attempt: u32,
        has_name: bool,
        answer: Option<&ServerAnswer>,
    ) {
        if attempt != self.session.attempts {
            return;
        }
        if let Some((player, tokens)) = answer.and_then(ServerAnswer::signed_in) {
            self.store_tokens(tokens, player, true);
            self.finish_renewal(&Renewal::Renewed);
            return;
        }
        match answer.map(|answer| answer.status) {
            Some(409 | 422) if has_name => self.sign_in_by_device(false),
            Some(403) => self.finish_renewal(&Renewal::SignedOut(to_problem(answer))),
            _ => self.finish_renewal(&Renewal::Failed(to_problem(answer))),
        }
    }

    /// Signs in with a name and password or an external account; the session then belongs to this
    /// device.
    pub(super) fn sign_in(&mut self, call: u64, path: &str, body: &str) {
        let mut body = match serde_json::from_str(body) {
            Ok(Value::Object(fields)) => fields,
            _ => serde_json::Map::new(),
        };
        let device_id = self.device_id();
        body.entry("device_id").or_insert_with(|| device_id.into());
        self.cx.send_request(&Call::post(path, &body.into()), None, Purpose::SignIn { call });
    }

    pub(super) fn end_sign_in(&mut self, call: u64, answer: Option<&ServerAnswer>) {
        let signed_in = answer.and_then(ServerAnswer::signed_in);
        let is_signed_in = signed_in.is_some();
        if let Some((player, tokens)) = signed_in {
            self.store_tokens(tokens, player, false);
        }
        let is_incomplete = answer.is_some_and(|answer| answer.status == 200) && !is_signed_in;
        let answer = to_answer(answer.filter(|_| !is_incomplete));
        if matches!(answer, Answer::Ok { .. }) {
            self.clear_player();
            self.start_connection();
        }
        self.cx.effects.push_back(Effect::Called { call, answer });
    }

    /// Sends an authenticated request of the caller.
    pub(super) fn begin_call(&mut self, number: u64, call: Call) {
        self.attempt_call(PendingCall {
            owner: CallOwner::Caller(number),
            call,
            attempt: 1,
            is_renewed: false,
            token: None,
        });
    }

    /// Reads the wallet, if the client follows it.
    pub(super) fn read_wallet(&mut self) {
        if self.follows_wallet {
            self.attempt_call(PendingCall {
                owner: CallOwner::Wallet,
                call: Call::get("/v1/me/wallet"),
                attempt: 1,
                is_renewed: false,
                token: None,
            });
        }
    }

    pub(super) fn attempt_call(&mut self, mut pending: PendingCall) {
        pending.token = self.session.token(self.cx.time).map(str::to_owned);
        if pending.token.is_none() && !pending.call.is_open {
            self.renew_tokens(RenewalWaiter::Call(Box::new(pending)));
            return;
        }
        let call = pending.call.clone();
        let token = pending.token.clone();
        self.cx.send_request(&call, token.as_deref(), Purpose::Call(Box::new(pending)));
    }

    pub(super) fn end_call(&mut self, mut pending: PendingCall, answer: Option<&ServerAnswer>) {
        let is_read_again =
            answer.is_none() && pending.call.method == "GET" && pending.attempt < READ_ATTEMPTS_MAX;
        let is_rejected = answer.is_some_and(|answer| answer.status == 401);
        match pending.token.take() {
            Some(token) if is_rejected && !pending.is_renewed => {
                self.reject_token(&token);
                pending.is_renewed = true;
                self.attempt_call(pending);
            }
            _ if is_read_again => {
                let pause_ms = self.cx.random.draw_jitter(READ_PAUSE_MS << pending.attempt);
                pending.attempt += 1;
                self.cx.schedule(pause_ms, Timer::RepeatCall(Box::new(pending)));
            }
            _ => self.answer_call(pending.owner, answer),
        }
    }

    fn answer_call(&mut self, owner: CallOwner, answer: Option<&ServerAnswer>) {
        match owner {
            CallOwner::Caller(call) => {
                let answer = to_answer(answer);
                self.cx.effects.push_back(Effect::Called { call, answer });
            }
            CallOwner::Wallet => {
                if let Some(wallet) = answer.and_then(ServerAnswer::wallet) {
                    self.state.wallet = Some(wallet);
                }
            }
        }
    }

    fn finish_renewal(&mut self, renewal: &Renewal) {
        self.session.renewing_since = None;
        for waiter in std::mem::take(&mut self.session.waiters) {
            match (waiter, renewal) {
                (RenewalWaiter::Connection, _) => self.end_token_request(renewal),
                (RenewalWaiter::Ahead, _) => {
                    let least_ms = self.cx.random.draw_jitter(RENEW_PAUSE_MS);
                    self.renew_ahead(least_ms);
                }
                (RenewalWaiter::Call(pending), Renewal::Renewed) => {
                    self.attempt_call(PendingCall { is_renewed: true, ..*pending });
                }
                (
                    RenewalWaiter::Call(pending),
                    Renewal::SignedOut(problem) | Renewal::Failed(problem),
                ) => {
                    if let CallOwner::Caller(call) = pending.owner {
                        let answer = Answer::Refused { status: 0, problem: problem.clone() };
                        self.cx.effects.push_back(Effect::Called { call, answer });
                    }
                }
            }
        }
    }

    /// Requests a token for the connection.
    pub(super) fn request_token(&mut self) {
        if !self.is_signing_in {
            self.is_signing_in = true;
            self.renew_tokens(RenewalWaiter::Connection);
        }
    }

    fn end_token_request(&mut self, renewal: &Renewal) {
        self.is_signing_in = false;
        if !self.state.link.is_wanted() {
            return;
        }
        let is_unauthenticated = self.active.as_ref().is_some_and(|one| !one.is_authenticated);
        match renewal {
            Renewal::Renewed => {
                if is_unauthenticated {
                    self.authenticate();
                } else if self.state.link == Link::SigningIn {
                    self.set_link(Link::Connecting { attempt: self.failures.saturating_add(1) });
                }
            }
            Renewal::SignedOut(CallProblem { code, detail, .. }) => {
                let link = Link::SignedOut { code: code.clone(), detail: detail.clone() };
                self.end_connection(link);
            }
            Renewal::Failed(CallProblem { code, retry_after_ms, .. }) => {
                let wait_ms = retry_after_ms.map(|ms| i64::try_from(ms).unwrap_or(i64::MAX));
                self.renew_at_ms = wait_ms.map(|ms| clamp_time(ms) + self.cx.now());
                // A connection that is there needs no new token.
                let is_pausing = matches!(self.state.link, Link::Pausing { .. });
                if (self.active.is_none() || is_unauthenticated) && !is_pausing {
                    self.retry_connection(&code.clone(), None);
                }
            }
        }
    }

    fn store_tokens(&mut self, tokens: SessionTokens, player: Player, by_device: bool) {
        self.session.set_tokens(tokens, player, by_device, self.cx.time);
        self.store_session();
    }

    fn store_session(&mut self) {
        let text = self.session.stored.as_ref().map(StoredSession::to_text);
        self.cx.store(StoreKey::Session, text);
    }

    /// Returns the device's secret, drawn when it is first needed.
    fn device_id(&mut self) -> String {
        if let Some(device) = &self.session.device {
            return device.clone();
        }
        let device = self.cx.random.draw_hex(24);
        self.cx.store(StoreKey::Device, Some(device.clone()));
        self.session.device = Some(device.clone());
        device
    }
}
