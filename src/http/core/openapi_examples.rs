//! Examples for openapi.yaml. Each request and response body gets one example, assembled from the
//! examples of its fields. Each refusal gets one example for every code that its description names.
//!
//! A field without an example gets the smallest value that its schema allows. A test validates each
//! example against its schema.

use serde_json::{Map, Value, json};
use utoipa::openapi::example::ExampleBuilder;
use utoipa::openapi::path::Operation;
use utoipa::openapi::{Components, Content, RefOr, Response};

use crate::http::Code;

const JSON: &str = "application/json";
const PROBLEM: &str = "application/problem+json";

/// The maximum depth to which schemas are followed. The schemas of this document contain no cycles.
const DEPTH_MAX: usize = 16;

/// The schemas of a document, as JSON.
pub(crate) struct Examples(Value);

impl Examples {
    /// # Panics
    /// Never: the components of this document can be serialized as JSON.
    pub(crate) fn new(components: &Components) -> Self {
        let schemas = serde_json::to_value(&components.schemas);
        Self(schemas.expect("the schemas can be written as JSON"))
    }

    /// Adds examples to the request body and the responses of an operation.
    pub(crate) fn add_to_operation(&self, operation: &mut Operation) {
        if let Some(RefOr::T(body)) = &mut operation.request_body {
            self.add_to_content(body.content.get_mut(JSON));
        }
        for response in operation.responses.responses.values_mut() {
            if let RefOr::T(response) = response {
                self.add_to_response(response);
            }
        }
    }

    /// Adds examples to a response.
    pub(crate) fn add_to_response(&self, response: &mut Response) {
        self.add_to_content(response.content.get_mut(JSON));
        if let Some(RefOr::T(content)) = response.content.get_mut(PROBLEM) {
            for code in find_codes(&response.description) {
                let example = ExampleBuilder::new().value(Some(problem_example(code))).build();
                content.examples.insert(code.as_str().to_owned(), example.into());
            }
        }
    }

    fn add_to_content(&self, content: Option<&mut RefOr<Content>>) {
        if let Some(RefOr::T(content)) = content
            && content.example.is_none()
            && let Some(schema) = &content.schema
        {
            let schema = serde_json::to_value(schema).unwrap_or_default();
            content.example = Some(self.build_example(&schema, 0));
        }
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
            return self.build_example(&self.0[name], depth + 1);
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

/// Returns the codes that a description names, in the order of the description.
fn find_codes(description: &str) -> impl Iterator<Item = Code> {
    let quoted = description.split('`').skip(1).step_by(2);
    quoted.filter_map(|word| Code::ALL.iter().copied().find(|code| code.as_str() == word))
}

fn problem_example(code: Code) -> Value {
    json!({
        "type": format!("/problems#{}", code.as_str()),
        "title": code.title(),
        "status": code.status().as_u16(),
        "code": code.as_str(),
    })
}
