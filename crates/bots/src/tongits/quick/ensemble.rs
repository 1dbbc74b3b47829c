//! A judge that averages the large networks. Beside the view it takes the skills ascribed to the
//! opponents, the value of a win, and a permutation of the suits.

use alloc::vec::Vec;
use core::ptr;

use bahay_engine::game::Skill;
use bahay_engine::games::tongits::SEATS;
use bahay_engine::seat::Seat;

use crate::tongits::quick::accumulator::Accumulator;
use crate::tongits::quick::candidates::{DecisionKind, Judge};
use crate::tongits::quick::inputs::{INPUTS, SeatPosition};
use crate::tongits::quick::large::{
    CATEGORIES, CATEGORY_FROM, LargeNetwork, NetworkPosition, OUTPUTS,
};
use crate::tongits::quick::suits::SuitPermutation;
use crate::tongits::quick::sums::ONE;

/// The number of counts that an output of one stands for.
const COUNTS_PER_ONE: i64 = 4;

/// The inputs for the skills of the next and the previous seat, which no view fills.
const OPPONENT_INPUTS: [usize; 2] = [INPUTS - 3, INPUTS - 2];

/// An ensemble of networks with its parameters.
#[derive(Clone, Copy, Debug)]
pub struct EnsembleJudge<'a> {
    /// The networks, trained independently; their outputs are averaged.
    pub networks: &'a [LargeNetwork],
    /// The skills of the next and the previous seat, as far as known.
    pub others: [Option<Skill>; 2],
    /// The value of a win beyond its counts, in counts.
    pub win_counts: i64,
    /// The permutation of the suits applied before the evaluation.
    pub suits: SuitPermutation,
}

impl<'a> EnsembleJudge<'a> {
    /// Returns the probability of a win and the counts divided by [`COUNTS_PER_ONE`], averaged over
    /// the networks, in units of 1 /
    /// ([`WEIGHT_ONE`](crate::tongits::quick::sums::WEIGHT_ONE) × [`ONE`]).
    pub fn outputs(
        &self,
        position: &NetworkPosition,
        memory: &mut Vec<Accumulator<'a>>,
    ) -> [i64; OUTPUTS] {
        if memory.is_empty() {
            memory.extend(self.networks.iter().map(Accumulator::new));
        }
        let heard = memory.iter().map(Accumulator::network).zip(self.networks);
        debug_assert!(
            heard.fold(true, |all, (one, own)| all && ptr::eq(one, own)),
            "the accumulators belong to other networks"
        );
        let mut sums = [0; OUTPUTS];
        for network in memory {
            for (sum, output) in sums.iter_mut().zip(network.outputs(position)) {
                *sum += output;
            }
        }
        let count = i64::try_from(self.networks.len()).expect("there are few networks");
        sums.map(|sum| sum / count)
    }
}

impl<'a> Judge for EnsembleJudge<'a> {
    type Position = NetworkPosition;
    type Memory = Vec<Accumulator<'a>>;

    fn encode_position(&self, kind: DecisionKind, position: &SeatPosition<'_>) -> NetworkPosition {
        let seat = position.seat;
        let cards = |seat: Seat| usize::from(position.public.hand_counts[seat.index()]);
        let counts = [
            usize::from(position.public.stock_count),
            cards(seat.next(SEATS)),
            cards(seat.previous(SEATS)),
            position.hand.len(),
            kind.index(),
        ];
        let mut categories = [0; CATEGORIES];
        for (place, count) in counts.into_iter().enumerate() {
            let from = CATEGORY_FROM[place];
            let end = CATEGORY_FROM[place + 1];
            categories[place] =
                u8::try_from((from + count).min(end - 1)).expect("a category index fits a byte");
        }
        let (mut inputs, sets) = position.encode();
        debug_assert_eq!(
            OPPONENT_INPUTS.map(|place| inputs[place]),
            [0; 2],
            "a feature occupies an opponent input"
        );
        for (place, other) in OPPONENT_INPUTS.into_iter().zip(self.others) {
            inputs[place] = match other {
                Some(Skill::Greedy) => ONE,
                Some(Skill::Quick) => -ONE,
                None => 0,
            };
        }
        NetworkPosition { inputs, categories, sets }.permute_suits(self.suits)
    }

    fn evaluate(&self, position: &NetworkPosition, memory: &mut Self::Memory) -> i64 {
        let [win, counts] = self.outputs(position, memory);
        counts + win * self.win_counts / COUNTS_PER_ONE
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec;

    use super::{
        EnsembleJudge, Judge as _, LargeNetwork, NetworkPosition, ONE, SuitPermutation, Vec,
    };
    use crate::tongits::quick::large::LARGE_WEIGHTS;
    use crate::tongits::quick::sums::WEIGHT_ONE;

    #[test]
    fn an_ensemble_averages_its_networks() {
        let one = i64::from(ONE) * i64::from(WEIGHT_ONE);
        // One network predicts a certain win, the other one eight counts.
        let outputs = [(2, WEIGHT_ONE), (1, 2 * WEIGHT_ONE)];
        // Networks are too large for the stack of a test.
        let networks: Vec<LargeNetwork> = outputs
            .into_iter()
            .map(|(from_end, weight)| {
                let mut weights = vec![0; LARGE_WEIGHTS];
                weights[LARGE_WEIGHTS - from_end] = weight;
                LargeNetwork::from_weights(&weights).unwrap()
            })
            .collect();
        let others = [None; 2];
        let suits = SuitPermutation::IDENTITY;
        let judge = EnsembleJudge { networks: &networks, others, win_counts: 8, suits };
        let position = NetworkPosition::empty();
        let mut memory = Vec::new();
        assert_eq!(judge.outputs(&position, &mut memory), [one / 2, one]);
        // A win is worth eight counts, and four counts are one.
        assert_eq!(judge.evaluate(&position, &mut memory), 2 * one);
    }
}
