//! Operators, the people who run the house: authentication, roles, and corrections of the books.
//!
//! A value of [`Operator`] proves that a request is authenticated; it is constructed only from a
//! valid token or session. [`Administrator`], [`CanModerate`] and [`CanRequestCorrections`] prove a
//! role in addition; [`CanApproveCorrections`] and [`SignedInAdministrator`] prove a role and a
//! session with the second factor. A function that takes one of them is authorised by its
//! signature.
//!
//! `bahay operator` adds the first operators; administrators add further ones at the desk.
//! Operators are looked up at every request, so that disabling one takes effect at once; a change
//! of the role ends its sessions and its token as well. People sign in (`sign_in`) with a password
//! and a second factor, which they set themselves (`enrolment`); programs authenticate with a
//! token, which an operator creates in a session (`tokens`). Corrections, orders about tables and
//! changes of operators require a session. `issuance` stores the issuers of enrolment codes,
//! `audit` the acts of operators.

mod adjustments;
mod alerts;
pub mod audit;
mod browsers;
mod correction_content;
mod correction_previews;
mod corrections;
mod dead_jobs;
mod enrolment;
mod extract;
mod issuance;
mod operator_admin;
mod pair_reviews;
mod player_notes;
mod sanctions;
mod sign_in;
mod tokens;

use std::marker::PhantomData;
use std::str::FromStr;

use jiff_sqlx::Timestamp as SqlTimestamp;
use sqlx::PgPool;
use thiserror::Error;

use crate::auth::{AuthError, OperatorToken};
use crate::clock::Timestamp;
use crate::db;
use crate::ids::{OperatorId, OperatorSessionId};

use audit::{Actor, Channel};

pub use bahay_api::operator::operators::OperatorRole as Role;

pub use adjustments::{AdjustmentBounds, BoundScope, DailyLimitError};
pub use alerts::{Alerts, FailedNodes, TOURNAMENT_STUCK_MS};
pub use audit::Audit;
pub use correction_content::CorrectionContent;
pub use correction_previews::CorrectionPreview;
pub use corrections::{CorrectionError, Corrections};
pub use dead_jobs::{DeadJobDecision, DeadJobs};
pub use enrolment::{ENROLMENT_LIFE, Enrolment, EnrolmentCompletion};
pub use issuance::INDEPENDENT_AFTER;
pub use operator_admin::OperatorAdminError;
pub use player_notes::{Moderation, ModerationError, NOTE_LENGTH, NoteText, ParseNoteError};
pub use sanctions::{PlayerSummary, Sanctions};
pub use sign_in::{
    IDLE_MAX, OpenedSession, OperatorAuth, OperatorAuthError, PASSWORD_MIN, RequestContext,
    SESSION_MAX, SignInClient, SignInRequest,
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
}

/// An operator whose role has the capability `C`, with a token or a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Authorized<C, S = Option<OperatorSessionId>> {
    pub id: OperatorId,
    actor: Actor,
    session: S,
    capability: PhantomData<C>,
}

/// An operator whose role has the capability `C`, in a session with the second factor. A token, which
/// may have been copied, would carry the name of an operator who did not act.
pub type SignedIn<C> = Authorized<C, OperatorSessionId>;

/// A capability of some roles.
pub trait Capability {
    const ROLES: &'static [Role];
    /// The roles in words.
    const NEEDS: &'static str;
}

macro_rules! capabilities {
    ($($(#[$meta:meta])* $name:ident: $needs:literal = $($role:ident),+;)+) => {$(
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $name {}

        impl Capability for $name {
            const ROLES: &'static [Role] = &[$(Role::$role),+];
            const NEEDS: &'static str = $needs;
        }
    )+};
}

capabilities! {
    /// To correct the books.
    Correcting: "finance or admin" = Finance, Admin;
    /// To configure the house and to read the audit log; in a session also to add, reset and disable
    /// operators and to change their roles, to void and release tables, and to view hidden cards of
    /// running games.
    Administering: "admin" = Admin;
    /// To impose sanctions on players, to end their sessions, to write notes about them, and to
    /// decide on reports.
    Moderating: "support or admin" = Support, Admin;
}

pub type SignedInOperator = SignedIn<()>;
pub type CanRequestCorrections = Authorized<Correcting>;
/// The capability to request corrections and to decide on those of others.
pub type CanApproveCorrections = SignedIn<Correcting>;
pub type Administrator = Authorized<Administering>;
pub type SignedInAdministrator = SignedIn<Administering>;
pub type CanModerate = Authorized<Moderating>;

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
        self.authorize().require_session()
    }

    /// Returns the capability to correct the books.
    pub fn require_corrections_role(&self) -> Result<CanRequestCorrections, RoleMissing> {
        self.require()
    }

    /// Returns the capability to configure the house.
    pub fn require_administrator(&self) -> Result<Administrator, RoleMissing> {
        self.require()
    }

    /// Returns the capability to moderate players.
    pub fn require_moderator(&self) -> Result<CanModerate, RoleMissing> {
        self.require()
    }

    fn require<C: Capability>(&self) -> Result<Authorized<C>, RoleMissing> {
        let missing = RoleMissing { needs: C::NEEDS, has: self.role };
        C::ROLES.contains(&self.role).then(|| self.authorize()).ok_or(missing)
    }

    fn authorize<C>(&self) -> Authorized<C> {
        let Self { id, session, .. } = *self;
        Authorized { id, actor: self.actor(), session, capability: PhantomData }
    }
}

impl<C, S> Authorized<C, S> {
    /// Returns the actor for the audit log.
    pub fn actor(&self) -> &Actor {
        &self.actor
    }
}

impl<C> Authorized<C> {
    /// Requires a session with the second factor.
    pub fn require_session(self) -> Result<SignedIn<C>, SecondFactorMissing> {
        let Self { id, actor, session, capability } = self;
        Ok(SignedIn { id, actor, session: session.ok_or(SecondFactorMissing)?, capability })
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
        if db::from_sql(row.token_expires_at) <= now {
            return Err(OperatorError::TokenExpired);
        }
        Ok(Operator {
            id: OperatorId(row.id),
            name: row.name,
            role,
            channel: Channel::Token,
            address,
            session: None,
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
