//! The invariants that must hold under every fault. The truth is kept outside the house: every line
//! that Redis has accepted is applied to a separate table here, and every message, view and ledger
//! operation is compared with it.

mod absence;
mod cards;
mod coins;
mod end;
mod journal;
mod order;
mod seeds;

use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;

use crate::Tag;
use crate::redact_events;
use crate::simulation::wire::Message;
use crate::simulation::{NodeRun, SimulatedGame};
use bahay_engine::coins::Coins;
use bahay_engine::game::Game;
use bahay_engine::table::{
    ConnectionId, Event, GameId, Input, Line, PlayerId, RecordedAction, Table, TableId, TableView,
    Timestamp,
};
use bahay_engine::variants;

pub(crate) use order::{MessageTarget, ShownVersion};

/// The number of versions that the truth about a table keeps. Longer than any journal, so that no
/// client resumes from before it.
const VERSIONS: usize = 900;

/// The true states of a table, by version.
struct Truth<G: SimulatedGame> {
    /// The version of the first state that is kept.
    first: u64,
    states: VecDeque<TrueState<G>>,
    at: Timestamp,
}

/// A table after one line of its journal.
struct TrueState<G: SimulatedGame> {
    table: Rc<Table<G>>,
    tag: Tag,
    /// The line that led to this state, with its events; `None` for a new table.
    line: Option<LineWithEvents<G>>,
}

type LineWithEvents<G> = (Line<<G as Game>::Action>, Vec<Event<<G as Game>::Event>>);

impl<G: SimulatedGame> Truth<G> {
    fn last(&self) -> &Rc<Table<G>> {
        &self.states.back().expect("a truth begins with a state").table
    }

    fn position(&self, tag: Tag) -> Option<usize> {
        self.states.iter().rposition(|state| state.tag == tag)
    }

    /// Returns the number of lines up to the one with this tag.
    fn line_index(&self, tag: Tag) -> Option<u64> {
        Some(self.first + self.position(tag)? as u64)
    }

    /// Returns the state after the line with this tag.
    fn state(&self, tag: Tag) -> Option<&Rc<Table<G>>> {
        Some(&self.states[self.position(tag)?].table)
    }

    /// Checks that an update shows the events of its line as they are redacted for the player in
    /// the seat after that line, or in a later one from which the player resumes.
    fn check_events(&self, tag: Tag, sent: &SentMessage<'_, G>) -> Result<(), String> {
        let Message::Update { events, .. } = sent.message else {
            return Ok(());
        };
        let Some(position) = self.position(tag) else {
            return Ok(());
        };
        let Some((_, line_events)) = &self.states[position].line else {
            return Ok(());
        };
        let is_shown = |state: &TrueState<G>| {
            redact_events::<G>(line_events, state.table.viewer(sent.player)) == *events
        };
        if self.states.range(position..).rev().any(is_shown) {
            return Ok(());
        }
        Err(format!("{} is shown other events than its own: {}", sent.player, sent.text))
    }

    /// Returns the line that led to a version.
    fn line(&self, version: u64) -> Option<&Line<G::Action>> {
        let position = usize::try_from(version.checked_sub(self.first)?).ok()?;
        self.states.get(position)?.line.as_ref().map(|(line, _)| line)
    }
}

/// An acknowledged action.
struct AckedAction<A> {
    by: NodeRun,
    version: u64,
    action: A,
}

/// The players and actions in the record of a settled game.
struct SettledGame<A> {
    players: Vec<PlayerId>,
    actions: Vec<RecordedAction<A>>,
}

impl<G: SimulatedGame> Default for Checks<G> {
    fn default() -> Self {
        Self {
            tables: BTreeMap::new(),
            acked: BTreeMap::new(),
            settled: BTreeMap::new(),
            seeds: seeds::Seeds::default(),
            order: order::DeliveryOrder::default(),
            paid: BTreeMap::new(),
            played_ms: BTreeMap::new(),
        }
    }
}

/// The state of the checks.
pub(crate) struct Checks<G: SimulatedGame> {
    /// A table that was lost and created again has one truth per life.
    tables: BTreeMap<TableId, Vec<Truth<G>>>,
    acked: BTreeMap<(GameId, PlayerId, u32), AckedAction<G::Action>>,
    settled: BTreeMap<GameId, SettledGame<G::Action>>,
    seeds: seeds::Seeds,
    order: order::DeliveryOrder,
    /// The amount that each player has paid into a table's POT, less refunds, since it was last
    /// won.
    paid: BTreeMap<TableId, BTreeMap<PlayerId, Coins>>,
    /// The time at which each player last saw the end of a game.
    played_ms: BTreeMap<PlayerId, u64>,
}

/// A message that a node sends.
pub(crate) struct SentMessage<'a, G: SimulatedGame> {
    pub(crate) run: NodeRun,
    pub(crate) connection: ConnectionId,
    pub(crate) player: PlayerId,
    pub(crate) table: TableId,
    /// The input that an ack is about, and the version of its line; `None` if it needs no line.
    pub(crate) taken: Option<(&'a Input<G::Action>, u64)>,
    pub(crate) message: &'a Message<G>,
    pub(crate) text: &'a str,
}

impl<G: SimulatedGame> Checks<G> {
    /// Returns the truths of a table's lives, the oldest first.
    fn truths(&self, table: TableId) -> &[Truth<G>] {
        self.tables.get(&table).map(Vec::as_slice).unwrap_or_default()
    }

    /// Checks a message that leaves a node.
    pub(crate) fn check_message(&mut self, sent: &SentMessage<'_, G>) -> Result<(), String> {
        let (version, tag, time, may_repeat) = match sent.message {
            Message::Update { version, events, .. } if events.is_empty() => {
                let message = format!("{} gets an empty update v{version}", sent.player);
                return Err(message);
            }
            Message::Snapshot { version, tag, server_time_ms, .. } => {
                (*version, *tag, *server_time_ms, true)
            }
            Message::Update { version, tag, server_time_ms, ack, .. } => {
                if ack.is_some() {
                    self.check_ack(sent)?;
                }
                (*version, *tag, *server_time_ms, false)
            }
            Message::Ack { version: Some(_), .. } => return self.check_ack(sent),
            Message::Ack { version: None, .. }
            | Message::Closed { .. }
            | Message::Refusal { .. } => return Ok(()),
        };
        let mut found =
            Err(format!("{} is shown {} {tag}, which never existed", sent.player, sent.table));
        for truth in self.truths(sent.table).iter().rev() {
            let Some(state) = truth.state(tag) else {
                continue;
            };
            found = truth
                .check_events(tag, sent)
                .and_then(|()| cards::check_visible_cards(state, sent.player, sent.text))
                .and_then(|()| seeds::check_unrevealed_text(state, sent.text));
            if found.is_ok() {
                break;
            }
        }
        found?;
        let shown = ShownVersion { table: sent.table, version, tag, time, may_repeat };
        self.check_order(MessageTarget::Connection(sent.connection), shown)
    }

    /// Checks that the input of an ack is in the journal, and that an update with the ack shows its
    /// line.
    fn check_ack(&mut self, sent: &SentMessage<'_, G>) -> Result<(), String> {
        let SentMessage { run, player, table, taken, message, text, .. } = sent;
        let Some((input, version)) = *taken else {
            return match message {
                Message::Update { .. } => {
                    Err(format!("{player} gets an ack of no input in an update: {text}"))
                }
                variants!(Message: Snapshot, Closed, Ack, Refusal) => Ok(()),
            };
        };
        let is_shown = |truth: &&Truth<G>| match message {
            Message::Update { tag, .. } => truth.line_index(*tag) == Some(version),
            variants!(Message: Snapshot, Closed, Ack, Refusal) => true,
        };
        let truths = self.truths(*table).iter().filter(is_shown);
        let mut lines = truths.filter_map(|truth| truth.line(version));
        if !lines.any(|line| line.input == *input) {
            return Err(format!(
                "{input:?} is acknowledged at v{version} of {table}, where the journal has no such line"
            ));
        }
        if let Input::Act { game, prompt, action, .. } = input {
            let acked = AckedAction { by: *run, version, action: action.clone() };
            let before = self.acked.insert((*game, *player, *prompt), acked);
            if let Some(before) = before {
                return Err(format!(
                    "prompt {prompt} of {game} is acknowledged to {player} by {:?} and {run:?}",
                    before.by
                ));
            }
        }
        Ok(())
    }

    /// Checks that a client's view is the true one at a line.
    pub(crate) fn check_view(
        &mut self,
        player: PlayerId,
        (version, tag): (u64, Tag),
        view: &TableView<G>,
    ) -> Result<(), String> {
        let truths = self.truths(view.table);
        let mut states = truths.iter().rev().filter_map(|truth| truth.state(tag));
        let Some(last) = states.clone().next() else {
            let is_old = truths.iter().any(|truth| version < truth.first);
            let message =
                || format!("{player} sees {} v{version}, which never existed", view.table);
            return if is_old { Ok(()) } else { Err(message()) };
        };
        if states.any(|state| state.view(Some(player)) == *view) {
            return Ok(());
        }
        Err(format!(
            "{player} sees {} v{version} as {view:?}, but the true view is {:?}",
            view.table,
            last.view(Some(player))
        ))
    }
}
