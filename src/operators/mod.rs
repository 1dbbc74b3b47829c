//! People who run the house: who they are, what each may do, and the corrections they make.
//!
//! [`Operator`] is the proof of who is asking, made only from a token that is in force;
//! [`Corrector`] is that of being allowed to correct the books, made only from an operator with
//! the role for it. A handler that takes one is authorised by its type.
//!
//! Operators are made, disabled and given new tokens by `bahay operator`, with the login that owns
//! the schema; the serving process can only look them up, at every request, so that a disabled
//! operator is out at once. Deliberately absent so far: passwords, second factors and sessions in
//! browsers.

mod corrections;
mod extract;
mod manage;

use std::fmt;
use std::str::FromStr;

use sqlx::PgPool;
use thiserror::Error;

use crate::auth::{AuthError, OperatorToken};
use crate::db;
use crate::ids::OperatorId;

pub use corrections::{
    Correction, CorrectionCursor, CorrectionCursorInvalid, CorrectionError, Corrections, Decision,
    NotAReason, REASON_LENGTH, Reason, State, Subject,
};
pub use manage::{Listed, ManageError};

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
pub struct NotARole;

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
    type Err = NotARole;

    fn from_str(text: &str) -> Result<Self, NotARole> {
        Self::ALL.into_iter().find(|role| role.as_str() == text).ok_or(NotARole)
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
pub struct NotAnOperatorName;

impl OperatorName {
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for OperatorName {
    type Err = NotAnOperatorName;

    fn from_str(text: &str) -> Result<Self, NotAnOperatorName> {
        let starts_well = text.as_bytes().first().is_some_and(u8::is_ascii_lowercase);
        let known =
            |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b".-".contains(&byte);
        let is_sound = starts_well && text.len() <= NAME_BYTES_MAX && text.bytes().all(known);
        if is_sound { Ok(Self(text.to_owned())) } else { Err(NotAnOperatorName) }
    }
}

/// An operator with a token in force. Having the value is being authorised to look.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operator {
    pub id: OperatorId,
    pub name: String,
    pub role: Role,
    proof: Proof,
}

/// An operator who may ask for corrections, and decide on those of others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Corrector {
    pub id: OperatorId,
    proof: Proof,
}

/// An operator who may decide on what players report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Supporter {
    pub id: OperatorId,
    proof: Proof,
}

/// An operator who may change how the house is set up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Administrator {
    pub id: OperatorId,
    proof: Proof,
}

/// Private, so that nobody else makes an [`Operator`] or a [`Corrector`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Proof;

/// The operator's role is not one that may do this.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("this takes the role {needs}; yours is {has}")]
pub struct RoleMissing {
    pub needs: &'static str,
    pub has: Role,
}

impl Operator {
    /// Whether the operator may correct the books.
    pub fn corrector(&self) -> Result<Corrector, RoleMissing> {
        match self.role {
            Role::Finance | Role::Admin => Ok(Corrector { id: self.id, proof: self.proof }),
            Role::Viewer | Role::Support => {
                Err(RoleMissing { needs: "finance or admin", has: self.role })
            }
        }
    }

    /// Whether the operator may decide on what players report.
    pub fn supporter(&self) -> Result<Supporter, RoleMissing> {
        match self.role {
            Role::Support | Role::Admin => Ok(Supporter { id: self.id, proof: self.proof }),
            Role::Viewer | Role::Finance => {
                Err(RoleMissing { needs: "support or admin", has: self.role })
            }
        }
    }

    /// Whether the operator may change how the house is set up.
    pub fn administrator(&self) -> Result<Administrator, RoleMissing> {
        match self.role {
            Role::Admin => Ok(Administrator { id: self.id, proof: self.proof }),
            Role::Viewer | Role::Support | Role::Finance => {
                Err(RoleMissing { needs: "admin", has: self.role })
            }
        }
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
    pub async fn authenticate(&self, token: &str) -> Result<Operator, OperatorError> {
        let token: OperatorToken = token.parse().map_err(|_| AuthError::Malformed)?;
        let hash = token.hash();
        let once = || {
            sqlx::query!(
                r#"
                select o.id, o.name, o.role
                from operators o
                where o.token_hash = $1 and o.disabled_at is null
                "#,
                hash.0.as_slice()
            )
            .fetch_optional(&self.pool)
        };
        let row = db::retry(once).await?.ok_or(OperatorError::TokenUnknown)?;
        let role = row.role.parse().map_err(|_| OperatorError::TokenUnknown)?;
        Ok(Operator { id: OperatorId(row.id), name: row.name, role, proof: Proof })
    }
}

#[cfg(test)]
mod tests {
    use super::{NotAnOperatorName, OperatorName, Role};

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
            assert_eq!(bad.parse::<OperatorName>(), Err(NotAnOperatorName), "{bad}");
        }
    }
}
