//! The games and rules that a command names, with those of the house's first room as the default.

use bahay::rooms::{Room, house_rooms};
use bahay_engine::catalog::{self, AnyRules};
use bahay_engine::table::{Clocks, Terms};

/// The error of a game or rule set that does not exist.
#[derive(Debug, thiserror::Error)]
pub enum RulesError {
    #[error("there is no game {kind}; the games are {known}")]
    NoGame { kind: String, known: String },
    #[error("{kind} has no rule set {rule_set}; its rule sets are {known}")]
    NoRuleSet { kind: String, rule_set: String, known: String },
}

/// Finds a rule set of a game by its name; the first one if none is named.
pub(crate) fn find_rule_set<'a, S>(
    kind: &str,
    sets: &'a [S],
    name: impl Fn(&S) -> &'static str,
    wanted: Option<&str>,
) -> Result<&'a S, RulesError> {
    let found = sets.iter().find(|set| wanted.is_none_or(|wanted| name(set) == wanted));
    found.ok_or_else(|| RulesError::NoRuleSet {
        kind: kind.to_owned(),
        rule_set: wanted.unwrap_or_default().to_owned(),
        known: sets.iter().map(name).collect::<Vec<_>>().join(", "),
    })
}

/// The terms of the simulated games.
pub(crate) struct SimulatedRules {
    pub(crate) terms: Terms<AnyRules>,
    /// The name of the rule set.
    pub(crate) rule_set: String,
}

/// Returns the house's first room.
pub(crate) fn first_room() -> Room {
    house_rooms(Clocks::default()).swap_remove(0)
}

impl SimulatedRules {
    /// Resolves the rules: those of the house's first room, unless another game is named. The POT
    /// is that of the rule set.
    pub(crate) fn resolve(game: Option<&str>, rule_set: Option<&str>) -> Result<Self, RulesError> {
        let room = first_room();
        let terms = room.terms().clone();
        let kind = game.unwrap_or(room.kind());
        if kind == room.kind() && rule_set.is_none() {
            return Ok(Self { terms, rule_set: room.rule_set().to_owned() });
        }
        let kinds = catalog::kinds();
        let Some(known) = kinds.iter().find(|known| known.name == kind) else {
            let known = kinds.iter().filter(|known| !known.is_hidden).map(|known| known.name);
            let known = known.collect::<Vec<_>>().join(", ");
            return Err(RulesError::NoGame { kind: kind.to_owned(), known });
        };
        let set = find_rule_set(kind, &known.rule_sets, |set| set.name, rule_set)?;
        let terms = Terms { rules: set.rules.clone(), hits: set.hits, ..terms };
        Ok(Self { terms, rule_set: set.name.to_owned() })
    }
}
