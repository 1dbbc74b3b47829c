//! Requests over HTTP: their types, and the reading of answers.
//!
//! A captive portal answers in the server's place, mostly with a page of its own and status 200. An
//! answer therefore counts only in the form that openapi.yaml promises; any other is treated as no
//! answer, and the request is retried.

use std::collections::BTreeMap;
use std::time::UNIX_EPOCH;

use bahay_engine::table::PlayerId;
use serde::Deserialize;
use serde_json::Value;

use crate::limits::CREDENTIAL_BYTES_MAX;

/// A request of the caller to the REST API.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Call {
    /// The method in capitals, such as `GET`.
    pub method: String,
    /// The path with its query, such as `/v1/me/wallet`.
    pub path: String,
    pub headers: BTreeMap<String, String>,
    /// The body as JSON; `None` without one.
    pub body: Option<String>,
    /// True if the operation needs no authentication: without a token it is sent at once.
    pub is_open: bool,
}

impl Call {
    pub(crate) fn get(path: &str) -> Self {
        Self { method: "GET".into(), path: path.into(), ..Self::default() }
    }

    pub(crate) fn post(path: &str, body: &Value) -> Self {
        let body = Some(body.to_string());
        Self { method: "POST".into(), path: path.into(), body, ..Self::default() }
    }
}

/// An answer to an HTTP request, from the server or an intermediary.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HttpAnswer {
    pub status: u16,
    /// The header `content-type`.
    pub content_type: Option<String>,
    /// The body as text; empty without one.
    pub body: String,
    /// The header `retry-after` in milliseconds.
    pub retry_after_ms: Option<u64>,
}

/// The answer to a [`Call`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    Ok {
        status: u16,
        /// The body as JSON; `null` without one.
        body: String,
    },
    Refused {
        /// The HTTP status; 0 without an answer.
        status: u16,
        problem: CallProblem,
    },
}

/// A refusal. Without an answer its code is `unreachable`, and it is unknown whether the request
/// took effect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallProblem {
    /// The stable code, in snake case.
    pub code: String,
    /// A text for people; it may be empty.
    pub detail: String,
    /// The delay until a repetition may succeed, in milliseconds.
    pub retry_after_ms: Option<u64>,
}

impl CallProblem {
    pub(crate) fn with_code(code: &str) -> Self {
        Self { code: code.into(), detail: String::new(), retry_after_ms: None }
    }
}

/// A request of the caller, or of the client itself, that waits for a token or for its answer.
#[derive(Clone, Debug)]
pub(crate) struct PendingCall {
    pub(crate) owner: CallOwner,
    pub(crate) call: Call,
    /// The number of this attempt, from 1.
    pub(crate) attempt: u32,
    /// True once a token was renewed for this call.
    pub(crate) is_renewed: bool,
    /// The access token of the present attempt.
    pub(crate) token: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CallOwner {
    /// The caller, by its number of the call.
    Caller(u64),
    /// The client, which shows the wallet.
    Wallet,
}

/// A valid answer of the server.
#[derive(Clone, Debug)]
pub(crate) struct ServerAnswer {
    pub(crate) status: u16,
    body: Value,
    retry_after_ms: Option<u64>,
}

impl ServerAnswer {
    /// Reads an answer; `None` if it has not the server's form.
    pub(crate) fn read(answer: &HttpAnswer) -> Option<Self> {
        let HttpAnswer { status, ref content_type, ref body, retry_after_ms } = *answer;
        let body = serde_json::from_slice::<Value>(body.as_bytes()).unwrap_or_default();
        let is_container = body.is_object() || body.is_array();
        let is_json = is_container && is_json_type(content_type.as_deref().unwrap_or_default());
        let is_expected = is_json && (status < 300 || code_of(&body).is_some());
        (status == 204 || is_expected).then_some(Self { status, body, retry_after_ms })
    }

    /// Returns the tokens, if they are complete.
    pub(crate) fn tokens(&self) -> Option<SessionTokens> {
        if self.status != 200 {
            return None;
        }
        let tokens = TokensBody::deserialize(&self.body).ok()?;
        let is_usable = |token: &str| !token.is_empty() && token.len() <= CREDENTIAL_BYTES_MAX;
        let expires_at = humantime::parse_rfc3339(&tokens.access_expires_at).ok()?;
        let since_epoch = expires_at.duration_since(UNIX_EPOCH).ok()?;
        let expires_ms = i64::try_from(since_epoch.as_millis()).ok().filter(|ms| *ms > 0)?;
        let TokensBody { access_token: access, refresh_token: refresh, session, .. } = tokens;
        (is_usable(&access) && is_usable(&refresh)).then_some(SessionTokens {
            access,
            expires_ms,
            refresh,
            session,
        })
    }

    /// Returns the player and the tokens of a sign-in, if they are complete.
    pub(crate) fn signed_in(&self) -> Option<(Player, SessionTokens)> {
        let SignedInBody { player } = SignedInBody::deserialize(&self.body).ok()?;
        Some((player, self.tokens()?))
    }

    /// Returns the wallet, if this is the answer to a request for it.
    pub(crate) fn wallet(&self) -> Option<PlayerWallet> {
        PlayerWallet::deserialize(&self.body).ok().filter(|_| self.status == 200)
    }
}

/// The tokens of a session.
#[derive(Clone, Debug)]
pub(crate) struct SessionTokens {
    pub(crate) access: String,
    /// The expiry of the access token in the server's time.
    pub(crate) expires_ms: i64,
    pub(crate) refresh: String,
    pub(crate) session: String,
}

/// A signed-in player.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, serde::Serialize)]
pub struct Player {
    pub id: PlayerId,
    #[serde(default)]
    pub name: String,
}

/// A player's coins, in hundredths of a coin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub struct PlayerWallet {
    /// The coins that can be spent.
    pub available: i64,
    /// The stakes held in running games.
    pub held: i64,
}

#[derive(Deserialize)]
struct TokensBody {
    access_token: String,
    access_expires_at: String,
    refresh_token: String,
    #[serde(default)]
    session: String,
}

#[derive(Deserialize)]
struct SignedInBody {
    player: Player,
}

/// Converts an answer, or its absence, for the caller.
pub(crate) fn to_answer(answer: Option<&ServerAnswer>) -> Answer {
    match answer {
        Some(ServerAnswer { status, body, .. }) if *status < 300 => {
            Answer::Ok { status: *status, body: body.to_string() }
        }
        _ => {
            let status = answer.map_or(0, |answer| answer.status);
            Answer::Refused { status, problem: to_problem(answer) }
        }
    }
}

/// Returns the problem of a refusal; `unreachable` without an answer.
pub(crate) fn to_problem(answer: Option<&ServerAnswer>) -> CallProblem {
    let coded = answer.and_then(|answer| Some((answer, code_of(&answer.body)?)));
    let Some((answer, code)) = coded else {
        return CallProblem::with_code("unreachable");
    };
    let detail = answer.body.get("detail").and_then(Value::as_str).unwrap_or_default();
    CallProblem { code: code.into(), detail: detail.into(), retry_after_ms: answer.retry_after_ms }
}

fn code_of(body: &Value) -> Option<&str> {
    body.get("code").and_then(Value::as_str)
}

/// Returns whether this is `application/json` or `application/problem+json`, with or without
/// parameters.
fn is_json_type(content_type: &str) -> bool {
    let media_type = content_type.split(';').next().unwrap_or_default().trim();
    ["application/json", "application/problem+json"]
        .iter()
        .any(|json| media_type.eq_ignore_ascii_case(json))
}

#[cfg(test)]
mod tests {
    use super::{Answer, CallProblem, HttpAnswer, ServerAnswer, to_answer};

    fn read(status: u16, content_type: &str, body: &str) -> Option<ServerAnswer> {
        let content_type = Some(content_type.into());
        ServerAnswer::read(&HttpAnswer {
            status,
            content_type,
            body: body.into(),
            ..HttpAnswer::default()
        })
    }

    #[test]
    fn only_the_promised_form_is_an_answer() {
        assert!(read(200, "application/json; charset=utf-8", "{}").is_some());
        assert!(read(204, "", "").is_some());
        let problem = r#"{"code":"name_taken","detail":"choose another"}"#;
        let refused = read(409, "application/problem+json", problem);
        let refusal =
            CallProblem { detail: "choose another".into(), ..CallProblem::with_code("name_taken") };
        assert_eq!(to_answer(refused.as_ref()), Answer::Refused { status: 409, problem: refusal });
        for (status, content_type, body) in [
            (200, "text/html", "{}"),
            (200, "application/json", "<html>"),
            (200, "application/json", "7"),
            (503, "application/json", "{}"),
        ] {
            let unreachable = CallProblem::with_code("unreachable");
            let answer = to_answer(read(status, content_type, body).as_ref());
            assert_eq!(answer, Answer::Refused { status: 0, problem: unreachable }, "{body}");
        }
    }

    #[test]
    fn incomplete_tokens_are_none() {
        let whole = r#"{"access_token":"a","access_expires_at":"2026-03-01T00:00:00Z","refresh_token":"r","session":"s"}"#;
        let json =
            |body: &str| read(200, "application/json", body).and_then(|answer| answer.tokens());
        assert!(json(whole).is_some());
        for broken in ["access_token", "access_expires_at", "refresh_token"] {
            assert!(json(&whole.replace(broken, "other")).is_none(), "{broken}");
        }
        for (time, is_read) in [
            ("2026-03-01T08:00:00.25+00:00", true),
            // The API writes instants in UTC alone.
            ("2026-03-01T16:00:00+08:00", false),
            ("", false),
            ("2026-03-01", false),
            ("2026-13-01T00:00:00Z", false),
            ("2026-02-29T00:00:00Z", false),
            ("2026-03-01T24:00:00Z", false),
            ("2026-03-01T08:00:00", false),
            ("2026-03-01T08:00:00.é99Z", false),
            ("1969-12-31T23:59:59.999Z", false),
        ] {
            let body = whole.replace("2026-03-01T00:00:00Z", time);
            assert_eq!(json(&body).is_some(), is_read, "{time}");
        }
    }
}
