//! The chance of a hand against unknown hands, estimated by random hands from the other cards, each
//! with its best floor. The sample follows from the own hand and the prompt, so the same view gives
//! the same result.

use bahay_engine::games::tongo_options::analysis::count_values;
use bahay_engine::games::tongo_options::{
    Card, CardSet, Dice, DiceCounts, Die, FLOORS, HAND_CARDS, PLACES, PublicState, Strength,
    best_floor,
};

/// The number of random hands for an estimate.
const SAMPLES: usize = 48;

/// The number of rolls of the dice for an estimate.
const ROLLS: u32 = 6;

/// The number of cards turned up, or of draws, for an estimate.
const TRIES: usize = 6;

/// A certain chance, in thousandths.
pub(super) const CERTAIN: u32 = 1_000;

/// The face-up cards of each floor.
pub(super) type FaceUpCards = [CardSet; FLOORS as usize];

/// The sample with which a hand is compared.
pub(super) struct Odds {
    pub hand: CardSet,
    pub floors: FaceUpCards,
    dice: DiceCounts,
    samples: [CardSet; SAMPLES],
    /// The best floor of each random hand, with its strength there.
    bests: [(u8, Strength); SAMPLES],
    state: u64,
}

impl Odds {
    pub(super) fn new(public: &PublicState, hand: CardSet) -> Self {
        let floors = public.face_up_cards();
        let dice = count_values(&public.dice);
        let mut state = hand.bits() ^ u64::from(public.prompt) << 48;
        let samples = sample_hands(hand, &mut state);
        let bests = samples.map(|sample| best_floor(sample, &floors, &dice));
        Self { hand, floors, dice, samples, bests, state }
    }

    /// Returns the strength of the own hand with one floor.
    pub(super) fn strength_on(&self, floor: u8) -> Strength {
        Strength::from_hand(self.hand, self.floors[usize::from(floor)], &self.dice)
    }

    /// Returns the best floor of the own hand, with its strength there.
    pub(super) fn best_floor(&self) -> (u8, Strength) {
        best_floor(self.hand, &self.floors, &self.dice)
    }

    /// Returns the chance that this strength beats `others` opponents with their best floors, in
    /// thousandths.
    pub(super) fn chance_to_beat(&self, strength: Strength, others: usize) -> u32 {
        let beaten = self.bests.iter().filter(|(_, best)| *best < strength).count();
        repeated_chance(to_thousandths(beaten), others)
    }

    /// Returns the chance that this strength beats or equals an opponent who has only that floor,
    /// in thousandths.
    pub(super) fn chance_to_beat_on(&self, strength: Strength, floor: u8) -> u32 {
        let cards = self.floors[usize::from(floor)];
        let of = |sample: &CardSet| Strength::from_hand(*sample, cards, &self.dice);
        to_thousandths(self.samples.iter().filter(|sample| of(sample) <= strength).count())
    }

    /// Returns the chance that the own hand beats `others` opponents after a floor shows these
    /// cards.
    pub(super) fn chance_with_floor(&self, floor: u8, cards: CardSet, others: usize) -> u32 {
        let mut floors = self.floors;
        floors[usize::from(floor)] = cards;
        let (_, own) = best_floor(self.hand, &floors, &self.dice);
        let best = |(sample, (best, strength)): (&CardSet, &(u8, Strength))| {
            let there = Strength::from_hand(*sample, cards, &self.dice);
            if *best == floor {
                best_floor(*sample, &floors, &self.dice).1
            } else {
                there.max(*strength)
            }
        };
        let bests = self.samples.iter().zip(&self.bests).map(best);
        repeated_chance(to_thousandths(bests.filter(|best| *best < own).count()), others)
    }

    /// Returns the chance that the own hand beats `others` opponents after an unseen card of a
    /// floor is turned up, averaged over the cards. Each card counts at least `least`, the chance
    /// without it, if it can be turned down again.
    pub(super) fn chance_after_buy(&self, floor: u8, others: usize, least: u32) -> u32 {
        let seen = self.floors.iter().fold(CardSet::EMPTY, |all, cards| all.union(*cards));
        let cards = self.samples.iter().filter_map(|sample| sample.difference(seen).first());
        let mut sum = 0_u32;
        let mut count = 0_u32;
        for card in cards.take(TRIES) {
            let up = self.floors[usize::from(floor)].with(card);
            sum += self.chance_with_floor(floor, up, others).max(least);
            count += 1;
        }
        sum.checked_div(count).unwrap_or(0)
    }

    /// Returns the hand cards that are best replaced, empty if it is best to keep all, with the
    /// resulting chance of beating `others` opponents.
    pub(super) fn best_discards(&self, others: usize) -> (CardSet, u32) {
        let mut best = (CardSet::EMPTY, self.chance_to_beat(self.best_floor().1, others));
        for discards in discard_choices(self.hand) {
            let kept = self.hand.difference(discards);
            let drawn = |sample: &CardSet| {
                let new = kept.union(sample.iter().take(discards.len()).collect());
                self.chance_to_beat(best_floor(new, &self.floors, &self.dice).1, others)
            };
            let tried = self.samples.iter().take(TRIES).map(drawn).sum::<u32>();
            let wins = tried / u32::try_from(TRIES).expect("a small number");
            if wins > best.1 {
                best = (discards, wins);
            }
        }
        best
    }

    /// Returns the chance that the own hand beats `others` opponents after a roll of the dice.
    pub(super) fn chance_after_roll(&self, public: &PublicState, others: usize) -> u32 {
        let mut state = self.state;
        let mut roll = || {
            let fall = |(lowest, sides): &(u8, u8)| Die {
                value: lowest + below(next_word(&mut state), *sides),
                place: below(next_word(&mut state), PLACES),
            };
            let dice: Dice = public.rules.dice().iter().map(fall).collect();
            let dice = count_values(&dice);
            let (_, own) = best_floor(self.hand, &self.floors, &dice);
            let beaten = |sample: &&CardSet| best_floor(**sample, &self.floors, &dice).1 < own;
            repeated_chance(to_thousandths(self.samples.iter().filter(beaten).count()), others)
        };
        (0..ROLLS).map(|_| roll()).sum::<u32>() / ROLLS
    }
}

/// Returns all choices of one or more cards of a hand.
pub(super) fn discard_choices(hand: CardSet) -> impl Iterator<Item = CardSet> {
    (1_u8..1 << HAND_CARDS).map(move |set| {
        let chosen = (0..).zip(hand.iter()).filter(|(place, _)| set >> place & 1 == 1);
        chosen.map(|(_, card)| card).collect()
    })
}

fn to_thousandths(count: usize) -> u32 {
    u32::try_from(count * CERTAIN as usize / SAMPLES).expect("no more than all")
}

/// Returns the chance that an event happens `times` times in a row.
pub(super) fn repeated_chance(chance: u32, times: usize) -> u32 {
    (0..times).fold(CERTAIN, |all, _| all * chance / CERTAIN)
}

/// Draws random hands from the cards outside this one.
fn sample_hands(hand: CardSet, state: &mut u64) -> [CardSet; SAMPLES] {
    let mut cards = [Card::default(); Card::COUNT as usize];
    let mut count = 0_u8;
    for card in CardSet::ALL.difference(hand).iter() {
        cards[usize::from(count)] = card;
        count += 1;
    }
    core::array::from_fn(|_| {
        let mut sample = CardSet::EMPTY;
        let mut word = next_word(state);
        for place in 0..HAND_CARDS {
            let other = place + below(word, count - place);
            word >>= 16;
            cards.swap(usize::from(place), usize::from(other));
            sample = sample.with(cards[usize::from(place)]);
        }
        sample
    })
}

/// Returns a number below `n` from a byte of the word; the bias is harmless here.
pub(super) fn below(word: u64, n: u8) -> u8 {
    word.to_le_bytes()[0] % n
}

/// Advances a SplitMix64 generator, which suffices because nothing here must be fair.
pub(super) fn next_word(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mixed = (*state ^ *state >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ mixed >> 31
}
