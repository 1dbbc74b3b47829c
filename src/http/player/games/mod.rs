//! Finished games: records, steps, analysis and fairness; and an order for the cards of a hand.

pub(crate) mod analysis;
pub(crate) mod fairness;
pub(crate) mod game_steps;
pub(crate) mod hand_sorting;
pub(crate) mod records;

use utoipa_axum::routes as describe;

use crate::http::core::routing::Routes;

/// Adds the routes of this topic.
pub(crate) fn routes(routes: Routes) -> Routes {
    routes
        .routes(describe!(records::list_my_games))
        .routes(describe!(records::show_game))
        .routes(describe!(records::show_game_record))
        .routes(describe!(game_steps::list_game_steps))
        .routes(describe!(analysis::analyze_game))
        .routes(describe!(fairness::show_fairness))
        .routes(describe!(fairness::show_deals))
        .routes(describe!(fairness::list_unrevealed_commitments))
        .routes(describe!(hand_sorting::sort_cards))
}
