//! The room of the run, as the server lists it.

use bahay_client::Client;
use serde::Deserialize;

use super::LoadError;

#[derive(Deserialize)]
struct RoomList {
    items: Vec<RoomSummary>,
}

#[derive(Deserialize)]
struct RoomSummary {
    id: String,
    seats: u8,
}

/// Reads the number of seats at a table of this room.
pub(super) async fn read_seat_count(client: &Client, room: &str) -> Result<u8, LoadError> {
    let RoomList { items } = client.read("/v1/rooms").await.map_err(LoadError::Rooms)?;
    let found = items.into_iter().find(|listed| listed.id == room);
    found.map(|room| room.seats).ok_or_else(|| LoadError::NoRoom(room.to_owned()))
}
