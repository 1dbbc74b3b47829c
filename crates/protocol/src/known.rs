//! The tolerance of clients towards later versions of the server: messages and events of unknown
//! types are ignored (docs/PROTOCOL.md, "Units").
//!
//! Nearly all messages are known, so only a message that cannot be decoded is examined: each event
//! of an update is decoded on its own, and those of unknown types are left out. An event that is
//! known and malformed makes the message unreadable, because a view without it would be wrong.

use std::fmt;

use bahay_engine::catalog::{self, AnyGame};
use bahay_engine::table::{Event, Lift};
use serde::de::value::MapDeserializer;
use serde::de::{Error as _, MapAccess, SeqAccess, Visitor};
use serde::ser::{SerializeMap, Serializer};
use serde::{Deserialize, Deserializer, Serialize};

use crate::Message;
use crate::brief::{Form, FormError, short_words};
use crate::reader::MessageReader;

/// The types of messages on which nothing depends that follows: an unreadable one is ignored.
const OPTIONAL_TYPES: [&str; 4] = ["said", "advice", "invited", "standing"];

/// The number of elements before the events of an update in a short form, without its version.
const SHORT_HEADER: usize = 2;

impl MessageReader {
    /// Decodes a message of this version or a later one, without events of unknown types. Returns
    /// `None` for a message of an unknown type, and for an unreadable phrase, advice, invitation or
    /// standing.
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
        let Some(known) = catalog::with_kind(self.game_kind(), ListKnownTypes) else {
            return Err(error);
        };
        match document {
            Document::Map(fields) => {
                let Some(kind) = type_of(&fields) else {
                    return Err(error);
                };
                if OPTIONAL_TYPES.contains(&kind) || !known.messages.contains(&kind) {
                    return Ok(None);
                }
                let place = fields.iter().position(|(name, _)| name == "events");
                let (Some(place), "update") = (place, kind) else {
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
                self.read_without_unknown(&known, events, with_events, error)
            }
            Document::List(items) => {
                let has_version = matches!(items.first(), Some(Document::Natural(_)));
                let length = SHORT_HEADER + usize::from(has_version);
                let Some((header, rest)) = items.split_at_checked(length) else {
                    return Err(error);
                };
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
                self.read_without_unknown(&known, events, with_events, error)
            }
            _ => Err(error),
        }
    }

    /// Decodes an update without the events of unknown types. `with_events` returns the update with
    /// these events.
    fn read_without_unknown(
        &mut self,
        known: &KnownTypes,
        events: &[Document],
        with_events: impl Fn(Vec<Document>) -> Document,
        error: FormError,
    ) -> Result<Option<Message<AnyGame>>, FormError> {
        let mut readable = Vec::new();
        for event in events {
            let mut reader = *self;
            match reader.read(&with_events(vec![event.clone()]).encode(self.form())?) {
                Ok(_) => readable.push(event.clone()),
                Err(_) if !known.has_event(event) => {}
                Err(error) => return Err(error),
            }
        }
        if readable.len() == events.len() {
            return Err(error);
        }
        let message = self.read(&with_events(readable).encode(self.form())?)?;
        Ok(Some(message))
    }
}

/// The types of this version, at a table of one game.
#[derive(Debug)]
struct KnownTypes {
    messages: &'static [&'static str],
    table_events: &'static [&'static str],
    game_events: &'static [&'static str],
    /// The words of short events, and their numbers in MessagePack.
    words: Vec<(&'static str, u8)>,
}

impl KnownTypes {
    /// Returns whether an event has a type of this version: its own, and that of the game's event
    /// in it. An event without a type counts as known, and therefore as malformed.
    fn has_event(&self, event: &Document) -> bool {
        match event {
            Document::Map(fields) => {
                let inner = fields.iter().find(|(name, _)| name == "event");
                let inner = inner.and_then(|(_, event)| match event {
                    Document::Map(fields) => type_of(fields),
                    _ => None,
                });
                type_of(fields).is_none_or(|kind| self.table_events.contains(&kind))
                    && inner.is_none_or(|kind| self.game_events.contains(&kind))
            }
            Document::List(items) => match items.first() {
                Some(Document::Text(text)) => self.words.iter().any(|(word, _)| word == text),
                Some(Document::Natural(number)) => {
                    self.words.iter().any(|(_, known)| u64::from(*known) == *number)
                }
                _ => true,
            },
            _ => true,
        }
    }
}

/// Lists the known types at a table of a game.
struct ListKnownTypes;

impl catalog::Visitor for ListKnownTypes {
    type Output = KnownTypes;

    fn visit<G: Lift<AnyGame>>(self) -> KnownTypes {
        KnownTypes {
            messages: types_of::<Message<G>>(),
            table_events: types_of::<Event<G::Event>>(),
            game_events: types_of::<G::Event>(),
            words: short_words::<G>().collect(),
        }
    }
}

/// Returns the values of `type` of an enum that is tagged by it, as its decoder lists them when it
/// rejects another one. The decoder is derived from the enum, so the list has every variant.
fn types_of<'de, T: Deserialize<'de>>() -> &'static [&'static str] {
    let untyped = MapDeserializer::new(std::iter::once(("type", "")));
    match T::deserialize(untyped) {
        Err(UnknownType { known }) => known,
        Ok(_) => &[],
    }
}

/// The rejection of an unknown variant, with the known ones.
#[derive(Debug)]
struct UnknownType {
    known: &'static [&'static str],
}

impl fmt::Display for UnknownType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the type is none of {:?}", self.known)
    }
}

impl std::error::Error for UnknownType {}

impl serde::de::Error for UnknownType {
    fn custom<T: fmt::Display>(_: T) -> Self {
        Self { known: &[] }
    }

    fn unknown_variant(_: &str, known: &'static [&'static str]) -> Self {
        Self { known }
    }
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
    use bahay_engine::catalog;
    use serde_json::json;

    use super::{Document, ListKnownTypes};
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
    fn every_game_has_known_types_and_others_are_unknown() {
        for kind in catalog::kinds() {
            let known = catalog::with_kind(kind.name, ListKnownTypes).unwrap();
            assert!(known.messages.contains(&"hello") && known.messages.contains(&"refusal"));
            assert_eq!(known.messages.len(), 11, "{:?}", known.messages);
            assert!(known.table_events.contains(&"terms_updated"), "{:?}", known.table_events);
            assert!(known.game_events.len() > 1, "{}: {:?}", kind.name, known.game_events);
            let has = |event: serde_json::Value| {
                known.has_event(&serde_json::from_value::<Document>(event).unwrap())
            };
            for table_event in known.table_events {
                assert!(has(json!({ "type": table_event })));
            }
            for game_event in known.game_events {
                assert!(has(json!({ "type": "game", "event": { "type": game_event } })));
            }
            for (word, number) in &known.words {
                assert!(has(json!([word])) && has(json!([number])));
            }
            assert!(!has(json!({ "type": "rang" })));
            assert!(!has(json!({ "type": "game", "event": { "type": "rang" } })));
            assert!(!has(json!(["rang"])) && !has(json!([255])));
        }
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
