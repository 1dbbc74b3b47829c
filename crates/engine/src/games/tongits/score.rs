//! The end of a game: who wins, what each hand counts, and what each loser owes (rules 4.3 to
//! 6.6). Debts are in counts; coins, fee and POT are the table's.

use alloc::vec::Vec;

use crate::cards::CardSet;
use crate::game::{Debt, Item, Outcome};
use crate::games::tongits::arrange::Arrangement;
use crate::games::tongits::event::{BySeat, Ending, Shown};
use crate::games::tongits::meld::{has_secret, points_of};
use crate::games::tongits::phase::{End, Public};
use crate::games::tongits::rules::{AllBurned, ChallengersTied, SEATS, is_special};
use crate::seat::Seat;

/// A hand as it is shown. The winner by Tongits is never burned (rule 1.8).
pub(super) fn show(public: &Public, seat: Seat, hand: CardSet, has_tongits: bool) -> Shown {
    let arrangement = Arrangement::of(hand);
    let burned = !has_tongits && !public.melds.is_open(seat) && !has_secret(hand);
    let points = if burned { points_of(hand) } else { arrangement.deadwood };
    Shown { hand, arrangement, burned, points }
}

/// The winner of a showdown between the fighter and its challengers, the latter in the order in
/// which they answered (rules 4.3, 4.4).
pub(super) fn showdown_winner(
    public: &Public,
    hands: &BySeat<Shown>,
    fighter: Seat,
    challengers: &[Seat],
) -> Seat {
    let points = |seat: &Seat| hands[seat.index()].points;
    let Some(fewest) = challengers.iter().map(points).min() else {
        return fighter;
    };
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

/// The winner when the stock is exhausted (rules 5.2, 5.3).
pub(super) fn stock_winner(
    public: &Public,
    hands: &BySeat<Shown>,
    drew_last: Seat,
) -> Option<Seat> {
    let all_burned = hands.iter().all(|shown| shown.burned);
    if all_burned && public.rules.all_burned == AllBurned::Nobody {
        return None;
    }
    // The seat that drew last and then those after it: of equal hands the first is the best.
    let seats = core::iter::once(drew_last).chain(drew_last.others(SEATS));
    seats
        .filter(|seat| all_burned || !hands[seat.index()].burned)
        .min_by_key(|seat| hands[seat.index()].points)
}

/// The outcome of a game that is over, from what then lies open.
pub(super) fn outcome(public: &Public) -> Option<Outcome> {
    let (end, hands) = (public.end.as_ref()?, public.shown.as_deref()?);
    let Some(winner) = end.winner else {
        return Some(Outcome::default());
    };
    let debts = winner
        .others(SEATS)
        .map(|loser| Debt {
            from: loser,
            to: winner,
            items: items(public, end, hands, winner, loser),
        })
        .collect();
    Some(Outcome { winner: Some(winner), takes_pot: false, debts })
}

/// What a loser owes the winner, line by line: the normal count, and whatever else is not zero.
fn items(
    public: &Public,
    end: &End,
    hands: &BySeat<Shown>,
    winner: Seat,
    loser: Seat,
) -> Vec<Item> {
    let counts = &public.rules.counts;
    let won = &hands[winner.index()];
    let specials = won.hand.union(public.melds.own_cards(winner));
    let specials = specials.iter().filter(|card| is_special(*card)).map(|_| 1).sum::<u32>();
    let in_showdown = end.showdown.contains(loser);
    let when = |holds: bool, counts: u32| if holds { counts } else { 0 };
    let lines = [
        ("normal", "6.1", counts.normal),
        ("tongits", "6.2", when(end.ending == Ending::Tongits, counts.tongits)),
        ("special", "6.3", specials * counts.special),
        ("secret", "6.4", won.arrangement.secret_melds() * counts.secret),
        ("challenge", "6.5", when(in_showdown, counts.challenge)),
        ("burned", "6.6", when(!in_showdown && hands[loser.index()].burned, counts.burned)),
    ];
    let owed =
        lines.into_iter().enumerate().filter(|(line, (.., counts))| *line == 0 || *counts > 0);
    owed.map(|(_, (name, rule, counts))| Item { name: name.into(), rule: rule.into(), counts })
        .collect()
}
