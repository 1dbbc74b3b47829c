//! The chance of a hand against random hands, with a larger sample than [`super::odds`] and by
//! floor, so that a change of one floor is evaluated without counting all floors again.
//!
//! The sample follows from the own hand and the prompt, so the same view gives the same result.
//!
//! Most random hands need no evaluation of their own: the hands that hold a card or a number are
//! kept as sets, as are those that can match the own hand's strength with a floor at all.

use alloc::vec::Vec;

use bahay_engine::games::tongo_options::analysis::count_values;
use bahay_engine::games::tongo_options::{
    Card, CardSet, Class, DiceCounts, FLOORS, Floors, HAND_CARDS, PublicState, Rules, SLOTS,
    Strength, best_floor,
};

use crate::tongo_options::hands::{ALL, HANDS, Hands, Holders, for_each_index, weaker_hands};
use crate::tongo_options::odds::{
    CERTAIN, FaceUpCards, below, discard_choices, next_word, repeated_chance,
};

/// The number of cards turned up for an estimate.
const TRIES: usize = 8;

/// The number of rolls of the dice for an estimate.
const ROLLS: u32 = 8;

/// The number of draws of other cards for an estimate.
const DRAWS: usize = 32;

/// The number of scenarios for what others do to the floors and the dice before the hands are
/// shown.
const SCENARIOS: usize = 4;

/// The number of turns of an opponent, of 256, in which it turns a card up, turns one down, and
/// rolls.
const TURNS_UP: u8 = 150;
const TURNS_DOWN: u8 = 128;
const ROLLS_THEM: u8 = 64;

/// A hand in the order in which its cards are drawn.
type DrawnHand = [Card; HAND_CARDS as usize];

/// The sample with which a hand is compared.
pub(super) struct Judge<'a> {
    rules: &'a Rules,
    hand: CardSet,
    pub(super) floors: FaceUpCards,
    dice: DiceCounts,
    /// The number of opponents.
    others: usize,
    /// The face-down options cards that are not remembered.
    unseen: Vec<Card>,
    drawn: [DrawnHand; HANDS],
    hands: [CardSet; HANDS],
    /// The sets of random hands by the cards and numbers that they hold.
    holders: Holders,
    /// The strength of each random hand on each floor.
    worth: [[Strength; HANDS]; FLOORS as usize],
    state: u64,
}

/// The best strength on all floors but one, of the own hand and of each random hand.
pub(super) struct OtherFloors {
    own: Strength,
    others: [Strength; HANDS],
    /// The random hands that are weaker than the own hand there.
    weaker: Hands,
}

impl<'a> Judge<'a> {
    pub(super) fn new(
        public: &'a PublicState,
        known: &Floors,
        hand: CardSet,
        others: usize,
    ) -> Self {
        let floors = public.face_up_cards();
        let dice = count_values(&public.dice);
        let up = floors.iter().fold(CardSet::EMPTY, |all, cards| all.union(*cards));
        let seen = known.iter().flatten().flatten().fold(up, |all, card| all.with(*card));
        let unseen = CardSet::ALL.difference(seen).iter().collect();
        let mut state = hand.bits() ^ u64::from(public.prompt) << 48;
        let drawn = draw_hands(hand, &mut state);
        let hands = drawn.map(|cards| cards.into_iter().collect());
        let holders = Holders::new(&hands);
        let worth = floors.map(|floor| strengths_on(&hands, &holders, floor, &dice));
        Self {
            rules: &public.rules,
            hand,
            floors,
            dice,
            others,
            unseen,
            drawn,
            hands,
            holders,
            worth,
            state,
        }
    }

    fn chance(&self, beaten: Hands) -> u32 {
        chance(beaten.count_ones(), self.others)
    }

    /// Returns the chance that a hand of this strength beats all opponents with their best floors,
    /// in thousandths.
    fn chance_with_strength(&self, own: Strength) -> u32 {
        let beaten = self.worth.iter().fold(ALL, |all, worth| all & weaker_hands(worth, own));
        self.chance(beaten)
    }

    /// Returns those of the hands that are weaker than `own` with a floor that shows these cards.
    fn beaten_hands(
        &self,
        among: Hands,
        floor: CardSet,
        dice: &DiceCounts,
        own: Strength,
    ) -> Hands {
        let Some(class) = own.class() else { return 0 };
        let mut beaten = among;
        for_each_index(among & self.holders.with_class(class, floor, dice), |hand| {
            if Strength::from_hand(self.hands[hand], floor, dice) >= own {
                beaten &= !(1 << hand);
            }
        });
        beaten
    }

    /// Returns the chance that the hand wins with its best floor.
    pub(super) fn win_chance(&self) -> u32 {
        self.chance_with_strength(best_floor(self.hand, &self.floors, &self.dice).1)
    }

    /// Returns the chance that the hand wins with this floor.
    pub(super) fn win_chance_on(&self, floor: u8) -> u32 {
        let floor = self.floors[usize::from(floor)];
        self.chance_with_strength(Strength::from_hand(self.hand, floor, &self.dice))
    }

    pub(super) fn other_floors(&self, floor: u8) -> OtherFloors {
        let mut floors = self.floors;
        floors[usize::from(floor)] = CardSet::EMPTY;
        let own = best_floor(self.hand, &floors, &self.dice).1;
        let mut others = [Strength::NOTHING; HANDS];
        for (_, worth) in (0..).zip(&self.worth).filter(|(number, _)| *number != floor) {
            for (best, strength) in others.iter_mut().zip(worth) {
                *best = (*best).max(*strength);
            }
        }
        OtherFloors { own, others, weaker: weaker_hands(&others, own) }
    }

    /// Returns the chance that the hand wins after the floor shows these cards.
    pub(super) fn win_chance_with_floor(&self, elsewhere: &OtherFloors, cards: CardSet) -> u32 {
        let there = Strength::from_hand(self.hand, cards, &self.dice);
        let (own, among) = if there > elsewhere.own {
            (there, weaker_hands(&elsewhere.others, there))
        } else {
            (elsewhere.own, elsewhere.weaker)
        };
        self.chance(self.beaten_hands(among, cards, &self.dice, own))
    }

    /// Returns the chance that the hand wins after the best of these cards is turned down, or `now`
    /// if that is higher.
    pub(super) fn win_chance_after_sale(
        &self,
        elsewhere: &OtherFloors,
        cards: CardSet,
        now: u32,
    ) -> u32 {
        let without =
            cards.iter().map(|card| self.win_chance_with_floor(elsewhere, cards.without(card)));
        without.fold(now, u32::max)
    }

    /// Returns the chance that the hand wins after this known card is turned up on the floor and,
    /// if `sells`, the best card is then turned down.
    pub(super) fn win_chance_after_known_buy(
        &self,
        elsewhere: &OtherFloors,
        floor: u8,
        card: Card,
        sells: bool,
    ) -> u32 {
        let cards = self.floors[usize::from(floor)].with(card);
        let now = self.win_chance_with_floor(elsewhere, cards);
        if sells { self.win_chance_after_sale(elsewhere, cards, now) } else { now }
    }

    /// Returns the chance that the hand wins after an unknown card is turned up on the floor,
    /// averaged over unseen cards.
    pub(super) fn win_chance_after_buy(
        &mut self,
        elsewhere: &OtherFloors,
        floor: u8,
        sells: bool,
    ) -> u32 {
        let mut unseen = self.unseen.clone();
        let count = unseen.len().min(TRIES);
        let cards = self.floors[usize::from(floor)];
        // The bought card itself can be turned down again.
        let least = if sells { self.win_chance_with_floor(elsewhere, cards) } else { 0 };
        let mut sum = 0;
        for _ in 0..count {
            let place = below(next_word(&mut self.state), to_u8(unseen.len()));
            let card = unseen.swap_remove(place.into());
            let now = self.win_chance_with_floor(elsewhere, cards.with(card)).max(least);
            let others = cards.iter().filter(|_| sells);
            let sales = others.map(|other| {
                self.win_chance_with_floor(elsewhere, cards.with(card).without(other))
            });
            sum += sales.fold(now, u32::max);
        }
        sum / u32::from(to_u8(count)).max(1)
    }

    /// Returns the chance that the hand wins after a roll of the dice.
    pub(super) fn win_chance_after_roll(&mut self) -> u32 {
        let roll = |_| {
            let dice = roll_dice(self.rules, &mut self.state);
            let own = best_floor(self.hand, &self.floors, &dice).1;
            let by_floor = |among, floor: &CardSet| self.beaten_hands(among, *floor, &dice, own);
            self.chance(self.floors.iter().fold(ALL, by_floor))
        };
        (0..ROLLS).map(roll).sum::<u32>() / ROLLS
    }

    /// Returns the hand cards that are best replaced, after the possible actions of others before
    /// the showdown; empty if it is best to keep all.
    pub(super) fn best_discards(&mut self) -> CardSet {
        let scenarios: [FloorScenario; SCENARIOS] =
            core::array::from_fn(|_| self.sample_scenario());
        let draws = u32::try_from(DRAWS).expect("a small number");
        let all = scenarios.each_ref().map(|scenario| scenario.evaluate_hand(self.hand).1);
        let mut best = (CardSet::EMPTY, all.iter().sum::<u32>() * draws);
        for discards in discard_choices(self.hand) {
            let kept = self.hand.difference(discards);
            let without = scenarios.each_ref().map(|scenario| scenario.evaluate_hand(kept));
            let mut sum = 0;
            let mut left = draws;
            for cards in &self.drawn[..DRAWS] {
                // The draw cannot win even if it wins all the remaining trials.
                if sum + left * CERTAIN * u32::from(to_u8(SCENARIOS)) <= best.1 {
                    break;
                }
                left -= 1;
                let drawn = cards.iter().take(discards.len()).copied().collect();
                let by_scenario = scenarios.iter().zip(without);
                sum += by_scenario
                    .map(|(scenario, judged)| scenario.win_chance_with_draw(kept, judged, drawn))
                    .sum::<u32>();
            }
            if sum > best.1 {
                best = (discards, sum);
            }
        }
        best.0
    }

    /// Samples the floors and the dice after an opponent's turn.
    fn sample_scenario(&mut self) -> FloorScenario {
        let [floor, up, down, rolled, one, other, ..] = next_word(&mut self.state).to_le_bytes();
        let mut floors = self.floors;
        let mut dice = self.dice;
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
            dice = roll_dice(self.rules, &mut self.state);
        }
        let mut bests = [Strength::NOTHING; HANDS];
        for (floor, (now, worth)) in floors.iter().zip(self.floors.iter().zip(&self.worth)) {
            if (floor, dice) == (now, self.dice) {
                bests.iter_mut().zip(worth).for_each(|(best, one)| *best = (*best).max(*one));
            } else {
                let other = strengths_on(&self.hands, &self.holders, *floor, &dice);
                bests.iter_mut().zip(other).for_each(|(best, one)| *best = (*best).max(one));
            }
        }
        bests.sort_unstable();
        FloorScenario { floors, dice, bests, others: self.others }
    }
}

/// Returns the strength of each hand on a floor.
fn strengths_on(
    hands: &[CardSet; HANDS],
    holders: &Holders,
    floor: CardSet,
    dice: &DiceCounts,
) -> [Strength; HANDS] {
    let mut worth = [Strength::NOTHING; HANDS];
    for_each_index(holders.with_class(Class::Pair, floor, dice), |hand| {
        worth[hand] = Strength::from_hand(hands[hand], floor, dice);
    });
    worth
}

/// Returns the chance, in thousandths, of winning against opponents that are each as strong as one
/// of the random hands.
fn chance(beaten: u32, others: usize) -> u32 {
    repeated_chance(beaten * CERTAIN / u32::try_from(HANDS).expect("a small number"), others)
}

/// A sampled state of the floors and the dice, with the strength of the best floor of each random
/// hand in ascending order.
struct FloorScenario {
    floors: FaceUpCards,
    dice: DiceCounts,
    bests: [Strength; HANDS],
    /// The number of opponents.
    others: usize,
}

impl FloorScenario {
    /// Returns the strength of a hand and its chance of winning.
    fn evaluate_hand(&self, hand: CardSet) -> (Strength, u32) {
        let own = best_floor(hand, &self.floors, &self.dice).1;
        (own, self.win_chance(own))
    }

    fn win_chance(&self, own: Strength) -> u32 {
        let beaten = self.bests.partition_point(|best| *best < own);
        chance(u32::try_from(beaten).expect("no more than all"), self.others)
    }

    /// Returns the chance of winning with the kept and the drawn cards, given the evaluation of the
    /// kept cards alone. More cards are never worse, and only floors with their numbers change.
    fn win_chance_with_draw(
        &self,
        kept: CardSet,
        (judged, wins): (Strength, u32),
        drawn: CardSet,
    ) -> u32 {
        let hand = kept.union(drawn);
        let numbers = drawn.numbers();
        let touched = self.floors.iter().filter(|floor| floor.numbers() & numbers != 0);
        let own = touched
            .fold(judged, |best, floor| best.max(Strength::from_hand(hand, *floor, &self.dice)));
        if own == judged { wins } else { self.win_chance(own) }
    }
}

/// Draws random hands from the cards outside this one.
fn draw_hands(hand: CardSet, state: &mut u64) -> [DrawnHand; HANDS] {
    let mut cards: Vec<Card> = CardSet::ALL.difference(hand).iter().collect();
    core::array::from_fn(|_| {
        for place in 0..HAND_CARDS {
            let other = place + below(next_word(state), to_u8(cards.len()) - place);
            cards.swap(usize::from(place), usize::from(other));
        }
        core::array::from_fn(|place| cards[place])
    })
}

/// Returns the values of the dice after a roll.
fn roll_dice(rules: &Rules, state: &mut u64) -> DiceCounts {
    let fall = |(lowest, sides): &(u8, u8)| lowest + below(next_word(state), *sides);
    rules.dice().iter().map(fall).collect()
}

fn to_u8(count: usize) -> u8 {
    u8::try_from(count).expect("a deck has 48 cards")
}

#[cfg(test)]
mod tests {
    use super::{DiceCounts, FaceUpCards, Judge, best_floor, chance};
    use bahay_engine::chance::ChanceRng;
    use bahay_engine::game::{Game, Turn, Viewer};
    use bahay_engine::games::tongo_options::{CardSet, Floors, Rules, TongoOptions};

    /// Returns the chance of the hand against two opponents, computed hand by hand.
    fn plain(judge: &Judge<'_>, hand: CardSet, floors: &FaceUpCards, dice: &DiceCounts) -> u32 {
        let own = best_floor(hand, floors, dice).1;
        let worse = |other: &&CardSet| best_floor(**other, floors, dice).1 < own;
        chance(u32::try_from(judge.hands.iter().filter(worse).count()).unwrap(), 2)
    }

    /// The evaluation by sets of hands equals the evaluation hand by hand.
    #[test]
    fn every_shortcut_counts_the_same() {
        let mut dice = ChanceRng::from_number(1);
        for place in 0..200 {
            let rules = Rules { dice_2d6: place % 2 == 0, ..Rules::lively() };
            let mut game = TongoOptions::new(&rules, 3, None);
            let mut events = alloc::vec![];
            let mut actions = alloc::vec![];
            for _ in 0..place {
                game = match game.turn() {
                    Turn::Over | Turn::Wait(_) => break,
                    Turn::Chance(request) => game.resolve(&dice.draw(request), &mut events),
                    Turn::Players(prompt) => {
                        let seat = prompt.seats.iter().next().unwrap();
                        actions.clear();
                        game.legal_actions(seat, &mut actions);
                        game.act(seat, &actions[dice.below(actions.len())], &mut events).unwrap()
                    }
                };
            }
            let Turn::Players(prompt) = game.turn() else { continue };
            let view = game.view(Viewer::Seat(prompt.seats.iter().next().unwrap()));
            let hand = view.hand().unwrap();
            let mut judge = Judge::new(&view.public, &Floors::default(), hand, 2);
            assert_eq!(judge.win_chance(), plain(&judge, hand, &judge.floors, &judge.dice));
            for floor in 0..8_u8 {
                let elsewhere = judge.other_floors(floor);
                for other in 0..8 {
                    let mut floors = judge.floors;
                    floors[usize::from(floor)] = floors[other];
                    let wins = judge.win_chance_with_floor(&elsewhere, floors[other]);
                    assert_eq!(wins, plain(&judge, hand, &floors, &judge.dice));
                }
            }
            for _ in 0..10 {
                let scenario = judge.sample_scenario();
                assert_eq!(
                    scenario.evaluate_hand(hand).1,
                    plain(&judge, hand, &scenario.floors, &scenario.dice)
                );
                for drawn in &judge.drawn[..8] {
                    let drawn: CardSet = drawn.iter().take(2).copied().collect();
                    let kept: CardSet = hand.iter().take(2).collect();
                    let wins =
                        scenario.win_chance_with_draw(kept, scenario.evaluate_hand(kept), drawn);
                    assert_eq!(wins, scenario.evaluate_hand(kept.union(drawn)).1);
                }
            }
        }
    }
}
