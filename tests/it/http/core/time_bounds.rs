//! The bounds of all times and days in requests: the contract states which parameters are times;
//! the forms of the desk are listed here.

use bahay::operators::Role;
use reqwest::Method;
use serde_json::{Value, json};

use super::contract::{fill_path, list_operations, resolve};
use super::example_bodies::ExampleBodies;
use crate::desk::browser::Browser;
use crate::http::server::{Server, expect_refusal_of, ok, status_of};

/// Times beyond the range of PostgreSQL, of RFC 3339, of the calendar, or of the years that the
/// server supports.
const TIMES: [&str; 14] = [
    "-009999-01-02T01:59:59Z",
    "-009999-06-01T00:00:00Z",
    "-004714-11-23T23:59:59Z",
    "-004713-01-01T00:00:00Z",
    "-000001-12-31T23:59:59Z",
    "0000-01-01T00:00:00Z",
    "0001-01-01T00:00:00Z",
    "1969-12-31T23:59:59.999Z",
    "9999-01-01T00:00:00Z",
    "9999-12-30T21:59:59Z",
    "9999-12-30T22:00:00.999999999Z",
    "9999-12-31T23:59:59Z",
    "+010000-01-01T00:00:00Z",
    "+294276-12-31T23:59:59Z",
];

const DAYS: [&str; 9] = [
    "-009999-01-01",
    "-004714-11-24",
    "-004713-01-01",
    "0000-01-01",
    "0001-01-01",
    "1969-12-31",
    "9999-01-01",
    "9999-12-31",
    "+010000-01-01",
];

/// The earliest and the latest accepted values.
const TIMES_ACCEPTED: [&str; 2] = ["1970-01-01T00:00:00Z", "9998-12-31T23:59:59.999Z"];
const DAYS_ACCEPTED: [&str; 2] = ["1970-01-01", "9998-12-31"];

/// The operations whose body names a time, with the place of the time in the body.
const BODY_TIMES: [(&str, &str); 3] = [
    ("/v1/operator/tournaments", ""),
    ("/v1/operator/tournament-requests", "/tournament"),
    ("/v1/operator/tournament-schedules", "/tournament"),
];

/// Returns the operations of the contract, with the parameters that are times or days.
fn list_time_parameters(document: &Value) -> Vec<(String, String, String)> {
    let mut found = Vec::new();
    for (path, method, operation) in list_operations(document) {
        for parameter in operation["parameters"].as_array().into_iter().flatten() {
            let parameter = resolve(document, parameter);
            let format = collect_formats(document, &parameter["schema"]);
            if let Some(format) = format.first() {
                assert_eq!(method, "get", "{path}: what changes something names no time");
                let name = parameter["name"].as_str().unwrap().to_owned();
                found.push((path.to_owned(), name, format.clone()));
            }
        }
        let content = operation["requestBody"]["content"].as_object();
        for body in content.into_iter().flat_map(|content| content.values()) {
            let names_time = !collect_formats(document, &body["schema"]).is_empty();
            let is_listed = BODY_TIMES.iter().any(|(listed, _)| *listed == path);
            assert_eq!(names_time, is_listed, "{path}: a body names a time");
        }
    }
    found
}

/// Returns the formats of times in a schema and in the schemas that it references.
fn collect_formats(document: &Value, schema: &Value) -> Vec<String> {
    match schema {
        Value::Object(fields) => {
            let own = fields.get("format").and_then(Value::as_str);
            let own = own.filter(|format| ["date", "date-time"].contains(format));
            let referred = fields.get("$ref").and_then(Value::as_str).map(|path| {
                let schema = document.pointer(path.trim_start_matches('#')).unwrap();
                collect_formats(document, schema)
            });
            let inner = fields.values().flat_map(|inner| collect_formats(document, inner));
            own.map(str::to_owned)
                .into_iter()
                .chain(referred.into_iter().flatten())
                .chain(inner)
                .collect()
        }
        Value::Array(all) => {
            all.iter().flat_map(|inner| collect_formats(document, inner)).collect()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Vec::new(),
    }
}

#[tokio::test]
async fn every_time_of_a_body_is_bounded() {
    let server = Server::new().await;
    let document = ok(server.request(Method::GET, "/openapi.json")).await;
    let operator = server.session("ada", Role::Admin).await;
    for (path, place) in BODY_TIMES {
        let body = &document["paths"][path]["post"]["requestBody"]["content"]["application/json"];
        let example = ExampleBodies(&document).build(&body["schema"]);
        let code_of = async |time: &str| {
            let mut body = example.clone();
            body.pointer_mut(place).unwrap()["starts_at"] = json!(time);
            let sent = server.post_once(&operator, path, &body).send().await.unwrap();
            sent.json::<Value>().await.unwrap_or_default()["code"].clone()
        };
        for refused in TIMES {
            assert_eq!(code_of(refused).await, "body_invalid", "{path}: {refused}");
        }
        for accepted in TIMES_ACCEPTED {
            assert_ne!(code_of(accepted).await, "body_invalid", "{path}: {accepted}");
        }
    }
}

#[tokio::test]
async fn every_time_of_the_contract_is_bounded() {
    let server = Server::new().await;
    let document = ok(server.request(Method::GET, "/openapi.json")).await;
    let guest = server.guest("device-of-a-guest").await;
    let of_guest = format!("/players/{}", guest.id);
    let operator = server.operator("ada", Role::Admin).await;
    let timed = list_time_parameters(&document);
    assert!(timed.len() >= 15, "{timed:?}");
    for (path, name, format) in timed {
        let token = if path.starts_with("/v1/operator") { &operator } else { &guest.access_token };
        let path = path.replace("/players/{id}", &of_guest);
        let is_day = format == "date";
        let refused_ones = if is_day { &DAYS[..] } else { &TIMES[..] };
        let ask = |value: &str| {
            let query = serde_urlencoded::to_string([(&name, value)]).unwrap();
            server.get(&format!("{}?{query}", fill_path(&path)), token)
        };
        for value in refused_ones {
            let case = format!("{path} {name}={value}");
            expect_refusal_of(case, ask(value), 422, "query_invalid").await;
        }
        for value in if is_day { DAYS_ACCEPTED } else { TIMES_ACCEPTED } {
            let status = status_of(ask(value)).await;
            // A board may not exist for a day, and the two players of a pair have no games.
            let is_accepted = match status {
                422 => is_day,
                404 => path.ends_with("/{first}/{second}"),
                other => other == 200,
            };
            assert!(is_accepted, "{path} {name}={value}: {status}");
        }
    }
}

/// Returns a time as an operator in Manila types it. A time beyond the calendar stays as it is.
fn to_local(value: &str) -> String {
    let manila = jiff::tz::TimeZone::get("Asia/Manila").unwrap();
    match value.parse::<jiff::Timestamp>() {
        Ok(at) => at.to_zoned(manila).datetime().to_string(),
        Err(_) => value.trim_end_matches('Z').to_owned(),
    }
}

#[tokio::test]
async fn every_time_in_a_form_of_the_desk_is_bounded() {
    let server = Server::new().await;
    let mut ada = Browser::enrolled(&server, "ada", Role::Admin).await;
    for path in [
        "/desk/settlements",
        "/desk/settlements/live",
        "/desk/settlements.csv",
        "/desk/audit",
        "/desk/audit.csv",
        "/desk/transfers",
        "/desk/transfers.csv",
        "/desk/transfers/bookings.csv",
    ] {
        for name in ["from", "to"] {
            let refused = TIMES.map(|value| (value, 422));
            let accepted = TIMES_ACCEPTED.map(|value| (value, 200));
            for (value, status) in refused.into_iter().chain(accepted) {
                let query = serde_urlencoded::to_string([(name, to_local(value))]).unwrap();
                let page = ada.get(&format!("{path}?{query}")).await;
                assert_eq!(page.status, status, "{path} {name}={value}");
            }
        }
    }
}
