//! The "Sort Again" button: sorting a hand.

use axum::Json;
use bahay_api::player::games::{SortBy, SortRequest, SortableHand, SortedHand};
use bahay_engine::games::tongits;

use crate::auth::Player;
use crate::http::{Body, Problem};

pub(crate) async fn sort_cards(
    _: Player,
    Body(SortRequest { cards: SortableHand(hand), by }): Body<SortRequest>,
) -> Result<Json<SortedHand>, Problem> {
    let groups = match by {
        SortBy::Suit => tongits::sort_by_suit(hand),
        SortBy::Arrangement => tongits::sort_by_arrangement(hand),
    };
    Ok(Json(SortedHand { groups }))
}
