//! The prices of actions and the changes of costs (rules 1.6, 3.4 and 3.5).

use crate::game::require;
use crate::games::tongo_options::action::{Illegal, NewCosts};
use crate::games::tongo_options::phase::{CostRises, Costs, CostsChange};
use crate::games::tongo_options::public::PublicState;
use crate::games::tongo_options::rules::FLOORS;
use crate::seat::Seat;

/// The percentages that stand for all in a list of legal actions.
pub(super) const PERCENTS: [i8; 5] = [-50, -10, 10, 50, 100];

/// The costs in the order of their fields.
type CostArray = [u16; 3];

fn to_array(costs: &Costs) -> CostArray {
    [costs.buy, costs.sell, costs.exchange]
}

fn from_array([buy, sell, exchange]: CostArray) -> Costs {
    Costs { buy, sell, exchange }
}

/// Returns by how much each cost may still rise in this turn (rule 1.6).
fn raises_left(public: &PublicState) -> CostArray {
    let CostRises { buy, sell, exchange } =
        public.turn().map(|turn| turn.risen).unwrap_or_default();
    let raise_max = u16::from(public.rules.raise_max);
    [buy, sell, exchange].map(|risen| raise_max.saturating_sub(risen))
}

/// Returns the new costs, and the chips that the change takes.
///
/// # Errors
/// The reason for a refusal.
pub(super) fn change_costs(
    public: &PublicState,
    how: CostsChange,
    new: &NewCosts,
) -> Result<(Costs, u32), Illegal> {
    let old = to_array(&public.costs);
    let mut next = old;
    for (cost, new) in next.iter_mut().zip([new.buy, new.sell, new.exchange]) {
        *cost = new.unwrap_or(*cost);
    }
    let pairs = || old.iter().zip(&next);
    require(!next.contains(&0), Illegal::BelowOne)?;
    let has_rise = how == CostsChange::Lower && pairs().any(|(old, new)| new > old);
    require(!has_rise, Illegal::NotLower)?;
    let has_fall = how == CostsChange::Raise && pairs().any(|(old, new)| new < old);
    require(!has_fall, Illegal::NotHigher)?;
    require(old != next, Illegal::NoChange)?;
    let mut rises = pairs().map(|(old, new)| new.saturating_sub(*old)).zip(raises_left(public));
    require(rises.all(|(rise, left)| rise <= left), Illegal::RaisedTooFar)?;
    let chips = pairs().map(|(old, new)| u32::from(old.abs_diff(*new))).sum();
    Ok((from_array(next), chips))
}

/// Returns the costs after the margin was indexed, rounded up (rule 3.4).
///
/// # Errors
/// The reason for a refusal.
pub(super) fn index_costs(public: &PublicState, percent: i8) -> Result<(Costs, u32), Illegal> {
    require((-99..=100).contains(&percent) && percent != 0, Illegal::PercentOutOfRange)?;
    let parts = u32::try_from(100 + i32::from(percent)).expect("more than nothing is left");
    let next = to_array(&public.costs).map(|old| {
        let new = (u32::from(old) * parts).div_ceil(100);
        u16::try_from(new.max(1)).unwrap_or(u16::MAX)
    });
    let [buy, sell, exchange] = next.map(Some);
    change_costs(public, CostsChange::Index, &NewCosts { buy, sell, exchange })
}

/// Calls `each` with the changes of one cost that stand for all in a list of legal actions: by one,
/// and by the maximum. Each has a number: twice the index of the cost, plus one for the maximum.
pub(super) fn for_each_change(
    public: &PublicState,
    how: CostsChange,
    mut each: impl FnMut(u16, NewCosts),
) {
    for ((cost, old), left) in (0..).zip(to_array(&public.costs)).zip(raises_left(public)) {
        let [near, far] = match how {
            CostsChange::Lower => [old.saturating_sub(1), 1],
            CostsChange::Raise => [old.saturating_add(left.min(1)), old.saturating_add(left)],
            CostsChange::Index => continue,
        };
        let far = Some(far).filter(|far| *far != near);
        for (number, new) in (2 * cost..).zip([Some(near), far]) {
            let new = new.filter(|new| *new >= 1 && *new != old);
            if new.is_some() {
                let [buy, sell, exchange] = [0, 1, 2].map(|other| new.filter(|_| other == cost));
                each(number, NewCosts { buy, sell, exchange });
            }
        }
    }
}

/// Returns the price of a card, reduced by the buy-in if it is used (rule 3.4).
pub(super) fn discounted_price(public: &PublicState, price: u32, leverage: bool) -> u32 {
    if leverage { price.saturating_sub(u32::from(public.rules.buy_in)) } else { price }
}

/// Returns the price of an exchange without the buy-in; zero if no other floor is named.
pub(super) fn exchange_price(public: &PublicState, facing: u8, floor: Option<u8>) -> u32 {
    let distance = floor.map_or(0, |floor| ring_distance(facing, floor));
    u32::from(public.costs.exchange) * u32::from(distance)
}

/// Returns the distance of two floors on the ring.
fn ring_distance(one: u8, other: u8) -> u8 {
    let straight = one.abs_diff(other);
    straight.min(FLOORS - straight)
}

/// Returns the price of an answer that keeps a seat in (rule 8.4). To stand as the target costs
/// nothing.
pub fn answer_price(public: &PublicState, seat: Seat) -> u8 {
    if public.target() == Some(seat) {
        return 0;
    }
    let risk = if public.rules.answer_pays_risk { public.risk() } else { 0 };
    u8::try_from(risk).unwrap_or(u8::MAX).min(public.player(seat).chips)
}
