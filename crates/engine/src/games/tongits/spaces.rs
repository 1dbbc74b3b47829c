//! The observation and action spaces of Tong-its: the fields of a view's tensor, and a number for
//! every action.
//!
//! A chow is numbered by the resulting meld, because the discard is known. The two jokers differ
//! only in name, so that a number with a joker stands for either of them. An addition is numbered
//! by the card, the owner, and whether the meld is a set or a run; if the card fits two runs of one
//! owner, the number stands for both. Every other action has a number of its own.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::cards::{Card, CardSet, Rank, Suit};
use crate::games::action_numbers::index_of;
use crate::games::tongits::action::Action;
use crate::games::tongits::arrange::deadwood;
use crate::games::tongits::phase::Phase;
use crate::games::tongits::rules::SEATS;
use crate::games::tongits::state::Tongits;
use crate::games::tongits::view::View;
use crate::spaces::{Field, SeatRotation, Spaces, Tensor, field};

/// The actions without a card, in the order of their numbers.
const PLAIN: [(&str, Action); 5] = [
    ("draw", Action::Draw),
    ("fight", Action::Fight),
    ("tongits", Action::Tongits),
    ("challenge", Action::Challenge),
    ("fold", Action::Fold),
];

const RANKS: u16 = 13;
const SUITS: u16 = 4;

/// The melds without a joker: fours, threes, and runs of 3 to 13 cards.
const FOURS: u16 = RANKS;
const THREES: u16 = RANKS * SUITS;
const NATURAL: u16 = run_number(14, 0, 0);

/// The first number of the runs of four cards; shorter runs are never secret.
const LONG_RUNS: u16 = run_number(4, 0, 0);

/// The melds that may be laid face down: fours, and runs of four cards or more.
const SECRET: u16 = FOURS + NATURAL - LONG_RUNS;

/// The natural parts of melds with a joker: two or three of a rank, and cards of a suit with at
/// most one gap.
const PAIRS_AND_THREES: u16 = 10;
const BESIDE: u16 = part_number(14, 0, 0, 0);

const SAPAWS: u16 = Card::COUNT as u16 * SEATS as u16 * 2;

const DUMP: u16 = 5;
const SAPAW: u16 = DUMP + Card::STANDARD_COUNT as u16;
const DROP: u16 = SAPAW + SAPAWS;
const DROP_JOKER: u16 = DROP + NATURAL;
const DROP_FACE_DOWN: u16 = DROP_JOKER + BESIDE;
const CHOW: u16 = DROP_FACE_DOWN + SECRET;
const CHOW_JOKER: u16 = CHOW + NATURAL;

impl Spaces for Tongits {
    const FIELDS: &'static [Field] = &[
        field("hand", 54, 1, "the cards of the viewer's hand, by card index"),
        field("deadwood", 1, 540, "the points of the hand's leftover cards"),
        field("discard", 54, 1, "the top discard, by card index"),
        field("discards", 54, 1, "the other discards"),
        field("melds", 162, 1, "the cards of open melds, 54 per owner from the viewer on"),
        field("own_face_down", 54, 1, "the cards that the viewer has laid face down"),
        field("open_melds", 3, 18, "the number of open melds of each seat, from the viewer on"),
        field("face_down_melds", 3, 18, "the number of face-down melds of each seat"),
        field("hand_cards", 3, 54, "the number of cards in each hand"),
        field("stock", 1, 54, "the number of cards in the stock"),
        field("phase", 3, 1, "one of: draw, play, fight"),
        field("turn", 3, 1, "the seat whose turn it is or who fights, from the viewer on"),
        field("fight_blocked", 1, 1, "set if additions take the right to fight in this turn"),
        field("added_to", 3, 1, "the seats whose melds were added to since their last turn began"),
        field("yet_to_act", 3, 1, "the seats that have not acted yet, with the Spread rule only"),
        field("drawn", 54, 1, "the card drawn in this turn, where the rules need it"),
    ];

    fn action_names() -> Vec<String> {
        let mut names: Vec<String> = PLAIN.iter().map(|(name, _)| (*name).into()).collect();
        let cards = || Card::all().take(usize::from(Card::STANDARD_COUNT));
        names.extend(cards().map(|card| format!("dump {card}")));
        for card in Card::all() {
            for owner in 0..SEATS {
                names.push(format!("sapaw {card} set_of_{owner}"));
                names.push(format!("sapaw {card} run_of_{owner}"));
            }
        }
        let melds: Vec<CardSet> = natural_melds().collect();
        let parts: Vec<CardSet> = joker_parts().collect();
        let secret = melds
            .iter()
            .filter(|meld| natural_meld_number(**meld).and_then(secret_meld_number).is_some());
        names.extend(melds.iter().map(|meld| format!("drop {meld}")));
        names.extend(parts.iter().map(|part| format!("drop {part} X")));
        names.extend(secret.map(|meld| format!("drop_face_down {meld}")));
        names.extend(melds.iter().map(|meld| format!("chow {meld}")));
        names.extend(parts.iter().map(|part| format!("chow {part} X")));
        names
    }

    fn action_number(view: &View, action: &Action) -> Option<u16> {
        match *action {
            Action::Draw | Action::Fight | Action::Tongits | Action::Challenge | Action::Fold => {
                index_of(PLAIN.map(|(_, plain)| plain), action)
            }
            Action::Dump { card } => (!card.is_joker()).then(|| DUMP + u16::from(card.index())),
            Action::Sapaw { card, meld } => {
                let (_, cards, owner) =
                    view.public.melds.iter_open().find(|(number, ..)| *number == meld)?;
                let owner =
                    u16::from(SeatRotation::from_viewer(view.viewer, SEATS).offset_of(owner));
                let is_run = u16::from(!is_of_one_rank(cards.naturals()));
                let card = u16::from(card.index());
                Some(SAPAW + (card * u16::from(SEATS) + owner) * 2 + is_run)
            }
            Action::Drop { cards, face_down: true } => natural_meld_number(cards)
                .and_then(secret_meld_number)
                .map(|meld| DROP_FACE_DOWN + meld),
            Action::Drop { cards, face_down: false } if cards.has_joker() => {
                joker_part_number(cards.naturals()).map(|part| DROP_JOKER + part)
            }
            Action::Drop { cards, face_down: false } => {
                natural_meld_number(cards).map(|meld| DROP + meld)
            }
            Action::Chow { cards } => {
                let made = cards.with(view.public.discards.top()?);
                if made.has_joker() {
                    joker_part_number(made.naturals()).map(|part| CHOW_JOKER + part)
                } else {
                    natural_meld_number(made).map(|meld| CHOW + meld)
                }
            }
        }
    }

    fn write_tensor(view: &View, tensor: &mut Tensor<'_>) {
        let public = &view.public;
        let round = SeatRotation::from_viewer(view.viewer, SEATS);
        let mut cards = |cards: CardSet| tensor.push_bits(cards.bits(), Card::COUNT);
        let hand = view.hand().unwrap_or_default();
        cards(hand);
        tensor.push_number(deadwood(hand));
        let mut cards = |cards: CardSet| tensor.push_bits(cards.bits(), Card::COUNT);
        let top: CardSet = public.discards.top().into_iter().collect();
        cards(top);
        cards(public.discards.cards().iter().copied().collect::<CardSet>().difference(top));
        for owner in round.seats() {
            let open = public.melds.iter_open().filter(|(.., seat)| *seat == owner);
            cards(open.fold(CardSet::EMPTY, |all, (_, meld, _)| all.union(meld)));
        }
        cards(public.melds.iter_face_down(round.viewer).fold(CardSet::EMPTY, CardSet::union));
        for owner in round.seats() {
            let open = public.melds.iter_open().filter(|(.., seat)| *seat == owner);
            tensor.push_number(open.map(|_| 1).sum());
        }
        for owner in round.seats() {
            tensor.push_number(public.melds.iter_face_down(owner).map(|_| 1).sum());
        }
        let counts = public.hand_counts;
        round.seats().for_each(|seat| tensor.push_number(counts[seat.index()].into()));
        tensor.push_number(public.stock_count.into());
        let (phase, turn, is_blocked) = match public.phase {
            Phase::Draw { seat, fight_blocked } => (Some(0), Some(seat), fight_blocked),
            Phase::Play { seat } => (Some(1), Some(seat), false),
            Phase::Fight { fighter, .. } => (Some(2), Some(fighter), false),
            Phase::Starter | Phase::Deal { .. } | Phase::Over => (None, None, false),
        };
        tensor.push_one_hot(phase, 3);
        tensor.push_one_hot(turn.map(|seat| round.offset_of(seat)), SEATS);
        tensor.push_flag(is_blocked);
        for seats in [public.added_to, public.yet_to_act] {
            round.seats().for_each(|seat| tensor.push_flag(seats.contains(seat)));
        }
        tensor.push_one_hot(view.drawn.map(Card::index), Card::COUNT);
    }
}

fn is_of_one_rank(cards: CardSet) -> bool {
    let mut ranks = cards.iter().map(Card::rank);
    let first = ranks.next();
    ranks.all(|rank| Some(rank) == first)
}

/// Returns the number of the run of `len` cards of a suit from a rank on. With zero for suit and
/// rank this is the first number of its length.
const fn run_number(len: u16, suit: u16, first: u16) -> u16 {
    let mut number = FOURS + THREES;
    let mut shorter = 3;
    while shorter < len {
        number += SUITS * (RANKS + 1 - shorter);
        shorter += 1;
    }
    number + suit * (RANKS + 1 - len) + first
}

/// Returns the number of parts of runs that span `span` ranks from a given card: the gapless one,
/// unless it leaves no place for a joker, and those with one gap.
const fn variant_count(span: u16) -> u16 {
    span - 2 + whole_variant_count(span)
}

const fn whole_variant_count(span: u16) -> u16 {
    if span < RANKS { 1 } else { 0 }
}

/// Returns the number of a part of a run that spans `span` ranks. The gap is its distance from the
/// first rank; zero stands for none.
const fn part_number(span: u16, suit: u16, first: u16, gap: u16) -> u16 {
    let mut number = RANKS * PAIRS_AND_THREES;
    let mut shorter = 2;
    while shorter < span {
        number += SUITS * (RANKS + 1 - shorter) * variant_count(shorter);
        shorter += 1;
    }
    if span > RANKS {
        return number;
    }
    let variant = if gap == 0 { 0 } else { whole_variant_count(span) + gap - 1 };
    number + (suit * (RANKS + 1 - span) + first) * variant_count(span) + variant
}

/// Returns the suits of cards of one rank, as four bits.
fn suit_bits(cards: CardSet) -> u16 {
    cards.iter().filter_map(Card::suit).fold(0, |suits, suit| suits | 1 << suit.index())
}

/// Iterates over the choices of two or three suits, each as four bits.
fn suit_choices() -> impl Iterator<Item = u16> {
    (0..16).filter(|suits: &u16| matches!(suits.count_ones(), 2 | 3))
}

/// Returns the first and the last card.
fn first_and_last(cards: CardSet) -> Option<(Card, Card)> {
    Some((cards.first()?, cards.iter().last()?))
}

/// Returns the number of a meld without a joker.
fn natural_meld_number(meld: CardSet) -> Option<u16> {
    let (first, last) = first_and_last(meld)?;
    let low = u16::from(first.rank()?.index());
    let high = u16::from(last.rank()?.index());
    if low == high {
        let missing = (!suit_bits(meld) & 0b1111).trailing_zeros();
        return match meld.len() {
            4 => Some(low),
            3 => Some(FOURS + low * SUITS + u16::try_from(missing).ok()?),
            _ => None,
        };
    }
    let len = u16::try_from(meld.len()).ok()?;
    let is_run = first.suit() == last.suit() && high + 1 - low == len && len >= 3;
    is_run.then_some(run_number(len, u16::from(first.suit()?.index()), low))
}

/// Returns the number among secret melds of a meld, given its number among all melds.
const fn secret_meld_number(meld: u16) -> Option<u16> {
    if meld < FOURS {
        Some(meld)
    } else if meld >= LONG_RUNS {
        Some(FOURS + meld - LONG_RUNS)
    } else {
        None
    }
}

/// Returns the number of a natural part.
fn joker_part_number(cards: CardSet) -> Option<u16> {
    let (first, last) = first_and_last(cards)?;
    let low = u16::from(first.rank()?.index());
    let high = u16::from(last.rank()?.index());
    if low == high {
        let choice = index_of(suit_choices(), &suit_bits(cards));
        return choice.map(|choice| low * PAIRS_AND_THREES + choice);
    }
    let suit = first.suit()?;
    let span = high + 1 - low;
    let gap = (low + 1..high).find(|rank| !cards.contains(card(*rank, suit.index().into())));
    Some(part_number(span, suit.index().into(), low, gap.map_or(0, |gap| gap - low)))
}

/// Returns every meld without a joker, in the order of their numbers.
fn natural_melds() -> impl Iterator<Item = CardSet> {
    let rank = |rank: u16| (0..SUITS).map(move |suit| card(rank, suit)).collect::<CardSet>();
    let fours = (0..RANKS).map(rank);
    let threes =
        (0..RANKS).flat_map(move |of| (0..SUITS).map(move |suit| rank(of).without(card(of, suit))));
    let runs = (3..=RANKS).flat_map(|len| {
        (0..SUITS).flat_map(move |suit| {
            (0..=RANKS - len).map(move |low| (low..low + len).map(|of| card(of, suit)).collect())
        })
    });
    fours.chain(threes).chain(runs)
}

/// Returns every natural part, in the order of their numbers.
fn joker_parts() -> impl Iterator<Item = CardSet> {
    let sets = (0..RANKS).flat_map(|rank| {
        suit_choices().map(move |suits| {
            let chosen = (0..SUITS).filter(|suit| suits >> suit & 1 == 1);
            chosen.map(|suit| card(rank, suit)).collect()
        })
    });
    let runs = (2..=RANKS).flat_map(|span| {
        (0..SUITS).flat_map(move |suit| {
            (0..=RANKS - span).flat_map(move |low| {
                let gaps =
                    (0..span - 1).filter(move |gap| *gap > 0 || whole_variant_count(span) == 1);
                gaps.map(move |gap| {
                    let ranks = (low..low + span).filter(|rank| gap == 0 || *rank != low + gap);
                    ranks.map(|rank| card(rank, suit)).collect()
                })
            })
        })
    });
    sets.chain(runs)
}

fn card(rank: u16, suit: u16) -> Card {
    let found = Rank::all().nth(rank.into()).zip(Suit::ALL.get(usize::from(suit)));
    found.map(|(rank, suit)| Card::new(rank, *suit)).expect("a rank and a suit of the deck")
}

#[cfg(test)]
mod tests {
    use super::{
        BESIDE, NATURAL, SECRET, joker_part_number, joker_parts, natural_meld_number,
        natural_melds, secret_meld_number,
    };
    use crate::cards::CardSet;
    use crate::games::tongits::meld::{for_each_meld, is_meld};
    use alloc::vec::Vec;

    #[test]
    fn meld_numbers_are_indices() {
        let all: Vec<CardSet> = natural_melds().collect();
        assert_eq!(all.len(), usize::from(NATURAL));
        for (number, meld) in (0..).zip(&all) {
            assert!(is_meld(*meld), "{meld}");
            assert_eq!(natural_meld_number(*meld), Some(number), "{meld}");
        }
        let mut found = 0;
        for_each_meld(CardSet::STANDARD, |_| found += 1);
        assert_eq!(found, all.len(), "a whole deck holds every meld");
        let secrets: Vec<u16> = (0..NATURAL).filter_map(secret_meld_number).collect();
        assert_eq!(secrets, (0..SECRET).collect::<Vec<_>>());
    }

    #[test]
    fn natural_part_numbers_are_indices() {
        let all: Vec<CardSet> = joker_parts().collect();
        assert_eq!(all.len(), usize::from(BESIDE));
        for (number, part) in (0..).zip(&all) {
            assert_eq!(joker_part_number(*part), Some(number), "{part}");
        }
        let mut found = 0;
        let joker = CardSet::JOKERS.first().expect("there are jokers");
        for_each_meld(CardSet::STANDARD.with(joker), |meld| {
            if meld.has_joker() {
                found += 1;
                assert!(all.contains(&meld.naturals()), "{meld}");
            }
        });
        assert_eq!(found, all.len());
    }
}
