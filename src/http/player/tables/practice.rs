//! Practice tables: a player alone with bots, without coins.

use axum::extract::State;
use axum::{Extension, Json};
use serde::Deserialize;
use utoipa::ToSchema;

use crate::auth::Player;
use crate::lobby::RuleSetRequest;
use crate::rate_limit::Address;

use crate::http::{Body, Problem, ProblemBody, Services};
use bahay_api::player::rooms::SeatedTable;

/// A request for a practice table.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct PracticeTableRequest {
    /// The game to play.
    #[schema(max_length = 32, example = "tongits")]
    kind: String,
    /// One of the game's rule sets. Defaults to its first one.
    #[serde(default)]
    #[schema(max_length = 32, example = "kingdom")]
    rule_set: Option<String>,
    /// Fields of the game's rules that override those of the rule set.
    #[serde(default)]
    #[schema(value_type = Option<Object>)]
    rules: serde_json::Value,
    /// The number of seats, including the player's. Defaults to the minimum of the game.
    #[serde(default)]
    #[schema(minimum = 2, maximum = 8, example = 3)]
    players: Option<u8>,
}

/// Sit down at a practice table
///
/// Opens a table of the player's own, with bots in the other seats. A practice table uses no coins
/// and books nothing, and its games appear in no history, statistics or leaderboard. Over the
/// socket the player may ask there which action a bot would choose (`hint`). A player who leaves is
/// free at once, and the table ends (rule 8.7). A player who sits at a practice table already is
/// returned to it.
#[utoipa::path(
    post,
    path = "/v1/practice-tables",
    tag = "rooms",
    security(("access_token" = [])),
    request_body = PracticeTableRequest,
    responses(
        (status = 200, description = "The table", body = SeatedTable),
        (status = 403, description = "`banned`: the detail states the end and the reason",
            body = ProblemBody, content_type = "application/problem+json"),
        (status = 409, description = "`seated_elsewhere`: the player sits at a table that is not \
            for practice. `practice_full`: the house's limit of practice tables is reached. \
            `room_closed`: the house is closed. `seating`: a request of the player is being \
            seated; retry. `table_halted`: the player sits at a table that was halted. \
            `socket_required`: open the socket first",
            body = ProblemBody, content_type = "application/problem+json"),
        (status = 429, description = "`not_ready_before`: the player, its device, or many players \
            of its network took seats and were not ready; wait for the time in `Retry-After`",
            body = ProblemBody, content_type = "application/problem+json"),
        (status = 422, description = "`body_invalid`, or `rules_invalid`: the game or rule set \
            does not exist, or the rules are invalid, also for this number of players; the detail \
            names the field",
            body = ProblemBody, content_type = "application/problem+json"),
    )
)]
pub(crate) async fn open_practice_table(
    State(services): State<Services>,
    player: Player,
    Extension(from): Extension<Address>,
    Body(PracticeTableRequest { kind, rule_set, rules, players }): Body<PracticeTableRequest>,
) -> Result<Json<SeatedTable>, Problem> {
    let rules = RuleSetRequest { kind: Some(kind), rule_set, switches: rules };
    let table = services.lobby.join_practice(player.id, rules, players, Some(from)).await?;
    Ok(Json(SeatedTable::new(table)))
}
