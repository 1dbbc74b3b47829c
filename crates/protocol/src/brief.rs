//! The short forms of the server's messages, each with a subprotocol of its own: `bahay.v1.brief`
//! as JSON in text frames, `bahay.v1.compact` as MessagePack in binary frames. Commands are the
//! same in all forms.
//!
//! Nearly all messages of a game are updates and acks, which become arrays. They omit what follows
//! from the events and the view, such as the prompt, and what an earlier message of the connection
//! has said (`Baseline`): a version that follows on the last one, the game, and of times all but
//! the difference. Common events become arrays too, of a word (in MessagePack, its number) and
//! their fields in order; trailing fields with default values may be missing. Each game lists its
//! short events (`GameKind::SHORT_EVENTS`), the table's are [`TABLE_WORDS`]. Every other message is
//! the object of `bahay.v1`.
//!
//! In MessagePack the arrays are binary: cards are numbers, ids and hashes bytes, and structures
//! arrays of their fields. Objects are as in JSON, also within an array.
//!
//! ```text
//! update   [version if it is not the next one, tag, ms since the last message with a time,
//!           event, event, …, id of the acknowledged command]
//! ack      [id] or [id, version]
//! event    [word, fields…] or an object
//! ```

use bahay_engine::catalog::AnyGame;
use bahay_engine::document::MalformedError;
use bahay_engine::game::{Game, GameKind};
use bahay_engine::table::Event;
use bahay_engine::variants;
use serde::Serialize;
use serde::de::SeqAccess;
use serde::ser::{SerializeSeq, Serializer};

use crate::Message;
use crate::baseline::{Baseline, elapsed_ms};
use crate::short_fields::{Binary, Context, LastField, TableField};

pub use crate::form::Form;

/// Defines the short forms of the table's events: the number, the word, the variant and its fields
/// in their order. The field behind the bar is omitted if it has its default value.
macro_rules! table_words {
    ($($number:literal $word:literal => $variant:ident {
        $($field:ident),* $(| $last:ident)?
    }),+ $(,)?) => {
        /// The words of the table's own events, and their numbers in MessagePack. Lower numbers are
        /// those of the game's events, in the order in which the game lists them.
        pub const TABLE_WORDS: &[(&str, u8)] = &[$(($word, $number)),+];

        fn table_word<E>(event: &Event<E>) -> Option<(&'static str, u8)> {
            match event {
                $(Event::$variant { .. } => Some(($word, $number)),)+
                variants!(Event: Sat, Left, Moved, Waiting, Game, PotRefunded, TermsUpdated) => None,
            }
        }

        fn write_table_fields<E, S: SerializeSeq>(
            event: &Event<E>,
            context: Context,
            fields: &mut S,
        ) -> Result<(), S::Error> {
            match event {
                $(Event::$variant { $($field,)* $($last)? } => {
                    $(fields.serialize_element(&$field.to_short(context))?;)*
                    $(if let Some(last) = $last.to_last(context) {
                        fields.serialize_element(&last)?;
                    })?
                })+
                variants!(Event: Sat, Left, Moved, Waiting, Game, PotRefunded, TermsUpdated) => {}
            }
            Ok(())
        }

        /// Returns the table's event of this word, or `None` if the word is a game's.
        pub(crate) fn read_table_event<'de, E, A: SeqAccess<'de>>(
            word: &str,
            context: Context,
            fields: &mut A,
        ) -> Result<Option<Event<E>>, A::Error> {
            Ok(Some(match word {
                $($word => Event::$variant {
                    $($field: TableField::read_short(context, fields)?,)*
                    $($last: LastField::read_last(context, fields)?,)?
                },)+
                _ => return Ok(None),
            }))
        }
    };
}

table_words! {
    64 "countdown" => Countdown { | deadline_ms },
    65 "ready" => Ready { seat },
    66 "preparing" => Preparing { game, commitment, deadline_ms },
    67 "opening" => Opening { game },
    68 "revealing" => Revealing { game, commitments, pot, deadline_ms },
    69 "text_revealed" => Revealed { seat },
    70 "begun" => Opened { game, stakes, pot | starter },
    71 "settlement" => Over { game, settlement | server_seed },
    72 "settled" => Settled { game, pot | crown },
    73 "presence" => Presence { seat, connected },
    74 "takeover" => Takeover { seat, on },
}

/// Returns the short words of a game and the table's own, with their numbers.
pub fn short_words<G: GameKind>() -> impl Iterator<Item = (&'static str, u8)> {
    list_words(G::SHORT_EVENTS)
}

/// Returns the short events of a game and the table's own, with their numbers.
pub(crate) fn list_words(
    short_events: &'static [&'static str],
) -> impl Iterator<Item = (&'static str, u8)> {
    short_events.iter().copied().zip(0..).chain(TABLE_WORDS.iter().copied())
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
    #[error(transparent)]
    Malformed(#[from] MalformedError),
    #[error("there is no game {kind}")]
    UnknownGame { kind: String },
}

/// The state that one side of a connection needs to encode or decode messages.
#[derive(Clone, Copy, Debug, Default)]
pub struct Shorthand {
    form: Form,
    baseline: Baseline,
}

impl Shorthand {
    pub fn new(form: Form) -> Self {
        Self { form, baseline: Baseline::default() }
    }

    pub fn form(&self) -> Form {
        self.form
    }

    /// Appends an encoded message. The messages of a connection are encoded in the order in which
    /// they are sent.
    pub fn write(
        &mut self,
        message: &Message<AnyGame>,
        bytes: &mut Vec<u8>,
    ) -> Result<(), FormError> {
        let short = Short { message, shorthand: *self };
        match self.form {
            Form::Full => serde_json::to_writer(bytes, message)?,
            Form::Brief => serde_json::to_writer(bytes, &short)?,
            Form::Compact => {
                let mut writer = rmp_serde::Serializer::new(bytes);
                if short.is_array() {
                    short.serialize(&mut writer)?;
                } else {
                    short.serialize(&mut writer.with_struct_map().with_human_readable())?;
                }
            }
        }
        self.observe(message);
        Ok(())
    }

    /// Returns the values to which the next message refers.
    pub(super) fn baseline(&self) -> Baseline {
        self.baseline
    }

    /// Takes over the values of a message to which the next one refers.
    pub(super) fn observe(&mut self, message: &Message<AnyGame>) {
        if self.form.is_short() {
            self.baseline.observe(message);
        }
    }
}

/// A message in a short form.
struct Short<'a> {
    message: &'a Message<AnyGame>,
    shorthand: Shorthand,
}

impl Short<'_> {
    /// Returns whether the message is written as an array.
    fn is_array(&self) -> bool {
        matches!(self.message, Message::Update { .. } | Message::Ack { .. })
    }
}

impl Serialize for Short<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Shorthand { form, baseline } = self.shorthand;
        match self.message {
            Message::Update { version, tag, server_time_ms, events, prompt: _, ack } => {
                let version =
                    Some(*version).filter(|version| baseline.next_version() != Some(*version));
                let header = 2 + usize::from(version.is_some());
                let length = header + events.len() + usize::from(ack.is_some());
                let mut seq = serializer.serialize_seq(Some(length))?;
                if let Some(version) = version {
                    seq.serialize_element(&version)?;
                }
                seq.serialize_element(&Binary { bytes: &tag.0.0, text: tag, form })?;
                seq.serialize_element(&elapsed_ms(baseline.time, *server_time_ms))?;
                let context = Context { form, now: *server_time_ms, baseline };
                for event in events {
                    seq.serialize_element(&ShortEvent { event, context })?;
                }
                if let Some(ack) = ack {
                    seq.serialize_element(ack)?;
                }
                seq.end()
            }
            Message::Ack { id, version: Some(version) } => {
                [u64::from(*id), *version].serialize(serializer)
            }
            Message::Ack { id, version: None } => [id].serialize(serializer),
            variants!(Message: Hello, Snapshot, Said, Closed, Ticket, Invited, Standing, Advice,
                Refusal) => self.message.serialize(serializer),
        }
    }
}

struct ShortEvent<'a> {
    event: &'a Event<<AnyGame as Game>::Event>,
    context: Context,
}

impl ShortEvent<'_> {
    fn word(&self) -> Option<(&'static str, u8)> {
        match self.event {
            Event::Game { event } => event.short(),
            event => table_word(event),
        }
    }

    fn write_fields<S: SerializeSeq>(&self, fields: &mut S) -> Result<(), S::Error> {
        match self.event {
            Event::Game { event } => event.write_short(fields),
            event => write_table_fields(event, self.context, fields),
        }
    }
}

impl Serialize for ShortEvent<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Some((word, number)) = self.word() else {
            // An object has the same form in JSON and in MessagePack.
            let object = serde_json::to_value(self.event).map_err(serde::ser::Error::custom)?;
            return object.serialize(serializer);
        };
        let mut counter = FieldCounter(1);
        self.write_fields(&mut counter).map_err(serde::ser::Error::custom)?;
        let mut fields = serializer.serialize_seq(Some(counter.0))?;
        match self.context.form {
            Form::Full | Form::Brief => fields.serialize_element(word)?,
            Form::Compact => fields.serialize_element(&number)?,
        }
        self.write_fields(&mut fields)?;
        fields.end()
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

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use bahay_engine::catalog::{self, AnyGame, Visitor};
    use bahay_engine::game::SHORT_EVENTS_MAX;
    use bahay_engine::table::Lift;

    use super::{Form, TABLE_WORDS, short_words};
    use crate::MessageReader;

    #[test]
    fn nothing_follows_the_id_of_the_acknowledged_command() {
        let reads = |text: &str| MessageReader::new(Form::Brief).read(text.as_bytes()).is_ok();
        let update = r#"[1,"7a61673a000b",0,["ready",2],4"#;
        assert!(reads(&format!("{update}]")));
        for more in ["5", r#"["ready",2]"#, r#"{"type":"waiting"}"#, "null"] {
            assert!(!reads(&format!("{update},{more}]")), "{more}");
        }
        // The same in MessagePack.
        let bytes = [0x94, 1, 0xc4, 6, 122, 97, 103, 58, 0, 11, 0, 4];
        assert!(MessageReader::new(Form::Compact).read(&bytes).is_ok());
        let bytes = [0x95, 1, 0xc4, 6, 122, 97, 103, 58, 0, 11, 0, 4, 5];
        assert!(MessageReader::new(Form::Compact).read(&bytes).is_err());
    }

    /// Lists the words of a game and the table.
    struct Words;

    impl Visitor for Words {
        type Output = Vec<(&'static str, u8)>;

        fn visit<G: Lift<AnyGame>>(self) -> Self::Output {
            short_words::<G>().collect()
        }
    }

    #[test]
    fn each_word_and_each_number_has_one_meaning() {
        for kind in catalog::kinds() {
            let all = catalog::with_kind(kind.name, Words).unwrap();
            let words: BTreeSet<&str> = all.iter().map(|(word, _)| *word).collect();
            let numbers: BTreeSet<u8> = all.iter().map(|(_, number)| *number).collect();
            assert_eq!((words.len(), numbers.len()), (all.len(), all.len()), "{}", kind.name);
        }
        // One byte each.
        assert!(TABLE_WORDS.iter().all(|(_, number)| *number < 128));
        let first = TABLE_WORDS.iter().map(|(_, number)| usize::from(*number)).min();
        assert_eq!(first, Some(SHORT_EVENTS_MAX));
    }
}
