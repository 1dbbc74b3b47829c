//! Operators, the people who run the house: authentication, roles, and corrections of the books.
//!
//! A value of [`Operator`] proves that a request is authenticated; it is constructed only from a
//! valid token or session. [`Administrator`], [`CanModerate`] and [`CanRequestCorrections`] prove a
//! role in addition; [`CanApproveCorrections`] and [`SignedInAdministrator`] prove a role and a
//! session with the second factor. A function that takes one of them is authorised by its
//! signature.
//!
//! `bahay operator` adds the first operators; administrators add further ones at the desk.
//! Operators are looked up at every request, so that disabling one takes effect at once. People
//! sign in (`sign_in`) with a password and a second factor, which they set themselves
//! (`enrolment`); programs authenticate with a token, which an operator creates in a session
//! (`tokens`). Corrections, orders about tables and changes of operators require a session.
//! `issuance` stores the issuers of enrolment codes, `audit` the acts of operators.

mod adjustments;
pub mod audit;
mod browsers;
mod corrections;
mod dead_jobs;
mod enrolment;
mod extract;
mod issuance;
mod operator_admin;
mod player_notes;
mod sanctions;
mod second_factor;
mod sign_in;
mod tokens;

use std::str::FromStr;

use jiff_sqlx::Timestamp as SqlTimestamp;
use sqlx::PgPool;
use thiserror::Error;

use crate::auth::{AuthError, OperatorToken};
use crate::clock::{self, Timestamp};
use crate::db;
use crate::ids::{OperatorId, OperatorSessionId};

use audit::{Actor, Channel};

pub use bahay_api::operator::operators::OperatorRole as Role;

pub use adjustments::{AdjustmentBounds, BoundScope, DailyLimitError};
pub use audit::Audit;
pub use corrections::{Correction, CorrectionError, Corrections, Decision, State, Subject};
pub use dead_jobs::{DeadJobDecision, DeadJobs};
pub use enrolment::{ENROLMENT_LIFE, Enrolment, EnrolmentCompletion};
pub use issuance::INDEPENDENT_AFTER;
pub use operator_admin::OperatorAdminError;
pub use player_notes::{Moderation, ModerationError, NOTE_LENGTH, NoteText, ParseNoteError};
pub use sanctions::Sanctions;
pub use second_factor::SecondFactor;
pub use sign_in::{PASSWORD_MIN, 
    IDLE_MAX, OpenedSession, OperatorAuth, OperatorAuthError, RequestContext, SESSION_MAX,
    SignInClient, SignInRequest,
};
pub use tokens::TOKEN_LIFE;

/// An operator's name: a lower-case letter, then letters, digits, dots and hyphens, at most 32.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OperatorName(String);

/// The longest name, in bytes.
const NAME_BYTES_MAX: usize = 32;

/// The error of parsing an [`OperatorName`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error(
    "an operator's name is a lower-case letter and then up to 31 letters, digits, dots and hyphens"
)]
pub struct ParseOperatorNameError;

impl OperatorName {
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for OperatorName {
    type Err = ParseOperatorNameError;

    fn from_str(text: &str) -> Result<Self, ParseOperatorNameError> {
        let starts_well = text.as_bytes().first().is_some_and(u8::is_ascii_lowercase);
        let is_allowed =
            |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b".-".contains(&byte);
        let is_valid = starts_well && text.len() <= NAME_BYTES_MAX && text.bytes().all(is_allowed);
        if is_valid { Ok(Self(text.to_owned())) } else { Err(ParseOperatorNameError) }
    }
}

/// An authenticated operator, with a valid token or session. The value authorises reading.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operator {
    pub id: OperatorId,
    pub name: String,
    pub role: Role,
    channel: Channel,
    /// The client's address, at the granularity of rate limits.
    address: Option<String>,
    /// The session, which was opened with the second factor; `None` for a token.
    session: Option<OperatorSessionId>,
    proof: Proof,
}

/// An operator in a session with the second factor, as opposed to a program with a token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignedInOperator {
    pub id: OperatorId,
    actor: Actor,
    session: OperatorSessionId,
    proof: Proof,
}

/// The role that may correct the books. Requests and decisions also require a session, which
/// [`CanApproveCorrections`] proves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CanRequestCorrections(SignInState);

/// The capability to request corrections and to decide on those of others, in a session with the
/// second factor. A token suffices for neither: a request with a copied token would carry the name
/// of an operator who did not make it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CanApproveCorrections(SignedInOperator);

/// The capability to configure the house and to read the audit log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Administrator {
    pub id: OperatorId,
    actor: Actor,
    signed_in: SignInState,
}

/// An administrator in a session with the second factor: the capability to add, reset and disable
/// operators, to void and release tables, and to view hidden cards of running games. A token, which
/// may have been copied, suffices for none of these.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignedInAdministrator(SignedInOperator);

/// The capability to impose sanctions on players, to end their sessions, to write notes about them,
/// and to decide on reports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CanModerate {
    pub id: OperatorId,
    actor: Actor,
    proof: Proof,
}

/// The session of an operator, or the error if the request carried a token.
type SignInState = Result<SignedInOperator, SecondFactorMissing>;

/// A private value, so that no other module can construct an [`Operator`] or a
/// [`SignedInOperator`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Proof;

/// The error of an operator whose role lacks a capability.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("this requires the role {needs}; yours is {has}")]
pub struct RoleMissing {
    pub needs: &'static str,
    pub has: Role,
}

/// The error of a request with a token where a session is required.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error(
    "this requires a session with the second factor: sign in at the desk, or by \
     `POST /v1/operator/sign-in`"
)]
pub struct SecondFactorMissing;

impl Operator {
    /// Returns the actor for the audit log.
    pub fn actor(&self) -> Actor {
        let Self { id, channel, address, .. } = self.clone();
        Actor { operator: Some(id), channel, address }
    }

    /// Returns the operator if the request carried a session.
    pub fn require_session(&self) -> Result<SignedInOperator, SecondFactorMissing> {
        let session = self.session.ok_or(SecondFactorMissing)?;
        Ok(SignedInOperator { id: self.id, actor: self.actor(), session, proof: self.proof })
    }

    /// Returns the capability to correct the books, for the roles `finance` and `admin`.
    pub fn require_corrections_role(&self) -> Result<CanRequestCorrections, RoleMissing> {
        match self.role {
            Role::Finance | Role::Admin => Ok(CanRequestCorrections(self.require_session())),
            Role::Viewer | Role::Support => {
                Err(RoleMissing { needs: "finance or admin", has: self.role })
            }
        }
    }

    /// Returns the capability to configure the house, for the role `admin`.
    pub fn require_administrator(&self) -> Result<Administrator, RoleMissing> {
        match self.role {
            Role::Admin => {
                let signed_in = self.require_session();
                Ok(Administrator { id: self.id, actor: self.actor(), signed_in })
            }
            Role::Viewer | Role::Support | Role::Finance => {
                Err(RoleMissing { needs: "admin", has: self.role })
            }
        }
    }

    /// Returns the capability to moderate players, for the roles `support` and `admin`.
    pub fn require_moderator(&self) -> Result<CanModerate, RoleMissing> {
        match self.role {
            Role::Support | Role::Admin => {
                Ok(CanModerate { id: self.id, actor: self.actor(), proof: self.proof })
            }
            Role::Viewer | Role::Finance => {
                Err(RoleMissing { needs: "support or admin", has: self.role })
            }
        }
    }
}

impl CanRequestCorrections {
    /// Requires a session with the second factor.
    pub fn require_session(self) -> Result<CanApproveCorrections, SecondFactorMissing> {
        self.0.map(CanApproveCorrections)
    }
}

impl CanApproveCorrections {
    pub fn id(&self) -> OperatorId {
        self.0.id
    }

    /// Returns the actor for the audit log.
    pub fn actor(&self) -> &Actor {
        &self.0.actor
    }
}

impl Administrator {
    /// Returns the actor for the audit log.
    pub fn actor(&self) -> &Actor {
        &self.actor
    }

    /// Requires a session with the second factor.
    pub fn require_session(self) -> Result<SignedInAdministrator, SecondFactorMissing> {
        self.signed_in.map(SignedInAdministrator)
    }
}

impl SignedInAdministrator {
    /// Returns the actor for the audit log.
    pub fn actor(&self) -> &Actor {
        &self.0.actor
    }
}

impl CanModerate {
    /// Returns the actor for the audit log.
    pub fn actor(&self) -> &Actor {
        &self.actor
    }
}

/// The reason why a request is not authenticated as an operator's.
#[derive(Debug, Error)]
pub enum OperatorError {
    /// The request carries no token, or a token of another kind.
    #[error(transparent)]
    NoToken(#[from] AuthError),
    /// The token was never issued, was replaced, or belongs to a disabled operator.
    #[error("this token is unknown, replaced, or its operator is disabled")]
    TokenUnknown,
    #[error("the token has expired; create another one in a session")]
    TokenExpired,
    /// The request carried the token of a session, which was rejected.
    #[error(transparent)]
    Session(#[from] OperatorAuthError),
    #[error("operators cannot be looked up: {0}")]
    Database(#[from] sqlx::Error),
}

/// The operators. Clones share the pool.
#[derive(Clone, Debug)]
pub struct Operators {
    pool: PgPool,
}

impl Operators {
    pub fn new(pool: PgPool) -> Self {
        Self { pool }
    }

    /// Returns the operator to whom a token belongs at the given time.
    pub async fn authenticate(
        &self,
        token: &str,
        now: Timestamp,
        address: Option<String>,
    ) -> Result<Operator, OperatorError> {
        let token: OperatorToken = token.parse().map_err(|_| AuthError::Malformed)?;
        let hash = token.hash();
        let once = || {
            sqlx::query!(
                r#"
                select o.id, o.name, o.role,
                    o.token_expires_at as "token_expires_at!: SqlTimestamp"
                from operators o
                where o.token_hash = $1 and o.disabled_at is null
                "#,
                hash.0.as_slice()
            )
            .fetch_optional(&self.pool)
        };
        let row = db::retry(once).await?.ok_or(OperatorError::TokenUnknown)?;
        let role = row.role.parse().map_err(|_| OperatorError::TokenUnknown)?;
        if clock::from_jiff(row.token_expires_at.to_jiff()) <= now {
            return Err(OperatorError::TokenExpired);
        }
        Ok(Operator {
            id: OperatorId(row.id),
            name: row.name,
            role,
            channel: Channel::Token,
            address,
            session: None,
            proof: Proof,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{OperatorName, ParseOperatorNameError};

    #[test]
    fn operator_names_are_validated() {
        for good in ["ate.luz", "a", "night-shift-2"] {
            assert_eq!(good.parse::<OperatorName>().unwrap().as_str(), good);
        }
        let long = "n".repeat(33);
        for bad in ["", "Luz", "2nd", ".a", "a b", "añ", long.as_str()] {
            assert_eq!(bad.parse::<OperatorName>(), Err(ParseOperatorNameError), "{bad}");
        }
    }
}
