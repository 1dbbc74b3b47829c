//! Values whose form depends on the game, as texts.

use serde_json::Value;

/// Returns a value as JSON; empty for one that JSON cannot express.
pub(crate) fn to_json(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

/// Returns the text of a value that is a text in JSON, such as a code.
pub(crate) fn to_word(value: &impl serde::Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(Value::String(word)) => word,
        Ok(other) => other.to_string(),
        Err(_) => String::new(),
    }
}
