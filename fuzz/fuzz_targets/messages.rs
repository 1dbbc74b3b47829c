//! Messages of the server in each of their forms: what is written is read as it was, and what was changed on the
//! way is refused, or is a message that can be written and read again.

#![no_main]

use bahay_engine::catalog::AnyGame;
use bahay_fuzz::Choices;
use bahay_fuzz::documents::edited;
use bahay_fuzz::messages::sent;
use bahay_protocol::brief::{Form, Shorthand};
use bahay_protocol::{Message, MessageReader};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let mut choices = Choices::new(bytes);
    let sent = sent(&mut choices);
    let form = Form::ALL[choices.below(Form::ALL.len())];
    let (mut writer, mut reader) = (Shorthand::new(form), MessageReader::new(form));
    reader.set_game_kind(sent.kind);
    let message = &sent.messages[choices.below(sent.messages.len())];
    let written = write(&mut writer, message);
    let read = reader.read(&written).expect("what was written is read");
    assert_eq!(read, as_sent(message.clone(), form), "it is read as something else");

    let changed = changed(written, form, &mut choices);
    let Ok(read) = reader.read(&changed) else { return };
    let again = write(&mut writer, &read);
    let again = reader.read(&again).expect("what was read is written and read");
    assert_eq!(again, as_sent(read, form), "it is read back as something else");
});

fn write(writer: &mut Shorthand, message: &Message<AnyGame>) -> Vec<u8> {
    let mut bytes = Vec::new();
    writer.write(message, &mut bytes).expect("messages are written");
    bytes
}

/// The short forms leave out the prompt of an update, which follows from the view.
fn as_sent(mut message: Message<AnyGame>, form: Form) -> Message<AnyGame> {
    if let Message::Update { prompt, .. } = &mut message
        && form.is_short()
    {
        *prompt = None;
    }
    message
}

fn changed(mut written: Vec<u8>, form: Form, choices: &mut Choices<'_>) -> Vec<u8> {
    if form == Form::Compact {
        for _ in 0..=choices.byte() % 4 {
            let place = choices.below(written.len());
            written[place] = choices.byte();
        }
        return written;
    }
    let document = serde_json::from_slice(&written).expect("it is JSON");
    edited(&document, choices).to_string().into_bytes()
}
