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
        .on(&operations::SIGN_IN_OPERATOR, sign_in::api::sign_in_operator)
        .on(&operations::SIGN_OUT_OPERATOR, sign_in::api::sign_out_operator)
        .on(&operations::CREATE_TOKEN, tokens::create_token)
        .on(&operations::REVOKE_TOKEN, tokens::revoke_token)
        .on(&operations::LIST_OPERATORS, api::list_operators)
        .on(&operations::ADD_OPERATOR, api::add_operator)
        .on(&operations::DISABLE_OPERATOR, api::disable_operator)
        .on(&operations::RESET_OPERATOR, api::reset_operator)
}
