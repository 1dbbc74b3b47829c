//! The tokens of one session.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde_json::{Value, json};

use crate::reply::Reply;

/// The life of an access token.
const TOKEN_MS: i64 = 15 * 60_000;
/// The time for which a used refresh token returns the same successor.
const REUSE_MS: i64 = 60_000;

/// The answer to a refresh.
#[derive(Clone, Debug)]
pub struct RefreshReply {
    pub reply: Reply,
    /// True if it has tokens that were issued now.
    pub is_new: bool,
}

/// An issued refresh token.
#[derive(Clone, Debug)]
struct Refresh {
    access: String,
    issued_at_ms: i64,
    used_at_ms: Option<i64>,
    successor: Option<Value>,
    is_revoked: bool,
}

/// Issues the tokens of one player's sessions.
#[derive(Clone, Debug, Default)]
pub struct TokenIssuer {
    count: u64,
    /// The number of sessions that have ended.
    ended_sessions: u64,
    newest: String,
    refreshes: BTreeMap<String, Refresh>,
    /// The expiry of each access token that is not revoked.
    access_expiry_ms: BTreeMap<String, i64>,
}

impl TokenIssuer {
    /// Issues a pair of tokens, and returns them as the body of an answer.
    pub fn issue(&mut self, now_ms: i64) -> Value {
        self.count += 1;
        let (access, refresh) =
            (format!("access-{}", self.count), format!("refresh-{}", self.count));
        self.newest.clone_from(&refresh);
        let issued = Refresh {
            access: access.clone(),
            issued_at_ms: now_ms,
            used_at_ms: None,
            successor: None,
            is_revoked: false,
        };
        self.refreshes.insert(refresh.clone(), issued);
        let expires_ms = now_ms.saturating_add(TOKEN_MS);
        self.access_expiry_ms.insert(access.clone(), expires_ms);
        let expires_at = Timestamp::from_millisecond(expires_ms).unwrap_or(Timestamp::MAX);
        json!({
            "access_token": access,
            "access_expires_at": expires_at,
            "refresh_token": refresh,
            "session": format!("session-{}", self.ended_sessions),
        })
    }

    /// Returns whether an access token is valid.
    pub fn is_valid(&self, access: &str, now_ms: i64) -> bool {
        self.access_expiry_ms.get(access).is_some_and(|expiry_ms| *expiry_ms >= now_ms)
    }

    /// Ends the session: none of its tokens is accepted any more.
    pub fn end_session(&mut self) {
        self.ended_sessions += 1;
        self.access_expiry_ms.clear();
        for refresh in self.refreshes.values_mut() {
            refresh.is_revoked = true;
        }
    }

    /// Ends the life of every access token that was issued so far.
    pub fn expire_access_tokens(&mut self) {
        self.access_expiry_ms.clear();
    }

    pub fn newest_refresh(&self) -> String {
        self.newest.clone()
    }

    /// Returns the access token that was issued with a refresh token.
    pub fn access_of(&self, token: &str) -> Option<&str> {
        Some(&self.refreshes.get(token)?.access)
    }

    /// Returns whether a refresh token was issued less than a minute ago.
    pub fn is_young(&self, token: &str, now_ms: i64) -> bool {
        let refresh = self.refreshes.get(token);
        refresh.is_some_and(|refresh| now_ms - refresh.issued_at_ms < REUSE_MS)
    }

    pub fn is_used(&self, token: &str) -> bool {
        self.refreshes.get(token).is_some_and(|refresh| refresh.used_at_ms.is_some())
    }

    /// Returns whether the successor of a refresh token was used, or its access token shown.
    pub fn is_superseded(&self, token: &str) -> bool {
        let successor = self.refreshes.get(token).and_then(|refresh| refresh.successor.as_ref());
        let successor = successor.and_then(|body| body["refresh_token"].as_str());
        successor.is_some_and(|successor| self.is_used(successor))
    }

    /// Returns the successor, repeatedly for a time, or the refusal of a token that was used long
    /// ago or whose successor was used.
    ///
    /// # Errors
    /// If the token was never issued.
    pub fn refresh(&mut self, token: &str, now_ms: i64) -> Result<RefreshReply, String> {
        let refresh = self.refreshes.get(token).ok_or("an unknown refresh token")?;
        let is_old = refresh.used_at_ms.is_some_and(|used_ms| now_ms - used_ms > REUSE_MS);
        if is_old || refresh.is_revoked || self.is_superseded(token) {
            let reply = Reply::problem(401, "refresh_token_reused");
            return Ok(RefreshReply { reply, is_new: false });
        }
        if let Some(body) = refresh.successor.clone() {
            return Ok(RefreshReply { reply: Reply::new(200, body), is_new: false });
        }
        let body = self.issue(now_ms);
        if let Some(refresh) = self.refreshes.get_mut(token) {
            refresh.used_at_ms = Some(now_ms);
            refresh.successor = Some(body.clone());
        }
        Ok(RefreshReply { reply: Reply::new(200, body), is_new: true })
    }
}

#[cfg(test)]
mod tests {
    use super::TokenIssuer;

    #[test]
    fn a_refresh_token_returns_the_same_successor_until_that_is_used() {
        let mut issuer = TokenIssuer::default();
        issuer.issue(0);
        let first = issuer.refresh("refresh-1", 10).expect("an issued token");
        let again = issuer.refresh("refresh-1", 20).expect("an issued token");
        assert!(first.is_new && !again.is_new);
        assert_eq!(first.reply.body, again.reply.body);
        assert!(issuer.refresh("refresh-2", 30).expect("an issued token").is_new);
        let stolen = issuer.refresh("refresh-1", 40).expect("an issued token");
        assert_eq!(stolen.reply.body["code"], "refresh_token_reused");
        assert!(issuer.refresh("refresh-9", 40).is_err());
    }
}
