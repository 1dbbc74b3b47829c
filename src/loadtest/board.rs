//! When a move has reached every seat: the players of one table, who all live in this process, tell
//! its board what they hear, and the board knows when the last of them has heard of a version.
//!
//! Only seats that are joined count, and only those of this process: where several play together,
//! tables may be mixed. When a seat drops, what was under way at its table counts for nothing.
//!
//! A board also knows at which node each of its players is.
//!
//! Bounds: a board keeps [`VERSIONS_MAX`] versions; one that is older will not be complete.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bahay_engine::table::TableId;

use super::nodes::Nodes;
use crate::clock::Moment;

/// Versions of which something is still to be heard.
const VERSIONS_MAX: usize = 8;

/// The boards of all tables.
#[derive(Debug, Default)]
pub(super) struct Boards(Mutex<HashMap<TableId, Arc<Board>>>);

/// What is heard at one table.
#[derive(Debug, Default)]
pub(super) struct Board(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    seats: u8,
    /// Players at each node, as far as there are any.
    at_nodes: Vec<u32>,
    versions: VecDeque<Version>,
}

#[derive(Debug)]
struct Version {
    number: u64,
    /// When a player meant to act, once the ack has said that this came of it.
    meant: Option<Moment>,
    heard: u8,
    last: Moment,
}

/// A player's place at a table: given up with this.
#[derive(Debug)]
pub(super) struct Place {
    pub(super) board: Arc<Board>,
    /// Where the player connects.
    pub(super) node: usize,
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut state = self.board.state();
        if let Some(players) = state.at_nodes.get_mut(self.node) {
            *players -= 1;
        }
    }
}

impl Boards {
    /// A place for one more player of a table.
    pub(super) fn place(&self, table: TableId, nodes: &Nodes) -> Place {
        let mut boards = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let board = boards.entry(table).or_default().clone();
        let mut state = board.state();
        let node = nodes.of_seat(table, &state.at_nodes);
        if state.at_nodes.len() <= node {
            state.at_nodes.resize(node + 1, 0);
        }
        state.at_nodes[node] += 1;
        drop(state);
        Place { board, node }
    }

    /// Tables with somebody at them.
    pub(super) fn len(&self) -> usize {
        let mut boards = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        boards.retain(|_, board| board.state().seats > 0 || Arc::strong_count(board) > 1);
        boards.len()
    }
}

impl Board {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn join(&self) {
        let mut state = self.state();
        state.seats += 1;
        state.versions.clear();
    }

    pub(super) fn drop_out(&self) {
        let mut state = self.state();
        state.seats = state.seats.saturating_sub(1);
        state.versions.clear();
    }

    /// A seat has heard of a version.
    pub(super) fn heard(&self, number: u64, now: Moment) -> Option<Duration> {
        self.note(number, |version| {
            version.heard += 1;
            version.last = version.last.max(now);
        })
    }

    /// A version came of what somebody meant to do at this moment.
    pub(super) fn acted(&self, number: u64, meant: Moment) -> Option<Duration> {
        self.note(number, |version| version.meant = Some(meant))
    }

    /// How long it took to reach every seat, when that is complete.
    fn note(&self, number: u64, note: impl FnOnce(&mut Version)) -> Option<Duration> {
        let mut state = self.state();
        let place = state.versions.iter().position(|version| version.number == number);
        let place = place.unwrap_or_else(|| {
            if state.versions.len() == VERSIONS_MAX {
                state.versions.pop_front();
            }
            let last = Moment::now();
            state.versions.push_back(Version { number, meant: None, heard: 0, last });
            state.versions.len() - 1
        });
        let seats = state.seats;
        let version = &mut state.versions[place];
        note(version);
        let meant = version.meant.filter(|_| version.heard >= seats)?;
        let taken = version.last.since(meant);
        state.versions.remove(place);
        Some(taken)
    }
}

#[cfg(test)]
mod tests {
    use super::Board;
    use crate::clock::Moment;
    use std::time::Duration;

    #[test]
    fn a_move_is_complete_when_the_last_seat_has_heard_and_the_ack_is_there() {
        let board = Board::default();
        (0..3).for_each(|_| board.join());
        let meant = Moment::now();
        // Far enough away that the time of this test itself is of no account.
        let [first, second, third] =
            [1, 2, 3].map(|hours| meant.after(Duration::from_secs(hours * 3_600)));
        assert_eq!(board.heard(7, first), None);
        assert_eq!(board.heard(8, first), None);
        assert_eq!(board.acted(7, meant), None);
        assert_eq!(board.heard(7, third), None);
        assert_eq!(board.heard(7, second), Some(Duration::from_secs(3 * 3_600)));
        board.drop_out();
        assert_eq!(board.acted(8, meant), None, "what was under way counts for nothing");
    }
}
