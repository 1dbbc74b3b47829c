//! The actions of a player. `refusal` has the reasons for which the rules refuse one.

use serde::{Deserialize, Serialize};

use crate::games::conditions::is_default;
use crate::games::list::List;
use crate::games::tongo_options::card::Card;
use crate::games::tongo_options::rules::HAND_CARDS;
use crate::seat::Seat;

/// The cards that a seat discards, in the order in which they are named (rule 3.2).
pub type Discards = List<Card, { HAND_CARDS as usize }>;

actions! {
    /// An action of a player. Unknown fields are rejected, because they are a client's mistake.
    #[cfg_attr(feature = "schema", schemars(rename = "TongoOptionsAction", deny_unknown_fields))]
    pub enum Action {
        /// Stops the board at a floor (rule 3.1).
        Stop { floor: u8 },
        /// Retreats (rule 3.2).
        Retreat,
        /// Evades by token (rule 3.2), also in answer to a confrontation (rule 6.2).
        Evade {
            discards: Discards = "is_default",
        },
        /// Converts reserves (rules 5.1 and 5.2).
        ConvertReserves,
        /// Confronts a target (rule 6.1), or, without one, answers an acquisition (rule 7.1).
        Confront {
            target: Option<Seat> = "Option::is_none",
        },
        /// Acquires the facing floor (rule 7.1).
        Acquire,
        /// Folds (rules 3.2, 5.2, 6.2 and 7.1).
        Fold,
        /// Pays the risk (rule 3.3).
        PayRisk,
        /// Lowers costs (rule 3.4). Omitted costs do not change.
        Lower(NewCosts { buy: Option<u16>, sell: Option<u16>, exchange: Option<u16> }),
        /// Buys a card: turns it face up (rule 3.4).
        Buy {
            slot: u8,
            leverage: bool = "core::ops::Not::not",
        },
        /// Sells a card: turns it face down (rule 3.4).
        Sell {
            slot: u8,
            leverage: bool = "core::ops::Not::not",
        },
        /// Exchanges a card of the facing floor with one of its free exchange or, if another floor
        /// is named, with one of that floor (rule 3.4).
        Exchange {
            slot: u8,
            floor: Option<u8> = "Option::is_none",
            other: u8,
            leverage: bool = "core::ops::Not::not",
        },
        /// Raises costs (rule 3.4). Omitted costs do not change.
        Raise(NewCosts { buy: Option<u16>, sell: Option<u16>, exchange: Option<u16> }),
        /// Indexes the margin, if the rules permit it (rule 3.4).
        IndexMargin { percent: i8 },
        /// Rolls the dice (rule 3.4).
        Roll,
        /// Ends the turn (rule 3.5).
        End,
        /// Pays to evade and discards cards (rule 3.5).
        PayToEvade { discards: Discards },
        /// Stands in answer to a confrontation (rule 6.2).
        Stand,
        /// Joins a confrontation (rule 6.2).
        Join,
    }
}

/// The changed costs (rule 3.4).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "TongoOptionsNewCosts"))]
pub struct NewCosts {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub buy: Option<u16>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sell: Option<u16>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exchange: Option<u16>,
}

#[cfg(test)]
mod tests {
    use super::Action;

    #[test]
    fn actions_read_as_they_are_written() {
        for json in [
            r#"{"type":"stop","floor":7}"#,
            r#"{"type":"retreat"}"#,
            r#"{"type":"evade"}"#,
            r#"{"type":"evade","discards":["7D","AC"]}"#,
            r#"{"type":"convert_reserves"}"#,
            r#"{"type":"confront","target":2}"#,
            r#"{"type":"confront"}"#,
            r#"{"type":"acquire"}"#,
            r#"{"type":"fold"}"#,
            r#"{"type":"pay_risk"}"#,
            r#"{"type":"lower","buy":1,"exchange":3}"#,
            r#"{"type":"buy","slot":0}"#,
            r#"{"type":"sell","slot":2,"leverage":true}"#,
            r#"{"type":"exchange","slot":0,"other":2}"#,
            r#"{"type":"exchange","slot":0,"floor":4,"other":2,"leverage":true}"#,
            r#"{"type":"raise","sell":6}"#,
            r#"{"type":"index_margin","percent":-50}"#,
            r#"{"type":"roll"}"#,
            r#"{"type":"end"}"#,
            r#"{"type":"pay_to_evade","discards":["7D"]}"#,
            r#"{"type":"stand"}"#,
            r#"{"type":"join"}"#,
        ] {
            let action: Action = serde_json::from_str(json).unwrap();
            assert_eq!(serde_json::to_string(&action).unwrap(), json);
        }
    }

    #[test]
    fn an_invalid_action_is_refused() {
        for json in [
            r#"{"type":"stop"}"#,
            r#"{"type":"stop","floor":-1}"#,
            r#"{"type":"retreat","floor":1}"#,
            r#"{"type":"evade","discards":["7D","8D","9D","TD","JD"]}"#,
            r#"{"type":"evade","discards":["QD"]}"#,
            r#"{"type":"confront","target":8}"#,
            r#"{"type":"lower","buys":1}"#,
            r#"{"type":"index_margin","percent":200}"#,
            r#"{"type":"pay_to_evade"}"#,
            r#"{"type":"Roll"}"#,
            r#""roll""#,
        ] {
            assert!(serde_json::from_str::<Action>(json).is_err(), "{json}");
        }
    }
}
