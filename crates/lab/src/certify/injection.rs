//! Texts of a later version of the server, and texts that are none.

use bahay_model_server::WireData;
use bahay_protocol::brief::Form;
use serde_json::{Value, json};

/// The size of a large message.
pub(super) const LARGE_BYTES: usize = 1 << 20;

/// The largest length in the first byte of a map and of an array of MessagePack.
const FIX_LENGTH_MAX: u8 = 15;
const FIX_MAP: u8 = 0x80;
const FIX_ARRAY: u8 = 0x90;
const MARKER_MASK: u8 = 0xf0;

/// Returns a message of an unknown type, padded by this many bytes.
pub(super) fn unknown_message(form: Form, padding: usize) -> WireData {
    let message = json!({ "type": "news", "loud": 1, "text": "x".repeat(padding) });
    match form {
        Form::Full | Form::Brief => WireData::Text(message.to_string()),
        Form::Compact => WireData::Binary(to_message_pack(&message)),
    }
}

/// Returns an update without events with an event of an unknown type in it.
pub(super) fn unknown_event(update: WireData) -> WireData {
    match update {
        WireData::Text(text) => {
            let mut update: Value = serde_json::from_str(&text).unwrap_or_default();
            match &mut update {
                Value::Array(parts) => parts.push(json!(["rang", 1])),
                other => other["events"] = json!([{ "type": "rang", "seat": 1 }]),
            }
            WireData::Text(update.to_string())
        }
        WireData::Binary(mut bytes) => {
            add_to_message_pack(&mut bytes, FIX_ARRAY, &[json!(["rang", 1])]);
            WireData::Binary(bytes)
        }
    }
}

/// Adds an unknown field to a message that is an object, and to the events of an update.
pub(super) fn with_unknown_field(data: WireData) -> WireData {
    match data {
        WireData::Text(text) => {
            let Ok(mut message) = serde_json::from_str::<Value>(&text) else {
                return WireData::Text(text);
            };
            match &mut message {
                Value::Object(fields) => {
                    fields.insert("later".into(), json!({ "a": [1, null] }));
                    let events = fields.get_mut("events").and_then(Value::as_array_mut);
                    for event in events.into_iter().flatten() {
                        event["later"] = json!(7);
                    }
                }
                Value::Array(parts) => {
                    for event in parts.iter_mut().filter_map(Value::as_object_mut) {
                        event.insert("later".into(), json!(7));
                    }
                }
                _ => {}
            }
            WireData::Text(message.to_string())
        }
        WireData::Binary(mut bytes) => {
            add_to_message_pack(&mut bytes, FIX_MAP, &[json!("later"), json!(7)]);
            WireData::Binary(bytes)
        }
    }
}

/// Returns a text that is no message.
pub(super) fn malformed_data(form: Form) -> WireData {
    match form {
        Form::Full | Form::Brief => WireData::Text(r#"{"type":"update","version":"#.into()),
        // An array of three elements without any.
        Form::Compact => WireData::Binary(vec![0x93]),
    }
}

/// Appends values to a short map or array, whose length is in its first byte.
fn add_to_message_pack(bytes: &mut Vec<u8>, marker: u8, values: &[Value]) {
    let Some(first) = bytes.first_mut().filter(|first| **first & MARKER_MASK == marker) else {
        return;
    };
    if *first & FIX_LENGTH_MAX == FIX_LENGTH_MAX {
        return;
    }
    *first += 1;
    for value in values {
        bytes.extend(to_message_pack(value));
    }
}

fn to_message_pack(value: &Value) -> Vec<u8> {
    rmp_serde::to_vec(value).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use bahay_engine::table::{PlayerId, Timestamp};
    use bahay_model_server::WireData;
    use bahay_protocol::brief::{Form, Shorthand};
    use bahay_protocol::{Message, MessageReader, Tag};
    use uuid::Uuid;

    use super::{malformed_data, unknown_event, unknown_message, with_unknown_field};

    fn encode(form: Form, message: &Message<bahay_engine::catalog::AnyGame>) -> WireData {
        let mut bytes = Vec::new();
        Shorthand::new(form).write(message, &mut bytes).unwrap();
        match form {
            Form::Full | Form::Brief => WireData::Text(String::from_utf8(bytes).unwrap()),
            Form::Compact => WireData::Binary(bytes),
        }
    }

    #[test]
    fn a_tolerant_client_reads_what_it_knows_in_every_form() {
        for form in Form::ALL {
            let mut reader = MessageReader::new(form);
            let unknown = unknown_message(form, 10);
            assert_eq!(reader.read_known(unknown.as_bytes()).unwrap(), None);
            let hello = Message::Hello {
                player: PlayerId(Uuid::nil()),
                protocol: form.subprotocol().into(),
                server_time_ms: Timestamp::from_ms(5),
                notices: None,
            };
            let later = with_unknown_field(encode(form, &hello));
            assert_ne!(later, encode(form, &hello), "{form:?}");
            assert_eq!(reader.read_known(later.as_bytes()).unwrap(), Some(hello));
            let update = Message::Update {
                version: 8,
                tag: Tag::default(),
                server_time_ms: Timestamp::from_ms(5),
                events: Vec::new(),
                prompt: None,
                ack: None,
            };
            let plain = encode(form, &update);
            let rung = unknown_event(plain.clone());
            assert_ne!(rung, plain, "{form:?}");
            let read = reader.read_known(rung.as_bytes()).unwrap();
            assert!(matches!(read, Some(Message::Update { version: 8, .. })), "{read:?}");
            assert!(reader.read_known(malformed_data(form).as_bytes()).is_err());
        }
    }
}
