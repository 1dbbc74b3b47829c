//! Decodes messages on the client. The parts that depend on the table's game are decoded as that
//! game's, once a snapshot has named it.

use bahay_engine::catalog::{AnyAction, AnyGame};
use bahay_engine::document::{Document, DocumentError};
use bahay_engine::table::{Event, Timestamp};
use serde::Deserialize;

use crate::brief::{Form, FormError, Shorthand};
use crate::game_reader::{GameReader, UnreadParts};
use crate::short_reader::read_list;
use crate::{Message, OpenPrompt, Tag};

/// The decoder of one connection's messages.
#[derive(Clone, Copy, Debug)]
pub struct MessageReader {
    shorthand: Shorthand,
    /// The game of the last table that was shown; any one before the first snapshot, because no
    /// message contains anything of a game until then.
    game: Option<GameReader>,
}

/// An update object without its type.
#[derive(Deserialize)]
struct UpdateObject<'a> {
    version: u64,
    tag: Tag,
    server_time_ms: Timestamp,
    #[serde(borrow)]
    events: Vec<Event<Document<'a>>>,
    #[serde(default, borrow)]
    prompt: Option<OpenPrompt<Document<'a>>>,
    #[serde(default)]
    ack: Option<u32>,
}

impl MessageReader {
    pub fn new(form: Form) -> Self {
        Self { shorthand: Shorthand::new(form), game: GameReader::first() }
    }

    pub fn form(&self) -> Form {
        self.shorthand.form()
    }

    pub(crate) fn game(&self) -> Option<&GameReader> {
        self.game.as_ref()
    }

    /// Sets the game of a table that is known from an earlier connection.
    pub fn set_game_kind(&mut self, kind: &str) {
        self.game = GameReader::find(kind).or_else(GameReader::first);
    }

    /// Decodes a message. An update in a short form has no prompt.
    ///
    /// # Errors
    /// If the bytes are no message, or if a snapshot names an unknown game.
    pub fn read(&mut self, bytes: &[u8]) -> Result<Message<AnyGame>, FormError> {
        let document = decode(self.form(), bytes)?;
        self.read_document(document)
    }

    /// Decodes a message from its document.
    pub(crate) fn read_document(
        &mut self,
        document: Document<'_>,
    ) -> Result<Message<AnyGame>, FormError> {
        if let Some(kind) = document.field("view").and_then(|view| view.text_of("kind")) {
            let unknown = || FormError::UnknownGame { kind: kind.to_owned() };
            self.game = Some(GameReader::find(kind).ok_or_else(unknown)?);
        }
        let none = || FormError::UnknownGame { kind: String::new() };
        let game = self.game.as_ref().ok_or_else(none)?;
        let message = match document {
            Document::List(items) if self.form().is_short() => {
                read_list(items, game, self.shorthand.hello())?
            }
            object => game.read_message(read_object(object)?)?,
        };
        self.shorthand.observe_hello(&message);
        Ok(message)
    }
}

/// Decodes bytes in this form.
pub(crate) fn decode(form: Form, bytes: &[u8]) -> Result<Document<'_>, FormError> {
    Ok(match form {
        Form::Full | Form::Brief => serde_json::from_slice(bytes)?,
        Form::Compact => rmp_serde::from_slice(bytes)?,
    })
}

/// Decodes a message up to the parts that belong to a game.
fn read_object(object: Document<'_>) -> Result<Message<UnreadParts<'_>>, DocumentError> {
    if object.text_of("type") != Some("update") {
        return object.read();
    }
    // Nearly all messages are updates, and these need no copy of their fields.
    let UpdateObject { version, tag, server_time_ms, events, prompt, ack } = object.read()?;
    Ok(Message::Update { version, tag, server_time_ms, events, prompt, ack })
}

/// Decodes the JSON of an action of the game with this name.
///
/// # Errors
/// If there is no such game, or the text is no action of it.
pub fn read_action(kind: &str, json: &str) -> Result<AnyAction, FormError> {
    let unknown = || FormError::UnknownGame { kind: kind.to_owned() };
    let game = GameReader::find(kind).ok_or_else(unknown)?;
    Ok(game.read_action(decode(Form::Full, json.as_bytes())?)?)
}

#[cfg(test)]
mod tests {
    use super::MessageReader;
    use crate::Message;
    use crate::brief::Form;

    #[test]
    fn the_order_of_fields_is_free() {
        let texts = [
            (
                r#"{"type":"update","version":7,"tag":"7a61673a0001","server_time_ms":5,"events":[{"type":"countdown","deadline_ms":9}]}"#,
                r#"{"version":7,"type":"update","tag":"7a61673a0001","server_time_ms":5,"events":[{"type":"countdown","deadline_ms":9}]}"#,
            ),
            (
                r#"{"type":"update","version":7,"tag":"7a61673a0001","server_time_ms":5,"events":[],"ack":3}"#,
                r#"{"ack":3,"type":"update","version":7,"tag":"7a61673a0001","server_time_ms":5,"events":[]}"#,
            ),
            (r#"{"type":"ack","id":3,"version":8}"#, r#"{"id":3,"type":"ack","version":8}"#),
            (r#"{"type":"ack","id":3}"#, r#"{"id":3,"type":"ack"}"#),
        ];
        let mut reader = MessageReader::new(Form::Full);
        for (common, other) in texts {
            let read = reader.read(common.as_bytes()).unwrap();
            assert_eq!(reader.read(other.as_bytes()).unwrap(), read, "{common}");
        }
        let refusal = r#"{"type":"refusal","id":null,"code":"c","detail":"","retryable":true}"#;
        assert!(matches!(reader.read(refusal.as_bytes()), Ok(Message::Refusal { .. })));
        for nonsense in [r#"{"type":"update","version":7}"#, r#"{"type":"ack","id":"3"}"#, "{"] {
            assert!(reader.read(nonsense.as_bytes()).is_err(), "{nonsense}");
        }
    }
}
