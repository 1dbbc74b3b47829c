//! Checks of the order of delivery. No connection and no client is shown a version twice or a lower
//! one while the history is unbroken, so everybody sees the lines in the journal's order. The time
//! of a table never goes back, whichever nodes the viewer uses.

use std::collections::BTreeMap;

use crate::Tag;
use crate::simulation::SimulatedGame;
use crate::simulation::checks::{Checks, Truth};
use bahay_engine::table::{ConnectionId, PlayerId, TableId, Timestamp};

/// A recipient of a table's messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum MessageTarget {
    /// The messages that a node sends by a connection.
    Connection(ConnectionId),
    /// The messages that a client receives by any of its connections.
    Client(PlayerId),
}

/// A message that shows a table at a line of its journal.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ShownVersion {
    pub(crate) table: TableId,
    pub(crate) version: u64,
    pub(crate) tag: Tag,
    /// The table's time in the message.
    pub(crate) time: Timestamp,
    /// The message may repeat the last version, because the client asked for a snapshot.
    pub(crate) may_repeat: bool,
}

/// The last line that each recipient was shown.
#[derive(Default)]
pub(super) struct DeliveryOrder {
    last: BTreeMap<MessageTarget, LastDelivery>,
}

#[derive(Clone, Copy)]
struct LastDelivery {
    table: TableId,
    /// The index of the table's history.
    history: usize,
    /// The index of the line in that history.
    line: u64,
    version: u64,
    time: Timestamp,
}

impl<G: SimulatedGame> Checks<G> {
    /// Checks a message that shows a table to a recipient.
    pub(crate) fn check_order(
        &mut self,
        target: MessageTarget,
        version_shown: ShownVersion,
    ) -> Result<(), String> {
        let ShownVersion { table, version, tag, time, may_repeat } = version_shown;
        let locate = |(history, truth): (usize, &Truth<G>)| Some((history, truth.line_index(tag)?));
        let truths = self.truths(table).iter().enumerate();
        let Some((history, line)) = truths.rev().find_map(locate) else {
            // The line is older than the truth that is kept; other checks decide whether it
            // existed.
            return Ok(());
        };
        let shown = LastDelivery { table, history, line, version, time };
        let Some(last) = self.order.last.insert(target, shown) else {
            return Ok(());
        };
        if last.table == table && time < last.time {
            let ms = last.time.ms() - time.ms();
            return Err(format!("{target:?} sees the time of {table} go back by {ms} ms"));
        }
        if (last.table, last.history) != (table, history) {
            return Ok(());
        }
        let goes_on = last.line < line && last.version < version;
        // A snapshot has the journal's version, which counts hidden lines too.
        let repeats = last.line == line && last.version <= version;
        if goes_on || (repeats && may_repeat) {
            return Ok(());
        }
        Err(format!(
            "{target:?} is shown line {line} of {table} as v{version} after line {} as v{}",
            last.line, last.version
        ))
    }
}
