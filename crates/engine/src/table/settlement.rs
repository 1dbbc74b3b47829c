//! The conversion of an outcome in counts into coins (rules 6.7, 6.8, 7.2).

use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::coins::Coins;
use crate::game::{Debt, Item, Outcome};
use crate::seat::Seat;
use crate::table::terms::Price;

/// The itemised settlement of a game, which the ledger books and the players see.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Settlement {
    pub winner: Option<Seat>,
    /// The payments from stakes to the receivers, before the fee.
    pub payments: Vec<Payment>,
    /// The fees that the receiving seats pay to the house out of their payments, in ascending order
    /// of seat.
    pub fees: Vec<Fee>,
    /// The payout of the POT, if this game takes it.
    pub pot: Option<PotPayout>,
}

/// A payment from one seat's stake to another seat.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Payment {
    pub from: Seat,
    pub to: Seat,
    /// The items of the debt, in counts.
    pub items: Vec<Item>,
    /// The number of counts times the price of a count.
    pub owed: Coins,
    /// The part of it that the stake could pay.
    pub paid: Coins,
}

/// The house's share of the amount that one seat received.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Fee {
    pub seat: Seat,
    pub gross: Coins,
    pub fee: Coins,
}

/// The payout of the whole POT to one seat.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PotPayout {
    pub seat: Seat,
    pub amount: Coins,
}

impl Settlement {
    /// Settles an outcome at this price, with `counts_per_bet` counts to a bet. Returns `None` if
    /// an amount does not fit 64 bits or a count has no price in whole hundredths; the bounds on
    /// bets exclude both.
    ///
    /// A stake pays its debts in the order of the outcome until nothing is left. Each debt to the
    /// winner grows by `hit_bonus` counts, 0 for none (rule 7.5).
    pub fn new(
        outcome: &Outcome,
        price: &Price,
        counts_per_bet: u32,
        stakes: &[Coins],
        hit_bonus: u32,
        pot: Option<PotPayout>,
    ) -> Option<Self> {
        let seats = u8::try_from(stakes.len()).ok()?;
        let count = price.count_price(counts_per_bet).ok()?;
        let mut left = stakes.to_vec();
        let mut payments = Vec::with_capacity(outcome.debts.len());
        for Debt { from, to, items } in &outcome.debts {
            let mut items = items.clone();
            if hit_bonus > 0 && outcome.winner == Some(*to) {
                let name = "second_hit".into();
                let rule = "7.5".into();
                items.push(Item { name, rule, counts: hit_bonus });
            }
            let mut counts = items.iter().map(|item| item.counts);
            let counts = counts.try_fold(0, u32::checked_add)?;
            let owed = count.checked_mul(counts)?;
            let stake = left.get_mut(from.index())?;
            let paid = owed.min(*stake);
            *stake = stake.checked_sub(paid)?;
            payments.push(Payment { from: *from, to: *to, items, owed, paid });
        }
        let mut fees = Vec::new();
        for seat in Seat::all(seats) {
            let received = payments.iter().filter(|payment| payment.to == seat);
            let gross = Coins::checked_sum(received.map(|payment| payment.paid))?;
            if !gross.is_zero() {
                let fee = gross.share_rounded_down(price.fee_basis_points)?;
                fees.push(Fee { seat, gross, fee });
            }
        }
        Some(Self { winner: outcome.winner, payments, fees, pot })
    }

    /// Returns the net result of a seat without its ante: the received payments after the fee and
    /// the POT, less the payments made. Returns `None` if it does not fit.
    pub fn net(&self, seat: Seat) -> Option<Coins> {
        let mut net = Coins::ZERO;
        for payment in self.payments.iter().filter(|payment| payment.from == seat) {
            net = net.checked_sub(payment.paid)?;
        }
        for fee in self.fees.iter().filter(|fee| fee.seat == seat) {
            net = net.checked_add(fee.gross)?.checked_sub(fee.fee)?;
        }
        match self.pot {
            Some(pot) if pot.seat == seat => net.checked_add(pot.amount),
            Some(_) | None => Some(net),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{PotPayout, Settlement};
    use crate::coins::Coins;
    use crate::game::{Debt, Item, Outcome};
    use crate::seat::Seat;
    use crate::table::terms::Price;
    use alloc::vec;
    use alloc::vec::Vec;

    fn seat(number: u8) -> Seat {
        Seat::new(number).unwrap()
    }

    fn debt(from: u8, to: u8, counts: u32) -> Debt {
        let items = vec![Item { name: "normal".into(), rule: "6.1".into(), counts }];
        Debt { from: seat(from), to: seat(to), items }
    }

    fn price(bet: i64, multiplier: u32) -> Price {
        Price { bet: Coins::from_hundredths(bet), multiplier, fee_basis_points: 500 }
    }

    fn outcome(debts: Vec<Debt>) -> Outcome {
        Outcome { winner: Some(seat(1)), takes_pot: false, debts }
    }

    fn settle(debts: Vec<Debt>, stakes: [i64; 3], pot: Option<PotPayout>) -> Settlement {
        let stakes = stakes.map(Coins::from_hundredths);
        Settlement::new(&outcome(debts), &price(100, 1), 1, &stakes, 0, pot).unwrap()
    }

    fn nets(settlement: &Settlement) -> [i64; 3] {
        [0, 1, 2].map(|number| settlement.net(seat(number)).unwrap().hundredths())
    }

    /// Rule 6.10.
    #[test]
    fn the_known_good_game_settles_as_the_rules_page_says() {
        let pot = PotPayout { seat: seat(1), amount: Coins::from_hundredths(600) };
        let settlement = settle(vec![debt(2, 1, 3), debt(0, 1, 3)], [1400, 1400, 1400], Some(pot));
        assert_eq!(settlement.fees[0].fee, Coins::from_hundredths(30));
        assert_eq!(nets(&settlement), [-300, 1170, -300]);
    }

    /// Rule 6.7.
    #[test]
    fn a_loser_pays_at_most_its_stake() {
        let settlement = settle(vec![debt(0, 1, 3), debt(2, 1, 3)], [120, 0, 1400], None);
        assert_eq!(settlement.payments[0].owed, Coins::from_hundredths(300));
        assert_eq!(settlement.payments[0].paid, Coins::from_hundredths(120));
        assert_eq!(nets(&settlement), [-120, 399, -300]);
    }

    /// Rule 7.5: one more count of each debt, times bet and multiplier, within the stake.
    #[test]
    fn a_second_hit_adds_a_count_to_each_debt() {
        let outcome = outcome(vec![debt(2, 1, 3), debt(0, 1, 1)]);
        let stakes = [900, 0, 5_000].map(Coins::from_hundredths);
        let settlement = Settlement::new(&outcome, &price(100, 5), 1, &stakes, 1, None).unwrap();
        let owed = settlement.payments.iter().map(|payment| payment.owed.hundredths());
        assert_eq!(owed.collect::<Vec<_>>(), [2_000, 1_000]);
        for payment in &settlement.payments {
            let last = payment.items.last().unwrap();
            assert_eq!((&*last.name, &*last.rule, last.counts), ("second_hit", "7.5", 1));
        }
        assert_eq!(nets(&settlement), [-900, 2_900 - 145, -2_000]);
    }

    /// A bet may be worth two counts, each half of bet times multiplier; an odd product is refused.
    #[test]
    fn a_count_may_be_half_a_bet() {
        let outcome = outcome(vec![debt(0, 1, 3)]);
        let stakes = [1_000; 3].map(Coins::from_hundredths);
        let settlement = Settlement::new(&outcome, &price(101, 2), 2, &stakes, 0, None).unwrap();
        assert_eq!(nets(&settlement), [-303, 303 - 15, 0]);
        assert_eq!(Settlement::new(&outcome, &price(101, 1), 2, &stakes, 0, None), None);
    }

    #[test]
    fn nobody_owes_anything_when_nobody_won() {
        assert_eq!(nets(&settle(vec![], [1400; 3], None)), [0, 0, 0]);
    }
}
