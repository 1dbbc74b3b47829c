//! The actions of a player, and the reasons for which the rules refuse one.

use serde::{Deserialize, Serialize};

use crate::game::is_default;
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

refusals! {
    /// The reason for a refusal, in the order of the checks: the first that applies is given.
    pub enum Illegal {
        NotDealt => "not_dealt", "1.7", "the cards have not been dealt yet";
        GameOver => "game_over", "6.1", "the game is over";
        Retreated => "retreated", "2.2", "this seat is out of the game";
        NoBribe => "no_bribe", "4.6", "there is no bribe to answer";
        BribeOpen => "bribe_open", "4.6", "an open bribe must be answered first";
        NotAsked => "not_asked", "4.6", "the bribe is offered to another seat";
        NotYourTurn => "not_your_turn", "2.2", "it is another seat's turn";
        NotOpening => "not_opening", "2.1", "no round can be opened now";
        RoundsOver => "rounds_over", "6.4", "no more rounds are opened: confront or retreat";
        NotRisking => "not_risking", "2.2", "this is not a round of risking";
        NothingToPay => "nothing_to_pay", "2.2", "there is no risk or debt to pay now";
        NotAssessing => "not_assessing", "3.1",
            "this is only possible in the seat's own assessment";
        NotConfronting => "not_confronting", "4.1", "this is only possible in an open confront";
        ConfronterPays => "confronter_pays", "4.3",
            "the confronter pays what is missing, or retreats";
        ActedAlready => "acted_already", "2.2",
            "a seat that has had its turn in this round pays or retreats";
        RaisesUsedUp => "raises_used_up", "2.2", "there are no more raises";
        RiskTooLow => "risk_too_low", "2.2", "the risk must be higher";
        RiskTooHigh => "risk_too_high", "2.2", "the risk is higher than allowed";
        PurchasePrice => "purchase_price", "2.1",
            "the purchase price is from half the risk to one and a half times the risk";
        SellPrice => "sell_price", "2.1",
            "the sell price is from 1 to one and a half times the risk";
        NoFreePurchase => "no_free_purchase", "1.3", "this seat keeps no free purchase";
        TooFewChips => "too_few_chips", "2.2", "this seat has too few chips";
        CardNotInHand => "card_not_in_hand", "3.1", "the card is not in the hand";
        NotAnAsset => "not_an_asset", "3.1", "only an asset can be swapped";
        SlotEmpty => "slot_empty", "3.1", "there is no asset in this slot";
        SwappedAlready => "swapped_already", "3.1", "only one card can be swapped per turn";
        DiscardMissing => "discard_missing", "3.2",
            "with seven cards in hand a discard must be named";
        DiscardNeedless => "discard_needless", "3.2",
            "with fewer than seven cards in hand nothing is discarded";
        NoAcquireCard => "no_acquire_card", "3.3", "the section has no acquire card left";
        KeptFull => "kept_full", "1.5", "one of three kept acquire cards must be played first";
        SoldAlready => "sold_already", "3.4", "the hand can only be sold once per turn";
        NothingToSell => "nothing_to_sell", "3.4",
            "there is no hand to sell, or nothing to take for it";
        SellSlots => "sell_slots", "3.4",
            "as many assets are taken as are sold, as far as the section has enough";
        NoReveal => "no_reveal", "1.3", "this seat keeps no reveal";
        NoSuchSection => "no_such_section", "1.3", "a reveal looks at another section of the table";
        NoDividend => "no_dividend", "1.3", "this seat keeps no dividend";
        HandNotFull => "hand_not_full", "3.5", "a seat must hold seven cards to confront";
        OthersNotFull => "others_not_full", "3.5",
            "in this round all seats must hold seven cards for a confront";
        EvadeCards => "evade_cards", "4.1", "an evasion discards three cards of the hand";
        MarginsOff => "margins_off", "4.4", "this table does not allow indexing of the margin";
        MarginStep => "margin_step", "4.4", "a margin is from 5 to 50 hundredths in steps of 5";
        MarginNoRise => "margin_no_rise", "4.4", "with this margin the risk does not rise";
        LeverageOff => "leverage_off", "4.5", "this table does not allow leverage of the buy-in";
        LeveragePercent => "leverage_percent", "4.5",
            "a leverage pays from 5 to 95 hundredths of the risk";
        BribesOff => "bribes_off", "4.6", "this table does not allow bribes";
        OfferedAlready => "offered_already", "4.6",
            "only one bribe can be offered before a decision";
        BribeTo => "bribe_to", "4.6", "a bribe must be offered to another seat that is still in";
        BribeWhat => "bribe_what", "4.6", "a bribe consists of chips or cards";
        BribeNotHeld => "bribe_not_held", "4.6", "the seat does not hold what it offers";
        BribeNoRoom => "bribe_no_room", "4.6", "the other seat has no room for these cards";
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
