//! The inbox of a player.

use axum::Json;
use axum::extract::{FromRef, State};
use axum::http::StatusCode;
use bahay_api::player::notices::Notice;
use uuid::Uuid;

use crate::auth::Player;
use crate::http::{
    Code, CodeExt as _, Coins, Cursors, PageOf, PageQuery, Path, Problem, Query, Services, Time,
    database_problem,
};
use crate::notices::{self, Notices};

impl FromRef<Services> for Notices {
    fn from_ref(services: &Services) -> Self {
        Self::new(services.pool.clone())
    }
}

impl From<notices::Notice> for Notice {
    fn from(notice: notices::Notice) -> Self {
        Self {
            id: notice.id,
            kind: notice.kind,
            game: notice.game.map(|game| game.0),
            amount: notice.amount.map(Coins::from),
            code: notice.code,
            from: notice.from.map(|from| from.0),
            name: notice.name,
            created_at: notice.created_at.into(),
            read_at: notice.read_at.map(Time::from),
        }
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
    let page = notices.list(player.id, below, query.limit.items()).await;
    let page = page.map_err(database_problem)?;
    Ok(Json(cursors.page(LIST, &player, page).map(Notice::from)))
}

pub(crate) async fn read_my_notice(
    State(notices): State<Notices>,
    player: Player,
    Path(id): Path<Uuid>,
) -> Result<StatusCode, Problem> {
    let marked = notices.mark_read(player.id, id).await;
    match marked.map_err(database_problem)? {
        true => Ok(StatusCode::NO_CONTENT),
        false => Err(Code::NoticeNotFound.problem()),
    }
}
