//! Melds (rules 1.4, 1.6, 11.1) and points (rule 1.9): the recognition of melds, the cards that can
//! be added to a meld, and the enumeration of a hand's melds. All functions use bit arithmetic and
//! none allocates. `arrange` selects the melds of an arrangement.
//!
//! Cards without a joker take the fast path; `joker` implements melds with one.

use crate::cards::{Card, CardSet};
use crate::games::tongits::joker;
use crate::games::tongits::lanes::Lanes;

/// The number of cards in the smallest meld (rule 1.4).
const MELD_CARDS_MIN: usize = 3;

/// The points of a card of rank ten or above (rule 1.9).
const POINTS_MAX: u8 = 10;

/// The aces in a card set.
const ACES: u64 = 1 | 1 << 13 | 1 << 26 | 1 << 39;

/// The kings in a card set.
const KINGS: u64 = ACES << 12;

/// Returns the points of a card (rules 1.9, 11.1).
pub const fn points(card: Card) -> u8 {
    match card.rank() {
        Some(rank) if rank.index() < POINTS_MAX => rank.index() + 1,
        Some(_) => POINTS_MAX,
        None => 0,
    }
}

/// Returns the total points of a set of cards.
pub const fn total_points(cards: CardSet) -> u32 {
    lane_points(Lanes::from_cards(cards))
}

/// Returns the total points by looking up each suit in a table of all its subsets.
pub(super) const fn lane_points(lanes: Lanes) -> u32 {
    const SETS: usize = 1 << 13;
    static POINTS: [u8; SETS] = {
        let mut table = [0; SETS];
        let mut ranks = 1;
        while ranks < SETS {
            // The entry of the subset without its highest rank, plus the points of that rank.
            let [highest, ..] = ranks.ilog2().to_le_bytes();
            let more = if highest < POINTS_MAX { highest + 1 } else { POINTS_MAX };
            table[ranks] = table[ranks - (1 << highest)] + more;
            ranks += 1;
        }
        table
    };
    let [clubs, diamonds, hearts, spades] = lanes.suits();
    POINTS[clubs as usize] as u32
        + POINTS[diamonds as usize] as u32
        + POINTS[hearts as usize] as u32
        + POINTS[spades as usize] as u32
}

/// Returns the four cards of a card's rank; none for a joker.
pub const fn cards_of_rank(card: Card) -> CardSet {
    match card.rank() {
        Some(rank) => CardSet::from_bits(ACES << rank.index()),
        None => CardSet::EMPTY,
    }
}

/// Returns whether the cards form exactly one meld (rules 1.4, 11.1).
pub fn is_meld(cards: CardSet) -> bool {
    if cards.has_joker() {
        return cards.jokers().len() == 1 && joker::is_meld_with_joker(cards.naturals());
    }
    cards.len() >= MELD_CARDS_MIN && (is_set(cards) || is_consecutive(cards))
}

/// Returns whether the cards are three or four of one rank, without a joker.
pub fn is_set(cards: CardSet) -> bool {
    cards.len() >= MELD_CARDS_MIN
        && cards.first().is_some_and(|card| cards_of_rank(card).contains_all(cards))
}

/// Returns whether the cards form exactly one secret meld when concealed (rule 1.6). Runs are
/// secret from `secret_run_min` cards on, or never if it is zero.
pub fn is_secret(cards: CardSet, secret_run_min: u8) -> bool {
    if cards.has_joker() {
        false
    } else if is_set(cards) {
        cards.len() == 4
    } else {
        secret_run_min > 0 && cards.len() >= usize::from(secret_run_min) && is_consecutive(cards)
    }
}

/// Returns whether the hand holds any secret meld (rules 1.8, 4.2), regardless of its arrangement.
pub const fn has_secret(hand: CardSet, secret_run_min: u8) -> bool {
    let lanes = Lanes::from_cards(hand);
    lanes.ranks_of_four() != 0 || secret_run_min > 0 && lanes.has_run(secret_run_min)
}

/// Returns the cards that may be added to an exposed meld, one at a time (rule 3.5). A joker may be
/// added wherever a natural card may, unless the meld already has one (rule 11.1).
pub fn additions(meld: CardSet) -> CardSet {
    if meld.has_joker() {
        return joker::additions(meld.naturals());
    }
    let bits = meld.bits();
    let naturals = if bits & bits >> 1 == 0 {
        // Without adjacent cards the meld is a set: the missing cards of its rank.
        meld.first().map_or(CardSet::EMPTY, |card| cards_of_rank(card).difference(meld))
    } else {
        let ends = bits << 1 & !ACES | bits >> 1 & !KINGS;
        CardSet::from_bits(ends & !bits).naturals()
    };
    if naturals.is_empty() { naturals } else { naturals.union(CardSet::JOKERS) }
}

/// Calls `each` for every meld that the hand holds, each once; melds may overlap.
pub fn for_each_meld(hand: CardSet, mut each: impl FnMut(CardSet)) {
    for_each_natural_meld(hand, &mut each);
    for joker in hand.jokers().iter() {
        joker::for_each_part(hand, |part| each(part.with(joker)));
    }
}

fn for_each_natural_meld(hand: CardSet, each: &mut impl FnMut(CardSet)) {
    let lanes = Lanes::from_cards(hand);
    let mut ranks = lanes.ranks_of_three();
    while ranks != 0 {
        let set = Lanes(lanes.0 & Lanes::from_rank(ranks.trailing_zeros()).0).cards();
        each(set);
        if set.len() == 4 {
            set.iter().for_each(|card| each(set.without(card)));
        }
        ranks &= ranks - 1;
    }
    let mut starts = lanes.run_cards().0;
    while starts != 0 {
        let start = starts.trailing_zeros();
        let length = (lanes.0 >> start).trailing_ones();
        for length in 3..=length {
            each(Lanes(((1 << length) - 1) << start).cards());
        }
        starts &= starts - 1;
    }
}

/// Calls `each` for every choice of hand cards that forms a new meld with the discard (rule 3.2),
/// each once.
pub fn for_each_chow(hand: CardSet, discard: Card, mut each: impl FnMut(CardSet)) {
    for_each_meld(hand.with(discard), |meld| {
        if meld.contains(discard) {
            each(meld.without(discard));
        }
    });
}

/// Returns whether the hand can chow the discard (rule 3.2), which is never a joker.
pub fn can_chow(hand: CardSet, discard: Card) -> bool {
    chowable(hand).contains(discard) || hand.has_joker() && can_chow_with_joker(hand, discard)
}

/// Returns every card that a hand could chow without a joker (rule 3.2) if it were the discard. May
/// also contain cards of the hand itself.
pub const fn chowable(hand: CardSet) -> CardSet {
    let lanes = Lanes::from_cards(hand).0;
    let above = lanes << 1;
    let below = lanes >> 1;
    let runs = above & lanes << 2 | above & below | below & lanes >> 2;
    let sets = Lanes::from_ranks(Lanes(lanes).ranks_of_two()).0;
    Lanes((runs | sets) & Lanes::ALL).cards()
}

/// Returns the number of runs of three that a card forms with two of these cards, which include no
/// joker.
pub fn runs_of_three(cards: CardSet, card: Card) -> u32 {
    let (Some(rank), Some(suit)) = (card.rank(), card.suit()) else { return 0 };
    let place = 16 * suit.index() + rank.index();
    // Bits 0 to 4 stand for two ranks below to two ranks above, in the suit. The three highest bits
    // of a lane stand for no card.
    let around = Lanes::from_cards(cards).0 << 2 >> place;
    let has = |bits: u64| u32::from(around & bits == bits);
    has(0b00011) + has(0b01010) + has(0b11000)
}

/// Returns the highest points of a single card.
pub const fn points_max(cards: CardSet) -> u8 {
    let [a, b, c, d] = Lanes::from_cards(cards).suits();
    let ranks = a | b | c | d;
    // The points of the highest rank, before the limit of ten.
    let most = (u16::BITS - ranks.leading_zeros()).to_le_bytes()[0];
    if most < POINTS_MAX { most } else { POINTS_MAX }
}

/// Returns the cards that share their rank with another card of the set.
pub const fn paired_cards(cards: CardSet) -> CardSet {
    Lanes::from_ranks(Lanes::from_cards(cards).ranks_of_two()).cards().intersection(cards)
}

/// Returns whether the hand can chow the discard with a joker: one more card is enough, of the same
/// rank or at most two ranks away in the same suit.
#[cold]
fn can_chow_with_joker(hand: CardSet, discard: Card) -> bool {
    hand.naturals().iter().any(|card| joker::is_meld_with_joker(CardSet::only(card).with(discard)))
}

/// Returns whether the cards are consecutive cards of one suit.
fn is_consecutive(cards: CardSet) -> bool {
    let lanes = Lanes::from_cards(cards).0;
    let from_first = lanes >> lanes.trailing_zeros().min(63);
    from_first & (from_first + 1) == 0
}

#[cfg(test)]
mod tests {
    use super::{
        additions, can_chow, cards_of_rank, chowable, for_each_chow, for_each_meld, has_secret,
        is_meld, is_secret, paired_cards, points, points_max, runs_of_three, total_points,
    };
    use crate::cards::{Card, CardSet};
    use crate::chance::ChanceRng;
    use crate::games::tongits::test_cards::{cards, subsets};
    use alloc::vec::Vec;

    #[test]
    fn melds_are_sets_and_runs_with_the_ace_low() {
        for meld in ["7C 7D 7H", "7C 7D 7H 7S", "AS 2S 3S", "TD JD QD KD"] {
            assert!(is_meld(cards(meld)), "{meld}");
        }
        for not in
            ["", "7C", "7C 7D", "QS KS AS", "QC KC AD", "JC QC KC AD", "2H 3H 4D", "2H 4H 5H"]
        {
            assert!(!is_meld(cards(not)), "{not}");
        }
    }

    #[test]
    fn secret_melds_are_fours_and_runs_of_five() {
        for secret in ["7C 7D 7H 7S", "AS 2S 3S 4S 5S", "8D 9D TD JD QD KD"] {
            assert!(is_secret(cards(secret), 5) && has_secret(cards(secret), 5), "{secret}");
        }
        for not in ["7C 7D 7H", "AS 2S 3S 4S", "TC JC QC KC AD"] {
            assert!(!is_secret(cards(not), 5) && !has_secret(cards(not), 5), "{not}");
        }
        assert!(has_secret(cards("2C 2D 2H 2S KH"), 5));
        assert!(!is_secret(cards("2C 2D 2H 2S KH"), 5));
    }

    /// Rules 1.6, 11.1.
    #[test]
    fn secret_runs_follow_the_rules_and_jokers_are_never_secret() {
        assert!(is_secret(cards("7C 7D 7H 7S"), 0) && has_secret(cards("7C 7D 7H 7S"), 0));
        let run = "AS 2S 3S 4S 5S 6S";
        assert!(!is_secret(cards(run), 0) && !has_secret(cards(run), 0));
        assert!(is_secret(cards(run), 6) && has_secret(cards(run), 6));
        assert!(!is_secret(cards(run), 7) && !has_secret(cards(run), 7));
        for joker in ["7C 7D 7H X1", "AS 2S 3S 4S X2", "AS 2S 3S 4S 5S 6S X1"] {
            assert!(!is_secret(cards(joker), 5), "{joker}");
        }
        assert!(!has_secret(cards("7C 7D 7H X1 X2"), 4));
    }

    #[test]
    fn additions_are_exactly_the_cards_that_extend_a_meld() {
        for_each_meld(CardSet::ALL, |meld| {
            assert!(is_meld(meld), "{meld}");
            let expected: CardSet = Card::all()
                .filter(|card| !meld.contains(*card) && is_meld(meld.with(*card)))
                .collect();
            assert_eq!(additions(meld), expected, "{meld}");
        });
    }

    #[test]
    fn total_points_are_the_sum_of_the_cards() {
        assert_eq!(total_points(CardSet::ALL), 4 * (45 + 40), "jokers count nothing");
        assert_eq!(Card::all().map(|card| u32::from(points(card))).sum::<u32>(), 4 * (45 + 40));
        assert_eq!(total_points(cards("AC 9D TH JS QC KC")), 50);
    }

    /// Compares the bit-parallel functions with card-by-card references.
    #[test]
    fn bit_parallel_functions_agree_with_references() {
        let mut dice = ChanceRng::from_number(1);
        for _ in 0..500 {
            let many = [3, 13, 30][dice.below(3)];
            let any = |_| Card::from_index(u8::try_from(dice.below(52)).unwrap()).unwrap();
            let hand: CardSet = (0..many).map(any).collect();
            let sum: u32 = hand.iter().map(|card| u32::from(points(card))).sum();
            assert_eq!(total_points(hand), sum, "{hand}");
            assert_eq!(points_max(hand), hand.iter().map(points).max().unwrap(), "{hand}");
            let has_mate = |card: &Card| cards_of_rank(*card).intersection(hand).len() > 1;
            assert_eq!(paired_cards(hand), hand.iter().filter(has_mate).collect(), "{hand}");
            let others = CardSet::STANDARD.difference(hand);
            let has_chow = |card: &Card| {
                let mut found = false;
                for_each_chow(hand, *card, |_| found = true);
                found
            };
            let expected: CardSet = others.iter().filter(has_chow).collect();
            assert_eq!(chowable(hand).intersection(others), expected, "{hand}");
            for card in CardSet::STANDARD.iter() {
                let mut runs = 0;
                for_each_chow(hand, card, |chow| {
                    runs += u32::from(chow.len() == 2 && !cards_of_rank(card).contains_all(chow));
                });
                assert_eq!(runs_of_three(hand, card), runs, "{hand} and {card}");
            }
        }
        assert_eq!(points_max(CardSet::JOKERS), 0);
        assert_eq!(runs_of_three(CardSet::STANDARD, CardSet::JOKERS.first().unwrap()), 0);
    }

    /// Compares with all subsets of small hands.
    #[test]
    fn melds_and_chows_are_enumerated_once_each() {
        for text in [
            "7C 7D 7H 7S 8H 9H TH 6H",
            "AC 2C 3C 4C 3D 3H QC KC",
            "TD JD QD KD AD AC AS AH",
            "7C 7D 8H 9H TH 6H X1",
            "AC 2C 3C 5C 3D QC KC X1 X2",
            "X1 X2 9S",
        ] {
            let subsets = subsets(cards(text));
            let mut found = Vec::new();
            for_each_meld(cards(text), |meld| found.push(meld));
            found.sort();
            let mut expected: Vec<CardSet> =
                subsets.iter().copied().filter(|subset| is_meld(*subset)).collect();
            expected.sort();
            assert_eq!(found, expected, "{text}");
            for discard in CardSet::STANDARD.difference(cards(text)).iter() {
                let mut found = Vec::new();
                for_each_chow(cards(text), discard, |chow| found.push(chow));
                found.sort();
                let mut expected: Vec<CardSet> = subsets
                    .iter()
                    .copied()
                    .filter(|subset| is_meld(subset.with(discard)))
                    .collect();
                expected.sort();
                assert_eq!(found, expected, "{text} {discard}");
                assert_eq!(can_chow(cards(text), discard), !expected.is_empty());
            }
        }
    }
}
