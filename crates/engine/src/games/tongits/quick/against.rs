//! The larger networks with what they are told beside a view: what the others are taken for, what a
//! win is worth, and how the suits are exchanged before they look.

use alloc::vec::Vec;
use core::ptr;

use crate::game::Skill;
use crate::games::tongits::quick::considered::{Judge, Question};
use crate::games::tongits::quick::heard::Heard;
use crate::games::tongits::quick::inputs::Sight;
use crate::games::tongits::quick::large::{FEW, FEW_FROM, Large, OUTPUTS, Place};
use crate::games::tongits::quick::network::INPUTS;
use crate::games::tongits::quick::suits::Suits;
use crate::games::tongits::quick::sums::ONE;
use crate::games::tongits::rules::SEATS;
use crate::seat::Seat;

/// Four counts are one, as what comes out.
const COUNTS_PER_ONE: i64 = 4;

/// Inputs that say what the next and the previous seat are taken for: none of a seat's view are there.
const OF_OTHERS: [usize; 2] = [INPUTS - 3, INPUTS - 2];

/// Networks with what they are told beside a view.
#[derive(Clone, Copy, Debug)]
pub struct Against<'a> {
    /// Each learned by itself; what they say is the mean.
    pub networks: &'a [Large],
    /// What the next and the previous seat are taken for, as far as is known.
    pub others: [Option<Skill>; 2],
    /// What a win is worth beside its counts, in counts.
    pub win_counts: i64,
    /// How the suits are exchanged before they look.
    pub suits: Suits,
}

impl<'a> Against<'a> {
    /// The chance of a win and the counts, four of which are one, in parts of which
    /// [`WEIGHT_ONE`](crate::games::tongits::quick::sums::WEIGHT_ONE) times [`ONE`] make one: the
    /// mean of all networks.
    pub fn outputs(&self, place: &Place, memory: &mut Vec<Heard<'a>>) -> [i64; OUTPUTS] {
        if memory.is_empty() {
            memory.extend(self.networks.iter().map(Heard::nothing));
        }
        let heard = memory.iter().map(Heard::network).zip(self.networks);
        debug_assert!(
            heard.fold(true, |all, (one, own)| all && ptr::eq(one, own)),
            "it is of others"
        );
        let mut sums = [0; OUTPUTS];
        for network in memory {
            for (sum, output) in sums.iter_mut().zip(network.outputs(place)) {
                *sum += output;
            }
        }
        let count = i64::try_from(self.networks.len()).expect("few networks");
        sums.map(|sum| sum / count)
    }
}

impl<'a> Judge for Against<'a> {
    type Place = Place;
    type Memory = Vec<Heard<'a>>;

    fn place(&self, question: Question, sight: &Sight<'_>) -> Place {
        let seat = sight.seat;
        let cards = |seat: Seat| usize::from(sight.public.hand_counts[seat.index()]);
        let counts = [
            usize::from(sight.public.stock_count),
            cards(seat.next(SEATS)),
            cards(seat.previous(SEATS)),
            sight.hand.len(),
            question.index(),
        ];
        let mut few = [0; FEW];
        for (place, count) in counts.into_iter().enumerate() {
            let (from, end) = (FEW_FROM[place], FEW_FROM[place + 1]);
            few[place] = u8::try_from((from + count).min(end - 1)).expect("few values");
        }
        let (mut inputs, sets) = sight.seen();
        debug_assert_eq!(OF_OTHERS.map(|place| inputs[place]), [0; 2], "a view needs these inputs");
        for (place, other) in OF_OTHERS.into_iter().zip(self.others) {
            inputs[place] = match other {
                Some(Skill::Greedy) => ONE,
                Some(Skill::Quick) => -ONE,
                None => 0,
            };
        }
        Place { inputs, few, sets }.exchanged(self.suits)
    }

    fn worth(&self, place: &Place, memory: &mut Self::Memory) -> i64 {
        let [win, counts] = self.outputs(place, memory);
        counts + win * self.win_counts / COUNTS_PER_ONE
    }
}

#[cfg(test)]
mod tests {
    use super::{Against, Judge as _, Large, ONE, Place, Suits, Vec};
    use crate::games::tongits::quick::large::LARGE_WEIGHTS;
    use crate::games::tongits::quick::sums::WEIGHT_ONE;

    #[test]
    fn networks_together_say_the_mean() {
        let one = i64::from(ONE) * i64::from(WEIGHT_ONE);
        let mut networks = [[0; LARGE_WEIGHTS]; 2];
        // The one is sure of a win, and the other of eight counts.
        networks[0][LARGE_WEIGHTS - 2] = WEIGHT_ONE;
        networks[1][LARGE_WEIGHTS - 1] = 2 * WEIGHT_ONE;
        let networks = networks.map(|weights| Large::of(&weights).unwrap());
        let (others, suits) = ([None; 2], Suits::KEPT);
        let judge = Against { networks: &networks, others, win_counts: 8, suits };
        let place = Place::nothing();
        let mut memory = Vec::new();
        assert_eq!(judge.outputs(&place, &mut memory), [one / 2, one]);
        // A win is worth eight counts, of which four are one.
        assert_eq!(judge.worth(&place, &mut memory), 2 * one);
    }
}
