//! The room that all play in, as the server lists it.

use serde::Deserialize;

use super::LoadError;
use crate::client::Client;

#[derive(Deserialize)]
struct Rooms {
    items: Vec<Room>,
}

#[derive(Deserialize)]
struct Room {
    id: String,
    seats: u8,
}

/// How many players a table of this room has when it is full.
pub(super) async fn seats_of(client: &Client, room: &str) -> Result<u8, LoadError> {
    let Rooms { items } = client.read("/v1/rooms").await.map_err(LoadError::Rooms)?;
    let found = items.into_iter().find(|one| one.id == room);
    found.map(|room| room.seats).ok_or_else(|| LoadError::NoRoom(room.to_owned()))
}
