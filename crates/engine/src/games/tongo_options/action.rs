//! The actions of a player, and the reasons for which the rules refuse one.

use serde::{Deserialize, Serialize};

use crate::game::is_default;
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

refusals! {
    /// The reason for a refusal, in the order of the checks: the first that applies is given. No
    /// reason depends on anything that the seat cannot see.
    pub enum Illegal {
        /// Cards have to be dealt or drawn, or dice rolled.
        ChanceFirst => "chance_first", "2.1", "cards must be dealt or dice rolled first";
        GameOver => "game_over", "4.1", "the game is over";
        NotYourTurn => "not_your_turn", "2.2", "it is another seat's turn";
        StopFirst => "stop_first", "3.1", "a turn begins by stopping the board";
        NoSuchFloor => "no_such_floor", "1.3", "floors are numbered from 0 to 7";
        NotAsked => "not_asked", "6.2", "another seat is asked to answer";
        StandOrEvade => "stand_or_evade", "6.2", "the confronted seat answers evade or stand";
        JoinOrFold => "join_or_fold", "6.2", "the others answer join or fold";
        ConfrontOrFold => "confront_or_fold", "7.1", "an acquisition is answered confront or fold";
        AlreadyStopped => "already_stopped", "3.1", "the board has already been stopped";
        NothingToAnswer => "nothing_to_answer", "6.2", "there is nothing to answer";
        /// Another seat has converted its reserves.
        ReservesFirst => "reserves_first", "5.2",
            "reserves were converted: answer convert_reserves or fold";
        /// The seat has converted its reserves in this turn.
        OnlyEndLeft => "only_end_left", "5.1",
            "after converting reserves a turn goes on with the costs and cards, and ends";
        TurnBegun => "turn_begun", "3.3", "this is only possible at the beginning of a turn";
        NoRisk => "no_risk", "3.3", "there is no risk to pay, or it has been paid";
        RiskUnpaid => "risk_unpaid", "3.3", "the risk must be paid first";
        RetreatBarred => "retreat_barred", "3.2", "the previous turn was a retreat or an evasion";
        NoEvadeToken => "no_evade_token", "3.2", "the evade token is spent";
        EvasionBarred => "evasion_barred", "3.2",
            "the previous turn was a retreat, an evasion or a confrontation";
        NothingDiscarded => "nothing_discarded", "3.5", "a paid evasion discards one to four cards";
        DiscardNotInHand => "discard_not_in_hand", "3.2",
            "a card to discard is not in the hand, or named twice";
        TooEarly => "too_early", "8.4", "in the first rounds nobody confronts or acquires";
        TargetMissing => "target_missing", "6.1", "a confrontation names its target";
        TargetGiven => "target_given", "7.1", "this answer names no target";
        NoSuchTarget => "no_such_target", "6.1", "the target is another seat that is still in";
        ConfrontationBarred => "confrontation_barred", "6.1",
            "the previous turn was a retreat, a confrontation or an evasion by token";
        TargetEvaded => "target_evaded", "6.1", "the target evaded by token on its previous turn";
        IndexOff => "index_off", "3.4",
            "this table does not allow a change of the costs by a percentage";
        OnceATurn => "once_a_turn", "3.4", "this was already done in this turn";
        OutOfOrder => "out_of_order", "3.4", "it is too late for this in the turn";
        NoSuchSlot => "no_such_slot", "1.3", "slots are numbered from 0 to 2";
        NoFreeExchange => "no_free_exchange", "1.3", "this table has no free exchange";
        SameFloor => "same_floor", "3.4", "this is the facing floor itself";
        AlreadyUp => "already_up", "3.4", "the card to buy is already face up";
        NotUp => "not_up", "3.4", "the card to sell is face down";
        ExchangeUp => "exchange_up", "3.4", "a card to exchange is face up";
        LeverageFree => "leverage_free", "3.4", "a free exchange is not paid by the buy-in";
        LeverageUsed => "leverage_used", "3.4", "the buy-in has already paid for something";
        BelowOne => "below_one", "1.6", "a cost is at least 1";
        NotLower => "not_lower", "3.4", "lowering must not increase a cost";
        NotHigher => "not_higher", "3.4", "raising must not decrease a cost";
        PercentOutOfRange => "percent_out_of_range", "3.4",
            "a percentage is from -99 to 100 and not 0";
        NoChange => "no_change", "3.4", "no cost changes";
        RaisedTooFar => "raised_too_far", "1.6", "a cost cannot be raised by so much in one turn";
        NoDieHere => "no_die_here", "3.4", "no die faces this floor";
        TooFewChips => "too_few_chips", "1.5", "the seat has fewer chips than this costs";
    }
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
