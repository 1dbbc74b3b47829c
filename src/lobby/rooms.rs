//! Rooms: stake tiers with a rule set. For now the house's list is part of the program; every
//! number of it is a field of the terms.

use bahay_engine::coins::Coins;
use bahay_engine::game::Game;
use bahay_engine::games::tongits::Rules;
use bahay_engine::table::{Clocks, Hits, Price, Terms};

use crate::tables::catalog::Tongits;

/// A stake tier.
#[derive(Clone, Debug)]
pub struct Room {
    name: String,
    terms: Terms<Rules>,
    wallet_min: Coins,
}

impl Room {
    /// `None` when its amounts do not fit 64 bits.
    pub fn new(name: &str, terms: Terms<Rules>) -> Option<Self> {
        let wallet_min = terms.wallet_min::<Tongits>()?;
        Some(Self { name: name.to_owned(), terms, wallet_min })
    }

    /// As in paths and accounts: `newbie`.
    pub fn id(&self) -> &str {
        &self.terms.room
    }

    /// As people read it.
    pub fn name(&self) -> &str {
        &self.name
    }

    pub fn terms(&self) -> &Terms<Rules> {
        &self.terms
    }

    /// The least that a wallet must hold to sit down: the ante and the greatest possible loss
    /// (rule 6.9).
    pub fn wallet_min(&self) -> Coins {
        self.wallet_min
    }

    /// The game played there.
    pub fn kind(&self) -> &'static str {
        Tongits::NAME
    }

    pub fn seats(&self) -> u8 {
        Tongits::seats(&self.terms.rules)
    }
}

/// The house's rooms, by rising bet. `clocks` are the same in all of them.
///
/// # Panics
/// Never: the amounts below fit, which a test shows.
pub fn house_rooms(clocks: Clocks) -> Vec<Room> {
    [("newbie", "Newbie", 1), ("barkada", "Barkada", 10), ("fiesta", "Fiesta", 100)]
        .into_iter()
        .map(|(id, name, bet)| {
            let price = Price {
                bet: Coins::from_whole(bet).expect("a bet that fits"),
                multiplier: 1,
                fee_basis_points: 500,
            };
            let terms = Terms {
                room: id.to_owned(),
                rules: Rules::kingdom(),
                price,
                hits: Hits::default(),
                clocks,
            };
            Room::new(name, terms).expect("amounts that fit")
        })
        .collect()
}
