//! Decodes messages on the client. The parts that depend on the table's game are decoded as that
//! game's, once a snapshot has named it.
//!
//! Nearly all texts are updates and acks. The server writes their type first, so they are decoded
//! in one pass; any other order of fields is decoded too, but more slowly.

use bahay_engine::catalog::{self, AnyAction, AnyGame, Visitor};
use bahay_engine::game::{Game, GameKind};
use bahay_engine::table::{Event, Lift, TableView, Timestamp};

use serde::Deserialize;

use super::brief::{Form, FormError, Shorthand, is_packed_array};
use super::{Message, OpenPrompt, Tag};

/// The first bytes of updates and acks, as the server writes them.
const UPDATE: &[u8] = br#"{"type":"update","#;
const ACK: &[u8] = br#"{"type":"ack","#;

/// The decoder of one connection's messages.
#[derive(Clone, Copy, Debug)]
pub struct MessageReader {
    shorthand: Shorthand,
    /// The game of the last table that was shown.
    kind: Option<&'static str>,
}

/// An update object without its type.
#[derive(Deserialize)]
#[serde(bound = "G: GameKind")]
struct UpdateObject<G: Game> {
    version: u64,
    tag: Tag,
    server_time_ms: Timestamp,
    events: Vec<Event<G::Event>>,
    #[serde(default)]
    prompt: Option<OpenPrompt<G::Action>>,
    #[serde(default)]
    ack: Option<u32>,
}

/// An ack object without its type.
#[derive(Deserialize)]
struct Ack {
    id: u32,
    #[serde(default)]
    version: Option<u64>,
}

/// The part of a message that names its game.
#[derive(Deserialize)]
struct KindProbe {
    #[serde(default)]
    view: Option<ProbedView>,
}

#[derive(Deserialize)]
struct ProbedView {
    kind: String,
}

impl MessageReader {
    pub fn new(form: Form) -> Self {
        Self { shorthand: Shorthand::new(form), kind: None }
    }

    pub fn form(&self) -> Form {
        self.shorthand.form()
    }

    /// Returns the game as whose messages are decoded: any one before the first snapshot, because no
    /// message contains anything of a game until then.
    pub(crate) fn game_kind(&self) -> &'static str {
        let first = || catalog::kinds().first().map_or("", |first| first.name);
        self.kind.unwrap_or_else(first)
    }

    /// Sets the game of a table that is known from an earlier connection.
    pub fn set_game_kind(&mut self, kind: &str) {
        self.kind = find_kind(kind);
    }

    /// Decodes a message. An update in a short form has no prompt.
    pub fn read(&mut self, bytes: &[u8]) -> Result<Message<AnyGame>, FormError> {
        if self.form() == Form::Full && bytes.starts_with(ACK) {
            let Ack { id, version } = serde_json::from_slice(bytes)?;
            return Ok(Message::Ack { id, version });
        }
        if self.may_hold_snapshot(bytes) {
            let shown: KindProbe = match self.form() {
                Form::Full | Form::Brief => serde_json::from_slice(bytes)?,
                Form::Compact => {
                    let reader = rmp_serde::Deserializer::from_read_ref(bytes);
                    KindProbe::deserialize(&mut reader.with_human_readable())?
                }
            };
            if let Some(ProbedView { kind }) = shown.view {
                self.kind = Some(find_kind(&kind).ok_or(FormError::UnknownGame { kind })?);
            }
        }
        let kind = self.game_kind();
        let reading = ReadWithKind { shorthand: self.shorthand, bytes };
        let unknown = || FormError::UnknownGame { kind: kind.to_owned() };
        let message = catalog::with_kind(kind, reading).ok_or_else(unknown)??;
        self.shorthand.observe(&message);
        Ok(message)
    }

    /// Returns true if this may be a snapshot: an object that is no update.
    fn may_hold_snapshot(&self, bytes: &[u8]) -> bool {
        match self.form() {
            Form::Full => !bytes.starts_with(UPDATE),
            Form::Brief => bytes.first() == Some(&b'{'),
            Form::Compact => !is_packed_array(bytes),
        }
    }
}

fn find_kind(kind: &str) -> Option<&'static str> {
    catalog::kinds().into_iter().map(|known| known.name).find(|known| *known == kind)
}

/// Decodes one message as that of a given game.
struct ReadWithKind<'a> {
    shorthand: Shorthand,
    bytes: &'a [u8],
}

impl Visitor for ReadWithKind<'_> {
    type Output = Result<Message<AnyGame>, FormError>;

    fn visit<G: Lift<AnyGame>>(self) -> Self::Output {
        let Self { shorthand, bytes } = self;
        let message = match shorthand.form() {
            Form::Full if bytes.starts_with(UPDATE) => {
                let UpdateObject { version, tag, server_time_ms, events, prompt, ack } =
                    serde_json::from_slice::<UpdateObject<G>>(bytes)?;
                Message::Update { version, tag, server_time_ms, events, prompt, ack }
            }
            Form::Full => serde_json::from_slice(bytes)?,
            Form::Brief | Form::Compact => shorthand.read::<G>(bytes)?,
        };
        Ok(message.lift())
    }
}

impl<G: Lift<AnyGame>> Message<G> {
    /// Converts the message to one of the catalogue of games.
    fn lift(self) -> Message<AnyGame> {
        match self {
            Self::Hello { player, protocol, server_time_ms, notices } => {
                Message::Hello { player, protocol, server_time_ms, notices }
            }
            Self::Snapshot { version, tag, server_time_ms, view, prompt } => {
                let view: TableView<G> = *view;
                let prompt = prompt.map(lift_prompt::<G>);
                let view = Box::new(view.lift());
                Message::Snapshot { version, tag, server_time_ms, view, prompt }
            }
            Self::Update { version, tag, server_time_ms, events, prompt, ack } => {
                let events = events.into_iter().map(|event| event.map(G::lift_event)).collect();
                let prompt = prompt.map(lift_prompt::<G>);
                Message::Update { version, tag, server_time_ms, events, prompt, ack }
            }
            Self::Said { player, phrase, server_time_ms } => {
                Message::Said { player, phrase, server_time_ms }
            }
            Self::Advice { game, prompt, action, by } => {
                let action = G::lift_action(action);
                Message::Advice { game, prompt, action, by }
            }
            Self::Closed { table, reason } => Message::Closed { table, reason },
            Self::Ticket { ticket, state, rooms, table, reason, expires_at_ms } => {
                Message::Ticket { ticket, state, rooms, table, reason, expires_at_ms }
            }
            Self::Invited { code, from, name, game } => Message::Invited { code, from, name, game },
            Self::Ack { id, version } => Message::Ack { id, version },
            Self::Refusal { id, code, rule, detail, retryable, retry_after_ms } => {
                Message::Refusal { id, code, rule, detail, retryable, retry_after_ms }
            }
        }
    }
}

fn lift_prompt<G: Lift<AnyGame>>(prompt: OpenPrompt<G::Action>) -> OpenPrompt<AnyAction> {
    let OpenPrompt { game, number, seats, deadline_ms, legal } = prompt;
    let legal = legal.into_iter().map(G::lift_action).collect();
    OpenPrompt { game, number, seats, deadline_ms, legal }
}

#[cfg(test)]
mod tests {
    use bahay_engine::catalog::{AnyEvent, AnyGame};
    use bahay_engine::coins::Coins;
    use bahay_engine::table::{Event, GameId, PlayerId, Timestamp};
    use uuid::Uuid;

    use super::{ACK, MessageReader, UPDATE};
    use crate::brief::{Form, Shorthand};
    use crate::{Message, Phrase};

    const HELLO_MS: i64 = 1_772_366_400_000;

    #[test]
    fn common_messages_are_read_like_all_others() {
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
            // The server's output takes the fast path.
            let written = serde_json::to_string(&read).unwrap();
            let is_short_path =
                [UPDATE, ACK].iter().any(|prefix| written.as_bytes().starts_with(prefix));
            assert!(is_short_path, "{written}");
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
