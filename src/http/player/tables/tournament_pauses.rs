//! Pauses in arena tournaments, for their players.

use axum::extract::State;
use axum::http::StatusCode;
use bahay_engine::table::TournamentId;
use uuid::Uuid;

use crate::auth::Player;
use crate::http::{Path, Problem};
use crate::tournaments::Tournaments;

pub(crate) async fn pause_in_tournament(
    State(tournaments): State<Tournaments>,
    player: Player,
    Path(id): Path<Uuid>,
) -> Result<StatusCode, Problem> {
    tournaments.pause(TournamentId(id), player.id).await?;
    Ok(StatusCode::NO_CONTENT)
}

pub(crate) async fn resume_tournament(
    State(tournaments): State<Tournaments>,
    player: Player,
    Path(id): Path<Uuid>,
) -> Result<StatusCode, Problem> {
    tournaments.resume(TournamentId(id), player.id).await?;
    Ok(StatusCode::NO_CONTENT)
}
