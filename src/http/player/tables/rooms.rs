//! Rooms, and taking and leaving a seat at a table.

use axum::extract::State;
use axum::{Extension, Json};
use bahay_engine::catalog;
use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::auth::Player;
use crate::ids::TableId;
use crate::live_store::{PlayingCount, WaitReason};
use crate::lobby::{self, LobbyError};
use crate::rate_limit::Address;

use crate::http::{Coins, Path, Problem, Services};

/// A room: a stake tier that the house offers.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Room)]
pub(crate) struct RoomBody {
    #[schema(example = "newbie")]
    id: String,
    /// The name of the room, for people.
    #[schema(example = "Newbie")]
    name: String,
    /// The game's kind.
    #[schema(example = "tongits")]
    kind: &'static str,
    /// The game's title, for people.
    #[schema(example = "Tong-its")]
    game: &'static str,
    /// The maximum number of players at a table.
    #[schema(example = 3)]
    seats: u8,
    /// The number of ready players at which a game begins.
    #[schema(example = 3)]
    seats_min: u8,
    /// The value of one count at multiplier 1.
    bet: Coins,
    multiplier: u32,
    /// The house's fee on a winner's receipts, in basis points (ten-thousandths).
    #[schema(example = 500)]
    fee_basis_points: u32,
    /// The amount that each seat pays into the POT before each game; zero without a POT.
    ante: Coins,
    /// The number of consecutive wins that take the POT; null without a POT.
    #[schema(required = true, example = 2)]
    hits_to_win: Option<u8>,
    /// The minimum balance required to sit down: the ante plus the maximum loss.
    wallet_min: Coins,
    /// The maximum loss of one seat in one game, including its ante.
    loss_max: Coins,
    /// The maximum balance allowed to sit down; null for no limit.
    #[schema(required = true)]
    wallet_max: Option<Coins>,
    /// True if only players with a password or an identity may sit down, but no guests.
    needs_account: bool,
    /// The name of the rule set.
    #[schema(example = "kingdom")]
    rule_set: String,
    /// True if some rules differ from the rule set; a table shows all rules.
    has_own_switches: bool,
    /// True if new games may begin.
    is_open: bool,
    /// The number of players seated at present, at most one second old.
    #[schema(example = 42)]
    players: u64,
    /// The number of tables with players at present.
    #[schema(example = 14)]
    tables: u64,
}

impl RoomBody {
    fn new(room: &lobby::Room, playing: PlayingCount) -> Self {
        let terms = room.terms();
        Self {
            id: room.id().to_owned(),
            name: room.name().to_owned(),
            kind: room.kind(),
            game: catalog::kind_title(room.kind()),
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
pub(crate) struct Rooms {
    items: Vec<RoomBody>,
}

/// List the rooms
#[utoipa::path(
    get,
    path = "/v1/rooms",
    tag = "rooms",
    responses((status = 200, description = "The rooms, in ascending order of bets", body = Rooms))
)]
pub(crate) async fn list_rooms(State(services): State<Services>) -> Result<Json<Rooms>, Problem> {
    let playing = services.lobby.playing_counts().await;
    let playing = playing.map_err(|error| Problem::unavailable(&error))?;
    let rooms = services.lobby.rooms();
    let occupancy = |room: &lobby::Room| playing.get(room.id()).copied().unwrap_or_default();
    let items = rooms.iter().map(|room| RoomBody::new(room, occupancy(room))).collect();
    Ok(Json(Rooms { items }))
}

/// The table at which a player sits. Join it over the socket to play.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct SeatedTable {
    table: Uuid,
    #[schema(inline, value_type = WaitReasonName, required = false, example = "only_same_network")]
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<WaitReasonName>,
}

impl SeatedTable {
    pub(crate) fn new(table: TableId) -> Self {
        Self { table: table.0, reason: None }
    }
}

/// The reason for which a player waits although other players wait too. Absent if there is none.
#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = WaitReason)]
pub(crate) enum WaitReasonName {
    /// All suitable players are on the same network, such as that of one mobile carrier, and this
    /// room keeps them apart. Rooms of a lower bet and private tables do not; another connection
    /// also helps.
    OnlySameNetwork,
}

impl From<WaitReason> for WaitReasonName {
    fn from(reason: WaitReason) -> Self {
        match reason {
            WaitReason::OnlySameNetwork => Self::OnlySameNetwork,
        }
    }
}

/// Take a seat in a room
///
/// Seats are given in the order of requests. Players who share a device are never seated together,
/// nor are, in rooms of a higher bet, players who share a network. The player must have a socket
/// open, on any node, because no seat is kept for a player who cannot be asked whether it is ready.
/// A player who sits at a table already, in any room, is returned to that table: an account sits at
/// one table at a time, and after leaving during a game its seat is kept until the game is over
/// (rule 8.4).
#[utoipa::path(
    post,
    path = "/v1/rooms/{room}/seat",
    tag = "rooms",
    params(("room" = String, Path, max_length = 32, description = "The room's id",
        example = "newbie")),
    security(("access_token" = [])),
    responses(
        (status = 200, description = "The table", body = SeatedTable),
        (status = 403, description = "`banned`: the detail states the end and the reason. \
            `account_required`: the room is for players with a password or an identity",
            body = crate::http::ProblemBody, content_type = "application/problem+json"),
        (status = 404, description = "`room_not_found`: the room does not exist",
            body = crate::http::ProblemBody, content_type = "application/problem+json"),
        (status = 409, description = "`too_few_coins`: the wallet holds less than the room \
            requires. `too_many_coins`: the wallet holds more than the room allows. `room_closed`: \
            the room is closed. `room_limit`: the player has reached the daily limit of wins in \
            rooms. `seating`: another request of the player is being seated; retry. \
            `table_halted`: the player sits at a table that was halted. `socket_required`: open \
            the socket first",
             body = crate::http::ProblemBody, content_type = "application/problem+json"),
         (status = 429, description = "`not_ready_before`: the player, its device, or many players \
             of its network took seats and were not ready; wait for the time in `Retry-After`",
            body = crate::http::ProblemBody, content_type = "application/problem+json"),
    )
)]
pub(crate) async fn take_seat(
    State(services): State<Services>,
    player: Player,
    Extension(from): Extension<Address>,
    Path(room): Path<String>,
) -> Result<Json<SeatedTable>, Problem> {
    let seat = services.lobby.seat_from(player.id, &room, Some(from)).await?;
    Ok(Json(SeatedTable { table: seat.table.0, reason: seat.reason.map(Into::into) }))
}

/// Show my table
#[utoipa::path(
    get,
    path = "/v1/table",
    tag = "rooms",
    security(("access_token" = [])),
    responses(
        (status = 200, description = "The table", body = SeatedTable),
        (status = 404, description = "`not_seated`: the player sits at no table",
            body = crate::http::ProblemBody, content_type = "application/problem+json"),
        (status = 409, description = "`seating`: a request of the player is being seated. \
            `table_halted`: an operator decides about the table",
            body = crate::http::ProblemBody, content_type = "application/problem+json"),
    )
)]
pub(crate) async fn show_table(
    State(services): State<Services>,
    player: Player,
) -> Result<Json<SeatedTable>, Problem> {
    let table = services.lobby.seated_at(player.id).await?.ok_or(LobbyError::NotSeated)?;
    Ok(Json(SeatedTable::new(table)))
}

/// Leave my table
///
/// Between games the seat is free at once. During a game the AI plays on, and the seat is freed
/// after the game; the player can return until then. Coins in the POT stay there (rule 7.4).
#[utoipa::path(
    delete,
    path = "/v1/table",
    tag = "rooms",
    security(("access_token" = [])),
    responses(
        (status = 200, description = "The table that was left", body = SeatedTable),
        (status = 404, description = "`not_seated`: the player sat at no table",
            body = crate::http::ProblemBody, content_type = "application/problem+json"),
        (status = 409, description = "`seating`: a request of the player is being seated. \
            `table_halted`: an operator decides about the table",
            body = crate::http::ProblemBody, content_type = "application/problem+json"),
    )
)]
pub(crate) async fn leave_table(
    State(services): State<Services>,
    player: Player,
) -> Result<Json<SeatedTable>, Problem> {
    let table = services.lobby.leave(player.id).await?;
    Ok(Json(SeatedTable::new(table)))
}
