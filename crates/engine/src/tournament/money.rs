//! The pool of a tournament and its prizes (chapter 6).

use alloc::sync::Arc;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::coins::Coins;
use crate::tournament::Tournament;
use crate::tournament::entrant::Entrant;
use crate::tournament::event::{Event, FinalPlace};
use crate::tournament::prizes::{share_ties, split_by_weights};
use crate::tournament::transfer::{Payment, TransferKey};

/// The pool of a tournament, fixed when registration closes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pool {
    /// The sum of all prizes: the buy-ins, completed to the guarantee.
    pub amount: Coins,
    /// The buy-ins that the house pays for passes (rule 1.6).
    pub passes: Coins,
    /// The part of the guarantee that is missing.
    pub guarantee: Coins,
    /// The fees of all entries by coins.
    pub fee: Coins,
    /// The weights of the places, at most one for each player.
    pub(super) weights: Vec<u64>,
    /// The prizes from the first place.
    pub prizes: Vec<Coins>,
}

impl Tournament {
    /// Closes registration: fixes the pool, and requests the fee and the house's part (rules 6.1 to
    /// 6.4).
    pub(super) fn close_registration(&mut self, events: &mut Vec<Event>) {
        let count = |payment| {
            self.count_entrants(|entrant| entrant.takes_part() && entrant.payment == payment)
        };
        let entry = self.terms.entry;
        let times = |coins: Coins, count| coins.checked_mul(count).expect("prices are bounded");
        let persons = self.count_entrants(|entrant| entrant.takes_part() && !entrant.is_bot);
        let fee = times(entry.fee, count(Payment::Coins));
        let passes = times(entry.buy_in, count(Payment::Pass));
        let buy_ins = times(entry.buy_in, count(Payment::Coins) + count(Payment::Pass));
        let guaranteed = if persons == 0 { Coins::ZERO } else { self.terms.guarantee };
        let amount = buy_ins.max(guaranteed);
        let guarantee = amount.checked_sub(buy_ins).unwrap_or_default();
        let mut steps = self.terms.payouts.iter().rev();
        let step = steps.find(|step| step.entrants_from <= persons);
        let shares = step.map(|step| step.shares.as_slice()).unwrap_or_default();
        let weights = shares.iter().take(persons as usize).map(|share| u64::from(*share));
        let weights: Vec<u64> = weights.collect();
        let prizes = split_by_weights(amount, &weights);
        self.account.request_coins(TransferKey::Fee, None, fee);
        self.account.request_coins(TransferKey::Passes, None, passes);
        self.account.request_coins(TransferKey::Guarantee, None, guarantee);
        events.push(Event::RegistrationClosed { pool: amount, prizes: prizes.clone() });
        self.pool = Some(Arc::new(Pool { amount, passes, guarantee, fee, weights, prizes }));
    }

    /// Gives final places to entrants behind `better` players, and requests their prizes (rules 6.5
    /// and 6.6). Bots have no place.
    pub(super) fn give_places(
        &mut self,
        mut places: Vec<u32>,
        better: usize,
        events: &mut Vec<Event>,
    ) {
        places.retain(|place| !self.at_place(*place).is_bot);
        self.rank(&mut places);
        let Some(pool) = self.pool.clone() else { return };
        let sizes = self.tie_sizes(&places);
        let left = pool.prizes.get(better..).unwrap_or_default();
        let prizes = share_ties(left, &sizes);
        let firsts = sizes.iter().scan(better + 1, |next, size| {
            let first = *next;
            *next += size;
            Some(core::iter::repeat_n(first, *size))
        });
        let mut given = Vec::with_capacity(places.len());
        for ((number, place), (first, prize)) in
            (better + 1..).zip(&places).zip(firsts.flatten().zip(prizes))
        {
            let player = self.at_place(*place).player;
            let number = u32::try_from(number).unwrap_or(u32::MAX);
            let shared = u32::try_from(first).unwrap_or(u32::MAX);
            given.push(FinalPlace { player, place: shared, prize });
            if prize > Coins::ZERO {
                self.prizes_given += 1;
                self.given = self.given.checked_add(prize).expect("prizes are within the pool");
                self.account.request_coins(
                    TransferKey::Place { place: number },
                    Some(player),
                    prize,
                );
            }
        }
        events.push(Event::Placed { places: given });
    }

    /// Returns the numbers of equally ranked entrants, in the order of ranked places.
    pub(super) fn tie_sizes(&self, places: &[u32]) -> Vec<usize> {
        let is_tied = |a: &u32, b: &u32| self.at_place(*a).standing == self.at_place(*b).standing;
        places.chunk_by(is_tied).map(<[u32]>::len).collect()
    }

    /// Returns the places of the players who may still win a prize.
    pub(super) fn persons_left(&self) -> Vec<u32> {
        let is_left = |entrant: &Entrant| entrant.takes_part() && !entrant.is_bot;
        let mut places = self.places_where(is_left);
        self.rank(&mut places);
        places
    }
}
