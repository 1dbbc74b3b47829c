//! The cancellation of a tournament (chapter 7).

use alloc::vec;
use alloc::vec::Vec;

use crate::coins::Coins;
use crate::tournament::Tournament;
use crate::tournament::entrant::{Entrant, EntrantState};
use crate::tournament::event::{Event, Refund};
use crate::tournament::input::CancelReason;
use crate::tournament::phase::Phase;
use crate::tournament::prizes::{share_ties, split_by_weights, split_equally};
use crate::tournament::transfer::{Payment, TransferKey};

impl Tournament {
    /// Cancels the tournament and requests everything that is paid back.
    pub(super) fn cancel(&mut self, reason: CancelReason, events: &mut Vec<Event>) {
        let refunds = if self.games_scored == 0 {
            self.return_everything();
            Vec::new()
        } else {
            if self.pool.is_none() {
                self.close_registration(events);
            }
            self.refund_players()
        };
        for place in self.places_where(|entrant| entrant.state() == EntrantState::Pending) {
            // The entry is returned once the ledger has confirmed it.
            self.entrants.set_state(place, EntrantState::Withdrawn);
        }
        self.waiting.clear();
        for place in self.places_where(|entrant| entrant.table.is_some()) {
            self.at_place_mut(place).table = None;
        }
        self.tables.remove_ended();
        self.phase = Phase::Cancelled { reason };
        events.push(Event::Cancelled { reason, seed: self.seed, refunds });
    }

    /// Returns all entries in the form in which they were paid, and the house's part to the house
    /// (rule 7.1).
    fn return_everything(&mut self) {
        if let Some(pool) = self.pool.clone() {
            self.account.request_coins(TransferKey::FeeReturn, None, pool.fee);
            self.account.request_coins(TransferKey::PassesReturn, None, pool.passes);
            self.account.request_coins(TransferKey::GuaranteeReturn, None, pool.guarantee);
        }
        for place in self.places_where(Entrant::takes_part) {
            self.return_entry(place);
        }
    }

    /// Divides the rest of the pool among the players who are left, with the fee of their entries
    /// (rules 7.2 and 7.3).
    fn refund_players(&mut self) -> Vec<Refund> {
        let places = self.persons_left();
        let parts = self.pool_parts(&places);
        let pays_fee = |place: &u32| self.at_place(*place).payment == Payment::Coins;
        let payers = places.iter().filter(|place| pays_fee(place)).count();
        let payers = u32::try_from(payers).unwrap_or(u32::MAX);
        let fee = self.terms.entry.fee;
        let fees = fee.checked_mul(payers).expect("prices are bounded");
        let refund = |(place, part): (&u32, Coins)| {
            let fee = if pays_fee(place) { fee } else { Coins::ZERO };
            let amount = part.checked_add(fee).expect("amounts are bounded");
            Refund { player: self.at_place(*place).player, amount }
        };
        let refunds: Vec<Refund> = places.iter().zip(parts).map(refund).collect();
        self.account.request_coins(TransferKey::FeeReturn, None, fees);
        for Refund { player, amount } in &refunds {
            let key = TransferKey::Cancel { player: *player };
            self.account.request_coins(key, Some(*player), *amount);
        }
        refunds
    }

    /// Returns the parts of ranked players in the rest of the pool.
    fn pool_parts(&self, places: &[u32]) -> Vec<Coins> {
        let Some(pool) = &self.pool else { return vec![Coins::ZERO; places.len()] };
        let sizes = self.tie_sizes(places);
        if self.prizes_given > 0 {
            // Each gets the least prize that is left, and the rest by standing: the prizes of the
            // places that are left.
            let left = &pool.prizes[..places.len().min(pool.prizes.len())];
            return share_ties(left, &sizes);
        }
        let half = Coins::from_hundredths(pool.amount.hundredths() / 2);
        let rest = pool.amount.checked_sub(half).unwrap_or_default();
        let weights = &pool.weights[..places.len().min(pool.weights.len())];
        let by_standing = share_ties(&split_by_weights(rest, weights), &sizes);
        let equal = split_equally(half, places.len());
        let add = |(a, b): (Coins, &Coins)| a.checked_add(*b).expect("amounts are bounded");
        by_standing.into_iter().zip(&equal).map(add).collect()
    }
}
