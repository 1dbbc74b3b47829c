//! Rooms, and the way to a table and from it.

use axum::Json;
use axum::extract::State;
use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::auth::Player;
use crate::lobby::{self, LobbyError};

use super::{Code, Coins, Path, Problem, Services};

/// A stake tier.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Room {
    #[schema(example = "newbie")]
    id: String,
    /// As people read it.
    #[schema(example = "Newbie")]
    name: String,
    /// The game and its rule set.
    #[schema(example = "tongits")]
    kind: &'static str,
    seats: u8,
    /// One count at multiplier 1; also what each seat pays into the POT before each game.
    bet: Coins,
    multiplier: u32,
    /// The house's share of what a winner receives, in ten-thousandths.
    #[schema(example = 500)]
    fee_basis_points: u32,
    /// Wins in a row that take the POT.
    #[schema(example = 2)]
    hits_to_win: u8,
    /// The least that a wallet must hold to sit down: the ante and the greatest possible loss.
    wallet_min: Coins,
}

impl From<&lobby::Room> for Room {
    fn from(room: &lobby::Room) -> Self {
        let terms = room.terms();
        Self {
            id: room.id().to_owned(),
            name: room.name().to_owned(),
            kind: room.kind(),
            seats: room.seats(),
            bet: terms.price.bet.into(),
            multiplier: terms.price.multiplier,
            fee_basis_points: terms.price.fee_basis_points,
            hits_to_win: terms.hits.to_win,
            wallet_min: room.wallet_min().into(),
        }
    }
}

/// The rooms of the house.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Rooms {
    items: Vec<Room>,
}

/// List the rooms
#[utoipa::path(
    get,
    path = "/v1/rooms",
    tag = "rooms",
    responses((status = 200, description = "The rooms, by rising bet", body = Rooms))
)]
pub(super) async fn list_rooms(State(services): State<Services>) -> Json<Rooms> {
    Json(Rooms { items: services.lobby.rooms().iter().map(Room::from).collect() })
}

/// Where a player sits. Open the socket and join to play there.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct SeatedAt {
    table: Uuid,
}

/// Ask a room for a table
///
/// First come, first seated. Who sits at a table already, of whatever room, is sent back to that
/// one: an account sits at one table at a time, and after leaving in mid-game its seat is kept
/// until the game is over (rule 8.4).
#[utoipa::path(
    post,
    path = "/v1/rooms/{room}/seat",
    tag = "rooms",
    params(("room" = String, Path, description = "The room's id", example = "newbie")),
    security(("access_token" = [])),
    responses(
        (status = 200, description = "The table", body = SeatedAt),
        (status = 404, description = "`room_not_found`: there is no such room",
            body = super::ProblemBody, content_type = "application/problem+json"),
        (status = 409, description = "`too_few_coins`: the wallet holds less than the room asks \
            for. `seating`: another request of the player is being seated; ask again. \
            `table_halted`: the player sits at a table that was halted",
            body = super::ProblemBody, content_type = "application/problem+json"),
    )
)]
pub(super) async fn take_seat(
    State(services): State<Services>,
    player: Player,
    Path(room): Path<String>,
) -> Result<Json<SeatedAt>, Problem> {
    let profile = services.accounts.profile(player.id).await?;
    let profile = profile.ok_or_else(|| Problem::internal(&"a signed-in player has no row"))?;
    let table = services.lobby.seat(player.id, &profile.name, &room).await?;
    Ok(Json(SeatedAt { table: table.0 }))
}

/// Say where I sit
#[utoipa::path(
    get,
    path = "/v1/table",
    tag = "rooms",
    security(("access_token" = [])),
    responses(
        (status = 200, description = "The table", body = SeatedAt),
        (status = 404, description = "`not_seated`: nowhere",
            body = super::ProblemBody, content_type = "application/problem+json"),
        (status = 409, description = "`seating`: a request of the player is being seated. \
            `table_halted`: an operator decides what becomes of the table",
            body = super::ProblemBody, content_type = "application/problem+json"),
    )
)]
pub(super) async fn show_table(
    State(services): State<Services>,
    player: Player,
) -> Result<Json<SeatedAt>, Problem> {
    let table = services.lobby.seated_at(player.id).await?.ok_or(LobbyError::NotSeated)?;
    Ok(Json(SeatedAt { table: table.0 }))
}

/// Leave my table
///
/// Between games the seat is free at once. In mid-game the AI plays on and the seat is freed
/// after the game; the player can come back until then. Coins in the POT stay there (rule 7.4).
#[utoipa::path(
    delete,
    path = "/v1/table",
    tag = "rooms",
    security(("access_token" = [])),
    responses(
        (status = 200, description = "The table that was left", body = SeatedAt),
        (status = 404, description = "`not_seated`: there was none to leave",
            body = super::ProblemBody, content_type = "application/problem+json"),
        (status = 409, description = "`seating`: a request of the player is being seated. \
            `table_halted`: an operator decides what becomes of the table",
            body = super::ProblemBody, content_type = "application/problem+json"),
    )
)]
pub(super) async fn leave_table(
    State(services): State<Services>,
    player: Player,
) -> Result<Json<SeatedAt>, Problem> {
    let table = services.lobby.leave(player.id).await?;
    Ok(Json(SeatedAt { table: table.0 }))
}

impl From<LobbyError> for Problem {
    fn from(error: LobbyError) -> Self {
        match error {
            LobbyError::NoSuchRoom => Code::RoomNotFound.plain(),
            LobbyError::TooFewCoins { .. } => Code::TooFewCoins.because(error.to_string()),
            LobbyError::Seating => Code::Seating.because(error.to_string()),
            LobbyError::NotSeated => Code::NotSeated.plain(),
            LobbyError::Halted => Code::TableHalted.plain(),
            LobbyError::OtherVersion => Self::unavailable(&error),
            LobbyError::Unavailable(error) => Self::unavailable(&error),
            LobbyError::Ledger(error) => error.into(),
        }
    }
}
