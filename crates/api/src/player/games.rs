//! Finished games: their list, records, steps and analyses; and an order for the cards of a hand.

use std::fmt;

use bahay_base::clock::BoundedTimestamp;
use bahay_base::ids::{GameName, RoomId};
use bahay_base::states::GameOutcome;
use bahay_engine::cards::{Card, CardSet};
use serde::de::{Error as _, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;
use utoipa::openapi::schema::{ArrayBuilder, Schema};
use utoipa::openapi::{Ref, RefOr};
use utoipa::{IntoParams, PartialSchema, ToSchema};
use uuid::Uuid;

use crate::PageQuery;
use crate::operation::operations;
use crate::values::{CardText, Coins, GameNameText, IdText, Time};

operations! {
    /// List my games
    ///
    /// Finished games, newest first. A cursor is valid only with the filters for which it was
    /// issued.
    LIST_MY_GAMES = Get "/v1/me/games", Games, Player {
        query PageQuery<GameFilter>,
        200 page GameSummary: "A page of games",
    }

    /// Show one of my games
    ///
    /// Only players of the game may request it; for everybody else the game does not exist.
    SHOW_GAME = Get "/v1/games/{id}", Games, Player {
        path id: IdText = "The game",
        200 json Game: "The game",
        refuses GameNotFound GameNotFinished ArchiveUnreachable,
    }

    /// Show the record of a game
    ///
    /// Returns everything that is needed to verify the game: save the response and pass it to
    /// `bahay verify`. Only players of the game may request it; for everybody else the game does
    /// not exist.
    SHOW_GAME_RECORD = Get "/v1/games/{id}/record", Games, Player {
        path id: IdText = "The game",
        200 object (): "The record",
        refuses GameNotFound GameNotFinished GameVoided ArchiveUnreachable,
    }

    /// Show one of my games step by step
    ///
    /// The game is replayed from its record, so the steps show what the record proves. Only players
    /// of the game may request it; for everybody else the game does not exist.
    LIST_GAME_STEPS = Get "/v1/games/{id}/steps", Games, Player {
        path id: IdText = "The game",
        query StepsQuery,
        200 json GameSteps: "The selected steps",
        refuses GameNotFound GameNotFinished GameVoided ArchiveUnreachable,
    }

    /// Analyse one of my games
    ///
    /// The house's strongest bot examines each decision that the player took in person, from what
    /// the seat had been shown by then and nothing else. It names at most three decisions for which
    /// it knows an action that is better by more than the noise of its search. The analysis of a
    /// game is deterministic. It is available for Tong-its (`kingdom`, `relaxed`) and Tongo
    /// (assets); under other rules `engine` is null and `items` is empty. Only players of the game
    /// may request it; for everybody else the game does not exist.
    ANALYZE_GAME = Get "/v1/games/{id}/analysis", Games, Player {
        path id: IdText = "The game",
        200 json GameAnalysis: "The analysis",
        refuses GameNotFound GameNotFinished GameVoided AnalysisBusy ArchiveUnreachable,
    }

    /// Sort a hand
    ///
    /// Deterministic: the result does not depend on the order of the cards. Nothing is stored.
    SORT_CARDS = Post "/v1/sort", Games, Player {
        body SortRequest,
        200 json SortedHand: "The hand in groups",
    }
}

/// Selects games of the history.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct GameFilter {
    /// Restricts the list to games in this room.
    #[param(value_type = Option<String>, max_length = 32, pattern = "^[a-z][a-z0-9-]{0,31}$")]
    pub room: Option<RoomId>,
    /// Restricts the list to games finished at or after this time: RFC 3339.
    #[param(value_type = Option<Time>, inline)]
    pub from: Option<BoundedTimestamp>,
    /// Restricts the list to games finished before this time: RFC 3339, later than `from`.
    #[param(value_type = Option<Time>, inline)]
    pub to: Option<BoundedTimestamp>,
    /// Restricts the list to games with this outcome for the player.
    #[param(inline)]
    pub outcome: Option<GameOutcome>,
    /// Restricts the list to games with this ending.
    #[param(value_type = Option<GameNameText>, inline, example = "fight")]
    pub ending: Option<GameName>,
    /// Restricts the list to games of this kind.
    #[param(value_type = Option<GameNameText>, inline, example = "tongits")]
    pub kind: Option<GameName>,
}

/// A finished game in the history of one of its players.
#[derive(Debug, Serialize, ToSchema)]
pub struct GameSummary {
    pub id: Uuid,
    pub table: Uuid,
    /// The game's kind.
    #[schema(example = "tongits")]
    pub kind: String,
    #[schema(example = "newbie")]
    pub room: String,
    #[schema(inline)]
    pub state: FinalGameState,
    /// The outcome for the player.
    pub outcome: GameOutcome,
    /// The way in which the game ended; null if it was voided, and for some seconds after it was
    /// settled.
    #[schema(required = true, example = "fight")]
    pub ending: Option<String>,
    /// The player's seat, counted from 0.
    #[schema(maximum = 7)]
    pub seat: u8,
    /// The number of house bots that played.
    #[schema(maximum = 7)]
    pub bots: u8,
    /// The amount that the player paid into the POT before the deal.
    pub ante: Coins,
    /// The most that the player could lose beside the ante.
    pub stake: Coins,
    /// The change of the player's coins without the ante, after the fee and including the POT. Zero
    /// if the game was voided or its settlement was reversed.
    pub net: Coins,
    /// The time at which the house reversed the settlement; null unless it did.
    #[schema(required = true)]
    pub reversed_at: Option<Time>,
    /// The time of the house's clock, by which deadlines are set.
    pub opened_at: Time,
    /// The time of the house's clock; that of the database if the game was voided.
    pub finished_at: Time,
}

bahay_base::text_enum! {
    /// The final state of a game.
    #[derive(ToSchema)]
    pub enum FinalGameState {
        Settled = "settled",
        /// The game ended without a settlement, and every coin was returned.
        Voided = "voided",
    }
}

/// A finished game in full.
#[derive(Debug, Serialize, ToSchema)]
pub struct Game {
    pub id: Uuid,
    pub table: Uuid,
    /// The game's kind.
    #[schema(example = "tongits")]
    pub kind: String,
    #[schema(example = "newbie")]
    pub room: String,
    #[schema(inline)]
    pub state: FinalGameState,
    /// The way in which the game ended; null if it was voided.
    #[schema(required = true, example = "fight")]
    pub ending: Option<String>,
    /// The amount that each seat paid into the POT before the deal.
    pub ante: Coins,
    pub seats: Vec<GameSeat>,
    /// The settlement as the ledger booked it: the schema `Settlement` of asyncapi.yaml. Null if
    /// the game was voided.
    #[schema(required = true, value_type = Option<Object>)]
    pub settlement: Option<Value>,
    /// The time at which the house reversed the settlement; null unless it did.
    #[schema(required = true)]
    pub reversed_at: Option<Time>,
    /// The time of the house's clock, by which deadlines are set.
    pub opened_at: Time,
    /// The time of the house's clock; that of the database if the game was voided.
    pub finished_at: Time,
}

/// A seat in a finished game.
#[derive(Debug, Serialize, ToSchema)]
pub struct GameSeat {
    /// The number of the seat, counted from 0.
    #[schema(maximum = 7)]
    pub seat: u8,
    pub player: Uuid,
    /// The player's present name.
    #[schema(example = "Maria")]
    pub name: String,
    /// True if the player is a bot of the house, without a person's account.
    pub is_bot: bool,
    /// The most that the seat could lose beside the ante.
    pub stake: Coins,
    /// The change of the player's coins without the ante; 0 once the settlement was reversed.
    pub net: Coins,
    /// The number of actions by their origin.
    pub actions: SeatActions,
}

/// The number of a seat's actions by their origin. All are 0 in a game that was voided.
#[derive(Debug, Default, Serialize, ToSchema)]
pub struct SeatActions {
    pub player: u32,
    /// Actions taken because a countdown had ended.
    pub clock: u32,
    /// Actions taken because the player was away.
    pub ai: u32,
}

/// The maximum number of steps in one response. No game of Tong-its has more.
pub const STEPS_MAX: u32 = 500;

/// The maximum offset. No game has more steps.
pub const STEPS_OFFSET_MAX: u32 = 1_000_000;

/// Selects steps and their redaction.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct StepsQuery {
    /// The hands that are shown: those that the player's own seat saw (the default), or all.
    #[param(inline)]
    pub hands: Option<HandVisibility>,
    /// The number of the first step; 0 is the deal.
    #[serde(default)]
    #[param(required = false, default = 0, minimum = 0, maximum = 1_000_000)]
    pub offset: u32,
    /// The maximum number of steps.
    #[serde(default = "default_limit")]
    #[param(required = false, default = 500, minimum = 1, maximum = 500)]
    pub limit: u32,
}

const fn default_limit() -> u32 {
    STEPS_MAX
}

/// The hands that are shown.
#[derive(Clone, Copy, Debug, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum HandVisibility {
    Own,
    All,
}

/// A range of steps of a finished game.
#[derive(Debug, Serialize, ToSchema)]
pub struct GameSteps {
    pub game: Uuid,
    /// The player's seat.
    #[schema(maximum = 7)]
    pub seat: u8,
    /// The total number of steps of the game.
    pub total: u64,
    pub items: Vec<GameStep>,
    /// The `offset` of the next range; null after the last step.
    #[schema(required = true)]
    pub next_offset: Option<u64>,
}

/// One step of a finished game.
#[derive(Debug, Serialize, ToSchema)]
pub struct GameStep {
    /// The number of the step; 0 is the deal.
    pub number: u64,
    pub at: Time,
    /// The action of the step; null for the deal, and for a countdown that ended with no seat to
    /// act (rule 4.2).
    #[schema(required = true)]
    pub taken: Option<StepAction>,
    /// The events as they were sent: the schema `TongitsEvent` of asyncapi.yaml.
    #[schema(value_type = Vec<Object>)]
    pub events: Vec<Value>,
    /// The game after the step: the schema `TongitsView` of asyncapi.yaml.
    #[schema(value_type = Object)]
    pub view: Value,
}

/// An action, with the seat that took it.
#[derive(Debug, Serialize, ToSchema)]
pub struct StepAction {
    #[schema(maximum = 7)]
    pub seat: u8,
    pub by: ActionSource,
    /// The schema `TongitsAction` of asyncapi.yaml.
    #[schema(value_type = Object)]
    pub action: Value,
}

/// The origin of an action: the player, the clock, or the AI.
#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ActionSource {
    Player,
    Clock,
    Ai,
}

/// The analysis of a finished game by the house's strongest bot, for one of its players.
#[derive(Debug, Serialize, ToSchema)]
pub struct GameAnalysis {
    pub game: Uuid,
    /// The player's seat.
    #[schema(maximum = 7)]
    pub seat: u8,
    /// The bot that analysed the game; null if the house has no bot for this game and its rules.
    #[schema(required = true, example = "strong")]
    pub engine: Option<&'static str>,
    /// At most three decisions in which the bot prefers another action, in descending order of
    /// loss. Empty if the bot found no better action.
    pub items: Vec<AnalysisItem>,
}

/// A decision of the player, with the action that the bot prefers. A value is the average amount
/// that a seat wins from the others, minus what it loses to them, in hundredths of a bet times the
/// multiplier, before the fee and without ante and POT: 150 is one and a half bets.
#[derive(Debug, Serialize, ToSchema)]
pub struct AnalysisItem {
    /// The number of the step in `/steps` in which the action was taken.
    #[schema(minimum = 1, example = 12)]
    pub step: u64,
    /// The player's action: the schema `TongitsAction` of asyncapi.yaml.
    #[schema(value_type = Object)]
    pub action: Value,
    /// The bot's action, chosen from what the seat had been shown.
    #[schema(value_type = Object)]
    pub advised: Value,
    /// The value of the player's action, in hundredths of a bet.
    #[schema(example = -120)]
    pub value: i64,
    /// The value of the bot's action, in hundredths of a bet.
    #[schema(example = -40)]
    pub advised_value: i64,
    /// The difference between the two values, in hundredths of a bet.
    #[schema(minimum = 1, example = 80)]
    pub loss: i64,
}

/// A hand to sort.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct SortRequest {
    #[schema(inline)]
    pub cards: SortableHand,
    pub by: SortBy,
}

/// The order of the groups.
#[derive(Clone, Copy, Debug, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum SortBy {
    /// One group per suit, in ascending rank.
    Suit,
    /// The melds that leave the fewest points, then the remaining cards in descending order of
    /// points.
    Arrangement,
}

/// The cards in groups.
#[derive(Debug, Serialize, ToSchema)]
pub struct SortedHand {
    #[schema(
        value_type = Vec<Vec<CardText>>,
        example = json!([["5H", "6H", "7H"], ["KD", "KC", "AS"]])
    )]
    pub groups: Vec<Vec<Card>>,
}

/// The maximum number of cards in a hand of Tong-its (rule 2.3).
const HAND_CARDS_MAX: usize = 13;

/// The cards of a hand, each once.
#[derive(Clone, Copy, Debug)]
pub struct SortableHand(pub CardSet);

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
