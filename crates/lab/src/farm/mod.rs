//! `bahay-lab farm`: bounds the coins that an attacker with many accounts can move to one wallet in
//! a day.
//!
//! The attacker has a number of addresses, and creates a number of guests at each in a day. In
//! virtual time it plays each known strategy (`strategies`) in a house of its own (`house`), which
//! decides with the functions and the limits of the server: grants and their limits, the allowance
//! at private tables, the separation of players in rooms and the limits on winnings there. All
//! circumstances favour the attacker: it loses whole stakes at will, a game takes a minute, and an
//! honest player is available to fill a table and wins nothing. The result is therefore an upper
//! bound, not a forecast.
//!
//! `--without` lifts a rule, which shows its effect. Limits: strategies that are not listed here.
//! Deliberately absent: the wallet's own grants, which every player gets.

mod house;
mod strategies;

use std::io::Write;

use bahay_engine::coins::Coins;

use house::SimulatedHouse;
use strategies::Strategy;

/// The options of the simulation.
#[derive(Clone, Debug, clap::Args)]
#[group(skip)]
pub struct Farm {
    /// Number of the attacker's addresses. Several are in one IPv6 network of 48 bits.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=4_096))]
    pub addresses: u32,

    /// Put each address in a network of its own.
    #[arg(long)]
    pub apart: bool,

    /// Maximum number of devices that the attacker invents for each address in a day.
    #[arg(long, default_value_t = 300, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub devices: u32,

    /// Number of days.
    #[arg(long, default_value_t = 7, value_parser = clap::value_parser!(u32).range(1..=60))]
    pub days: u32,

    /// Seed that names the players, and thereby decides the matcher's order.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,

    /// Rule to lift. May be repeated.
    #[arg(long, value_enum, value_name = "LEVER")]
    pub without: Vec<Lever>,
}

/// A rule that can be lifted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Lever {
    /// Winnings at private tables are not limited.
    Allowance,
    /// Welcome grants and reliefs of a network are not limited.
    GrantLimits,
    /// An IPv6 network counts as many addresses, which may meet in rooms.
    Networks,
    /// Players of one address may meet in rooms (`BAHAY_SEPARATE_SAME_NETWORK=false`).
    Addresses,
    /// Winnings in rooms are not limited.
    RoomLimits,
}

/// The result of one strategy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StrategyResult {
    pub strategy: &'static str,
    /// The coins that reached the wallet beside its own grants: the mean of all days, and the best
    /// day.
    pub mean: Coins,
    pub best: Coins,
    /// The mean of the coins that the house granted to all accounts in a day.
    pub minted: Coins,
    pub accounts: usize,
    pub refusals: Refusals,
}

/// The number of rejections by each rule.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Refusals {
    /// Games at private tables that an allowance did not cover.
    pub games: u64,
    pub welcomes: u64,
    pub reliefs: u64,
    /// Rounds of the matcher in which none of the attacker's players was placed with the wallet's.
    pub rounds: u64,
}

/// Plays all strategies, and writes the report.
pub fn run(farm: &Farm, out: &mut impl Write) -> std::io::Result<Vec<StrategyResult>> {
    let found: Vec<StrategyResult> =
        Strategy::ALL.iter().map(|strategy| play_strategy(farm, *strategy)).collect();
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
        strategy: strategy.as_str(),
        mean: a_day(had),
        best,
        minted: a_day(house.minted),
        accounts: house.accounts(),
        refusals: house.refusals,
    }
}

fn write_report(
    farm: &Farm,
    found: &[StrategyResult],
    out: &mut impl Write,
) -> std::io::Result<()> {
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
    use super::{Coins, Farm, Lever, StrategyResult, run};

    /// The most that may reach one wallet in a day, from one address and from a network of 48 bits.
    const ADDRESS: Coins = Coins::from_hundredths(300 * 100);
    const NETWORK: Coins = Coins::from_hundredths(3_000 * 100);

    /// The most that may reach one wallet in rooms within a day from another network: the daily
    /// limit in whole stakes, in the highest room for which guests have coins, with fees and antes.
    const TWO_NETWORKS: Coins = Coins::from_hundredths(10_000 * 100);

    const OPTIONS: Farm =
        Farm { addresses: 1, apart: false, devices: 100, days: 3, seed: 1, without: Vec::new() };

    fn farm(options: Farm, without: &[Lever]) -> Vec<StrategyResult> {
        run(&Farm { without: without.to_vec(), ..options }, &mut Vec::new()).unwrap()
    }

    /// Plays the strategies from so many addresses of one network.
    fn farm_network(addresses: u32, without: &[Lever]) -> Vec<StrategyResult> {
        let found = farm(Farm { addresses, ..OPTIONS }, without);
        let again = farm(Farm { addresses, ..OPTIONS }, without);
        assert_eq!(again, found, "the same seed, the same numbers");
        found
    }

    fn most(found: &[StrategyResult]) -> Coins {
        found.iter().map(|one| one.mean).max().unwrap()
    }

    #[test]
    fn little_reaches_one_wallet_from_one_address_or_network() {
        let one = farm_network(1, &[]);
        assert!(most(&one) <= ADDRESS, "{one:?}");
        assert!(most(&one) > Coins::ZERO, "the attacker plays: {one:?}");
        let network = farm_network(64, &[]);
        assert!(most(&network) <= NETWORK, "{network:?}");
        // The limit on winnings does not depend on the number of addresses.
        assert!(most(&network) <= ADDRESS, "{network:?}");
        for found in [one, network] {
            // The accounts receive the welcome grants of one network and the claims of its players.
            assert!(found.iter().all(|one| one.accounts > 100), "{found:?}");
        }
    }

    #[test]
    fn without_a_rule_far_more_does() {
        let ten = |amount: Coins| amount.checked_mul(10).unwrap();
        let allowance = farm_network(1, &[Lever::Allowance]);
        assert!(most(&allowance) > ten(ADDRESS), "{allowance:?}");
        let addresses = farm_network(1, &[Lever::Addresses]);
        assert!(most(&addresses) > ten(ADDRESS), "{addresses:?}");
        let networks = farm_network(64, &[Lever::Networks]);
        assert!(most(&networks) > NETWORK, "{networks:?}");
    }

    /// Two networks suffice to seat two accounts at one table.
    #[test]
    fn coins_farmed_from_two_networks_are_bounded_in_rooms() {
        let options = Farm { addresses: 2, apart: true, devices: 300, days: 2, ..OPTIONS };
        let two = |without: &[Lever]| farm(options.clone(), without);
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
        let options = Farm { addresses: 8, devices: 200, days: 1, ..OPTIONS };
        let minted = |without: &[Lever]| farm(options.clone(), without)[0];
        let with = minted(&[]);
        let without = minted(&[Lever::GrantLimits]);
        assert!(with.refusals.welcomes > 1_000, "{with:?}");
        assert!(with.minted.checked_mul(4).unwrap() < without.minted, "{with:?} {without:?}");
    }
}
