//! Private tables: opened by a host, joined by a code.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use bahay_engine::coins;
use bahay_engine::game::GameRules;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

use crate::auth::Player;
use crate::ids::PlayerId;
use crate::lobby::{self, PrivateSeat, PrivateView};

use super::{Body, Coins, Path, Problem, ProblemBody, Services};

/// A request for a private table.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct OpenPrivateTableRequest {
    /// The room whose fee, POT rules and countdowns apply, and whose rule set applies if none is
    /// named.
    #[schema(max_length = 32, example = "newbie")]
    room: String,
    /// The bet, in hundredths of a coin: from 1 to 100,000 coins.
    #[schema(minimum = 100, maximum = 10_000_000, example = 500)]
    bet: i64,
    /// The game to play. Defaults to that of the room.
    #[serde(default)]
    #[schema(max_length = 32, example = "tongits")]
    kind: Option<String>,
    /// One of the game's rule sets, with its own POT rules. Defaults to the room's rules.
    #[serde(default)]
    #[schema(max_length = 32, example = "kingdom")]
    rule_set: Option<String>,
    /// Fields of the game's rules that override those of the rule set.
    #[serde(default)]
    #[schema(value_type = Option<Object>)]
    rules: serde_json::Value,
    /// Allows short stakes: a player whose wallet does not cover the maximum loss of a game plays
    /// on with the whole wallet as the stake, instead of leaving the table with `cannot_pay` (rule
    /// 6.9 of Tong-its). Refused for games that do not support it.
    #[serde(default)]
    short_stakes: bool,
}

/// A seat at a private table.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = PrivateSeat)]
pub(super) struct PrivateSeatBody {
    /// The code by which players join; upper and lower case are equivalent.
    #[schema(example = "K7MWQ2XA", min_length = 8, max_length = 8)]
    code: String,
    /// The link to send to friends, with the same code.
    #[schema(example = "https://play.example/join/K7MWQ2XA")]
    link: String,
    table: Uuid,
}

impl From<PrivateSeat> for PrivateSeatBody {
    fn from(PrivateSeat { code, link, table }: PrivateSeat) -> Self {
        Self { code, link, table: table.0 }
    }
}

/// A private table, as shown to players before they sit down.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = PrivateTable)]
pub(super) struct PrivateTableBody {
    #[schema(example = "K7MWQ2XA")]
    code: String,
    #[schema(example = "https://play.example/join/K7MWQ2XA")]
    link: String,
    table: Uuid,
    /// The host, who may remove other players.
    host: Uuid,
    bet: Coins,
    multiplier: u32,
    #[schema(example = 500)]
    fee_basis_points: u32,
    /// The game's kind.
    #[schema(example = "tongits")]
    kind: &'static str,
    /// The number of consecutive wins that take the POT; null without a POT.
    #[schema(required = true, example = 2)]
    hits_to_win: Option<u8>,
    /// The rule set; null if the rules differ from every rule set.
    #[schema(required = true, example = "kingdom")]
    rule_set: Option<&'static str>,
    /// All rules of the game.
    #[schema(value_type = Object)]
    rules: serde_json::Value,
    /// The minimum balance required to sit down.
    wallet_min: Coins,
    /// The maximum loss of one seat in one game, including its ante.
    loss_max: Coins,
    /// True if a wallet that holds less than the maximum loss before a later game is staked whole.
    short_stakes: bool,
    seats: u8,
    /// The number of ready players at which a game begins.
    seats_min: u8,
    /// The seated players.
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
            kind: terms.rules.kind(),
            hits_to_win: terms.hits.map(|hits| hits.to_win),
            rule_set: terms.rules.rule_set(),
            rules: serde_json::to_value(&terms.rules).unwrap_or_default(),
            wallet_min: view.wallet_min.into(),
            loss_max: terms.loss_max().unwrap_or_default().into(),
            short_stakes: terms.private.is_some_and(|private| private.short_stakes),
            seats: view.seats,
            seats_min: terms.rules.seats().least,
            players: view.players.into_iter().map(|player| player.0).collect(),
        }
    }
}

/// Open a private table
///
/// Seats the host, who passes the code or the link to friends; nobody else joins. After a game the
/// same seats are asked to be ready for the next one. When the table has been empty for an hour it
/// ends, and its POT is refunded to those who paid it, each of whom receives a notice. A host may
/// have at most eight tables. The amount that a player may win at private tables is limited: to the
/// house's amount a day, plus the fees that the player has paid in rooms within seven days.
#[utoipa::path(
    post,
    path = "/v1/private-tables",
    tag = "rooms",
    security(("access_token" = [])),
    request_body = OpenPrivateTableRequest,
    responses(
        (status = 201, description = "The host's seat", body = PrivateSeatBody),
        (status = 403, description = "`banned`: the detail states the end and the reason",
            body = ProblemBody, content_type = "application/problem+json"),
        (status = 404, description = "`room_not_found`: the room does not exist",
            body = ProblemBody, content_type = "application/problem+json"),
        (status = 409, description = "`seated_elsewhere`: the player sits at a table already. \
            `too_many_private_tables`: the player has eight already. `too_few_coins`: the wallet \
            does not cover this bet. `private_bet_too_high`: a game could win more than the player \
            may still win at private tables; the detail states both amounts. `seating`: a request \
            of the player is being seated; retry. `table_halted`: the player sits at a table that \
            was halted. `socket_required`: open the socket first",
            body = ProblemBody, content_type = "application/problem+json"),
        (status = 422, description = "`body_invalid`, `bet_invalid`: the bet is out of bounds; or \
            `rules_invalid`: the game or rule set does not exist, the rules are invalid, or the \
            game does not support short stakes; the detail names the field",
            body = ProblemBody, content_type = "application/problem+json"),
    )
)]
pub(super) async fn open_private_table(
    State(services): State<Services>,
    player: Player,
    Body(body): Body<OpenPrivateTableRequest>,
) -> Result<(StatusCode, Json<PrivateSeatBody>), Problem> {
    let OpenPrivateTableRequest { room, bet, kind, rule_set, rules, short_stakes } = body;
    let bet = coins::Coins::from_hundredths(bet);
    let is_wanted = kind.is_some() || rule_set.is_some() || !rules.is_null();
    let rules = is_wanted.then_some(lobby::RuleSetRequest { kind, rule_set, switches: rules });
    let request = lobby::PrivateTableRequest { room, rules, bet, short_stakes };
    let seat = services.lobby.open_private(player.id, request).await?;
    Ok((StatusCode::CREATED, Json(seat.into())))
}

/// Show a private table
#[utoipa::path(
    get,
    path = "/v1/private-tables/{code}",
    tag = "rooms",
    params(("code" = String, Path, max_length = 8, description = "The table's code",
        example = "K7MWQ2XA")),
    security(("access_token" = [])),
    responses(
        (status = 200, description = "The table", body = PrivateTableBody),
        (status = 404, description = "`code_not_found`: no table has this code, or the table has \
            ended",
            body = ProblemBody, content_type = "application/problem+json"),
        (status = 409, description = "`table_halted`: an operator decides about the table",
            body = ProblemBody, content_type = "application/problem+json"),
    )
)]
pub(super) async fn show_private_table(
    State(services): State<Services>,
    _player: Player,
    Path(code): Path<String>,
) -> Result<Json<PrivateTableBody>, Problem> {
    Ok(Json(services.lobby.private_view(&code).await?.into()))
}

/// Sit down at a private table
#[utoipa::path(
    post,
    path = "/v1/private-tables/{code}/seat",
    tag = "rooms",
    params(("code" = String, Path, max_length = 8, description = "The table's code",
        example = "K7MWQ2XA")),
    security(("access_token" = [])),
    responses(
        (status = 200, description = "The seat; the same one if the player sits there already",
            body = PrivateSeatBody),
        (status = 403, description = "`kicked_by_host`: the host has removed the player. `banned`: \
            the detail states the end and the reason",
            body = ProblemBody, content_type = "application/problem+json"),
        (status = 404, description = "`code_not_found`: no table has this code, or the table has \
            ended",
            body = ProblemBody, content_type = "application/problem+json"),
        (status = 409, description = "`table_full`. `seat_after_game`: a bot gives its seat to the \
            player after the running game; retry then. `seated_elsewhere`: the player sits at \
            another table. `too_few_coins`: the wallet does not cover this bet. \
            `private_bet_too_high`: a game could win more than the player may still win at private \
            tables; the detail states both amounts. `seating`: a request of the player is being \
            seated; retry. `table_halted`: an operator decides about the table. `socket_required`: \
            open the socket first",
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

/// Fill my private table with bots
///
/// House bots take seats until a game can begin, and are ready at once; if enough players are
/// seated already, nothing happens. They play at full strength, with coins of the house. A bot
/// gives its seat, with its part of the POT, to a guest who joins by the code: at once between
/// games, otherwise after the running game. The host can remove a bot like any other player. Coins
/// won from bots count towards the limit of a player's wins at private tables.
#[utoipa::path(
    post,
    path = "/v1/private-tables/{code}/bots",
    tag = "rooms",
    params(("code" = String, Path, max_length = 8, description = "The table's code",
        example = "K7MWQ2XA")),
    security(("access_token" = [])),
    responses(
        (status = 200, description = "The table, with the bots", body = PrivateTableBody),
        (status = 403, description = "`not_host`: only the host may do this. `banned`: the detail \
            states the end and the reason",
            body = ProblemBody, content_type = "application/problem+json"),
        (status = 404, description = "`code_not_found`, or `not_seated`: the host does not sit \
            there",
            body = ProblemBody, content_type = "application/problem+json"),
        (status = 409, description = "`game_running`: wait until the game is over. \
            `bots_unavailable`: the house has no bots, all of them are playing, they have reached \
            their daily loss limit, or they do not play at this bet, by custom rules or against \
            short stakes; the detail states the reason. `room_closed`: the house is closed. \
            `seating`: a bot is being seated; retry. `table_halted`: an operator decides about the \
            table. `socket_required`: open the socket first",
            body = ProblemBody, content_type = "application/problem+json"),
    )
)]
pub(super) async fn fill_private_table(
    State(services): State<Services>,
    player: Player,
    Path(code): Path<String>,
) -> Result<Json<PrivateTableBody>, Problem> {
    Ok(Json(services.lobby.fill_private_table(player.id, &code).await?.into()))
}

/// Remove a player from my private table
///
/// Only possible while no game runs. The player cannot join again by the same code, and is refunded
/// what it has paid into the POT since the POT was last won; a notice states the amount.
#[utoipa::path(
    delete,
    path = "/v1/private-tables/{code}/players/{id}",
    tag = "rooms",
    params(
        ("code" = String, Path, max_length = 8, description = "The table's code",
            example = "K7MWQ2XA"),
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
        (status = 409, description = "`game_running`: wait until the game is over. `table_halted`: \
            an operator decides about the table",
            body = ProblemBody, content_type = "application/problem+json"),
    )
)]
pub(super) async fn remove_from_private_table(
    State(services): State<Services>,
    player: Player,
    Path((code, id)): Path<(String, Uuid)>,
) -> Result<StatusCode, Problem> {
    services.lobby.kick_player(player.id, &code, PlayerId(id)).await?;
    Ok(StatusCode::NO_CONTENT)
}
