//! Operators: their administration, sessions and tokens.

use bahay_names::PasswordAttempt;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::operation::operations;
use crate::values::{OperatorNameText, Time};

operations! {
    /// Sign an operator in
    ///
    /// With the password and the second factor that the operator has set at `/desk/enrolment`. A
    /// session may do everything that the operator's API token may, and in addition: request
    /// corrections and decide on them, void and release tables, refund POTs, view hands of running
    /// games, add, reset and disable operators and change their roles, and create an API token. A
    /// name may be tried five times a minute from one address, and fifty times from all addresses
    /// from which its operator has not signed in within 90 days. `credentials_wrong` also refuses a
    /// code that was used before.
    SIGN_IN_OPERATOR = Post "/v1/operator/sign-in", Operators, Anyone {
        body OperatorSignIn,
        200 json OperatorSession: "The session, whose token is returned once",
        refuses CredentialsWrong SignInLocked SignInBusy,
    }

    /// Sign an operator out
    ///
    /// Ends the session whose token is sent.
    SIGN_OUT_OPERATOR = Post "/v1/operator/sign-out", Operators, Operator {
        204 empty (): "The session has ended",
        refuses SecondFactorMissing,
    }

    /// Create an API token
    ///
    /// For the programs of the requesting operator, in a session with the second factor; nobody
    /// creates a token for another operator. It is valid for 90 days and replaces the previous
    /// token. The audit log distinguishes acts by a token from those in a session. The response is
    /// not stored, so the call is not idempotent.
    CREATE_TOKEN = Post "/v1/operator/token", Operators, Operator {
        201 json CreatedToken: "The token, displayed once",
        refuses SecondFactorMissing,
    }

    /// Revoke the API token
    ///
    /// That of the requesting operator, in a session with the second factor.
    REVOKE_TOKEN = Delete "/v1/operator/token", Operators, Operator {
        204 empty (): "The token is revoked",
        refuses SecondFactorMissing,
    }

    /// List the operators
    ///
    /// For the role `admin`.
    LIST_OPERATORS = Get "/v1/operator/operators", Operators, Operator {
        200 json OperatorList: "The operators",
        refuses OperatorRoleMissing,
    }

    /// Add an operator
    ///
    /// Names are not reused. For the role `admin`, in a session with the second factor.
    ADD_OPERATOR = Post "/v1/operator/operators", Operators, Operator {
        body AddOperator,
        201 json IssuedEnrolment: "The code, displayed once",
        refuses OperatorRoleMissing SecondFactorMissing OperatorTaken,
    }

    /// Change an operator's role
    ///
    /// Its token and its sessions end at once: the operator signs in again with the new role, and
    /// creates another token for its programs. A role that the operator already has changes
    /// nothing. For the role `admin`, in a session with the second factor, and never for oneself.
    CHANGE_OPERATOR_ROLE = Put "/v1/operator/operators/{name}/role", Operators, Operator {
        path name: OperatorNameText = "The operator's name",
        body ChangeRole,
        204 empty (): "The operator has the role",
        refuses OperatorRoleMissing SecondFactorMissing OperatorNotFound OperatorOwn
            LastAdministrator,
    }

    /// Disable an operator
    ///
    /// Permanently; its token and its sessions end at once. For the role `admin`, in a session with
    /// the second factor, and never for oneself.
    DISABLE_OPERATOR = Post "/v1/operator/operators/{name}/disabling", Operators, Operator {
        path name: OperatorNameText = "The operator's name",
        204 empty (): "The operator is disabled",
        refuses OperatorRoleMissing SecondFactorMissing OperatorNotFound OperatorOwn,
    }

    /// Reset an operator's sign-in
    ///
    /// Issues an enrolment code. The previous password, second factor and token become invalid, and
    /// all sessions end. For the role `admin`, in a session with the second factor, and never for
    /// oneself.
    RESET_OPERATOR = Post "/v1/operator/operators/{name}/enrolment", Operators, Operator {
        path name: OperatorNameText = "The operator's name",
        200 json IssuedEnrolment: "The code, displayed once",
        refuses OperatorRoleMissing SecondFactorMissing OperatorNotFound OperatorOwn,
    }
}

bahay_base::text_enum! {
    /// The role of an operator.
    #[derive(ToSchema)]
    pub enum OperatorRole {
        /// Reads reports.
        Viewer = "viewer",
        /// Assists players.
        Support = "support",
        /// Corrects the books.
        Finance = "finance",
        /// Has every capability.
        Admin = "admin",
    }
}

/// The credentials of an operator.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct OperatorSignIn {
    #[schema(max_length = 32, example = "ate.luz")]
    pub name: String,
    #[schema(
        value_type = String,
        format = Password,
        max_length = 512,
        example = "rain on a tin roof"
    )]
    pub password: PasswordAttempt,
    /// The six digits that the authenticator displays now; each code is accepted once.
    #[schema(max_length = 6, example = "287082")]
    pub code: String,
}

/// A session of an operator.
#[derive(Debug, Serialize, ToSchema)]
pub struct OperatorSession {
    /// The token to be sent as `Authorization: Bearer`. The session ends after 30 minutes without a
    /// request, and after 12 hours.
    pub token: String,
}

/// An API token for an operator's programs.
#[derive(Debug, Serialize, ToSchema)]
pub struct CreatedToken {
    /// The token to be sent as `Authorization: Bearer`.
    pub token: String,
    pub expires_at: Time,
}

/// An operator to add.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct AddOperator {
    #[schema(example = "ate.luz", pattern = "^[a-z][a-z0-9.-]{0,31}$")]
    pub name: String,
    #[schema(inline)]
    pub role: OperatorRole,
}

/// A new role of an operator.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ChangeRole {
    #[schema(inline)]
    pub role: OperatorRole,
}

/// An enrolment code, displayed once.
#[derive(Debug, Serialize, ToSchema)]
pub struct IssuedEnrolment {
    /// The code with which the operator sets a password and a second factor at `/desk/enrolment`,
    /// within a day.
    pub enrolment_code: String,
}

/// An operator.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct Operator {
    #[schema(example = "ate.luz")]
    pub name: String,
    #[schema(example = "finance")]
    pub role: String,
    pub created_at: Time,
    #[schema(required = true)]
    pub disabled_at: Option<Time>,
    /// True if a password and a second factor are set.
    pub is_enrolled: bool,
    /// The time of the operator's last request in a session.
    #[schema(required = true)]
    pub last_seen_at: Option<Time>,
    /// The expiry of the API token; null without one.
    #[schema(required = true)]
    pub token_expires_at: Option<Time>,
}

/// All operators, disabled ones included, by name.
#[derive(Debug, Serialize, ToSchema)]
pub struct OperatorList {
    pub items: Vec<Operator>,
}
