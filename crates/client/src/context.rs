//! The surroundings of the core's parts: the present time, randomness, timers, requests in flight
//! and the effects that wait for the driver.

use std::collections::{BTreeMap, VecDeque};

use crate::effect::{Effect, Notification, StoreKey};
use crate::input::Time;
use crate::limits::REQUEST_MS;
use crate::random::Random;
use crate::rest::{Call, PendingCall};
use crate::timers::{Timer, Timers};

/// The purpose of a request in flight.
#[derive(Clone, Debug)]
pub(crate) enum Purpose {
    /// The renewal of the tokens by this refresh token.
    Refresh {
        attempt: u32,
        refresh: String,
    },
    /// The renewal of the tokens by the device.
    SignInByDevice {
        attempt: u32,
        has_name: bool,
    },
    /// The caller's sign-in with a name and password or an external account.
    SignIn {
        call: u64,
    },
    Call(Box<PendingCall>),
}

#[derive(Debug)]
pub(crate) struct Context {
    pub(crate) time: Time,
    pub(crate) random: Random,
    pub(crate) timers: Timers,
    pub(crate) effects: VecDeque<Effect>,
    /// The server's origin without a slash at its end.
    base: String,
    requests: BTreeMap<u64, Purpose>,
    last_request: u64,
}

impl Context {
    pub(crate) fn new(base: &str, seed: [u8; 32], time: Time) -> Self {
        Self {
            time,
            random: Random::new(seed),
            timers: Timers::default(),
            effects: VecDeque::new(),
            base: base.trim_end_matches('/').to_owned(),
            requests: BTreeMap::new(),
            last_request: 0,
        }
    }

    /// Returns the present time of the monotonic clock.
    pub(crate) fn now(&self) -> i64 {
        self.time.now_ms
    }

    /// Returns the address of the socket, without a query.
    pub(crate) fn socket_url(&self) -> String {
        let rest = self.base.strip_prefix("http");
        rest.map_or_else(|| format!("{}/v1/play", self.base), |rest| format!("ws{rest}/v1/play"))
    }

    pub(crate) fn schedule(&mut self, after_ms: i64, timer: Timer) {
        self.timers.schedule(self.now() + after_ms, timer);
    }

    pub(crate) fn store(&mut self, key: StoreKey, value: Option<String>) {
        self.effects.push_back(Effect::Store { key, value });
    }

    pub(crate) fn notify(&mut self, notification: Notification) {
        self.effects.push_back(Effect::Notify(Box::new(notification)));
    }

    /// Sends a request and remembers its purpose until its end.
    pub(crate) fn send_request(&mut self, call: &Call, token: Option<&str>, purpose: Purpose) {
        self.last_request += 1;
        let request = self.last_request;
        let mut headers = BTreeMap::from([("accept".to_owned(), "application/json".to_owned())]);
        if call.body.is_some() {
            headers.insert("content-type".into(), "application/json".into());
        }
        headers.extend(call.headers.clone());
        if let Some(token) = token {
            headers.insert("authorization".into(), format!("Bearer {token}"));
        }
        self.effects.push_back(Effect::Request {
            request,
            method: call.method.clone(),
            url: format!("{}{}", self.base, call.path),
            headers,
            body: call.body.clone(),
        });
        self.schedule(REQUEST_MS, Timer::RequestTimeout { request });
        self.requests.insert(request, purpose);
    }

    /// Ends a request, and returns its purpose unless it has ended already.
    pub(crate) fn finish_request(&mut self, ended: u64) -> Option<Purpose> {
        let purpose = self.requests.remove(&ended)?;
        let is_timeout =
            |timer: &Timer| matches!(timer, Timer::RequestTimeout { request } if *request == ended);
        self.timers.cancel_timers(is_timeout);
        Some(purpose)
    }
}
