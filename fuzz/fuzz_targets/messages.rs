//! Messages of the server in each form: a message survives a round trip, and corrupted bytes are
//! rejected, or parsed as a message that survives a round trip.

#![no_main]

use bahay_engine::catalog::AnyGame;
use bahay_fuzz::Choices;
use bahay_fuzz::documents::edit_copy;
use bahay_fuzz::messages::wire_traffic;
use bahay_protocol::brief::{Form, Shorthand};
use bahay_protocol::{Message, MessageReader};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let mut choices = Choices::new(bytes);
    let traffic = wire_traffic(&mut choices);
    let form = Form::ALL[choices.below(Form::ALL.len())];
    let (mut writer, mut reader) = (Shorthand::new(form), MessageReader::new(form));
    reader.set_game_kind(traffic.kind);
    let message = &traffic.messages[choices.below(traffic.messages.len())];
    let written = write(&mut writer, message);
    let read = reader.read(&written).expect("a serialized message is parsed");
    assert_eq!(read, omit_prompt(message.clone(), form), "the message changed in a round trip");

    // Both ends are where they were before the corrupted message.
    let changed = corrupt(written, form, &mut choices);
    let mut other_reader = reader;
    let Ok(read) = other_reader.read(&changed) else { return };
    let again = write(&mut writer, &read);
    let again = reader.read(&again).expect("a parsed message survives a round trip");
    assert_eq!(again, omit_prompt(read, form), "the message changed in a round trip");
});

fn write(writer: &mut Shorthand, message: &Message<AnyGame>) -> Vec<u8> {
    let mut bytes = Vec::new();
    writer.write(message, &mut bytes).expect("messages can be serialized");
    bytes
}

/// Removes the prompt of an update, which the short forms omit because it follows from the view.
fn omit_prompt(mut message: Message<AnyGame>, form: Form) -> Message<AnyGame> {
    if let Message::Update { prompt, .. } = &mut message
        && form.is_short()
    {
        *prompt = None;
    }
    message
}

fn corrupt(mut written: Vec<u8>, form: Form, choices: &mut Choices<'_>) -> Vec<u8> {
    if form == Form::Compact {
        for _ in 0..=choices.byte() % 4 {
            let place = choices.below(written.len());
            written[place] = choices.byte();
        }
        return written;
    }
    let document = serde_json::from_slice(&written).expect("the message is JSON");
    edit_copy(&document, choices).to_string().into_bytes()
}
