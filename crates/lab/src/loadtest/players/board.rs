//! Delivery latency of moves. The players of one table, all in this process, report their updates
//! to the table's board, and the board determines when the last of them has received a line. Lines
//! are identified by their tags, because each client counts versions of its own. A line that is
//! hidden from a seat, such as an answer to a fight, does not reach every seat and is not measured.
//!
//! Only joined seats of this process count: if several processes play together, their players may
//! share tables. If a seat disconnects, the pending lines of its table are discarded.
//!
//! A board also counts its players by node.
//!
//! Bounds: a board holds [`LINES_MAX`] lines; an older one is discarded unmeasured.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bahay_base::clock::Moment;
use bahay_engine::table::TableId;
use bahay_protocol::Tag;

use crate::loadtest::nodes::Nodes;

/// The most incomplete lines of a board.
const LINES_MAX: usize = 8;

/// The boards of all tables.
#[derive(Debug, Default)]
pub(in crate::loadtest) struct Boards(Mutex<HashMap<TableId, Arc<Board>>>);

/// The pending deliveries of one table.
#[derive(Debug, Default)]
pub(in crate::loadtest) struct Board(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    seats: u8,
    /// The number of players at each node, up to the last node with any.
    at_nodes: Vec<u32>,
    lines: VecDeque<LineDelivery>,
}

#[derive(Debug)]
struct LineDelivery {
    tag: Tag,
    /// The time at which the player meant to act, known from the ack of the action that produced
    /// this line.
    meant: Option<Moment>,
    heard: u8,
    last: Moment,
}

/// A joined player's registration with its table's board, through which the player reports updates.
/// Dropping it removes the seat.
#[derive(Debug)]
pub(in crate::loadtest) struct SeatReporter {
    board: Arc<Board>,
    /// The last updates, by this client's versions.
    heard: VecDeque<(u64, Tag)>,
}

/// A player's membership of a table, given up on drop.
#[derive(Debug)]
pub(in crate::loadtest) struct BoardSeat {
    pub(in crate::loadtest) board: Arc<Board>,
    /// The node to which the player connects.
    pub(in crate::loadtest) node: usize,
}

impl Drop for BoardSeat {
    fn drop(&mut self) {
        let mut state = self.board.state();
        if let Some(players) = state.at_nodes.get_mut(self.node) {
            *players -= 1;
        }
    }
}

impl Boards {
    /// Assigns a node to one more player of a table.
    pub(in crate::loadtest) fn take_seat(&self, table: TableId, nodes: &Nodes) -> BoardSeat {
        let mut boards = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let board = boards.entry(table).or_default().clone();
        let mut state = board.state();
        let node = nodes.node_for_seat(table, &state.at_nodes);
        if state.at_nodes.len() <= node {
            state.at_nodes.resize(node + 1, 0);
        }
        state.at_nodes[node] += 1;
        drop(state);
        BoardSeat { board, node }
    }

    /// Returns the number of tables with players, and forgets the others.
    pub(in crate::loadtest) fn len(&self) -> usize {
        let mut boards = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        boards.retain(|_, board| board.state().seats > 0 || Arc::strong_count(board) > 1);
        boards.len()
    }
}

impl SeatReporter {
    pub(in crate::loadtest) fn join(board: Arc<Board>) -> Self {
        board.join();
        Self { board, heard: VecDeque::with_capacity(LINES_MAX) }
    }

    /// Records an update. Returns the time that its line took to reach every seat, if that is now
    /// complete.
    pub(in crate::loadtest) fn record_update(
        &mut self,
        version: u64,
        tag: Tag,
        now: Moment,
    ) -> Option<Duration> {
        if self.heard.len() == LINES_MAX {
            self.heard.pop_front();
        }
        self.heard.push_back((version, tag));
        self.board.record_update(tag, now)
    }

    /// Records an ack, which names the version produced by the player's action. The update comes
    /// before its ack or carries it. Returns the time that the line took to reach every seat, if
    /// that is now complete.
    pub(in crate::loadtest) fn record_ack(&self, version: u64, meant: Moment) -> Option<Duration> {
        let (_, tag) = self.heard.iter().find(|(heard, _)| *heard == version)?;
        self.board.record_ack(*tag, meant)
    }
}

impl Drop for SeatReporter {
    fn drop(&mut self) {
        self.board.leave();
    }
}

impl Board {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn join(&self) {
        let mut state = self.state();
        state.seats += 1;
        state.lines.clear();
    }

    fn leave(&self) {
        let mut state = self.state();
        state.seats = state.seats.saturating_sub(1);
        state.lines.clear();
    }

    /// Counts a seat that has received a line.
    fn record_update(&self, tag: Tag, now: Moment) -> Option<Duration> {
        self.update_line(tag, |line| {
            line.heard += 1;
            line.last = line.last.max(now);
        })
    }

    /// Records the time at which the player meant to make the move that produced a line.
    fn record_ack(&self, tag: Tag, meant: Moment) -> Option<Duration> {
        self.update_line(tag, |line| line.meant = Some(meant))
    }

    /// Updates a line. Returns the time that it took to reach every seat, and removes it, if it is
    /// complete.
    fn update_line(&self, tag: Tag, update: impl FnOnce(&mut LineDelivery)) -> Option<Duration> {
        let mut state = self.state();
        let index = state.lines.iter().position(|line| line.tag == tag);
        let index = index.unwrap_or_else(|| {
            if state.lines.len() == LINES_MAX {
                state.lines.pop_front();
            }
            let last = Moment::now();
            state.lines.push_back(LineDelivery { tag, meant: None, heard: 0, last });
            state.lines.len() - 1
        });
        let seats = state.seats;
        let line = &mut state.lines[index];
        update(line);
        let meant = line.meant.filter(|_| line.heard >= seats)?;
        let taken = line.last.since(meant);
        state.lines.remove(index);
        Some(taken)
    }
}

#[cfg(test)]
mod tests {
    use super::Board;
    use bahay_base::clock::Moment;
    use bahay_engine::hex::Hex;
    use bahay_protocol::Tag;
    use std::time::Duration;

    #[test]
    fn a_move_is_complete_after_the_last_update_and_the_ack() {
        let board = Board::default();
        (0..3).for_each(|_| board.join());
        let meant = Moment::now();
        // Hours apart, so that the duration of this test is negligible.
        let [first, second, third] =
            [1, 2, 3].map(|hours| meant.saturating_add(Duration::from_secs(hours * 3_600)));
        let [all, two, some] = [7, 8, 9].map(|byte| Tag(Hex([byte; 6])));
        assert_eq!(board.record_update(all, first), None);
        assert_eq!(board.record_update(two, first), None);
        assert_eq!(board.record_ack(all, meant), None);
        // This line reaches one seat only; lines after it are still completed.
        assert_eq!(board.record_update(some, second), None);
        assert_eq!(board.record_ack(some, meant), None);
        assert_eq!(board.record_update(all, third), None);
        assert_eq!(board.record_update(all, second), Some(Duration::from_secs(3 * 3_600)));
        board.leave();
        assert_eq!(board.record_ack(two, meant), None, "a seat that leaves discards pending lines");
    }
}
