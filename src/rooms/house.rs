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
        Room::new(name, set.name, terms).expect("amounts that fit")
    };
    TIERS.into_iter().map(room).collect()
}

#[cfg(test)]
mod tests {
    use super::{Clocks, house_rooms};

    #[test]
    fn the_bets_rise() {
        let rooms = house_rooms(Clocks::default());
        assert!(rooms.len() >= 6);
        assert!(rooms.is_sorted_by_key(|room| room.terms().price.bet));
    }
}
