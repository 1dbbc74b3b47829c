//! The players' API. Each topic is a folder.

pub(crate) mod account;
pub(crate) mod games;
pub(crate) mod notices;
pub(crate) mod people;
pub(crate) mod rewards;
pub(crate) mod sign_in;
pub(crate) mod tables;

use utoipa_axum::routes as describe;

use crate::http::core::routing::Routes;

/// Adds the routes of this topic.
pub(crate) fn routes(routes: Routes) -> Routes {
    [account::routes, games::routes, people::routes, sign_in::routes, tables::routes]
        .into_iter()
        .fold(routes, |routes, topic| topic(routes))
        .routes(describe!(rewards::show_rewards))
        .routes(describe!(rewards::claim_daily))
        .routes(describe!(rewards::claim_relief))
        .routes(describe!(notices::list_my_notices))
        .routes(describe!(notices::read_my_notice))
}
