//! No connection and no client is shown a version twice or a lower one, as long as the journal is
//! unbroken: the order of a table's lines is the order in which everybody is shown them. Nor is it shown
//! an earlier time of a table than before, whichever nodes it comes by.

use std::collections::BTreeMap;

use crate::Tag;
use crate::simulation::checks::{Checks, Truth};
use bahay_engine::table::{ConnectionId, PlayerId, TableId, Timestamp};

/// A viewer of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::simulation) enum MessageTarget {
    /// The messages that a node sends by a connection.
    Connection(ConnectionId),
    /// The messages that a client takes in, by whichever of its connections.
    Client(PlayerId),
}

/// A message that shows a table at a line of its journal.
#[derive(Clone, Copy, Debug)]
pub(in crate::simulation) struct ShownVersion {
    pub(in crate::simulation) table: TableId,
    pub(in crate::simulation) version: u64,
    pub(in crate::simulation) tag: Tag,
    /// The table's time, as the message says.
    pub(in crate::simulation) time: Timestamp,
    /// It may repeat the version that was shown last: the client has asked for the whole table.
    pub(in crate::simulation) may_repeat: bool,
}

/// The last line that each viewer was shown.
#[derive(Default)]
pub(super) struct DeliveryOrder {
    last: BTreeMap<MessageTarget, LastDelivery>,
}

#[derive(Clone, Copy)]
struct LastDelivery {
    table: TableId,
    /// Which of the table's histories.
    history: usize,
    /// The line's place in it.
    line: u64,
    version: u64,
    time: Timestamp,
}

impl Checks {
    /// A viewer is shown a table.
    pub(in crate::simulation) fn check_order(
        &mut self,
        target: MessageTarget,
        version_shown: ShownVersion,
    ) -> Result<(), String> {
        let ShownVersion { table, version, tag, time, may_repeat } = version_shown;
        let truths = self.tables.get(&table).map(Vec::as_slice).unwrap_or_default();
        let locate = |(history, truth): (usize, &Truth)| Some((history, truth.line_index(tag)?));
        let Some((history, line)) = truths.iter().enumerate().rev().find_map(locate) else {
            // Older than what is kept of the truth; other checks say whether it ever was.
            return Ok(());
        };
        let shown = LastDelivery { table, history, line, version, time };
        let Some(last) = self.order.last.insert(target, shown) else {
            return Ok(());
        };
        if last.table == table && time < last.time {
            let ms = last.time.ms() - time.ms();
            return Err(format!(
                "{target:?} is shown that the time of {table} went back by {ms} ms"
            ));
        }
        if (last.table, last.history) != (table, history) {
            return Ok(());
        }
        let goes_on = last.line < line && last.version < version;
        // The whole table is numbered as the journal is, without leaving out what was hidden.
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
