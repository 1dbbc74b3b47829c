//! Signs of collusion in the games of a pair, from the contents of a record: every hand and every
//! action.
//!
//! Each sign compares the conduct of one of the pair towards the other with its conduct towards the
//! third player in the same games, so that carelessness and timidity cancel out. Chances are
//! counted, and how often they were taken; the baseline is learned from honest pairs. Declining a
//! fight or a challenge that nobody would dare with such a hand says nothing, so only those count
//! that the house's AI would choose with the player's view. Signs are sums in thousandths of a
//! standard deviation, in integers, so that a seed gives the same numbers everywhere.

use bahay_bots::Ai;
use bahay_engine::cards::CardSet;
use bahay_engine::game::{Game as _, Viewer};
use bahay_engine::games::tongits::{Action, SEATS, Tongits, deadwood};
use bahay_engine::seat::Seat;

use super::hands::{can_use, fighter, hand_of, meld_owner};

/// The number of buckets for the points of a hand, by fives; the last one is open.
const BUCKETS: usize = 6;

/// The scale of shares: thousandths.
const ONE: i64 = 1_000;

/// Chances of one kind, and how often they were taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct ChanceCount {
    chances: i64,
    taken: i64,
}

/// The conduct of one player towards another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct ConductCounts {
    /// Fights of the other where a challenge is the AI's choice: folded. By the points of the
    /// responder.
    folded: [ChanceCount; BUCKETS],
    /// Dumps before the other's turn, with cards in hand of which the other can use some but not
    /// all: a usable one was dumped. By the share of such cards, in sixths.
    fed: [ChanceCount; BUCKETS],
    /// Cards that could be added to the other's melds: added.
    added: ChanceCount,
    /// Fights and challenges against others that are the AI's choice: declined. First where the
    /// other's hidden hand was better, then where it was not; by the points of the player with the
    /// chance.
    deferred: [[ChanceCount; BUCKETS]; 2],
}

/// The observations of one game of a pair: the conduct of each of the two, towards the other and
/// towards the third player.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct PairGame {
    partner: [ConductCounts; 2],
    third: [ConductCounts; 2],
    /// The counts that the first paid the second, less those that it received.
    flow: i64,
}

/// The baseline of honest players, as shares in thousandths.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct HonestBaseline {
    folded: [i64; BUCKETS],
    fed: [i64; BUCKETS],
    added: i64,
    deferred: [[i64; BUCKETS]; 2],
}

/// The signs of a pair, each in thousandths of a standard deviation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Signs {
    yields: i64,
    feeds: i64,
    spares: i64,
    defers: i64,
    flow: i64,
}

/// An observer of one game of a pair.
pub(super) struct PairObserver {
    seats: [Seat; 2],
    counts: PairGame,
}

impl PairObserver {
    pub(super) fn new(seats: [Seat; 2]) -> Self {
        Self { seats, counts: PairGame::default() }
    }

    /// Records an action before it is performed.
    pub(super) fn observe(&mut self, state: &Tongits, seat: Seat, action: Action) {
        self.observe_deferring(state, seat, action);
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
                    if let Some(towards) = self.counts_towards(seat, Some(next)) {
                        towards.fed[share].add(can_use(wanted, card));
                    }
                }
                // A player who ends its turn has added what it wanted to add.
                for other in &legal {
                    if let Action::Sapaw { meld, .. } = other
                        && let Some(towards) = self.counts_towards(seat, meld_owner(state, *meld))
                    {
                        towards.added.add(false);
                    }
                }
            }
            Action::Sapaw { meld, .. } => {
                if let Some(towards) = self.counts_towards(seat, meld_owner(state, meld)) {
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

    /// Records whether a fight or challenge that is the AI's choice was declined: towards the
    /// fighter, and towards each other player by whether its hand is better, which an honest player
    /// cannot know.
    fn observe_deferring(&mut self, state: &Tongits, seat: Seat, action: Action) {
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
        let advised = Tongits::choose_action(&state.view(Viewer::Seat(seat)));
        let Some(advised @ (Action::Fight | Action::Challenge)) = advised else {
            return;
        };
        let gave_way = action != advised;
        let hand = hand_of(state, seat);
        if let Some(towards) = self.counts_towards(seat, by) {
            towards.folded[points_bucket(hand)].add(gave_way);
        }
        for other in seat.others(SEATS).filter(|other| by != Some(*other)) {
            let is_worse = usize::from(deadwood(hand_of(state, other)) >= deadwood(hand));
            if let Some(towards) = self.counts_towards(seat, Some(other)) {
                towards.deferred[is_worse][points_bucket(hand)].add(gave_way);
            }
        }
    }

    /// Records who owes whom at the end of the game, and returns the observations.
    pub(super) fn finish(mut self, state: &Tongits) -> PairGame {
        let debts = state.outcome().map(|outcome| outcome.debts).unwrap_or_default();
        let [first, second] = self.seats;
        for debt in debts {
            let counts = i64::from(debt.counts());
            if (debt.from, debt.to) == (first, second) {
                self.counts.flow += counts;
            } else if (debt.from, debt.to) == (second, first) {
                self.counts.flow -= counts;
            }
        }
        self.counts
    }

    fn counts_towards(&mut self, seat: Seat, other: Option<Seat>) -> Option<&mut ConductCounts> {
        let other = other.filter(|other| *other != seat)?;
        let place = self.seats.iter().position(|one| *one == seat)?;
        if other == self.seats[1 - place] {
            Some(&mut self.counts.partner[place])
        } else {
            Some(&mut self.counts.third[place])
        }
    }
}

/// Returns the bucket for the points of a hand.
fn points_bucket(hand: CardSet) -> usize {
    usize::try_from(deadwood(hand) / 5).unwrap_or(BUCKETS).min(BUCKETS - 1)
}

impl ChanceCount {
    fn add(&mut self, is_taken: bool) {
        self.chances += 1;
        self.taken += i64::from(is_taken);
    }

    fn add_counts(&mut self, other: Self) {
        self.chances += other.chances;
        self.taken += other.taken;
    }

    /// Returns the share in thousandths; a half without any chance.
    fn share(self) -> i64 {
        if self.chances == 0 { ONE / 2 } else { self.taken * ONE / self.chances }
    }

    /// Returns the excess over the baseline in thousandths, and its variance in millionths.
    fn excess(self, baseline: i64) -> (i64, i64) {
        (self.taken * ONE - self.chances * baseline, self.chances * baseline * (ONE - baseline))
    }
}

impl ConductCounts {
    fn add_counts(&mut self, other: &Self) {
        for (sum, one) in self.folded.iter_mut().zip(other.folded) {
            sum.add_counts(one);
        }
        for (sum, one) in self.fed.iter_mut().zip(other.fed) {
            sum.add_counts(one);
        }
        self.added.add_counts(other.added);
        for (sums, ones) in self.deferred.iter_mut().zip(other.deferred) {
            for (sum, one) in sums.iter_mut().zip(ones) {
                sum.add_counts(one);
            }
        }
    }
}

impl HonestBaseline {
    pub(super) fn from_games<'a>(games: impl IntoIterator<Item = &'a PairGame>) -> Self {
        let mut sum = ConductCounts::default();
        for game in games {
            for towards in game.partner.iter().chain(&game.third) {
                sum.add_counts(towards);
            }
        }
        Self {
            folded: sum.folded.map(ChanceCount::share),
            fed: sum.fed.map(ChanceCount::share),
            added: sum.added.share(),
            deferred: sum.deferred.map(|buckets| buckets.map(ChanceCount::share)),
        }
    }
}

impl Signs {
    pub(super) fn from_games(games: &[PairGame], baseline: &HonestBaseline) -> Self {
        let mut partner = [ConductCounts::default(); 2];
        let mut third = [ConductCounts::default(); 2];
        let mut flow = 0_i64;
        let mut squares = 0_i64;
        for game in games {
            for place in 0..2 {
                partner[place].add_counts(&game.partner[place]);
                third[place].add_counts(&game.third[place]);
            }
            flow += game.flow;
            squares += game.flow * game.flow;
        }
        let mut signs =
            Self { flow: deviations(flow.abs() * ONE, squares * ONE * ONE), ..Self::default() };
        let mut each = [Self::default(); 2];
        for (place, signs) in each.iter_mut().enumerate() {
            let own = &partner[place];
            let other = &third[place];
            let folded =
                |towards: &ConductCounts| sum_excess(towards.folded.iter().zip(baseline.folded));
            let fed = |towards: &ConductCounts| sum_excess(towards.fed.iter().zip(baseline.fed));
            let added = |towards: &ConductCounts| towards.added.excess(baseline.added);
            let deferred =
                |worse: usize| sum_excess(own.deferred[worse].iter().zip(baseline.deferred[worse]));
            signs.yields = compare_conduct(folded(own), folded(other));
            signs.feeds = compare_conduct(fed(own), fed(other));
            signs.spares = compare_conduct(added(other), added(own));
            signs.defers = compare_conduct(deferred(0), deferred(1));
        }
        let [one, other] = each;
        signs.yields = combine_signs(one.yields, other.yields);
        signs.feeds = combine_signs(one.feeds, other.feeds);
        signs.spares = combine_signs(one.spares, other.spares);
        signs.defers = combine_signs(one.defers, other.defers);
        signs
    }

    /// Returns a score that rises with the number and the clarity of signs: a sum of squares,
    /// because one clear sign says more than many faint ones.
    pub(super) fn score(self) -> i64 {
        let Self { yields, feeds, spares, defers, flow } = self;
        [yields, feeds, spares, defers, flow]
            .into_iter()
            .map(|sign| sign.max(0).saturating_pow(2))
            .sum()
    }
}

/// Combines the signs of both players: a clear sign of one, or a fainter one of both.
fn combine_signs(one: i64, other: i64) -> i64 {
    one.max(other).max((one + other) * 707 / ONE)
}

fn sum_excess<'a>(parts: impl Iterator<Item = (&'a ChanceCount, i64)>) -> (i64, i64) {
    parts.fold((0, 0), |(beyond, variance), (taken, baseline)| {
        let (more, varies) = taken.excess(baseline);
        (beyond + more, variance + varies)
    })
}

/// Returns how far the conduct towards one player exceeds that towards another. Shares of their own
/// chances would depend on the numbers of chances, so both are compared in standard deviations.
fn compare_conduct(one: (i64, i64), other: (i64, i64)) -> i64 {
    let one = deviations(one.0, one.1);
    let other = deviations(other.0, other.1);
    // The difference of two values with deviation one has a deviation of the root of two.
    (one - other) * 707 / ONE
}

/// Returns a sum in thousandths of its standard deviation.
fn deviations(sum: i64, variance: i64) -> i64 {
    let deviation = i64::try_from(variance.unsigned_abs().isqrt()).unwrap_or(i64::MAX);
    if deviation == 0 { 0 } else { sum * ONE / deviation }
}

#[cfg(test)]
mod tests {
    use super::{ChanceCount, deviations};

    #[test]
    fn twice_as_often_as_usual_in_a_hundred_chances_is_five_deviations() {
        let taken = ChanceCount { chances: 100, taken: 40 };
        // 20 above the expected 20 with a deviation of 4 is five deviations.
        let (beyond, variance) = taken.excess(200);
        assert_eq!(deviations(beyond, variance), 5_000);
        assert_eq!(ChanceCount::default().excess(200), (0, 0));
        assert_eq!(deviations(0, 0), 0);
    }
}
