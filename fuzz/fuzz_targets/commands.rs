//! Commands of clients: each text is rejected, or parsed as one command regardless of the order of
//! its fields, with the same result by both parsers of the server; and its action is rejected, or
//! is one of the game's.

#![no_main]

use bahay_engine::catalog::AnyGame;
use bahay_engine::table::Readable as _;
use bahay_fuzz::Choices;
use bahay_fuzz::documents::edit_copy;
use bahay_fuzz::messages::wire_traffic;
use bahay_protocol::{ActionText, Command, read_command};
use serde_json::Value;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    // Raw bytes hardly ever pass the syntax of JSON.
    if let Ok(text) = std::str::from_utf8(bytes) {
        let _ = read_command(text);
    }
    let mut choices = Choices::new(bytes);
    let traffic = wire_traffic(&mut choices);
    let command = edit_copy(&traffic.commands[choices.below(traffic.commands.len())], &mut choices);
    let text = command.to_string();
    let read = read_command(&text);
    let by_type = serde_json::from_str::<Command<Value>>(&text);
    assert_eq!(read.is_ok(), by_type.is_ok(), "{text}: the parsers disagree");
    let (Ok(read), Ok(by_type)) = (read, by_type) else { return };
    assert_eq!((read.id(), read.kind()), (by_type.id(), by_type.kind()), "{text}");
    let written = serde_json::to_string(&by_type).expect("a command is JSON");
    let again = read_command(&written).expect("a serialized command is parsed");
    assert_eq!((again.id(), again.kind()), (read.id(), read.kind()), "{text}");
    if let Command::Act { action, .. } = &read {
        check_action(traffic.kind, action);
    }
});

fn check_action(kind: &str, action: &ActionText) {
    let mut from = serde_json::Deserializer::from_str(action.as_str());
    let Ok(action) = AnyGame::read_action(kind, &mut from) else { return };
    let written = serde_json::to_string(&action).expect("an action is JSON");
    let mut from = serde_json::Deserializer::from_str(&written);
    let again = AnyGame::read_action(kind, &mut from).expect("a serialized action is parsed");
    assert_eq!(again, action, "the action changed in a round trip");
}
