//! A client at a practice table, without a network between it and the server.

use std::collections::BTreeMap;

use bahay_client::{ClientCore, Effect, Input, Notification, Options, Outcome, StoreKey, Time};
use bahay_engine::catalog::{self, AnyGame};
use bahay_engine::table::Event;
use bahay_model_server::{ModelServer, Output, upgrade_commands};
use bahay_protocol::Message;
use bahay_protocol::brief::Form;

use crate::rest::{http_answer, rest_request, socket_data};
use crate::suspensions::server_options;

/// A client and a server without a network between them.
pub(crate) struct House {
    pub(crate) server: ModelServer,
    pub(crate) core: ClientCore,
    pub(crate) now_ms: i64,
    pub(crate) outcomes: Vec<Outcome>,
    /// The stored values.
    pub(crate) stored: BTreeMap<StoreKey, String>,
    /// The addresses of the sockets that were opened.
    pub(crate) opened: Vec<String>,
    /// True if a game ends without its seed, as at a table of a duplicate.
    pub(crate) withholds_seeds: bool,
    /// Whether each deal holds that the client has checked.
    pub(crate) deals: Vec<Option<bool>>,
}

impl House {
    /// Starts a client at a table of this game.
    pub(crate) fn new(kind: &catalog::Kind) -> Self {
        let server = ModelServer::new(kind, &server_options(1));
        let mut house = Self {
            server,
            core: new_core(BTreeMap::new(), 0),
            now_ms: 0,
            outcomes: Vec::new(),
            stored: BTreeMap::new(),
            opened: Vec::new(),
            withholds_seeds: false,
            deals: Vec::new(),
        };
        house.handle(Input::Start);
        house
    }

    /// Replaces the client by one with its stored values, as after a restart of the app.
    pub(crate) fn restart_client(&mut self) {
        self.core = new_core(self.stored.clone(), self.now_ms);
    }

    pub(crate) fn handle(&mut self, input: Input) {
        let mut inputs = vec![input];
        while let Some(input) = inputs.pop() {
            let time = Time { now_ms: self.now_ms, wall_ms: self.now_ms };
            self.core.handle_input(time, input);
            let mut caused = Vec::new();
            while let Some(effect) = self.core.poll_effect() {
                caused.extend(self.perform(effect));
            }
            caused.extend(self.server_inputs());
            caused.reverse();
            inputs.extend(caused);
        }
    }

    fn perform(&mut self, effect: Effect) -> Vec<Input> {
        match effect {
            Effect::Request { request, method, url, headers, body } => {
                let bearer = headers.get("authorization");
                let bearer = bearer.and_then(|value| value.strip_prefix("Bearer "));
                let wanted = rest_request(&method, &url, bearer, body.as_deref());
                let reply = self.server.answer_request(self.now_ms, &wanted);
                vec![Input::Answered { request, answer: http_answer(&reply) }]
            }
            Effect::Open { socket, url, protocols } => {
                self.opened.push(url.clone());
                self.server.accept_socket(socket, Form::Compact);
                let (_, query) = url.split_once('?').unwrap_or_default();
                let commands = upgrade_commands(query, &protocols, None);
                self.server.handle_request(self.now_ms, socket, &commands);
                vec![Input::Opened { socket, protocol: protocols[0].clone() }]
            }
            Effect::Send { socket, text } => {
                let _ = self.server.handle_command(self.now_ms, socket, &text);
                Vec::new()
            }
            Effect::Close { socket } => {
                self.server.disconnect_socket(self.now_ms, socket);
                Vec::new()
            }
            Effect::Notify(notification) => {
                match *notification {
                    Notification::Ended { outcome, .. } => self.outcomes.push(outcome),
                    Notification::Deal { check, .. } => self.deals.push(check.holds()),
                    _ => {}
                }
                Vec::new()
            }
            Effect::Store { key, value } => {
                match value {
                    Some(value) => drop(self.stored.insert(key, value)),
                    None => drop(self.stored.remove(&key)),
                }
                Vec::new()
            }
            Effect::Called { .. } => Vec::new(),
        }
    }

    fn server_inputs(&mut self) -> Vec<Input> {
        let outputs = std::mem::take(&mut self.server.outputs).into_iter();
        let inputs = outputs.map(|(socket, output)| match output {
            Output::Message(mut message) => {
                if self.withholds_seeds {
                    withhold_seeds(&mut message);
                }
                let data = socket_data(self.server.encode(socket, &message));
                Input::Received { socket, data }
            }
            Output::Close(code) => Input::Closed { socket, code },
        });
        let inputs = inputs.collect();
        assert_eq!(self.server.violations, []);
        inputs
    }

    /// Lets time pass.
    pub(crate) fn advance(&mut self, ms: i64) {
        self.now_ms += ms;
        self.server.run_clock(self.now_ms);
        for input in self.server_inputs() {
            self.handle(input);
        }
        self.handle(Input::Timeout);
    }
}

fn withhold_seeds(message: &mut Message<AnyGame>) {
    if let Message::Update { events, .. } = message {
        for event in events {
            if let Event::Over { server_seed, .. } = event {
                *server_seed = None;
            }
        }
    }
}

fn new_core(stored: BTreeMap<StoreKey, String>, now_ms: i64) -> ClientCore {
    ClientCore::new(Options {
        stored,
        forms: vec![Form::Compact],
        follows_wallet: true,
        ..Options::new("http://house", [5; 32], Time { now_ms, wall_ms: now_ms })
    })
}
