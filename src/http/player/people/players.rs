//! The public data of players, and the avatars.

use axum::Json;
use axum::extract::State;
use bahay_api::player::people::{Avatars, PlayersQuery, PublicPlayer, PublicPlayers};

use crate::accounts::{AVATARS, Accounts, LOOKUP_MAX, PublicProfile};
use crate::auth::Player;
use crate::http::{Code, CodeExt as _, Problem, Query};
use crate::ids::PlayerId;

/// The maximum length of a list of ids, in bytes: each id with its comma.
const IDS_BYTES_MAX: usize = LOOKUP_MAX * 37;

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
    let found = accounts.find_public_profiles(&ids).await?.into_iter();
    let items = found.map(|PublicProfile { id, name, avatar, is_bot, created_at: _ }| {
        PublicPlayer { id: id.0, name, avatar, is_bot }
    });
    Ok(Json(PublicPlayers { items: items.collect() }))
}

pub(crate) async fn list_avatars() -> Json<Avatars> {
    Json(Avatars { items: AVATARS.to_vec() })
}
