//! The division of the pot in half chips (rule 6), and the debts that result.

use alloc::vec;
use alloc::vec::Vec;

use crate::game::{Debt, Item, Outcome};
use crate::games::tongo_assets::phase::{GameEnding, ShownHand};
use crate::games::tongo_assets::public::PublicState;
use crate::games::tongo_assets::ring::Ring;
use crate::games::tongo_assets::rules::HALVES;
use crate::seat::Seat;

/// Returns the seat with the strongest hand of a showdown (rule 5). Among equal hands the
/// confronter's comes first, then turn order decides.
pub(super) fn strongest_seat(confronter: Seat, seats: u8, shown: &Ring<Option<ShownHand>>) -> Seat {
    let mut best = confronter;
    for seat in confronter.others(seats) {
        let reading = |seat: Seat| shown[seat].map(|shown| shown.reading);
        if reading(seat) > reading(best) {
            best = seat;
        }
    }
    best
}

/// Returns the awards if one seat takes the whole pot (rule 6.1).
pub(super) fn whole_pot(public: &PublicState, winner: Seat) -> Ring<u32> {
    let mut awards = Ring::new(public.seats());
    awards[winner] = public.pot * HALVES;
    awards
}

/// Returns the awards of a showdown (rules 6.2, 4.4 and 4.5).
pub(super) fn showdown_awards(public: &PublicState, confronter: Seat, winner: Seat) -> Ring<u32> {
    let seats = public.seats();
    let pot = public.pot * HALVES;
    let in_turn = || confronter.others(seats).chain([confronter]);
    let still_in = || in_turn().filter(|seat| public.playing.contains(*seat));
    let mut awards = Ring::new(seats);
    let first = share_rounded_up(pot, u32::from(public.rules.winner_share), 100);
    let rest = pot - first;
    let mut left = rest;
    awards[winner] += first;
    for seat in still_in() {
        let margin = share_rounded_up(rest, u32::from(public.players[seat].margin), 200).min(left);
        awards[seat] += margin;
        left -= margin;
    }
    let others = public.playing.without(winner);
    let part = left.checked_div(seat_count(others.len())).unwrap_or(0);
    for seat in others.iter() {
        awards[seat] += part;
        left -= part;
    }
    awards[winner] += left;
    redistribute_leverage(public, winner, &mut awards);
    awards
}

/// Distributes the part that leveraged seats give up among the seats that paid in full (rule 4.5).
fn redistribute_leverage(public: &PublicState, winner: Seat, awards: &mut Ring<u32>) {
    let mut given = 0;
    for seat in public.playing.iter() {
        let leverage = public.players[seat].leverage;
        if leverage > 0 {
            let back = share_rounded_up(awards[seat], 100 - u32::from(leverage), 100);
            awards[seat] -= back;
            given += back;
        }
    }
    let paid_in_full = |seat: &Seat| {
        let player = &public.players[*seat];
        player.leverage == 0 && player.margin == 0
    };
    let full = || public.playing.iter().filter(paid_in_full);
    let part = given / seat_count(full().count()).max(1);
    for seat in full() {
        awards[seat] += part;
        given -= part;
    }
    awards[winner] += given;
}

/// Returns a share of an amount, rounded up.
fn share_rounded_up(amount: u32, parts: u32, whole: u32) -> u32 {
    let share = (u64::from(amount) * u64::from(parts)).div_ceil(u64::from(whole));
    u32::try_from(share).expect("a share is at most the whole")
}

fn seat_count(seats: usize) -> u32 {
    u32::try_from(seats).expect("a table has at most eight seats")
}

/// Returns the outcome: seats that end with less than they began with pay those that end with more,
/// so that the house takes its fee from net winnings alone (rule 6.3). Payers and receivers are
/// matched in ascending order of seat.
pub(super) fn outcome(public: &PublicState) -> Option<Outcome> {
    let end = public.end?;
    let before = public.rules.latinum * HALVES;
    let mut lost = Ring::<u32>::new(public.seats());
    let mut won = Ring::<u32>::new(public.seats());
    for (seat, player) in public.players.by_seat() {
        let after = player.chips * HALVES + end.awards[seat];
        lost[seat] = before.saturating_sub(after);
        won[seat] = after.saturating_sub(before);
    }
    let rule = match end.ending {
        GameEnding::LastIn => "6.1",
        GameEnding::Acquisition | GameEnding::Showdown => "6.2",
    };
    let mut debts = Vec::new();
    for from in Seat::all(public.seats()) {
        for to in Seat::all(public.seats()) {
            let counts = lost[from].min(won[to]);
            if counts > 0 {
                lost[from] -= counts;
                won[to] -= counts;
                let items = vec![Item { name: "pot".into(), rule: rule.into(), counts }];
                debts.push(Debt { from, to, items });
            }
        }
    }
    Some(Outcome { winner: Some(end.winner), takes_pot: false, debts })
}
