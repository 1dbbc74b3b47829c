//! Pauses in arena tournaments, for their players.

use axum::extract::State;
use axum::http::StatusCode;
use bahay_engine::table::TournamentId;
use bahay_engine::tournament::Rejection;
use uuid::Uuid;

use crate::auth::Player;
use crate::http::{Code, CodeExt as _, Path, Problem};
use crate::tournaments::{TournamentError, Tournaments};

/// Returns the refusal of a pause or of its end.
fn problem(error: TournamentError) -> Problem {
    match error {
        TournamentError::Rejected(Rejection::NotArena) => {
            Code::NotArena.with_detail(error.to_string())
        }
        other => other.into(),
    }
}

pub(crate) async fn pause_in_tournament(
    State(tournaments): State<Tournaments>,
    player: Player,
    Path(id): Path<Uuid>,
) -> Result<StatusCode, Problem> {
    tournaments.pause(TournamentId(id), player.id).await.map_err(problem)?;
    Ok(StatusCode::NO_CONTENT)
}

pub(crate) async fn resume_tournament(
    State(tournaments): State<Tournaments>,
    player: Player,
    Path(id): Path<Uuid>,
) -> Result<StatusCode, Problem> {
    tournaments.resume(TournamentId(id), player.id).await.map_err(problem)?;
    Ok(StatusCode::NO_CONTENT)
}
