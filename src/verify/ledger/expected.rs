//! The expected transfers of a game, derived from its terms and its record alone. The module
//! deliberately shares no code with posting.

use bahay_engine::coins::Coins;
use bahay_engine::seat::Seat;
use bahay_engine::table::{GameId, PlayerId, Settlement, TableId};

/// A transfer with the codes of its accounts.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ExpectedTransfer {
    pub(super) code: String,
    pub(super) source: String,
    pub(super) destination: String,
    pub(super) amount: Coins,
}

/// The data from which a game's transfers are derived.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seating<'a> {
    pub(super) game: GameId,
    pub(super) table: TableId,
    pub(super) room: &'a str,
    pub(super) ante: Coins,
    /// The players by seat.
    pub(super) players: &'a [PlayerId],
    /// The stakes by seat.
    pub(super) stakes: &'a [Coins],
}

impl Seating<'_> {
    fn wallet(&self, seat: usize) -> String {
        let player = self.players.get(seat).map(ToString::to_string).unwrap_or_default();
        format!("wallet:{player}")
    }

    fn stake(&self, seat: usize) -> String {
        format!("stake:{}:{seat}", self.game)
    }

    fn pot(&self) -> String {
        format!("pot:{}", self.table)
    }

    /// Returns the transfers of the opening: antes into the POT and held stakes (rules 7.1 and
    /// 6.9).
    pub(super) fn opening(&self) -> Vec<ExpectedTransfer> {
        let mut transfers = Vec::new();
        for (seat, stake) in self.stakes.iter().enumerate() {
            push_transfer(&mut transfers, "ante", self.wallet(seat), self.pot(), self.ante);
            push_transfer(&mut transfers, "hold", self.wallet(seat), self.stake(seat), *stake);
        }
        transfers
    }

    /// Returns the transfers of the settlement: payments from stakes, fees, released stakes, and
    /// the POT (rules 6.7, 6.8 and 7.2). Returns `None` if a stake pays more than it holds.
    pub(super) fn settlement(&self, settlement: &Settlement) -> Option<Vec<ExpectedTransfer>> {
        let mut transfers = Vec::new();
        let mut left = self.stakes.to_vec();
        let at = |seat: Seat| seat.index();
        for payment in &settlement.payments {
            let from = at(payment.from);
            let to = at(payment.to);
            let stake = left.get_mut(from)?;
            *stake = stake.checked_sub(payment.paid).filter(|left| !left.is_negative())?;
            push_transfer(
                &mut transfers,
                "payment",
                self.stake(from),
                self.wallet(to),
                payment.paid,
            );
        }
        for fee in &settlement.fees {
            let house = format!("fee:{}", self.room);
            push_transfer(&mut transfers, "fee", self.wallet(at(fee.seat)), house, fee.fee);
        }
        for (seat, left) in left.into_iter().enumerate() {
            push_transfer(&mut transfers, "release", self.stake(seat), self.wallet(seat), left);
        }
        if let Some(pot) = settlement.pot {
            push_transfer(&mut transfers, "pot", self.pot(), self.wallet(at(pot.seat)), pot.amount);
        }
        Some(transfers)
    }

    /// Returns the transfers of a void: every ante and every stake returns to its wallet.
    pub(super) fn voiding(&self) -> Vec<ExpectedTransfer> {
        let mut transfers = Vec::new();
        for (seat, stake) in self.stakes.iter().enumerate() {
            push_transfer(&mut transfers, "refund", self.pot(), self.wallet(seat), self.ante);
            push_transfer(&mut transfers, "release", self.stake(seat), self.wallet(seat), *stake);
        }
        transfers
    }
}

/// Adds a transfer unless its amount is zero.
fn push_transfer(
    to: &mut Vec<ExpectedTransfer>,
    code: &str,
    source: String,
    destination: String,
    amount: Coins,
) {
    if !amount.is_zero() {
        to.push(ExpectedTransfer { code: code.to_owned(), source, destination, amount });
    }
}

/// Returns a description of the first transfer that is in only one of the lists.
pub(super) fn first_difference(
    mut booked: Vec<ExpectedTransfer>,
    mut expected: Vec<ExpectedTransfer>,
) -> Option<String> {
    booked.sort();
    expected.sort();
    let mut booked = booked.into_iter().peekable();
    let mut expected = expected.into_iter().peekable();
    loop {
        match (booked.peek(), expected.peek()) {
            (None, None) => return None,
            (Some(found), Some(due)) if found == due => {
                booked.next();
                expected.next();
            }
            (Some(found), due) if due.is_none_or(|due| found < due) => {
                return Some(format!("{} is booked", describe_transfer(found)));
            }
            (_, Some(due)) => return Some(format!("{} is missing", describe_transfer(due))),
            (Some(found), None) => return Some(format!("{} is booked", describe_transfer(found))),
        }
    }
}

fn describe_transfer(transfer: &ExpectedTransfer) -> String {
    let ExpectedTransfer { code, source, destination, amount } = transfer;
    format!("{code} of {amount} from {source} to {destination}")
}

#[cfg(test)]
mod tests {
    use super::{ExpectedTransfer, Seating, first_difference};
    use bahay_engine::coins::Coins;
    use bahay_engine::seat::Seat;
    use bahay_engine::table::{Fee, GameId, Payment, PlayerId, PotPayout, Settlement, TableId};
    use uuid::Uuid;

    fn coins(hundredths: i64) -> Coins {
        Coins::from_hundredths(hundredths)
    }

    fn pairs_of(transfers: &[ExpectedTransfer]) -> Vec<(&str, i64)> {
        transfers.iter().map(|one| (one.code.as_str(), one.amount.hundredths())).collect()
    }

    #[test]
    fn the_expected_transfers_follow_from_the_rules() {
        let one = PlayerId(Uuid::from_u128(1));
        let two = PlayerId(Uuid::from_u128(2));
        let loser = Seat::new(0).unwrap();
        let winner = Seat::new(1).unwrap();
        let seating = Seating {
            game: GameId(Uuid::nil()),
            table: TableId(Uuid::nil()),
            room: "newbie",
            ante: coins(100),
            players: &[one, two],
            stakes: &[coins(1400), coins(900)],
        };
        let settlement = Settlement {
            winner: Some(winner),
            payments: vec![Payment {
                from: loser,
                to: winner,
                items: Vec::new(),
                owed: coins(300),
                paid: coins(300),
            }],
            fees: vec![Fee { seat: winner, gross: coins(300), fee: coins(15) }],
            pot: Some(PotPayout { seat: winner, amount: coins(200) }),
        };
        assert_eq!(
            pairs_of(&seating.opening()),
            [("ante", 100), ("hold", 1400), ("ante", 100), ("hold", 900)]
        );
        let settled = seating.settlement(&settlement).unwrap();
        assert_eq!(
            pairs_of(&settled),
            [("payment", 300), ("fee", 15), ("release", 1100), ("release", 900), ("pot", 200)]
        );
        assert_eq!(
            pairs_of(&seating.voiding()),
            [("refund", 100), ("release", 1400), ("refund", 100), ("release", 900)]
        );
        let poor = Seating { stakes: &[coins(200), coins(900)], ..seating };
        assert_eq!(poor.settlement(&settlement), None);

        assert_eq!(first_difference(settled.clone(), settled.clone()), None);
        let mut changed = settled.clone();
        changed[1].amount = coins(14);
        let found = first_difference(changed.clone(), settled.clone()).unwrap();
        assert!(found.contains("fee of 0.14") && found.ends_with("is booked"), "{found}");
        let missing = first_difference(settled[1..].to_vec(), settled).unwrap();
        assert!(missing.contains("payment of 3.00") && missing.ends_with("is missing"));
    }
}
