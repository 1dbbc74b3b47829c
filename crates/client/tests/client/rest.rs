//! The server's side of the REST calls that a client makes by itself.

use std::collections::BTreeMap;

use bahay_client::HttpAnswer;
use jiff::Timestamp;
use serde_json::{Value, json};

const TOKEN_MS: i64 = 15 * 60_000;
/// The time for which a used refresh token returns the same successor.
const REUSE_MS: i64 = 60_000;

/// An answer of the server.
#[derive(Clone, Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) body: Value,
}

/// The answer to a refresh.
#[derive(Clone, Debug)]
pub(crate) struct RefreshReply {
    pub(crate) reply: Reply,
    /// True if it has tokens that were issued now.
    pub(crate) is_new: bool,
}

/// An issued refresh token.
#[derive(Clone, Debug)]
struct Refresh {
    access: String,
    issued_at_ms: i64,
    used_at_ms: Option<i64>,
    successor: Option<Value>,
}

/// Issues the tokens of one session.
#[derive(Clone, Debug, Default)]
pub(crate) struct TokenIssuer {
    count: u64,
    newest: String,
    refreshes: BTreeMap<String, Refresh>,
}

impl TokenIssuer {
    pub(crate) fn issue(&mut self, now_ms: i64) -> Value {
        self.count += 1;
        let (access, refresh) =
            (format!("access-{}", self.count), format!("refresh-{}", self.count));
        self.newest.clone_from(&refresh);
        let issued = Refresh {
            access: access.clone(),
            issued_at_ms: now_ms,
            used_at_ms: None,
            successor: None,
        };
        self.refreshes.insert(refresh.clone(), issued);
        let expires_at = Timestamp::from_millisecond(now_ms + TOKEN_MS).expect("a time in range");
        json!({
            "access_token": access,
            "access_expires_at": expires_at,
            "refresh_token": refresh,
            "session": "session",
        })
    }

    pub(crate) fn newest_refresh(&self) -> String {
        self.newest.clone()
    }

    /// Returns the access token that was issued with a refresh token.
    pub(crate) fn access_of(&self, token: &str) -> Option<&str> {
        Some(&self.refreshes.get(token)?.access)
    }

    /// Returns whether a refresh token was issued less than a minute ago.
    pub(crate) fn is_young(&self, token: &str, now_ms: i64) -> bool {
        let refresh = self.refreshes.get(token);
        refresh.is_some_and(|refresh| now_ms - refresh.issued_at_ms < REUSE_MS)
    }

    pub(crate) fn is_used(&self, token: &str) -> bool {
        self.refreshes.get(token).is_some_and(|refresh| refresh.used_at_ms.is_some())
    }

    /// Returns the successor, repeatedly for a time, or the refusal of a token that was used long
    /// ago.
    ///
    /// # Errors
    /// If the token was never issued.
    pub(crate) fn refresh(&mut self, token: &str, now_ms: i64) -> Result<RefreshReply, String> {
        let refresh = self.refreshes.get(token).ok_or("an unknown refresh token")?;
        let is_old = refresh.used_at_ms.is_some_and(|used_ms| now_ms - used_ms > REUSE_MS);
        if is_old {
            let body = json!({ "code": "refresh_token_reused", "detail": "" });
            return Ok(RefreshReply { reply: Reply { status: 401, body }, is_new: false });
        }
        if let Some(body) = refresh.successor.clone() {
            return Ok(RefreshReply { reply: Reply { status: 200, body }, is_new: false });
        }
        let body = self.issue(now_ms);
        if let Some(refresh) = self.refreshes.get_mut(token) {
            refresh.used_at_ms = Some(now_ms);
            refresh.successor = Some(body.clone());
        }
        Ok(RefreshReply { reply: Reply { status: 200, body }, is_new: true })
    }
}

/// Returns an answer as the server sends it.
pub(crate) fn http_answer(reply: &Reply) -> HttpAnswer {
    let content_type =
        if reply.status < 300 { "application/json" } else { "application/problem+json" };
    HttpAnswer {
        status: reply.status,
        content_type: Some(content_type.into()),
        body: reply.body.to_string(),
        retry_after_ms: None,
    }
}
