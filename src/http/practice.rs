//! Practice tables: a player alone with bots, without coins.

use axum::extract::State;
use axum::{Extension, Json};
use serde::Deserialize;
use utoipa::ToSchema;

use crate::auth::Player;
use crate::edge::Address;
use crate::lobby::WantedRules;

use super::rooms::SeatedAt;
use super::{Body, Problem, ProblemBody, Services};

/// What the player wants to practise.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Practise {
    /// The game to play.
    #[schema(max_length = 32, example = "tongits")]
    kind: String,
    /// One of the game's rule sets; its first where it is left out.
    #[serde(default)]
    #[schema(max_length = 32, example = "kingdom")]
    rule_set: Option<String>,
    /// Fields of the game's rules that are to be otherwise than the rule set has them.
    #[serde(default)]
    #[schema(value_type = Option<Object>)]
    rules: serde_json::Value,
    /// How many sit there, the player among them; as few as the game takes where it is left out.
    #[serde(default)]
    #[schema(minimum = 2, maximum = 8, example = 3)]
    players: Option<u8>,
}

/// Sit down at a practice table
///
/// A table of the player's own, with bots in the other seats. Nothing is played for there: no coins
/// are needed, nothing is booked, and a game is in no history, statistics or leaderboard. Over the
/// socket the player may ask there what a bot would play (`hint`). Who leaves is free at once, and the
/// table is over (rule 8.7). Who sits at a practice table already is sent back to that one.
#[utoipa::path(
    post,
    path = "/v1/practice-tables",
    tag = "rooms",
    security(("access_token" = [])),
    request_body = Practise,
    responses(
        (status = 200, description = "The table", body = SeatedAt),
        (status = 403, description = "`banned`: the detail says until when, and why",
            body = ProblemBody, content_type = "application/problem+json"),
        (status = 409, description = "`seated_elsewhere`: the player sits at a table that is not for \
            practice. `practice_full`: there are as many practice tables as the house has. \
            `room_closed`: the house is closed. `seating`: a request of the player is being seated; \
            ask again. `table_halted`: the player sits at a table that was halted. \
            `socket_required`: open the socket first",
            body = ProblemBody, content_type = "application/problem+json"),
        (status = 429, description = "`not_ready_before`: the player, its device or many of its \
            network took seats and were not ready; wait as long as `Retry-After` says",
            body = ProblemBody, content_type = "application/problem+json"),
        (status = 422, description = "`body_invalid`, or `rules_invalid`: there is no such game or \
            rule set, no game can be dealt by these rules, or not to so many players; the detail \
            names the field",
            body = ProblemBody, content_type = "application/problem+json"),
    )
)]
pub(super) async fn open_practice_table(
    State(services): State<Services>,
    player: Player,
    Extension(from): Extension<Address>,
    Body(Practise { kind, rule_set, rules, players }): Body<Practise>,
) -> Result<Json<SeatedAt>, Problem> {
    let wanted = WantedRules { kind: Some(kind), rule_set, switches: rules };
    let table = services.lobby.practise(player.id, wanted, players, Some(from)).await?;
    Ok(Json(SeatedAt::at(table)))
}
