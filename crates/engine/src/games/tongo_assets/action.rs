//! What a player may do.

use serde::{Deserialize, Serialize};

use crate::games::tongo_assets::card::Card;
use crate::games::tongo_assets::set::CardSet;
use crate::games::tongo_assets::slots::SlotSet;
use crate::seat::Seat;

/// An action of a player. Unknown fields are refused: they are a client's mistake.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", from = "ActionFields")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "TongoAssetsAction", deny_unknown_fields))]
pub enum Action {
    /// Rule 2.1: names the risk and both prices, and pays the risk.
    Open { risk: u32, purchase: u32, sell: u32 },
    /// Rules 2.2, 4.1, 4.3 and 4.4: pays what is missing of the risk, or what is owed.
    Pay,
    /// Rule 2.2, in a round of risking: the new risk and its prices.
    Raise { risk: u32, purchase: u32, sell: u32 },
    /// Rule 4.1, in a confront: the new risk; the prices follow.
    RaiseConfront { risk: u32 },
    /// Rule 2.2: out of the game.
    Retreat,
    /// Rule 3.1: an asset of the hand for one of the section.
    Swap { discard: Card, slot: u8 },
    /// Rule 3.2: an asset of the section.
    Purchase {
        slot: u8,
        /// What leaves a hand of seven, and nothing else does.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        discard: Option<Card>,
        /// A free purchase is spent.
        #[serde(default, skip_serializing_if = "core::ops::Not::not")]
        free: bool,
    },
    /// Rule 3.3: the section's next acquire card.
    Acquire {
        /// What a wild would replace in a hand of seven.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        replace: Option<Card>,
        /// A free purchase is spent.
        #[serde(default, skip_serializing_if = "core::ops::Not::not")]
        free: bool,
    },
    /// Rule 3.4: the whole hand for these of the section.
    Sell { slots: SlotSet },
    /// Rule 1.3: plays a reveal on a section.
    Reveal { section: u8 },
    /// Rule 1.3: plays a dividend.
    Dividend,
    /// Rule 3: the end of an assessment.
    Done,
    /// Rules 3.5 and 6.4.
    Confront,
    /// Rule 4.1: pays, and discards three cards.
    Evade { discards: CardSet },
    /// Rule 4.4.
    Index { margin: u8 },
    /// Rule 4.5.
    Leverage { percent: u8 },
    /// Rule 4.6: offers chips, or cards.
    Bribe {
        to: Seat,
        #[serde(default, skip_serializing_if = "is_zero")]
        chips: u32,
        #[serde(default, skip_serializing_if = "has_none")]
        cards: CardSet,
    },
    /// Rule 4.6: takes the bribe that is offered.
    Accept,
    /// Rule 4.6: takes it not.
    Refuse,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
const fn is_zero(number: &u32) -> bool {
    *number == 0
}

const fn has_none(cards: &CardSet) -> bool {
    cards.is_empty()
}

/// An action as read. Its variants all have fields, if none, because only then does the reader
/// refuse a field too many.
#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
enum ActionFields {
    Open {
        risk: u32,
        purchase: u32,
        sell: u32,
    },
    Pay {},
    Raise {
        risk: u32,
        purchase: u32,
        sell: u32,
    },
    RaiseConfront {
        risk: u32,
    },
    Retreat {},
    Swap {
        discard: Card,
        slot: u8,
    },
    Purchase {
        slot: u8,
        #[serde(default)]
        discard: Option<Card>,
        #[serde(default)]
        free: bool,
    },
    Acquire {
        #[serde(default)]
        replace: Option<Card>,
        #[serde(default)]
        free: bool,
    },
    Sell {
        slots: SlotSet,
    },
    Reveal {
        section: u8,
    },
    Dividend {},
    Done {},
    Confront {},
    Evade {
        discards: CardSet,
    },
    Index {
        margin: u8,
    },
    Leverage {
        percent: u8,
    },
    Bribe {
        to: Seat,
        #[serde(default)]
        chips: u32,
        #[serde(default)]
        cards: CardSet,
    },
    Accept {},
    Refuse {},
}

impl From<ActionFields> for Action {
    fn from(fields: ActionFields) -> Self {
        match fields {
            ActionFields::Open { risk, purchase, sell } => Self::Open { risk, purchase, sell },
            ActionFields::Pay {} => Self::Pay,
            ActionFields::Raise { risk, purchase, sell } => Self::Raise { risk, purchase, sell },
            ActionFields::RaiseConfront { risk } => Self::RaiseConfront { risk },
            ActionFields::Retreat {} => Self::Retreat,
            ActionFields::Swap { discard, slot } => Self::Swap { discard, slot },
            ActionFields::Purchase { slot, discard, free } => Self::Purchase { slot, discard, free },
            ActionFields::Acquire { replace, free } => Self::Acquire { replace, free },
            ActionFields::Sell { slots } => Self::Sell { slots },
            ActionFields::Reveal { section } => Self::Reveal { section },
            ActionFields::Dividend {} => Self::Dividend,
            ActionFields::Done {} => Self::Done,
            ActionFields::Confront {} => Self::Confront,
            ActionFields::Evade { discards } => Self::Evade { discards },
            ActionFields::Index { margin } => Self::Index { margin },
            ActionFields::Leverage { percent } => Self::Leverage { percent },
            ActionFields::Bribe { to, chips, cards } => Self::Bribe { to, chips, cards },
            ActionFields::Accept {} => Self::Accept,
            ActionFields::Refuse {} => Self::Refuse,
        }
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
    fn what_is_no_action_is_refused() {
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
