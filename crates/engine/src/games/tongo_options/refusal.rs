//! Why an action is refused: a code, a rule and a sentence for each reason.

use core::fmt;

use crate::game::Refusal;

/// Why an action is refused, in the order in which the reasons are looked for: the first that
/// holds is the one given. None depends on what the seat that acts cannot see.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Illegal {
    /// Cards are dealt or drawn, or dice rolled.
    ChanceFirst,
    GameOver,
    NotYourTurn,
    StopFirst,
    NoSuchFloor,
    NotAsked,
    StandOrEvade,
    JoinOrFold,
    ConfrontOrFold,
    AlreadyStopped,
    NothingToAnswer,
    /// Somebody has converted reserves.
    ReservesFirst,
    /// This seat has converted its reserves in this turn.
    OnlyEndLeft,
    TurnBegun,
    NoRisk,
    RiskUnpaid,
    RetreatBarred,
    NoEvadeToken,
    EvasionBarred,
    NothingDiscarded,
    DiscardNotInHand,
    TooEarly,
    TargetMissing,
    TargetGiven,
    NoSuchTarget,
    ConfrontationBarred,
    TargetEvaded,
    IndexOff,
    OnceATurn,
    OutOfOrder,
    NoSuchSlot,
    NoFreeExchange,
    SameFloor,
    AlreadyUp,
    NotUp,
    ExchangeUp,
    LeverageFree,
    LeverageUsed,
    BelowOne,
    NotLower,
    NotHigher,
    PercentOutOfRange,
    NoChange,
    RaisedTooFar,
    NoDieHere,
    TooFewChips,
}

impl Illegal {
    /// Every reason, in order of precedence.
    pub const ALL: [Self; 46] = [
        Self::ChanceFirst,
        Self::GameOver,
        Self::NotYourTurn,
        Self::StopFirst,
        Self::NoSuchFloor,
        Self::NotAsked,
        Self::StandOrEvade,
        Self::JoinOrFold,
        Self::ConfrontOrFold,
        Self::AlreadyStopped,
        Self::NothingToAnswer,
        Self::ReservesFirst,
        Self::OnlyEndLeft,
        Self::TurnBegun,
        Self::NoRisk,
        Self::RiskUnpaid,
        Self::RetreatBarred,
        Self::NoEvadeToken,
        Self::EvasionBarred,
        Self::NothingDiscarded,
        Self::DiscardNotInHand,
        Self::TooEarly,
        Self::TargetMissing,
        Self::TargetGiven,
        Self::NoSuchTarget,
        Self::ConfrontationBarred,
        Self::TargetEvaded,
        Self::IndexOff,
        Self::OnceATurn,
        Self::OutOfOrder,
        Self::NoSuchSlot,
        Self::NoFreeExchange,
        Self::SameFloor,
        Self::AlreadyUp,
        Self::NotUp,
        Self::ExchangeUp,
        Self::LeverageFree,
        Self::LeverageUsed,
        Self::BelowOne,
        Self::NotLower,
        Self::NotHigher,
        Self::PercentOutOfRange,
        Self::NoChange,
        Self::RaisedTooFar,
        Self::NoDieHere,
        Self::TooFewChips,
    ];

    /// Code, rule and sentence in one place, so that none is forgotten.
    const fn page(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Self::ChanceFirst => ("chance_first", "2.1", "cards or dice are to fall first"),
            Self::GameOver => ("game_over", "4.1", "the game is over"),
            Self::NotYourTurn => ("not_your_turn", "2.2", "it is another seat's turn"),
            Self::StopFirst => ("stop_first", "3.1", "a turn begins by stopping the board"),
            Self::NoSuchFloor => ("no_such_floor", "1.3", "floors are numbered from 0 to 7"),
            Self::NotAsked => ("not_asked", "6.2", "another seat is asked to answer"),
            Self::StandOrEvade => {
                ("stand_or_evade", "6.2", "who is confronted answers evade or stand")
            }
            Self::JoinOrFold => ("join_or_fold", "6.2", "the others answer join or fold"),
            Self::ConfrontOrFold => {
                ("confront_or_fold", "7.1", "an acquisition is answered confront or fold")
            }
            Self::AlreadyStopped => ("already_stopped", "3.1", "the board is stopped already"),
            Self::NothingToAnswer => ("nothing_to_answer", "6.2", "there is nothing to answer"),
            Self::ReservesFirst => (
                "reserves_first",
                "5.2",
                "reserves were converted: answer convert_reserves or fold",
            ),
            Self::OnlyEndLeft => (
                "only_end_left",
                "5.1",
                "after converting reserves a turn goes on with the costs and cards, and ends",
            ),
            Self::TurnBegun => {
                ("turn_begun", "3.3", "this is for the beginning of a turn, and that is over")
            }
            Self::NoRisk => ("no_risk", "3.3", "there is no risk to pay, or not again"),
            Self::RiskUnpaid => ("risk_unpaid", "3.3", "the risk is to be paid first"),
            Self::RetreatBarred => {
                ("retreat_barred", "3.2", "the previous turn was a retreat or an evasion")
            }
            Self::NoEvadeToken => ("no_evade_token", "3.2", "the evade token is spent"),
            Self::EvasionBarred => (
                "evasion_barred",
                "3.2",
                "the previous turn was a retreat, an evasion or a confrontation",
            ),
            Self::NothingDiscarded => {
                ("nothing_discarded", "3.5", "a paid evasion discards one to four cards")
            }
            Self::DiscardNotInHand => (
                "discard_not_in_hand",
                "3.2",
                "a card to discard is not in the hand, or named twice",
            ),
            Self::TooEarly => {
                ("too_early", "8.4", "in the first rounds nobody confronts or acquires")
            }
            Self::TargetMissing => ("target_missing", "6.1", "a confrontation names its target"),
            Self::TargetGiven => ("target_given", "7.1", "this answer names no target"),
            Self::NoSuchTarget => {
                ("no_such_target", "6.1", "the target is another seat that is still in")
            }
            Self::ConfrontationBarred => (
                "confrontation_barred",
                "6.1",
                "the previous turn was a retreat, a confrontation or an evasion by token",
            ),
            Self::TargetEvaded => {
                ("target_evaded", "6.1", "the target evaded by token on its previous turn")
            }
            Self::IndexOff => {
                ("index_off", "3.4", "at this table the costs are not changed by a percentage")
            }
            Self::OnceATurn => ("once_a_turn", "3.4", "this was done in this turn"),
            Self::OutOfOrder => ("out_of_order", "3.4", "the time of this in the turn is over"),
            Self::NoSuchSlot => ("no_such_slot", "1.3", "slots are numbered from 0 to 2"),
            Self::NoFreeExchange => {
                ("no_free_exchange", "1.3", "at this table there is no free exchange")
            }
            Self::SameFloor => ("same_floor", "3.4", "this is the facing floor itself"),
            Self::AlreadyUp => ("already_up", "3.4", "the card to buy is face up"),
            Self::NotUp => ("not_up", "3.4", "the card to sell is face down"),
            Self::ExchangeUp => ("exchange_up", "3.4", "a card to exchange is face up"),
            Self::LeverageFree => {
                ("leverage_free", "3.4", "a free exchange is not paid by the buy-in")
            }
            Self::LeverageUsed => {
                ("leverage_used", "3.4", "the buy-in has paid for something already")
            }
            Self::BelowOne => ("below_one", "1.6", "a cost is at least 1"),
            Self::NotLower => ("not_lower", "3.4", "lowering makes no cost higher"),
            Self::NotHigher => ("not_higher", "3.4", "raising makes no cost lower"),
            Self::PercentOutOfRange => {
                ("percent_out_of_range", "3.4", "a percentage is from -99 to 100 and not 0")
            }
            Self::NoChange => ("no_change", "3.4", "no cost changes"),
            Self::RaisedTooFar => {
                ("raised_too_far", "1.6", "a cost is not raised by so much in one turn")
            }
            Self::NoDieHere => ("no_die_here", "3.4", "no die faces this floor"),
            Self::TooFewChips => {
                ("too_few_chips", "1.5", "the seat has fewer chips than this costs")
            }
        }
    }
}

impl Refusal for Illegal {
    fn code(self) -> &'static str {
        self.page().0
    }

    fn rule(self) -> &'static str {
        self.page().1
    }
}

impl fmt::Display for Illegal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.page().2)
    }
}

impl core::error::Error for Illegal {}
