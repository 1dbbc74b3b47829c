//! The dice on the ring, with their values and places (rule 1.4).

use serde::{Deserialize, Serialize};

use crate::games::list::List;
use crate::games::tongo_options::rules::{DICE, PLACES};
use crate::games::tongo_options::strength::DiceCounts;

/// All dice of a game, in the order of rule 1.4.
pub type Dice = List<Die, { DICE.len() }>;

/// A die on the ring.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "TongoOptionsDie"))]
pub struct Die {
    pub value: u8,
    /// The place: 2k is on floor k, and 2k + 1 on the line between the floors k and k + 1.
    pub place: u8,
}

impl Die {
    /// Returns whether the die faces a floor. A die on a line faces the floors on both sides.
    pub const fn faces(self, floor: u8) -> bool {
        let on = 2 * floor;
        let before = (on + PLACES - 1) % PLACES;
        self.place == on || self.place == on + 1 || self.place == before
    }
}

/// Returns whether any die faces a floor.
pub fn has_die_facing(dice: &Dice, floor: u8) -> bool {
    dice.iter().any(|die| die.faces(floor))
}

/// Returns the number of dice by value.
pub fn count_values(dice: &Dice) -> DiceCounts {
    dice.iter().map(|die| die.value).collect()
}

#[cfg(test)]
mod tests {
    use super::Die;
    use alloc::vec::Vec;

    #[test]
    fn a_die_on_a_line_faces_both_floors() {
        let faced = |place: u8| {
            let die = Die { value: 1, place };
            (0..8).filter(|floor| die.faces(*floor)).collect::<Vec<u8>>()
        };
        assert_eq!(faced(0), [0]);
        assert_eq!(faced(1), [0, 1]);
        assert_eq!(faced(14), [7]);
        assert_eq!(faced(15), [0, 7]);
    }
}
