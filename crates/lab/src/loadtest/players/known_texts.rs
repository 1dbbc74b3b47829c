//! Known texts: the texts of events and actions in the full form that were decoded and checked
//! before. Few different texts make up nearly all updates, because the same card is dumped at many
//! tables, and every update reaches all seats. A known text is looked up, which costs a fraction of
//! decoding it, encoding it again and comparing both.
//!
//! Only texts of messages that held nothing more than their decoded form become known, so an update
//! that consists of known texts holds nothing more either: its other fields are numbers, ids and
//! tags, and any other field is an error.
//!
//! Bounds: [`TEXTS_MAX`] events and as many actions, of at most [`TEXT_BYTES_MAX`] each.

use std::collections::HashMap;

use bahay_engine::catalog::AnyGame;
use bahay_engine::game::Game;
use bahay_engine::seat::SeatSet;
use bahay_engine::table::{Event, GameId, Timestamp};
use bahay_engine::variants;
use bahay_protocol::{Message, OpenPrompt, Tag};
use serde::Deserialize;
use serde_json::value::RawValue;

type Action = <AnyGame as Game>::Action;
type TableEvent = Event<<AnyGame as Game>::Event>;

/// The most texts of a kind. When they are reached, all are forgotten.
const TEXTS_MAX: usize = 1 << 16;

/// The longest known text. Longer ones, such as a dealt hand, do not come again.
const TEXT_BYTES_MAX: usize = 112;

/// The first bytes of updates, as the server writes them.
const UPDATE: &[u8] = br#"{"type":"update","#;

/// The first bytes of a countdown, whose deadline and closing brace follow.
const COUNTDOWN: &str = r#"{"type":"countdown","deadline_ms":"#;

/// The known texts of one game's tables.
#[derive(Debug, Default)]
pub struct KnownTexts {
    /// The name of the game.
    kind: String,
    events: HashMap<Box<str>, TableEvent>,
    actions: HashMap<Box<str>, Action>,
}

/// An update whose events and actions are not decoded.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UpdateTexts<'a> {
    #[serde(rename = "type")]
    _type: UpdateType,
    version: u64,
    tag: Tag,
    server_time_ms: Timestamp,
    #[serde(borrow)]
    events: Vec<&'a RawValue>,
    #[serde(borrow, default)]
    prompt: Option<PromptTexts<'a>>,
    #[serde(default)]
    ack: Option<u32>,
}

impl<'a> UpdateTexts<'a> {
    /// Splits an update; `None` if it is another message.
    pub fn split(bytes: &'a [u8]) -> Option<Self> {
        bytes.starts_with(UPDATE).then(|| serde_json::from_slice(bytes).ok())?
    }
}

#[derive(Debug, Deserialize)]
enum UpdateType {
    #[serde(rename = "update")]
    Update,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct PromptTexts<'a> {
    game: GameId,
    number: u32,
    seats: SeatSet,
    deadline_ms: Option<Timestamp>,
    #[serde(borrow)]
    legal: Vec<&'a RawValue>,
}

impl KnownTexts {
    /// Decodes an update at a table of this game; `None` if it contains an unknown text.
    pub fn decode(&self, kind: &str, update: &UpdateTexts<'_>) -> Option<Message<AnyGame>> {
        if kind != self.kind {
            return None;
        }
        let UpdateTexts { version, tag, server_time_ms, ref events, ref prompt, ack, .. } = *update;
        let events = events.iter().map(|text| self.find_event(text.get()));
        let events = events.collect::<Option<_>>()?;
        let prompt = match prompt {
            &Some(PromptTexts { game, number, seats, deadline_ms, ref legal }) => {
                let legal = legal.iter().map(|text| self.actions.get(text.get()).cloned());
                let legal = legal.collect::<Option<_>>()?;
                Some(OpenPrompt { game, number, seats, deadline_ms, legal })
            }
            None => None,
        };
        Some(Message::Update { version, tag, server_time_ms, events, prompt, ack })
    }

    /// Remembers the texts of an update that held nothing more than its decoded form.
    pub fn remember(&mut self, kind: &str, texts: &UpdateTexts<'_>, update: &Message<AnyGame>) {
        let Message::Update { events, prompt, .. } = update else {
            return;
        };
        if kind != self.kind {
            *self = Self { kind: kind.to_owned(), ..Self::default() };
        }
        for (text, event) in texts.events.iter().zip(events) {
            if let variants!(Event: Game, Ready, Revealed, Presence) = event {
                remember_text(&mut self.events, text.get(), event);
            }
        }
        if let (Some(texts), Some(prompt)) = (&texts.prompt, prompt) {
            for (text, action) in texts.legal.iter().zip(&prompt.legal) {
                remember_text(&mut self.actions, text.get(), action);
            }
        }
    }

    fn find_event(&self, text: &str) -> Option<TableEvent> {
        if let Some(deadline) = text.strip_prefix(COUNTDOWN) {
            let deadline_ms = deadline.strip_suffix('}')?.parse().ok()?;
            return Some(Event::Countdown { deadline_ms: Timestamp::from_ms(deadline_ms) });
        }
        self.events.get(text).cloned()
    }
}

fn remember_text<T: Clone>(known: &mut HashMap<Box<str>, T>, text: &str, value: &T) {
    if text.len() > TEXT_BYTES_MAX || known.contains_key(text) {
        return;
    }
    if known.len() >= TEXTS_MAX {
        known.clear();
    }
    known.insert(text.into(), value.clone());
}
