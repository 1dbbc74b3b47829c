//! The winner of a showdown, and the debts that result (rules 6.3, 7.2, 8.2 and 8.3).

use alloc::vec::Vec;

use crate::game::{Debt, Outcome};
use crate::games::list::BySeat;
use crate::games::tongo_options::card::CardSet;
use crate::games::tongo_options::dice;
use crate::games::tongo_options::event::ShownHand;
use crate::games::tongo_options::phase::{GameEnding, Showdown};
use crate::games::tongo_options::public::PublicState;
use crate::games::tongo_options::strength::{Strength, best_floor, matches};
use crate::seat::Seat;

/// Returns the shown hands in the order in which equal hands win: from the left of the challenger,
/// whose hand is the last.
pub(super) fn shown_hands(
    public: &PublicState,
    hands: &BySeat<CardSet>,
    due: &Showdown,
) -> Vec<ShownHand> {
    let floors = public.face_up_cards();
    let dice = dice::count_values(&public.dice);
    let order = due.by.others(public.seats()).chain([due.by]);
    let show = |seat: Seat| {
        let hand = hands[seat.index()];
        let floor = if due.ending == GameEnding::Acquire && seat == due.by {
            public.player(seat).facing
        } else {
            best_floor(hand, &floors, &dice).0
        };
        ShownHand { seat, hand, floor, matches: matches(hand, floors[usize::from(floor)], &dice) }
    };
    order.filter(|seat| due.seats.contains(*seat)).map(show).collect()
}

/// Returns the seat of the first of the strongest hands.
pub(super) fn winner(public: &PublicState, shown: &[ShownHand], due: &Showdown) -> Seat {
    let floors = public.face_up_cards();
    let dice = dice::count_values(&public.dice);
    let strength =
        |one: &&ShownHand| Strength::from_hand(one.hand, floors[usize::from(one.floor)], &dice);
    // Of equal hands the first wins, and `max_by_key` returns the last.
    shown.iter().rev().max_by_key(strength).map_or(due.by, |one| one.seat)
}

/// Returns the outcome: every other seat owes the winner its payments (rule 8.3).
pub(super) fn outcome(public: &PublicState) -> Option<Outcome> {
    let winner = public.end?.winner;
    let others = winner.others(public.seats());
    let debts =
        others.map(|from| Debt { from, to: winner, items: public.player(from).paid.items() });
    let debts = debts.filter(|debt| !debt.items.is_empty()).collect();
    Some(Outcome { winner: Some(winner), takes_pot: false, debts })
}
