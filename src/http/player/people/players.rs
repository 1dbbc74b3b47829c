//! The public data of players, and the avatars.

use axum::Json;
use axum::extract::State;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use uuid::Uuid;

use crate::accounts::{AVATARS, Accounts, LOOKUP_MAX, PublicProfile};
use crate::auth::Player;
use crate::ids::PlayerId;

use crate::http::{Code, CodeExt as _, Problem, Query};

/// The maximum length of a list of ids, in bytes: each id with its comma.
const IDS_BYTES_MAX: usize = LOOKUP_MAX * 37;

/// Selects players by id.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct PlayersQuery {
    /// 1 to 32 ids, separated by commas.
    #[param(
        max_length = 1184,
        pattern = "^[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}(,[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}){0,31}$",
        example = "019ca944-3c00-7000-8000-00000091a7e0,019ca944-3c00-7000-8000-00000091a7e1"
    )]
    ids: String,
}

/// A player, as shown to other players.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = PublicPlayer)]
pub(crate) struct PublicPlayerBody {
    id: Uuid,
    #[schema(example = "Maria")]
    name: String,
    /// One of `GET /v1/avatars`.
    #[schema(example = "carabao")]
    avatar: String,
    /// True if the player is a bot of the house, without a person's account.
    is_bot: bool,
}

impl From<PublicProfile> for PublicPlayerBody {
    fn from(profile: PublicProfile) -> Self {
        let PublicProfile { id, name, avatar, is_bot, created_at: _ } = profile;
        Self { id: id.0, name, avatar, is_bot }
    }
}

/// A list of players.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct PublicPlayers {
    items: Vec<PublicPlayerBody>,
}

/// Look players up
///
/// Returns players by id, in the order of their ids. Ids that do not exist are omitted. Intended
/// for the players around a table.
#[utoipa::path(
    get,
    path = "/v1/players",
    tag = "players",
    security(("access_token" = [])),
    params(PlayersQuery),
    responses((status = 200, description = "The players", body = PublicPlayers))
)]
pub(crate) async fn look_up_players(
    State(accounts): State<Accounts>,
    _: Player,
    Query(query): Query<PlayersQuery>,
) -> Result<Json<PublicPlayers>, Problem> {
    let wrong = || Code::QueryInvalid.with_detail("give 1 to 32 ids, separated by commas");
    if query.ids.len() > IDS_BYTES_MAX {
        return Err(wrong());
    }
    let ids = query.ids.split(',').map(|id| id.parse().map(PlayerId));
    let ids: Vec<PlayerId> = ids.collect::<Result<_, _>>().map_err(|_| wrong())?;
    let found = accounts.find_public_profiles(&ids).await?;
    Ok(Json(PublicPlayers { items: found.into_iter().map(PublicPlayerBody::from).collect() }))
}

/// The catalogue of avatars.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Avatars {
    /// The names of the avatars. The pictures are part of the clients.
    #[schema(example = json!(["carabao", "tarsier"]))]
    items: Vec<&'static str>,
}

/// List the avatars
///
/// Names may be added, but are never removed.
#[utoipa::path(
    get,
    path = "/v1/avatars",
    tag = "players",
    responses((status = 200, description = "The catalogue", body = Avatars))
)]
pub(crate) async fn list_avatars() -> Json<Avatars> {
    Json(Avatars { items: AVATARS.to_vec() })
}
