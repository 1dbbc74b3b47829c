//! The evaluation of a hand against every substitution of its wilds.
//!
//! The reference tries all assets for each wild and all choices of cards that could make a class,
//! and takes the best. `BAHAY_HANDS=1000000` sets the number of random hands.

use std::env;

use bahay_engine::games::tongo_assets::{Card, CardSet, Class, HandRank};
use bahay_engine::testing::TestRng;

use crate::support::subset;

/// A card with its substituted value: number 1 to 7, colour 0 (red) to 6, and whether it is wild.
type SubstitutedCard = (u8, u8, bool);

/// Class and number, then colour and wilds, of which fewer are better.
type Key = (Class, u8, i8, i8);

fn reference(hand: CardSet) -> Key {
    let natural: Vec<SubstitutedCard> = hand
        .iter()
        .filter_map(|card| Some((card.number()?, card.colour()?.index(), false)))
        .collect();
    let wilds = hand.wilds().count();
    let mut best = (Class::Nothing, 0, -1, 0);
    substitute(&natural, wilds, 0, &mut best);
    best
}

/// Tries every multiset of assets for the remaining wilds, from this type on.
fn substitute(hand: &[SubstitutedCard], wilds: u8, from: u8, best: &mut Key) {
    if wilds == 0 {
        *best = (*best).max(read(hand));
        return;
    }
    for asset in from..49 {
        let mut with = hand.to_vec();
        with.push((asset % 7 + 1, asset / 7, true));
        substitute(&with, wilds - 1, asset, best);
    }
}

/// Returns the best key of cards without unassigned wilds.
fn read(hand: &[SubstitutedCard]) -> Key {
    let mut best = (Class::Nothing, 0, -1, 0);
    let mut chosen = Vec::with_capacity(7);
    for bits in 1_u32..1 << hand.len() {
        let size = bits.count_ones();
        if ![2, 4, 5, 7].contains(&size) {
            continue;
        }
        chosen.clear();
        chosen.extend(subset(hand, bits));
        if let Some(class) = class_of(&chosen) {
            best = best.max(key(class, &chosen));
        }
    }
    best
}

/// Returns the class that exactly these cards make.
fn class_of(cards: &[SubstitutedCard]) -> Option<Class> {
    let first = cards.first()?;
    let one_number = cards.iter().all(|card| card.0 == first.0);
    let one_colour = cards.iter().all(|card| card.1 == first.1);
    let is_natural = cards.iter().all(|card| !card.2);
    let differ = |of: fn(&SubstitutedCard) -> u8| {
        let mut seen: Vec<u8> = cards.iter().map(of).collect();
        seen.sort_unstable();
        seen.dedup();
        seen.len() == cards.len()
    };
    let (numbers, colours) = (differ(|card| card.0), differ(|card| card.1));
    match cards.len() {
        7 if numbers && colours => is_natural.then_some(Class::FullMonopoly),
        7 if one_number || one_colour => Some(if !is_natural {
            Class::Consortium
        } else if numbers || colours {
            Class::Monopoly
        } else {
            Class::FullConsortium
        }),
        5 if one_number || one_colour => Some(Class::Treasury),
        4 => {
            let mut types: Vec<(u8, u8)> = cards.iter().map(|card| (card.0, card.1)).collect();
            types.sort_unstable();
            let pairs = types[0] == types[1] && types[2] == types[3] && types[1] != types[2];
            pairs.then_some(Class::MaterialContinuum)
        }
        2 if one_number || one_colour => Some(Class::Reserve),
        _ => None,
    }
}

fn key(class: Class, cards: &[SubstitutedCard]) -> Key {
    let number = cards.iter().map(|card| card.0).max().unwrap_or(0);
    let of_number = cards.iter().filter(|card| card.0 == number);
    let colour = of_number.map(|card| 6 - i8::try_from(card.1).expect("small")).max();
    let wilds = cards.iter().filter(|card| card.2).map(|_| 1).sum::<i8>();
    (class, number, colour.unwrap_or(-1), -wilds)
}

fn found(hand: CardSet) -> Key {
    let HandRank { class, number, colour, wilds } = HandRank::from_hand(hand);
    let colour = colour.map_or(-1, |colour| 6 - i8::try_from(colour.index()).expect("small"));
    (class, number, colour, -i8::try_from(wilds).expect("small"))
}

fn check(hand: CardSet) {
    assert_eq!(found(hand), reference(hand), "{hand}");
}

fn card(index: u32) -> Card {
    Card::from_index(u8::try_from(index).expect("a small number")).expect("a card")
}

/// Random hands of two to seven cards, most of them of seven; wilds are rare, because they are
/// expensive to try.
#[test]
fn random_hands_are_read_as_every_substitution_says() {
    let hands = env::var("BAHAY_HANDS").ok().and_then(|hands| hands.parse().ok());
    let mut dice = TestRng::new(1);
    let mut classes = [0_u32; 8];
    for number in 0..hands.unwrap_or(20_000_u32) {
        let wilds = match dice.below(1_000) {
            0 if number % 10 == 0 => 3,
            0..20 => 2,
            20..320 => 1,
            _ => 0,
        };
        let size = if dice.below(4) == 0 { 2 + dice.below(6) } else { 7 };
        // In a narrow deck strong hands are not rare.
        let (numbers, colours) = (1 + dice.below(7), 1 + dice.below(7));
        let asset = |dice: &mut TestRng| {
            let (number, colour) = (7 - numbers + dice.below(numbers), dice.below(colours));
            card(dice.below(2) * 49 + colour * 7 + number)
        };
        let mut hand = (0..wilds).map(|wild| card(98 + wild)).collect::<CardSet>();
        for _ in 0..200 {
            if u32::from(hand.count()) < size {
                hand = hand.with(asset(&mut dice));
            }
        }
        check(hand);
        classes[Class::ALL.iter().position(|class| *class == found(hand).0).expect("a class")] += 1;
    }
    println!("by class: {classes:?}");
    assert!(classes[1..].iter().filter(|hands| **hands > 0).count() >= 6, "{classes:?}");
}

/// Every hand of a small deck: three numbers in three colours, both copies, and a wild.
#[test]
fn every_hand_of_a_small_deck_is_read_as_every_substitution_says() {
    let deck: Vec<Card> = (0..2)
        .flat_map(|copy| {
            (0..3).flat_map(move |colour| (4..7).map(move |n| copy * 49 + colour * 7 + n))
        })
        .map(card)
        .chain([card(98)])
        .collect();
    let (mut hands, mut step) = (0_u32, 0_u32);
    for bits in 0_u32..1 << deck.len() {
        if !(1..=5).contains(&bits.count_ones()) {
            continue;
        }
        // The normal run checks a third of them.
        step += 1;
        if !step.is_multiple_of(3) && env::var_os("BAHAY_HANDS").is_none() {
            continue;
        }
        hands += 1;
        check(subset(&deck, bits).collect());
    }
    assert!(hands > 4_000, "{hands}");
}

/// Every permutation of seven numbers over seven colours is a Full Monopoly, in mixed copies.
#[test]
fn every_full_monopoly_is_one() {
    fn permute(taken: &mut Vec<u32>, dice: &mut TestRng, count: &mut u32) {
        if taken.len() == 7 {
            let hand = (0..)
                .zip(taken.iter())
                .map(|(colour, number)| card(dice.below(2) * 49 + colour * 7 + number));
            let key = found(hand.collect());
            assert_eq!((key.0, key.1), (Class::FullMonopoly, 7), "{taken:?}");
            *count += 1;
            return;
        }
        for number in 0..7 {
            if !taken.contains(&number) {
                taken.push(number);
                permute(taken, dice, count);
                taken.pop();
            }
        }
    }
    let mut count = 0;
    permute(&mut Vec::new(), &mut TestRng::new(7), &mut count);
    assert_eq!(count, 5_040);
}
