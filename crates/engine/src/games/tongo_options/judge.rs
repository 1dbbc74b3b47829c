//! How good a hand is against hands that nobody has seen, counted over more of them than
//! [`super::odds`] takes, and floor by floor: so that what becomes of it when a floor shows other
//! cards is found without counting all floors anew.
//!
//! Which hands they are follows from the own hand and the question, so that the same view gives the
//! same answers.

use alloc::vec::Vec;

use crate::games::tongo_options::card::{Card, CardSet};
use crate::games::tongo_options::dice;
use crate::games::tongo_options::odds::{CERTAIN, Up, below, next_word, power};
use crate::games::tongo_options::public::{Floors, Public};
use crate::games::tongo_options::rules::{FLOORS, HAND_CARDS, Rules, SLOTS};
use crate::games::tongo_options::strength::{DiceCounts, Strength, best_floor};

/// Random hands.
const HANDS: usize = 128;

/// Cards turned up for an estimate.
const TRIES: usize = 8;

/// Rolls of the dice for an estimate.
const ROLLS: u32 = 8;

/// Draws of other cards for an estimate.
const DRAWS: usize = 32;

/// Ways in which others may change the floors and the dice before the hands are shown.
const WAYS: usize = 4;

/// Of 256 turns of another: those that turn a card up, that turn one down, that roll.
const TURNS_UP: u8 = 150;
const TURNS_DOWN: u8 = 128;
const ROLLS_THEM: u8 = 64;

/// A hand in the order in which its cards are drawn.
type Drawn = [Card; HAND_CARDS as usize];

/// What a hand can be compared with.
pub(super) struct Judge<'a> {
    rules: &'a Rules,
    hand: CardSet,
    pub(super) floors: Up,
    dice: DiceCounts,
    /// How many others it must beat.
    others: usize,
    /// The options cards that lie face down and are not remembered.
    unseen: Vec<Card>,
    drawn: [Drawn; HANDS],
    hands: [CardSet; HANDS],
    /// What each of them is worth on each floor.
    worth: [[Strength; FLOORS as usize]; HANDS],
    state: u64,
}

/// The best of all floors but one: of the own hand, and of each other.
pub(super) struct Elsewhere {
    own: Strength,
    others: [Strength; HANDS],
}

impl<'a> Judge<'a> {
    pub(super) fn new(public: &'a Public, known: &Floors, hand: CardSet, others: usize) -> Self {
        let (floors, dice) = (public.up(), dice::counts(&public.dice));
        let up = floors.iter().fold(CardSet::EMPTY, |all, cards| all.union(*cards));
        let seen = known.iter().flatten().flatten().fold(up, |all, card| all.with(*card));
        let unseen = CardSet::ALL.difference(seen).iter().collect();
        let mut state = hand.bits() ^ u64::from(public.prompt) << 48;
        let drawn = draw(hand, &mut state);
        let hands = drawn.map(|cards| cards.into_iter().collect());
        let worth = hands.map(|hand| floors.map(|floor| Strength::of(hand, floor, &dice)));
        Self {
            rules: &public.rules,
            hand,
            floors,
            dice,
            others,
            unseen,
            drawn,
            hands,
            worth,
            state,
        }
    }

    fn chance(&self, beaten: usize) -> u32 {
        let one = u32::try_from(beaten * CERTAIN as usize / HANDS).expect("no more than all");
        power(one, self.others)
    }

    /// In thousandths: that this beats all others with their best floors.
    fn beats(&self, own: Strength) -> u32 {
        let is_beaten = |worth: &&[Strength; FLOORS as usize]| worth.iter().all(|one| *one < own);
        self.chance(self.worth.iter().filter(is_beaten).count())
    }

    /// That the hand wins with its best floor.
    pub(super) fn wins(&self) -> u32 {
        self.beats(best_floor(self.hand, &self.floors, &self.dice).1)
    }

    /// That the hand wins with this floor.
    pub(super) fn wins_on(&self, floor: u8) -> u32 {
        self.beats(Strength::of(self.hand, self.floors[usize::from(floor)], &self.dice))
    }

    pub(super) fn elsewhere(&self, floor: u8) -> Elsewhere {
        let mut floors = self.floors;
        floors[usize::from(floor)] = CardSet::EMPTY;
        let best = |worth: &[Strength; FLOORS as usize]| {
            let others = (0..FLOORS).zip(worth).filter(|(number, _)| *number != floor);
            others.map(|(_, strength)| *strength).max().unwrap_or_default()
        };
        let own = best_floor(self.hand, &floors, &self.dice).1;
        Elsewhere { own, others: self.worth.each_ref().map(best) }
    }

    /// That the hand wins once the floor shows other cards.
    pub(super) fn wins_with(&self, elsewhere: &Elsewhere, cards: CardSet) -> u32 {
        let own = elsewhere.own.max(Strength::of(self.hand, cards, &self.dice));
        let is_beaten = |(hand, best): &(&CardSet, &Strength)| {
            **best < own && Strength::of(**hand, cards, &self.dice) < own
        };
        self.chance(self.hands.iter().zip(&elsewhere.others).filter(is_beaten).count())
    }

    /// That the hand wins once the best of these cards is turned down, if that is better than none.
    pub(super) fn wins_by_sale(&self, elsewhere: &Elsewhere, cards: CardSet, now: u32) -> u32 {
        let without = cards.iter().map(|card| self.wins_with(elsewhere, cards.without(card)));
        without.fold(now, u32::max)
    }

    /// That the hand wins once this card is turned up there; where `sells`, and the best is turned
    /// down after that.
    pub(super) fn wins_by_known(
        &self,
        elsewhere: &Elsewhere,
        floor: u8,
        card: Card,
        sells: bool,
    ) -> u32 {
        let cards = self.floors[usize::from(floor)].with(card);
        let now = self.wins_with(elsewhere, cards);
        if sells { self.wins_by_sale(elsewhere, cards, now) } else { now }
    }

    /// The same for a card which may be any that was not seen.
    pub(super) fn wins_by_buy(&mut self, elsewhere: &Elsewhere, floor: u8, sells: bool) -> u32 {
        let mut unseen = self.unseen.clone();
        let count = unseen.len().min(TRIES);
        let sum: u32 = (0..count)
            .map(|_| {
                let place = below(next_word(&mut self.state), small(unseen.len()));
                self.wins_by_known(elsewhere, floor, unseen.swap_remove(place.into()), sells)
            })
            .sum();
        sum / u32::from(small(count)).max(1)
    }

    /// That the hand wins once the dice are rolled.
    pub(super) fn wins_by_roll(&mut self) -> u32 {
        let roll = |_| {
            let dice = roll(self.rules, &mut self.state);
            let own = best_floor(self.hand, &self.floors, &dice).1;
            let is_beaten = |hand: &&CardSet| {
                self.floors.iter().all(|floor| Strength::of(**hand, *floor, &dice) < own)
            };
            self.chance(self.hands.iter().filter(is_beaten).count())
        };
        (0..ROLLS).map(roll).sum::<u32>() / ROLLS
    }

    /// The cards of the hand that are best given away for others, if that is better than to keep
    /// them all: after what others may do before the hands are shown.
    pub(super) fn best_discards(&mut self) -> CardSet {
        let ways: [Way; WAYS] = core::array::from_fn(|_| self.way());
        let wins = |hand: CardSet| -> u32 {
            let in_way = |way: &Way| {
                let own = best_floor(hand, &way.floors, &way.dice).1;
                self.chance(way.bests.partition_point(|best| *best < own))
            };
            ways.iter().map(in_way).sum()
        };
        let draws = u32::try_from(DRAWS).expect("a small number");
        let mut best = (CardSet::EMPTY, wins(self.hand) * draws);
        for set in 1_u8..1 << HAND_CARDS {
            let chosen = (0..).zip(self.hand.iter()).filter(|(place, _)| set >> place & 1 == 1);
            let discards: CardSet = chosen.map(|(_, card)| card).collect();
            let kept = self.hand.difference(discards);
            let with = |cards: &Drawn| {
                wins(cards.iter().take(discards.len()).fold(kept, |hand, card| hand.with(*card)))
            };
            let sum = self.drawn.iter().take(DRAWS).map(with).sum();
            if sum > best.1 {
                best = (discards, sum);
            }
        }
        best.0
    }

    /// What another may do to the floors and the dice.
    fn way(&mut self) -> Way {
        let [floor, up, down, rolled, one, other, ..] = next_word(&mut self.state).to_le_bytes();
        let (mut floors, mut dice) = (self.floors, self.dice);
        let cards = &mut floors[usize::from(floor % FLOORS)];
        if up < TURNS_UP && cards.len() < usize::from(SLOTS) {
            let card = self.unseen.get(usize::from(one) % self.unseen.len().max(1));
            *cards = card.map_or(*cards, |card| cards.with(*card));
        }
        if down < TURNS_DOWN && !cards.is_empty() {
            let card = cards.iter().nth(usize::from(other) % cards.len());
            *cards = card.map_or(*cards, |card| cards.without(card));
        }
        if rolled < ROLLS_THEM {
            dice = roll(self.rules, &mut self.state);
        }
        let mut bests = self.hands.map(|hand| best_floor(hand, &floors, &dice).1);
        bests.sort_unstable();
        Way { floors, dice, bests }
    }
}

/// Floors and dice as they may be, and how good the best floor of each random hand is there, the
/// lowest first.
struct Way {
    floors: Up,
    dice: DiceCounts,
    bests: [Strength; HANDS],
}

/// Hands of cards that are not in this one.
fn draw(hand: CardSet, state: &mut u64) -> [Drawn; HANDS] {
    let mut cards: Vec<Card> = CardSet::ALL.difference(hand).iter().collect();
    core::array::from_fn(|_| {
        for place in 0..HAND_CARDS {
            let other = place + below(next_word(state), small(cards.len()) - place);
            cards.swap(usize::from(place), usize::from(other));
        }
        core::array::from_fn(|place| cards[place])
    })
}

/// What the dice show once they are rolled.
fn roll(rules: &Rules, state: &mut u64) -> DiceCounts {
    let fall = |(lowest, sides): &(u8, u8)| lowest + below(next_word(state), *sides);
    rules.dice().iter().map(fall).collect()
}

fn small(count: usize) -> u8 {
    u8::try_from(count).expect("a deck has 48 cards")
}
