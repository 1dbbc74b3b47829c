//! A validator for the JSON Schema keywords that the project's own documents use. An unknown
//! keyword is a failure, so the validator never accepts a value that it has not checked completely.

use serde_json::{Map, Value};

/// Keywords that describe a value without restricting it.
const ANNOTATIONS: [&str; 5] = ["description", "title", "default", "example", "examples"];

/// A document that holds the schemas to which its references point.
pub(crate) struct Document<'a>(pub(crate) &'a Value);

/// A description of a violation: the path of the invalid value, and the violated rule.
pub(crate) type Fault = String;

impl Document<'_> {
    /// Checks a value against the schema that a pointer such as `#/components/schemas/Seat` names.
    pub(crate) fn check_named(&self, reference: &str, value: &Value) -> Result<(), Fault> {
        let pointer = reference.strip_prefix('#').ok_or(format!("{reference} is elsewhere"))?;
        let schema = self.0.pointer(pointer).ok_or(format!("{reference} leads nowhere"))?;
        self.check(schema, value, "")
    }

    pub(crate) fn check(&self, schema: &Value, value: &Value, at: &str) -> Result<(), Fault> {
        let schema = match schema {
            Value::Bool(true) => return Ok(()),
            Value::Object(schema) => schema,
            other => return fault(at, format_args!("no value fits the schema {other}")),
        };
        schema
            .iter()
            .try_for_each(|(keyword, rule)| self.check_keyword(schema, keyword, rule, value, at))
    }

    fn check_keyword(
        &self,
        schema: &Map<String, Value>,
        keyword: &str,
        rule: &Value,
        value: &Value,
        at: &str,
    ) -> Result<(), Fault> {
        let holds = match keyword {
            _ if ANNOTATIONS.contains(&keyword) || keyword.starts_with("x-") => true,
            "$ref" => return self.check_named(rule.as_str().unwrap_or_default(), value),
            "allOf" => return list(rule).iter().try_for_each(|rule| self.check(rule, value, at)),
            "anyOf" | "oneOf" => return self.check_choice(keyword, list(rule), value, at),
            "type" => match rule {
                Value::Array(kinds) => kinds.iter().any(|kind| has_type(kind, value)),
                kind => has_type(kind, value),
            },
            "const" => rule == value,
            "enum" => list(rule).contains(value),
            "properties" | "required" | "additionalProperties" => {
                return self.check_object(schema, keyword, rule, value, at);
            }
            "items" => return self.check_items(rule, value, at),
            "minItems" => value.as_array().is_none_or(|list| list.len() as u64 >= number(rule)),
            "maxItems" => value.as_array().is_none_or(|list| list.len() as u64 <= number(rule)),
            "uniqueItems" => {
                let items = list(value);
                items.iter().enumerate().all(|(place, item)| !items[..place].contains(item))
            }
            "minimum" => value.as_i64().is_none_or(|value| Some(value) >= rule.as_i64()),
            "maximum" => value.as_i64().is_none_or(|value| Some(value) <= rule.as_i64()),
            "maxLength" => {
                value.as_str().is_none_or(|text| text.chars().count() as u64 <= number(rule))
            }
            "minLength" => {
                value.as_str().is_none_or(|text| text.chars().count() as u64 >= number(rule))
            }
            "pattern" => match value {
                Value::String(text) => matches(rule.as_str().unwrap_or_default(), text)?,
                _ => true,
            },
            "format" => fits_format(rule.as_str().unwrap_or_default(), value)?,
            unknown => return fault(at, format_args!("the validator does not know {unknown}")),
        };
        if holds { Ok(()) } else { fault(at, format_args!("{value} against {keyword} {rule}")) }
    }

    fn check_choice(
        &self,
        keyword: &str,
        choices: &[Value],
        value: &Value,
        at: &str,
    ) -> Result<(), Fault> {
        let tries: Vec<_> = choices.iter().map(|choice| self.check(choice, value, at)).collect();
        match (tries.iter().filter(|tried| tried.is_ok()).count(), keyword) {
            (1, _) | (2.., "anyOf") => Ok(()),
            (0, _) => {
                let faults: Vec<String> = tries.into_iter().filter_map(Result::err).collect();
                fault(at, format_args!("{value} fits no choice: {}", faults.join("; ")))
            }
            (several, _) => fault(at, format_args!("{value} fits {several} choices of one")),
        }
    }

    fn check_object(
        &self,
        schema: &Map<String, Value>,
        keyword: &str,
        rule: &Value,
        value: &Value,
        at: &str,
    ) -> Result<(), Fault> {
        let Value::Object(fields) = value else {
            return Ok(());
        };
        let known = schema.get("properties").and_then(Value::as_object);
        for (name, field) in fields {
            let place = format!("{at}/{name}");
            match (keyword, known.and_then(|known| known.get(name))) {
                ("properties", Some(schema)) => self.check(schema, field, &place)?,
                ("additionalProperties", None) => self.check(rule, field, &place)?,
                _ => {}
            }
        }
        let required = if keyword == "required" { list(rule) } else { &[] };
        match required.iter().find(|name| !fields.contains_key(name.as_str().unwrap_or_default())) {
            Some(missing) => fault(at, format_args!("{missing} is missing")),
            None => Ok(()),
        }
    }

    /// Checks a list against one schema for all items, or against one schema for each position.
    fn check_items(&self, rule: &Value, value: &Value, at: &str) -> Result<(), Fault> {
        for (place, item) in list(value).iter().enumerate() {
            let schema = match rule {
                Value::Array(schemas) => match schemas.get(place) {
                    Some(schema) => schema,
                    None => return fault(at, "more items than there are schemas"),
                },
                schema => schema,
            };
            self.check(schema, item, &format!("{at}/{place}"))?;
        }
        Ok(())
    }
}

fn fault<T>(at: &str, reason: impl std::fmt::Display) -> Result<T, Fault> {
    Err(format!("at {at:?}: {reason}"))
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn number(value: &Value) -> u64 {
    value.as_u64().expect("the schema's limit is a whole number")
}

fn has_type(kind: &Value, value: &Value) -> bool {
    match kind.as_str().unwrap_or_default() {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64() || value.is_u64(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        // The documents use no other type; in particular, no floating-point numbers.
        _ => false,
    }
}

fn fits_format(format: &str, value: &Value) -> Result<bool, Fault> {
    Ok(match (format, value) {
        (_, Value::Null) => true,
        ("uuid", Value::String(text)) => text.parse::<uuid::Uuid>().is_ok(),
        ("int64", value) => value.is_i64(),
        ("uint64", value) => value.is_u64(),
        ("uint32", value) => value.as_u64().is_some_and(|value| u32::try_from(value).is_ok()),
        ("int32", value) => value.as_i64().is_some_and(|value| i32::try_from(value).is_ok()),
        ("date-time", Value::String(text)) => text.parse::<jiff::Timestamp>().is_ok(),
        ("date", Value::String(text)) => text.parse::<jiff::civil::Date>().is_ok(),
        ("password", Value::String(_)) => true,
        ("uint8", value) => value.as_u64().is_some_and(|value| u8::try_from(value).is_ok()),
        (other, _) => return Err(format!("the validator does not know the format {other}")),
    })
}

/// Matches a text against a pattern. The supported patterns are those that the documents use:
/// `^[class]…$`, where a class may have a count in braces and a letter may replace a class, and
/// `^(choice|choice)$`.
fn matches(pattern: &str, text: &str) -> Result<bool, Fault> {
    let choices = pattern.strip_prefix("^(").and_then(|rest| rest.strip_suffix(")$"));
    if let Some(choices) = choices {
        for choice in choices.split('|') {
            if matches(&format!("^{choice}$"), text)? {
                return Ok(true);
            }
        }
        return Ok(false);
    }
    let unknown = || format!("the validator does not know the pattern {pattern}");
    let mut rest = pattern.strip_prefix('^').and_then(|rest| rest.strip_suffix('$'));
    let mut letters = text.chars();
    while let Some(part) = rest.filter(|rest| !rest.is_empty()) {
        let (class, after) = match part.strip_prefix('[') {
            Some(part) => part.split_once(']').ok_or_else(unknown)?,
            // A letter matches itself.
            None if part.starts_with(|letter: char| letter.is_ascii_alphanumeric()) => {
                part.split_at(1)
            }
            None => return Err(unknown()),
        };
        let counted = after.strip_prefix('{').and_then(|after| after.split_once('}'));
        let (count, after) = match counted {
            Some((count, after)) => (count.parse::<usize>().map_err(|_| unknown())?, after),
            None => (1, after),
        };
        if !(0..count).all(|_| letters.next().is_some_and(|letter| is_in(class, letter))) {
            return Ok(false);
        }
        rest = Some(after);
    }
    if rest.is_none() { Err(unknown()) } else { Ok(letters.next().is_none()) }
}

fn is_in(class: &str, letter: char) -> bool {
    let class: Vec<char> = class.chars().collect();
    let in_range = |range: &[char]| range[1] == '-' && (range[0]..=range[2]).contains(&letter);
    class.contains(&letter) && letter != '-' || class.windows(3).any(in_range)
}

/// Resolves a reference.
pub(crate) fn resolve<'a>(document: &'a Value, value: &'a Value) -> &'a Value {
    match value["$ref"].as_str() {
        Some(reference) => document.pointer(&reference[1..]).unwrap(),
        None => value,
    }
}

/// Adds to `found` the location of every text, number and list in a schema that has no limit.
pub(crate) fn find_unlimited(document: &Value, schema: &Value, at: &str, found: &mut Vec<String>) {
    let schema = resolve(document, schema);
    if schema.get("enum").is_some() || schema.get("const").is_some() {
        return;
    }
    for kinds in ["oneOf", "anyOf", "allOf"] {
        for kind in schema[kinds].as_array().into_iter().flatten() {
            find_unlimited(document, kind, at, found);
        }
    }
    let is = |kind: &str| match &schema["type"] {
        Value::Array(kinds) => kinds.iter().any(|one| one == kind),
        one => one == kind,
    };
    let has = |keyword: &str| schema.get(keyword).is_some();
    let format = schema["format"].as_str().unwrap_or_default();
    let is_short = ["uuid", "date-time", "date"].contains(&format);
    if is("string") && !has("maxLength") && !has("pattern") && !is_short {
        found.push(format!("{at}: a text of any length"));
    }
    // A format bounds a number by its bits.
    if is("integer") && !has("maximum") && !has("format") {
        found.push(format!("{at}: a number without a maximum"));
    }
    if is("array") {
        if !has("maxItems") {
            found.push(format!("{at}: a list of any length"));
        }
        find_unlimited(document, &schema["items"], &format!("{at}[]"), found);
    }
    for (name, field) in schema["properties"].as_object().into_iter().flatten() {
        find_unlimited(document, field, &format!("{at}.{name}"), found);
    }
}
