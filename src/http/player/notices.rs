//! The inbox of a player.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::auth::Player;
use crate::notices::{self, Notices};

use crate::http::{
    Code, CodeExt as _, Coins, Cursors, PageOf, PageQuery, Path, Problem, ProblemBody, Query,
    Services, Time, database_problem,
};

/// A message in a player's inbox.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Notice {
    id: Uuid,
    /// The kind of the notice, for programs. `game_voided`: the game was voided, and `amount` is
    /// the returned ante and stake. `pot_refunded`: the table no longer exists, or it was a private
    /// table that ended or from which the player was removed; `amount` is what the player had paid
    /// into its POT. `private_limit`: a game at a private table did not begin with the player,
    /// because it could have won more than the player may still win at private tables.
    /// `room_limit`: the same in a room, because of the amount that the player has won from the
    /// other players of the table within a day. `banned`: the player is banned for a time.
    /// `ban_lifted`: a ban was lifted. `muted`: the player's chat messages are refused.
    /// `mute_lifted`: a mute was lifted. `rematch`: the player `from` invites to play `game`
    /// again, at the private table with `code`. Kinds may be added, but do not change.
    #[schema(example = "game_voided")]
    kind: String,
    /// The game that the notice is about, if any.
    #[schema(required = true)]
    game: Option<Uuid>,
    #[schema(required = true)]
    amount: Option<Coins>,
    /// The code of the private table, for a `rematch`.
    #[schema(required = true, example = "K7MWQ2XA")]
    code: Option<String>,
    /// The player who invites, for a `rematch`.
    #[schema(required = true)]
    from: Option<Uuid>,
    /// The name of the inviting player; null once the account was deleted.
    #[schema(required = true, example = "Benjie")]
    name: Option<String>,
    created_at: Time,
    /// Null while the notice is unread.
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
/// Newest first, including read ones. The message `hello` of the socket contains the number of
/// unread notices.
#[utoipa::path(
    get,
    path = "/v1/me/notices",
    tag = "me",
    security(("access_token" = [])),
    params(PageQuery),
    responses((status = 200, description = "A page of notices", body = PageOf<Notice>))
)]
pub(crate) async fn list_my_notices(
    State(notices): State<Notices>,
    State(cursors): State<Cursors>,
    player: Player,
    Query(query): Query<PageQuery>,
) -> Result<Json<PageOf<Notice>>, Problem> {
    const LIST: &str = "notices";
    let cursor = cursors.open(LIST, &player, query.cursor.as_deref())?;
    let page = notices.list(player.id, cursor, query.limit.items()).await;
    let page = page.map_err(database_problem)?;
    Ok(Json(PageOf {
        items: page.items.into_iter().map(Notice::from).collect(),
        next_cursor: page.next.map(|next| cursors.seal(LIST, &player, &next)),
    }))
}

/// Mark a notice as read
///
/// Idempotent: the time of the first call is kept.
#[utoipa::path(
    post,
    path = "/v1/me/notices/{id}/read",
    tag = "me",
    security(("access_token" = [])),
    params(("id" = Uuid, Path, description = "The notice")),
    responses(
        (status = 204, description = "The notice is read"),
        (
            status = 404,
            description = "`notice_not_found`: the notice does not exist, or belongs to another \
                player",
            body = ProblemBody,
            content_type = "application/problem+json"
        )
    )
)]
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

impl axum::extract::FromRef<Services> for Notices {
    fn from_ref(services: &Services) -> Self {
        Self::new(services.pool.clone())
    }
}
