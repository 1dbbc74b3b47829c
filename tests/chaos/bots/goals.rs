//! The tables to which clients come: those of rooms, or of tournaments.

use tokio::sync::watch;

use super::entry::Programme;

/// The rooms of the tables in turn, with the number of clients at each table.
const ROOMS: [(&str, u64); 3] =
    [("newbie", 3), ("tongo-options-newbie", 4), ("tongo-assets-newbie", 5)];

/// Returns the room of each client of a number of tables.
pub(crate) fn rooms(tables: u64) -> impl Iterator<Item = &'static str> {
    let tables = (0..tables).zip(ROOMS.into_iter().cycle());
    tables.flat_map(|(_, (room, clients))| (0..clients).map(move |_| room))
}

/// The way in which a client comes to tables.
#[derive(Clone, Debug)]
pub(crate) enum Goal {
    /// It takes a seat in a room.
    Room(&'static str),
    /// It enters every tournament of its group.
    Tournaments(watch::Receiver<Programme>),
}
