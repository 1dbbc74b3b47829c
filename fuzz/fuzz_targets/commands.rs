//! Texts from clients: each is refused, or read as one command, in whatever order its fields come and by either
//! of the two ways in which the server reads; and its action is refused, or one of the game.

#![no_main]

use bahay_engine::catalog::AnyGame;
use bahay_engine::table::Readable as _;
use bahay_fuzz::Choices;
use bahay_fuzz::documents::edited;
use bahay_fuzz::messages::sent;
use bahay_protocol::{ActionText, Command, read_command};
use serde_json::Value;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    // As they are, bytes hardly ever come past the syntax of JSON.
    if let Ok(text) = std::str::from_utf8(bytes) {
        let _ = read_command(text);
    }
    let mut choices = Choices::new(bytes);
    let sent = sent(&mut choices);
    let command = edited(&sent.commands[choices.below(sent.commands.len())], &mut choices);
    let text = command.to_string();
    let read = read_command(&text);
    let by_type = serde_json::from_str::<Command<Value>>(&text);
    assert_eq!(read.is_ok(), by_type.is_ok(), "{text}: read otherwise by its type");
    let (Ok(read), Ok(by_type)) = (read, by_type) else { return };
    assert_eq!((read.id(), read.kind()), (by_type.id(), by_type.kind()), "{text}");
    let written = serde_json::to_string(&by_type).expect("a command is JSON");
    let again = read_command(&written).expect("what was written is read");
    assert_eq!((again.id(), again.kind()), (read.id(), read.kind()), "{text}");
    if let Command::Act { action, .. } = &read {
        is_played_or_refused(sent.kind, action);
    }
});

fn is_played_or_refused(kind: &str, action: &ActionText) {
    let mut from = serde_json::Deserializer::from_str(action.as_str());
    let Ok(action) = AnyGame::read_action(kind, &mut from) else { return };
    let written = serde_json::to_string(&action).expect("an action is JSON");
    let mut from = serde_json::Deserializer::from_str(&written);
    let again = AnyGame::read_action(kind, &mut from).expect("what was written is read");
    assert_eq!(again, action, "it is read back as another action");
}
