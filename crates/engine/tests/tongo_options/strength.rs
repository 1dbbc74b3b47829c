//! The strength of hands against a search through every matching of hand cards, floor cards and
//! dice (rules 8.1, 8.2).
//!
//! `BAHAY_HANDS` is the number of random hands; a million take some minutes.

use std::cmp::Ordering;
use std::env;

use bahay_engine::games::tongo_options::{Card, CardSet, Class, DiceCounts, Strength, matches};
use bahay_engine::testing::TestRng;

use crate::support::subset;

const HANDS: u64 = 20_000;

/// The strength of a matching in the order of rule 8.2: the number of combinations of each class
/// from the highest, then numbers and suits class by class, descending.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Ranked {
    counts: [u8; 6],
    numbers: Vec<u8>,
    suits: Vec<u8>,
}

/// A hand card, a floor card, and how many dice.
type Combination = (Class, Card);

/// Returns the best of all matchings, tried one by one.
fn searched(hand: &[Card], floor: &[Card], dice: &[u8]) -> Ranked {
    fn search(
        hand: &[Card],
        floor: &mut Vec<Card>,
        dice: &mut Vec<u8>,
        made: &mut Vec<Combination>,
        best: &mut Ranked,
    ) {
        let Some((card, rest)) = hand.split_first() else {
            let found = ranked(made);
            if found > *best {
                *best = found;
            }
            return;
        };
        search(rest, floor, dice, made, best);
        for place in 0..floor.len() {
            if floor[place].number() != card.number() {
                continue;
            }
            let other = floor.remove(place);
            let is_exact = other == *card;
            for used in 0..=2 {
                let showing = dice.iter().filter(|value| **value == card.number()).count();
                if used > showing {
                    break;
                }
                let class = match (used, is_exact) {
                    (0, false) => Class::Pair,
                    (0, true) => Class::ExactPair,
                    (1, false) => Class::Chain,
                    (1, true) => Class::ExactChain,
                    (_, false) => Class::Four,
                    (_, true) => Class::ExactFour,
                };
                let before = dice.clone();
                for _ in 0..used {
                    let place = dice.iter().position(|value| *value == card.number());
                    dice.remove(place.expect("so many dice show it"));
                }
                made.push((class, *card));
                search(rest, floor, dice, made, best);
                made.pop();
                *dice = before;
            }
            floor.insert(place, other);
        }
    }
    let mut best = ranked(&[]);
    search(hand, &mut floor.to_vec(), &mut dice.to_vec(), &mut Vec::new(), &mut best);
    best
}

fn ranked(made: &[Combination]) -> Ranked {
    let classes = [
        Class::ExactFour,
        Class::Four,
        Class::ExactChain,
        Class::Chain,
        Class::ExactPair,
        Class::Pair,
    ];
    let mut ranked = Ranked { counts: [0; 6], numbers: Vec::new(), suits: Vec::new() };
    for (place, class) in classes.into_iter().enumerate() {
        let of_class = made.iter().filter(|(made, _)| *made == class);
        // Diamonds are the highest and come first.
        let mut cards: Vec<(u8, u8)> =
            of_class.map(|(_, card)| (card.number(), 3 - card.suit().index())).collect();
        cards.sort_by(|one, other| other.cmp(one));
        ranked.counts[place] = u8::try_from(cards.len()).expect("four cards");
        ranked.numbers.extend(cards.iter().map(|(number, _)| number));
        ranked.suits.extend(cards.iter().map(|(_, suit)| suit));
    }
    ranked
}

struct Dealt {
    hand: Vec<Card>,
    floor: Vec<Card>,
    dice: Vec<u8>,
}

impl Dealt {
    fn strength(&self) -> Strength {
        Strength::from_hand(set(&self.hand), set(&self.floor), &self.counts())
    }

    fn counts(&self) -> DiceCounts {
        self.dice.iter().copied().collect()
    }

    fn searched(&self) -> Ranked {
        searched(&self.hand, &self.floor, &self.dice)
    }

    /// Returns the strength of the matching that the fast algorithm finds.
    fn matched(&self) -> Ranked {
        let found = matches(set(&self.hand), set(&self.floor), &self.counts());
        let made: Vec<Combination> = found.iter().map(|one| (one.class, one.card)).collect();
        ranked(&made)
    }
}

fn set(cards: &[Card]) -> CardSet {
    cards.iter().copied().collect()
}

/// Mostly of few numbers, so that cards match.
fn random(dice: &mut TestRng) -> Dealt {
    let numbers = [1, 2, 3, 4, 6, 12][dice.below(6) as usize];
    let pool: Vec<Card> = Card::all().filter(|card| card.number() <= numbers).collect();
    let mut some = |most: u32| {
        let mut cards: Vec<Card> = Vec::new();
        for _ in 0..most {
            let card = *dice.choose(&pool).expect("there are cards");
            if !cards.contains(&card) {
                cards.push(card);
            }
        }
        cards
    };
    let (hand, floor) = (some(4), some(3));
    let mut values = Vec::new();
    for (lowest, sides) in [(1, 4), (5, 4), (9, 4), (1, 6), (7, 6)] {
        values.push(lowest + dice.below_u8(sides));
    }
    if dice.below(2) == 0 {
        values.truncate(3);
    }
    Dealt { hand, floor, dice: values }
}

fn check(one: &Dealt, other: &Dealt) {
    let (ranked, strengths) =
        ([one, other].map(Dealt::searched), [one, other].map(Dealt::strength));
    let expected: Ordering = ranked[0].cmp(&ranked[1]);
    let told = || format!("{:?} {:?} {:?}", one.hand, one.floor, one.dice);
    assert_eq!(strengths[0].cmp(&strengths[1]), expected, "{} {ranked:?}", told());
    assert_eq!(one.matched(), ranked[0], "{}", told());
}

/// Compares successive hands with each other, and each hand with its searched strength.
#[test]
fn random_hands_are_as_strong_as_a_search_finds() {
    let hands = env::var("BAHAY_HANDS").ok().and_then(|text| text.parse().ok()).unwrap_or(HANDS);
    let mut dice = TestRng::new(7);
    let mut last = random(&mut dice);
    let (mut equal, mut made) = (0_u64, [0_u64; 6]);
    for _ in 0..hands {
        let next = random(&mut dice);
        check(&next, &last);
        equal += u64::from(next.strength() == last.strength());
        for (sum, count) in made.iter_mut().zip(next.searched().counts) {
            *sum += u64::from(count);
        }
        last = next;
    }
    println!("{hands} hands: {equal} equal neighbours; of each class from the highest {made:?}");
    assert!(equal > 0 && made.iter().all(|count| *count > 0));
}

/// Every hand and floor of a deck of two numbers, with every pair of dice.
#[test]
fn a_small_deck_is_searched_whole() {
    let cards: Vec<Card> = Card::all().filter(|card| card.number() <= 2).collect();
    let sets = |size: u32| {
        let all = (0..1_u32 << cards.len()).filter(|bits| bits.count_ones() == size);
        all.map(|bits| subset(&cards, bits).collect()).collect::<Vec<Vec<Card>>>()
    };
    let hands = sets(4);
    let floors: Vec<Vec<Card>> = (0..=3).flat_map(sets).collect();
    let mut ranks: Vec<(Strength, Ranked)> = Vec::new();
    for values in [vec![], vec![1], vec![2], vec![1, 1], vec![1, 2], vec![2, 2]] {
        for floor in &floors {
            for hand in &hands {
                let (hand, floor, dice) = (hand.clone(), floor.clone(), values.clone());
                let dealt = Dealt { hand, floor, dice };
                let found = dealt.searched();
                assert_eq!(dealt.matched(), found, "{:?} {:?}", dealt.hand, dealt.floor);
                ranks.push((dealt.strength(), found));
            }
        }
    }
    // In the order of strengths the searched ranks never decrease, and only equal strengths have
    // equal ranks.
    ranks.sort();
    for pair in ranks.windows(2) {
        assert_eq!(pair[0].0.cmp(&pair[1].0), pair[0].1.cmp(&pair[1].1), "{pair:?}");
    }
    assert!(ranks.len() > 30_000, "{}", ranks.len());
}
