//! Decodes the parts of a message that belong to a game.

use std::marker::PhantomData;

use bahay_engine::catalog::{self, AnyAction, AnyEvent, AnyGame, AnyRules, AnyView, Visitor};
use bahay_engine::document::{Document, DocumentError, ListReader, known_types_of};
use bahay_engine::table::{Event, Lift, TableView, ViewParts};

use crate::{Message, MessageParts, OpenPrompt};

/// The decoders of one game.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GameReader {
    /// The names of the short events, in the order of their numbers.
    pub(crate) short_events: &'static [&'static str],
    read_rules: for<'de> fn(Document<'de>) -> Result<AnyRules, DocumentError>,
    read_view: for<'de> fn(Document<'de>) -> Result<AnyView, DocumentError>,
    read_event: for<'de> fn(Document<'de>) -> Result<AnyEvent, DocumentError>,
    read_action: for<'de> fn(Document<'de>) -> Result<AnyAction, DocumentError>,
    /// Decodes the short event of this name from its fields.
    pub(crate) read_short: fn(&str, &mut ListReader<'_>) -> Result<AnyEvent, DocumentError>,
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
    pub(crate) fn read_action(&self, action: Document<'_>) -> Result<AnyAction, DocumentError> {
        (self.read_action)(action)
    }

    /// Decodes the game's event within an event of the table.
    pub(crate) fn read_event(
        &self,
        event: Event<Document<'_>>,
    ) -> Result<Event<AnyEvent>, DocumentError> {
        event.try_map(self.read_event)
    }

    /// Decodes the parts of a message that belong to the game.
    pub(crate) fn read_message(
        &self,
        message: Message<UnreadParts<'_>>,
    ) -> Result<Message<AnyGame>, DocumentError> {
        Ok(match message {
            Message::Hello { player, protocol, server_time_ms, notices } => {
                Message::Hello { player, protocol, server_time_ms, notices }
            }
            Message::Snapshot { version, tag, server_time_ms, view, prompt } => {
                let view = Box::new(view.try_map(self.read_rules, self.read_view)?);
                let prompt = self.read_prompt(prompt)?;
                Message::Snapshot { version, tag, server_time_ms, view, prompt }
            }
            Message::Update { version, tag, server_time_ms, events, prompt, ack } => {
                let events = events.into_iter().map(|event| self.read_event(event));
                let events = events.collect::<Result<_, _>>()?;
                let prompt = self.read_prompt(prompt)?;
                Message::Update { version, tag, server_time_ms, events, prompt, ack }
            }
            Message::Said { player, phrase, server_time_ms } => {
                Message::Said { player, phrase, server_time_ms }
            }
            Message::Advice { game, prompt, action, by } => {
                let action = self.read_action(action)?;
                Message::Advice { game, prompt, action, by }
            }
            Message::Closed { table, reason } => Message::Closed { table, reason },
            Message::Ticket { ticket, state, rooms, table, reason, expires_at_ms } => {
                Message::Ticket { ticket, state, rooms, table, reason, expires_at_ms }
            }
            Message::Invited { code, from, name, game } => {
                Message::Invited { code, from, name, game }
            }
            Message::Ack { id, version } => Message::Ack { id, version },
            Message::Refusal { id, code, rule, detail, retryable, retry_after_ms } => {
                Message::Refusal { id, code, rule, detail, retryable, retry_after_ms }
            }
        })
    }

    fn read_prompt(
        &self,
        prompt: Option<OpenPrompt<Document<'_>>>,
    ) -> Result<Option<OpenPrompt<AnyAction>>, DocumentError> {
        let Some(OpenPrompt { game, number, seats, deadline_ms, legal }) = prompt else {
            return Ok(None);
        };
        let legal = legal.into_iter().map(self.read_action).collect::<Result<_, _>>()?;
        Ok(Some(OpenPrompt { game, number, seats, deadline_ms, legal }))
    }
}

/// The parts of a message whose game is not known yet.
#[derive(Debug)]
pub(crate) struct UnreadParts<'de>(PhantomData<&'de ()>);

impl<'de> ViewParts for UnreadParts<'de> {
    type Rules = Document<'de>;
    type View = Document<'de>;
}

impl<'de> MessageParts for UnreadParts<'de> {
    type View = TableView<Self>;
    type Event = Document<'de>;
    type Action = Document<'de>;
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
            read_action: |action| action.read().map(G::lift_action),
            read_short: |name, fields| G::read_short(name, fields).map(G::lift_event),
            event_types: known_types_of::<G::Event>,
        }
    }
}
