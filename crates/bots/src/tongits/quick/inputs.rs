//! The features of a seat's position for the networks: the hand, the cards that the table takes,
//! the opponents' possibilities, and the probability that unseen cards help.
//!
//! Each feature has its own scale. The features need be neither unbiased nor complete, since their
//! use is learned.

use bahay_engine::cards::{Card, CardSet};
use bahay_engine::games::tongits::analysis::{
    HandSummary, Lanes, cards_of_rank, chowable, leftover, paired_cards, points_max, runs_of_three,
};
use bahay_engine::games::tongits::{
    Phase, PublicState, SEATS, additions, has_secret, is_special, points, total_points,
};
use bahay_engine::seat::{Seat, SeatSet};
use bahay_engine::variants;

use crate::tongits::quick::sums::ONE;
use crate::tongits::unseen_cards;

/// The number of inputs of a network.
pub const INPUTS: usize = 64;

/// The maximum magnitude of an input.
const INPUT_MAX: i16 = 4 * ONE;

/// The number of card-set inputs: the hand, its leftover cards, the unseen cards, those of them
/// that would form a meld with the hand, those that the table takes, and the dumped card.
pub const SETS: usize = 6;

/// The features of a position.
pub type Inputs = [i16; INPUTS];

/// The maximum number of leftover cards with which one more card may complete the hand.
const LEFTOVER_NEAR: usize = 4;

/// Aces and kings (rule 6.3).
const SPECIAL: CardSet = Lanes::from_ranks(1 << 12 | 1).cards();

/// Aces to fours.
const LOW: CardSet = Lanes::from_ranks(0b1111).cards();

/// A position as one seat sees it, present or after a possible action.
#[derive(Clone, Copy, Debug)]
pub struct SeatPosition<'a> {
    pub(super) public: &'a PublicState,
    pub(super) seat: Seat,
    pub(super) hand: CardSet,
    /// The cards in other hands or in the stock.
    pub(super) unseen: CardSet,
    /// The cards that the table takes.
    pub(super) additions: CardSet,
    /// The cards that the seat's own melds take.
    pub(super) own_additions: CardSet,
    /// The seats that own a meld.
    pub(super) open: SeatSet,
    /// The seats whose melds were added to since their latest turn began.
    pub(super) blocked: SeatSet,
    /// The cards that the seat contributed to its own melds.
    pub(super) laid: CardSet,
    pub(super) dumped: Option<Card>,
}

impl<'a> SeatPosition<'a> {
    pub(super) fn new(public: &'a PublicState, seat: Seat, hand: CardSet) -> Self {
        let own = public.melds.iter_open().filter(|(.., owner)| *owner == seat);
        Self {
            public,
            seat,
            hand,
            unseen: unseen_cards(public, hand),
            additions: public.melds.additions(),
            own_additions: own
                .fold(CardSet::EMPTY, |sum, (_, cards, _)| sum.union(additions(cards))),
            open: Seat::all(SEATS).filter(|seat| public.melds.is_open(*seat)).collect(),
            blocked: public.added_to,
            laid: public.melds.own_cards(seat),
            dumped: None,
        }
    }

    /// Returns the position after laying a meld open.
    pub(super) fn with_meld_laid(self, meld: CardSet, from_hand: CardSet) -> Self {
        let takes = additions(meld);
        Self {
            hand: self.hand.difference(from_hand),
            additions: self.additions.union(takes),
            own_additions: self.own_additions.union(takes),
            open: self.open.with(self.seat),
            laid: self.laid.union(meld),
            ..self
        }
    }

    /// Returns the position after adding a card to a meld.
    pub(super) fn with_card_added(self, card: Card, meld: CardSet, owner: Seat) -> Self {
        let takes = additions(meld.with(card));
        let is_own = owner == self.seat;
        Self {
            hand: self.hand.without(card),
            additions: self.additions.without(card).union(takes),
            own_additions: if is_own {
                self.own_additions.union(takes)
            } else {
                self.own_additions
            },
            blocked: self.blocked.with(owner),
            laid: if is_own { self.laid.with(card) } else { self.laid },
            ..self
        }
    }

    pub(super) fn with_card_dumped(self, card: Card) -> Self {
        Self { hand: self.hand.without(card), dumped: Some(card), ..self }
    }

    /// Returns the features as numbers and as sets of cards.
    pub(super) fn encode(&self) -> (Inputs, [CardSet; SETS]) {
        let leftover = leftover(self.hand);
        let chowable = chowable(self.hand);
        let deadwood = total_points(leftover);
        let mut writer = InputWriter { inputs: [0; INPUTS], next: 0 };
        self.write_own_hand(&mut writer);
        self.write_outs(leftover, deadwood, chowable, &mut writer);
        self.write_table(&mut writer);
        self.write_opponents(deadwood, &mut writer);
        self.write_dumped_card(&mut writer);
        let sets = [
            self.hand,
            leftover,
            self.unseen,
            self.unseen.intersection(chowable),
            self.unseen.intersection(self.additions),
            self.dumped.map_or(CardSet::EMPTY, CardSet::only),
        ];
        (writer.inputs, sets)
    }

    fn write_own_hand(&self, writer: &mut InputWriter) {
        let secret_run_min = self.public.rules.secret_run_min;
        let HandSummary { leftover, deadwood: left, melds, secret_melds } =
            HandSummary::from_hand(self.hand, secret_run_min);
        writer.write_ratio(left, 30);
        writer.write_ratio(left * left, 900);
        writer.write_ratio(self.hand.len(), 12);
        writer.write_ratio(leftover.len(), 6);
        for count in 0..4 {
            writer.write_flag(leftover.len() == count);
        }
        writer.write_ratio(melds, 3);
        writer.write_ratio(secret_melds, 1);
        writer.write_flag(has_secret(self.hand, secret_run_min));
        let addable = leftover.intersection(self.additions);
        writer.write_ratio(total_points(addable), 20);
        writer.write_ratio(addable.len(), 3);
        writer.write_ratio(self.hand.union(self.laid).intersection(SPECIAL).len(), 4);
        writer.write_ratio(leftover.intersection(SPECIAL).len(), 2);
        writer.write_ratio(points_max(leftover), 10);
        writer.write_ratio(paired_cards(leftover).len(), 4);
        writer.write_ratio(total_points(self.hand), 60);
    }

    /// Writes the possible improvements of the hand by the next cards.
    fn write_outs(&self, left: CardSet, now: u32, chowable: CardSet, writer: &mut InputWriter) {
        let near = left.len() <= LEFTOVER_NEAR;
        let mut outs = 0;
        let mut gains = 0;
        let mut finishing = 0;
        let may_help = if near { chowable.union(self.additions) } else { chowable };
        let chows = self.unseen.intersection(chowable).len();
        for card in self.unseen.intersection(may_help).iter() {
            let left = leftover(self.hand.with(card));
            let gain = now.saturating_sub(total_points(left));
            outs += u32::from(gain > 0);
            gains += gain;
            let left = left.difference(self.additions);
            finishing += u32::from(near && left.len() <= 1);
        }
        let unseen = self.unseen.len().max(1);
        writer.write_ratio(outs * 4, unseen);
        writer.write_ratio(gains, 2 * unseen);
        writer.write_ratio(finishing * 4, unseen);
        writer.write_ratio(chows * 4, unseen);
        let taken = self.own_additions.intersection(self.unseen).len();
        writer.write_ratio(taken, 4);
        let draws = u32::from(self.public.stock_count) / u32::from(SEATS);
        let expected = gains * draws;
        writer.write_ratio(expected, 10 * unseen);
        writer.write_ratio(
            now.saturating_sub(u32::try_from(expected as usize / unseen).unwrap_or(0)),
            30,
        );
    }

    fn write_table(&self, writer: &mut InputWriter) {
        let stock = self.public.stock_count;
        writer.write_ratio(stock, 15);
        for rest in 0..SEATS {
            writer.write_flag(stock % SEATS == rest);
        }
        writer.write_flag(stock == 0);
        writer.write_flag(stock <= SEATS);
        let is_open = self.open.contains(self.seat);
        writer.write_flag(is_open);
        writer.write_flag(is_open && !self.is_fight_blocked(self.seat));
        writer.write_flag(!is_open && !has_secret(self.hand, self.public.rules.secret_run_min));
        writer.write_ratio(total_points(self.unseen), 10 * self.unseen.len().max(1));
        let low = self.unseen.intersection(LOW).len();
        writer.write_ratio(low * 2, self.unseen.len().max(1));
        writer.write_ratio(self.public.melds.len(), 6);
        writer.write_ratio(self.unseen.intersection(SPECIAL).len(), 8);
        writer.write_ratio(self.additions.intersection(self.unseen).len(), 6);
    }

    fn write_opponents(&self, own: u32, writer: &mut InputWriter) {
        let average =
            total_points(self.unseen) / u32::try_from(self.unseen.len().max(1)).unwrap_or(1);
        for other in self.seat.others(SEATS) {
            let cards = self.public.hand_counts[other.index()];
            let is_open = self.open.contains(other);
            writer.write_ratio(cards, 12);
            writer.write_ratio(16 - cards.min(16), 8 * (1 + cards));
            writer.write_flag(is_open);
            writer.write_flag(is_open && !self.is_fight_blocked(other));
            writer.write_flag(
                matches!(self.public.phase, Phase::Fight { fighter, .. } if fighter == other),
            );
            let expected =
                u32::from(cards) * average * (50 + 2 * u32::from(self.public.stock_count));
            writer.write_ratio(expected, 3_000);
            writer.write_signed_ratio(i64::from(own) * 100 - i64::from(expected), 3_000);
            let melds = self.public.melds.owners().iter().filter(|owner| **owner == other);
            writer.write_ratio(melds.count(), 2);
        }
    }

    /// Returns whether a seat may not fight in its next turn, as far as is known.
    fn is_fight_blocked(&self, seat: Seat) -> bool {
        match self.public.phase {
            Phase::Draw { seat: turn, fight_blocked } if turn == seat => fight_blocked,
            variants!(Phase: Starter, Deal, Draw, Play, Fight, Over) => self.blocked.contains(seat),
        }
    }

    fn write_dumped_card(&self, writer: &mut InputWriter) {
        let Some(card) = self.dumped else { return };
        let same = cards_of_rank(card).intersection(self.unseen).len();
        let runs = runs_of_three(self.unseen, card) as usize;
        let next = usize::from(self.public.hand_counts[self.seat.next(SEATS).index()]);
        let unseen = self.unseen.len().max(1);
        let pairs = same * same.saturating_sub(1) / 2;
        writer.write_ratio(pairs * next * next, unseen * unseen);
        writer.write_ratio(runs * next * next, unseen * unseen);
        writer.write_ratio(points(card), 10);
        writer.write_ratio(same, 3);
        writer.write_flag(is_special(card));
        let melded = self.additions.intersection(cards_of_rank(card)).len();
        writer.write_ratio(melded, 2);
    }
}

/// A writer that appends features in order.
struct InputWriter {
    inputs: Inputs,
    next: usize,
}

impl InputWriter {
    /// Writes `part` as a fraction of `one`.
    fn write_ratio(&mut self, part: impl TryInto<i64>, one: impl TryInto<i64>) {
        let part = part.try_into().unwrap_or(i64::from(INPUT_MAX));
        self.write_signed_ratio(part, one);
    }

    fn write_flag(&mut self, holds: bool) {
        self.write_ratio(u8::from(holds), 1);
    }

    fn write_signed_ratio(&mut self, part: i64, one: impl TryInto<i64>) {
        let one = one.try_into().unwrap_or(1).max(1);
        let most = i64::from(INPUT_MAX);
        let value = (part * i64::from(ONE) / one).clamp(-most, most);
        self.inputs[self.next] = i16::try_from(value).expect("a clamped input fits 16 bits");
        self.next += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::{LOW, SPECIAL, is_special, points};
    use bahay_engine::cards::CardSet;

    #[test]
    fn named_card_sets_contain_the_right_cards() {
        let all = CardSet::STANDARD.iter();
        assert_eq!(SPECIAL, all.clone().filter(|card| is_special(*card)).collect());
        assert_eq!(LOW, all.filter(|card| points(*card) <= 4).collect());
    }
}
