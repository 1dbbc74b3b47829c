//! Examples of bodies, assembled from the examples of their fields as readers of openapi.yaml do.
//!
//! A field without an example gets the smallest value that its schema allows.

use serde_json::{Map, Value, json};

/// The maximum depth to which schemas are followed. The schemas of this document contain no cycles.
const DEPTH_MAX: usize = 16;

/// The examples of a document.
pub(super) struct ExampleBodies<'a>(pub(super) &'a Value);

impl ExampleBodies<'_> {
    /// Returns an example of a schema.
    pub(super) fn build(&self, schema: &Value) -> Value {
        self.build_example(schema, 0)
    }

    fn build_example(&self, schema: &Value, depth: usize) -> Value {
        if depth > DEPTH_MAX {
            return Value::Null;
        }
        let given = [&schema["example"], &schema["examples"][0], &schema["const"]];
        if let Some(given) = given.into_iter().find(|given| !given.is_null()) {
            return given.clone();
        }
        if let Some(name) = schema["$ref"].as_str().and_then(|path| path.rsplit('/').next()) {
            return self.build_example(&self.0["components"]["schemas"][name], depth + 1);
        }
        let kinds = [&schema["oneOf"], &schema["anyOf"]].into_iter().find_map(Value::as_array);
        if let Some(kinds) = kinds {
            let kind = kinds.iter().find(|kind| kind["type"] != "null");
            return kind.map_or(Value::Null, |kind| self.build_example(kind, depth + 1));
        }
        if let Some(parts) = schema["allOf"].as_array() {
            let parts = parts.iter().map(|part| self.build_example(part, depth + 1));
            let fields = parts.filter_map(|part| part.as_object().cloned()).flatten();
            return fields.chain(self.build_fields(schema, depth)).collect::<Map<_, _>>().into();
        }
        if let Some(first) = schema["enum"].get(0) {
            return first.clone();
        }
        match schema_type(schema) {
            "object" => self.build_fields(schema, depth).collect::<Map<_, _>>().into(),
            "array" => json!([self.build_example(&schema["items"], depth + 1)]),
            "string" => text_example(schema),
            "integer" => schema.get("minimum").cloned().unwrap_or(json!(1)),
            "boolean" => json!(false),
            _ => Value::Null,
        }
    }

    fn build_fields(&self, schema: &Value, depth: usize) -> impl Iterator<Item = (String, Value)> {
        let fields = schema["properties"].as_object().into_iter().flatten();
        fields.map(move |(name, field)| (name.clone(), self.build_example(field, depth + 1)))
    }
}

/// Returns the first type of a schema that is not `null`.
fn schema_type(schema: &Value) -> &str {
    match &schema["type"] {
        Value::Array(kinds) => {
            kinds.iter().filter_map(Value::as_str).find(|kind| *kind != "null").unwrap_or("null")
        }
        kind => kind.as_str().unwrap_or("null"),
    }
}

fn text_example(schema: &Value) -> Value {
    match schema["format"].as_str() {
        Some("uuid") => json!("019ca944-3c00-7000-8000-000000000001"),
        Some("date-time") => json!("2026-03-01T12:00:00Z"),
        Some("date") => json!("2026-03-01"),
        Some(_) | None => json!("text"),
    }
}
