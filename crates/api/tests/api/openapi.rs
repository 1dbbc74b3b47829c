//! openapi.yaml: the stored document, its examples and limits. The examples of fields make an
//! example of every body, which its schema allows, every refusal names its codes with their titles,
//! and all input is bounded.

use bahay_api::Code;
use serde_json::{Value, json};

use crate::check_current;
use crate::example_bodies::ExampleBodies;
use crate::schema::{Document, find_unlimited, resolve};

#[test]
fn openapi_yaml_is_current() {
    check_current("openapi", &bahay_api::openapi().to_yaml().unwrap());
}

#[test]
fn the_document_lists_every_code() {
    let codes: Vec<Value> = Code::ALL.iter().map(|code| code.as_str().into()).collect();
    let document = load_document();
    assert_eq!(document["components"]["schemas"]["ProblemCode"]["enum"], Value::Array(codes));
}

fn load_document() -> Value {
    serde_json::to_value(bahay_api::openapi()).unwrap()
}

/// Returns the document without patterns, which the validator does not support in full; the server
/// checks them.
fn without_patterns(document: Value) -> Value {
    match document {
        Value::Object(fields) => {
            let kept = fields.into_iter().filter(|(name, _)| name != "pattern");
            kept.map(|(name, field)| (name, without_patterns(field))).collect()
        }
        Value::Array(items) => items.into_iter().map(without_patterns).collect(),
        plain => plain,
    }
}

/// An operation, named by its method and path.
struct Operation<'a> {
    name: String,
    said: &'a Value,
}

fn list_operations(document: &Value) -> Vec<Operation<'_>> {
    let mut operations = vec![];
    for (path, item) in document["paths"].as_object().unwrap() {
        for (method, said) in item.as_object().unwrap() {
            operations.push(Operation { name: format!("{method} {path}"), said });
        }
    }
    operations
}

#[test]
fn every_body_has_a_valid_example() {
    let document = without_patterns(load_document());
    let mut examples = 0;
    let mut faults = vec![];
    for operation in list_operations(&document) {
        let bodies = [&operation.said["requestBody"]];
        let answers = operation.said["responses"].as_object().unwrap().values();
        let answers = answers.map(|answer| resolve(&document, answer));
        for said in bodies.into_iter().chain(answers) {
            let content = &said["content"]["application/json"];
            if content.is_null() {
                continue;
            }
            examples += 1;
            let example = &ExampleBodies(&document).build(&content["schema"]);
            let checked = Document(&document).check(&content["schema"], example, "");
            if let Err(fault) = checked {
                faults.push(format!("{}: {fault}\nin {example}", operation.name));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert!(examples > 100, "{examples}");
}

#[test]
fn every_refusal_names_its_codes_with_their_titles() {
    let document = load_document();
    let schema = json!({ "$ref": "#/components/schemas/Problem" });
    for Operation { name, said, .. } in list_operations(&document) {
        for (status, answer) in said["responses"].as_object().unwrap() {
            if !status.starts_with(['4', '5']) {
                continue;
            }
            let answer = resolve(&document, answer);
            let text = answer["description"].as_str().unwrap();
            let words = text.split('`').skip(1).step_by(2);
            let named = words.filter_map(|word| Code::ALL.iter().find(|one| one.as_str() == word));
            assert_eq!(answer["content"]["application/problem+json"]["schema"], schema, "{name}");
            let mut count = 0;
            for code in named {
                count += 1;
                let line = format!("`{}`: {}.", code.as_str(), code.title());
                assert!(text.contains(&line), "{name}: {text} lacks {line}");
                assert_eq!(code.status().as_str(), status, "{name}: {}", code.as_str());
                let body = serde_json::to_value(code.body(None)).unwrap();
                Document(&document).check(&schema, &body, "").unwrap();
            }
            assert!(count > 0, "{name} does not say by which codes it refuses with {status}");
        }
    }
}

#[test]
fn all_input_is_bounded() {
    let document = load_document();
    let mut found = vec![];
    for Operation { name, said, .. } in list_operations(&document) {
        for parameter in said["parameters"].as_array().into_iter().flatten() {
            let parameter = resolve(&document, parameter);
            let at = format!("{name} {}", parameter["name"]);
            find_unlimited(&document, &parameter["schema"], &at, &mut found);
        }
        for (_, content) in said["requestBody"]["content"].as_object().into_iter().flatten() {
            find_unlimited(&document, &content["schema"], &name, &mut found);
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
    let nothing = json!({ "type": "array", "items": { "type": ["string", "null"] } });
    find_unlimited(&document, &nothing, "a list of texts", &mut found);
    assert_eq!(found.len(), 2, "the check finds unbounded input");
}
