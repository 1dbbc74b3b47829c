//! The pool of a tournament and its prizes (chapter 6).

use alloc::sync::Arc;
use alloc::vec::Vec;

use crate::coins::Coins;
use crate::table::PlayerId;
use crate::tournament::Tournament;
use crate::tournament::entrant::{Entrant, EntrantState};
use crate::tournament::event::{Event, FinalPlace};
use crate::tournament::phase::Phase;
use crate::tournament::prizes::{share_ties, split_by_weights};
use crate::tournament::transfer::{Payment, TransferKey};

/// The pool of a tournament, fixed when registration closes.
#[derive(Clone, Debug, PartialEq, Eq)]
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
        let pool = self.compute_pool(0);
        self.account.request_coins(TransferKey::Fee, None, pool.fee);
        self.account.request_coins(TransferKey::Passes, None, pool.passes);
        self.account.request_coins(TransferKey::Guarantee, None, pool.guarantee);
        let prizes = pool.prizes.clone();
        events.push(Event::RegistrationClosed { pool: pool.amount, prizes });
        self.pool = Some(Arc::new(pool));
    }

    /// Returns the pool, once registration is closed; before, the pool that the present entrants
    /// would have, completed by payments in coins to the minimum of entrants, or to one entrant where
    /// house bots complete them.
    pub fn expected_pool(&self) -> Pool {
        if let Some(pool) = &self.pool {
            return Pool::clone(pool);
        }
        let persons = self.count_entrants(|entrant| entrant.takes_part() && !entrant.is_bot);
        let least = if self.terms.bots { 1 } else { self.terms.entrants.least };
        self.compute_pool(least.saturating_sub(persons))
    }

    /// Computes the pool of the present entrants and of further ones who pay in coins.
    fn compute_pool(&self, further: u32) -> Pool {
        let count = |payment| {
            self.count_entrants(|entrant| entrant.takes_part() && entrant.payment == payment)
        };
        let entry = self.terms.entry;
        let times = |coins: Coins, count| coins.checked_mul(count).expect("prices are bounded");
        let persons = self.count_entrants(|entrant| entrant.takes_part() && !entrant.is_bot);
        let persons = persons.saturating_add(further);
        let paid = count(Payment::Coins).saturating_add(further);
        let fee = times(entry.fee, paid);
        let passes = times(entry.buy_in, count(Payment::Pass));
        let buy_ins = times(entry.buy_in, paid + count(Payment::Pass));
        let guaranteed = if persons == 0 { Coins::ZERO } else { self.terms.guarantee };
        let amount = buy_ins.max(guaranteed);
        let guarantee = amount.checked_sub(buy_ins).unwrap_or_default();
        let mut steps = self.terms.payouts.iter().rev();
        let step = steps.find(|step| step.entrants_from <= persons);
        let shares = step.map(|step| step.shares.as_slice()).unwrap_or_default();
        let weights = shares.iter().take(persons as usize).map(|share| u64::from(*share));
        let weights: Vec<u64> = weights.collect();
        let prizes = split_by_weights(amount, &weights);
        Pool { amount, passes, guarantee, fee, weights, prizes }
    }

    /// Returns the final place of a player with its prize; `None` for a bot, and while games can
    /// change the place (rules 6.5 and 6.6).
    pub fn final_place(&self, player: PlayerId) -> Option<FinalPlace> {
        let own = self.entrant(player)?;
        let is_final = own.state() == EntrantState::Eliminated || self.phase == Phase::Ended;
        let place = self.rank_of(player).filter(|_| is_final)?;
        let tied = self.places_where(|entrant| {
            entrant.is_ranked() && !entrant.is_bot && entrant.standing == own.standing
        });
        let number = tied.iter().position(|at| self.at_place(*at).player == player)?;
        let prizes = self.pool.as_ref().map(|pool| pool.prizes.as_slice()).unwrap_or_default();
        let left = prizes.get(place as usize - 1..).unwrap_or_default();
        let prize = share_ties(left, &[tied.len()]).get(number).copied().unwrap_or_default();
        Some(FinalPlace { player, place, prize })
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
