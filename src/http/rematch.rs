//! A rematch: the same players, the same game, the same bet, at a private table.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use uuid::Uuid;

use crate::auth::Player;
use crate::db::PgPool;
use crate::lobby::{FinishedGame, Invitation, Rematch};
use crate::notices::{Invited, Notices, RematchInvitation};
use crate::records::Records;
use crate::replay::GameReplay;

use super::games::load_record;
use super::private_tables::PrivateSeatBody;
use super::{Path, Problem, ProblemBody, Services, database_problem};

/// Play one of my games again
///
/// Opens a private table with the game, the rules, the bet and the multiplier of a finished game of
/// the player, and seats the player there as its host. If another player of that game has done so
/// already, and the table still exists, it seats the player at that one. The other players are told:
/// at once by an `invited` over their sockets, and by a notice of the kind `rematch`; bots of the
/// house and players of whom one has blocked the other are not. Asked again, it answers the same. A
/// player who still sits at the room's table of that game leaves it, unless the next game has begun.
/// Until an hour after the end of the game.
#[utoipa::path(
    post,
    path = "/v1/games/{id}/rematch",
    tag = "rooms",
    params(("id" = Uuid, Path, description = "The game")),
    security(("access_token" = [])),
    responses(
        (status = 201, description = "The seat; the same if the player sits there already",
            body = PrivateSeatBody),
        (status = 403, description = "`banned`: the detail says until when, and why. \
            `kicked_by_host`: the host has sent the player away",
            body = ProblemBody, content_type = "application/problem+json"),
        (status = 404, description = "`game_not_found`: there is no such game, or it was not yours",
            body = ProblemBody, content_type = "application/problem+json"),
        (status = 409, description = "`game_not_finished` or `game_voided`: it cannot be played again. \
            `rematch_over`: it was over more than an hour ago. `table_full`: the seats of the rematch \
            are taken. `seat_after_game`: a bot gives its seat to the player when the game there is \
            over; ask again then. `seated_elsewhere`: the player sits at another table. \
            `too_many_private_tables`: there are eight of the player's. `too_few_coins`: for this \
            bet. `private_bet_too_high`: a game could bring more than the player may still win at \
            private tables. `room_closed`: the house is closed. `seating`: a request of the player \
            is being seated; ask again. `table_halted`: the player sits at a table that was halted. \
            `socket_required`: open the socket first",
            body = ProblemBody, content_type = "application/problem+json"),
        (status = 422, description = "`path_invalid`, or `bet_invalid`: a private table is not for \
            such a bet",
            body = ProblemBody, content_type = "application/problem+json"),
        (status = 503, description = "`archive_unreachable`, `timed_out`, `unavailable`",
            body = ProblemBody, content_type = "application/problem+json")
    )
)]
pub(super) async fn request_rematch(
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
        let Invited { players, name } = notices.invite(&invitation).await.map_err(database_problem)?;
        let told = services.lobby.send_invitation(players, &Invitation { code, from, name, game }).await;
        if let Err(error) = told {
            // The notices are there.
            tracing::warn!(%game, %error, "invitations to a rematch were not told at once");
        }
    }
    Ok((StatusCode::CREATED, Json(seat.into())))
}
