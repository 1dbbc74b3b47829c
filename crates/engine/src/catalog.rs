//! The catalogue of the games that the house plays, and [`AnyGame`], the union of them.
//!
//! [`AnyGame`] is a [`Game`] like each of its parts, so `Table<AnyGame>` is the one type of all
//! tables of the service. The parts of different games never mix: an action of another game is
//! refused, and rules, views and events are handled by the game to which they belong.
//!
//! A document of a catalogue is serialized as a document of its game and is read once its game is
//! known ([`Readable`]). [`with_kind`] runs code that is generic over one game, selected by its
//! name.
//!
//! The games of the tests are in the catalogue only with the feature `testing`, and never in the
//! description of an interface.

use alloc::vec::Vec;
use core::fmt;
use core::ops::RangeInclusive;

use serde::de::Error as _;
use serde::ser::SerializeSeq;
use serde::{Deserializer, Serialize, Serializer};

use crate::chance::ChanceAnswer;
use crate::game::{
    CounterIncrement, Describe, Game, GameKind, GameRules, Hits, Item, Outcome, Piece, Prompt,
    Refusal, Row, RulesError, SeatRange, TitledName, Turn, Viewer,
};
use crate::seat::Seat;
use crate::spaces::Spaces;
use crate::table::{DocumentError, Lift, Line, Readable, Record, Table};

for_games!(catalog);

/// The static description of a game.
#[derive(Clone, Debug)]
pub struct Kind {
    /// The identifier in snake case, such as `tongits`.
    pub name: &'static str,
    /// The display name.
    pub title: &'static str,
    pub unit: TitledName,
    pub endings: &'static [TitledName],
    pub counters: &'static [TitledName],
    pub rule_sets: Vec<NamedRules>,
    /// True if only tests play the game.
    pub is_hidden: bool,
}

/// A rule set of a game with its name.
#[derive(Clone, Debug)]
pub struct NamedRules {
    pub name: &'static str,
    pub title: &'static str,
    pub rules: AnyRules,
    /// The rules for the POT and crowns that belong to it.
    pub hits: Option<Hits>,
}

/// A computation that is generic over one game of the catalogue.
pub trait Visitor {
    type Output;

    fn visit<G: Lift<AnyGame> + Spaces + 'static>(self) -> Self::Output;
}

/// Returns the game with this name.
pub fn find_kind(kind: &str) -> Option<Kind> {
    kinds().into_iter().find(|known| known.name == kind)
}

/// Returns the display name of the game with this name.
pub fn kind_title(kind: &str) -> &'static str {
    find_kind(kind).map_or("another game", |known| known.title)
}

/// Returns the display name of an ending of the game with this name.
pub fn ending_title(kind: &str, ending: &str) -> &'static str {
    let endings = find_kind(kind).map(|known| known.endings).unwrap_or_default();
    let named = endings.iter().find(|named| named.name == ending);
    named.map_or("otherwise", |named| named.title)
}

impl AnyRules {
    /// Returns the name of the game to which the rules belong.
    pub fn kind(&self) -> &'static str {
        GameRules::kind(self)
    }

    /// Reads the rules of the game with this name.
    ///
    /// # Errors
    /// If there is no such game, or the document is not a rule set of it.
    pub fn read<'de, D: Deserializer<'de>>(kind: &str, from: D) -> Result<Self, D::Error> {
        AnyGame::read_rules(kind, from)
    }

    /// Returns the name of the rule set that equals these rules, if there is one.
    pub fn rule_set(&self) -> Option<&'static str> {
        let sets = find_kind(self.kind())?.rule_sets;
        sets.into_iter().find(|set| set.rules == *self).map(|set| set.name)
    }

    /// Returns the rule set with this name of the game with this name.
    pub fn find_rule_set(kind: &str, rule_set: &str) -> Option<NamedRules> {
        let sets = find_kind(kind)?.rule_sets;
        sets.into_iter().find(|set| set.name == rule_set)
    }
}

#[cfg(test)]
mod tests {
    use alloc::collections::BTreeSet;
    use alloc::string::ToString;

    use super::refusals;
    use crate::game::Refusal as _;

    #[test]
    fn every_refusal_has_a_code_of_its_own_a_rule_and_a_sentence() {
        let mut codes = BTreeSet::new();
        for (game, illegal) in refusals() {
            let code = illegal.code();
            assert!(codes.insert((game, code)), "{game} has {code} twice");
            assert!(code.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_'), "{code}");
            assert!(illegal.rule().split_once('.').is_some(), "{code}");
            assert!(illegal.to_string().len() > 10, "{code}");
        }
        assert!(codes.len() > 100, "every game has refusals");
    }
}
