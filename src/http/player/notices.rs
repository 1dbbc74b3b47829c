//! The inbox of a player.

use axum::Json;
use axum::extract::{FromRef, State};
use axum::http::StatusCode;
use bahay_api::player::notices::Notice;
use uuid::Uuid;

use crate::auth::Player;
use crate::http::{Code, CodeExt as _, PageOf, PageRequest, Path, Problem, Services};
use crate::notices::Notices;

impl FromRef<Services> for Notices {
    fn from_ref(services: &Services) -> Self {
        Self::new(services.pool.clone())
    }
}

pub(crate) async fn list_my_notices(
    State(notices): State<Notices>,
    request: PageRequest<Player>,
) -> Result<Json<PageOf<Notice>>, Problem> {
    let read = |below, limit| notices.list(request.caller.id, below, limit);
    Ok(Json(request.read("notices", read).await?))
}

pub(crate) async fn read_my_notice(
    State(notices): State<Notices>,
    player: Player,
    Path(id): Path<Uuid>,
) -> Result<StatusCode, Problem> {
    match notices.mark_read(player.id, id).await? {
        true => Ok(StatusCode::NO_CONTENT),
        false => Err(Code::NoticeNotFound.problem()),
    }
}
