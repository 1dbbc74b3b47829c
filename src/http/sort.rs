//! The "Sort Again" button: a hand in a good order.

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

use super::{Body, CardText, Problem};

/// The most cards that a hand of Tong-its ever holds (rule 2.3).
const HAND_CARDS_MAX: usize = 13;

/// A hand to sort.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Sort {
    #[schema(inline)]
    cards: Hand,
    by: SortBy,
}

/// How to sort.
#[derive(Clone, Copy, Debug, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum SortBy {
    /// A group for each suit, ranks rising.
    Suit,
    /// The melds that leave the fewest points over, then what is left over, the most points first.
    Arrangement,
}

#[derive(Clone, Copy, Debug)]
struct Hand(CardSet);

impl PartialSchema for Hand {
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

impl ToSchema for Hand {}

impl<'de> Deserialize<'de> for Hand {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(DistinctCards)
    }
}

/// Refuses what is too much at the first card that is, however long the list goes on.
struct DistinctCards;

impl<'de> Visitor<'de> for DistinctCards {
    type Value = Hand;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of cards such as [\"AS\", \"TD\"]")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Hand, A::Error> {
        let mut cards: Vec<Card> = Vec::with_capacity(HAND_CARDS_MAX);
        while let Some(card) = list.next_element::<Card>()? {
            if cards.contains(&card) {
                return Err(A::Error::custom(format_args!("{card} is in the hand twice")));
            }
            if cards.len() == HAND_CARDS_MAX {
                return Err(A::Error::custom("a hand has at most 13 cards"));
            }
            cards.push(card);
        }
        Ok(Hand(cards.into_iter().collect()))
    }
}

/// The same cards in groups.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Sorted {
    #[schema(value_type = Vec<Vec<CardText>>, example = json!([["5H", "6H", "7H"], ["KD", "KC", "AS"]]))]
    groups: Vec<Vec<Card>>,
}

/// Sort a hand
///
/// The same answer for the same cards, whatever their order. Nothing is stored.
#[utoipa::path(
    post,
    path = "/v1/sort",
    tag = "games",
    security(("access_token" = [])),
    request_body = Sort,
    responses((status = 200, description = "The hand in groups", body = Sorted))
)]
pub(super) async fn sort_cards(_: Player, Body(body): Body<Sort>) -> Result<Json<Sorted>, Problem> {
    let Hand(hand) = body.cards;
    let groups = match body.by {
        SortBy::Suit => tongits::sort_by_suit(hand),
        SortBy::Arrangement => tongits::sort_by_arrangement(hand),
    };
    Ok(Json(Sorted { groups }))
}
