//! Decodes messages and the parts of them that belong to a game.
//!
//! A message is decoded once for all games: its game's parts are taken out of the document first,
//! and decoded by the functions of the game.

use bahay_engine::catalog::{self, AnyAction, AnyEvent, AnyGame, AnyRules, AnyView, Visitor};
use bahay_engine::document::{Document, ListReader, MalformedError, known_types_of};
use bahay_engine::table::{Event, Lift, TableView, ViewParts};
use serde::de::{Error as _, IgnoredAny};

use crate::{Message, MessageParts, OpenPrompt};

/// The decoders of one game.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GameReader {
    /// The names of the short events, in the order of their numbers.
    pub(crate) short_events: &'static [&'static str],
    read_rules: fn(Document<'_>) -> Result<AnyRules, MalformedError>,
    read_view: fn(Document<'_>) -> Result<AnyView, MalformedError>,
    read_event: fn(Document<'_>) -> Result<AnyEvent, MalformedError>,
    read_action: fn(Document<'_>) -> Result<AnyAction, MalformedError>,
    /// Decodes the short event of this name from its fields.
    pub(crate) read_short: fn(&str, &mut ListReader<'_>) -> Result<AnyEvent, MalformedError>,
    /// Returns the types of the game's events.
    pub(crate) event_types: fn() -> &'static [&'static str],
}

impl GameReader {
    /// Returns the decoders of the game with this name; `None` if there is no such game.
    pub(crate) fn find(kind: &str) -> Option<Self> {
        catalog::with_kind(kind, FindReader)
    }

    /// Returns the decoders of the first game of the catalogue.
    pub(crate) fn first() -> Option<Self> {
        Self::find(catalog::KIND_NAMES.first()?)
    }

    /// Decodes an action of the game.
    pub(crate) fn read_action(&self, action: Document<'_>) -> Result<AnyAction, MalformedError> {
        (self.read_action)(action)
    }

    /// Decodes an event of the table.
    pub(crate) fn read_event(
        &self,
        mut event: Document<'_>,
    ) -> Result<Event<AnyEvent>, MalformedError> {
        let inner = event.field_mut("event").map(Document::take);
        let event = Event::<IgnoredAny>::from_document(event)?;
        event.try_map(|IgnoredAny| (self.read_event)(taken(inner)?))
    }

    /// Decodes a message.
    pub(crate) fn read_message(
        &self,
        mut message: Document<'_>,
    ) -> Result<Message<AnyGame>, MalformedError> {
        if !matches!(message, Document::Map(_)) {
            return Err(MalformedError::custom("a message is an object"));
        }
        let events = message.field_mut("events").and_then(Document::take_items);
        let action = message.field_mut("action").map(Document::take);
        let legal = message.field_mut("prompt").and_then(|prompt| prompt.field_mut("legal"));
        let legal = legal.and_then(Document::take_items);
        let mut view = message.field_mut("view");
        let terms = view.as_deref_mut().and_then(|view| view.field_mut("terms"));
        let rules = terms.and_then(|terms| terms.field_mut("rules")).map(Document::take);
        let phase = view.and_then(|view| view.field_mut("phase"));
        let game_view = phase.and_then(|phase| phase.field_mut("view")).map(Document::take);
        Ok(match Message::<GameParts>::from_document(message)? {
            Message::Snapshot { version, tag, server_time_ms, view, prompt } => {
                let view = view.try_map(
                    |IgnoredAny| (self.read_rules)(taken(rules)?),
                    |IgnoredAny| (self.read_view)(taken(game_view)?),
                )?;
                let (view, prompt) = (Box::new(view), self.read_prompt(prompt, legal)?);
                Message::Snapshot { version, tag, server_time_ms, view, prompt }
            }
            Message::Update { version, tag, server_time_ms, events: _, prompt, ack } => {
                let events = taken(events)?.into_iter().map(|event| self.read_event(event));
                let events = events.collect::<Result<_, _>>()?;
                let prompt = self.read_prompt(prompt, legal)?;
                Message::Update { version, tag, server_time_ms, events, prompt, ack }
            }
            Message::Advice { game, prompt, action: IgnoredAny, by } => {
                let action = self.read_action(taken(action)?)?;
                Message::Advice { game, prompt, action, by }
            }
            Message::Hello { player, protocol, server_time_ms, notices } => {
                Message::Hello { player, protocol, server_time_ms, notices }
            }
            Message::Said { player, phrase, server_time_ms } => {
                Message::Said { player, phrase, server_time_ms }
            }
            Message::Closed { table, reason } => Message::Closed { table, reason },
            Message::Ticket { ticket, state, rooms, table, reason, expires_at_ms } => {
                Message::Ticket { ticket, state, rooms, table, reason, expires_at_ms }
            }
            Message::Invited { code, from, name, game } => {
                Message::Invited { code, from, name, game }
            }
            Message::Standing { tournament, rank, score, tie_break, entrants } => {
                Message::Standing { tournament, rank, score, tie_break, entrants }
            }
            Message::Ack { id, version } => Message::Ack { id, version },
            Message::Refusal { id, code, rule, detail, retryable, retry_after_ms } => {
                Message::Refusal { id, code, rule, detail, retryable, retry_after_ms }
            }
        })
    }

    /// Completes a prompt by its legal actions.
    fn read_prompt(
        &self,
        prompt: Option<OpenPrompt<IgnoredAny>>,
        legal: Option<Vec<Document<'_>>>,
    ) -> Result<Option<OpenPrompt<AnyAction>>, MalformedError> {
        let Some(OpenPrompt { game, number, seats, deadline_ms, legal: _ }) = prompt else {
            return Ok(None);
        };
        let legal = taken(legal)?.into_iter().map(self.read_action).collect::<Result<_, _>>()?;
        Ok(Some(OpenPrompt { game, number, seats, deadline_ms, legal }))
    }
}

/// Returns a part that was taken out of a message; fails if it is written in another place, such as
/// in the list of an object's values.
fn taken<T>(part: Option<T>) -> Result<T, MalformedError> {
    part.ok_or_else(|| MalformedError::custom("a part of the game is not in its field"))
}

/// The parts of a game in a message out of which they were taken.
#[derive(Debug)]
pub(crate) struct GameParts;

impl ViewParts for GameParts {
    type Rules = IgnoredAny;
    type View = IgnoredAny;
}

impl MessageParts for GameParts {
    type View = TableView<Self>;
    type Event = IgnoredAny;
    type Action = IgnoredAny;
}

/// Returns the decoders of a game.
struct FindReader;

impl Visitor for FindReader {
    type Output = GameReader;

    fn visit<G: Lift<AnyGame>>(self) -> GameReader {
        GameReader {
            short_events: G::SHORT_EVENTS,
            read_rules: |rules| rules.read().map(G::lift_rules),
            read_view: |view| view.read().map(G::lift_view),
            read_event: |event| G::read_event(event).map(G::lift_event),
            read_action: |action| G::read_action_document(action).map(G::lift_action),
            read_short: |name, fields| G::read_short(name, fields).map(G::lift_event),
            event_types: known_types_of::<G::Event>,
        }
    }
}
