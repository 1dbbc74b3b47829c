//! Decodes messages and the parts of them that belong to a game.
//!
//! A message is decoded once for all games, with the parts of its game as documents, which are then
//! decoded by the functions of the game.

use bahay_engine::catalog::{self, AnyAction, AnyEvent, AnyGame, AnyRules, AnyView, Visitor};
use bahay_engine::document::{Document, FromDocument, ListReader, MalformedError, list_types};
use bahay_engine::table::{Event, Lift, TableView, ViewParts};
use serde::de::Error as _;

use crate::{Message, MessageParts, OpenPrompt};

/// The decoders of one game.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GameReader {
    /// The names of the short events, in the order of their numbers.
    pub(crate) short_events: &'static [&'static str],
    read_rules: fn(Document) -> Result<AnyRules, MalformedError>,
    read_view: fn(Document) -> Result<AnyView, MalformedError>,
    read_event: fn(Document) -> Result<AnyEvent, MalformedError>,
    read_action: fn(Document) -> Result<AnyAction, MalformedError>,
    /// Decodes the short event of this name from its fields.
    pub(crate) read_short: fn(&str, &mut ListReader) -> Result<AnyEvent, MalformedError>,
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
    pub(crate) fn read_action(&self, action: Document) -> Result<AnyAction, MalformedError> {
        (self.read_action)(action)
    }

    /// Decodes an event of the table.
    pub(crate) fn read_event(&self, event: Document) -> Result<Event<AnyEvent>, MalformedError> {
        event.read::<Event<Document>>()?.try_map(self.read_event)
    }

    /// Decodes a message.
    pub(crate) fn read_message(
        &self,
        message: Document,
    ) -> Result<Message<AnyGame>, MalformedError> {
        if !matches!(message, Document::Map(_)) {
            return Err(MalformedError::custom("a message is an object"));
        }
        Ok(match message.read::<Message<GameParts>>()? {
            Message::Snapshot { version, tag, server_time_ms, view, prompt } => {
                let view = Box::new(view.try_map(self.read_rules, self.read_view)?);
                let prompt = self.read_prompt(prompt)?;
                Message::Snapshot { version, tag, server_time_ms, view, prompt }
            }
            Message::Update { version, tag, server_time_ms, events, prompt, ack } => {
                let events = events.into_iter().map(|event| event.try_map(self.read_event));
                let events = events.collect::<Result<_, _>>()?;
                let prompt = self.read_prompt(prompt)?;
                Message::Update { version, tag, server_time_ms, events, prompt, ack }
            }
            Message::Advice { game, prompt, action, by } => {
                let action = self.read_action(action)?;
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

    fn read_prompt(
        &self,
        prompt: Option<OpenPrompt<Document>>,
    ) -> Result<Option<OpenPrompt<AnyAction>>, MalformedError> {
        let Some(OpenPrompt { game, number, seats, deadline_ms, legal }) = prompt else {
            return Ok(None);
        };
        let legal = legal.into_iter().map(self.read_action).collect::<Result<_, _>>()?;
        Ok(Some(OpenPrompt { game, number, seats, deadline_ms, legal }))
    }
}

/// The parts of a game whose types are not known yet.
#[derive(Debug)]
pub(crate) struct GameParts;

impl ViewParts for GameParts {
    type Rules = Document;
    type View = Document;
}

impl MessageParts for GameParts {
    type View = TableView<Self>;
    type Event = Document;
    type Action = Document;
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
            read_event: |event| event.read().map(G::lift_event),
            read_action: |action| G::Action::from_document(action).map(G::lift_action),
            read_short: |name, fields| G::read_short(name, fields).map(G::lift_event),
            event_types: list_types::<G::Event>,
        }
    }
}
