//! The operators' API, under `/v1/operator`, and the desk. Each topic is a folder. Each handler of
//! the API takes an [`Operator`], whose value proves a valid token or session; some handlers
//! require a role in addition, some a session.

pub(crate) mod audit;
pub(crate) mod corrections;
pub(crate) mod desk_ui;
pub(crate) mod games;
pub(crate) mod jobs;
pub(crate) mod ledger;
pub(crate) mod operators;
pub(crate) mod player_reports;
pub(crate) mod players;
pub(crate) mod rooms;
pub(crate) mod sanctions;
pub(crate) mod settlements;
pub(crate) mod tables;
pub(crate) mod today;

use axum::extract::FromRef;
use axum::response::{IntoResponse, Response};

use crate::auth::AuthError;
use crate::operators::{
    Moderation, ModerationError, Operator, OperatorError, RoleMissing, SecondFactorMissing,
};

use crate::http::core::pagination::CursorOwner;
use crate::http::core::routing::Routes;
use crate::http::{Code, CodeExt as _, Problem, Services};

/// Adds the routes of every topic.
pub(crate) fn routes(routes: Routes) -> Routes {
    let topics = [
        audit::routes,
        corrections::routes,
        games::routes,
        jobs::routes,
        ledger::routes,
        operators::routes,
        player_reports::routes,
        players::routes,
        rooms::routes,
        sanctions::routes,
        settlements::routes,
        tables::routes,
        today::routes,
    ];
    topics.into_iter().fold(routes, |routes, topic| topic(routes))
}

impl CursorOwner for Operator {
    fn owner(&self) -> uuid::Uuid {
        self.id.0
    }
}

impl From<OperatorError> for Problem {
    fn from(error: OperatorError) -> Self {
        match error {
            OperatorError::NoToken(AuthError::Missing) => Code::TokenMissing
                .with_detail("send an operator's token as `Authorization: Bearer <token>`"),
            OperatorError::NoToken(_) => {
                Code::TokenMalformed.with_detail("the token is not an operator's")
            }
            OperatorError::TokenUnknown => Code::OperatorTokenUnknown.problem(),
            OperatorError::TokenExpired => {
                Code::OperatorTokenExpired.with_detail(error.to_string())
            }
            OperatorError::Session(error) => error.into(),
            OperatorError::Database(error) => error.into(),
        }
    }
}

/// The rejection of the extractor [`Operator`].
impl IntoResponse for OperatorError {
    fn into_response(self) -> Response {
        Problem::from(self).into_response()
    }
}

impl FromRef<Services> for Moderation {
    fn from_ref(services: &Services) -> Self {
        Self::new(services.pool.clone(), services.clock.clone())
    }
}

impl From<ModerationError> for Problem {
    fn from(error: ModerationError) -> Self {
        match error {
            ModerationError::PlayerUnknown { .. } => {
                Code::PlayerNotFound.with_detail(error.to_string())
            }
            ModerationError::Database(error) => error.into(),
        }
    }
}

impl From<SecondFactorMissing> for Problem {
    fn from(missing: SecondFactorMissing) -> Self {
        Code::SecondFactorMissing.with_detail(missing.to_string())
    }
}

impl From<RoleMissing> for Problem {
    fn from(missing: RoleMissing) -> Self {
        Code::OperatorRoleMissing.with_detail(missing.to_string())
    }
}
