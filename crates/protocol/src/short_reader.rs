//! Decodes the short forms of messages, which are lists; see `brief`.

use bahay_engine::catalog::{AnyEvent, AnyGame};
use bahay_engine::document::{Document, ListReader, MalformedError};
use bahay_engine::table::Event;
use serde::de::Error as _;

use crate::Message;
use crate::baseline::{Baseline, add_ms};
use crate::brief::{list_words, read_table_event};
use crate::form::Form;
use crate::game_reader::GameReader;
use crate::short_fields::{Context, missing_field, next_element};

/// Decodes an update or an ack at a table of this game, which refers to the values of `baseline`.
pub(crate) fn read_list(
    items: Vec<Document>,
    game: &GameReader,
    form: Form,
    baseline: Baseline,
) -> Result<Message<AnyGame>, MalformedError> {
    let is_binary = form == Form::Compact;
    let mut items = ListReader::new(items, is_binary);
    let first = items.next().ok_or_else(missing_field)?;
    let (version, tag) = match first.as_natural() {
        None => {
            let unnamed = || MalformedError::custom("no version has been named");
            (baseline.next_version().ok_or_else(unnamed)?, first.read()?)
        }
        Some(first) => match items.next() {
            None => return read_ack(first, None),
            Some(second) => match second.as_natural() {
                None => (first, second.read()?),
                Some(_) if items.next().is_some() => {
                    return Err(MalformedError::custom("an ack has at most two elements"));
                }
                Some(version) => return read_ack(first, Some(version)),
            },
        },
    };
    let now = add_ms(baseline.time, next_element(&mut items)?);
    let context = Context { form, now, baseline };
    let mut events = Vec::new();
    let mut ack = None;
    for item in items {
        if ack.is_some() {
            return Err(MalformedError::custom("the id of a command is the last element"));
        }
        match (item.as_natural(), item) {
            (Some(id), _) => ack = Some(read_id(id)?),
            (None, Document::List(fields)) => events.push(read_event(fields, game, context)?),
            (None, object) => events.push(game.read_event(object)?),
        }
    }
    Ok(Message::Update { version, tag, server_time_ms: now, events, prompt: None, ack })
}

fn read_ack(id: u64, version: Option<u64>) -> Result<Message<AnyGame>, MalformedError> {
    Ok(Message::Ack { id: read_id(id)?, version })
}

fn read_id(id: u64) -> Result<u32, MalformedError> {
    u32::try_from(id).map_err(MalformedError::custom)
}

/// Decodes a short event: its word or number, and its fields. Fields that a later version appends
/// are ignored.
fn read_event(
    fields: Vec<Document>,
    game: &GameReader,
    context: Context,
) -> Result<Event<AnyEvent>, MalformedError> {
    let mut fields = ListReader::new(fields, context.form == Form::Compact);
    let word = read_word(fields.next().ok_or_else(missing_field)?, game)?;
    match read_table_event(word, context, &mut fields)? {
        Some(event) => Ok(event),
        None => Ok(Event::Game { event: (game.read_short)(word, &mut fields)? }),
    }
}

fn read_word(word: Document, game: &GameReader) -> Result<&'static str, MalformedError> {
    let known = match &word {
        Document::Text(text) => list_words(game.short_events).find(|(known, _)| known == text),
        Document::Natural(number) => {
            list_words(game.short_events).find(|(_, known)| u64::from(*known) == *number)
        }
        _ => None,
    };
    let unknown = || MalformedError::custom(format_args!("unknown event {word:?}"));
    known.map(|(word, _)| word).ok_or_else(unknown)
}
