//! The one list of the games that this house plays, and [`AnyGame`], which is any of them.
//!
//! [`AnyGame`] is a [`Game`] like each of its parts, so `Table<AnyGame>` is one type for all tables
//! of the service. What belongs to one game never meets what belongs to another: an action of
//! another game is refused, and rules, views and events are followed by the game they are of.
//!
//! A document of a catalogue is written as that of the game, and read once it is known which game
//! it is of ([`Readable`]). What is generic over one game is reached by its name: [`with_kind`].
//!
//! The games of the tests are in the list only with the feature `testing`, and in no description of
//! an interface.

use alloc::vec::Vec;
use core::fmt;
use core::ops::RangeInclusive;

use serde::de::Error as _;
use serde::ser::SerializeSeq;
use serde::{Deserializer, Serialize, Serializer};

use crate::chance::{ChanceAnswer, ChanceRng};
use crate::game::{
    CounterIncrement, Game, GameKind, Hits, SampledGame, TitledName, Outcome, Piece, Prompt, Refusal, Row, SeatRange,
    Skill, Turn, RulesError, Viewer,
};
use crate::seat::{Seat, SeatSet};
use crate::spaces::Spaces;
use crate::table::{Lift, Line, Readable, Record, Table, DocumentError};

catalog! {
    games {
        Tongits(crate::games::tongits::Tongits),
        TongoOptions(crate::games::tongo_options::TongoOptions),
        TongoAssets(crate::games::tongo_assets::TongoAssets),
    }
    tests {
        GuessTheDie(crate::testing::guess_the_die::GuessTheDie),
    }
}

/// What is known of a game without playing it.
#[derive(Clone, Debug)]
pub struct Kind {
    /// In snake case, as in `tongits`.
    pub name: &'static str,
    /// For people.
    pub title: &'static str,
    pub unit: TitledName,
    pub endings: &'static [TitledName],
    pub counters: &'static [TitledName],
    pub rule_sets: Vec<NamedRules>,
    /// Only tests play it.
    pub is_hidden: bool,
}

/// A rule set of a game by its name.
#[derive(Clone, Debug)]
pub struct NamedRules {
    pub name: &'static str,
    pub title: &'static str,
    pub rules: AnyRules,
    /// The POT and crowns that belong to it.
    pub hits: Option<Hits>,
}

/// Something that is done with one game of the list, by its type.
pub trait Visitor {
    type Output;

    fn visit<G: Lift<AnyGame> + Spaces + 'static>(self) -> Self::Output;
}

/// What people call the game of this name.
pub fn kind_title(kind: &str) -> &'static str {
    let known = kinds().into_iter().find(|known| known.name == kind);
    known.map_or("another game", |known| known.title)
}

/// What people call this ending of the game of this name.
pub fn ending_title(kind: &str, ending: &str) -> &'static str {
    let endings = kinds().into_iter().find(|known| known.name == kind).map(|known| known.endings);
    let named = endings.unwrap_or_default().iter().find(|named| named.name == ending);
    named.map_or("otherwise", |named| named.title)
}

impl AnyRules {
    /// The name of the game that these rules are of.
    pub fn kind(&self) -> &'static str {
        AnyGame::kind(self)
    }

    /// Reads the rules of a game.
    pub fn read<'de, D: Deserializer<'de>>(kind: &str, from: D) -> Result<Self, D::Error> {
        AnyGame::read_rules(kind, from)
    }

    /// The name of the rule set that these rules are, if no switch is set otherwise.
    pub fn rule_set(&self) -> Option<&'static str> {
        let sets = kinds().into_iter().find(|known| known.name == self.kind())?.rule_sets;
        sets.into_iter().find(|set| set.rules == *self).map(|set| set.name)
    }

    /// The rule set of this name of the game of this name.
    pub fn find_rule_set(kind: &str, rule_set: &str) -> Option<NamedRules> {
        let sets = kinds().into_iter().find(|known| known.name == kind)?.rule_sets;
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
        assert!(codes.len() > 100, "all games are asked");
    }
}
