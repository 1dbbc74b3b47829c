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

use crate::guard::guarded;
use crate::journal::Point;

/// How far a client has been told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Told {
    /// The last line, told or passed over.
    at: Point,
    /// How much less the client's version is than that of the journal.
    hidden: u64,
}

impl Told {
    /// The whole table at a point. `shown` is the last line that showed the viewer something.
    pub fn whole(at: Point, shown: Point) -> Self {
        Self { at, hidden: at.version.saturating_sub(shown.version) }
    }

    /// By what a client says that it has: `from` in its own versions, which is this point of the
    /// journal. `None` where it cannot be.
    pub fn resumed(from: Point, at: Point) -> Option<Self> {
        Some(Self { at, hidden: at.version.checked_sub(from.version)? })
    }

    /// The last line, as the journal has it.
    pub fn at(&self) -> Point {
        self.at
    }

    /// What the client reads of this line of the journal, if it is the next one that it is shown.
    pub fn read_as(&self, at: Point) -> Point {
        Point { version: at.version.saturating_sub(self.hidden), tag: at.tag }
    }

    /// It was told as far as this.
    pub fn show(&mut self, at: Point) {
        self.at = at;
    }

    /// Nothing of what happened up to here was for it.
    pub fn pass(&mut self, at: Point) {
        self.hidden += at.version.saturating_sub(self.at.version);
        self.at = at;
    }
}

/// The last line of a journal that showed something, to each viewer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LastShown {
    everybody: Point,
    /// Lines after that one which only a seat saw, the newest last.
    seats: Vec<(Seat, Point)>,
}

impl LastShown {
    /// Nothing that came before is hidden any more.
    pub(crate) fn of(everybody: Point) -> Self {
        Self { everybody, seats: Vec::new() }
    }

    /// Whether the line at this point showed everybody something.
    pub(crate) fn is_to_everybody(&self, at: Point) -> bool {
        self.everybody == at
    }

    pub fn to(&self, viewer: Viewer) -> Point {
        let own = |(seat, _): &&(Seat, Point)| viewer == Viewer::Seat(*seat);
        let own = self.seats.iter().rev().find(own).map(|(_, point)| *point);
        own.unwrap_or(self.everybody)
    }

    /// After a line of the journal.
    pub(crate) fn note<G: Readable>(
        &mut self,
        table: &Table<G>,
        at: Point,
        events: &[Event<G::Event>],
    ) {
        if shows_something::<G>(events, Viewer::Public) {
            *self = Self::of(at);
            return;
        }
        let seats = Seat::all(table.seats_in_game());
        let seats = seats.filter(|seat| shows_something::<G>(events, Viewer::Seat(*seat)));
        self.seats.extend(seats.map(|seat| (seat, at)));
    }
}

/// What a viewer is told of events.
pub fn redacted<G: Readable>(events: &[Event<G::Event>], viewer: Viewer) -> Vec<Event<G::Event>> {
    events.iter().filter_map(|event| event.redact::<G>(viewer)).collect()
}

/// Who panics over it is told it, and does so where that is dealt with.
fn shows_something<G: Readable>(events: &[Event<G::Event>], viewer: Viewer) -> bool {
    let shows = || events.iter().any(|event| event.redact::<G>(viewer).is_some());
    guarded(shows).unwrap_or(true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::journal::Tag;

    fn point(version: u64) -> Point {
        Point { version, tag: Tag::default() }
    }

    #[test]
    fn lines_that_show_nothing_are_not_counted() {
        let mut told = Told::whole(point(9), point(7));
        assert_eq!((told.at().version, told.read_as(told.at()).version), (9, 7));
        assert_eq!(told.read_as(point(10)).version, 8, "the next one that is shown");
        told.pass(point(10));
        assert_eq!(told.read_as(point(11)).version, 8, "it still is the next one");
        told.show(point(11));
        assert_eq!((told.at().version, told.read_as(told.at()).version), (11, 8));
    }

    #[test]
    fn a_client_goes_on_with_its_own_versions() {
        let told = Told::resumed(point(8), point(11)).expect("it was told less than there is");
        assert_eq!(told.read_as(point(12)).version, 9);
        assert_eq!(Told::resumed(point(12), point(11)), None, "it was never told as much");
    }
}
