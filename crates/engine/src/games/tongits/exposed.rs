//! The exposed melds (rule 1.5): in the order laid, each with its owner, and for every card the
//! seat that put it there. Fixed arrays, because a game is copied at every action.

use alloc::vec::Vec;

use serde::de::{Deserializer, Error as _};
use serde::{Deserialize, Serialize, Serializer};

use crate::cards::{Card, CardSet};
use crate::games::tongits::meld::additions;
use crate::games::tongits::rules::SEATS;
use crate::seat::Seat;

/// Three cards to a meld at least, and no card twice.
const MELDS_MAX: usize = 17;

/// What stands where no meld is.
const NOBODY: Seat = Seat::new(0).expect("every table has seat 0");

/// All exposed melds. On the wire it is the list of [`ExposedMeld`].
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(with = "Vec<ExposedMeld>"))]
pub struct Exposed {
    melds: [CardSet; MELDS_MAX],
    owners: [Seat; MELDS_MAX],
    len: u8,
    /// Which of all exposed cards each seat put there; one set a seat serves every meld.
    by: [CardSet; SEATS as usize],
}

/// One exposed meld as it is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ExposedMeld {
    pub owner: Seat,
    pub cards: CardSet,
    /// Which of its cards each seat put there, by seat.
    pub by: [CardSet; SEATS as usize],
}

impl Exposed {
    pub fn none() -> Self {
        Self {
            melds: [CardSet::EMPTY; MELDS_MAX],
            owners: [NOBODY; MELDS_MAX],
            len: 0,
            by: [CardSet::EMPTY; SEATS as usize],
        }
    }

    pub const fn len(&self) -> usize {
        self.len as usize
    }

    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The melds' cards in the order laid.
    pub fn melds(&self) -> &[CardSet] {
        self.melds.get(..self.len()).unwrap_or_default()
    }

    /// The melds' owners in the order laid.
    pub fn owners(&self) -> &[Seat] {
        self.owners.get(..self.len()).unwrap_or_default()
    }

    pub fn iter(&self) -> impl Iterator<Item = ExposedMeld> {
        self.melds().iter().zip(self.owners()).map(|(cards, owner)| ExposedMeld {
            owner: *owner,
            cards: *cards,
            by: self.by.map(|by| by.intersection(*cards)),
        })
    }

    /// Whether a seat owns one (rule 1.7).
    pub fn is_open(&self, seat: Seat) -> bool {
        self.owners().contains(&seat)
    }

    /// Every card that may be added to some meld (rule 3.5).
    pub fn additions(&self) -> CardSet {
        self.melds().iter().fold(CardSet::EMPTY, |sum, meld| sum.union(additions(*meld)))
    }

    /// The cards in a seat's own melds that the seat put there (rule 6.3).
    pub fn own_cards(&self, seat: Seat) -> CardSet {
        let mut cards = CardSet::EMPTY;
        for (meld, owner) in self.melds().iter().zip(self.owners()) {
            if *owner == seat {
                cards = cards.union(*meld);
            }
        }
        self.by.get(seat.index()).map_or(CardSet::EMPTY, |by| cards.intersection(*by))
    }

    /// All exposed cards.
    pub fn cards(&self) -> CardSet {
        self.melds().iter().fold(CardSet::EMPTY, |sum, meld| sum.union(*meld))
    }

    /// # Panics
    /// When the cards of the deck do not suffice for one more: a bug.
    pub fn lay(&mut self, owner: Seat, cards: CardSet) {
        let place = self.len();
        self.melds[place] = cards;
        self.owners[place] = owner;
        self.len += 1;
        self.credit(owner, cards);
    }

    /// Adds a card to the meld with this number.
    ///
    /// # Panics
    /// When there is no such meld: ask the rules first.
    pub fn add(&mut self, meld: u8, by: Seat, card: Card) {
        assert!(meld < self.len, "a card is added to a meld on the table");
        let cards = &mut self.melds[usize::from(meld)];
        *cards = cards.with(card);
        self.credit(by, CardSet::only(card));
    }

    fn credit(&mut self, seat: Seat, cards: CardSet) {
        let by = &mut self.by[seat.index()];
        *by = by.union(cards);
    }
}

impl FromIterator<ExposedMeld> for Exposed {
    fn from_iter<I: IntoIterator<Item = ExposedMeld>>(melds: I) -> Self {
        let mut exposed = Self::none();
        for meld in melds {
            exposed.lay(meld.owner, meld.cards.intersection(meld.by[meld.owner.index()]));
            exposed.melds[exposed.len() - 1] = meld.cards;
            for (seat, by) in Seat::all(SEATS).zip(meld.by) {
                exposed.credit(seat, by);
            }
        }
        exposed
    }
}

impl PartialEq for Exposed {
    fn eq(&self, other: &Self) -> bool {
        self.melds() == other.melds() && self.owners() == other.owners() && self.by == other.by
    }
}

impl Eq for Exposed {}

impl Serialize for Exposed {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter())
    }
}

impl<'de> Deserialize<'de> for Exposed {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let melds = Vec::<ExposedMeld>::deserialize(deserializer)?;
        if melds.len() > MELDS_MAX {
            return Err(D::Error::custom("there are more melds than the deck has"));
        }
        if melds.iter().any(|meld| meld.owner.number() >= SEATS) {
            return Err(D::Error::custom("a meld's owner is a seat at the table"));
        }
        Ok(melds.into_iter().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::Exposed;
    use crate::cards::CardSet;
    use crate::seat::Seat;

    fn cards(text: &str) -> CardSet {
        text.split_whitespace().map(|card| card.parse().unwrap()).collect()
    }

    #[test]
    fn every_card_remembers_who_put_it_there() {
        let [owner, other] = [0, 1].map(|number| Seat::new(number).unwrap());
        let mut exposed = Exposed::none();
        exposed.lay(owner, cards("JH QH KH"));
        exposed.lay(other, cards("KC KD KS"));
        exposed.add(0, other, "TH".parse().unwrap());
        assert_eq!(exposed.own_cards(owner), cards("JH QH KH"));
        assert_eq!(exposed.additions(), cards("9H KH"));
        assert_eq!(
            serde_json::to_string(&exposed).unwrap(),
            r#"[{"owner":0,"cards":["TH","JH","QH","KH"],"by":[["JH","QH","KH"],["TH"],[]]},{"owner":1,"cards":["KC","KD","KS"],"by":[[],["KC","KD","KS"],[]]}]"#
        );
        let read: Exposed =
            serde_json::from_str(&serde_json::to_string(&exposed).unwrap()).unwrap();
        assert_eq!(read, exposed);
    }
}
