//! The melds on the table (rules 1.5, 3.4): in the order laid, each with its owner, and with the
//! seat that contributed each card. The storage consists of fixed arrays, because a game is copied
//! at every action.
//!
//! A face-down meld is numbered with the others and takes part in nothing else. A viewer that may
//! not see its cards knows only their number.

use alloc::vec::Vec;

use serde::de::{Deserializer, Error as _};
use serde::{Deserialize, Serialize, Serializer};

use crate::cards::{Card, CardSet};
use crate::games::tongits::meld::additions;
use crate::games::tongits::rules::SEATS;
use crate::seat::{Seat, SeatSet};

/// The maximum number of melds: each has at least three cards, and no card occurs twice.
const MELDS_MAX: usize = 18;

/// The owner in unused entries.
const NOBODY: Seat = Seat::new(0).expect("every table has seat 0");

/// All melds on the table, serialized as a list of [`ExposedMeld`].
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(with = "Vec<ExposedMeld>", rename = "Exposed"))]
pub struct ExposedMelds {
    /// The cards of each meld, except hidden face-down ones.
    melds: [CardSet; MELDS_MAX],
    owners: [Seat; MELDS_MAX],
    facing: [MeldFacing; MELDS_MAX],
    len: u8,
    /// The seats that own an open meld.
    open: SeatSet,
    /// The cards contributed by each seat; one set per seat covers all melds.
    by: [CardSet; SEATS as usize],
}

/// The state of a meld in one byte: the number of its cards if it lies face down (rule 3.4),
/// otherwise one of two marks that are no such number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct MeldFacing(u8);

impl MeldFacing {
    const OPEN: Self = Self(0);
    /// An open meld to which its owner added the drawn fourth card (rule 10.2).
    const SAGASA: Self = Self(u8::MAX);

    const fn face_down_count(self) -> Option<u8> {
        if self.is_open() { None } else { Some(self.0) }
    }

    const fn is_open(self) -> bool {
        self.0 == Self::OPEN.0 || self.0 == Self::SAGASA.0
    }
}

/// A meld on the table as a viewer sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ExposedMeld {
    pub owner: Seat,
    /// The cards; empty if the meld lies face down and the viewer may not see them.
    pub cards: CardSet,
    /// The cards contributed by each seat, by seat.
    pub by: [CardSet; SEATS as usize],
    /// The number of cards, if the meld lies face down (rule 3.4).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub face_down: Option<u8>,
    /// `true` if the meld is a sagasa (rule 10.2).
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub sagasa: bool,
}

impl ExposedMelds {
    pub fn empty() -> Self {
        Self {
            melds: [CardSet::EMPTY; MELDS_MAX],
            owners: [NOBODY; MELDS_MAX],
            facing: [MeldFacing::OPEN; MELDS_MAX],
            len: 0,
            open: SeatSet::EMPTY,
            by: [CardSet::EMPTY; SEATS as usize],
        }
    }

    /// Returns the number of melds, including face-down ones.
    pub const fn len(&self) -> usize {
        self.len as usize
    }

    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns the owners of all melds in the order laid.
    pub fn owners(&self) -> &[Seat] {
        self.owners.get(..self.len()).unwrap_or_default()
    }

    /// Returns all melds in the order laid.
    pub fn iter(&self) -> impl Iterator<Item = ExposedMeld> {
        self.iter_laid().map(|(_, cards, owner, facing)| ExposedMeld {
            owner,
            cards,
            by: self.by.map(|by| by.intersection(cards)),
            face_down: facing.face_down_count(),
            sagasa: facing == MeldFacing::SAGASA,
        })
    }

    /// Returns the open melds, each with its number, cards and owner.
    pub fn iter_open(&self) -> impl Iterator<Item = (u8, CardSet, Seat)> + Clone {
        let open = self.iter_laid().filter(|(.., facing)| facing.is_open());
        open.map(|(number, cards, owner, _)| (number, cards, owner))
    }

    /// Returns the cards of a meld if it lies open; the outer `None` means that there is no meld of
    /// this number.
    pub fn cards_if_open(&self, meld: u8) -> Option<Option<CardSet>> {
        let place = usize::from(meld);
        let cards = (place < self.len()).then(|| self.melds[place])?;
        Some(self.facing[place].is_open().then_some(cards))
    }

    /// Returns whether a seat owns an open meld (rule 1.7).
    pub const fn is_open(&self, seat: Seat) -> bool {
        self.open.contains(seat)
    }

    /// Returns whether a seat has laid a meld face down (rule 3.4).
    pub fn has_face_down(&self, seat: Seat) -> bool {
        self.iter_face_down(seat).next().is_some()
    }

    /// Returns the face-down melds of a seat, in the order laid.
    pub fn iter_face_down(&self, seat: Seat) -> impl Iterator<Item = CardSet> {
        let down = self
            .iter_laid()
            .filter(move |(_, _, owner, facing)| *owner == seat && !facing.is_open());
        down.map(|(_, cards, ..)| cards)
    }

    /// Returns a seat's secret melds on the table: melds laid face down, and sagasas (rules 3.4,
    /// 10.2).
    pub fn iter_secret(&self, seat: Seat) -> impl Iterator<Item = CardSet> {
        let secret = self
            .iter_laid()
            .filter(move |(_, _, owner, facing)| *owner == seat && *facing != MeldFacing::OPEN);
        secret.map(|(_, cards, ..)| cards)
    }

    /// Returns all cards that may be added to some meld (rule 3.5).
    pub fn additions(&self) -> CardSet {
        self.iter_open().fold(CardSet::EMPTY, |sum, (_, meld, _)| sum.union(additions(meld)))
    }

    /// Returns the cards in a seat's own melds that the seat contributed (rule 6.3).
    pub fn own_cards(&self, seat: Seat) -> CardSet {
        let own = self.iter_laid().filter(|(_, _, owner, _)| *owner == seat);
        let cards = own.fold(CardSet::EMPTY, |sum, (_, cards, ..)| sum.union(cards));
        self.by.get(seat.index()).map_or(CardSet::EMPTY, |by| cards.intersection(*by))
    }

    /// Returns all known cards on the table.
    pub fn cards(&self) -> CardSet {
        self.iter_laid().fold(CardSet::EMPTY, |sum, (_, cards, ..)| sum.union(cards))
    }

    /// Lays a meld open.
    ///
    /// # Panics
    ///
    /// Panics if the table already holds the maximum number of melds, which indicates a bug.
    pub fn lay_meld(&mut self, owner: Seat, cards: CardSet) {
        self.push_meld(owner, cards, MeldFacing::OPEN);
        self.open = self.open.with(owner);
    }

    /// Lays a meld of `count` cards face down. `cards` is empty if the viewer may not see them.
    ///
    /// # Panics
    ///
    /// Panics under the condition of [`Self::lay_meld`].
    pub fn lay_face_down(&mut self, owner: Seat, cards: CardSet, count: u8) {
        self.push_meld(owner, cards, MeldFacing(count));
    }

    /// Adds a card to the meld with this number.
    ///
    /// # Panics
    ///
    /// Panics if there is no such meld; the caller has checked the rules.
    pub fn add_card(&mut self, meld: u8, by: Seat, card: Card) {
        assert!(meld < self.len, "a card is added to a meld on the table");
        let cards = &mut self.melds[usize::from(meld)];
        *cards = cards.with(card);
        self.credit_cards(by, CardSet::only(card));
    }

    /// Marks the meld with this number as a sagasa (rule 10.2).
    ///
    /// # Panics
    ///
    /// Panics under the condition of [`Self::add_card`].
    pub fn mark_sagasa(&mut self, meld: u8) {
        assert!(meld < self.len, "a sagasa is a meld on the table");
        self.facing[usize::from(meld)] = MeldFacing::SAGASA;
    }

    /// Removes the cards of face-down melds, except those of the owners whose cards are visible.
    pub(super) fn conceal_face_down(&mut self, visible: SeatSet) {
        for place in 0..self.len() {
            let owner = self.owners[place];
            if !self.facing[place].is_open() && !visible.contains(owner) {
                let by = &mut self.by[owner.index()];
                *by = by.difference(self.melds[place]);
                self.melds[place] = CardSet::EMPTY;
            }
        }
    }

    /// Reveals the face-down melds of a seat, in the order laid. They remain marked as face down.
    pub(super) fn reveal_face_down(&mut self, seat: Seat, melds: &[CardSet]) {
        let mut melds = melds.iter();
        for place in 0..self.len() {
            if self.owners[place] == seat && !self.facing[place].is_open() {
                let cards = melds.next().copied().unwrap_or_default();
                self.melds[place] = cards;
                self.credit_cards(seat, cards);
            }
        }
    }

    fn iter_laid(&self) -> impl Iterator<Item = (u8, CardSet, Seat, MeldFacing)> + Clone {
        let melds = self.melds.get(..self.len()).unwrap_or_default();
        let all = melds.iter().zip(&self.owners).zip(&self.facing);
        (0..).zip(all).map(|(number, ((cards, owner), facing))| (number, *cards, *owner, *facing))
    }

    fn push_meld(&mut self, owner: Seat, cards: CardSet, facing: MeldFacing) {
        let place = self.len();
        self.melds[place] = cards;
        self.owners[place] = owner;
        self.facing[place] = facing;
        self.len += 1;
        self.credit_cards(owner, cards);
    }

    fn credit_cards(&mut self, seat: Seat, cards: CardSet) {
        let by = &mut self.by[seat.index()];
        *by = by.union(cards);
    }
}

impl FromIterator<ExposedMeld> for ExposedMelds {
    fn from_iter<I: IntoIterator<Item = ExposedMeld>>(melds: I) -> Self {
        let mut exposed = Self::empty();
        for meld in melds {
            match (meld.face_down, meld.sagasa) {
                (Some(count), _) => exposed.lay_face_down(meld.owner, CardSet::EMPTY, count),
                (None, is_sagasa) => {
                    exposed.lay_meld(meld.owner, CardSet::EMPTY);
                    if is_sagasa {
                        exposed.mark_sagasa(exposed.len - 1);
                    }
                }
            }
            exposed.melds[exposed.len() - 1] = meld.cards;
            for (seat, by) in Seat::all(SEATS).zip(meld.by) {
                exposed.credit_cards(seat, by);
            }
        }
        exposed
    }
}

impl PartialEq for ExposedMelds {
    fn eq(&self, other: &Self) -> bool {
        self.iter_laid().eq(other.iter_laid()) && self.by == other.by
    }
}

impl Eq for ExposedMelds {}

impl Serialize for ExposedMelds {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter())
    }
}

impl<'de> Deserialize<'de> for ExposedMelds {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let melds = Vec::<ExposedMeld>::deserialize(deserializer)?;
        if melds.len() > MELDS_MAX {
            return Err(D::Error::custom("the deck has too few cards for so many melds"));
        }
        if melds.iter().any(|meld| meld.owner.number() >= SEATS) {
            return Err(D::Error::custom("a meld's owner is a seat at the table"));
        }
        Ok(melds.into_iter().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::ExposedMelds;
    use crate::games::tongits::test_cards::cards;
    use crate::seat::{Seat, SeatSet};

    #[test]
    fn each_card_records_its_contributor() {
        let [owner, other] = [0, 1].map(|number| Seat::new(number).unwrap());
        let mut exposed = ExposedMelds::empty();
        exposed.lay_meld(owner, cards("JH QH KH"));
        exposed.lay_meld(other, cards("KC KD KS"));
        exposed.add_card(0, other, "TH".parse().unwrap());
        assert_eq!(exposed.own_cards(owner), cards("JH QH KH"));
        assert_eq!(exposed.additions(), cards("9H KH X1 X2"));
        assert_eq!(
            serde_json::to_string(&exposed).unwrap(),
            r#"[{"owner":0,"cards":["TH","JH","QH","KH"],"by":[["JH","QH","KH"],["TH"],[]]},{"owner":1,"cards":["KC","KD","KS"],"by":[[],["KC","KD","KS"],[]]}]"#
        );
        let read: ExposedMelds =
            serde_json::from_str(&serde_json::to_string(&exposed).unwrap()).unwrap();
        assert_eq!(read, exposed);
    }

    /// Rule 3.4.
    #[test]
    fn face_down_melds_are_concealed_and_revealed() {
        let [owner, other] = [0, 1].map(|number| Seat::new(number).unwrap());
        let mut exposed = ExposedMelds::empty();
        exposed.lay_face_down(owner, cards("9C 9D 9H 9S"), 4);
        assert!(!exposed.is_open(owner) && exposed.has_face_down(owner));
        assert!(exposed.additions().is_empty());
        assert_eq!((exposed.cards_if_open(0), exposed.cards_if_open(1)), (Some(None), None));
        let mut seen = exposed;
        seen.conceal_face_down(SeatSet::only(other));
        assert_eq!(
            serde_json::to_string(&seen).unwrap(),
            r#"[{"owner":0,"cards":[],"by":[[],[],[]],"face_down":4}]"#
        );
        let mut read: ExposedMelds =
            serde_json::from_str(&serde_json::to_string(&seen).unwrap()).unwrap();
        assert_eq!(read, seen);
        read.reveal_face_down(owner, &[cards("9C 9D 9H 9S")]);
        assert_eq!(read, exposed);
        assert_eq!(read.iter_secret(owner).count(), 1);
        assert_eq!(read.own_cards(owner), cards("9C 9D 9H 9S"));
    }
}
