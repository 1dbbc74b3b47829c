//! Examples for openapi.yaml: each body that is sent or answered gets one, put together from the
//! examples of its fields, and each refusal one for every code that its description names.
//!
//! What a field's schema does not show is filled in by its type, with the least that fits. A test
//! holds each example against its schema.

use serde_json::{Map, Value, json};
use utoipa::openapi::example::ExampleBuilder;
use utoipa::openapi::path::Operation;
use utoipa::openapi::{Components, Content, RefOr, Response};

use super::Code;

const JSON: &str = "application/json";
const PROBLEM: &str = "application/problem+json";

/// The deepest that schemas are followed; ours do not go around.
const DEPTH_MAX: usize = 16;

/// A document's schemas, as JSON.
pub(super) struct Examples(Value);

impl Examples {
    /// # Panics
    /// Never: components of our own can be written as JSON.
    pub(super) fn of(components: &Components) -> Self {
        let schemas = serde_json::to_value(&components.schemas);
        Self(schemas.expect("schemas of our own can be written as JSON"))
    }

    /// Gives examples to all that an operation takes and answers.
    pub(super) fn show(&self, operation: &mut Operation) {
        if let Some(RefOr::T(body)) = &mut operation.request_body {
            self.fill(body.content.get_mut(JSON));
        }
        for response in operation.responses.responses.values_mut() {
            if let RefOr::T(response) = response {
                self.show_response(response);
            }
        }
    }

    /// The same for an answer.
    pub(super) fn show_response(&self, response: &mut Response) {
        self.fill(response.content.get_mut(JSON));
        if let Some(RefOr::T(content)) = response.content.get_mut(PROBLEM) {
            for code in named(&response.description) {
                let example = ExampleBuilder::new().value(Some(problem(code))).build();
                content.examples.insert(code.as_str().to_owned(), example.into());
            }
        }
    }

    fn fill(&self, content: Option<&mut RefOr<Content>>) {
        if let Some(RefOr::T(content)) = content
            && content.example.is_none()
            && let Some(schema) = &content.schema
        {
            let schema = serde_json::to_value(schema).unwrap_or_default();
            content.example = Some(self.example(&schema, 0));
        }
    }

    fn example(&self, schema: &Value, depth: usize) -> Value {
        if depth > DEPTH_MAX {
            return Value::Null;
        }
        let given = [&schema["example"], &schema["examples"][0], &schema["const"]];
        if let Some(given) = given.into_iter().find(|given| !given.is_null()) {
            return given.clone();
        }
        if let Some(name) = schema["$ref"].as_str().and_then(|path| path.rsplit('/').next()) {
            return self.example(&self.0[name], depth + 1);
        }
        let kinds = [&schema["oneOf"], &schema["anyOf"]].into_iter().find_map(Value::as_array);
        if let Some(kinds) = kinds {
            let kind = kinds.iter().find(|kind| kind["type"] != "null");
            return kind.map_or(Value::Null, |kind| self.example(kind, depth + 1));
        }
        if let Some(parts) = schema["allOf"].as_array() {
            let parts = parts.iter().map(|part| self.example(part, depth + 1));
            let fields = parts.filter_map(|part| part.as_object().cloned()).flatten();
            return fields.chain(self.fields(schema, depth)).collect::<Map<_, _>>().into();
        }
        if let Some(first) = schema["enum"].get(0) {
            return first.clone();
        }
        match kind_of(schema) {
            "object" => self.fields(schema, depth).collect::<Map<_, _>>().into(),
            "array" => json!([self.example(&schema["items"], depth + 1)]),
            "string" => text(schema),
            "integer" => schema.get("minimum").cloned().unwrap_or(json!(1)),
            "boolean" => json!(false),
            _ => Value::Null,
        }
    }

    fn fields(&self, schema: &Value, depth: usize) -> impl Iterator<Item = (String, Value)> {
        let fields = schema["properties"].as_object().into_iter().flatten();
        fields.map(move |(name, field)| (name.clone(), self.example(field, depth + 1)))
    }
}

/// Of several types the first that is not null.
fn kind_of(schema: &Value) -> &str {
    match &schema["type"] {
        Value::Array(kinds) => {
            kinds.iter().filter_map(Value::as_str).find(|kind| *kind != "null").unwrap_or("null")
        }
        kind => kind.as_str().unwrap_or("null"),
    }
}

fn text(schema: &Value) -> Value {
    match schema["format"].as_str() {
        Some("uuid") => json!("019ca944-3c00-7000-8000-000000000001"),
        Some("date-time") => json!("2026-03-01T12:00:00Z"),
        Some("date") => json!("2026-03-01"),
        Some(_) | None => json!("text"),
    }
}

/// The codes that a description names, in its order.
fn named(description: &str) -> impl Iterator<Item = Code> {
    let quoted = description.split('`').skip(1).step_by(2);
    quoted.filter_map(|word| Code::ALL.iter().copied().find(|code| code.as_str() == word))
}

fn problem(code: Code) -> Value {
    json!({
        "type": format!("/problems#{}", code.as_str()),
        "title": code.title(),
        "status": code.status().as_u16(),
        "code": code.as_str(),
    })
}
