//! What a seat knows, as numbers for a network: its hand, what the table takes, what the others can
//! do, and how likely the unseen cards are to help.
//!
//! A number says one thing, on a scale of its own, and nothing of it needs to be fair or complete:
//! what it is worth is learned.

use crate::cards::{Card, CardSet};
use crate::games::tongits::arrange::{Outline, leftover};
use crate::games::tongits::lanes::Lanes;
use crate::games::tongits::meld::{
    additions, chowable, has_secret, points, points_max, points_of, runs_of_three, same_rank,
    with_mates,
};
use crate::games::tongits::phase::{Phase, Public};
use crate::games::tongits::quick::large::SETS;
use crate::games::tongits::quick::network::{INPUT_MAX, INPUTS, Inputs};
use crate::games::tongits::quick::sums::ONE;
use crate::games::tongits::rules::{SEATS, is_special};
use crate::seat::{Seat, SeatSet};

/// With more cards left over no next card leaves nothing.
const LEFTOVER_NEAR: usize = 4;

/// Aces and kings (rule 6.3).
const SPECIAL: CardSet = Lanes::of_ranks(1 << 12 | 1).cards();

/// Aces to fours.
const LOW: CardSet = Lanes::of_ranks(0b1111).cards();

/// A place in a game as one seat sees it, or as it would stand after what the seat may do.
#[derive(Clone, Copy, Debug)]
pub struct Sight<'a> {
    pub(super) public: &'a Public,
    pub(super) seat: Seat,
    pub(super) hand: CardSet,
    /// In other hands or in the stock.
    pub(super) unseen: CardSet,
    /// What the table takes.
    pub(super) additions: CardSet,
    /// What the seat's own melds take.
    pub(super) own_additions: CardSet,
    /// Who owns a meld.
    pub(super) open: SeatSet,
    /// Whose melds were added to since their turn began.
    pub(super) blocked: SeatSet,
    /// Cards that the seat put into its own melds.
    pub(super) laid: CardSet,
    pub(super) dumped: Option<Card>,
}

impl<'a> Sight<'a> {
    pub(super) fn new(public: &'a Public, seat: Seat, hand: CardSet) -> Self {
        let discards: CardSet = public.discards.cards().iter().copied().collect();
        let seen = hand.union(discards).union(public.melds.cards());
        let own = public.melds.open().filter(|(.., owner)| *owner == seat);
        Self {
            public,
            seat,
            hand,
            unseen: public.rules.deck().difference(seen),
            additions: public.melds.additions(),
            own_additions: own
                .fold(CardSet::EMPTY, |sum, (_, cards, _)| sum.union(additions(cards))),
            open: Seat::all(SEATS).filter(|seat| public.melds.is_open(*seat)).collect(),
            blocked: public.added_to,
            laid: public.melds.own_cards(seat),
            dumped: None,
        }
    }

    /// After laying a meld open.
    pub(super) fn laying(self, meld: CardSet, from_hand: CardSet) -> Self {
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

    /// After adding a card to a meld.
    pub(super) fn adding(self, card: Card, meld: CardSet, owner: Seat) -> Self {
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

    pub(super) fn dumping(self, card: Card) -> Self {
        Self { hand: self.hand.without(card), dumped: Some(card), ..self }
    }

    /// What it knows as numbers, and as cards.
    pub(super) fn seen(&self) -> (Inputs, [CardSet; SETS]) {
        let (leftover, chowable) = (leftover(self.hand), chowable(self.hand));
        let deadwood = points_of(leftover);
        let mut list = List { inputs: [0; INPUTS], next: 0 };
        self.own_hand(&mut list);
        self.what_may_help(leftover, deadwood, chowable, &mut list);
        self.standing(&mut list);
        self.others(deadwood, &mut list);
        self.what_was_dumped(&mut list);
        let sets = [
            self.hand,
            leftover,
            self.unseen,
            self.unseen.intersection(chowable),
            self.unseen.intersection(self.additions),
            self.dumped.map_or(CardSet::EMPTY, CardSet::only),
        ];
        (list.inputs, sets)
    }

    fn own_hand(&self, list: &mut List) {
        let secret_run_min = self.public.rules.secret_run_min;
        let Outline { leftover, deadwood: left, melds, secret_melds } =
            Outline::of(self.hand, secret_run_min);
        list.put(left, 30);
        list.put(left * left, 900);
        list.put(self.hand.len(), 12);
        list.put(leftover.len(), 6);
        for count in 0..4 {
            list.flag(leftover.len() == count);
        }
        list.put(melds, 3);
        list.put(secret_melds, 1);
        list.flag(has_secret(self.hand, secret_run_min));
        let addable = leftover.intersection(self.additions);
        list.put(points_of(addable), 20);
        list.put(addable.len(), 3);
        list.put(self.hand.union(self.laid).intersection(SPECIAL).len(), 4);
        list.put(leftover.intersection(SPECIAL).len(), 2);
        list.put(points_max(leftover), 10);
        list.put(with_mates(leftover).len(), 4);
        list.put(points_of(self.hand), 60);
    }

    /// What the next cards may do for the hand.
    fn what_may_help(&self, left: CardSet, now: u32, chowable: CardSet, list: &mut List) {
        let near = left.len() <= LEFTOVER_NEAR;
        let (mut outs, mut gains, mut finishing) = (0, 0, 0);
        let may_help = if near { chowable.union(self.additions) } else { chowable };
        let chows = self.unseen.intersection(chowable).len();
        for card in self.unseen.intersection(may_help).iter() {
            let left = leftover(self.hand.with(card));
            let gain = now.saturating_sub(points_of(left));
            outs += u32::from(gain > 0);
            gains += gain;
            let left = left.difference(self.additions);
            finishing += u32::from(near && left.len() <= 1);
        }
        let unseen = self.unseen.len().max(1);
        list.put(outs * 4, unseen);
        list.put(gains, 2 * unseen);
        list.put(finishing * 4, unseen);
        list.put(chows * 4, unseen);
        let taken = self.own_additions.intersection(self.unseen).len();
        list.put(taken, 4);
        let draws = u32::from(self.public.stock_count) / u32::from(SEATS);
        let expected = gains * draws;
        list.put(expected, 10 * unseen);
        list.put(now.saturating_sub(u32::try_from(expected as usize / unseen).unwrap_or(0)), 30);
    }

    fn standing(&self, list: &mut List) {
        let stock = self.public.stock_count;
        list.put(stock, 15);
        for rest in 0..SEATS {
            list.flag(stock % SEATS == rest);
        }
        list.flag(stock == 0);
        list.flag(stock <= SEATS);
        let is_open = self.open.contains(self.seat);
        list.flag(is_open);
        list.flag(is_open && !self.may_not_fight(self.seat));
        list.flag(!is_open && !has_secret(self.hand, self.public.rules.secret_run_min));
        list.put(points_of(self.unseen), 10 * self.unseen.len().max(1));
        let low = self.unseen.intersection(LOW).len();
        list.put(low * 2, self.unseen.len().max(1));
        list.put(self.public.melds.len(), 6);
        list.put(self.unseen.intersection(SPECIAL).len(), 8);
        list.put(self.additions.intersection(self.unseen).len(), 6);
    }

    fn others(&self, own: u32, list: &mut List) {
        let average = points_of(self.unseen) / u32::try_from(self.unseen.len().max(1)).unwrap_or(1);
        for other in self.seat.others(SEATS) {
            let cards = self.public.hand_counts[other.index()];
            let is_open = self.open.contains(other);
            list.put(cards, 12);
            list.put(16 - cards.min(16), 8 * (1 + cards));
            list.flag(is_open);
            list.flag(is_open && !self.may_not_fight(other));
            list.flag(
                matches!(self.public.phase, Phase::Fight { fighter, .. } if fighter == other),
            );
            let expected =
                u32::from(cards) * average * (50 + 2 * u32::from(self.public.stock_count));
            list.put(expected, 3_000);
            list.difference(i64::from(own) * 100 - i64::from(expected), 3_000);
            let melds = self.public.melds.owners().iter().filter(|owner| **owner == other);
            list.put(melds.count(), 2);
        }
    }

    /// Whether a seat may not fight in its next turn, as far as is known.
    fn may_not_fight(&self, seat: Seat) -> bool {
        match self.public.phase {
            Phase::Draw { seat: turn, fight_blocked } if turn == seat => fight_blocked,
            Phase::Starter
            | Phase::Deal { .. }
            | Phase::Draw { .. }
            | Phase::Play { .. }
            | Phase::Fight { .. }
            | Phase::Over => self.blocked.contains(seat),
        }
    }

    fn what_was_dumped(&self, list: &mut List) {
        let Some(card) = self.dumped else { return };
        let same = same_rank(card).intersection(self.unseen).len();
        let runs = runs_of_three(self.unseen, card) as usize;
        let next = usize::from(self.public.hand_counts[self.seat.next(SEATS).index()]);
        let unseen = self.unseen.len().max(1);
        let pairs = same * same.saturating_sub(1) / 2;
        list.put(pairs * next * next, unseen * unseen);
        list.put(runs * next * next, unseen * unseen);
        list.put(points(card), 10);
        list.put(same, 3);
        list.flag(is_special(card));
        let melded = self.additions.intersection(same_rank(card)).len();
        list.put(melded, 2);
    }
}

/// Inputs in the order in which they are put.
struct List {
    inputs: Inputs,
    next: usize,
}

impl List {
    /// Puts a part of something that is one.
    fn put(&mut self, part: impl TryInto<i64>, one: impl TryInto<i64>) {
        let part = part.try_into().unwrap_or(i64::from(INPUT_MAX));
        self.difference(part, one);
    }

    fn flag(&mut self, holds: bool) {
        self.put(u8::from(holds), 1);
    }

    fn difference(&mut self, part: i64, one: impl TryInto<i64>) {
        let one = one.try_into().unwrap_or(1).max(1);
        let most = i64::from(INPUT_MAX);
        let value = (part * i64::from(ONE) / one).clamp(-most, most);
        self.inputs[self.next] = i16::try_from(value).expect("an input lies between its bounds");
        self.next += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::{LOW, SPECIAL, is_special, points};
    use crate::cards::CardSet;

    #[test]
    fn sets_of_cards_are_what_they_are_called() {
        let all = CardSet::STANDARD.iter();
        assert_eq!(SPECIAL, all.clone().filter(|card| is_special(*card)).collect());
        assert_eq!(LOW, all.filter(|card| points(*card) <= 4).collect());
    }
}
