//! Operators: their administration, sessions and tokens.

mod api;
pub(crate) mod desk;
mod query;
pub(crate) mod sign_in;
pub(crate) mod tokens;

use bahay_api::operator::operators as operations;

use crate::http::core::routing::Routes;

/// Adds the routes of this topic.
pub(crate) fn routes(routes: Routes) -> Routes {
    routes
        .bind(&operations::SIGN_IN_OPERATOR, sign_in::api::sign_in_operator)
        .bind(&operations::SIGN_OUT_OPERATOR, sign_in::api::sign_out_operator)
        .bind(&operations::CREATE_TOKEN, tokens::create_token)
        .bind(&operations::REVOKE_TOKEN, tokens::revoke_token)
        .bind(&operations::LIST_OPERATORS, api::list_operators)
        .bind(&operations::ADD_OPERATOR, api::add_operator)
        .bind(&operations::DISABLE_OPERATOR, api::disable_operator)
        .bind(&operations::RESET_OPERATOR, api::reset_operator)
}
