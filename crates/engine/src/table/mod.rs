//! A table: seats around one game after another.

mod id;
mod settlement;

pub use id::{GameId, PlayerId, TableId};
pub use settlement::{Fee, Payment, PotPayout, Price, Settlement};
