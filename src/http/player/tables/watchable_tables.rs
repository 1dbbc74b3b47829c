//! Tables that spectators may watch.

use axum::Json;
use axum::extract::State;
use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::auth::Player;
use crate::lobby::WatchableTable;

use crate::http::{Cursors, PageOf, PageQuery, Path, Problem, ProblemBody, Query, Services};

/// A table that may be watched: send `watch` with its id over the socket.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = WatchableTable)]
pub(crate) struct WatchableBody {
    table: Uuid,
    #[schema(example = "newbie")]
    room: String,
    /// The number of seated players, including house bots.
    #[schema(minimum = 1, maximum = 8)]
    players: u8,
    #[schema(minimum = 2, maximum = 8)]
    seats: u8,
}

impl From<WatchableTable> for WatchableBody {
    fn from(watchable: WatchableTable) -> Self {
        let WatchableTable { table, room, players, seats } = watchable;
        Self { table: table.0, room, players, seats }
    }
}

/// List the tables that may be watched
///
/// Lists the occupied tables of a room in the order of their ids; of more than a thousand, only the
/// fullest thousand. The list is empty if the room does not permit spectators. Private tables are
/// never listed.
#[utoipa::path(
    get,
    path = "/v1/rooms/{room}/tables",
    tag = "rooms",
    security(("access_token" = [])),
    params(
        ("room" = String, Path, max_length = 32, description = "The room's id", example = "newbie"),
        PageQuery
    ),
    responses(
        (status = 200, description = "A page of tables", body = PageOf<WatchableBody>),
        (status = 404, description = "`room_not_found`: the room does not exist",
            body = ProblemBody, content_type = "application/problem+json")
    )
)]
pub(crate) async fn list_watchable_tables(
    State(services): State<Services>,
    State(cursors): State<Cursors>,
    player: Player,
    Path(room): Path<String>,
    Query(query): Query<PageQuery>,
) -> Result<Json<PageOf<WatchableBody>>, Problem> {
    let list = format!("tables {room}");
    let after: Option<Uuid> = cursors.open(&list, &player, query.cursor.as_deref())?;
    let mut tables = services.lobby.watchable_tables(&room).await?;
    tables.retain(|table| after.is_none_or(|after| table.table.0 > after));
    let limit = usize::try_from(query.limit.items()).unwrap_or(usize::MAX);
    let has_more = tables.len() > limit;
    tables.truncate(limit);
    let next = tables.last().filter(|_| has_more).map(|last| last.table.0);
    Ok(Json(PageOf {
        items: tables.into_iter().map(WatchableBody::from).collect(),
        next_cursor: next.map(|next| cursors.seal(&list, &player, &next)),
    }))
}
