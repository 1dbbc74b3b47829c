//! The tolerance of clients towards later versions of the server: messages and events of unknown
//! types are ignored (docs/PROTOCOL.md, "Units").
//!
//! Nearly all messages are known, so only a message that cannot be decoded is examined: each event
//! of an update is decoded on its own, and those of unknown types are left out. An event that is
//! known and malformed makes the message unreadable, because a view without it would be wrong.

use bahay_engine::catalog::AnyGame;
use bahay_engine::document::{Document, list_types};
use bahay_engine::table::Event;

use crate::Message;
use crate::brief::{FormError, list_words};
use crate::game_reader::{GameParts, GameReader};
use crate::reader::{MessageReader, decode_document};

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
        let Ok(document) = decode_document(self.form(), bytes) else {
            return Err(error);
        };
        let Some(known) = self.game().map(KnownTypes::from_game) else {
            return Err(error);
        };
        let kind = document.get_text("type").map(str::to_owned);
        match document {
            Document::Map(fields) => {
                let Some(kind) = kind.as_deref() else {
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
                let with_events = |events: Vec<_>| {
                    let mut fields = fields.clone();
                    fields[place].1 = Document::List(events);
                    Document::Map(fields)
                };
                self.read_without_unknown(&known, events, with_events, error)
            }
            Document::List(items) => {
                let has_version = items.first().is_some_and(|first| first.as_natural().is_some());
                let length = SHORT_HEADER + usize::from(has_version);
                let Some((header, rest)) = items.split_at_checked(length) else {
                    return Err(error);
                };
                let is_event = |item: &&Document| item.as_natural().is_none();
                let (events, ack) = match rest.last().filter(|last| !is_event(last)) {
                    Some(ack) => (&rest[..rest.len() - 1], Some(ack)),
                    None => (rest, None),
                };
                let with_events = |events: Vec<_>| {
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
            match reader.read_document(with_events(vec![event.clone()])) {
                Ok(_) => readable.push(event.clone()),
                Err(_) if !known.has_event(event) => {}
                Err(error) => return Err(error),
            }
        }
        if readable.len() == events.len() {
            return Err(error);
        }
        let message = self.read_document(with_events(readable))?;
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
    /// Returns the known types at a table of a game.
    fn from_game(game: &GameReader) -> Self {
        Self {
            messages: list_types::<Message<GameParts>>(),
            table_events: list_types::<Event<Document>>(),
            game_events: (game.event_types)(),
            words: list_words(game.short_events).collect(),
        }
    }

    /// Returns whether an event has a type of this version: its own, and that of the game's event
    /// in it. An event without a type counts as known, and therefore as malformed.
    fn has_event(&self, event: &Document) -> bool {
        match event {
            Document::Map(_) => {
                let inner = event.get("event").and_then(|event| event.get_text("type"));
                event.get_text("type").is_none_or(|kind| self.table_events.contains(&kind))
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

#[cfg(test)]
mod tests {
    use bahay_engine::catalog;
    use serde::Deserialize;
    use serde_json::json;

    use super::{Document, KnownTypes};
    use crate::brief::{Form, Shorthand};
    use crate::game_reader::GameReader;
    use crate::{Message, MessageReader};

    /// Returns the document of these messages in each form, and in MessagePack too.
    fn readers(brief: &str) -> Vec<(MessageReader, Vec<u8>)> {
        let document: serde_json::Value = serde_json::from_str(brief).unwrap();
        let compact = rmp_serde::to_vec(&document).unwrap();
        vec![
            (MessageReader::new(Form::Brief), brief.as_bytes().to_vec()),
            (MessageReader::new(Form::Compact), compact),
        ]
    }

    #[test]
    fn every_game_has_known_types_and_others_are_unknown() {
        for kind in catalog::kinds() {
            let known = KnownTypes::from_game(&GameReader::find(kind.name).unwrap());
            assert!(known.messages.contains(&"hello") && known.messages.contains(&"refusal"));
            assert_eq!(known.messages.len(), 11, "{:?}", known.messages);
            assert!(known.table_events.contains(&"terms_updated"), "{:?}", known.table_events);
            assert!(known.game_events.len() > 1, "{}: {:?}", kind.name, known.game_events);
            let has =
                |event: serde_json::Value| known.has_event(&Document::deserialize(event).unwrap());
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
