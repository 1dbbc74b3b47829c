//! People who run the house: who they are, what each may do, and the corrections they make.
//!
//! [`Operator`] is the proof of an authenticated request, made only from a token or a session that is
//! in force. [`Administrator`], [`CanModerate`] and [`CanRequestCorrections`] prove a role beside; [`CanApproveCorrections`] and
//! [`SignedInAdministrator`] prove a role and a session with the second factor. A handler that takes one is
//! authorised by its type.
//!
//! The first operators are made by `bahay operator`, others also by administrators at the desk.
//! Operators are looked up at every request, so that a disabled one is out at once. People sign in
//! (`desk`) with a password and a second factor, both of which they set themselves (`enrolment`);
//! programs come with a token, which its operator creates in a session (`tokens`). Corrections, orders
//! about tables and changes of operators take a session. `issuance` keeps the issuers of enrolment
//! codes, and `audit` the actions of operators.

mod adjustments;
pub mod audit;
mod sanctions;
mod browsers;
mod player_notes;
mod corrections;
mod sign_in;
mod enrolment;
mod extract;
mod issuance;
mod operator_admin;
mod second_factor;
mod tokens;

use std::fmt;
use std::str::FromStr;

use jiff_sqlx::Timestamp as SqlTimestamp;
use sqlx::PgPool;
use thiserror::Error;

use crate::auth::{AuthError, OperatorToken};
use crate::clock::{self, Timestamp};
use crate::db;
use crate::ids::{OperatorId, OperatorSessionId};

use audit::{Actor, Channel};

pub use adjustments::{AdjustmentBounds, BoundScope, DailyLimitError};
pub use audit::Audit;
pub use sanctions::Sanctions;
pub use player_notes::{Moderation, ModerationError, ParseNoteError, NOTE_LENGTH, NoteText};
pub use corrections::{
    Correction, CorrectionCursor, ParseCorrectionCursorError, CorrectionError, Corrections, Decision,
    State, Subject,
};
pub use sign_in::{RequestContext, OperatorAuth, OperatorAuthError, SignInRequest, IDLE_MAX, OpenedSession, SESSION_MAX, SignInSource};
pub use enrolment::{ENROLMENT_LIFE, Enrolment, EnrolmentCompletion, PASSWORD_MIN};
pub use issuance::INDEPENDENT_AFTER;
pub use operator_admin::{OperatorSummary, OperatorAdminError};
pub use second_factor::SecondFactor;
pub use tokens::TOKEN_LIFE;

/// What an operator may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// Looks.
    Viewer,
    /// Helps players.
    Support,
    /// Corrects the books.
    Finance,
    /// All of it.
    Admin,
}

/// The text is no role.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("a role is viewer, support, finance or admin")]
pub struct ParseRoleError;

impl Role {
    pub const ALL: [Self; 4] = [Self::Viewer, Self::Support, Self::Finance, Self::Admin];

    /// As in the column `role`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Viewer => "viewer",
            Self::Support => "support",
            Self::Finance => "finance",
            Self::Admin => "admin",
        }
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Role {
    type Err = ParseRoleError;

    fn from_str(text: &str) -> Result<Self, ParseRoleError> {
        Self::ALL.into_iter().find(|role| role.as_str() == text).ok_or(ParseRoleError)
    }
}

/// An operator's name: a lower-case letter, then letters, digits, dots and hyphens, 32 at most.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OperatorName(String);

/// The longest name, in bytes.
const NAME_BYTES_MAX: usize = 32;

/// The text is no operator's name.
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
        let known =
            |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b".-".contains(&byte);
        let is_sound = starts_well && text.len() <= NAME_BYTES_MAX && text.bytes().all(known);
        if is_sound { Ok(Self(text.to_owned())) } else { Err(ParseOperatorNameError) }
    }
}

/// An operator with a token or a session in force. Having the value is being authorised to look.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operator {
    pub id: OperatorId,
    pub name: String,
    pub role: Role,
    channel: Channel,
    /// Where the request comes from, as far as limits go.
    address: Option<String>,
    /// OpenedSession with the second factor; none for a token.
    session: Option<OperatorSessionId>,
    proof: Proof,
}

/// An operator in a session with the second factor, and not a program with its token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignedInOperator {
    pub id: OperatorId,
    actor: Actor,
    session: OperatorSessionId,
    proof: Proof,
}

/// An operator whose role may correct the books. Asking and deciding take a [`CanApproveCorrections`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CanRequestCorrections(SignInState);

/// An operator who may ask for corrections and decide on those of others, in a session with the second
/// factor. A token suffices for neither: a request by a copied token would carry the name of an
/// operator who did not make it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CanApproveCorrections(SignedInOperator);

/// An operator who may change how the house is set up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Administrator {
    pub id: OperatorId,
    actor: Actor,
    signed_in: SignInState,
}

/// An administrator in a session with the second factor: may make operators and disable them, end and
/// release tables, and look at hidden cards of running games. A token, of which there may be copies,
/// suffices for none of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignedInAdministrator(SignedInOperator);

/// An operator who may keep players out, end their sessions and decide on their reports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CanModerate {
    pub id: OperatorId,
    actor: Actor,
    proof: Proof,
}

/// The session of an operator, if its request came with one.
type SignInState = Result<SignedInOperator, SecondFactorMissing>;

/// Private, so that nobody else makes an [`Operator`] or a [`SignedInOperator`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Proof;

/// The operator's role is not one that may do this.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("this takes the role {needs}; yours is {has}")]
pub struct RoleMissing {
    pub needs: &'static str,
    pub has: Role,
}

/// The request comes with a token, and takes a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error(
    "this takes a session with the second factor: sign in at the desk, or by \
     `POST /v1/operator/sign-in`"
)]
pub struct SecondFactorMissing;

impl Operator {
    /// For the audit.
    pub fn actor(&self) -> Actor {
        let Self { id, channel, address, .. } = self.clone();
        Actor { operator: Some(id), channel, address }
    }

    /// Returns the operator if its request came with a session.
    pub fn require_session(&self) -> Result<SignedInOperator, SecondFactorMissing> {
        let session = self.session.ok_or(SecondFactorMissing)?;
        Ok(SignedInOperator { id: self.id, actor: self.actor(), session, proof: self.proof })
    }

    /// Whether the operator may correct the books.
    pub fn require_corrections_role(&self) -> Result<CanRequestCorrections, RoleMissing> {
        match self.role {
            Role::Finance | Role::Admin => Ok(CanRequestCorrections(self.require_session())),
            Role::Viewer | Role::Support => {
                Err(RoleMissing { needs: "finance or admin", has: self.role })
            }
        }
    }

    /// Whether the operator may change how the house is set up.
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

    /// Whether the operator may look after players.
    pub fn require_moderator(&self) -> Result<CanModerate, RoleMissing> {
        let (id, actor, proof) = (self.id, self.actor(), self.proof);
        match self.role {
            Role::Support | Role::Admin => Ok(CanModerate { id, actor, proof }),
            Role::Viewer | Role::Finance => {
                Err(RoleMissing { needs: "support or admin", has: self.role })
            }
        }
    }
}

impl CanRequestCorrections {
    /// Whether it has come with the second factor.
    pub fn require_session(self) -> Result<CanApproveCorrections, SecondFactorMissing> {
        self.0.map(CanApproveCorrections)
    }
}

impl CanApproveCorrections {
    pub fn id(&self) -> OperatorId {
        self.0.id
    }

    /// For the audit.
    pub fn actor(&self) -> &Actor {
        &self.0.actor
    }
}

impl Administrator {
    /// For the audit.
    pub fn actor(&self) -> &Actor {
        &self.actor
    }

    /// Whether it has come with the second factor.
    pub fn require_session(self) -> Result<SignedInAdministrator, SecondFactorMissing> {
        self.signed_in.map(SignedInAdministrator)
    }
}

impl SignedInAdministrator {
    /// For the audit.
    pub fn actor(&self) -> &Actor {
        &self.0.actor
    }
}

impl CanModerate {
    /// For the audit.
    pub fn actor(&self) -> &Actor {
        &self.actor
    }
}

/// Why somebody is no operator.
#[derive(Debug, Error)]
pub enum OperatorError {
    /// There is no token, or it is one of another kind.
    #[error(transparent)]
    NoToken(#[from] AuthError),
    /// It was never given out, or it was replaced, or its operator is disabled.
    #[error("no operator has this token any more, or ever had")]
    TokenUnknown,
    #[error("the token has expired; its operator creates another one in a session")]
    TokenExpired,
    /// What came is the token of a session.
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

    /// The operator whose token this is, now.
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
        let (id, name, session) = (OperatorId(row.id), row.name, None);
        Ok(Operator { id, name, role, channel: Channel::Token, address, session, proof: Proof })
    }
}

#[cfg(test)]
mod tests {
    use super::{ParseOperatorNameError, OperatorName, Role};

    #[test]
    fn roles_are_read_as_they_are_written() {
        for role in Role::ALL {
            assert_eq!(role.as_str().parse(), Ok(role));
        }
        assert!("root".parse::<Role>().is_err());
    }

    #[test]
    fn a_name_is_fit_for_reports() {
        for good in ["ate.luz", "a", "night-shift-2"] {
            assert_eq!(good.parse::<OperatorName>().unwrap().as_str(), good);
        }
        let long = "n".repeat(33);
        for bad in ["", "Luz", "2nd", ".a", "a b", "añ", long.as_str()] {
            assert_eq!(bad.parse::<OperatorName>(), Err(ParseOperatorNameError), "{bad}");
        }
    }
}
