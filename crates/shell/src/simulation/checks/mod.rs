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
use crate::simulation::node::NodeRun;
use crate::simulation::wire::Message;
use bahay_engine::coins::Coins;
use bahay_engine::games::tongits::{Action, Tongits};
use bahay_engine::table::{
    ConnectionId, GameId, Input, Line, PlayerId, RecordedAction, Table, TableId, TableView,
    Timestamp,
};

pub(in crate::simulation) use order::{MessageTarget, ShownVersion};

/// The number of versions that the truth about a table keeps. Longer than any journal, so that no
/// client resumes from before it.
const VERSIONS: usize = 900;

/// The true states of a table, by version.
struct Truth {
    /// The version of the first state that is kept.
    first: u64,
    states: VecDeque<Rc<Table<Tongits>>>,
    /// The line that led to each state but the first.
    lines: VecDeque<Line<Action>>,
    /// The tag of each state's line.
    tags: VecDeque<Tag>,
    at: Timestamp,
}

impl Truth {
    fn last(&self) -> &Rc<Table<Tongits>> {
        self.states.back().expect("a truth begins with a state")
    }

    /// Returns the number of lines up to the one with this tag.
    fn line_index(&self, tag: Tag) -> Option<u64> {
        let ago = self.tags.iter().rev().position(|other| *other == tag)?;
        Some(self.first + (self.tags.len() - 1 - ago) as u64)
    }

    /// Returns the state after the line with this tag.
    fn state(&self, tag: Tag) -> Option<&Rc<Table<Tongits>>> {
        let ago = self.tags.iter().rev().position(|other| *other == tag)?;
        self.states.iter().rev().nth(ago)
    }

    /// Returns the line that led to a version.
    fn line(&self, version: u64) -> Option<&Line<Action>> {
        self.lines.get(usize::try_from(version.checked_sub(self.first + 1)?).ok()?)
    }
}

/// An acknowledged action.
struct AckedAction {
    by: NodeRun,
    version: u64,
    action: Action,
}

/// The players and actions in the record of a settled game.
struct SettledGame {
    players: Vec<PlayerId>,
    actions: Vec<RecordedAction<Action>>,
}

/// The state of the checks.
#[derive(Default)]
pub(in crate::simulation) struct Checks {
    /// A table that was lost and created again has one truth per life.
    tables: BTreeMap<TableId, Vec<Truth>>,
    acked: BTreeMap<(GameId, PlayerId, u32), AckedAction>,
    settled: BTreeMap<GameId, SettledGame>,
    seeds: seeds::Seeds,
    order: order::DeliveryOrder,
    /// The amount that each player has paid into a table's POT, less refunds, since it was last
    /// won.
    paid: BTreeMap<TableId, BTreeMap<PlayerId, Coins>>,
    /// The time at which each player last saw the end of a game.
    played_ms: BTreeMap<PlayerId, u64>,
}

/// A message that a node sends.
pub(in crate::simulation) struct SentMessage<'a> {
    pub(in crate::simulation) run: NodeRun,
    pub(in crate::simulation) connection: ConnectionId,
    pub(in crate::simulation) player: PlayerId,
    pub(in crate::simulation) table: TableId,
    /// For an ack: the acknowledged input and the version of its line.
    pub(in crate::simulation) taken: (&'a Input<Action>, u64),
    pub(in crate::simulation) message: &'a Message,
    pub(in crate::simulation) text: &'a str,
}

impl Checks {
    /// Checks a message that leaves a node.
    pub(in crate::simulation) fn check_message(
        &mut self,
        sent: &SentMessage<'_>,
    ) -> Result<(), String> {
        let (version, tag, time, may_repeat) = match sent.message {
            Message::Update { version, events, .. } if events.is_empty() => {
                let message = format!("{} gets an empty update v{version}", sent.player);
                return Err(message);
            }
            Message::Snapshot { version, tag, server_time_ms, .. } => {
                (*version, *tag, *server_time_ms, true)
            }
            Message::Update { version, tag, server_time_ms, .. } => {
                (*version, *tag, *server_time_ms, false)
            }
            Message::Ack { version: Some(_), .. } => return self.check_ack(sent),
            Message::Ack { version: None, .. }
            | Message::Closed { .. }
            | Message::Refusal { .. } => return Ok(()),
        };
        let truths = self.tables.get(&sent.table).map(Vec::as_slice).unwrap_or_default();
        let mut found =
            Err(format!("{} is shown {} {tag}, which never existed", sent.player, sent.table));
        for truth in truths.iter().rev() {
            let Some(state) = truth.state(tag) else {
                continue;
            };
            found = cards::check_visible_cards(state, sent.player, sent.text)
                .and_then(|()| seeds::check_unrevealed_text(state, sent.text));
            if found.is_ok() {
                break;
            }
        }
        found?;
        let shown = ShownVersion { table: sent.table, version, tag, time, may_repeat };
        self.check_order(MessageTarget::Connection(sent.connection), shown)
    }

    /// Checks that the input of an ack is in the journal.
    fn check_ack(&mut self, sent: &SentMessage<'_>) -> Result<(), String> {
        let SentMessage { run, player, table, taken: (input, version), .. } = sent;
        let version = *version;
        let truths = self.tables.get(table).map(Vec::as_slice).unwrap_or_default();
        let mut lines = truths.iter().filter_map(|truth| truth.line(version));
        if !lines.any(|line| line.input == **input) {
            return Err(format!(
                "{input:?} is acknowledged at v{version} of {table}, where the journal has no such line"
            ));
        }
        if let Input::Act { game, prompt, action, .. } = input {
            let acked = AckedAction { by: *run, version, action: *action };
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
    pub(in crate::simulation) fn check_view(
        &mut self,
        player: PlayerId,
        (version, tag): (u64, Tag),
        view: &TableView<Tongits>,
    ) -> Result<(), String> {
        let truths = self.tables.get(&view.table).map(Vec::as_slice).unwrap_or_default();
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

    /// Returns when a player last saw the end of a game.
    pub(in crate::simulation) fn played_ms(&self, player: PlayerId) -> Option<u64> {
        self.played_ms.get(&player).copied()
    }
}
