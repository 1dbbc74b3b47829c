//! The inbox of a player.

use axum::Json;
use axum::extract::{FromRef, State};
use axum::http::StatusCode;
use bahay_api::player::notices::Notice;
use uuid::Uuid;

use crate::auth::Player;
use crate::http::{Code, CodeExt as _, Cursors, PageOf, PageQuery, Path, Problem, Query, Services};
use crate::notices::Notices;

impl FromRef<Services> for Notices {
    fn from_ref(services: &Services) -> Self {
        Self::new(services.pool.clone())
    }
}

pub(crate) async fn list_my_notices(
    State(notices): State<Notices>,
    State(cursors): State<Cursors>,
    player: Player,
    Query(query): Query<PageQuery>,
) -> Result<Json<PageOf<Notice>>, Problem> {
    const LIST: &str = "notices";
    let below = cursors.position(LIST, &player, query.cursor.as_deref())?;
    let page = notices.list(player.id, below, query.limit.items()).await?;
    Ok(Json(cursors.page(LIST, &player, page)))
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
