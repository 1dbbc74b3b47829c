//! `bahay farm`: how many coins whoever makes many accounts brings to one wallet in a day.
//!
//! An attacker has so many addresses, and makes so many guests from each in a day. In virtual time it
//! plays each strategy that is known (`ways`) in a house of its own (`house`), which decides by the same
//! functions and the same numbers as the server: grants and their limits, what may be won at private
//! tables, who may meet in rooms and what one may lose to another there. The attacker is given all
//! that it could wish for: it loses whole stakes when it likes, a game takes a minute, and an honest
//! player is at hand wherever one is needed to fill a table, and wins nothing. So what is printed is
//! a bound, and no forecast.
//!
//! `--without` lifts one of the rules, to see what it is worth. What it cannot tell: ways that are not
//! among those here. Deliberately absent: what the wallet is granted itself, which every player is.

mod house;
mod strategies;

use std::io::Write;

use bahay_engine::coins::Coins;

use house::SimulatedHouse;
use strategies::Strategy;

/// Who farms, and against farm.
#[derive(Clone, Debug, clap::Args)]
#[group(skip)]
pub struct Farm {
    /// How many addresses the attacker has. More than one are in one IPv6 network of 48 bits.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=4_096))]
    pub addresses: u32,

    /// Each address is in a network of its own instead.
    #[arg(long)]
    pub apart: bool,

    /// How many devices the attacker makes up for each address in a day, at most.
    #[arg(long, default_value_t = 300, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub devices: u32,

    /// For how many days it goes on.
    #[arg(long, default_value_t = 7, value_parser = clap::value_parser!(u32).range(1..=60))]
    pub days: u32,

    /// Names the players, and with that in which order the matcher takes them.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,

    /// A rule that does not hold. May be given again.
    #[arg(long, value_enum, value_name = "LEVER")]
    pub without: Vec<Lever>,
}

/// A rule that can be lifted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Lever {
    /// What may be won at private tables is not bounded.
    Allowance,
    /// Welcomes and reliefs of a network are not counted.
    GrantLimits,
    /// In rooms an IPv6 network counts as many addresses that may meet.
    Networks,
    /// In rooms players of one address may meet (`BAHAY_SEPARATE_SAME_NETWORK=false`).
    Addresses,
    /// Winnings of others in rooms are not bounded.
    RoomLimits,
}

/// What one strategy came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StrategyResult {
    pub strategy: &'static str,
    /// What reached the wallet, its own grants aside: on average of all days, and on the best one.
    pub mean: Coins,
    pub best: Coins,
    /// What the house has granted to all accounts, a day on average.
    pub minted: Coins,
    pub accounts: usize,
    pub refusals: Refusals,
}

/// How often each rule stopped something.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Refusals {
    /// Games at private tables, because of what one of their players has won.
    pub games: u64,
    pub welcomes: u64,
    pub reliefs: u64,
    /// Rounds of the matcher in which none of the attacker's players came to the wallet's.
    pub rounds: u64,
}

/// Plays all ways, and writes what came of them.
pub fn run(farm: &Farm, out: &mut impl Write) -> std::io::Result<Vec<StrategyResult>> {
    let found: Vec<StrategyResult> = Strategy::ALL.into_iter().map(|strategy| play_strategy(farm, strategy)).collect();
    write_report(farm, &found, out)?;
    Ok(found)
}

fn play_strategy(farm: &Farm, strategy: Strategy) -> StrategyResult {
    let mut house = SimulatedHouse::new(farm);
    let mut had = Coins::ZERO;
    let mut best = Coins::ZERO;
    for day in 0..farm.days {
        house.begin_day(day);
        strategy.play_day(&mut house, day);
        let has = house.coins_gained();
        best = best.max(has.checked_sub(had).unwrap_or(Coins::ZERO));
        had = has;
    }
    let a_day = |amount: Coins| Coins::from_hundredths(amount.hundredths() / i64::from(farm.days));
    StrategyResult {
        strategy: strategy.name(),
        mean: a_day(had),
        best,
        minted: a_day(house.minted()),
        accounts: house.accounts(),
        refusals: house.refusals(),
    }
}

fn write_report(farm: &Farm, found: &[StrategyResult], out: &mut impl Write) -> std::io::Result<()> {
    let Farm { addresses, apart, devices, days, seed, without } = farm;
    let networks = if *apart { *addresses } else { 1 };
    writeln!(
        out,
        "addresses {addresses} in networks {networks}, devices {devices} each a day, days {days}, \
         seed {seed}"
    )?;
    for lever in without {
        writeln!(out, "without {lever:?}")?;
    }
    writeln!(out)?;
    writeln!(
        out,
        "{:<34} {:>12} {:>12} {:>14} {:>9}  refused: games, welcomes, reliefs, rounds",
        "coins that reach one wallet", "a day", "best day", "minted a day", "accounts"
    )?;
    for StrategyResult { strategy, mean, best, minted, accounts, refusals } in found {
        let Refusals { games, welcomes, reliefs, rounds } = refusals;
        writeln!(
            out,
            "{strategy:<34} {:>12} {:>12} {:>14} {accounts:>9}  {games}, {welcomes}, {reliefs}, {rounds}",
            mean.to_string(),
            best.to_string(),
            minted.to_string(),
        )?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{Coins, Farm, StrategyResult, Lever, run};

    /// What may reach one wallet in a day from one address, and from a network of 48 bits.
    const ADDRESS: Coins = Coins::from_hundredths(300 * 100);
    const NETWORK: Coins = Coins::from_hundredths(3_000 * 100);

    /// The coins that may reach one wallet in rooms within a day from another network: the bound of a
    /// day, of whole stakes, in the highest room for which guests have coins, with fees and antes.
    const TWO_NETWORKS: Coins = Coins::from_hundredths(10_000 * 100);

    fn farm(addresses: u32, without: &[Lever]) -> Vec<StrategyResult> {
        let without = without.to_vec();
        let options = Farm { addresses, apart: false, devices: 100, days: 3, seed: 1, without };
        let mut said = Vec::new();
        let found = run(&options, &mut said).unwrap();
        assert_eq!(run(&options, &mut Vec::new()).unwrap(), found, "the same seed, the same numbers");
        found
    }

    fn most(found: &[StrategyResult]) -> Coins {
        found.iter().map(|one| one.mean).max().unwrap()
    }

    #[test]
    fn little_reaches_one_wallet_from_one_address_or_network() {
        let one = farm(1, &[]);
        assert!(most(&one) <= ADDRESS, "{one:?}");
        assert!(most(&one) > Coins::ZERO, "the attacker plays: {one:?}");
        let network = farm(64, &[]);
        assert!(most(&network) <= NETWORK, "{network:?}");
        // What may be won does not depend on how many addresses there are.
        assert!(most(&network) <= ADDRESS, "{network:?}");
        for found in [one, network] {
            // Welcomes of one network, and what its players claim.
            assert!(found.iter().all(|one| one.accounts > 100), "{found:?}");
        }
    }

    #[test]
    fn without_a_rule_far_more_does() {
        let ten = |amount: Coins| amount.checked_mul(10).unwrap();
        let allowance = farm(1, &[Lever::Allowance]);
        assert!(most(&allowance) > ten(ADDRESS), "{allowance:?}");
        let addresses = farm(1, &[Lever::Addresses]);
        assert!(most(&addresses) > ten(ADDRESS), "{addresses:?}");
        let networks = farm(64, &[Lever::Networks]);
        assert!(most(&networks) > NETWORK, "{networks:?}");
    }

    /// Two networks suffice for two accounts at one table.
    #[test]
    fn what_two_networks_bring_is_bounded_in_rooms() {
        let two = |without: &[Lever]| {
            let without = without.to_vec();
            let options = Farm { addresses: 2, apart: true, devices: 300, days: 2, seed: 1, without };
            run(&options, &mut Vec::new()).unwrap()
        };
        let with = two(&[]);
        let without = two(&[Lever::RoomLimits]);
        let beside = |found: &[StrategyResult]| {
            *found.iter().find(|one| one.strategy == "in rooms, beside an honest player").unwrap()
        };
        assert!(beside(&with).best > Coins::ZERO, "an honest player fills the table: {with:?}");
        assert!(beside(&with).best <= TWO_NETWORKS, "{with:?}");
        assert!(beside(&without).best > TWO_NETWORKS.checked_mul(10).unwrap(), "{without:?}");
    }

    #[test]
    fn a_network_is_given_so_much_and_no_more() {
        let minted = |without: &[Lever]| {
            let options = Farm {
                addresses: 8,
                apart: false,
                devices: 200,
                days: 1,
                seed: 1,
                without: without.to_vec(),
            };
            run(&options, &mut Vec::new()).unwrap()[0]
        };
        let with = minted(&[]);
        let without = minted(&[Lever::GrantLimits]);
        assert!(with.refusals.welcomes > 1_000, "{with:?}");
        assert!(with.minted.checked_mul(4).unwrap() < without.minted, "{with:?} {without:?}");
    }
}
