//! Finished games: records, steps, analysis and fairness; and an order for the cards of a hand.

mod analysis;
mod fairness;
pub(crate) mod game_steps;
mod hand_sorting;
pub(crate) mod records;

use bahay_api::player::{fairness as fairness_api, games as games_api};

use crate::http::core::routing::Routes;

/// Adds the routes of this topic.
pub(crate) fn routes(routes: Routes) -> Routes {
    routes
        .bind(&games_api::LIST_MY_GAMES, records::list_my_games)
        .bind(&games_api::SHOW_GAME, records::show_game)
        .bind(&games_api::SHOW_GAME_RECORD, records::show_game_record)
        .bind(&games_api::LIST_GAME_STEPS, game_steps::list_game_steps)
        .bind(&games_api::ANALYZE_GAME, analysis::analyze_game)
        .bind(&fairness_api::SHOW_FAIRNESS, fairness::show_fairness)
        .bind(&fairness_api::SHOW_DEALS, fairness::show_deals)
        .bind(&fairness_api::LIST_UNREVEALED_COMMITMENTS, fairness::list_unrevealed_commitments)
        .bind(&games_api::SORT_CARDS, hand_sorting::sort_cards)
}
