//! Finished games: records, steps, analysis and fairness; and an order for the cards of a hand.

pub(crate) mod analysis;
pub(crate) mod fairness;
pub(crate) mod game_steps;
pub(crate) mod hand_sorting;
pub(crate) mod records;
