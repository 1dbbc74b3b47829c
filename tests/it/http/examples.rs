//! The examples and limits in openapi.yaml. The examples of fields make an example of every body,
//! which its schema allows and the server can parse, every refusal names its codes with their
//! titles, and all input is bounded.

use bahay::http::{Code, openapi_yaml};
use bahay::operators::Role;
use reqwest::Method;
use serde_json::{Value, json};
use uuid::Uuid;

use super::contract::fill_path;
use super::example_bodies::ExampleBodies;
use super::server::Server;
use crate::asyncapi::find_unlimited;
use crate::asyncapi::schema::Document;

fn load_document() -> Value {
    yaml_serde::from_str(&openapi_yaml()).unwrap()
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
    method: Method,
    path: &'a str,
    said: &'a Value,
}

fn list_operations(document: &Value) -> Vec<Operation<'_>> {
    let mut operations = vec![];
    for (path, item) in document["paths"].as_object().unwrap() {
        for (method, said) in item.as_object().unwrap() {
            let method: Method = method.to_uppercase().parse().unwrap();
            operations.push(Operation { name: format!("{method} {path}"), method, path, said });
        }
    }
    operations
}

/// Resolves a reference.
pub(super) fn resolve<'a>(document: &'a Value, value: &'a Value) -> &'a Value {
    match value["$ref"].as_str() {
        Some(reference) => document.pointer(&reference[1..]).unwrap(),
        None => value,
    }
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
            let words = answer["description"].as_str().unwrap().split('`').skip(1).step_by(2);
            let named = words.filter_map(|word| Code::ALL.iter().find(|one| one.as_str() == word));
            assert_eq!(answer["content"]["application/problem+json"]["schema"], schema, "{name}");
            let mut count = 0;
            for code in named {
                count += 1;
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

/// The codes of a request whose body could not be parsed.
const UNREADABLE: [&str; 5] =
    ["body_malformed", "body_unreadable", "body_not_json", "body_too_large", "body_invalid"];

#[tokio::test]
async fn the_server_accepts_every_example() {
    let server = Server::new().await;
    let node = &server.node;
    let operator = server.session("ate.luz", Role::Admin).await;
    let document = load_document();
    let mut sent = 0;
    for Operation { name, method, path, said } in list_operations(&document) {
        let schema = &said["requestBody"]["content"]["application/json"]["schema"];
        if schema.is_null() {
            continue;
        }
        sent += 1;
        let example = ExampleBodies(&document).build(schema);
        let request = node.request(method, &fill_path(path)).json(&example);
        let request = request.header("Idempotency-Key", Uuid::new_v4().to_string());
        let scheme = said["security"][0].as_object().and_then(|scheme| scheme.keys().next());
        let request = match scheme.map(String::as_str) {
            Some("operator_token") => request.bearer_auth(&operator),
            // Some operations end the player's session, so each request uses a session of its own.
            Some(_) => {
                let guest = node.guest(&format!("device-{}", Uuid::new_v4())).await;
                request.bearer_auth(&guest.access_token)
            }
            None => request,
        };
        let answer = request.send().await.unwrap();
        let status = answer.status();
        let text = answer.text().await.unwrap();
        assert!(!status.is_server_error() || text.contains("unavailable"), "{name}: {text}");
        let code = serde_json::from_str::<Value>(&text).unwrap_or_default()["code"].clone();
        assert!(!UNREADABLE.iter().any(|unreadable| code == *unreadable), "{name}: {text}");
    }
    assert!(sent > 20, "{sent}");
}
