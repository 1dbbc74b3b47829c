//! The actions of a player.

use serde::{Deserialize, Serialize};

use crate::games::conditions::is_default;
use crate::games::tongo_assets::card::{Card, CardSet};
use crate::games::tongo_assets::slots::SlotSet;
use crate::seat::Seat;

actions! {
    /// An action of a player. Unknown fields are rejected, because they are a client's mistake.
    #[cfg_attr(feature = "schema", schemars(rename = "TongoAssetsAction", deny_unknown_fields))]
    pub enum Action {
        /// Opens a round: names the risk and both prices, and pays the risk (rule 2.1).
        Open { risk: u32, purchase: u32, sell: u32 },
        /// Pays the missing part of the risk, or a debt (rules 2.2, 4.1, 4.3 and 4.4).
        Pay,
        /// Raises the risk and names its prices in a round of risking (rule 2.2).
        Raise { risk: u32, purchase: u32, sell: u32 },
        /// Raises the risk in a confront; the prices follow (rule 4.1).
        RaiseConfront { risk: u32 },
        /// Leaves the game (rule 2.2).
        Retreat,
        /// Swaps an asset of the hand for one of the section (rule 3.1).
        Swap { discard: Card, slot: u8 },
        /// Purchases an asset of the section (rule 3.2).
        Purchase {
            slot: u8,
            /// The card to discard, which is given only if the hand holds seven cards.
            discard: Option<Card> = "Option::is_none",
            /// True if a free purchase is spent.
            free: bool = "core::ops::Not::not",
        },
        /// Purchases the section's next acquire card (rule 3.3).
        Acquire {
            /// The card that a wild would replace if the hand holds seven cards.
            replace: Option<Card> = "Option::is_none",
            /// True if a free purchase is spent.
            free: bool = "core::ops::Not::not",
        },
        /// Sells the whole hand for these assets of the section (rule 3.4).
        Sell { slots: SlotSet },
        /// Plays a reveal on a section (rule 1.3).
        Reveal { section: u8 },
        /// Plays a dividend (rule 1.3).
        Dividend,
        /// Ends the assessment (rule 3).
        Done,
        /// Confronts the other seats (rules 3.5 and 6.4).
        Confront,
        /// Pays and discards three cards to evade a confront (rule 4.1).
        Evade { discards: CardSet },
        /// Indexes the margin, in hundredths (rule 4.4).
        Index { margin: u8 },
        /// Leverages the buy-in, in hundredths of the risk (rule 4.5).
        Leverage { percent: u8 },
        /// Offers a bribe of chips or of cards (rule 4.6).
        Bribe {
            to: Seat,
            chips: u32 = "is_default",
            cards: CardSet = "is_default",
        },
        /// Accepts the offered bribe (rule 4.6).
        Accept,
        /// Refuses the offered bribe (rule 4.6).
        Refuse,
    }
}

#[cfg(test)]
mod tests {
    use super::Action;

    #[test]
    fn actions_read_as_they_are_written() {
        for json in [
            r#"{"type":"open","risk":3,"purchase":2,"sell":4}"#,
            r#"{"type":"pay"}"#,
            r#"{"type":"raise","risk":5,"purchase":3,"sell":7}"#,
            r#"{"type":"raise_confront","risk":9}"#,
            r#"{"type":"retreat"}"#,
            r#"{"type":"swap","discard":"4Ra","slot":6}"#,
            r#"{"type":"purchase","slot":0}"#,
            r#"{"type":"purchase","slot":0,"discard":"W3","free":true}"#,
            r#"{"type":"acquire"}"#,
            r#"{"type":"acquire","replace":"7Kb"}"#,
            r#"{"type":"sell","slots":[0,2,5]}"#,
            r#"{"type":"reveal","section":7}"#,
            r#"{"type":"dividend"}"#,
            r#"{"type":"done"}"#,
            r#"{"type":"confront"}"#,
            r#"{"type":"evade","discards":["1Ra","2Rb","W0"]}"#,
            r#"{"type":"index","margin":50}"#,
            r#"{"type":"leverage","percent":37}"#,
            r#"{"type":"bribe","to":2,"chips":7}"#,
            r#"{"type":"bribe","to":2,"cards":["1Ra","F0"]}"#,
            r#"{"type":"accept"}"#,
            r#"{"type":"refuse"}"#,
        ] {
            let action: Action = serde_json::from_str(json).unwrap();
            assert_eq!(serde_json::to_string(&action).unwrap(), json);
        }
        assert!(size_of::<Action>() <= 48, "lists of them are long: {}", size_of::<Action>());
    }

    #[test]
    fn an_invalid_action_is_refused() {
        for json in [
            r#"{"type":"pay","chips":1}"#,
            r#"{"type":"open","risk":3}"#,
            r#"{"type":"open","risk":-3,"purchase":2,"sell":4}"#,
            r#"{"type":"sell","slots":[0,0]}"#,
            r#"{"type":"sell","slots":[7]}"#,
            r#"{"type":"evade","discards":["1Ra","1Ra","2Rb"]}"#,
            r#"{"type":"bribe","to":9,"chips":7}"#,
            r#"{"type":"Pay"}"#,
            r#""pay""#,
        ] {
            assert!(serde_json::from_str::<Action>(json).is_err(), "{json}");
        }
    }
}
