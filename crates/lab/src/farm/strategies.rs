//! The strategies that move the coins of many accounts to one wallet, each a day at a time.

use bahay_engine::coins::Coins;

use super::house::{MAIN, SimulatedHouse};

/// The number of honest rounds that the wallet plays in a day to earn an allowance.
const HONEST_ROUNDS: u32 = 100;

/// The number of intermediate wallets.
const MIDDLEMEN: usize = 12;

/// The minimum wallet for a seat in any room.
const SMALLEST_STAKE: Coins = Coins::from_hundredths(1_500);

/// The minimum wallet for a seat above the smallest room, where a game brings only a tenth.
const WORTHWHILE: Coins = Coins::from_hundredths(15_000);

bahay_base::text_enum! {
    /// A strategy of the attacker.
    pub(super) enum Strategy {
        /// Guests lose their grants to the wallet at private tables.
        LosePrivately = "lost to it at private tables",
        /// The wallet first loses to one of them, so that it may win that back, then as before.
        ThereAndBack = "lost to it, after it has lost",
        /// Intermediate wallets gather on one day and lose to the wallet on the next.
        Relay = "through other wallets",
        /// The wallet first plays honestly in rooms, and its fees raise its allowance.
        Fees = "after it has paid fees in rooms",
        /// Guests look for a table in the same room at the same time as the wallet.
        LoseInRooms = "lost to it in rooms",
        /// One guest at a time does so, and an honest player fills the table.
        LoseBesideOthers = "in rooms, beside an honest player",
        /// The same through intermediate wallets: they gather on one day and lose on the next.
        RelayInRooms = "the same, through other wallets",
    }
}

impl Strategy {
    pub(super) fn play_day(self, house: &mut SimulatedHouse, day: u32) {
        match self {
            Self::LosePrivately => gather_privately(house, day, MAIN, &donors(house)),
            Self::ThereAndBack => {
                let donors = donors(house);
                if let [.., one, two] = donors[..] {
                    // The wallet loses to one of them.
                    lose_once(house, one, [MAIN, two]);
                }
                gather_privately(house, day, MAIN, &donors);
            }
            Self::Relay => {
                let donors = donors(house);
                let (middlemen, rest) = donors.split_at(MIDDLEMEN.min(donors.len()));
                if day % 2 == 1 {
                    return gather_privately(house, day, MAIN, middlemen);
                }
                // Each intermediate wallet gets pairs of guests.
                let each = rest.len() / MIDDLEMEN.max(1);
                for (number, middleman) in middlemen.iter().enumerate() {
                    let own = rest.iter().skip(number * each).take(each.min(20)).copied();
                    gather_privately(house, day, *middleman, &own.collect::<Vec<_>>());
                }
            }
            Self::Fees => {
                for _ in 0..HONEST_ROUNDS {
                    if !house.play_honestly(MAIN, 3) {
                        break;
                    }
                }
                gather_privately(house, day, MAIN, &donors(house));
            }
            Self::LoseInRooms => lose_in_rooms(house, day),
            Self::LoseBesideOthers => gather_in_rooms(house, day, MAIN, &donors(house)),
            Self::RelayInRooms => {
                let (mut middlemen, mut rest): (Vec<_>, Vec<_>) =
                    donors(house).into_iter().partition(|account| house.may_meet(MAIN, *account));
                if day % 2 == 1 {
                    return gather_in_rooms(house, day, MAIN, &middlemen);
                }
                rest.extend(middlemen.split_off(MIDDLEMEN.min(middlemen.len())));
                for middleman in middlemen {
                    gather_in_rooms(house, day, middleman, &rest);
                }
            }
        }
    }
}

/// Returns all accounts except the wallet, the richest first.
fn donors(house: &SimulatedHouse) -> Vec<usize> {
    let mut donors: Vec<usize> = (MAIN + 1..house.accounts()).collect();
    donors.sort_by_key(|account| std::cmp::Reverse(house.wallet(*account)));
    donors
}

/// Has pairs of donors lose to one account at the highest bet, for as long as the day lasts and the
/// house permits it.
fn gather_privately(house: &mut SimulatedHouse, day: u32, to: usize, donors: &[usize]) {
    for pair in donors.chunks_exact(2) {
        let losers = [pair[0], pair[1]];
        // The pair plays at the same table again, so that the POT is taken.
        while let Some(bet) = house.max_bet(to, losers) {
            let mut table = house.open_table(bet);
            let mut played = 0;
            while house.lose_privately(&mut table, to, losers) {
                played += 1;
                if !house.next_game(day) {
                    break;
                }
            }
            house.close_table(table, [to, losers[0], losers[1]]);
            for loser in losers {
                house.claim_relief(loser);
            }
            if !house.next_game(day) {
                return;
            }
            if played == 0 {
                break;
            }
        }
        if house.max_bet(to, [to, to]).is_none() {
            // The account has reached its allowance.
            return;
        }
    }
}

fn lose_once(house: &mut SimulatedHouse, winner: usize, losers: [usize; 2]) {
    if let Some(bet) = house.max_bet(winner, losers) {
        let mut table = house.open_table(bet);
        house.lose_privately(&mut table, winner, losers);
        house.close_table(table, [winner, losers[0], losers[1]]);
    }
}

/// Has two donors at a time look for a table when the wallet does, without anybody else, because
/// others would be placed with them. Pairs are drawn from all who have coins, so that all addresses
/// are combined.
fn lose_in_rooms(house: &mut SimulatedHouse, day: u32) {
    let mut turn = 0;
    let mut donors = donors(house);
    loop {
        donors.retain(|account| house.wallet(*account) >= SMALLEST_STAKE);
        let number = donors.len();
        if number < 2 {
            return;
        }
        let first = turn % number;
        let apart = 1 + (7 * turn + number / 2) % (number - 1);
        let pair = [donors[first], donors[(first + apart) % number]];
        turn += 1;
        if let Some(losers) = house.match_sybils(&pair, turn as u64)
            && !house.lose_in_room(losers)
        {
            donors.retain(|account| !losers.contains(account));
        }
        if !house.next_game(day) {
            return;
        }
    }
}

/// Has one donor at a time look for a table with the account and an honest player: two networks
/// suffice. Each continues until it has no coins left or may lose no more.
fn gather_in_rooms(house: &mut SimulatedHouse, day: u32, to: usize, donors: &[usize]) {
    for (turn, donor) in (0_u64..).zip(donors) {
        if house.is_day_limit_reached(to) {
            return;
        }
        while house.wallet(*donor) >= WORTHWHILE
            && house.match_with_stranger(to, *donor, turn)
            && house.lose_beside_stranger(to, *donor)
        {
            if !house.next_game(day) {
                return;
            }
        }
        house.claim_relief(*donor);
    }
}
