//! The default rooms, for a house that has none yet.

use bahay_engine::catalog::{self, NamedRules};
use bahay_engine::coins::Coins;
use bahay_engine::game::Skill;
use bahay_engine::table::{Clocks, Price, Spectators, Terms};

use super::Room;

/// The id, name and bet of each tier, by rising bet.
const TIERS: [(&str, &str, i64); 7] = [
    ("newbie", "Newbie", 1),
    ("barkada", "Barkada", 10),
    ("fiesta", "Fiesta", 100),
    ("hacienda", "Hacienda", 500),
    ("alta", "Alta", 2_000),
    ("palasyo", "Palasyo", 10_000),
    ("maharlika", "Maharlika", 50_000),
];

/// The number of tiers of every game after the first: a game with few players is better served by a
/// single room than by seven.
const TIERS_OF_OTHERS: usize = 3;

/// The bet from which a room requires an account. A wallet admitted there holds 30 welcome grants,
/// so nobody plays there on the first day, and a player with as many coins can set a password to
/// keep them.
const ACCOUNT_BET: i64 = 2_000;

/// Returns the default rooms, in the order of the catalogue's games and by rising bet, each game
/// with its first rule set. The rooms of the first game have the ids of the tiers; those of another
/// game are prefixed with its name. All rooms use `clocks`.
///
/// # Panics
/// Never: the amounts fit, as a test shows.
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
    let rules = set.rules.clone();
    let hits = set.hits;
    // New players may watch where they learn to play.
    let spectators = if bet == 1 { Spectators::Anybody } else { Spectators::Nobody };
    // New players may also win there.
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
        tournament: None,
    };
    let room = Room::new(name, set.name, terms).expect("amounts that fit");
    if bet >= ACCOUNT_BET { room.with_account_required() } else { room }
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
        assert_eq!(rooms[0].terms(), &bahay_api::socket::example_terms());
    }

    /// Keeps the number of rooms in the guide up to date.
    #[test]
    fn the_guide_counts_the_rooms() {
        let guide = include_str!("../../docs/OPERATIONS.md");
        let count = house_rooms(Clocks::default()).len();
        let counted = format!("A new database gets {count}:");
        assert!(guide.contains(&counted), "docs/OPERATIONS.md does not say: {counted}");
    }
}
