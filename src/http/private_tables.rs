//! Private tables: opened by a host, joined by a code.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use bahay_engine::coins;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

use crate::auth::Player;
use crate::ids::PlayerId;
use crate::lobby::{PrivateSeat, PrivateView};
use crate::rooms::RuleSet;

use super::rooms::RuleSetBody;
use super::{Body, Coins, Path, Problem, ProblemBody, Services};

/// What the host wants to play.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct OpenPrivate {
    /// Whose fee, POT rules, countdowns and, if none is named, rule set hold.
    #[schema(max_length = 32, example = "newbie")]
    room: String,
    /// In hundredths of a coin: from 1 to 100,000 coins.
    #[schema(minimum = 100, maximum = 10_000_000, example = 500)]
    bet: i64,
    #[serde(default)]
    #[schema(inline)]
    rule_set: Option<RuleSetBody>,
}

/// A seat at a private table.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = PrivateSeat)]
pub(super) struct PrivateSeatBody {
    /// Whoever has it may sit down. Upper and lower case are the same.
    #[schema(example = "K7MWQ2XA", min_length = 8, max_length = 8)]
    code: String,
    /// The same, to be sent to friends.
    #[schema(example = "https://play.example/join/K7MWQ2XA")]
    link: String,
    table: Uuid,
}

impl From<PrivateSeat> for PrivateSeatBody {
    fn from(PrivateSeat { code, link, table }: PrivateSeat) -> Self {
        Self { code, link, table: table.0 }
    }
}

/// A private table before one sits down.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = PrivateTable)]
pub(super) struct PrivateTableBody {
    #[schema(example = "K7MWQ2XA")]
    code: String,
    #[schema(example = "https://play.example/join/K7MWQ2XA")]
    link: String,
    table: Uuid,
    /// Who may send others away.
    host: Uuid,
    bet: Coins,
    multiplier: u32,
    #[schema(example = 500)]
    fee_basis_points: u32,
    #[schema(example = 2)]
    hits_to_win: u8,
    /// Absent where the rules have no name.
    #[schema(inline, required = true)]
    rule_set: Option<RuleSetBody>,
    /// The least that a wallet must hold to sit down.
    wallet_min: Coins,
    seats: u8,
    /// Who sits there.
    players: Vec<Uuid>,
}

impl From<PrivateView> for PrivateTableBody {
    fn from(view: PrivateView) -> Self {
        let terms = view.terms;
        Self {
            code: view.code,
            link: view.link,
            table: view.table.0,
            host: view.host.0,
            bet: terms.price.bet.into(),
            multiplier: terms.price.multiplier,
            fee_basis_points: terms.price.fee_basis_points,
            hits_to_win: terms.hits.to_win,
            rule_set: RuleSet::of(&terms.rules).map(RuleSetBody::from),
            wallet_min: view.wallet_min.into(),
            seats: view.seats,
            players: view.players.into_iter().map(|player| player.0).collect(),
        }
    }
}

/// Open a private table
///
/// The host sits down, and gives the code or the link to friends. Nobody else comes. After a game
/// the same seats are asked to be ready for the next one. A table without players is forgotten
/// after an hour.
#[utoipa::path(
    post,
    path = "/v1/private-tables",
    tag = "rooms",
    security(("access_token" = [])),
    request_body = OpenPrivate,
    responses(
        (status = 201, description = "The host's seat", body = PrivateSeatBody),
        (status = 403, description = "`banned`: the detail says until when, and why",
            body = ProblemBody, content_type = "application/problem+json"),
        (status = 404, description = "`room_not_found`: there is no such room",
            body = ProblemBody, content_type = "application/problem+json"),
        (status = 409, description = "`seated_elsewhere`: the player sits at a table already. \
            `too_few_coins`: for this bet. `seating`: a request of the player is being seated; ask \
            again. `table_halted`: the player sits at a table that was halted",
            body = ProblemBody, content_type = "application/problem+json"),
        (status = 422, description = "`body_invalid`, or `bet_invalid`: the bet is out of bounds",
            body = ProblemBody, content_type = "application/problem+json"),
    )
)]
pub(super) async fn open_private_table(
    State(services): State<Services>,
    player: Player,
    Body(OpenPrivate { room, bet, rule_set }): Body<OpenPrivate>,
) -> Result<(StatusCode, Json<PrivateSeatBody>), Problem> {
    let bet = coins::Coins::from_hundredths(bet);
    let rule_set = rule_set.map(RuleSet::from);
    let seat = services.lobby.open_private(player.id, &room, rule_set, bet).await?;
    Ok((StatusCode::CREATED, Json(seat.into())))
}

/// Look at a private table
#[utoipa::path(
    get,
    path = "/v1/private-tables/{code}",
    tag = "rooms",
    params(("code" = String, Path, max_length = 8, description = "The table's code", example = "K7MWQ2XA")),
    security(("access_token" = [])),
    responses(
        (status = 200, description = "The table", body = PrivateTableBody),
        (status = 404, description = "`code_not_found`: no table has this code, or no longer",
            body = ProblemBody, content_type = "application/problem+json"),
        (status = 409, description = "`table_halted`: an operator decides what becomes of it",
            body = ProblemBody, content_type = "application/problem+json"),
    )
)]
pub(super) async fn show_private_table(
    State(services): State<Services>,
    _player: Player,
    Path(code): Path<String>,
) -> Result<Json<PrivateTableBody>, Problem> {
    Ok(Json(services.lobby.show_private(&code).await?.into()))
}

/// Sit down at a private table
#[utoipa::path(
    post,
    path = "/v1/private-tables/{code}/seat",
    tag = "rooms",
    params(("code" = String, Path, max_length = 8, description = "The table's code", example = "K7MWQ2XA")),
    security(("access_token" = [])),
    responses(
        (status = 200, description = "The seat; the same if the player sits there already",
            body = PrivateSeatBody),
        (status = 403, description = "`barred`: the host has sent the player away. `banned`: the \
            detail says until when, and why",
            body = ProblemBody, content_type = "application/problem+json"),
        (status = 404, description = "`code_not_found`: no table has this code, or no longer",
            body = ProblemBody, content_type = "application/problem+json"),
        (status = 409, description = "`table_full`. `seated_elsewhere`: the player sits at another \
            table. `too_few_coins`: for this bet. `seating`: a request of the player is being \
            seated; ask again. `table_halted`: an operator decides what becomes of it",
            body = ProblemBody, content_type = "application/problem+json"),
    )
)]
pub(super) async fn join_private_table(
    State(services): State<Services>,
    player: Player,
    Path(code): Path<String>,
) -> Result<Json<PrivateSeatBody>, Problem> {
    Ok(Json(services.lobby.join_private(player.id, &code).await?.into()))
}

/// Send a player away from my private table
///
/// Only while no game runs. The player cannot come back by the same code.
#[utoipa::path(
    delete,
    path = "/v1/private-tables/{code}/players/{id}",
    tag = "rooms",
    params(
        ("code" = String, Path, max_length = 8, description = "The table's code", example = "K7MWQ2XA"),
        ("id" = Uuid, Path, description = "The player"),
    ),
    security(("access_token" = [])),
    responses(
        (status = 204, description = "The seat is free"),
        (status = 403, description = "`not_host`: only the host may do this",
            body = ProblemBody, content_type = "application/problem+json"),
        (status = 404, description = "`code_not_found`, or `not_seated`: the player does not sit \
            there, or is the host",
            body = ProblemBody, content_type = "application/problem+json"),
        (status = 409, description = "`game_running`: wait until the game is over. \
            `table_halted`: an operator decides what becomes of it",
            body = ProblemBody, content_type = "application/problem+json"),
    )
)]
pub(super) async fn remove_from_private_table(
    State(services): State<Services>,
    player: Player,
    Path((code, id)): Path<(String, Uuid)>,
) -> Result<StatusCode, Problem> {
    services.lobby.remove_privately(player.id, &code, PlayerId(id)).await?;
    Ok(StatusCode::NO_CONTENT)
}
