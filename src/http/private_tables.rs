//! Private tables: opened by a host, joined by a code.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use bahay_engine::catalog::AnyGame;
use bahay_engine::coins;
use bahay_engine::game::Game as _;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

use crate::auth::Player;
use crate::ids::PlayerId;
use crate::lobby::{self, PrivateSeat, PrivateView};

use super::{Body, Coins, Path, Problem, ProblemBody, Services};

/// What the host wants to play.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct OpenPrivateTableRequest {
    /// Whose fee, POT rules, countdowns and, if none is named, rule set hold.
    #[schema(max_length = 32, example = "newbie")]
    room: String,
    /// In hundredths of a coin: from 1 to 100,000 coins.
    #[schema(minimum = 100, maximum = 10_000_000, example = 500)]
    bet: i64,
    /// The game to play; that of the room where it is left out.
    #[serde(default)]
    #[schema(max_length = 32, example = "tongits")]
    kind: Option<String>,
    /// One of the game's rule sets, with its own POT rules; the room's rules where it is left out.
    #[serde(default)]
    #[schema(max_length = 32, example = "kingdom")]
    rule_set: Option<String>,
    /// Fields of the game's rules that are to be otherwise than the rule set has them.
    #[serde(default)]
    #[schema(value_type = Option<Object>)]
    rules: serde_json::Value,
    /// A player whose wallet does not cover the most that a game can cost plays on with all that is
    /// in it, and does not leave the table with `cannot_pay` (rule 6.9 of Tong-its). Refused for
    /// games that do not know this.
    #[serde(default)]
    short_stakes: bool,
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
    /// The game, by its name.
    #[schema(example = "tongits")]
    kind: &'static str,
    /// Wins in a row that take the POT; none where there is none.
    #[schema(required = true, example = 2)]
    hits_to_win: Option<u8>,
    /// None where switches are set otherwise than in every rule set.
    #[schema(required = true, example = "kingdom")]
    rule_set: Option<&'static str>,
    /// The game's rules, whole.
    #[schema(value_type = Object)]
    rules: serde_json::Value,
    /// The least that a wallet must hold to sit down.
    wallet_min: Coins,
    /// The most that one game can cost one seat, its ante included.
    loss_max: Coins,
    /// A wallet that holds less before a later game is staked whole.
    short_stakes: bool,
    seats: u8,
    /// A game begins when so many are ready.
    seats_min: u8,
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
            kind: terms.rules.kind(),
            hits_to_win: terms.hits.map(|hits| hits.to_win),
            rule_set: terms.rules.rule_set(),
            rules: serde_json::to_value(&terms.rules).unwrap_or_default(),
            wallet_min: view.wallet_min.into(),
            loss_max: terms.loss_max::<AnyGame>().unwrap_or_default().into(),
            short_stakes: terms.private.is_some_and(|private| private.short_stakes),
            seats: view.seats,
            seats_min: AnyGame::seats(&terms.rules).least,
            players: view.players.into_iter().map(|player| player.0).collect(),
        }
    }
}

/// Open a private table
///
/// The host sits down, and gives the code or the link to friends. Nobody else comes. After a game
/// the same seats are asked to be ready for the next one. When nobody has sat there for an hour the
/// table ends, and its POT goes back to those who paid it; each is told by a notice. There are at
/// most eight tables of one host. What a player may win at private tables is bounded: in a day by an
/// amount of the house's, and beside it by the fees that it has paid in rooms within seven days.
#[utoipa::path(
    post,
    path = "/v1/private-tables",
    tag = "rooms",
    security(("access_token" = [])),
    request_body = OpenPrivateTableRequest,
    responses(
        (status = 201, description = "The host's seat", body = PrivateSeatBody),
        (status = 403, description = "`banned`: the detail says until when, and why",
            body = ProblemBody, content_type = "application/problem+json"),
        (status = 404, description = "`room_not_found`: there is no such room",
            body = ProblemBody, content_type = "application/problem+json"),
        (status = 409, description = "`seated_elsewhere`: the player sits at a table already. \
            `too_many_private_tables`: there are eight of the player's. `too_few_coins`: for this \
            bet. `private_bet_too_high`: a game could bring more than the player may still win at \
            private tables; the detail says both amounts. `seating`: a request of the player is \
            being seated; ask again. `table_halted`: the player sits at a table that was halted. \
            `socket_required`: open the socket first",
            body = ProblemBody, content_type = "application/problem+json"),
        (status = 422, description = "`body_invalid`, `bet_invalid`: the bet is out of bounds, or \
            `rules_invalid`: there is no such game or rule set, no game can be dealt by these \
            rules, or the game knows no short stakes; the detail names the field",
            body = ProblemBody, content_type = "application/problem+json"),
    )
)]
pub(super) async fn open_private_table(
    State(services): State<Services>,
    player: Player,
    Body(OpenPrivateTableRequest { room, bet, kind, rule_set, rules, short_stakes }): Body<OpenPrivateTableRequest>,
) -> Result<(StatusCode, Json<PrivateSeatBody>), Problem> {
    let bet = coins::Coins::from_hundredths(bet);
    let is_wanted = kind.is_some() || rule_set.is_some() || !rules.is_null();
    let rules = is_wanted.then_some(lobby::WantedRules { kind, rule_set, switches: rules });
    let request = lobby::PrivateTableRequest { room, rules, bet, short_stakes };
    let seat = services.lobby.open_private(player.id, request).await?;
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
        (status = 403, description = "`kicked_by_host`: the host has sent the player away. \
            `banned`: the detail says until when, and why",
            body = ProblemBody, content_type = "application/problem+json"),
        (status = 404, description = "`code_not_found`: no table has this code, or no longer",
            body = ProblemBody, content_type = "application/problem+json"),
        (status = 409, description = "`table_full`. `seat_after_game`: a bot gives its seat to the \
            player when the game is over; ask again then. `seated_elsewhere`: the player sits at another \
            table. `too_few_coins`: for this bet. `private_bet_too_high`: a game could bring more \
            than the player may still win at private tables; the detail says both amounts. \
            `seating`: a request of the player is being seated; ask again. `table_halted`: an operator \
            decides what becomes of it. `socket_required`: open the socket first",
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

/// Have bots fill my private table
///
/// Bots of the house take seats until a game can begin, and are ready at once; where enough players
/// sit there already, nothing happens. They play as well as bots of the house can, with coins of the
/// house. A bot gives its seat to a guest who comes by the code, and takes its part of the POT along:
/// at once between games, and after the game in the midst of one. The host sends one away like
/// anybody else. Coins won of bots count against what a player may win at private tables.
#[utoipa::path(
    post,
    path = "/v1/private-tables/{code}/bots",
    tag = "rooms",
    params(("code" = String, Path, max_length = 8, description = "The table's code", example = "K7MWQ2XA")),
    security(("access_token" = [])),
    responses(
        (status = 200, description = "The table, with the bots", body = PrivateTableBody),
        (status = 403, description = "`not_host`: only the host may do this. `banned`: the detail \
            says until when, and why",
            body = ProblemBody, content_type = "application/problem+json"),
        (status = 404, description = "`code_not_found`, or `not_seated`: the host does not sit there",
            body = ProblemBody, content_type = "application/problem+json"),
        (status = 409, description = "`game_running`: wait until the game is over. \
            `bots_unavailable`: the house has no bots, all of them are playing, they may lose no \
            more today, or they do not play at such a bet, by rules of a host's own or against \
            short stakes; the detail says which. `room_closed`: the house is closed. \
            `seating`: a bot is being seated; ask again. `table_halted`: an operator decides what \
            becomes of the table. `socket_required`: open the socket first",
            body = ProblemBody, content_type = "application/problem+json"),
    )
)]
pub(super) async fn fill_private_table(
    State(services): State<Services>,
    player: Player,
    Path(code): Path<String>,
) -> Result<Json<PrivateTableBody>, Problem> {
    Ok(Json(services.lobby.fill_private(player.id, &code).await?.into()))
}

/// Send a player away from my private table
///
/// Only while no game runs. The player cannot come back by the same code, and gets back what it has
/// paid into the POT since that was last won: a notice tells how much.
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
