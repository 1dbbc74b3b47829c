//! The scoring of a finished game: the winner, the points of each hand, and the debts of each loser
//! (rules 4.3 to 6.6, or 10.1 to 11.3). Debts are in counts; coins, fee and POT belong to the
//! table.

use alloc::vec::Vec;

use crate::cards::{Card, CardSet};
use crate::game::{Debt, Item, Outcome};
use crate::games::tongits::arrange::Arrangement;
use crate::games::tongits::event::{BySeat, EndingKind, ShownHand, SpecialEnding};
use crate::games::tongits::meld::{has_secret, total_points};
use crate::games::tongits::phase::{PublicState, TongitsEnd};
use crate::games::tongits::rules::{
    AllBurned, ChallengersTied, Counts, EndingCounts, ItemCounts, SEATS, is_special,
};
use crate::seat::Seat;

/// Returns a hand as it is shown at the end. The winner by Tongits is never burned (rule 1.8).
pub(super) fn show_hand(
    public: &PublicState,
    seat: Seat,
    hand: CardSet,
    has_tongits: bool,
) -> ShownHand {
    let secret_run_min = public.rules.secret_run_min;
    let arrangement = Arrangement::from_hand(hand, secret_run_min);
    let face_down: Vec<CardSet> = public.melds.iter_face_down(seat).collect();
    let has_secret = !face_down.is_empty() || has_secret(hand, secret_run_min);
    let burned = !has_tongits && !public.melds.is_open(seat) && !has_secret;
    let points = if burned { total_points(hand) } else { arrangement.deadwood };
    ShownHand { hand, arrangement, burned, points, face_down }
}

/// Returns the winner of a showdown between the fighter and its challengers, the latter in the
/// order of their answers (rules 4.3, 4.4).
pub(super) fn showdown_winner(
    public: &PublicState,
    hands: &BySeat<ShownHand>,
    fighter: Seat,
    challengers: &[Seat],
) -> Seat {
    let points = |seat: &Seat| hands[seat.index()].points;
    let Some(fewest) = challengers.iter().map(points).min() else { return fighter };
    if points(&fighter) < fewest {
        return fighter;
    }
    let is_best = |seat: &Seat| challengers.contains(seat) && points(seat) == fewest;
    let best = match public.rules.challengers_tied {
        ChallengersTied::FirstAfterFighter => fighter.others(SEATS).find(is_best),
        ChallengersTied::LastAnswer => challengers.iter().copied().rev().find(is_best),
    };
    best.expect("a challenger has the fewest points of the challengers")
}

/// Returns the winner if the stock is exhausted (rules 5.2, 5.3).
pub(super) fn stock_winner(
    public: &PublicState,
    hands: &BySeat<ShownHand>,
    drew_last: Seat,
) -> Option<Seat> {
    let all_burned = hands.iter().all(|shown| shown.burned);
    if all_burned && public.rules.all_burned == AllBurned::Nobody {
        return None;
    }
    // The seats in order of precedence: the one that drew last, then those after it. Among equal
    // hands the first is the best.
    let seats = core::iter::once(drew_last).chain(drew_last.others(SEATS));
    seats
        .filter(|seat| all_burned || !hands[seat.index()].burned)
        .min_by_key(|seat| hands[seat.index()].points)
}

/// Returns the outcome of a finished game from its public state.
pub(super) fn outcome(public: &PublicState) -> Option<Outcome> {
    let end = public.end.as_ref()?;
    let hands = public.shown.as_deref()?;
    let Some(winner) = end.winner else { return Some(Outcome::default()) };
    let won = &hands[winner.index()];
    let debts = winner.others(SEATS).map(|loser| {
        let terms = DebtTerms { public, end, won, lost: &hands[loser.index()] };
        let items = match &public.rules.counts {
            Counts::Items(counts) => to_items(terms.item_lines(counts, winner, loser)),
            Counts::Endings(counts) => to_items(terms.ending_lines(counts, winner, loser)),
        };
        Debt { from: loser, to: winner, items }
    });
    let takes_pot = end.special == Some(SpecialEnding::Spread);
    Some(Outcome { winner: Some(winner), takes_pot, debts: debts.collect() })
}

/// An item of a debt: its name, rule and counts.
type DebtLine = (&'static str, &'static str, u32);

/// Returns the items that a loser owes: the basic one, and all others that are not zero.
fn to_items(lines: impl IntoIterator<Item = DebtLine>) -> Vec<Item> {
    let owed =
        lines.into_iter().enumerate().filter(|(line, (.., counts))| *line == 0 || *counts > 0);
    owed.map(|(_, (name, rule, counts))| Item { name: name.into(), rule: rule.into(), counts })
        .collect()
}

const fn counts_if(holds: bool, counts: u32) -> u32 {
    if holds { counts } else { 0 }
}

/// The data from which a loser's debt follows.
struct DebtTerms<'a> {
    public: &'a PublicState,
    end: &'a TongitsEnd,
    won: &'a ShownHand,
    lost: &'a ShownHand,
}

impl DebtTerms<'_> {
    /// Returns the items of rules 6.1 to 6.6.
    fn item_lines(&self, counts: &ItemCounts, winner: Seat, loser: Seat) -> [DebtLine; 6] {
        let specials = special_cards(self.public, winner, self.won).map(|_| 1).sum::<u32>();
        let in_showdown = self.end.showdown.contains(loser);
        let is_tongits = self.end.ending == EndingKind::Tongits;
        [
            ("normal", "6.1", counts.normal),
            ("tongits", "6.2", counts_if(is_tongits, counts.tongits)),
            ("special", "6.3", specials * counts.special),
            ("secret", "6.4", self.count_secret_melds(winner) * counts.secret),
            ("challenge", "6.5", counts_if(in_showdown, counts.challenge)),
            ("burned", "6.6", counts_if(!in_showdown && self.lost.burned, counts.burned)),
        ]
    }

    /// Returns the items of rules 10.1, 10.3, 11.2 and 11.3.
    fn ending_lines(&self, counts: &EndingCounts, winner: Seat, loser: Seat) -> [DebtLine; 4] {
        let TongitsEnd { ending, showdown, special, .. } = *self.end;
        let is_zero_count = special == Some(SpecialEnding::ZeroCountFight);
        let is_challenged = !showdown.is_empty();
        let (line, is_variable) = match ending {
            EndingKind::Tongits if special == Some(SpecialEnding::Spread) => {
                (("spread", "10.3", counts.tongits), false)
            }
            EndingKind::Tongits => (("tongits", "10.1", counts.tongits), false),
            EndingKind::Fight if is_zero_count => {
                (("zero_count_fight", "11.2", counts.zero_count_fight), true)
            }
            EndingKind::Fight if is_challenged => {
                (("challenge", "10.1", counts.challenge), showdown.contains(loser))
            }
            EndingKind::Fight => (("fight", "10.1", counts.fight), false),
            EndingKind::Stock => (("stock", "10.1", counts.stock), true),
        };
        let more_points = self.lost.points.saturating_sub(self.won.points);
        // Whole tens of points only: the remainder of the division is not owed.
        let variable = more_points / counts.variable_points;
        let secrets = counts_if(ending == EndingKind::Tongits, self.count_secret_melds(winner));
        let is_burned = self.lost.burned && !self.won.burned;
        let is_payout_variable = is_variable && self.public.rules.variable_payout;
        [
            line,
            ("secret", "10.1", secrets * counts.secret),
            ("burned", "10.1", counts_if(is_burned, counts.burned)),
            ("variable", "11.3", counts_if(is_payout_variable, variable)),
        ]
    }

    fn count_secret_melds(&self, winner: Seat) -> u32 {
        secret_melds(self.public, winner, self.won).map(|_| 1).sum()
    }
}

/// Returns the winner's special cards in its hand and its own melds (rule 6.3).
pub(super) fn special_cards(
    public: &PublicState,
    winner: Seat,
    won: &ShownHand,
) -> impl Iterator<Item = Card> {
    let cards = won.hand.union(public.melds.own_cards(winner));
    cards.iter().filter(|card| is_special(*card))
}

/// Returns the winner's secret melds: concealed in the hand, laid face down, or sagasas (rules 6.4,
/// 10.1).
pub(super) fn secret_melds(
    public: &PublicState,
    winner: Seat,
    won: &ShownHand,
) -> impl Iterator<Item = CardSet> {
    let in_hand = won.arrangement.iter_secret(public.rules.secret_run_min);
    in_hand.chain(public.melds.iter_secret(winner))
}
