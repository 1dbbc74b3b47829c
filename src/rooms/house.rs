//! The rooms that the program brings along, for a house that has none yet.

use bahay_engine::catalog::{self, NamedRules};
use bahay_engine::coins::Coins;
use bahay_engine::game::Skill;
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

/// How many of the tiers there are of every game after the first: those that few play had better
/// wait in one room than in seven.
const TIERS_OF_OTHERS: usize = 3;

/// From this bet on a room is not for guests. A wallet that sits down there holds 30 welcome grants,
/// so nobody plays there on the first day, and whoever has so much can set a password to keep it.
const ACCOUNT_BET: i64 = 2_000;

/// The house's rooms, by the games of the catalogue and rising bet, each game by its first rule set.
/// The rooms of the first game have the tiers' own ids, those of another its name before them.
/// `clocks` are the same in all of them.
///
/// # Panics
/// Never: the amounts fit, which a test shows.
pub fn house_rooms(clocks: Clocks) -> Vec<Room> {
    let kinds = catalog::kinds().into_iter().filter(|kind| !kind.is_hidden);
    let rooms = kinds.enumerate().flat_map(|(place, kind)| {
        let set = kind.rule_sets.into_iter().next().expect("a game has a rule set");
        let tiers = if place == 0 { TIERS.len() } else { TIERS_OF_OTHERS };
        TIERS.into_iter().take(tiers).map(move |(id, name, bet)| {
            if place == 0 {
                return room(id.to_owned(), name, bet, &set, clocks);
            }
            let id = format!("{}-{id}", kind.name.replace('_', "-"));
            room(id, &format!("{}, {name}", kind.title), bet, &set, clocks)
        })
    });
    rooms.collect()
}

fn room(id: String, name: &str, bet: i64, set: &NamedRules, clocks: Clocks) -> Room {
    let price = Price {
        bet: Coins::from_whole(bet).expect("a bet that fits"),
        multiplier: 1,
        fee_basis_points: 500,
    };
    let (rules, hits) = (set.rules.clone(), set.hits);
    // Where people learn, they may look on.
    let spectators = if bet == 1 { Spectators::Anybody } else { Spectators::Nobody };
    // And win.
    let bots = if bet == 1 { Skill::Greedy } else { Skill::Quick };
    let terms = Terms {
        room: id,
        rules,
        price,
        hits,
        clocks,
        spectators,
        bots,
        private: None,
        practice: false,
    };
    let room = Room::new(name, set.name, terms).expect("amounts that fit");
    if bet >= ACCOUNT_BET { room.for_accounts() } else { room }
}

#[cfg(test)]
mod tests {
    use super::{Clocks, Room, catalog, house_rooms};

    #[test]
    fn every_game_has_rooms_and_their_bets_rise() {
        let rooms = house_rooms(Clocks::default());
        for kind in catalog::kinds().into_iter().filter(|kind| !kind.is_hidden) {
            let of_kind: Vec<&Room> =
                rooms.iter().filter(|room| room.terms().rules.kind() == kind.name).collect();
            assert!(of_kind.len() >= 3, "{}", kind.name);
            assert!(of_kind.is_sorted_by_key(|room| room.terms().price.bet));
            assert!(of_kind.is_sorted_by_key(|room| room.needs_account()), "from some bet on");
            assert!(!of_kind[0].needs_account());
        }
        assert_eq!(rooms[0].id(), "newbie");
    }

    /// How many there are is said in one place.
    #[test]
    fn the_guide_counts_the_rooms() {
        let guide = include_str!("../../docs/OPERATIONS.md");
        let count = house_rooms(Clocks::default()).len();
        let counted = format!("A database without rooms gets {count} at the first start");
        assert!(guide.contains(&counted), "docs/OPERATIONS.md does not say: {counted}");
    }
}
