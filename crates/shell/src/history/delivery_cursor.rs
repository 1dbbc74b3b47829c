//! A client's position in a table's history.
//!
//! A line that shows a viewer nothing is not delivered to it and does not advance its version, so
//! the traffic does not reveal hidden moves.
//!
//! A client therefore counts versions of its own. They begin with the version of the last line that
//! showed the client something, and grow by one with each update. A client that resumes names the
//! tag of the last line that it received, which identifies that line in the journal.

use bahay_engine::game::Viewer;
use bahay_engine::seat::Seat;
use bahay_engine::table::{Event, Readable, Table};

use crate::guard::catch_panic;
use crate::history::journal::Point;

/// A client's position in a table's history.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DeliveryCursor {
    /// The last line of the journal that was delivered or skipped.
    at: Point,
    /// The number of hidden lines: the journal's version minus the client's.
    hidden_lines: u64,
}

impl DeliveryCursor {
    /// Returns the position after a snapshot of the table at `at`. `last_visible` is the last line
    /// that showed the viewer something.
    pub fn from_snapshot(at: Point, last_visible: Point) -> Self {
        Self { at, hidden_lines: at.version.saturating_sub(last_visible.version) }
    }

    /// Returns the position of a client that resumes. `from` is the client's point, in its own
    /// versions; `at` is the same line in the journal's versions. Returns `None` if the client
    /// claims a higher version than the journal has.
    pub fn resume(from: Point, at: Point) -> Option<Self> {
        Some(Self { at, hidden_lines: at.version.checked_sub(from.version)? })
    }

    /// Returns the last delivered or skipped line, in the journal's versions.
    pub fn position(&self) -> Point {
        self.at
    }

    /// Converts a point of the journal to the client's versions, for the next line to deliver.
    pub fn to_client_point(&self, at: Point) -> Point {
        Point { version: at.version.saturating_sub(self.hidden_lines), tag: at.tag }
    }

    /// Advances the position over a delivered line.
    pub fn advance(&mut self, at: Point) {
        self.at = at;
    }

    /// Advances the position over lines that the client must not see, without advancing the
    /// client's version.
    pub fn skip_hidden(&mut self, at: Point) {
        self.hidden_lines += at.version.saturating_sub(self.at.version);
        self.at = at;
    }
}

/// The last line of a journal that showed something, for each viewer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LastVisible {
    public: Point,
    /// Later lines that only one seat saw, newest last.
    seats: Vec<(Seat, Point)>,
}

impl LastVisible {
    /// Returns a record in which no line after `public` is hidden.
    pub(crate) fn new(public: Point) -> Self {
        Self { public, seats: Vec::new() }
    }

    /// Returns true if the line at this point showed something to everybody.
    pub(crate) fn is_public_at(&self, at: Point) -> bool {
        self.public == at
    }

    pub fn point_for(&self, viewer: Viewer) -> Point {
        let own = |(seat, _): &&(Seat, Point)| viewer == Viewer::Seat(*seat);
        let own = self.seats.iter().rev().find(own).map(|(_, point)| *point);
        own.unwrap_or(self.public)
    }

    /// Records the events of the journal's next line.
    pub(crate) fn record_line<G: Readable>(
        &mut self,
        table: &Table<G>,
        at: Point,
        events: &[Event<G::Event>],
    ) {
        if has_visible_event::<G>(events, Viewer::Public) {
            *self = Self::new(at);
            return;
        }
        let seats = Seat::all(table.seat_count());
        let seats = seats.filter(|seat| has_visible_event::<G>(events, Viewer::Seat(*seat)));
        self.seats.extend(seats.map(|seat| (seat, at)));
    }
}

/// Redacts events for a viewer and drops those that the viewer must not see.
pub fn redact_events<G: Readable>(
    events: &[Event<G::Event>],
    viewer: Viewer,
) -> Vec<Event<G::Event>> {
    events.iter().filter_map(|event| event.redact::<G>(viewer)).collect()
}

/// Returns true if redaction leaves the viewer at least one event. Counts as visible if redaction
/// panics, so that the panic surfaces on the delivery path, where it is handled.
fn has_visible_event<G: Readable>(events: &[Event<G::Event>], viewer: Viewer) -> bool {
    let is_visible = || events.iter().any(|event| event.redact::<G>(viewer).is_some());
    catch_panic(is_visible).unwrap_or(true)
}

#[cfg(test)]
mod tests {
    use bahay_engine::coins::Coins;
    use bahay_engine::games::tongits::{Rules, Tongits};
    use bahay_engine::table::TableId;
    use uuid::Uuid;

    use super::*;
    use crate::history::journal::Tag;

    fn point(version: u64) -> Point {
        Point { version, tag: Tag::default() }
    }

    /// Returns the version of a position in the journal, and in the client's versions.
    fn versions(cursor: &DeliveryCursor) -> (u64, u64) {
        let at = cursor.position();
        (at.version, cursor.to_client_point(at).version)
    }

    #[test]
    fn hidden_lines_do_not_advance_the_client_version() {
        let mut cursor = DeliveryCursor::from_snapshot(point(9), point(7));
        assert_eq!(versions(&cursor), (9, 7));
        assert_eq!(cursor.to_client_point(point(10)).version, 8, "the next visible line");
        cursor.skip_hidden(point(10));
        let next = cursor.to_client_point(point(11)).version;
        assert_eq!(next, 8, "a hidden line does not advance the version");
        cursor.advance(point(11));
        assert_eq!(versions(&cursor), (11, 8));
    }

    #[test]
    fn a_line_that_shows_one_seat_alone_that_it_is_ready_is_its_last_visible_one() {
        let bet = Coins::from_whole(1).expect("a coin");
        let terms = bahay_engine::testing::terms(Rules::kingdom(), None, bet, 1);
        let table = Table::<Tongits>::new(TableId(Uuid::nil()), terms);
        let [own, other] = [1, 2].map(|number| Seat::new(number).expect("a seat"));
        let mut last = LastVisible::new(point(4));
        last.record_line(&table, point(5), &[Event::Ready { seat: own }]);
        assert_eq!(last.point_for(Viewer::Seat(own)), point(5));
        assert_eq!(last.point_for(Viewer::Seat(other)), point(4));
        assert_eq!(last.point_for(Viewer::Public), point(4));
        assert!(!last.is_public_at(point(5)), "a snapshot there would show the others the line");
    }

    #[test]
    fn a_resumed_client_keeps_its_own_versions() {
        let cursor =
            DeliveryCursor::resume(point(8), point(11)).expect("the client is behind the journal");
        assert_eq!(cursor.to_client_point(point(12)).version, 9);
        let ahead = DeliveryCursor::resume(point(12), point(11));
        assert_eq!(ahead, None, "the client is ahead of the journal");
    }
}
