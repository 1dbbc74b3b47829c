//! The "Sort Again" button: sorting a hand.

use std::fmt;

use axum::Json;
use bahay_engine::cards::{Card, CardSet};
use bahay_engine::games::tongits;
use serde::de::{Error as _, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use utoipa::openapi::schema::{ArrayBuilder, Schema};
use utoipa::openapi::{Ref, RefOr};
use utoipa::{PartialSchema, ToSchema};

use crate::auth::Player;

use crate::http::{Body, CardText, Problem};

/// The maximum number of cards in a hand of Tong-its (rule 2.3).
const HAND_CARDS_MAX: usize = 13;

/// A hand to sort.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SortRequest {
    #[schema(inline)]
    cards: SortableHand,
    by: SortBy,
}

/// The order of the groups.
#[derive(Clone, Copy, Debug, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum SortBy {
    /// One group per suit, in ascending rank.
    Suit,
    /// The melds that leave the fewest points, then the remaining cards in descending order of
    /// points.
    Arrangement,
}

#[derive(Clone, Copy, Debug)]
struct SortableHand(CardSet);

impl PartialSchema for SortableHand {
    fn schema() -> RefOr<Schema> {
        ArrayBuilder::new()
            .items(Ref::from_schema_name(CardText::name()))
            .max_items(Some(HAND_CARDS_MAX))
            .unique_items(true)
            .description(Some("At most 13 cards, each once."))
            .examples([["7H", "AS", "5H", "6H", "KD", "KC"]])
            .into()
    }
}

impl ToSchema for SortableHand {}

impl<'de> Deserialize<'de> for SortableHand {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(HandVisitor)
    }
}

/// Rejects an excess or duplicate card as soon as it is read, however long the list is.
struct HandVisitor;

impl<'de> Visitor<'de> for HandVisitor {
    type Value = SortableHand;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of cards such as [\"AS\", \"TD\"]")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<SortableHand, A::Error> {
        let mut cards: Vec<Card> = Vec::with_capacity(HAND_CARDS_MAX);
        while let Some(card) = list.next_element::<Card>()? {
            if cards.contains(&card) {
                return Err(A::Error::custom(format_args!("the hand contains {card} twice")));
            }
            if cards.len() == HAND_CARDS_MAX {
                return Err(A::Error::custom("a hand has at most 13 cards"));
            }
            cards.push(card);
        }
        Ok(SortableHand(cards.into_iter().collect()))
    }
}

/// The cards in groups.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct SortedHand {
    #[schema(
        value_type = Vec<Vec<CardText>>,
        example = json!([["5H", "6H", "7H"], ["KD", "KC", "AS"]])
    )]
    groups: Vec<Vec<Card>>,
}

/// Sort a hand
///
/// Deterministic: the result does not depend on the order of the cards. Nothing is stored.
#[utoipa::path(
    post,
    path = "/v1/sort",
    tag = "games",
    security(("access_token" = [])),
    request_body = SortRequest,
    responses((status = 200, description = "The hand in groups", body = SortedHand))
)]
pub(crate) async fn sort_cards(
    _: Player,
    Body(body): Body<SortRequest>,
) -> Result<Json<SortedHand>, Problem> {
    let SortableHand(hand) = body.cards;
    let groups = match body.by {
        SortBy::Suit => tongits::sort_by_suit(hand),
        SortBy::Arrangement => tongits::sort_by_arrangement(hand),
    };
    Ok(Json(SortedHand { groups }))
}
