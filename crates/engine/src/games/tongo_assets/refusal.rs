//! Why the rules refuse an action.

use core::fmt;

use crate::game::Refusal;

/// Why an action is refused, in the order in which the reasons are looked for: the first that
/// holds is the one given.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Illegal {
    NotDealt,
    GameOver,
    Retreated,
    NoBribe,
    BribeOpen,
    NotAsked,
    NotYourTurn,
    NotOpening,
    RoundsOver,
    NotRisking,
    NothingToPay,
    NotAssessing,
    NotConfronting,
    ConfronterPays,
    ActedAlready,
    RaisesUsedUp,
    RiskTooLow,
    RiskTooHigh,
    PurchasePrice,
    SellPrice,
    NoFreePurchase,
    TooFewChips,
    CardNotInHand,
    NotAnAsset,
    SlotEmpty,
    SwappedAlready,
    DiscardMissing,
    DiscardNeedless,
    NoAcquireCard,
    KeptFull,
    SoldAlready,
    NothingToSell,
    SellSlots,
    NoReveal,
    NoSuchSection,
    NoDividend,
    HandNotFull,
    OthersNotFull,
    EvadeCards,
    MarginsOff,
    MarginStep,
    MarginNoRise,
    LeverageOff,
    LeveragePercent,
    BribesOff,
    OfferedAlready,
    BribeTo,
    BribeWhat,
    BribeNotHeld,
    BribeNoRoom,
}

impl Illegal {
    /// Every reason, in order of precedence.
    pub const ALL: [Self; 50] = [
        Self::NotDealt,
        Self::GameOver,
        Self::Retreated,
        Self::NoBribe,
        Self::BribeOpen,
        Self::NotAsked,
        Self::NotYourTurn,
        Self::NotOpening,
        Self::RoundsOver,
        Self::NotRisking,
        Self::NothingToPay,
        Self::NotAssessing,
        Self::NotConfronting,
        Self::ConfronterPays,
        Self::ActedAlready,
        Self::RaisesUsedUp,
        Self::RiskTooLow,
        Self::RiskTooHigh,
        Self::PurchasePrice,
        Self::SellPrice,
        Self::NoFreePurchase,
        Self::TooFewChips,
        Self::CardNotInHand,
        Self::NotAnAsset,
        Self::SlotEmpty,
        Self::SwappedAlready,
        Self::DiscardMissing,
        Self::DiscardNeedless,
        Self::NoAcquireCard,
        Self::KeptFull,
        Self::SoldAlready,
        Self::NothingToSell,
        Self::SellSlots,
        Self::NoReveal,
        Self::NoSuchSection,
        Self::NoDividend,
        Self::HandNotFull,
        Self::OthersNotFull,
        Self::EvadeCards,
        Self::MarginsOff,
        Self::MarginStep,
        Self::MarginNoRise,
        Self::LeverageOff,
        Self::LeveragePercent,
        Self::BribesOff,
        Self::OfferedAlready,
        Self::BribeTo,
        Self::BribeWhat,
        Self::BribeNotHeld,
        Self::BribeNoRoom,
    ];

    /// Code, rule and sentence in one place, so that none is forgotten.
    const fn page(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Self::NotDealt => ("not_dealt", "1.7", "the cards are not dealt yet"),
            Self::GameOver => ("game_over", "6.1", "the game is over"),
            Self::Retreated => ("retreated", "2.2", "this seat is out of the game"),
            Self::NoBribe => ("no_bribe", "4.6", "no bribe waits for an answer"),
            Self::BribeOpen => ("bribe_open", "4.6", "a bribe waits for its answer"),
            Self::NotAsked => ("not_asked", "4.6", "the bribe is offered to another seat"),
            Self::NotYourTurn => ("not_your_turn", "2.2", "it is another seat's turn"),
            Self::NotOpening => ("not_opening", "2.1", "no round is to be opened now"),
            Self::RoundsOver => {
                ("rounds_over", "6.4", "no more rounds are opened: confront or retreat")
            }
            Self::NotRisking => ("not_risking", "2.2", "this is not a round of risking"),
            Self::NothingToPay => {
                ("nothing_to_pay", "2.2", "no risk and no debt is to be paid now")
            }
            Self::NotAssessing => ("not_assessing", "3.1", "this is for one's own assessment"),
            Self::NotConfronting => ("not_confronting", "4.1", "this is for an open confront"),
            Self::ConfronterPays => {
                ("confronter_pays", "4.3", "the confronter pays what is missing, or retreats")
            }
            Self::ActedAlready => {
                ("acted_already", "2.2", "who had a turn in this round pays or retreats")
            }
            Self::RaisesUsedUp => ("raises_used_up", "2.2", "there are no more raises"),
            Self::RiskTooLow => ("risk_too_low", "2.2", "the risk must be higher"),
            Self::RiskTooHigh => ("risk_too_high", "2.2", "the risk is higher than it may be"),
            Self::PurchasePrice => (
                "purchase_price",
                "2.1",
                "the purchase price is from half the risk to one and a half times the risk",
            ),
            Self::SellPrice => {
                ("sell_price", "2.1", "the sell price is from 1 to one and a half times the risk")
            }
            Self::NoFreePurchase => ("no_free_purchase", "1.3", "this seat keeps no free purchase"),
            Self::TooFewChips => ("too_few_chips", "2.2", "this seat has too few chips"),
            Self::CardNotInHand => ("card_not_in_hand", "3.1", "the card is not in the hand"),
            Self::NotAnAsset => ("not_an_asset", "3.1", "only an asset is swapped"),
            Self::SlotEmpty => ("slot_empty", "3.1", "no asset lies in this slot"),
            Self::SwappedAlready => ("swapped_already", "3.1", "one card a turn is swapped"),
            Self::DiscardMissing => {
                ("discard_missing", "3.2", "with seven in hand a card to part with is named")
            }
            Self::DiscardNeedless => {
                ("discard_needless", "3.2", "with fewer than seven in hand none is parted with")
            }
            Self::NoAcquireCard => {
                ("no_acquire_card", "3.3", "the section has no acquire card left")
            }
            Self::KeptFull => {
                ("kept_full", "1.5", "with three acquire cards kept one is played first")
            }
            Self::SoldAlready => ("sold_already", "3.4", "the hand is sold once a turn"),
            Self::NothingToSell => {
                ("nothing_to_sell", "3.4", "there is no hand to sell, or nothing to take for it")
            }
            Self::SellSlots => (
                "sell_slots",
                "3.4",
                "as many assets are taken as are sold, as far as the section has them",
            ),
            Self::NoReveal => ("no_reveal", "1.3", "this seat keeps no reveal"),
            Self::NoSuchSection => {
                ("no_such_section", "1.3", "a reveal looks at another section of the table")
            }
            Self::NoDividend => ("no_dividend", "1.3", "this seat keeps no dividend"),
            Self::HandNotFull => ("hand_not_full", "3.5", "who confronts holds seven cards"),
            Self::OthersNotFull => (
                "others_not_full",
                "3.5",
                "in this round all seats hold seven cards for a confront",
            ),
            Self::EvadeCards => {
                ("evade_cards", "4.1", "an evasion discards three cards of the hand")
            }
            Self::MarginsOff => ("margins_off", "4.4", "at this table no margin is indexed"),
            Self::MarginStep => {
                ("margin_step", "4.4", "a margin is from 5 to 50 hundredths in steps of 5")
            }
            Self::MarginNoRise => {
                ("margin_no_rise", "4.4", "with this margin the risk does not rise")
            }
            Self::LeverageOff => ("leverage_off", "4.5", "at this table no buy-in is leveraged"),
            Self::LeveragePercent => {
                ("leverage_percent", "4.5", "a leverage pays from 5 to 95 hundredths of the risk")
            }
            Self::BribesOff => ("bribes_off", "4.6", "at this table nobody is bribed"),
            Self::OfferedAlready => {
                ("offered_already", "4.6", "one bribe is offered before a decision")
            }
            Self::BribeTo => ("bribe_to", "4.6", "a bribe is offered to another seat still in"),
            Self::BribeWhat => ("bribe_what", "4.6", "a bribe is of chips or of cards"),
            Self::BribeNotHeld => {
                ("bribe_not_held", "4.6", "the seat does not hold what it offers")
            }
            Self::BribeNoRoom => {
                ("bribe_no_room", "4.6", "the other seat has no room for these cards")
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

#[cfg(test)]
mod tests {
    use super::Illegal;
    use crate::game::Refusal;
    use alloc::collections::BTreeSet;
    use alloc::string::ToString;

    #[test]
    fn every_refusal_has_a_code_of_its_own_a_rule_and_a_sentence() {
        let codes: BTreeSet<_> = Illegal::ALL.iter().map(|illegal| illegal.code()).collect();
        assert_eq!(codes.len(), Illegal::ALL.len());
        assert!(Illegal::ALL.is_sorted(), "listed in order of precedence");
        for illegal in Illegal::ALL {
            let code = illegal.code();
            assert!(code.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_'), "{code}");
            assert!(illegal.rule().split_once('.').is_some(), "{code}");
            assert!(illegal.to_string().len() > 10, "{code}");
        }
    }
}
