//! The tolerance of clients towards later versions of the server: messages and events of unknown
//! types are ignored (docs/PROTOCOL.md, "Units").
//!
//! Nearly all messages are known, so only a message that cannot be decoded is examined: each event
//! of an update is decoded on its own, and those of unknown types are left out. An event that is
//! known and malformed makes the message unreadable, because a view without it would be wrong.

use std::fmt;

use bahay_engine::catalog::AnyGame;
use serde::de::{Error as _, MapAccess, SeqAccess, Visitor};
use serde::ser::{SerializeMap, Serializer};
use serde::{Deserialize, Deserializer, Serialize};

use crate::Message;
use crate::brief::{Form, FormError};
use crate::reader::MessageReader;

/// The types of messages on which nothing depends that follows: an unreadable one is ignored.
const OPTIONAL_TYPES: [&str; 3] = ["said", "advice", "invited"];

/// The number of elements before the events of an update in a short form.
const SHORT_HEADER: usize = 3;

impl MessageReader {
    /// Decodes a message of this version or a later one, without events of unknown types. Returns
    /// `None` for a message of an unknown type, and for an unreadable phrase, advice or invitation.
    ///
    /// # Errors
    /// If the bytes are no message, or if a part on which the view of a table depends is invalid.
    pub fn read_known(&mut self, bytes: &[u8]) -> Result<Option<Message<AnyGame>>, FormError> {
        let error = match self.read(bytes) {
            Ok(message) => return Ok(Some(message)),
            Err(error @ FormError::UnknownGame { .. }) => return Err(error),
            Err(error) => error,
        };
        let Some(document) = Document::decode(self.form(), bytes) else {
            return Err(error);
        };
        match document {
            Document::Map(fields) => {
                let kind = type_of(&fields).unwrap_or_default().to_owned();
                if OPTIONAL_TYPES.contains(&kind.as_str()) || names_unknown(&error, &kind) {
                    return Ok(None);
                }
                let place = fields.iter().position(|(name, _)| name == "events");
                let (Some(place), "update") = (place, kind.as_str()) else {
                    return Err(error);
                };
                let Document::List(events) = &fields[place].1 else {
                    return Err(error);
                };
                let with_events = |events: Vec<Document>| {
                    let mut fields = fields.clone();
                    fields[place].1 = Document::List(events);
                    Document::Map(fields)
                };
                self.read_without_unknown(events, with_events, error)
            }
            Document::List(items) if items.len() > SHORT_HEADER => {
                let (header, rest) = items.split_at(SHORT_HEADER);
                let is_event = |item: &&Document| !matches!(item, Document::Natural(_));
                let (events, ack) = match rest.last().filter(|last| !is_event(last)) {
                    Some(ack) => (&rest[..rest.len() - 1], Some(ack)),
                    None => (rest, None),
                };
                let with_events = |events: Vec<Document>| {
                    Document::List(
                        header.iter().cloned().chain(events).chain(ack.cloned()).collect(),
                    )
                };
                self.read_without_unknown(events, with_events, error)
            }
            _ => Err(error),
        }
    }

    /// Decodes an update without the events of unknown types. `with_events` returns the update with
    /// these events.
    fn read_without_unknown(
        &mut self,
        events: &[Document],
        with_events: impl Fn(Vec<Document>) -> Document,
        error: FormError,
    ) -> Result<Option<Message<AnyGame>>, FormError> {
        let mut known = Vec::new();
        for event in events {
            let mut reader = *self;
            match reader.read(&with_events(vec![event.clone()]).encode(self.form())?) {
                Ok(_) => known.push(event.clone()),
                Err(error) if event.names_unknown(&error) => {}
                Err(error) => return Err(error),
            }
        }
        if known.len() == events.len() {
            return Err(error);
        }
        let message = self.read(&with_events(known).encode(self.form())?)?;
        Ok(Some(message))
    }
}

/// Returns whether the error is about an unknown value of `type`.
fn names_unknown(error: &FormError, kind: &str) -> bool {
    error.to_string().contains(&format!("unknown variant `{kind}`"))
}

fn type_of(fields: &[(String, Document)]) -> Option<&str> {
    match fields.iter().find(|(name, _)| name == "type")? {
        (_, Document::Text(kind)) => Some(kind),
        _ => None,
    }
}

/// A value of JSON or MessagePack. No number of the protocol has a fraction.
#[derive(Clone, Debug)]
enum Document {
    Null,
    Bool(bool),
    Natural(u64),
    Negative(i64),
    Text(String),
    Bytes(Vec<u8>),
    List(Vec<Self>),
    Map(Vec<(String, Self)>),
}

impl Document {
    fn decode(form: Form, bytes: &[u8]) -> Option<Self> {
        match form {
            Form::Full | Form::Brief => serde_json::from_slice(bytes).ok(),
            Form::Compact => rmp_serde::from_slice(bytes).ok(),
        }
    }

    fn encode(&self, form: Form) -> Result<Vec<u8>, FormError> {
        Ok(match form {
            Form::Full | Form::Brief => serde_json::to_vec(self)?,
            Form::Compact => rmp_serde::to_vec(self)?,
        })
    }

    /// Returns whether an event could not be decoded because its type is unknown: its own, or that
    /// of the game's event in it.
    fn names_unknown(&self, error: &FormError) -> bool {
        match self {
            Self::Map(fields) => {
                let inner = fields.iter().find(|(name, _)| name == "event");
                let inner = inner.is_some_and(|(_, event)| event.names_unknown(error));
                inner || type_of(fields).is_some_and(|kind| names_unknown(error, kind))
            }
            Self::List(_) => error.to_string().contains("unknown event"),
            Self::Null
            | Self::Bool(_)
            | Self::Natural(_)
            | Self::Negative(_)
            | Self::Text(_)
            | Self::Bytes(_) => false,
        }
    }
}

impl Serialize for Document {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Null => serializer.serialize_unit(),
            Self::Bool(value) => serializer.serialize_bool(*value),
            Self::Natural(number) => serializer.serialize_u64(*number),
            Self::Negative(number) => serializer.serialize_i64(*number),
            Self::Text(text) => serializer.serialize_str(text),
            Self::Bytes(bytes) => serializer.serialize_bytes(bytes),
            Self::List(items) => items.serialize(serializer),
            Self::Map(fields) => {
                let mut map = serializer.serialize_map(Some(fields.len()))?;
                for (name, field) in fields {
                    map.serialize_entry(name, field)?;
                }
                map.end()
            }
        }
    }
}

impl<'de> Deserialize<'de> for Document {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(DocumentVisitor)
    }
}

struct DocumentVisitor;

impl<'de> Visitor<'de> for DocumentVisitor {
    type Value = Document;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<Document, E> {
        Ok(Document::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Document, E> {
        Ok(Document::Bool(value))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Document, E> {
        Ok(Document::Natural(number))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Document, E> {
        Ok(u64::try_from(number).map_or(Document::Negative(number), Document::Natural))
    }

    fn visit_str<E>(self, text: &str) -> Result<Document, E> {
        Ok(Document::Text(text.to_owned()))
    }

    fn visit_bytes<E>(self, bytes: &[u8]) -> Result<Document, E> {
        Ok(Document::Bytes(bytes.to_vec()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Document, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = seq.next_element()? {
            items.push(item);
        }
        Ok(Document::List(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Document, A::Error> {
        let mut fields = Vec::new();
        while let Some(field) = map.next_entry()? {
            fields.push(field);
        }
        if fields.is_empty() {
            return Err(A::Error::custom("nothing without a field has a type"));
        }
        Ok(Document::Map(fields))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::Document;
    use crate::brief::{Form, Shorthand};
    use crate::{Message, MessageReader};

    /// Returns the document of these messages in each form, and in MessagePack too.
    fn readers(brief: &str) -> Vec<(MessageReader, Vec<u8>)> {
        let document: Document = serde_json::from_str(brief).unwrap();
        let compact = document.encode(Form::Compact).unwrap();
        vec![
            (MessageReader::new(Form::Brief), brief.as_bytes().to_vec()),
            (MessageReader::new(Form::Compact), compact),
        ]
    }

    #[test]
    fn unknown_messages_and_events_are_ignored() {
        for (mut reader, bytes) in readers(
            r#"[7,"7a61673a0001",5,["ready",2],["rang",1,2],{"type":"rang","loud":[1,-2,null,true]},
            ["countdown",9,"more"],{"type":"game","event":{"type":"rang","cards":{"a":1}}},4]"#,
        ) {
            let update = reader.read_known(&bytes).unwrap();
            let Some(Message::Update { events, ack, .. }) = update else {
                panic!("{update:?} is no update");
            };
            assert_eq!((events.len(), ack), (2, Some(4)));
            assert!(reader.read(&bytes).is_err());
        }
        let mut full = MessageReader::new(Form::Full);
        let mut read = |message: serde_json::Value| full.read_known(message.to_string().as_bytes());
        let event = json!({ "type": "rang", "seat": 1 });
        let known = json!({ "type": "ready", "seat": 2 });
        let update = json!({
            "type": "update", "version": 7, "tag": "7a61673a0001", "server_time_ms": 5,
            "events": [event, known, { "type": "game", "event": event }], "ack": 4,
        });
        assert!(matches!(
            read(update),
            Ok(Some(Message::Update { events, ack: Some(4), .. })) if events.len() == 1
        ));
        for ignored in [
            json!({ "type": "rang", "loud": 1 }),
            json!({ "type": "said", "player": "nobody" }),
            json!({ "type": "invited", "code": "K7MWQ2XA" }),
        ] {
            assert!(matches!(read(ignored), Ok(None)));
        }
    }

    #[test]
    fn a_known_part_that_is_malformed_is_an_error() {
        let mut full = MessageReader::new(Form::Full);
        for text in [
            "",
            "7",
            "{}",
            r#"{"type":7}"#,
            r#"{"type":"ack"}"#,
            r#"{"type":"update"}"#,
            r#"{"type":"hello","server_time_ms":"ready"}"#,
            r#"{"type":"update","version":7,"tag":"7a61673a0001","server_time_ms":5,"events":[{"type":"ready","seat":"x"}]}"#,
            r#"{"type":"update","version":-7,"tag":"7a61673a0001","server_time_ms":5,"events":[{"type":"rang"}]}"#,
        ] {
            assert!(full.read_known(text.as_bytes()).is_err(), "{text}");
        }
        for text in [r#"[7,"7a61673a0001",5,["ready"],4]"#, r#"[7,"x",5,["rang"]]"#, "[[]]", "[]"] {
            for (mut reader, bytes) in readers(text) {
                assert!(reader.read_known(&bytes).is_err(), "{text}");
            }
        }
    }

    #[test]
    fn a_known_message_is_read_alike() {
        let message = Message::Ack { id: 4, version: Some(8) };
        for form in Form::ALL {
            let mut bytes = Vec::new();
            Shorthand::new(form).write(&message, &mut bytes).unwrap();
            let read = MessageReader::new(form).read_known(&bytes).unwrap();
            assert_eq!(read, Some(message.clone()));
        }
    }
}
