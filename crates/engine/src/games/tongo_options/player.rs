//! The public state of a seat: its chips and token, its payments by purpose, and its previous turn
//! (rules 1.5, 3.2 and 8.3).

use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::game::Item;

/// The public state of a seat.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "TongoOptionsPlayer"))]
pub struct PlayerState {
    pub chips: u8,
    pub paid: Payments,
    /// The floor that the seat faced last (rule 9.1).
    pub facing: u8,
    pub evade_token: bool,
    /// True if the buy-in has paid for something (rule 3.4).
    pub leveraged: bool,
    pub folded: bool,
    pub previous: PreviousTurn,
}

/// The properties of a seat's previous turn that bar actions (rules 3.2 and 6.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "TongoOptionsPrevious"))]
pub struct PreviousTurn {
    #[serde(skip_serializing_if = "core::ops::Not::not")]
    pub retreated: bool,
    /// True if the seat evaded by token, in that turn or in answer to a confrontation since.
    #[serde(skip_serializing_if = "core::ops::Not::not")]
    pub evaded: bool,
    #[serde(skip_serializing_if = "core::ops::Not::not")]
    pub paid_to_evade: bool,
    #[serde(skip_serializing_if = "core::ops::Not::not")]
    pub confronted: bool,
}

/// The purpose of a payment, each an item of the settlement (rule 8.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PaymentPurpose {
    BuyIn,
    Risk,
    Buys,
    Sells,
    Exchanges,
    Rates,
    Evasion,
    Answer,
    Reserves,
}

/// The chips that a seat has paid into the pot, by purpose.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "TongoOptionsPaid"))]
pub struct Payments {
    #[serde(skip_serializing_if = "is_zero")]
    pub buy_in: u8,
    #[serde(skip_serializing_if = "is_zero")]
    pub risk: u8,
    #[serde(skip_serializing_if = "is_zero")]
    pub buys: u8,
    #[serde(skip_serializing_if = "is_zero")]
    pub sells: u8,
    #[serde(skip_serializing_if = "is_zero")]
    pub exchanges: u8,
    #[serde(skip_serializing_if = "is_zero")]
    pub rates: u8,
    #[serde(skip_serializing_if = "is_zero")]
    pub evasion: u8,
    #[serde(skip_serializing_if = "is_zero")]
    pub answer: u8,
    #[serde(skip_serializing_if = "is_zero")]
    pub reserves: u8,
}

impl PlayerState {
    pub(super) fn new(chips: u8) -> Self {
        Self { chips, evade_token: true, ..Self::default() }
    }

    /// Pays chips for a purpose.
    ///
    /// # Panics
    /// If the seat has fewer chips; the action must be checked first.
    pub(super) fn pay(&mut self, chips: u8, purpose: PaymentPurpose) {
        self.chips = self.chips.checked_sub(chips).expect("a seat pays at most its chips");
        *self.paid.amount_mut(purpose) += chips;
    }

    /// Returns whether the previous turn was an evasion, by token or paid.
    pub(super) const fn has_evaded(&self) -> bool {
        self.previous.evaded || self.previous.paid_to_evade
    }

    /// Returns whether the seat may evade by token (rule 3.2).
    pub const fn may_evade_by_token(&self) -> bool {
        let PreviousTurn { retreated, confronted, .. } = self.previous;
        self.evade_token && !retreated && !confronted && !self.has_evaded()
    }

    /// Resets the record of the previous turn at the end of a turn.
    pub(super) fn begin_previous(&mut self) -> &mut PreviousTurn {
        self.previous = PreviousTurn::default();
        &mut self.previous
    }
}

impl Payments {
    pub fn total(&self) -> u8 {
        let Self { buy_in, risk, buys, sells, exchanges, rates, evasion, answer, reserves } = *self;
        buy_in + risk + buys + sells + exchanges + rates + evasion + answer + reserves
    }

    /// Returns the lines of a settlement.
    pub(super) fn items(&self) -> Vec<Item> {
        let Self { buy_in, risk, buys, sells, exchanges, rates, evasion, answer, reserves } = *self;
        let lines = [
            ("buy_in", "1.6", buy_in),
            ("risk", "3.3", risk),
            ("buys", "3.4", buys),
            ("sells", "3.4", sells),
            ("exchanges", "3.4", exchanges),
            ("rates", "3.4", rates),
            ("evasion", "3.5", evasion),
            ("answer", "8.4", answer),
            ("reserves", "5.1", reserves),
        ];
        let paid = lines.into_iter().filter(|(.., chips)| *chips > 0);
        paid.map(|(name, rule, chips)| Item {
            name: name.into(),
            rule: rule.into(),
            counts: u32::from(chips),
        })
        .collect()
    }

    fn amount_mut(&mut self, purpose: PaymentPurpose) -> &mut u8 {
        match purpose {
            PaymentPurpose::BuyIn => &mut self.buy_in,
            PaymentPurpose::Risk => &mut self.risk,
            PaymentPurpose::Buys => &mut self.buys,
            PaymentPurpose::Sells => &mut self.sells,
            PaymentPurpose::Exchanges => &mut self.exchanges,
            PaymentPurpose::Rates => &mut self.rates,
            PaymentPurpose::Evasion => &mut self.evasion,
            PaymentPurpose::Answer => &mut self.answer,
            PaymentPurpose::Reserves => &mut self.reserves,
        }
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(chips: &u8) -> bool {
    *chips == 0
}
