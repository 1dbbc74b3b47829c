//! The short forms of the server's messages, each with a subprotocol of its own: `bahay.v1.brief`
//! as JSON in text frames, `bahay.v1.compact` as MessagePack in binary frames. Commands are the
//! same in all forms.
//!
//! Nearly all messages of a game are updates and acks, which become arrays. They omit what a client
//! knows already and what follows from the events and the view, such as the prompt. Times are
//! differences. Common events become arrays too, of a word (in MessagePack, its number) and their
//! fields in order; trailing fields with default values may be missing. Each game lists its short
//! events (`GameKind::SHORT_EVENTS`). Every other message is the object of `bahay.v1`.
//!
//! ```text
//! update   [version, tag, ms since the hello, event, event, …]
//! ack      [id] or [id, version]
//! event    [word, fields…] or an object
//! ```

use std::fmt;
use std::marker::PhantomData;

use bahay_engine::catalog::AnyGame;
use bahay_engine::game::{Game, GameKind};
use bahay_engine::hex::Hex;
use bahay_engine::table::{Event, Timestamp};
use bahay_engine::variants;
use serde::de::value::MapAccessDeserializer;
use serde::de::{self, DeserializeSeed, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::ser::{SerializeSeq, Serializer};
use serde::{Deserialize, Deserializer, Serialize};

use crate::{Message, SUBPROTOCOL, Tag};

/// The table's own events with a short form, and their numbers in MessagePack. The events of a game
/// have the other numbers, in the order in which the game lists them.
pub const TABLE_WORDS: [(&str, u8); 2] = [("countdown", 5), ("ready", 6)];

/// Returns the MessagePack number of the short event at this index of its game's list.
pub fn event_number(index: u8) -> u8 {
    let [(_, first), ..] = TABLE_WORDS;
    let skipped = if index < first { 0 } else { 2 };
    index + skipped
}

/// Returns the short words of a game and the table's own, with their numbers.
pub fn short_words<G: GameKind>() -> impl Iterator<Item = (&'static str, u8)> {
    let own = G::SHORT_EVENTS.iter().zip(0..).map(|(word, index)| (*word, event_number(index)));
    own.chain(TABLE_WORDS)
}

/// The form of messages on a connection, which follows from the agreed subprotocol.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Form {
    /// Complete JSON objects.
    #[default]
    Full,
    /// Short arrays in JSON.
    Brief,
    /// Short arrays in MessagePack.
    Compact,
}

impl Form {
    /// All forms, in the order of the server's preference.
    pub const ALL: [Self; 3] = [Self::Compact, Self::Brief, Self::Full];

    pub const fn subprotocol(self) -> &'static str {
        match self {
            Self::Full => SUBPROTOCOL,
            Self::Brief => "bahay.v1.brief",
            Self::Compact => "bahay.v1.compact",
        }
    }

    /// Returns the form of a subprotocol. A client that names none gets the full form.
    pub fn from_subprotocol(subprotocol: Option<&str>) -> Self {
        let named = Self::ALL.into_iter().find(|form| Some(form.subprotocol()) == subprotocol);
        named.unwrap_or_default()
    }

    /// Returns true if the client computes prompts itself.
    pub const fn is_short(self) -> bool {
        match self {
            Self::Full => false,
            Self::Brief | Self::Compact => true,
        }
    }
}

/// The error of a message that cannot be encoded or decoded.
#[derive(Debug, thiserror::Error)]
pub enum FormError {
    #[error(transparent)]
    Json(#[from] serde_json::Error),
    #[error(transparent)]
    Written(#[from] rmp_serde::encode::Error),
    #[error(transparent)]
    Read(#[from] rmp_serde::decode::Error),
    #[error("there is no game {kind}")]
    UnknownGame { kind: String },
}

/// The state that one side of a connection needs to encode or decode messages.
#[derive(Clone, Copy, Debug, Default)]
pub struct Shorthand {
    form: Form,
    /// The server's time in its hello.
    hello: Timestamp,
}

impl Shorthand {
    pub fn new(form: Form) -> Self {
        Self { form, hello: Timestamp::default() }
    }

    pub fn form(&self) -> Form {
        self.form
    }

    /// Appends an encoded message.
    pub fn write(
        &mut self,
        message: &Message<AnyGame>,
        bytes: &mut Vec<u8>,
    ) -> Result<(), FormError> {
        self.observe_hello(message);
        let short = Short { message, shorthand: *self };
        match self.form {
            Form::Full => serde_json::to_writer(bytes, message)?,
            Form::Brief => serde_json::to_writer(bytes, &short)?,
            Form::Compact => {
                let writer = rmp_serde::Serializer::new(bytes);
                short.serialize(&mut writer.with_struct_map().with_human_readable())?;
            }
        }
        Ok(())
    }

    /// Decodes a message in a short form, at a table of this game.
    pub(super) fn read<G: GameKind>(&self, bytes: &[u8]) -> Result<Message<G>, FormError> {
        let seed = MessageSeed { hello: self.hello, game: PhantomData };
        Ok(match self.form {
            Form::Full | Form::Brief => {
                let mut reader = serde_json::Deserializer::from_slice(bytes);
                let message = seed.deserialize(&mut reader)?;
                reader.end()?;
                message
            }
            Form::Compact => {
                let reader = rmp_serde::Deserializer::from_read_ref(bytes);
                seed.deserialize(&mut reader.with_human_readable())?
            }
        })
    }

    pub(super) fn observe_hello(&mut self, message: &Message<AnyGame>) {
        if let Message::Hello { server_time_ms, .. } = message {
            self.hello = *server_time_ms;
        }
    }
}

fn elapsed_ms(then: Timestamp, now: Timestamp) -> i64 {
    now.ms() - then.ms()
}

fn add_ms(then: Timestamp, ms: i64) -> Timestamp {
    Timestamp::from_ms(then.ms().saturating_add(ms))
}

/// A message in a short form.
struct Short<'a> {
    message: &'a Message<AnyGame>,
    shorthand: Shorthand,
}

impl Serialize for Short<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Shorthand { form, hello } = self.shorthand;
        match self.message {
            Message::Update { version, tag, server_time_ms, events, prompt: _ } => {
                let mut seq = serializer.serialize_seq(Some(3 + events.len()))?;
                seq.serialize_element(version)?;
                match form {
                    Form::Full | Form::Brief => seq.serialize_element(tag)?,
                    Form::Compact => seq.serialize_element(&Bytes(&tag.0.0))?,
                }
                seq.serialize_element(&elapsed_ms(hello, *server_time_ms))?;
                for event in events {
                    seq.serialize_element(&ShortEvent { event, form, now: *server_time_ms })?;
                }
                seq.end()
            }
            Message::Ack { id, version: Some(version) } => {
                [u64::from(*id), *version].serialize(serializer)
            }
            Message::Ack { id, version: None } => [id].serialize(serializer),
            variants!(Message: Hello, Snapshot, Said, Closed, Ticket, Invited, Advice,
                Refusal) => self.message.serialize(serializer),
        }
    }
}

struct Bytes<'a>(&'a [u8]);

impl Serialize for Bytes<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(self.0)
    }
}

struct ShortEvent<'a> {
    event: &'a Event<<AnyGame as Game>::Event>,
    form: Form,
    now: Timestamp,
}

impl Serialize for ShortEvent<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let word = |(word, number)| Word { word, number, form: self.form };
        let [countdown, ready] = TABLE_WORDS;
        match self.event {
            Event::Game { event } => {
                let Some((name, index)) = event.short() else {
                    return self.event.serialize(serializer);
                };
                let mut counted = FieldCounter(1);
                event.write_short(&mut counted).map_err(serde::ser::Error::custom)?;
                let mut fields = serializer.serialize_seq(Some(counted.0))?;
                fields.serialize_element(&word((name, event_number(index))))?;
                event.write_short(&mut fields)?;
                fields.end()
            }
            Event::Countdown { deadline_ms } => {
                (word(countdown), elapsed_ms(self.now, *deadline_ms)).serialize(serializer)
            }
            Event::Ready { seat } => (word(ready), seat).serialize(serializer),
            rare => rare.serialize(serializer),
        }
    }
}

/// Counts the fields that a value serializes, because MessagePack writes the number first.
struct FieldCounter(usize);

impl SerializeSeq for FieldCounter {
    type Ok = ();
    type Error = std::fmt::Error;

    fn serialize_element<T: Serialize + ?Sized>(&mut self, _: &T) -> Result<(), std::fmt::Error> {
        self.0 += 1;
        Ok(())
    }

    fn end(self) -> Result<(), std::fmt::Error> {
        Ok(())
    }
}

struct Word {
    word: &'static str,
    number: u8,
    form: Form,
}

impl Serialize for Word {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.form {
            Form::Full | Form::Brief => serializer.serialize_str(self.word),
            Form::Compact => serializer.serialize_u8(self.number),
        }
    }
}

/// Decodes a message or its short form.
struct MessageSeed<G> {
    /// The server's time in its hello.
    hello: Timestamp,
    game: PhantomData<G>,
}

impl<'de, G: GameKind> DeserializeSeed<'de> for MessageSeed<G> {
    type Value = Message<G>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Message<G>, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de, G: GameKind> Visitor<'de> for MessageSeed<G> {
    type Value = Message<G>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a message or its short form")
    }

    fn visit_map<M: MapAccess<'de>>(self, map: M) -> Result<Message<G>, M::Error> {
        Message::deserialize(MapAccessDeserializer::new(map))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Message<G>, A::Error> {
        let first: u64 = next_element(&mut seq)?;
        let ack = |version| {
            let id = u32::try_from(first).map_err(de::Error::custom)?;
            Ok(Message::Ack { id, version })
        };
        let tag = match seq.next_element()? {
            None => return ack(None),
            Some(VersionOrTag::Version(version)) => return ack(Some(version)),
            Some(VersionOrTag::Tag(tag)) => tag,
        };
        let now = add_ms(self.hello, next_element(&mut seq)?);
        let mut events = Vec::new();
        while let Some(event) = seq.next_element_seed(EventSeed::<G> { now, game: PhantomData })? {
            events.push(event);
        }
        Ok(Message::Update { version: first, tag, server_time_ms: now, events, prompt: None })
    }
}

fn next_element<'de, T: Deserialize<'de>, A: SeqAccess<'de>>(seq: &mut A) -> Result<T, A::Error> {
    seq.next_element()?.ok_or_else(missing_field)
}

fn missing_field<E: de::Error>() -> E {
    E::custom("a field is missing at the end")
}

enum VersionOrTag {
    Version(u64),
    Tag(Tag),
}

impl<'de> Deserialize<'de> for VersionOrTag {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Expected;

        impl Visitor<'_> for Expected {
            type Value = VersionOrTag;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a version or a tag")
            }

            fn visit_u64<E: de::Error>(self, version: u64) -> Result<VersionOrTag, E> {
                Ok(VersionOrTag::Version(version))
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<VersionOrTag, E> {
                text.parse().map(VersionOrTag::Tag).map_err(E::custom)
            }

            fn visit_bytes<E: de::Error>(self, bytes: &[u8]) -> Result<VersionOrTag, E> {
                let bytes = bytes.try_into().map_err(E::custom)?;
                Ok(VersionOrTag::Tag(Tag(Hex(bytes))))
            }
        }

        deserializer.deserialize_any(Expected)
    }
}

/// Decodes an event or its short form.
struct EventSeed<G> {
    /// The time of the update.
    now: Timestamp,
    game: PhantomData<G>,
}

impl<'de, G: GameKind> DeserializeSeed<'de> for EventSeed<G> {
    type Value = Event<G::Event>;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Event<G::Event>, D::Error> {
        from.deserialize_any(self)
    }
}

impl<'de, G: GameKind> Visitor<'de> for EventSeed<G> {
    type Value = Event<G::Event>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an event or its short form")
    }

    fn visit_map<M: MapAccess<'de>>(self, map: M) -> Result<Event<G::Event>, M::Error> {
        Event::deserialize(MapAccessDeserializer::new(map))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Event<G::Event>, A::Error> {
        let word = seq.next_element_seed(WordSeed::<G>(PhantomData))?;
        let word = word.ok_or_else(missing_field)?;
        let [(countdown, _), (ready, _)] = TABLE_WORDS;
        let event = if word == countdown {
            Event::Countdown { deadline_ms: add_ms(self.now, next_element(&mut seq)?) }
        } else if word == ready {
            Event::Ready { seat: next_element(&mut seq)? }
        } else {
            Event::Game { event: G::read_short(word, &mut seq)? }
        };
        // Fields that a later version appends are ignored.
        while seq.next_element::<IgnoredAny>()?.is_some() {}
        Ok(event)
    }
}

/// Decodes the word of a game's short event.
struct WordSeed<G>(PhantomData<G>);

impl<'de, G: GameKind> DeserializeSeed<'de> for WordSeed<G> {
    type Value = &'static str;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<&'static str, D::Error> {
        from.deserialize_any(self)
    }
}

impl<G: GameKind> Visitor<'_> for WordSeed<G> {
    type Value = &'static str;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the word of an event, or its number")
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<&'static str, E> {
        let known = short_words::<G>().find(|(_, known)| u64::from(*known) == number);
        known.map(|(word, _)| word).ok_or_else(|| E::custom("unknown event number"))
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<&'static str, E> {
        let known = short_words::<G>().find(|(word, _)| *word == text);
        known.map(|(word, _)| word).ok_or_else(|| E::custom(format!("unknown event {text}")))
    }
}
