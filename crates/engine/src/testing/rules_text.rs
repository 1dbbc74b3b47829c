//! Rules in the notation of test files.

use alloc::format;
use alloc::string::{String, ToString};

use serde_json::Value;

use crate::game::{GameKind, GameRules};

/// Parses rules such as `classic sagasa=false counts.stock=2`: a rule set, `otherwise` if none is
/// named, and the changed fields.
///
/// # Errors
/// The part that cannot be parsed, or the reason why no game can be dealt by the rules.
pub fn parse_rules<G: GameKind>(text: &str, otherwise: &str) -> Result<G::Rules, String> {
    let set = |name: &str| G::rule_sets().iter().find(|set| set.name == name);
    let mut words = text.split_whitespace().peekable();
    let named = words.peek().and_then(|name| set(name));
    let changes = words.skip(usize::from(named.is_some()));
    let named = named.or_else(|| set(otherwise)).ok_or_else(|| format!("no {otherwise}"))?;
    let mut rules = serde_json::to_value((named.rules)()).map_err(|error| error.to_string())?;
    for change in changes {
        let (name, value) = change.split_once('=').ok_or("name=value")?;
        let value = serde_json::from_str(value).unwrap_or_else(|_| Value::String(value.into()));
        let field = name.split('.').try_fold(&mut rules, |value, name| value.get_mut(name));
        *field.ok_or_else(|| format!("no rule is called {name}"))? = value;
    }
    let rules: G::Rules = serde_json::from_value(rules).map_err(|error| error.to_string())?;
    rules.check().map_err(|error| error.to_string())?;
    Ok(rules)
}
