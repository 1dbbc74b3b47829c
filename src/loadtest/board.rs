//! When a move has reached every seat: the players of one table, who all live in this process, tell
//! its board what they hear, and the board knows when the last of them has heard of a line. Lines are
//! told apart by their tags, because each client counts versions of its own. A line that somebody is not
//! shown, as an answer to a fight, reaches not everybody, and counts for nothing.
//!
//! Only seats that are joined count, and only those of this process: where several play together,
//! tables may be mixed. When a seat drops, what was under way at its table counts for nothing.
//!
//! A board also knows at which node each of its players is.
//!
//! Bounds: a board keeps [`LINES_MAX`] lines; one that is older will not be complete.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bahay_engine::table::TableId;

use super::nodes::Nodes;
use crate::clock::Moment;
use crate::ws::protocol::Tag;

/// Lines of which something is still to be heard.
const LINES_MAX: usize = 8;

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
    lines: VecDeque<Line>,
}

#[derive(Debug)]
struct Line {
    tag: Tag,
    /// When a player meant to act, once the ack has said that this came of it.
    meant: Option<Moment>,
    heard: u8,
    last: Moment,
}

/// How a player who has joined tells its table's board what it hears: until this is dropped.
#[derive(Debug)]
pub(super) struct Teller {
    board: Arc<Board>,
    /// The last updates, by this client's versions.
    heard: VecDeque<(u64, Tag)>,
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

impl Teller {
    pub(super) fn join(board: Arc<Board>) -> Self {
        board.join();
        Self { board, heard: VecDeque::with_capacity(LINES_MAX) }
    }

    /// An update has come. How long its line took to reach every seat, when that is complete.
    pub(super) fn heard(&mut self, version: u64, tag: Tag, now: Moment) -> Option<Duration> {
        if self.heard.len() == LINES_MAX {
            self.heard.pop_front();
        }
        self.heard.push_back((version, tag));
        self.board.heard(tag, now)
    }

    /// An ack has said which version came of what the player meant to do. What an ack speaks of was shown
    /// before it.
    pub(super) fn acted(&self, version: u64, meant: Moment) -> Option<Duration> {
        let (_, tag) = self.heard.iter().find(|(heard, _)| *heard == version)?;
        self.board.acted(*tag, meant)
    }
}

impl Drop for Teller {
    fn drop(&mut self) {
        self.board.drop_out();
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

    fn drop_out(&self) {
        let mut state = self.state();
        state.seats = state.seats.saturating_sub(1);
        state.lines.clear();
    }

    /// A seat has heard of a line.
    fn heard(&self, tag: Tag, now: Moment) -> Option<Duration> {
        self.note(tag, |line| {
            line.heard += 1;
            line.last = line.last.max(now);
        })
    }

    /// A line came of what somebody meant to do at this moment.
    fn acted(&self, tag: Tag, meant: Moment) -> Option<Duration> {
        self.note(tag, |line| line.meant = Some(meant))
    }

    /// How long it took to reach every seat, when that is complete.
    fn note(&self, tag: Tag, note: impl FnOnce(&mut Line)) -> Option<Duration> {
        let mut state = self.state();
        let place = state.lines.iter().position(|line| line.tag == tag);
        let place = place.unwrap_or_else(|| {
            if state.lines.len() == LINES_MAX {
                state.lines.pop_front();
            }
            let last = Moment::now();
            state.lines.push_back(Line { tag, meant: None, heard: 0, last });
            state.lines.len() - 1
        });
        let seats = state.seats;
        let line = &mut state.lines[place];
        note(line);
        let meant = line.meant.filter(|_| line.heard >= seats)?;
        let taken = line.last.since(meant);
        state.lines.remove(place);
        Some(taken)
    }
}

#[cfg(test)]
mod tests {
    use super::Board;
    use crate::clock::Moment;
    use crate::ws::protocol::Tag;
    use bahay_engine::hex::Hex;
    use std::time::Duration;

    #[test]
    fn a_move_is_complete_when_the_last_seat_has_heard_and_the_ack_is_there() {
        let board = Board::default();
        (0..3).for_each(|_| board.join());
        let meant = Moment::now();
        // Far enough away that the time of this test itself is of no account.
        let [first, second, third] =
            [1, 2, 3].map(|hours| meant.saturating_add(Duration::from_secs(hours * 3_600)));
        let [all, two, some] = [7, 8, 9].map(|byte| Tag(Hex([byte; 6])));
        assert_eq!(board.heard(all, first), None);
        assert_eq!(board.heard(two, first), None);
        assert_eq!(board.acted(all, meant), None);
        // Nobody else is shown this line; what comes after it is complete all the same.
        assert_eq!(board.heard(some, second), None);
        assert_eq!(board.acted(some, meant), None);
        assert_eq!(board.heard(all, third), None);
        assert_eq!(board.heard(all, second), Some(Duration::from_secs(3 * 3_600)));
        board.drop_out();
        assert_eq!(board.acted(two, meant), None, "what was under way counts for nothing");
    }
}
