//! Both contracts: openapi.yaml and asyncapi.yaml.

#![expect(clippy::unwrap_used, reason = "in a test a panic is a verdict")]

mod asyncapi;
mod example_bodies;
mod openapi;
mod player_texts;
mod protocol_page;
mod refusals;
mod schema;

/// Returns the tag of a value of a tagged type.
fn type_of(value: &impl serde::Serialize) -> String {
    let value = serde_json::to_value(value).expect("it can be written as JSON");
    value["type"].as_str().expect("it has a type").to_owned()
}

/// Checks that the repository has the generated document; `BLESS=1` writes it.
#[track_caller]
fn check_current(name: &str, generated: &str) {
    let path = format!("{}/../../{name}.yaml", env!("CARGO_MANIFEST_DIR"));
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&path, generated).expect("the document can be written");
    }
    let stored = std::fs::read_to_string(&path).unwrap_or_default();
    let lines = generated.lines().zip(stored.lines());
    let same = lines.take_while(|(generated, stored)| generated == stored).count();
    assert!(
        generated == stored,
        "{name}.yaml differs from line {} on; look at the difference after `cargo run -p bahay-api \
         -- {name} > {name}.yaml`, and commit it",
        same + 1
    );
}
