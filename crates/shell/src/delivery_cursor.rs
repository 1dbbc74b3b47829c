//! What a client has been told of a table. A line that shows a viewer nothing is not told to it,
//! and is not counted in the versions that it reads: from the traffic nobody learns what others did
//! unseen.
//!
//! So a client's versions are its own. They begin with that of the last line that showed it
//! something, and grow by one with each update. Where a client comes back it names the tag of the
//! last line that it was told, and the journal says which one that is.

use bahay_engine::game::Viewer;
use bahay_engine::seat::Seat;
use bahay_engine::table::{Event, Readable, Table};

use crate::guard::catch_panic;
use crate::journal::Point;

/// How far a client has been told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DeliveryCursor {
    /// The last line, told or passed over.
    at: Point,
    /// How much less the client's version is than that of the journal.
    hidden_lines: u64,
}

impl DeliveryCursor {
    /// The whole table at a point. `shown` is the last line that showed the viewer something.
    pub fn from_snapshot(at: Point, last_visible: Point) -> Self {
        Self { at, hidden_lines: at.version.saturating_sub(last_visible.version) }
    }

    /// By what a client says that it has: `from` in its own versions, which is this point of the
    /// journal. `None` where it cannot be.
    pub fn resume(from: Point, at: Point) -> Option<Self> {
        Some(Self { at, hidden_lines: at.version.checked_sub(from.version)? })
    }

    /// The last line, as the journal has it.
    pub fn position(&self) -> Point {
        self.at
    }

    /// What the client reads of this line of the journal, if it is the next one that it is shown.
    pub fn to_client_point(&self, at: Point) -> Point {
        Point { version: at.version.saturating_sub(self.hidden_lines), tag: at.tag }
    }

    /// It was told as far as this.
    pub fn advance(&mut self, at: Point) {
        self.at = at;
    }

    /// Nothing of what happened up to here was for it.
    pub fn skip_hidden(&mut self, at: Point) {
        self.hidden_lines += at.version.saturating_sub(self.at.version);
        self.at = at;
    }
}

/// The last line of a journal that showed something, to each viewer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LastVisible {
    public: Point,
    /// Lines after that one which only a seat saw, the newest last.
    seats: Vec<(Seat, Point)>,
}

impl LastVisible {
    /// Nothing that came before is hidden any more.
    pub(crate) fn new(public: Point) -> Self {
        Self { public, seats: Vec::new() }
    }

    /// Whether the line at this point showed everybody something.
    pub(crate) fn is_public_at(&self, at: Point) -> bool {
        self.public == at
    }

    pub fn point_for(&self, viewer: Viewer) -> Point {
        let own = |(seat, _): &&(Seat, Point)| viewer == Viewer::Seat(*seat);
        let own = self.seats.iter().rev().find(own).map(|(_, point)| *point);
        own.unwrap_or(self.public)
    }

    /// After a line of the journal.
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
        let seats = Seat::all(table.seats_in_game());
        let seats = seats.filter(|seat| has_visible_event::<G>(events, Viewer::Seat(*seat)));
        self.seats.extend(seats.map(|seat| (seat, at)));
    }
}

/// What a viewer is told of events.
pub fn redact_events<G: Readable>(events: &[Event<G::Event>], viewer: Viewer) -> Vec<Event<G::Event>> {
    events.iter().filter_map(|event| event.redact::<G>(viewer)).collect()
}

/// Who panics over it is told it, and does so where that is dealt with.
fn has_visible_event<G: Readable>(events: &[Event<G::Event>], viewer: Viewer) -> bool {
    let is_visible = || events.iter().any(|event| event.redact::<G>(viewer).is_some());
    catch_panic(is_visible).unwrap_or(true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::journal::Tag;

    fn point(version: u64) -> Point {
        Point { version, tag: Tag::default() }
    }

    #[test]
    fn hidden_lines_do_not_advance_the_client_version() {
        let mut cursor = DeliveryCursor::from_snapshot(point(9), point(7));
        assert_eq!((cursor.position().version, cursor.to_client_point(cursor.position()).version), (9, 7));
        assert_eq!(cursor.to_client_point(point(10)).version, 8, "the next one that is shown");
        cursor.skip_hidden(point(10));
        assert_eq!(cursor.to_client_point(point(11)).version, 8, "it still is the next one");
        cursor.advance(point(11));
        assert_eq!((cursor.position().version, cursor.to_client_point(cursor.position()).version), (11, 8));
    }

    #[test]
    fn a_resumed_client_keeps_its_own_versions() {
        let cursor = DeliveryCursor::resume(point(8), point(11)).expect("it was cursor less than there is");
        assert_eq!(cursor.to_client_point(point(12)).version, 9);
        assert_eq!(DeliveryCursor::resume(point(12), point(11)), None, "it was never cursor as much");
    }
}
