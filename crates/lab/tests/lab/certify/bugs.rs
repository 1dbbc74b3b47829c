//! Bugs of clients, planted around the client core.

use std::collections::BTreeSet;

use bahay_client::{Input, Link, SocketData};
use bahay_model_server::RestRequest;
use serde_json::{Value, json};

/// A bug of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Bug {
    /// Commits to another text when `ready` is repeated.
    OtherCommitment,
    /// Never repeats a command.
    NoRepetition,
    /// Applies an update after a gap as if nothing were missing.
    IgnoresGap,
    /// Applies an update that it has applied already.
    AppliesTwice,
    /// Takes every deal for honest.
    IgnoresCommitment,
    /// Reconnects at once, whatever the server answers.
    NoBackOff,
    /// Returns after another connection has taken over.
    FightsReplacement,
    /// Refreshes with the first refresh token again.
    OldRefreshToken,
    /// Continues with the tokens of a session that has ended.
    IgnoresSessionEnd,
    /// Joins a halted table without a pause.
    HammersHaltedTable,
    /// Signs out when a portal answers a refresh.
    BelievesPortal,
    /// Sends to a table that is gone.
    SendsAfterEnd,
    /// Answers each prompt twice.
    AnswersTwice,
    /// Adds a field to its commands.
    SendsUnknownField,
    /// Ignores `Retry-After`.
    IgnoresRetryAfter,
}

impl Bug {
    /// Each bug with the scenario that has to find it.
    pub(crate) const ALL: [(Self, &str); 15] = [
        (Self::OtherCommitment, "cut_before_command"),
        (Self::NoRepetition, "cut_before_command"),
        (Self::IgnoresGap, "update_missing"),
        (Self::AppliesTwice, "update_twice"),
        (Self::IgnoresCommitment, "forged_deal"),
        (Self::NoBackOff, "socket_unavailable"),
        (Self::FightsReplacement, "replaced"),
        (Self::OldRefreshToken, "token_expired"),
        (Self::IgnoresSessionEnd, "session_ended"),
        (Self::HammersHaltedTable, "table_halted"),
        (Self::BelievesPortal, "portal_at_refresh"),
        (Self::SendsAfterEnd, "table_voided"),
        (Self::AnswersTwice, "answer_twice"),
        (Self::SendsUnknownField, "answer_twice"),
        (Self::IgnoresRetryAfter, "too_many_requests"),
    ];
}

/// The times of the joins of a halted table.
const HAMMERS: i64 = 20;
const HAMMER_MS: i64 = 50;

/// The changes that a bug makes to what a client sends and receives.
#[derive(Debug, Default)]
pub(crate) struct BuggyClient {
    bug: Option<Bug>,
    /// The commands that were sent, without their ids.
    sent: BTreeSet<String>,
    ready_games: BTreeSet<String>,
    /// The last version of the server's, and the number of versions by which the client is ahead.
    last_version: Option<u64>,
    ahead: i64,
    first_refresh_token: Option<Value>,
    last_action: Option<String>,
}

impl BuggyClient {
    pub(crate) fn new(bug: Option<Bug>) -> Self {
        Self { bug, ..Self::default() }
    }

    /// Returns the inputs in place of one, each with a delay.
    pub(crate) fn alter_input(&mut self, input: Input) -> Vec<(i64, Input)> {
        let Some(bug) = self.bug else {
            return vec![(0, input)];
        };
        match (bug, input) {
            (Bug::NoBackOff, input @ Input::Closed { .. }) => {
                vec![(0, input), (0, Input::Wake)]
            }
            (Bug::IgnoresSessionEnd, Input::Closed { socket, code: 4003 }) => {
                vec![(0, Input::Closed { socket, code: 1006 })]
            }
            (Bug::HammersHaltedTable, Input::Received { socket, data })
                if text_of(&data).contains("table_halted") =>
            {
                let joins = (1..=HAMMERS).map(|number| (number * HAMMER_MS, Input::Join));
                std::iter::once((0, Input::Received { socket, data })).chain(joins).collect()
            }
            (Bug::BelievesPortal, Input::Answered { request, answer })
                if answer.content_type.as_deref().is_some_and(|kind| kind.contains("html")) =>
            {
                vec![(0, Input::Answered { request, answer }), (0, Input::Stop)]
            }
            (Bug::IgnoresRetryAfter, Input::Answered { request, mut answer }) => {
                answer.retry_after_ms = None;
                vec![(0, Input::Answered { request, answer })]
            }
            (Bug::IgnoresGap | Bug::AppliesTwice, Input::Received { socket, data }) => {
                let data = self.renumber(bug, data);
                vec![(0, Input::Received { socket, data })]
            }
            (_, input) => vec![(0, input)],
        }
    }

    /// Renumbers an update so that the client does not notice that it does not fit.
    fn renumber(&mut self, bug: Bug, data: SocketData) -> SocketData {
        let SocketData::Text(text) = data else {
            return data;
        };
        let mut message: Value = serde_json::from_str(&text).unwrap_or_default();
        let Some(version) = message["version"].as_u64() else {
            return SocketData::Text(text);
        };
        match message["type"].as_str() {
            Some("snapshot") => {
                self.ahead = 0;
                self.last_version = Some(version);
            }
            Some("update") => {
                let step = self.last_version.map_or(1, |last| {
                    i64::try_from(version).unwrap_or(0) - i64::try_from(last).unwrap_or(0)
                });
                let is_hidden = if bug == Bug::IgnoresGap { step > 1 } else { step == 0 };
                if is_hidden {
                    self.ahead += 1 - step;
                }
                self.last_version = Some(version);
                message["version"] = version.saturating_add_signed(self.ahead).into();
            }
            _ => {}
        }
        SocketData::Text(message.to_string())
    }

    /// Returns the texts in place of one.
    pub(crate) fn alter_text(&mut self, text: &str) -> Vec<String> {
        let mut command: Value = serde_json::from_str(text).expect("a command is JSON");
        let kind = command["type"].as_str().unwrap_or_default().to_owned();
        let mut content = command.clone();
        content["id"] = Value::Null;
        let is_of_table = matches!(kind.as_str(), "act" | "ready" | "reveal");
        let is_repeated = is_of_table && !self.sent.insert(content.to_string());
        if kind == "act" {
            self.last_action = Some(text.to_owned());
        }
        match self.bug {
            Some(Bug::NoRepetition) if is_repeated => Vec::new(),
            Some(Bug::OtherCommitment) if kind == "ready" => {
                if !self.ready_games.insert(command["game"].to_string()) {
                    command["commitment"] = json!("5a".repeat(32));
                }
                vec![command.to_string()]
            }
            Some(Bug::AnswersTwice) if kind == "act" => {
                let mut again = command.clone();
                again["id"] = json!(500_000);
                vec![command.to_string(), again.to_string()]
            }
            Some(Bug::SendsUnknownField) => {
                command["sent_by"] = json!("a later version");
                vec![command.to_string()]
            }
            _ => vec![text.to_owned()],
        }
    }

    pub(crate) fn alter_request(&mut self, mut rest: RestRequest) -> RestRequest {
        if self.bug == Some(Bug::OldRefreshToken) && rest.path == "/v1/token/refresh" {
            let mut body: Value = serde_json::from_str(&rest.body).expect("a body is JSON");
            let first =
                self.first_refresh_token.get_or_insert_with(|| body["refresh_token"].clone());
            body["refresh_token"] = first.clone();
            rest.body = body.to_string();
        }
        rest
    }

    /// Returns the result of a deal's check as the client reports it.
    pub(crate) fn alter_check(&self, holds: Option<bool>) -> Option<bool> {
        if self.bug == Some(Bug::IgnoresCommitment) { Some(true) } else { holds }
    }

    /// Returns the input by which the client reacts to the state of its connection.
    pub(crate) fn react_to_link(&self, link: &Link) -> Option<(i64, Input)> {
        let is_fight = self.bug == Some(Bug::FightsReplacement) && *link == Link::Replaced;
        is_fight.then_some((HAMMER_MS, Input::Start))
    }

    /// Returns the text that the client sends after the end of its seat.
    pub(crate) fn text_after_end(&self) -> Option<String> {
        let text = self.last_action.clone();
        text.filter(|_| self.bug == Some(Bug::SendsAfterEnd))
    }
}

fn text_of(data: &SocketData) -> &str {
    match data {
        SocketData::Text(text) => text,
        SocketData::Binary(_) => "",
    }
}
