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
use core::convert::Infallible;
use core::fmt;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer};

use crate::game::{Game, GameKind};
use crate::table::input::{Input, Line};
use crate::table::phase::{Phase, Playing, Settling};
use crate::table::record::{Record, RecordedAction};
use crate::table::terms::Terms;
use crate::table::view::{PhaseView, TableView, ViewParts};
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
        let written = serde_json::to_value(&record)?;
        // A stored record has sorted keys and no whitespace, as a value is written, so the text is
        // rarely parsed a second time.
        if serde_json::to_string(&written)? != text
            && written != serde_json::from_str::<serde_json::Value>(text)?
        {
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

/// Rebuilds a struct or the variants of an enum with another type parameter, and the changed fields
/// from their old values.
macro_rules! rebuild {
    ($value:expr => $to:ident { $($kept:ident),+ $(; $changed:ident: $by:expr)+ }) => {{
        let Self { $($kept,)+ $($changed,)+ } = $value;
        $to { $($kept,)+ $($changed: $by,)+ }
    }};
    ($value:expr => $to:ident;
        $($kept:ident $({ $($field:ident),+ })?),+;
        $($changed:ident { $($same:ident,)* [$part:ident: $by:expr] }),+
    ) => {
        match $value {
            $(Self::$kept $({ $($field),+ })? => $to::$kept $({ $($field),+ })?,)+
            $(Self::$changed { $($same,)* $part } => $to::$changed { $($same,)* $part: $by },)+
        }
    };
}

impl<A> Line<A> {
    /// Converts the action of the line.
    pub fn map<B>(self, map: impl FnOnce(A) -> B) -> Line<B> {
        rebuild!(self => Line { at, fresh; input: input.map(map) })
    }
}

impl<A> Input<A> {
    /// Converts the action of the input.
    pub fn map<B>(self, map: impl FnOnce(A) -> B) -> Input<B> {
        rebuild!(self => Input;
            Sit { player, name, avatar, bot }, Leave { player }, Connect { player, connection },
            Disconnect { player, connection }, Ready { player, game, commitment },
            Reveal { player, game, text }, TakeBack { player }, Tick, Opened { game, stakes, pot },
            OpenFailed { game, seats }, Settled { game }, PotRefunded { game, player, pot, shares },
            UpdateTerms { terms }, Remove { player };
            Act { player, game, prompt, [action: map(action)] },
            AiAction { player, game, prompt, [action: map(action)] }
        )
    }
}

impl<E> Event<E> {
    /// Converts the game's event; fails if `map` fails.
    pub fn try_map<F, X>(self, map: impl FnOnce(E) -> Result<F, X>) -> Result<Event<F>, X> {
        Ok(rebuild!(self => Event;
            Sat { seat, player, name, avatar, bot }, Left { seat, player, reason },
            Moved { seat, to }, Presence { seat, connected }, Takeover { seat, on }, Waiting,
            Preparing { game, commitment, deadline_ms }, Ready { seat }, Opening { game },
            Revealing { game, commitments, pot, deadline_ms }, Revealed { seat },
            Opened { game, stakes, pot, starter }, Countdown { deadline_ms },
            Over { game, settlement, server_seed }, Settled { game, pot, crown },
            PotRefunded { pot, shares }, TermsUpdated { price, hits, clocks };
            Game { [event: map(event)?] }
        ))
    }

    /// Converts the game's event.
    pub fn map<F>(self, map: impl FnOnce(E) -> F) -> Event<F> {
        let Ok(event) = self.try_map(|event| Ok::<F, Infallible>(map(event)));
        event
    }
}

impl<R> Terms<R> {
    /// Converts the rules; fails if `map` fails.
    pub fn try_map<S, E>(self, map: impl FnOnce(R) -> Result<S, E>) -> Result<Terms<S>, E> {
        Ok(rebuild!(self => Terms {
            room, price, hits, clocks, spectators, bots, private, practice, tournament;
            rules: map(rules)?
        }))
    }

    fn map<S>(self, map: impl FnOnce(R) -> S) -> Terms<S> {
        let Ok(terms) = self.try_map(|rules| Ok::<S, Infallible>(map(rules)));
        terms
    }
}

impl<A> RecordedAction<A> {
    fn map<B>(self, map: impl FnOnce(A) -> B) -> RecordedAction<B> {
        rebuild!(self => RecordedAction { at, seat, by; action: map(action) })
    }
}

impl<G: GameKind> Table<G> {
    /// Converts the table into one of the catalogue.
    pub fn lift<A: Game>(self) -> Table<A>
    where
        G: Lift<A>,
    {
        rebuild!(self => Table {
            id, kind, engine, revision, next, closed, seats, pot, crown, last_winner, pot_refunds,
            tournament_games, shared_seeds, at;
            terms: Arc::new(Arc::unwrap_or_clone(terms).map(G::lift_rules));
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
            }
        })
    }
}

impl<G: GameKind> Playing<G> {
    fn lift<A: Game>(self) -> Playing<A>
    where
        G: Lift<A>,
    {
        rebuild!(self => Playing {
            game, server_seed, clients, opened_at, stakes, starter, stream, chance, prompt, asked_at,
            deadline, missed;
            state: state.lift();
            actions: actions.iter().cloned().map(|taken| taken.map(G::lift_action)).collect()
        })
    }
}

impl<G: GameKind> Record<G> {
    /// Converts the record into one of the catalogue.
    pub fn lift<A: Game>(self) -> Record<A>
    where
        G: Lift<A>,
    {
        rebuild!(self => Record {
            format, engine, kind, game, table, players, bots, opened_at, finished_at, commitment,
            server_seed, clients, starter, chance, outcome, stakes, settlement, pot_before,
            pot_after, crown_before, crown_after;
            terms: terms.map(G::lift_rules);
            actions: actions.into_iter().map(|taken| taken.map(G::lift_action)).collect()
        })
    }
}

impl<P: ViewParts> TableView<P> {
    /// Converts the parts that belong to the game; fails if `map_rules` or `map_view` fails.
    pub fn try_map<G: Game, E>(
        self,
        map_rules: impl FnOnce(P::Rules) -> Result<G::Rules, E>,
        map_view: impl FnOnce(P::View) -> Result<G::View, E>,
    ) -> Result<TableView<G>, E> {
        Ok(rebuild!(self => TableView {
            table, kind, seat, seats, pot, crown;
            terms: terms.try_map(map_rules)?;
            phase: phase.try_map(map_view)?
        }))
    }
}

impl<P: ViewParts> PhaseView<P> {
    fn try_map<G: Game, E>(
        self,
        map_view: impl FnOnce(P::View) -> Result<G::View, E>,
    ) -> Result<PhaseView<G>, E> {
        Ok(rebuild!(self => PhaseView;
            Waiting, Preparing { game, commitment, deadline_ms, ready }, Opening { game },
            Revealing { game, commitments, revealed, deadline_ms }, Settling { game, settlement };
            Playing { game, stakes, deadline_ms, [view: map_view(view)?] }
        ))
    }
}
