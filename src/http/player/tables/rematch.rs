//! Rematches: a private table with the players, the rules and the bet of a finished game.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use uuid::Uuid;

use crate::auth::Player;
use crate::db::PgPool;
use crate::lobby::{FinishedGame, Invitation, Rematch};
use crate::notices::{InvitationResult, Notices, RematchInvitation};
use crate::records::Records;
use crate::replay::GameReplay;

use super::private_tables::PrivateSeatBody;
use crate::http::player::games::records::load_record;
use crate::http::{Path, Problem, ProblemBody, Services, database_problem};

/// Request a rematch of one of my games
///
/// Opens a private table with the game, the rules, the bet and the multiplier of a finished game of
/// the player, and seats the player as its host. If another player of that game has done so
/// already, and the table still exists, the player is seated there. The other players are invited
/// at once by `invited` on their sockets, and by a notice of the kind `rematch`. House bots are not
/// invited, nor are players of whom one has blocked the other. Idempotent: a repeated request
/// returns the same seat. A player who still sits at the room's table of that game leaves it,
/// unless the next game has begun. Possible until an hour after the end of the game.
#[utoipa::path(
    post,
    path = "/v1/games/{id}/rematch",
    tag = "rooms",
    params(("id" = Uuid, Path, description = "The game")),
    security(("access_token" = [])),
    responses(
        (status = 201, description = "The seat; the same one if the player sits there already",
            body = PrivateSeatBody),
        (status = 403, description = "`banned`: the detail states the end and the reason. \
            `kicked_by_host`: the host has removed the player",
            body = ProblemBody, content_type = "application/problem+json"),
        (status = 404, description = "`game_not_found`: the game does not exist, or the player did \
            not play in it",
            body = ProblemBody, content_type = "application/problem+json"),
        (status = 409, description = "`game_not_finished` or `game_voided`: the game cannot be \
            played again. `rematch_over`: the game ended more than an hour ago. `table_full`: the \
            seats of the rematch are taken. `seat_after_game`: a bot gives its seat to the player \
            after the running game; retry then. `seated_elsewhere`: the player sits at another \
            table. `too_many_private_tables`: the player has eight already. `too_few_coins`: the \
            wallet does not cover this bet. `private_bet_too_high`: a game could win more than the \
            player may still win at private tables. `room_closed`: the house is closed. `seating`: \
            a request of the player is being seated; retry. `table_halted`: the player sits at a \
            table that was halted. `socket_required`: open the socket first",
            body = ProblemBody, content_type = "application/problem+json"),
        (status = 422, description = "`path_invalid`, or `bet_invalid`: the bet is out of the \
            bounds of private tables",
            body = ProblemBody, content_type = "application/problem+json"),
        (status = 503, description = "`archive_unreachable`, `timed_out`, `unavailable`",
            body = ProblemBody, content_type = "application/problem+json")
    )
)]
pub(crate) async fn request_rematch(
    State(services): State<Services>,
    State(pool): State<PgPool>,
    State(records): State<Records>,
    State(notices): State<Notices>,
    player: Player,
    Path(id): Path<Uuid>,
) -> Result<(StatusCode, Json<PrivateSeatBody>), Problem> {
    let from = player.id;
    let (game, record) = load_record(&pool, &records, player, id).await?;
    let replay = GameReplay::from_value(record).map_err(|error| Problem::internal(&error))?;
    let record = replay.record();
    let finished = FinishedGame {
        game: game.game,
        table: record.table,
        terms: record.terms.clone(),
        finished_at_ms: record.finished_at.ms(),
    };
    let Rematch { seat, is_host } = services.lobby.join_rematch(from, &finished).await?;
    if is_host {
        let game = game.game;
        let code = seat.code.clone();
        let invitation = RematchInvitation { game, from, code: code.clone() };
        let InvitationResult { players, name } =
            notices.invite(&invitation).await.map_err(database_problem)?;
        let invitation = Invitation { code, from, name, game };
        if let Err(error) = services.lobby.send_invitation(players, &invitation).await {
            // The invitations remain available as notices.
            tracing::warn!(%game, %error, "the players of a rematch were not invited at once");
        }
    }
    Ok((StatusCode::CREATED, Json(seat.into())))
}
