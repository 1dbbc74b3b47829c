//! The inbox of a player.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::auth::Player;
use crate::notices::{self, Notices};

use super::{
    Code, Coins, Cursors, PageOf, PageQuery, Path, Problem, ProblemBody, Query, Services, Time,
    unread,
};

/// Something that a player is told.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Notice {
    id: Uuid,
    /// What it is about, for programs. `game_voided`: the game could not be finished, and `amount`
    /// is what came back, ante and stake. `pot_refunded`: a table is gone, or was a private one that
    /// has ended or from which the player had to go, and `amount` is what the player had paid into
    /// its POT. `private_limit`: at a private table a game did not begin with the player, because it
    /// could have brought more than the player may still win at such tables. `room_limit`: the same in
    /// a room, because of what the player has won of others at the table within a day.
    /// `banned`: the player could not come in for a time. `ban_lifted`: a ban was taken back.
    /// `muted`: what the player says at tables is refused. `mute_lifted`: that was taken back.
    /// `rematch`: the player `from` wants to play `game` again, at the private table of `code`. Kinds
    /// are added, not changed.
    #[schema(example = "game_voided")]
    kind: String,
    /// The game that it is about, if any.
    #[schema(required = true)]
    game: Option<Uuid>,
    #[schema(required = true)]
    amount: Option<Coins>,
    /// The code of a private table, for a `rematch`.
    #[schema(required = true, example = "K7MWQ2XA")]
    code: Option<String>,
    /// The player who invites, for a `rematch`.
    #[schema(required = true)]
    from: Option<Uuid>,
    /// The name of that player; null once the account was deleted.
    #[schema(required = true, example = "Benjie")]
    name: Option<String>,
    created_at: Time,
    /// Null while it is unread.
    #[schema(required = true)]
    read_at: Option<Time>,
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
            created_at: Time::from_ms(notice.created_at_ms),
            read_at: notice.read_at_ms.map(Time::from_ms),
        }
    }
}

/// List my notices
///
/// Newest first, read ones too. `hello` on the socket says how many are unread.
#[utoipa::path(
    get,
    path = "/v1/me/notices",
    tag = "me",
    security(("access_token" = [])),
    params(PageQuery),
    responses((status = 200, description = "A page of notices", body = PageOf<Notice>))
)]
pub(super) async fn list_my_notices(
    State(notices): State<Notices>,
    State(cursors): State<Cursors>,
    player: Player,
    Query(query): Query<PageQuery>,
) -> Result<Json<PageOf<Notice>>, Problem> {
    const LIST: &str = "notices";
    let cursor = cursors.open(LIST, &player, query.cursor.as_deref())?;
    let page = notices.list(player.id, cursor, query.limit.items()).await;
    let page = page.map_err(unread)?;
    Ok(Json(PageOf {
        items: page.items.into_iter().map(Notice::from).collect(),
        next_cursor: page.next.map(|next| cursors.seal(LIST, &player, &next)),
    }))
}

/// Mark a notice as read
///
/// As often as you like; the first time stands.
#[utoipa::path(
    post,
    path = "/v1/me/notices/{id}/read",
    tag = "me",
    security(("access_token" = [])),
    params(("id" = Uuid, Path, description = "The notice")),
    responses(
        (status = 204, description = "It is read"),
        (
            status = 404,
            description = "`notice_not_found`: there is no such notice, or it is not yours",
            body = ProblemBody,
            content_type = "application/problem+json"
        )
    )
)]
pub(super) async fn read_my_notice(
    State(notices): State<Notices>,
    player: Player,
    Path(id): Path<Uuid>,
) -> Result<StatusCode, Problem> {
    let is_there = notices.mark_read(player.id, id).await;
    match is_there.map_err(unread)? {
        true => Ok(StatusCode::NO_CONTENT),
        false => Err(Code::NoticeNotFound.plain()),
    }
}

impl axum::extract::FromRef<Services> for Notices {
    fn from_ref(services: &Services) -> Self {
        Self::new(services.pool.clone())
    }
}
