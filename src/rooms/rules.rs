//! The choice of rules: a game, one of its rule sets by name, and single switches of it.
//!
//! Switches are fields of the rules' JSON that differ from the rule set, as in `{"hits": …}` or
//! `{"countdowns": {"draw_ms": 5000}}`. The resulting rules are checked as a whole.

use bahay_engine::catalog::{self, AnyRules, NamedRules};
use bahay_engine::game::GameRules;
use bahay_engine::table::{Clocks, Terms};
use serde_json::Value;

use super::RoomError;

/// The maximum of every clock, in milliseconds.
const CLOCK_MS_MAX: u32 = 10 * 60 * 1_000;

/// The rules that a host asks for at a private or a practice table.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RuleSetRequest {
    /// The game, or `None` for the default: that of the room at a private table.
    pub kind: Option<String>,
    /// The rule set, or `None` for the default: that of the room, or the first one of another game.
    pub rule_set: Option<String>,
    /// The fields of the rules that differ from the rule set, as an object, or null.
    pub switches: Value,
}

/// Returns the rules of a rule set with `switches` applied, and the POT and crowns of that rule
/// set.
///
/// # Errors
/// [`RoomError::Unsound`] with the field at fault: an unknown game or rule set, or rules that the game
/// rejects.
pub fn choose_rules(kind: &str, rule_set: &str, switches: &Value) -> Result<NamedRules, RoomError> {
    let kinds = catalog::kinds();
    let Some(entry) = kinds.iter().find(|entry| entry.name == kind) else {
        let names: Vec<_> = kinds.iter().filter(|entry| !entry.is_hidden).map(|k| k.name).collect();
        return Err(unsound(
            "kind",
            format!("there is no game {kind}; there are {}", names.join(", ")),
        ));
    };
    let sets = &entry.rule_sets;
    let Some(named) = sets.iter().find(|set| set.name == rule_set) else {
        let names: Vec<_> = sets.iter().map(|set| set.name).collect();
        let why = format!("{kind} has no rule set {rule_set}; it has {}", names.join(", "));
        return Err(unsound("rule_set", why));
    };
    let rules = match switches {
        Value::Null => named.rules.clone(),
        Value::Object(_) => {
            let mut rules = serde_json::to_value(&named.rules)
                .map_err(|error| unsound("switches", error.to_string()))?;
            apply_switches(&mut rules, switches);
            AnyRules::read(kind, &rules).map_err(|error| unsound("switches", error.to_string()))?
        }
        _ => return Err(unsound("switches", "must be an object")),
    };
    rules.check().map_err(|bad| RoomError::Unsound { field: bad.field, why: bad.message })?;
    Ok(NamedRules { rules, ..named.clone() })
}

/// Rejects terms with a clock outside one millisecond to ten minutes, or without time for the AI to
/// think.
pub fn check_clocks(terms: &Terms<AnyRules>) -> Result<(), RoomError> {
    let clocks = &terms.clocks;
    let countdown_ms = terms.rules.countdown_ms();
    let shortest_ms = *countdown_ms.start();
    let longest_ms = *countdown_ms.end();
    let Clocks { prepare_ms, grace_ms, absence_ms, retry_ms, .. } = *clocks;
    let waits = [
        ("clocks.prepare_ms", prepare_ms),
        ("clocks.grace_ms", grace_ms),
        ("clocks.absence_ms", absence_ms),
        ("clocks.retry_ms", retry_ms),
        ("countdowns", shortest_ms),
        ("countdowns", longest_ms),
    ];
    if let Some((field, _)) = waits.iter().find(|(_, ms)| !(1..=CLOCK_MS_MAX).contains(ms)) {
        return Err(unsound(field, "a clock takes from a millisecond to ten minutes"));
    }
    if clocks.think_ms >= shortest_ms {
        return Err(unsound("clocks.think_ms", "the AI thinks for less than every countdown"));
    }
    if clocks.missed_turns_to_takeover == 0 {
        let why = "a player misses at least one turn before the AI takes over";
        return Err(unsound("clocks.missed_turns_to_takeover", why));
    }
    Ok(())
}

/// Overwrites fields of one object with those of another, recursively for nested objects.
fn apply_switches(rules: &mut Value, switches: &Value) {
    match (rules, switches) {
        (Value::Object(rules), Value::Object(switches)) => {
            for (field, value) in switches {
                match rules.get_mut(field) {
                    Some(field) => apply_switches(field, value),
                    None => {
                        // The decoder of the rules rejects an unknown field by name.
                        rules.insert(field.clone(), value.clone());
                    }
                }
            }
        }
        (rule, value) => *rule = value.clone(),
    }
}

pub(super) fn unsound(
    field: &'static str,
    why: impl Into<std::borrow::Cow<'static, str>>,
) -> RoomError {
    RoomError::Unsound { field: field.into(), why: why.into() }
}

#[cfg(test)]
mod tests {
    use bahay_engine::catalog;
    use serde_json::{Value, json};

    use super::choose_rules;
    use crate::rooms::RoomError;

    fn field(kind: &str, rule_set: &str, switches: Value) -> Option<String> {
        match choose_rules(kind, rule_set, &switches) {
            Ok(_) => None,
            Err(RoomError::Unsound { field, .. }) => Some(field.into_owned()),
            Err(other) => panic!("{other}"),
        }
    }

    #[test]
    fn every_rule_set_can_be_chosen_and_refusals_name_the_field() {
        for kind in catalog::kinds() {
            for set in &kind.rule_sets {
                assert_eq!(field(kind.name, set.name, Value::Null), None);
                let unknown = field(kind.name, set.name, json!({ "no_such_switch": 1 }));
                assert_eq!(unknown.as_deref(), Some("switches"));
                assert_eq!(field(kind.name, set.name, json!([])).as_deref(), Some("switches"));
            }
            assert_eq!(field(kind.name, "nothing", Value::Null).as_deref(), Some("rule_set"));
        }
        assert_eq!(field("chess", "kingdom", Value::Null).as_deref(), Some("kind"));
        let switches = json!({ "hand_cards": 17 });
        assert_eq!(field("tongits", "kingdom", switches).as_deref(), Some("hand_cards"));
    }
}
