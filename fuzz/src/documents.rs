//! Mutations of JSON documents.

use serde_json::{Map, Value};

use crate::Choices;

/// Numbers at the limits of integer types.
const NUMBERS: [i64; 10] = [0, 1, -1, 2, 255, 256, 65_535, i64::MAX, i64::MIN, 4_294_967_296];

/// Texts with a special meaning, or beyond the limits of a type.
const TEXTS: [&str; 8] =
    ["", "AS", "null", "00000000-0000-0000-0000-000000000000", "\u{0}", "tongits", "1e999", "ñ"];

/// Mutates one value of a document.
pub fn edit(document: &mut Value, choices: &mut Choices<'_>) {
    let parts = count(document);
    let other = part(document, choices.below(parts)).clone();
    let place = part(document, choices.below(parts));
    match choices.byte() % 4 {
        0 => *place = other,
        1 => *place = Value::Null,
        _ => change(place, other, choices),
    }
}

fn change(place: &mut Value, other: Value, choices: &mut Choices<'_>) {
    match place {
        Value::Null | Value::Bool(_) => *place = Value::Bool(choices.byte().is_multiple_of(2)),
        Value::Number(number) => {
            let near =
                number.as_i64().unwrap_or_default().wrapping_add(i64::from(choices.byte()) - 128);
            *place = match choices.below(NUMBERS.len() + 2) {
                0 | 1 => near.into(),
                edge => NUMBERS[edge - 2].into(),
            };
        }
        Value::String(text) => match choices.below(TEXTS.len() + 2) {
            0 => drop(text.pop()),
            1 => text.push(char::from(choices.byte())),
            of_ours => *place = TEXTS[of_ours - 2].into(),
        },
        Value::Array(items) => {
            let at = choices.below(items.len().max(1));
            match choices.byte() % 4 {
                0 if !items.is_empty() => drop(items.remove(at)),
                1 if !items.is_empty() => items.insert(at, items[at].clone()),
                2 if !items.is_empty() => {
                    let last = items.len() - 1;
                    items.swap(at, last);
                }
                _ => items.insert(at.min(items.len()), other),
            }
        }
        Value::Object(fields) => {
            let at = choices.below(fields.len().max(1));
            let name = fields.keys().nth(at).cloned().unwrap_or_default();
            match choices.byte() % 3 {
                0 => drop(fields.remove(&name)),
                1 => drop(fields.insert(format!("{name}_"), other)),
                _ => drop(fields.insert(name, other)),
            }
        }
    }
}

/// Returns the number of values in a document, including itself.
fn count(document: &Value) -> usize {
    1 + match document {
        Value::Array(items) => items.iter().map(count).sum(),
        Value::Object(fields) => fields.values().map(count).sum(),
        _ => 0,
    }
}

/// Returns the value with this number, counted from the document itself in the order of the text.
fn part(document: &mut Value, number: usize) -> &mut Value {
    let Some(mut left) = number.checked_sub(1) else { return document };
    let values: Vec<&mut Value> = match document {
        Value::Array(items) => items.iter_mut().collect(),
        Value::Object(fields) => fields.values_mut().collect(),
        _ => Vec::new(),
    };
    for value in values {
        let parts = count(value);
        if left < parts {
            return part(value, left);
        }
        left -= parts;
    }
    unreachable!("the number is below the number of parts")
}

/// Returns a copy of a valid document with one to four mutations.
pub fn edit_copy(document: &Value, choices: &mut Choices<'_>) -> Value {
    let mut document = document.clone();
    for _ in 0..=choices.byte() % 4 {
        edit(&mut document, choices);
        if document.is_null() {
            return Value::Object(Map::new());
        }
    }
    document
}
