//! The knowledge from which an AI chooses an action of its seat, and what all of them derive from
//! it.

use bahay_engine::games::tongo_options::analysis::{check, is_commitment};
use bahay_engine::games::tongo_options::{
    Action, CardSet, NewCosts, PlayerState, PublicState, View,
};
use bahay_engine::seat::Seat;

use crate::tongo_options::odds::CERTAIN;

/// The permission of an AI to commit its seat (rule 9.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CommitmentPolicy {
    Allowed,
    Barred,
}

/// A seat that is to act, with what it knows.
#[derive(Clone, Copy)]
pub(super) struct ActingSeat<'a> {
    pub(super) public: &'a PublicState,
    pub(super) seat: Seat,
    pub(super) hand: CardSet,
    pub(super) player: &'a PlayerState,
    /// The number of opponents to beat: all seats still in, or, after reserves were converted, the
    /// seats that have wagered and half of those that have not answered.
    pub(super) others: usize,
    commitments: CommitmentPolicy,
}

impl<'a> ActingSeat<'a> {
    /// Returns the seat of the viewer; `None` if it is not prompted.
    pub(super) fn from_view(view: &'a View, commitments: CommitmentPolicy) -> Option<Self> {
        let public = &view.public;
        let seat = view
            .viewer
            .filter(|seat| public.prompt().is_some_and(|prompt| prompt.seats.contains(*seat)))?;
        let hand = view.hand()?;
        let player = public.player(seat);
        let mut acting = Self { public, seat, hand, player, others: 0, commitments };
        let others = acting.others_in();
        let all = others.clone().count();
        let wagered = others.filter(|other| other.paid.reserves > 0).count();
        acting.others =
            if public.reserves.is_some() { (wagered + (all - wagered) / 2).max(1) } else { all };
        Some(acting)
    }

    /// Iterates over the opponents that have not folded.
    fn others_in(&self) -> impl Iterator<Item = &'a PlayerState> + Clone + use<'a> {
        let public = self.public;
        let others = self.seat.others(public.seats()).map(move |other| public.player(other));
        others.filter(|other| !other.folded)
    }

    /// Returns whether the action is legal and the AI may play it.
    pub(super) fn is_allowed(&self, action: &Action) -> bool {
        let may_commit = self.commitments == CommitmentPolicy::Allowed;
        (may_commit || !is_commitment(self.public, action)) && self.is_legal(action)
    }

    pub(super) fn is_legal(&self, action: &Action) -> bool {
        check(self.public, self.seat, self.hand, action).is_ok()
    }

    /// Returns an equal share of the chance of winning, in thousandths.
    pub(super) fn even_chance(&self) -> u32 {
        CERTAIN / u32::try_from(self.others + 1).expect("few seats")
    }

    /// Confronts a target for which `is_worth` holds, given whether it may evade. A target that
    /// cannot evade is preferred.
    pub(super) fn choose_confrontation(&self, is_worth: impl Fn(bool) -> bool) -> Option<Action> {
        let may_evade = |target: Seat| self.public.player(target).may_evade_by_token();
        let confront = |target: Seat| Action::Confront { target: Some(target) };
        let targets = self.seat.others(self.public.seats());
        let legal = targets
            .filter(|target| is_worth(may_evade(*target)) && self.is_allowed(&confront(*target)));
        legal.min_by_key(|target| may_evade(*target)).map(confront)
    }

    /// Raises the sell cost above the buy cost by one, so that a turn costs something.
    pub(super) fn raise_sell_cost(&self) -> Option<Action> {
        let sell = Some(self.public.costs.buy + 1);
        let raise = Action::Raise(NewCosts { sell, ..NewCosts::default() });
        Some(raise).filter(|raise| self.is_allowed(raise))
    }

    /// Returns whether hand cards may be replaced at the end of the turn. The legality does not
    /// depend on the choice of cards.
    pub(super) fn may_redraw(&self) -> bool {
        let discards = self.hand.iter().take(1).collect();
        self.is_allowed(&Action::PayToEvade { discards })
    }

    /// Returns the wager that answers converted reserves, and the expected pot with it: half of the
    /// seats that have not answered are expected to wager too.
    pub(super) fn wager_and_pot(&self) -> (u32, u32) {
        let wager = self.public.reserves.map_or(0, |reserves| reserves.wager);
        let wager = u32::from(self.player.chips.min(wager));
        let unanswered = self.others_in().filter(|other| other.paid.reserves == 0);
        let more = (1..).zip(unanswered).last().map_or(0, |(count, _)| count * wager / 2);
        (wager, u32::from(self.public.pot) + wager + more)
    }
}
