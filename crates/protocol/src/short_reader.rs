//! Decodes the short forms of messages, which are lists; see `brief`.

use bahay_engine::catalog::{AnyEvent, AnyGame};
use bahay_engine::document::{Document, DocumentError, ListReader};
use bahay_engine::table::{Event, Timestamp};
use serde::de::Error as _;

use crate::Message;
use crate::brief::{read_table_event, words_with};
use crate::game_reader::GameReader;
use crate::short_fields::{add_ms, missing_field, next_element};

/// Decodes an update or an ack at a table of this game. `hello` is the server's time in its hello.
pub(crate) fn read_list(
    items: Vec<Document<'_>>,
    game: &GameReader,
    hello: Timestamp,
) -> Result<Message<AnyGame>, DocumentError> {
    let mut items = ListReader::new(items);
    let first: u64 = next_element(&mut items)?;
    let tag = match items.next() {
        None => return read_ack(first, None),
        Some(Document::Natural(version)) if items.next().is_none() => {
            return read_ack(first, Some(version));
        }
        Some(tag) => tag.read()?,
    };
    let server_time_ms = add_ms(hello, next_element(&mut items)?);
    let mut events = Vec::new();
    let mut ack = None;
    for item in items {
        if ack.is_some() {
            return Err(DocumentError::custom("the id of a command is the last element"));
        }
        match item {
            Document::Natural(id) => ack = Some(read_id(id)?),
            Document::List(fields) => events.push(read_event(fields, game, server_time_ms)?),
            object => events.push(game.read_event(object.read()?)?),
        }
    }
    Ok(Message::Update { version: first, tag, server_time_ms, events, prompt: None, ack })
}

fn read_ack(id: u64, version: Option<u64>) -> Result<Message<AnyGame>, DocumentError> {
    Ok(Message::Ack { id: read_id(id)?, version })
}

fn read_id(id: u64) -> Result<u32, DocumentError> {
    u32::try_from(id).map_err(DocumentError::custom)
}

/// Decodes a short event: its word or number, and its fields. Fields that a later version appends
/// are ignored.
fn read_event(
    fields: Vec<Document<'_>>,
    game: &GameReader,
    now: Timestamp,
) -> Result<Event<AnyEvent>, DocumentError> {
    let mut fields = ListReader::new(fields);
    let word = read_word(fields.next().ok_or_else(missing_field)?, game)?;
    match read_table_event(word, now, &mut fields)? {
        Some(event) => Ok(event),
        None => Ok(Event::Game { event: (game.read_short)(word, &mut fields)? }),
    }
}

fn read_word(word: Document<'_>, game: &GameReader) -> Result<&'static str, DocumentError> {
    let known = match &word {
        Document::Text(text) => words_with(game.short_events).find(|(known, _)| known == text),
        Document::Natural(number) => {
            words_with(game.short_events).find(|(_, known)| u64::from(*known) == *number)
        }
        _ => None,
    };
    let unknown = || DocumentError::custom(format_args!("unknown event {word:?}"));
    known.map(|(word, _)| word).ok_or_else(unknown)
}
