//! Deserialization of the documents of tables: snapshots, journal lines, records, rules and
//! actions.
//!
//! The documents of one game have types of their own. A document of a catalogue can only be read
//! once its game is known: a snapshot and a record name it in their `kind`, and a line or an action
//! belongs to the game of its table. [`Lift`] converts a document of one game into one of the
//! catalogue.
//!
//! Serialization needs none of this: a document of a catalogue is written as a document of its
//! game.

use alloc::boxed::Box;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use core::fmt;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer};

use crate::game::{Game, GameKind};
use crate::table::input::{Input, Line};
use crate::table::phase::{Phase, Playing, Settling};
use crate::table::record::{Record, RecordedAction};
use crate::table::terms::Terms;
use crate::table::view::{PhaseView, TableView};
use crate::table::{Event, Table};

/// The reason why a document cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DocumentError {
    /// The document belongs to an unknown game.
    UnknownGame(String),
    /// The document is malformed.
    Malformed(String),
}

impl fmt::Display for DocumentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownGame(kind) => write!(f, "there is no game {kind}"),
            Self::Malformed(what) => f.write_str(what),
        }
    }
}

impl core::error::Error for DocumentError {}

impl From<serde_json::Error> for DocumentError {
    fn from(error: serde_json::Error) -> Self {
        Self::Malformed(error.to_string())
    }
}

/// A game whose documents can be read.
pub trait Readable: Game {
    /// Reads a snapshot.
    fn read_table(text: &str) -> Result<Table<Self>, DocumentError>;

    /// Reads a line of the journal of a table with this kind of game.
    fn read_line(kind: &str, text: &str) -> Result<Line<Self::Action>, DocumentError>;

    fn read_record(text: &str) -> Result<Record<Self>, DocumentError>;

    /// Reads a rule set of this kind of game.
    fn read_rules<'de, D: Deserializer<'de>>(kind: &str, from: D) -> Result<Self::Rules, D::Error>;

    /// Reads an action of this kind of game.
    fn read_action<'de, D: Deserializer<'de>>(
        kind: &str,
        from: D,
    ) -> Result<Self::Action, D::Error>;
}

impl<G: GameKind> Readable for G {
    fn read_table(text: &str) -> Result<Table<G>, DocumentError> {
        let table: Table<G> = serde_json::from_str(text)?;
        check_kind::<G>(&table.kind)?;
        Ok(table)
    }

    fn read_line(kind: &str, text: &str) -> Result<Line<G::Action>, DocumentError> {
        check_kind::<G>(kind)?;
        Ok(serde_json::from_str(text)?)
    }

    fn read_record(text: &str) -> Result<Record<G>, DocumentError> {
        let record: Record<G> = serde_json::from_str(text)?;
        check_kind::<G>(&record.kind)?;
        // A record has exactly one form: missing, additional or differently written fields are
        // rejected.
        if serde_json::to_value(&record)? != serde_json::from_str::<serde_json::Value>(text)? {
            return Err(DocumentError::Malformed("it is not written as a record is".into()));
        }
        Ok(record)
    }

    fn read_rules<'de, D: Deserializer<'de>>(kind: &str, from: D) -> Result<G::Rules, D::Error> {
        check_kind::<G>(kind).map_err(D::Error::custom)?;
        G::Rules::deserialize(from)
    }

    fn read_action<'de, D: Deserializer<'de>>(kind: &str, from: D) -> Result<G::Action, D::Error> {
        check_kind::<G>(kind).map_err(D::Error::custom)?;
        G::Action::deserialize(from)
    }
}

fn check_kind<G: GameKind>(kind: &str) -> Result<(), DocumentError> {
    if kind == G::NAME { Ok(()) } else { Err(DocumentError::UnknownGame(kind.into())) }
}

/// Reads the kind that a snapshot or a record names.
pub(crate) fn read_kind(text: &str) -> Result<String, DocumentError> {
    #[derive(Deserialize)]
    struct KindField {
        kind: String,
    }
    let KindField { kind } = serde_json::from_str(text)?;
    Ok(kind)
}

/// A game as a part of the catalogue `A`.
pub trait Lift<A: Game>: GameKind {
    fn lift(self) -> A;
    fn lift_rules(rules: Self::Rules) -> A::Rules;
    fn lift_action(action: Self::Action) -> A::Action;
    fn lift_event(event: Self::Event) -> A::Event;
    fn lift_view(view: Self::View) -> A::View;
    /// Returns the event if it belongs to this game.
    fn lower_event(event: &A::Event) -> Option<&Self::Event>;
}

impl<A> Line<A> {
    /// Converts the action of the line.
    pub fn map<B>(self, map: impl FnOnce(A) -> B) -> Line<B> {
        let Self { at, input, fresh } = self;
        Line { at, input: input.map(map), fresh }
    }
}

impl<A> Input<A> {
    /// Converts the action of the input.
    pub fn map<B>(self, map: impl FnOnce(A) -> B) -> Input<B> {
        match self {
            Self::Act { player, game, prompt, action } => {
                Input::Act { player, game, prompt, action: map(action) }
            }
            Self::AiAction { player, game, prompt, action } => {
                Input::AiAction { player, game, prompt, action: map(action) }
            }
            Self::Sit { player, name, avatar, bot } => Input::Sit { player, name, avatar, bot },
            Self::Leave { player } => Input::Leave { player },
            Self::Connect { player, connection } => Input::Connect { player, connection },
            Self::Disconnect { player, connection } => Input::Disconnect { player, connection },
            Self::Ready { player, game, commitment } => Input::Ready { player, game, commitment },
            Self::Reveal { player, game, text } => Input::Reveal { player, game, text },
            Self::TakeBack { player } => Input::TakeBack { player },
            Self::Tick => Input::Tick,
            Self::Opened { game, stakes, pot } => Input::Opened { game, stakes, pot },
            Self::OpenFailed { game, seats } => Input::OpenFailed { game, seats },
            Self::Settled { game } => Input::Settled { game },
            Self::PotRefunded { game, player, pot, shares } => {
                Input::PotRefunded { game, player, pot, shares }
            }
            Self::UpdateTerms { terms } => Input::UpdateTerms { terms },
            Self::Remove { player } => Input::Remove { player },
        }
    }
}

impl<E> Event<E> {
    /// Converts the game's event.
    pub fn map<F>(self, map: impl FnOnce(E) -> F) -> Event<F> {
        match self {
            Self::Game { event } => Event::Game { event: map(event) },
            Self::Sat { seat, player, name, avatar, bot } => {
                Event::Sat { seat, player, name, avatar, bot }
            }
            Self::Left { seat, player, reason } => Event::Left { seat, player, reason },
            Self::Moved { seat, to } => Event::Moved { seat, to },
            Self::Presence { seat, connected } => Event::Presence { seat, connected },
            Self::Takeover { seat, on } => Event::Takeover { seat, on },
            Self::Waiting => Event::Waiting,
            Self::Preparing { game, commitment, deadline_ms } => {
                Event::Preparing { game, commitment, deadline_ms }
            }
            Self::Ready { seat } => Event::Ready { seat },
            Self::Opening { game } => Event::Opening { game },
            Self::Revealing { game, commitments, pot, deadline_ms } => {
                Event::Revealing { game, commitments, pot, deadline_ms }
            }
            Self::Revealed { seat } => Event::Revealed { seat },
            Self::Opened { game, stakes, pot, starter } => {
                Event::Opened { game, stakes, pot, starter }
            }
            Self::Countdown { deadline_ms } => Event::Countdown { deadline_ms },
            Self::Over { game, settlement, server_seed } => {
                Event::Over { game, settlement, server_seed }
            }
            Self::Settled { game, pot, crown } => Event::Settled { game, pot, crown },
            Self::PotRefunded { pot, shares } => Event::PotRefunded { pot, shares },
            Self::TermsUpdated { price, hits, clocks } => {
                Event::TermsUpdated { price, hits, clocks }
            }
        }
    }
}

impl<R> Terms<R> {
    /// Converts the rules; fails if `map` fails.
    pub fn try_map<S, E>(self, map: impl FnOnce(R) -> Result<S, E>) -> Result<Terms<S>, E> {
        let Self { room, rules, price, hits, clocks, spectators, bots, private, practice } = self;
        Ok(Terms {
            room,
            rules: map(rules)?,
            price,
            hits,
            clocks,
            spectators,
            bots,
            private,
            practice,
        })
    }

    fn map<S>(self, map: impl FnOnce(R) -> S) -> Terms<S> {
        let Self { room, rules, price, hits, clocks, spectators, bots, private, practice } = self;
        Terms { room, rules: map(rules), price, hits, clocks, spectators, bots, private, practice }
    }
}

impl<A> RecordedAction<A> {
    fn map<B>(self, map: impl FnOnce(A) -> B) -> RecordedAction<B> {
        let Self { at, seat, by, action } = self;
        RecordedAction { at, seat, by, action: map(action) }
    }
}

impl<G: GameKind> Table<G> {
    /// Converts the table into one of the catalogue.
    pub fn lift<A: Game>(self) -> Table<A>
    where
        G: Lift<A>,
    {
        let Self {
            id,
            kind,
            engine,
            terms,
            revision,
            next,
            closed,
            seats,
            pot,
            crown,
            last_winner,
            pot_refunds,
            phase,
            at,
        } = self;
        Table {
            id,
            kind,
            engine,
            terms: Arc::new(Arc::unwrap_or_clone(terms).map(G::lift_rules)),
            revision,
            next,
            closed,
            seats,
            pot,
            crown,
            last_winner,
            pot_refunds,
            phase: match phase {
                Phase::Waiting => Phase::Waiting,
                Phase::Preparing(preparing) => Phase::Preparing(preparing),
                Phase::Opening(opening) => Phase::Opening(opening),
                Phase::Revealing(revealing) => Phase::Revealing(revealing),
                Phase::Playing(playing) => Phase::Playing(Box::new(playing.lift())),
                Phase::Settling(settling) => {
                    let Settling { record, since } = *settling;
                    Phase::Settling(Box::new(Settling { record: record.lift(), since }))
                }
            },
            at,
        }
    }
}

impl<G: GameKind> Playing<G> {
    fn lift<A: Game>(self) -> Playing<A>
    where
        G: Lift<A>,
    {
        Playing {
            game: self.game,
            server_seed: self.server_seed,
            clients: self.clients,
            opened_at: self.opened_at,
            stakes: self.stakes,
            starter: self.starter,
            state: self.state.lift(),
            stream: self.stream,
            chance: self.chance,
            actions: self.actions.iter().cloned().map(|taken| taken.map(G::lift_action)).collect(),
            prompt: self.prompt,
            asked_at: self.asked_at,
            deadline: self.deadline,
            missed: self.missed,
        }
    }
}

impl<G: GameKind> Record<G> {
    /// Converts the record into one of the catalogue.
    pub fn lift<A: Game>(self) -> Record<A>
    where
        G: Lift<A>,
    {
        Record {
            format: self.format,
            engine: self.engine,
            kind: self.kind,
            game: self.game,
            table: self.table,
            terms: self.terms.map(G::lift_rules),
            players: self.players,
            bots: self.bots,
            opened_at: self.opened_at,
            finished_at: self.finished_at,
            commitment: self.commitment,
            server_seed: self.server_seed,
            clients: self.clients,
            starter: self.starter,
            chance: self.chance,
            actions: self.actions.into_iter().map(|taken| taken.map(G::lift_action)).collect(),
            outcome: self.outcome,
            stakes: self.stakes,
            settlement: self.settlement,
            pot_before: self.pot_before,
            pot_after: self.pot_after,
            crown_before: self.crown_before,
            crown_after: self.crown_after,
        }
    }
}

impl<G: GameKind> TableView<G> {
    /// Converts the view into one of the catalogue.
    pub fn lift<A: Game>(self) -> TableView<A>
    where
        G: Lift<A>,
    {
        let Self { table, terms, kind, seat, seats, pot, crown, phase } = self;
        TableView {
            table,
            terms: terms.map(G::lift_rules),
            kind,
            seat,
            seats,
            pot,
            crown,
            phase: match phase {
                PhaseView::Waiting => PhaseView::Waiting,
                PhaseView::Preparing { game, commitment, deadline_ms, ready } => {
                    PhaseView::Preparing { game, commitment, deadline_ms, ready }
                }
                PhaseView::Opening { game } => PhaseView::Opening { game },
                PhaseView::Revealing { game, commitments, revealed, deadline_ms } => {
                    PhaseView::Revealing { game, commitments, revealed, deadline_ms }
                }
                PhaseView::Playing { game, stakes, deadline_ms, view } => {
                    PhaseView::Playing { game, stakes, deadline_ms, view: G::lift_view(view) }
                }
                PhaseView::Settling { game, settlement } => {
                    PhaseView::Settling { game, settlement }
                }
            },
        }
    }
}
