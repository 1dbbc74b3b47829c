//! Signs of collusion in the games of a pair, from what a record has: every hand and every action.
//!
//! Each sign compares what one of the pair did towards the other with what it did towards the third
//! player in the same games, so that how careless or timid somebody is cancels out. Counted are
//! chances and how often they were taken; what is usual is learned from honest pairs. A fight or a
//! challenge that nobody would dare with such a hand says nothing when it is left out, so only those
//! count that the house's AI would advise to whoever sees what that player sees. Signs are sums
//! in thousandths of a standard deviation, in integers, so that a seed gives the same numbers
//! everywhere.

use bahay_engine::cards::{Card, CardSet};
use bahay_engine::game::{Game as _, Viewer};
use bahay_engine::games::tongits::{Action, SEATS, Tongits, deadwood, for_each_meld};
use bahay_engine::seat::Seat;

use super::play::{fighter, hand_of, owner};

/// Points of a hand, by fives; the last is for all above.
const BUCKETS: usize = 6;

/// A thousand stands for one.
const ONE: i64 = 1_000;

/// Chances of one kind, how often they were taken, and how often that was to be expected, in
/// thousandths.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Taken {
    chances: i64,
    taken: i64,
}

/// What was done towards somebody.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Towards {
    /// Its fights, where a challenge is advised, by the points of who answers: folded.
    folded: [Taken; BUCKETS],
    /// Dumps before its turn, with some cards in hand that it can use and some that it cannot: of
    /// one that it can. By the share of such cards, in sixths.
    fed: [Taken; BUCKETS],
    /// Cards that could be added to its melds: added.
    added: Taken,
    /// Fights, and challenges of others, that are advised: not taken. First where this one's hidden hand was
    /// the better one, then where it was not; by the points of who had the chance.
    deferred: [[Taken; BUCKETS]; 2],
}

/// What is seen in one game of a pair: of each of the two, towards the other and towards the third.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Seen {
    partner: [Towards; 2],
    third: [Towards; 2],
    /// Counts that the first paid the second, less what it got.
    flow: i64,
}

/// What is usual among honest players, as shares in thousandths.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Usual {
    folded: [i64; BUCKETS],
    fed: [i64; BUCKETS],
    added: i64,
    deferred: [[i64; BUCKETS]; 2],
}

/// The signs of a pair, in thousandths of a standard deviation each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Signs {
    yields: i64,
    feeds: i64,
    spares: i64,
    defers: i64,
    flow: i64,
}

/// Whether a card makes a meld with a hand.
pub(super) fn can_use(hand: CardSet, card: Card) -> bool {
    let mut found = false;
    for_each_meld(hand.with(card), |meld| found |= meld.contains(card));
    found
}

/// Watches a game of a pair.
pub(super) struct Watch {
    seats: [Seat; 2],
    seen: Seen,
}

impl Watch {
    pub(super) fn new(seats: [Seat; 2]) -> Self {
        Self { seats, seen: Seen::default() }
    }

    /// What somebody does, before it is done.
    pub(super) fn see(&mut self, state: &Tongits, seat: Seat, action: Action) {
        self.see_deferring(state, seat, action);
        match action {
            Action::Dump { card } => {
                let next = seat.next(SEATS);
                let wanted = hand_of(state, next);
                let mut legal = Vec::new();
                state.legal_actions(seat, &mut legal);
                let mut dumps = (0_usize, 0_usize);
                for other in &legal {
                    if let Action::Dump { card } = other {
                        dumps.0 += 1;
                        dumps.1 += usize::from(can_use(wanted, *card));
                    }
                }
                if dumps.1 > 0 && dumps.1 < dumps.0 {
                    let share = (dumps.1 * BUCKETS / dumps.0).min(BUCKETS - 1);
                    if let Some(towards) = self.towards(seat, Some(next)) {
                        towards.fed[share].add(can_use(wanted, card));
                    }
                }
                // Whoever ends its turn has added what it wanted to add.
                for other in &legal {
                    if let Action::Sapaw { meld, .. } = other
                        && let Some(towards) = self.towards(seat, owner(state, *meld))
                    {
                        towards.added.add(false);
                    }
                }
            }
            Action::Sapaw { meld, .. } => {
                if let Some(towards) = self.towards(seat, owner(state, meld)) {
                    towards.added.add(true);
                }
            }
            Action::Draw
            | Action::Chow { .. }
            | Action::Fight
            | Action::Challenge
            | Action::Fold
            | Action::Drop { .. }
            | Action::Tongits => {}
        }
    }

    /// Whether a fight or a challenge that is advised is left out: towards the fighter, and to
    /// somebody whose hand is better, as who does not know that hand could not tell.
    fn see_deferring(&mut self, state: &Tongits, seat: Seat, action: Action) {
        let by = fighter(state);
        let may = match action {
            Action::Challenge | Action::Fold | Action::Fight => true,
            Action::Draw | Action::Chow { .. } => by.is_none(),
            Action::Drop { .. } | Action::Sapaw { .. } | Action::Dump { .. } | Action::Tongits => {
                false
            }
        };
        if !may {
            return;
        }
        let advised = Tongits::advise(&state.view(Viewer::Seat(seat)));
        let Some(advised @ (Action::Fight | Action::Challenge)) = advised else {
            return;
        };
        let gave_way = action != advised;
        let hand = hand_of(state, seat);
        if let Some(towards) = self.towards(seat, by) {
            towards.folded[bucket(hand)].add(gave_way);
        }
        for other in seat.others(SEATS).filter(|other| by != Some(*other)) {
            let is_worse = usize::from(deadwood(hand_of(state, other)) >= deadwood(hand));
            if let Some(towards) = self.towards(seat, Some(other)) {
                towards.deferred[is_worse][bucket(hand)].add(gave_way);
            }
        }
    }

    /// The end of the game: who owes whom.
    pub(super) fn end(mut self, state: &Tongits) -> Seen {
        let debts = state.outcome().map(|outcome| outcome.debts).unwrap_or_default();
        let [first, second] = self.seats;
        for debt in debts {
            let counts = i64::from(debt.counts());
            if (debt.from, debt.to) == (first, second) {
                self.seen.flow += counts;
            } else if (debt.from, debt.to) == (second, first) {
                self.seen.flow -= counts;
            }
        }
        self.seen
    }

    fn towards(&mut self, seat: Seat, other: Option<Seat>) -> Option<&mut Towards> {
        let other = other.filter(|other| *other != seat)?;
        let place = self.seats.iter().position(|one| *one == seat)?;
        if other == self.seats[1 - place] {
            Some(&mut self.seen.partner[place])
        } else {
            Some(&mut self.seen.third[place])
        }
    }
}

/// The points of a hand, by fives.
fn bucket(hand: CardSet) -> usize {
    usize::try_from(deadwood(hand) / 5).unwrap_or(BUCKETS).min(BUCKETS - 1)
}

impl Taken {
    fn add(&mut self, is_taken: bool) {
        self.chances += 1;
        self.taken += i64::from(is_taken);
    }

    fn plus(&mut self, other: Self) {
        self.chances += other.chances;
        self.taken += other.taken;
    }

    /// In thousandths; a half where nothing is known.
    fn share(self) -> i64 {
        if self.chances == 0 { ONE / 2 } else { self.taken * ONE / self.chances }
    }

    /// How much oftener than usual, in thousandths, and the variance of that, in millionths.
    fn beyond(self, usual: i64) -> (i64, i64) {
        (self.taken * ONE - self.chances * usual, self.chances * usual * (ONE - usual))
    }
}

impl Towards {
    fn plus(&mut self, other: &Self) {
        for (sum, one) in self.folded.iter_mut().zip(other.folded) {
            sum.plus(one);
        }
        for (sum, one) in self.fed.iter_mut().zip(other.fed) {
            sum.plus(one);
        }
        self.added.plus(other.added);
        for (sums, ones) in self.deferred.iter_mut().zip(other.deferred) {
            for (sum, one) in sums.iter_mut().zip(ones) {
                sum.plus(one);
            }
        }
    }
}

impl Usual {
    pub(super) fn of<'a>(games: impl IntoIterator<Item = &'a Seen>) -> Self {
        let mut sum = Towards::default();
        for seen in games {
            for towards in seen.partner.iter().chain(&seen.third) {
                sum.plus(towards);
            }
        }
        Self {
            folded: sum.folded.map(Taken::share),
            fed: sum.fed.map(Taken::share),
            added: sum.added.share(),
            deferred: sum.deferred.map(|buckets| buckets.map(Taken::share)),
        }
    }
}

impl Signs {
    pub(super) fn of(games: &[Seen], usual: &Usual) -> Self {
        let (mut partner, mut third) = ([Towards::default(); 2], [Towards::default(); 2]);
        let (mut flow, mut squares) = (0_i64, 0_i64);
        for seen in games {
            for place in 0..2 {
                partner[place].plus(&seen.partner[place]);
                third[place].plus(&seen.third[place]);
            }
            flow += seen.flow;
            squares += seen.flow * seen.flow;
        }
        let mut signs =
            Self { flow: deviations(flow.abs() * ONE, squares * ONE * ONE), ..Self::default() };
        let mut each = [Self::default(); 2];
        for (place, signs) in each.iter_mut().enumerate() {
            let (own, other) = (&partner[place], &third[place]);
            let folded = |towards: &Towards| sum(towards.folded.iter().zip(usual.folded));
            let fed = |towards: &Towards| sum(towards.fed.iter().zip(usual.fed));
            let added = |towards: &Towards| towards.added.beyond(usual.added);
            let deferred =
                |worse: usize| sum(own.deferred[worse].iter().zip(usual.deferred[worse]));
            signs.yields = apart(folded(own), folded(other));
            signs.feeds = apart(fed(own), fed(other));
            signs.spares = apart(added(other), added(own));
            signs.defers = apart(deferred(0), deferred(1));
        }
        let [one, other] = each;
        signs.yields = either_or_both(one.yields, other.yields);
        signs.feeds = either_or_both(one.feeds, other.feeds);
        signs.spares = either_or_both(one.spares, other.spares);
        signs.defers = either_or_both(one.defers, other.defers);
        signs
    }

    /// The more, the more signs there are, and the clearer: squares, since one clear sign says more
    /// than many faint ones.
    pub(super) fn score(self) -> i64 {
        let Self { yields, feeds, spares, defers, flow } = self;
        [yields, feeds, spares, defers, flow]
            .into_iter()
            .map(|sign| sign.max(0).saturating_pow(2))
            .sum()
    }
}

/// A sign of one of the two, or a fainter one of both.
fn either_or_both(one: i64, other: i64) -> i64 {
    one.max(other).max((one + other) * 707 / ONE)
}

fn sum<'a>(parts: impl Iterator<Item = (&'a Taken, i64)>) -> (i64, i64) {
    parts.fold((0, 0), |(beyond, variance), (taken, usual)| {
        let (more, varies) = taken.beyond(usual);
        (beyond + more, variance + varies)
    })
}

/// How far what is done towards one is beyond what is done towards another: each as a share of its
/// own chances would need the chances, so both are compared in deviations.
fn apart(one: (i64, i64), other: (i64, i64)) -> i64 {
    let (one, other) = (deviations(one.0, one.1), deviations(other.0, other.1));
    // Two standard deviations of one each make the root of two.
    (one - other) * 707 / ONE
}

/// A sum in thousandths of its standard deviation.
fn deviations(sum: i64, variance: i64) -> i64 {
    let deviation = i64::try_from(variance.unsigned_abs().isqrt()).unwrap_or(i64::MAX);
    if deviation == 0 { 0 } else { sum * ONE / deviation }
}

#[cfg(test)]
mod tests {
    use super::{Taken, deviations};

    #[test]
    fn twice_as_often_as_usual_in_a_hundred_chances_is_five_deviations() {
        let taken = Taken { chances: 100, taken: 40 };
        // 20 more than 20, and the deviation is 4: five deviations.
        let (beyond, variance) = taken.beyond(200);
        assert_eq!(deviations(beyond, variance), 5_000);
        assert_eq!(Taken::default().beyond(200), (0, 0));
        assert_eq!(deviations(0, 0), 0);
    }
}
