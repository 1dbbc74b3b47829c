//! Finished games: records, steps, analysis and fairness; and an order for the cards of a hand.

pub(super) mod analysis;
pub(super) mod fairness;
pub(crate) mod game_steps;
pub(super) mod hand_sorting;
pub(crate) mod records;
