//! The arrangement of a hand against a search that knows only rules 1.10 and 11.1: it builds every
//! partition of the hand from the definition of a meld and compares them as the rule says.

use std::iter;

use bahay_engine::cards::{Card, CardSet};
use bahay_engine::games::tongits::{
    Arrangement, additions, deadwood, for_each_meld, has_secret, leaves_nothing,
};
use bahay_engine::testing::TestRng;

use crate::support::{cards, subset};

const HANDS: u32 = 6_000;

/// A partition in the rule's order of comparison: the least is the best.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Plan {
    deadwood: u32,
    /// Negated, because more secret melds are better.
    secrets_fewer: i32,
    melds_fewer: i32,
    melds: Vec<Vec<u8>>,
}

/// The first index of a joker.
const JOKERS: u8 = 52;

fn points(card: u8) -> u32 {
    if card >= JOKERS { 0 } else { u32::from(card % 13 + 1).min(10) }
}

fn is_set(cards: &[u8]) -> bool {
    cards.len() >= 3 && cards.iter().all(|card| card % 13 == cards[0] % 13)
}

fn is_run(cards: &[u8]) -> bool {
    let steps = cards.windows(2).all(|pair| pair[1] == pair[0] + 1);
    cards.len() >= 3 && steps && cards[0] / 13 == cards[cards.len() - 1] / 13
}

/// Rules 1.4 and 11.1, from their text: with one joker, some card that is not among them makes them
/// a meld in its place. The cards ascend.
fn is_meld(cards: &[u8]) -> bool {
    let naturals: Vec<u8> = cards.iter().copied().filter(|card| *card < JOKERS).collect();
    match cards.len() - naturals.len() {
        0 => is_set(cards) || is_run(cards),
        1 => (0..JOKERS).filter(|card| !naturals.contains(card)).any(|card| {
            let mut stood_in = naturals.clone();
            stood_in.push(card);
            stood_in.sort_unstable();
            is_set(&stood_in) || is_run(&stood_in)
        }),
        _ => false,
    }
}

/// Returns every meld of the hand whose least card is the first one.
fn melds_with_first(hand: &[u8]) -> Vec<Vec<u8>> {
    let Some((first, others)) = hand.split_first() else { return Vec::new() };
    let related: Vec<u8> = others
        .iter()
        .copied()
        .filter(|card| *card >= JOKERS || card % 13 == first % 13 || card / 13 == first / 13)
        .collect();
    (0..1_u32 << related.len())
        .map(|bits| iter::once(*first).chain(subset(&related, bits)).collect::<Vec<u8>>())
        .filter(|cards| is_meld(cards))
        .collect()
}

fn is_secret(meld: &[u8], secret_run_min: u8) -> bool {
    let has_joker = meld.iter().any(|card| *card >= JOKERS);
    let is_long = secret_run_min > 0 && meld.len() >= usize::from(secret_run_min);
    !has_joker && if is_set(meld) { meld.len() == 4 } else { is_long }
}

fn search(
    hand: &[u8],
    secret_run_min: u8,
    melds: &mut Vec<Vec<u8>>,
    deadwood: u32,
    best: &mut Option<Plan>,
) {
    let Some((first, others)) = hand.split_first() else {
        let mut listed = melds.clone();
        listed.sort();
        let secret = |meld: &&Vec<u8>| is_secret(meld, secret_run_min);
        let plan = Plan {
            deadwood,
            secrets_fewer: -listed.iter().filter(secret).map(|_| 1).sum::<i32>(),
            melds_fewer: -listed.iter().map(|_| 1).sum::<i32>(),
            melds: listed,
        };
        if best.as_ref().is_none_or(|best| plan < *best) {
            *best = Some(plan);
        }
        return;
    };
    for meld in melds_with_first(hand) {
        let rest: Vec<u8> = hand.iter().copied().filter(|card| !meld.contains(card)).collect();
        melds.push(meld);
        search(&rest, secret_run_min, melds, deadwood, best);
        melds.pop();
    }
    search(others, secret_run_min, melds, deadwood + points(*first), best);
}

/// Draws a hand of 3 to 13 cards; most come from few ranks or suits, where melds overlap.
fn hand(dice: &mut TestRng) -> CardSet {
    hand_of(dice, 13)
}

fn hand_of(dice: &mut TestRng, cards_max: u32) -> CardSet {
    let count = 3 + dice.below(cards_max - 2) as usize;
    let (low, width) = (dice.below(8), 4 + dice.below(6));
    let suits = 1 + dice.below(4);
    let rich = dice.below(8) > 0;
    let mut hand = CardSet::EMPTY;
    for _ in 0..200 {
        let (rank, suit) = if rich && dice.below(10) > 0 {
            ((low + dice.below(width)).min(12), dice.below(suits))
        } else {
            (dice.below(13), dice.below(4))
        };
        let card = u8::try_from(suit * 13 + rank).ok().and_then(Card::from_index);
        hand = card.map_or(hand, |card| hand.with(card));
        if hand.len() == count {
            break;
        }
    }
    hand
}

fn check(hand: CardSet) {
    for secret_run_min in [5, 0, 4, 7] {
        check_by(hand, secret_run_min);
    }
}

fn check_by(hand: CardSet, secret_run_min: u8) {
    let cards: Vec<u8> = hand.iter().map(Card::index).collect();
    let mut best = None;
    search(&cards, secret_run_min, &mut Vec::new(), 0, &mut best);
    let best = best.expect("leaving every card is a partition");
    let found = Arrangement::from_hand(hand, secret_run_min);
    let melds: Vec<Vec<u8>> =
        found.melds.iter().map(|meld| meld.iter().map(Card::index).collect()).collect();
    assert_eq!(melds, best.melds, "hand {hand}: found {:?}", found.melds);
    assert_eq!(found.deadwood, best.deadwood, "hand {hand}");
    let secrets = i64::from(found.secret_melds(secret_run_min));
    assert_eq!(secrets, -i64::from(best.secrets_fewer), "hand {hand}");
    assert_eq!(deadwood(hand), best.deadwood, "hand {hand}");
    assert_eq!(leaves_nothing(hand), best.deadwood == 0, "hand {hand}");
    let melded = found.melds.iter().fold(CardSet::EMPTY, |sum, meld| sum.union(*meld));
    assert_eq!(found.leftover, hand.difference(melded), "hand {hand}");
}

/// Rule 1.10.
#[test]
fn the_arrangement_is_the_best_of_all_partitions() {
    let mut dice = TestRng::new(110);
    for _ in 0..HANDS {
        check(hand(&mut dice));
    }
}

/// Rules 1.10, 11.1: the same with one and with two jokers.
#[test]
fn the_arrangement_with_jokers_is_the_best_of_all_partitions() {
    let mut dice = TestRng::new(111);
    for _ in 0..HANDS / 4 {
        let hand = hand_of(&mut dice, 9);
        let jokers = 1 + dice.below(2) as usize;
        let chosen = CardSet::JOKERS.iter().skip(dice.below(2) as usize).take(jokers);
        check_by(hand.union(chosen.collect()), [5, 0, 4][dice.below(3) as usize]);
    }
    for text in [
        "5C 5D 5H 5S 6C 6D 6H 7C 8C X1 X2",
        "AC 2C 3C 4C 5C 6C 7C 8C 9C X1 X2",
        "JC QC KC JD QD KD JH QH X2",
        "AC 3C 5C 7C 9C JC KC AD 3D 5D X1 X2",
        "4D 5D 6D 8D 9D TD 6C 6H 7C 7H X1",
    ] {
        check(cards(text));
    }
}

/// Rules 1.4, 3.5, 11.1: the melds of a hand and the cards that may be added to each, against every
/// subset.
#[test]
fn the_melds_of_a_hand_are_those_of_its_subsets() {
    let mut dice = TestRng::new(35);
    for _ in 0..200 {
        let jokers = CardSet::JOKERS.iter().take(dice.below(3) as usize);
        let hand = hand_of(&mut dice, 9).union(jokers.collect());
        let cards: Vec<Card> = hand.iter().collect();
        let chosen = |bits: u32| subset(&cards, bits).collect::<CardSet>();
        let indices = |cards: CardSet| cards.iter().map(Card::index).collect::<Vec<u8>>();
        let mut expected: Vec<CardSet> =
            (0..1 << cards.len()).map(chosen).filter(|set| is_meld(&indices(*set))).collect();
        let mut found = Vec::new();
        for_each_meld(hand, |meld| found.push(meld));
        expected.sort();
        found.sort();
        assert_eq!(found, expected, "hand {hand}");
        for meld in found {
            let others = CardSet::ALL.difference(meld);
            let fitting: CardSet =
                others.iter().filter(|card| is_meld(&indices(meld.with(*card)))).collect();
            assert_eq!(additions(meld), fitting, "meld {meld}");
        }
    }
}

/// The hands with the most partitions.
#[test]
fn the_arrangement_of_crowded_hands_is_the_best_of_all_partitions() {
    for text in [
        "5C 5D 5H 5S 6C 6D 6H 6S 7C 7D 7H 7S 8C",
        "AC AD AH 2C 2D 2H 3C 3D 3H 4C 4D 4H 9S",
        "AC 2C 3C 4C 5C 6C 7C 8C 9C TC JC QC KC",
        "JC QC KC JD QD KD JH QH KH JS QS KS TS",
        "4D 5D 6D 7D 8D 6C 6H 6S 7C 7H 7S 9D TD",
    ] {
        check(cards(text));
    }
}

/// Rules 1.8 and 4.2 depend on whether the hand holds a secret meld at all, in any arrangement.
#[test]
fn a_secret_meld_is_held_even_when_the_arrangement_breaks_it() {
    let hand: CardSet = cards("2C 3C 4C 5C 6C 6D 6H 2D 2H");
    assert!(has_secret(hand, 5));
    assert_eq!(Arrangement::from_hand(hand, 5).secret_melds(5), 0);
}
