//! The public state of a seat: its chips and token, its payments by purpose, and its previous turn
//! (rules 1.5, 3.2 and 8.3).

use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::game::{Item, is_default};

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

/// The purpose of a payment, given by the amount that it adds to.
pub(super) type PaymentPurpose = fn(&mut Payments) -> &mut u8;

/// The chips that a seat has paid into the pot, by purpose.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "TongoOptionsPaid"))]
pub struct Payments {
    #[serde(skip_serializing_if = "is_default")]
    pub buy_in: u8,
    #[serde(skip_serializing_if = "is_default")]
    pub risk: u8,
    #[serde(skip_serializing_if = "is_default")]
    pub buys: u8,
    #[serde(skip_serializing_if = "is_default")]
    pub sells: u8,
    #[serde(skip_serializing_if = "is_default")]
    pub exchanges: u8,
    #[serde(skip_serializing_if = "is_default")]
    pub rates: u8,
    #[serde(skip_serializing_if = "is_default")]
    pub evasion: u8,
    #[serde(skip_serializing_if = "is_default")]
    pub answer: u8,
    #[serde(skip_serializing_if = "is_default")]
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
        *purpose(&mut self.paid) += chips;
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
        self.lines().into_iter().map(|(.., chips)| chips).sum()
    }

    /// Returns the lines of a settlement.
    pub(super) fn items(&self) -> Vec<Item> {
        let paid = self.lines().into_iter().filter(|(.., chips)| *chips > 0);
        paid.map(|(name, rule, chips)| Item {
            name: name.into(),
            rule: rule.into(),
            counts: chips.into(),
        })
        .collect()
    }

    /// Returns every amount with its name and its rule (rule 8.3).
    fn lines(&self) -> [(&'static str, &'static str, u8); 9] {
        let Self { buy_in, risk, buys, sells, exchanges, rates, evasion, answer, reserves } = *self;
        [
            ("buy_in", "1.6", buy_in),
            ("risk", "3.3", risk),
            ("buys", "3.4", buys),
            ("sells", "3.4", sells),
            ("exchanges", "3.4", exchanges),
            ("rates", "3.4", rates),
            ("evasion", "3.5", evasion),
            ("answer", "8.4", answer),
            ("reserves", "5.1", reserves),
        ]
    }
}
