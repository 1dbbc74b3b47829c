//! The players' API. Each topic is a folder.

pub(crate) mod account;
pub(crate) mod games;
pub(crate) mod notices;
pub(crate) mod people;
pub(crate) mod rewards;
pub(crate) mod sign_in;
pub(crate) mod tables;

use bahay_api::player::{notices as notices_api, rewards as rewards_api};

use crate::http::core::routing::Routes;

/// Adds the routes of this topic.
pub(crate) fn routes(routes: Routes) -> Routes {
    [account::routes, games::routes, people::routes, sign_in::routes, tables::routes]
        .into_iter()
        .fold(routes, |routes, topic| topic(routes))
        .bind(&rewards_api::SHOW_REWARDS, rewards::show_rewards)
        .bind(&rewards_api::CLAIM_DAILY, rewards::claim_daily)
        .bind(&rewards_api::CLAIM_RELIEF, rewards::claim_relief)
        .bind(&notices_api::LIST_MY_NOTICES, notices::list_my_notices)
        .bind(&notices_api::READ_MY_NOTICE, notices::read_my_notice)
}
