//! The rooms that the program brings along, for a house that has none yet.

use bahay_engine::catalog;
use bahay_engine::coins::Coins;
use bahay_engine::table::{Clocks, Price, Spectators, Terms};

use super::Room;

/// Id, name and bet, by rising bet.
const TIERS: [(&str, &str, i64); 7] = [
    ("newbie", "Newbie", 1),
    ("barkada", "Barkada", 10),
    ("fiesta", "Fiesta", 100),
    ("hacienda", "Hacienda", 500),
    ("alta", "Alta", 2_000),
    ("palasyo", "Palasyo", 10_000),
    ("maharlika", "Maharlika", 50_000),
];

/// From this bet on a room is not for guests. A wallet that sits down there holds 30 welcome grants,
/// so nobody plays there on the first day, and whoever has so much can set a password to keep it.
const ACCOUNT_BET: i64 = 2_000;

/// The house's rooms, by rising bet: the first game of the catalogue by its first rule set. `clocks`
/// are the same in all of them.
///
/// # Panics
/// Never: the amounts fit, which a test shows.
pub fn house_rooms(clocks: Clocks) -> Vec<Room> {
    let kinds = catalog::kinds();
    let set = kinds.first().and_then(|kind| kind.rule_sets.first()).expect("there is a game");
    let room = |(id, name, bet): (&str, &str, i64)| {
        let price = Price {
            bet: Coins::from_whole(bet).expect("a bet that fits"),
            multiplier: 1,
            fee_basis_points: 500,
        };
        let (rules, hits) = (set.rules.clone(), set.hits);
        // Where people learn, they may look on.
        let spectators = if bet == 1 { Spectators::Anybody } else { Spectators::Nobody };
        let terms =
            Terms { room: id.to_owned(), rules, price, hits, clocks, spectators, private: None };
        let room = Room::new(name, set.name, terms).expect("amounts that fit");
        if bet >= ACCOUNT_BET { room.for_accounts() } else { room }
    };
    TIERS.into_iter().map(room).collect()
}

#[cfg(test)]
mod tests {
    use super::{Clocks, Room, house_rooms};

    #[test]
    fn the_bets_rise() {
        let rooms = house_rooms(Clocks::default());
        assert!(rooms.len() >= 6);
        assert!(rooms.is_sorted_by_key(|room| room.terms().price.bet));
        assert!(rooms.is_sorted_by_key(Room::needs_account), "from some bet on");
        assert!(!rooms[0].needs_account());
    }
}
