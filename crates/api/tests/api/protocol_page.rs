//! docs/PROTOCOL.md against the code: the types read and write its JSON, and its tables match those
//! of the code.

use bahay_api::socket::{asyncapi, example_commands, example_messages, refusals};
use bahay_engine::games::tongits::Action;
use bahay_protocol::brief::Form;
use bahay_protocol::{Command, MessageReader, close};
use serde_json::Value;

use crate::type_of;

const PAGE: &str = include_str!("../../../../docs/PROTOCOL.md");

/// Games with their own page, which lists their refusals: `| code | rule | meaning |`.
const GAME_PAGES: [(&str, &str); 2] = [
    ("tongo_assets", include_str!("../../../../docs/protocol/tongo_assets.md")),
    ("tongo_options", include_str!("../../../../docs/protocol/tongo_options.md")),
];

/// Returns every block of JSON verbatim.
fn blocks() -> Vec<&'static str> {
    let blocks = PAGE.split("```json\n").skip(1).filter_map(|rest| rest.split("\n```").next());
    blocks.collect()
}

#[test]
fn every_example_reads_and_writes_as_it_stands() {
    let blocks = blocks();
    assert!(blocks.len() > 10, "{}", blocks.len());
    for block in blocks {
        let command = serde_json::from_str::<Command<Action>>(block);
        let message = MessageReader::new(Form::Full).read(block.as_bytes());
        let written = match (command, message) {
            (Ok(command), Err(_)) => serde_json::to_string(&command).unwrap(),
            (Err(_), Ok(message)) => serde_json::to_string(&message).unwrap(),
            (Ok(_), Ok(_)) => panic!("both a command and a message: {block}"),
            (Err(no_command), Err(no_message)) => {
                panic!("neither a command ({no_command}) nor a message ({no_message}): {block}")
            }
        };
        assert_eq!(written, block, "the server writes it like this");
    }
}

#[test]
fn every_command_and_message_is_shown() {
    let commands = example_commands().into_iter().map(|(_, command)| type_of(&command));
    let messages = example_messages().into_iter().map(|(_, message)| type_of(&message));
    for kind in commands.chain(messages) {
        let start = format!("{{\"type\":\"{kind}\"");
        assert!(blocks().iter().any(|block| block.starts_with(&start)), "no example of {kind}");
    }
}

#[test]
fn the_tables_of_the_page_are_those_of_the_code() {
    let mut rows: Vec<String> = Vec::new();
    let mut missing: Vec<String> = Vec::new();
    for refused in refusals() {
        let (code, rule) = (refused.code, refused.rule.unwrap_or_default());
        let page = GAME_PAGES.iter().find(|(kind, _)| refused.kind == Some(kind));
        if let Some((kind, page)) = page {
            let own = format!("| `{code}` | {rule} | {} |", refused.detail);
            if !page.lines().any(|line| line == own) {
                missing.push(format!("{kind}: {own}"));
            }
            continue;
        }
        let retryable = if refused.retryable { "yes" } else { "no" };
        rows.push(format!("| `{code}` | {rule} | {retryable} | {} |", refused.detail));
    }
    for (code, name, meaning) in close::ALL {
        rows.push(format!("| {code} | `{name}` | {meaning} |"));
    }
    let rows: Vec<String> = rows.into_iter().map(|row| row.replace("|  |", "| |")).collect();
    missing.extend(rows.into_iter().filter(|row| !PAGE.lines().any(|line| line == row)));
    assert!(
        missing.is_empty(),
        "docs/PROTOCOL.md and the pages of the games lack these rows:\n{}",
        missing.join("\n")
    );
}

/// Every event that the document lists has a row.
#[test]
fn every_event_and_action_is_told() {
    let document = asyncapi();
    for name in ["Event", "TongitsEvent", "TongitsAction", "PhaseView"] {
        let variants = document["components"]["schemas"][name]["oneOf"].as_array().unwrap();
        for variant in variants {
            let kind = variant["properties"]["type"]["const"].as_str().unwrap();
            let name_of_kind = format!("`{kind}`");
            let told = |line: &str| {
                let cell = line.strip_prefix('|').and_then(|row| row.split('|').next());
                cell.is_some_and(|cell| cell.contains(&name_of_kind))
            };
            assert!(PAGE.lines().any(told), "docs/PROTOCOL.md has no row for {kind} of {name}");
        }
    }
}

/// The limits on the page are the session's.
#[test]
fn the_limits_of_the_page_are_those_of_the_code() {
    let document = asyncapi();
    let Value::Object(limits) = &document["channels"]["play"]["x-limits"] else {
        panic!("the document lists no limits")
    };
    let (_, section) = PAGE.split_once("## Limits").expect("the page has its limits");
    for (name, limit) in limits {
        let number = limit.to_string();
        let mut words = section.split(|letter: char| !letter.is_ascii_digit());
        assert!(words.any(|word| word == number), "{name} of {number} is not on the page");
    }
}
