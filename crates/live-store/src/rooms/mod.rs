//! Seats in rooms: the listing of tables with free seats, the claims of players to seats, and the
//! players who were not ready.

mod listing;
mod no_shows;
mod seating;

pub use listing::{JoinableTable, PlayingCount, ReservedSeat, SeatReservation, TableListing};
pub use no_shows::{NoShowSubject, SeatOrigin};
