//! Decodes messages on the client. The parts that depend on the table's game are decoded as that
//! game's, once a snapshot has named it.

use bahay_engine::catalog::{AnyAction, AnyGame};
use bahay_engine::document::{Document, MalformedError};
use serde::Deserialize;
use serde::de::Error as _;

use crate::Message;
use crate::brief::{Form, FormError, Shorthand};
use crate::game_reader::GameReader;
use crate::short_reader::read_list;

/// The depth of nested values that a message may have.
const DEPTH_MAX: usize = 128;

/// The decoder of one connection's messages.
#[derive(Clone, Copy, Debug)]
pub struct MessageReader {
    shorthand: Shorthand,
    /// The game of the last table that was shown; any one before the first snapshot, because no
    /// message contains anything of a game until then.
    game: Option<GameReader>,
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
        let document = decode_document(self.form(), bytes)?;
        self.read_document(document)
    }

    /// Decodes a message from its document.
    pub(crate) fn read_document(
        &mut self,
        document: Document,
    ) -> Result<Message<AnyGame>, FormError> {
        self.find_game(&document)?;
        let no_game = || FormError::UnknownGame { kind: String::new() };
        let game = self.game.as_ref().ok_or_else(no_game)?;
        let message = match document {
            Document::List(items) if self.form().is_short() => {
                read_list(items, game, self.form(), self.shorthand.baseline())?
            }
            object => game.read_message(object)?,
        };
        self.shorthand.observe(&message);
        Ok(message)
    }

    /// Takes over the game that a snapshot names.
    fn find_game(&mut self, document: &Document) -> Result<(), FormError> {
        let shown = document.get("view").filter(|view| !matches!(view, Document::Null));
        let Some(view) = shown else {
            return Ok(());
        };
        let kind = view.get_text("kind").ok_or_else(|| MalformedError::missing_field("kind"))?;
        let unknown = || FormError::UnknownGame { kind: kind.to_owned() };
        self.game = Some(GameReader::find(kind).ok_or_else(unknown)?);
        Ok(())
    }
}

/// Decodes bytes in this form.
pub(crate) fn decode_document(form: Form, bytes: &[u8]) -> Result<Document, FormError> {
    match form {
        Form::Full | Form::Brief => Ok(serde_json::from_slice(bytes)?),
        Form::Compact => {
            let mut reader = rmp_serde::Deserializer::from_read_ref(bytes);
            reader.set_max_depth(DEPTH_MAX);
            Ok(Document::deserialize(&mut reader)?)
        }
    }
}

/// Decodes the JSON of an action of the game with this name.
///
/// # Errors
/// If there is no such game, or the text is no action of it.
pub fn read_action(kind: &str, json: &str) -> Result<AnyAction, FormError> {
    let unknown = || FormError::UnknownGame { kind: kind.to_owned() };
    let game = GameReader::find(kind).ok_or_else(unknown)?;
    Ok(game.read_action(decode_document(Form::Full, json.as_bytes())?)?)
}

#[cfg(test)]
mod tests {
    use bahay_engine::catalog::{AnyEvent, AnyGame};
    use bahay_engine::coins::Coins;
    use bahay_engine::table::{Event, GameId, PlayerId, Timestamp};
    use uuid::Uuid;

    use super::MessageReader;
    use crate::brief::{Form, Shorthand};
    use crate::{Message, Phrase};

    const HELLO_MS: i64 = 1_772_366_400_000;

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

    fn update(version: u64, after_ms: i64, events: Vec<Event<AnyEvent>>) -> Message<AnyGame> {
        let server_time_ms = Timestamp::from_ms(HELLO_MS + after_ms);
        let tag = "7a61673a000e".parse().unwrap();
        Message::Update { version, tag, server_time_ms, events, prompt: None, ack: None }
    }

    fn countdown<E>(end_after_ms: i64) -> Event<E> {
        Event::Countdown { deadline_ms: Timestamp::from_ms(HELLO_MS + end_after_ms) }
    }

    #[test]
    fn a_message_continues_the_values_of_earlier_ones() {
        let player = PlayerId(Uuid::from_u128(1));
        let game = GameId(Uuid::from_u128(0x019c_a944_3c00_7000_8000_0000_0000_9a3e));
        let other = GameId(Uuid::from_u128(2));
        let settled = |game| Event::Settled { game, pot: Coins::ZERO, crown: None };
        let hello = Message::Hello {
            player,
            protocol: "bahay.v1.brief".into(),
            server_time_ms: Timestamp::from_ms(HELLO_MS),
            notices: None,
        };
        let said = Message::Said {
            player,
            phrase: Phrase::Hello,
            server_time_ms: Timestamp::from_ms(HELLO_MS + 600),
        };
        let steps = [
            (hello, None),
            (
                update(14, 5, vec![Event::Opening { game }, countdown(20_005)]),
                Some(
                    r#"[14,"7a61673a000e",5,["opening","019ca944-3c00-7000-8000-000000009a3e"],["countdown",20000]]"#,
                ),
            ),
            // A client may be unable to read a phrase.
            (said, None),
            (
                update(15, 705, vec![settled(game), countdown(20_702)]),
                Some(r#"["7a61673a000e",700,["settled",null,0],["countdown",-3]]"#),
            ),
            // Events of the same message do not count, and versions may be repeated or go back.
            (
                update(15, 705, vec![settled(other), settled(other), countdown(20_702)]),
                Some(
                    r#"[15,"7a61673a000e",0,["settled","00000000-0000-0000-0000-000000000002",0],["settled","00000000-0000-0000-0000-000000000002",0],["countdown"]]"#,
                ),
            ),
            (update(4, 700, Vec::new()), Some(r#"[4,"7a61673a000e",-5]"#)),
            (
                update(5, 700, vec![settled(other)]),
                Some(r#"["7a61673a000e",0,["settled",null,0]]"#),
            ),
        ];
        for form in [Form::Brief, Form::Compact] {
            let mut writer = Shorthand::new(form);
            let mut reader = MessageReader::new(form);
            for (message, text) in &steps {
                let mut bytes = Vec::new();
                writer.write(message, &mut bytes).unwrap();
                if let (Form::Brief, Some(text)) = (form, text) {
                    assert_eq!(str::from_utf8(&bytes).unwrap(), *text);
                }
                assert_eq!(&reader.read(&bytes).unwrap(), message, "{form:?}");
            }
        }
    }

    #[test]
    fn the_first_messages_of_a_connection_name_all_values() {
        for text in [r#"["7a61673a000e",5]"#, r#"[14,"7a61673a000e",5,["opening",null]]"#] {
            assert!(MessageReader::new(Form::Brief).read(text.as_bytes()).is_err(), "{text}");
        }
    }
}
