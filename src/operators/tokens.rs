//! API tokens, with which programs act for an operator. An operator creates its own token in a
//! session with the second factor and is the only one who sees it; nobody creates a token for
//! another operator. Acts by a token are recorded as such
//! ([`Channel::Token`](super::audit::Channel::Token)).

use std::time::Duration;

use jiff_sqlx::Timestamp as SqlTimestamp;
use serde_json::json;
use sqlx::PgConnection;

use super::audit::{self, Action};
use super::{Operator, OperatorAuthError, Operators, SignedInOperator};
use crate::auth::OperatorToken;
use crate::clock::{self, Timestamp};
use crate::db::{self, to_sql};
use crate::ids::{OperatorId, OperatorSessionId};

/// The lifetime of a token, after which the operator has to create another one.
pub const TOKEN_LIFE: Duration = Duration::from_hours(24 * 90);

impl Operators {
    /// Creates the token of an operator, which replaces the previous one, and returns it with its
    /// expiry. Not retried, because a lost response would lose the token.
    ///
    /// # Errors
    /// [`OperatorAuthError::SessionEnded`] if the session has ended in the meantime.
    pub async fn create_token(
        &self,
        by: &SignedInOperator,
        now: Timestamp,
    ) -> Result<(OperatorToken, Timestamp), OperatorAuthError> {
        let token = OperatorToken::random();
        let expires_at = clock::add(now, TOKEN_LIFE);
        self.set_token(by, Some((&token, expires_at)), Action::TokenCreated).await?;
        Ok((token, expires_at))
    }

    /// Returns the expiry of an operator's token, if it has one.
    pub async fn token_expires_at(
        &self,
        operator: &Operator,
    ) -> Result<Option<Timestamp>, OperatorAuthError> {
        let once = || {
            sqlx::query_scalar!(
                r#"
                select o.token_expires_at as "token_expires_at: SqlTimestamp"
                from operators o
                where o.id = $1
                "#,
                operator.id.0
            )
            .fetch_one(&self.pool)
        };
        Ok(db::retry(once).await?.map(db::from_sql))
    }

    /// Revokes the token of an operator, if there is one.
    ///
    /// # Errors
    /// [`OperatorAuthError::SessionEnded`] if the session has ended in the meantime.
    pub async fn revoke_token(&self, by: &SignedInOperator) -> Result<(), OperatorAuthError> {
        self.set_token(by, None, Action::TokenRevoked).await
    }

    async fn set_token(
        &self,
        by: &SignedInOperator,
        token: Option<(&OperatorToken, Timestamp)>,
        action: Action,
    ) -> Result<(), OperatorAuthError> {
        let hash = token.map(|(token, _)| token.hash());
        let mut tx = db::begin(&self.pool).await?;
        // A concurrent reset or disabling locks the same row, so that the two are serialised.
        sqlx::query!(
            "update operators set token_hash = $2, token_expires_at = $3 where id = $1",
            by.id.0,
            hash.as_ref().map(|hash| hash.0.as_slice()),
            token.map(|(_, expires_at)| to_sql(expires_at)) as _
        )
        .execute(&mut *tx)
        .await?;
        if !holds_session_in_tx(&mut tx, by.id, by.session).await? {
            return Err(OperatorAuthError::SessionEnded);
        }
        audit::record_in_tx(&mut tx, &by.actor, action, None, json!({})).await?;
        Ok(tx.commit().await?)
    }
}

/// Returns whether a session is open, and keeps it open until the caller's transaction ends.
///
/// A request is authenticated before its transaction begins; a reset or a disabling in between has
/// to prevent the change.
pub(super) async fn holds_session_in_tx(
    tx: &mut PgConnection,
    operator: OperatorId,
    session: OperatorSessionId,
) -> Result<bool, sqlx::Error> {
    let open = sqlx::query_scalar!(
        r#"
        select 1 as "one!"
        from operator_sessions s
        where s.id = $1 and s.operator = $2 and s.ended_at is null
        for share
        "#,
        session.0,
        operator.0
    );
    Ok(open.fetch_optional(tx).await?.is_some())
}
