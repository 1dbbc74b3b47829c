//! Rooms, and the way to a table and from it.

use axum::extract::State;
use axum::{Extension, Json};
use bahay_engine::catalog;
use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::auth::Player;
use crate::edge::Address;
use crate::ids::TableId;
use crate::live_store::{Playing, WaitReason};
use crate::lobby::{self, LobbyError};

use super::{Coins, Path, Problem, Services};

/// A game at a bet.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Room {
    #[schema(example = "newbie")]
    id: String,
    /// As people read it.
    #[schema(example = "Newbie")]
    name: String,
    /// The game, by its name.
    #[schema(example = "tongits")]
    kind: &'static str,
    /// The game for people.
    #[schema(example = "Tong-its")]
    game: &'static str,
    /// How many play at a table at most.
    #[schema(example = 3)]
    seats: u8,
    /// A game begins when so many are ready.
    #[schema(example = 3)]
    seats_min: u8,
    /// One count at multiplier 1.
    bet: Coins,
    multiplier: u32,
    /// The house's share of what a winner receives, in ten-thousandths.
    #[schema(example = 500)]
    fee_basis_points: u32,
    /// What each seat pays into the POT before each game; zero where there is none.
    ante: Coins,
    /// Wins in a row that take the POT; none for a room without one.
    #[schema(required = true, example = 2)]
    hits_to_win: Option<u8>,
    /// The least that a wallet must hold to sit down: the ante and the greatest possible loss.
    wallet_min: Coins,
    /// The most that one game can cost one seat, its ante included.
    loss_max: Coins,
    /// The most that it may hold; none for no limit.
    #[schema(required = true)]
    wallet_max: Option<Coins>,
    /// Whether only players with a password or an identity may sit down, and no guests.
    needs_account: bool,
    /// The rule set by its name.
    #[schema(example = "kingdom")]
    rule_set: String,
    /// Whether some of its rules are otherwise than that rule set's: a table shows all.
    has_own_switches: bool,
    /// Whether games may begin.
    is_open: bool,
    /// Who sits there now, as of a second ago at most.
    #[schema(example = 42)]
    players: u64,
    /// At so many tables.
    #[schema(example = 14)]
    tables: u64,
}

impl Room {
    fn of(room: &lobby::Room, playing: Playing) -> Self {
        let terms = room.terms();
        Self {
            id: room.id().to_owned(),
            name: room.name().to_owned(),
            kind: room.kind(),
            game: catalog::title_of(room.kind()),
            seats: room.seats().most,
            seats_min: room.seats().least,
            bet: terms.price.bet.into(),
            multiplier: terms.price.multiplier,
            fee_basis_points: terms.price.fee_basis_points,
            ante: terms.ante().unwrap_or_default().into(),
            hits_to_win: terms.hits.map(|hits| hits.to_win),
            wallet_min: room.wallet_min().into(),
            loss_max: room.loss_max().into(),
            wallet_max: room.wallet_max().map(Coins::from),
            needs_account: room.needs_account(),
            rule_set: room.rule_set().to_owned(),
            has_own_switches: !room.has_plain_rules(),
            is_open: room.is_open(),
            players: playing.players,
            tables: playing.tables,
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
pub(super) async fn list_rooms(State(services): State<Services>) -> Result<Json<Rooms>, Problem> {
    let playing = services.lobby.playing().await.map_err(|error| Problem::unavailable(&error))?;
    let rooms = services.lobby.rooms();
    let of = |room: &lobby::Room| playing.get(room.id()).copied().unwrap_or_default();
    Ok(Json(Rooms { items: rooms.iter().map(|room| Room::of(room, of(room))).collect() }))
}

/// The table where a player sits. Join it over the socket to play there.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct SeatedAt {
    table: Uuid,
    #[schema(inline, value_type = WaitReasonName, required = false, example = "only_same_network")]
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<WaitReasonName>,
}

impl SeatedAt {
    pub(super) fn at(table: TableId) -> Self {
        Self { table: table.0, reason: None }
    }
}

/// The reason for which a player waits although others do. Absent if there is none.
#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = WaitReason)]
pub(super) enum WaitReasonName {
    /// All others who would fit come from the same network, such as one carrier's, and this room keeps
    /// those apart. Rooms of a lower bet, a private table and another connection do not.
    OnlySameNetwork,
}

impl From<WaitReason> for WaitReasonName {
    fn from(reason: WaitReason) -> Self {
        match reason {
            WaitReason::OnlySameNetwork => Self::OnlySameNetwork,
        }
    }
}

/// Ask a room for a table
///
/// First come, first seated, but nobody beside somebody of the same device, nor, in rooms of a higher
/// bet, of the same network. The player has a socket open, on any node: nothing is kept for a player
/// who could not be asked whether it is ready. A player who sits at a table already, of whatever room,
/// is sent back to that one: an account sits at one table at a time, and after leaving in mid-game its
/// seat is kept until the game is over (rule 8.4).
#[utoipa::path(
    post,
    path = "/v1/rooms/{room}/seat",
    tag = "rooms",
    params(("room" = String, Path, max_length = 32, description = "The room's id", example = "newbie")),
    security(("access_token" = [])),
    responses(
        (status = 200, description = "The table", body = SeatedAt),
        (status = 403, description = "`banned`: the detail says until when, and why. \
            `account_required`: the room is for players with a password or an identity",
            body = super::ProblemBody, content_type = "application/problem+json"),
        (status = 404, description = "`room_not_found`: there is no such room",
            body = super::ProblemBody, content_type = "application/problem+json"),
        (status = 409, description = "`too_few_coins`: the wallet holds less than the room asks \
             for. `too_many_coins`: it holds more than the room is for. `room_closed`. `room_limit`: the player has won as \
             much in rooms as one may in a day. `seating`: another request of the player is being seated; ask again. \
             `table_halted`: the player sits at a table that was halted. `socket_required`: open \
             the socket first",
             body = super::ProblemBody, content_type = "application/problem+json"),
         (status = 429, description = "`not_ready_before`: the player, its device or many of its \
             network took seats and were not ready; wait as long as `Retry-After` says",
            body = super::ProblemBody, content_type = "application/problem+json"),
    )
)]
pub(super) async fn take_seat(
    State(services): State<Services>,
    player: Player,
    Extension(from): Extension<Address>,
    Path(room): Path<String>,
) -> Result<Json<SeatedAt>, Problem> {
    let seat = services.lobby.seat_from(player.id, &room, Some(from)).await?;
    Ok(Json(SeatedAt { table: seat.table.0, reason: seat.reason.map(Into::into) }))
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
    Ok(Json(SeatedAt::at(table)))
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
    Ok(Json(SeatedAt::at(table)))
}
