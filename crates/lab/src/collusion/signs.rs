//! Signs of collusion in the games of a pair, from the contents of a record: every hand and every
//! action.
//!
//! Each sign compares the conduct of one of the pair towards the other with its conduct towards the
//! third player in the same games, so that carelessness and timidity cancel out. Chances are
//! counted, and how often they were taken; the baseline is learned from honest pairs. Declining a
//! fight or a challenge that nobody would dare with such a hand says nothing, so only those count
//! that the house's AI would choose with the player's view. Signs are sums in thousandths of a
//! standard deviation, in integers, so that a seed gives the same numbers everywhere.

use bahay::reports::pairs::signs::count_deviations;
use bahay_bots::Ai;
use bahay_engine::cards::CardSet;
use bahay_engine::game::{Game as _, Viewer};
use bahay_engine::games::tongits::{Action, SEATS, Tongits, deadwood};
use bahay_engine::seat::Seat;
use bahay_engine::variants;

use super::hands::{can_use, fighter, hand_of, legal_actions, meld_owner};

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

/// A kind of chance to treat another player differently.
#[derive(Clone, Copy, Debug)]
enum ChanceKind {
    /// Fights of the other where a challenge is the AI's choice: folded. By the points of the
    /// responder.
    Fold,
    /// Dumps before the other's turn, with cards in hand of which the other can use some but not
    /// all: a usable one was dumped. By the share of such cards, in sixths.
    Feed,
    /// Cards that could be added to the other's melds: added.
    Add,
    /// Fights and challenges against others that are the AI's choice, where the other's hidden hand
    /// was better: declined. By the points of the player with the chance.
    DeferToBetter,
    /// The same where the other's hidden hand was not better.
    DeferToWorse,
}

/// The number of kinds of chances.
const KINDS: usize = 5;

/// The conduct of one player towards another, by kind of chance and by bucket.
type Conduct<T> = [[T; BUCKETS]; KINDS];

/// The observations of one game of a pair: the conduct of each of the two, towards the other and
/// towards the third player.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct PairGame {
    partner: [Conduct<ChanceCount>; 2],
    third: [Conduct<ChanceCount>; 2],
    /// The counts that the first paid the second, less those that it received.
    net_transfer: i64,
}

/// The conduct of honest players, as shares in thousandths.
#[derive(Clone, Copy, Debug)]
pub(super) struct HonestBaseline(Conduct<i64>);

/// The signs of a pair, each in thousandths of a standard deviation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Signs {
    yields: i64,
    feeds: i64,
    spares: i64,
    defers: i64,
    net_transfer: i64,
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
                let legal = legal_actions(state, seat);
                let mut dumps = (0_usize, 0_usize);
                for other in &legal {
                    if let Action::Dump { card } = other {
                        dumps.0 += 1;
                        dumps.1 += usize::from(can_use(wanted, *card));
                    }
                }
                if dumps.1 > 0 && dumps.1 < dumps.0 {
                    let share = (dumps.1 * BUCKETS / dumps.0).min(BUCKETS - 1);
                    self.record(seat, Some(next), ChanceKind::Feed, share, can_use(wanted, card));
                }
                // A player who ends its turn has added what it wanted to add.
                for other in &legal {
                    if let Action::Sapaw { meld, .. } = other {
                        self.record(seat, meld_owner(state, *meld), ChanceKind::Add, 0, false);
                    }
                }
            }
            Action::Sapaw { meld, .. } => {
                self.record(seat, meld_owner(state, meld), ChanceKind::Add, 0, true);
            }
            variants!(Action: Draw, Chow, Fight, Challenge, Fold, Drop, Tongits) => {}
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
            variants!(Action: Drop, Sapaw, Dump, Tongits) => false,
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
        self.record(seat, by, ChanceKind::Fold, points_bucket(hand), gave_way);
        for other in seat.others(SEATS).filter(|other| by != Some(*other)) {
            let is_better = deadwood(hand_of(state, other)) < deadwood(hand);
            let kind = if is_better { ChanceKind::DeferToBetter } else { ChanceKind::DeferToWorse };
            self.record(seat, Some(other), kind, points_bucket(hand), gave_way);
        }
    }

    /// Records who owes whom at the end of the game, and returns the observations.
    pub(super) fn finish(mut self, state: &Tongits) -> PairGame {
        let debts = state.outcome().map(|outcome| outcome.debts).unwrap_or_default();
        let [first, second] = self.seats;
        for debt in debts {
            let counts = i64::from(debt.counts());
            if (debt.from, debt.to) == (first, second) {
                self.counts.net_transfer += counts;
            } else if (debt.from, debt.to) == (second, first) {
                self.counts.net_transfer -= counts;
            }
        }
        self.counts
    }

    /// Records a chance of one of the pair with respect to another player, if there is one.
    fn record(
        &mut self,
        seat: Seat,
        other: Option<Seat>,
        kind: ChanceKind,
        bucket: usize,
        is_taken: bool,
    ) {
        let place = self.seats.iter().position(|one| *one == seat);
        let other = other.filter(|other| *other != seat);
        let (Some(place), Some(other)) = (place, other) else { return };
        let is_partner = other == self.seats[1 - place];
        let counts = &mut self.counts;
        let towards = if is_partner { &mut counts.partner } else { &mut counts.third };
        towards[place][kind as usize][bucket]
            .add(ChanceCount { chances: 1, taken: i64::from(is_taken) });
    }
}

/// Returns the bucket for the points of a hand.
fn points_bucket(hand: CardSet) -> usize {
    usize::try_from(deadwood(hand) / 5).unwrap_or(BUCKETS).min(BUCKETS - 1)
}

impl ChanceCount {
    fn add(&mut self, other: Self) {
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

fn add_conduct(sum: &mut Conduct<ChanceCount>, other: &Conduct<ChanceCount>) {
    for (sum, one) in sum.as_flattened_mut().iter_mut().zip(other.as_flattened()) {
        sum.add(*one);
    }
}

impl HonestBaseline {
    pub(super) fn from_games<'a>(games: impl IntoIterator<Item = &'a PairGame>) -> Self {
        let mut sum = Conduct::default();
        for game in games {
            game.partner.iter().chain(&game.third).for_each(|one| add_conduct(&mut sum, one));
        }
        Self(sum.map(|buckets| buckets.map(ChanceCount::share)))
    }

    /// Returns the excess of a conduct over that of honest players, and its variance.
    fn excess(&self, conduct: &Conduct<ChanceCount>, kind: ChanceKind) -> (i64, i64) {
        let buckets = conduct[kind as usize].iter().zip(self.0[kind as usize]);
        buckets.fold((0, 0), |(beyond, variance), (taken, baseline)| {
            let (more, varies) = taken.excess(baseline);
            (beyond + more, variance + varies)
        })
    }
}

impl Signs {
    pub(super) fn from_games(games: &[PairGame], baseline: &HonestBaseline) -> Self {
        let mut partner = [Conduct::default(); 2];
        let mut third = [Conduct::default(); 2];
        let mut net_transfer = 0_i64;
        let mut squares = 0_i64;
        for game in games {
            for place in 0..2 {
                add_conduct(&mut partner[place], &game.partner[place]);
                add_conduct(&mut third[place], &game.third[place]);
            }
            net_transfer += game.net_transfer;
            squares += game.net_transfer * game.net_transfer;
        }
        // Compares the conduct of each of the two in two respects.
        let sign = |one: [_; 2], kind, other: [_; 2], other_kind| {
            let [first, second] = [0, 1].map(|place| {
                let one = baseline.excess(&one[place], kind);
                compare_conduct(one, baseline.excess(&other[place], other_kind))
            });
            combine_signs(first, second)
        };
        Self {
            yields: sign(partner, ChanceKind::Fold, third, ChanceKind::Fold),
            feeds: sign(partner, ChanceKind::Feed, third, ChanceKind::Feed),
            spares: sign(third, ChanceKind::Add, partner, ChanceKind::Add),
            defers: sign(partner, ChanceKind::DeferToBetter, partner, ChanceKind::DeferToWorse),
            net_transfer: deviations(net_transfer.abs() * ONE, squares * ONE * ONE),
        }
    }

    /// Returns a score that rises with the number and the clarity of signs: a sum of squares,
    /// because one clear sign says more than many faint ones.
    pub(super) fn score(self) -> i64 {
        let Self { yields, feeds, spares, defers, net_transfer } = self;
        [yields, feeds, spares, defers, net_transfer]
            .into_iter()
            .map(|sign| sign.max(0).saturating_pow(2))
            .sum()
    }
}

/// Combines the signs of both players: a clear sign of one, or a fainter one of both.
fn combine_signs(one: i64, other: i64) -> i64 {
    one.max(other).max((one + other) * 707 / ONE)
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
    count_deviations(sum, deviation)
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
