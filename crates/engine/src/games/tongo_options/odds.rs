//! How good a hand is against hands that nobody has seen: estimated by some random hands out of the
//! cards that are not the own, each with the floor that serves it best. Which random hands they are
//! follows from the own hand and the question, so that the same view gives the same advice.

use crate::games::tongo_options::card::{Card, CardSet};
use crate::games::tongo_options::dice;
use crate::games::tongo_options::public::Public;
use crate::games::tongo_options::rules::{FLOORS, HAND_CARDS};
use crate::games::tongo_options::strength::{DiceCounts, Strength, best_floor};

/// Random hands for an estimate.
const SAMPLES: usize = 24;

/// An estimate of something certain.
pub(super) const CERTAIN: u32 = 1_000;

/// What a hand can be compared with.
pub(super) struct Odds {
    pub hand: CardSet,
    pub floors: [CardSet; FLOORS as usize],
    pub dice: DiceCounts,
    samples: [CardSet; SAMPLES],
    /// What each of them is worth on its best floor.
    bests: [Strength; SAMPLES],
}

impl Odds {
    pub(super) fn new(public: &Public, hand: CardSet) -> Self {
        let (floors, dice) = (public.up(), dice::counts(&public.dice));
        let samples = samples(hand, public.prompt);
        let bests = samples.map(|sample| best_floor(sample, &floors, &dice).1);
        Self { hand, floors, dice, samples, bests }
    }

    /// The own hand with one floor.
    pub(super) fn on(&self, floor: u8) -> Strength {
        Strength::of(self.hand, self.floors[usize::from(floor)], &self.dice)
    }

    /// The floor that serves the own hand best.
    pub(super) fn best(&self) -> (u8, Strength) {
        best_floor(self.hand, &self.floors, &self.dice)
    }

    /// In thousandths: that this beats so many others with their best floors.
    pub(super) fn beats(&self, strength: Strength, others: usize) -> u32 {
        let beaten = self.bests.iter().filter(|best| **best < strength).count();
        power(thousandths(beaten), others)
    }

    /// In thousandths: that this beats somebody who has only that floor, or is as good.
    pub(super) fn beats_on(&self, strength: Strength, floor: u8) -> u32 {
        let cards = self.floors[usize::from(floor)];
        let of = |sample: &CardSet| Strength::of(*sample, cards, &self.dice);
        thousandths(self.samples.iter().filter(|sample| of(sample) <= strength).count())
    }
}

fn thousandths(count: usize) -> u32 {
    u32::try_from(count * CERTAIN as usize / SAMPLES).expect("no more than all")
}

/// As often as all of them must happen.
fn power(chance: u32, times: usize) -> u32 {
    (0..times).fold(CERTAIN, |all, _| all * chance / CERTAIN)
}

/// Hands of cards that are not in this one.
fn samples(hand: CardSet, question: u32) -> [CardSet; SAMPLES] {
    let mut cards = [Card::default(); Card::COUNT as usize];
    let mut count = 0_usize;
    for card in CardSet::ALL.difference(hand).iter() {
        cards[count] = card;
        count += 1;
    }
    let mut state = hand.bits() ^ u64::from(question) << 48;
    core::array::from_fn(|_| {
        let mut sample = CardSet::EMPTY;
        let mut word = next_word(&mut state);
        for place in 0..usize::from(HAND_CARDS) {
            let left = count - place;
            let other = place + usize::from((word & 0xFFFF).to_le_bytes()[0]) % left;
            word >>= 16;
            cards.swap(place, other);
            sample = sample.with(cards[place]);
        }
        sample
    })
}

/// SplitMix64: nothing here must be fair.
fn next_word(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mixed = (*state ^ *state >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ mixed >> 31
}
