//! Players as others see them, and what each has done.

use axum::Json;
use axum::extract::{FromRef, State};
use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::accounts::Accounts;
use crate::auth::Player;
use crate::ids::PlayerId;
use crate::standings::{self, Standings, StandingsError};

use super::{Code, Coins, Path, Problem, ProblemBody, Services, Time, unread};

/// A player, to everybody who is signed in.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct PlayerProfile {
    id: Uuid,
    #[schema(example = "Maria")]
    name: String,
    /// One of `GET /v1/avatars`.
    #[schema(example = "carabao")]
    avatar: String,
    /// A bot of the house, and nobody's account.
    is_bot: bool,
    created_at: Time,
    statistics: Statistics,
}

/// What a player has done in all settled games, some seconds behind.
#[derive(Debug, Serialize, ToSchema)]
pub(in crate::http) struct Statistics {
    games: i64,
    wins: i64,
    /// Games won by Tongits.
    tongits: i64,
    /// Games won by a fight, challenged or not.
    fights_won: i64,
    /// How often the player took the POT.
    hits: i64,
    /// The largest POT taken.
    best_pot: Coins,
    /// Wins in a row, at whatever tables.
    streak: i64,
    best_streak: i64,
}

impl From<standings::Statistics> for Statistics {
    fn from(statistics: standings::Statistics) -> Self {
        let standings::Statistics {
            games,
            wins,
            tongits,
            fights_won,
            hits,
            best_pot,
            streak,
            best_streak,
        } = statistics;
        let best_pot = best_pot.into();
        Self { games, wins, tongits, fights_won, hits, best_pot, streak, best_streak }
    }
}

/// Show my statistics
#[utoipa::path(
    get,
    path = "/v1/me/statistics",
    tag = "me",
    security(("access_token" = [])),
    responses((status = 200, description = "What the player has done", body = Statistics))
)]
pub(super) async fn show_my_statistics(
    State(standings): State<Standings>,
    player: Player,
) -> Result<Json<Statistics>, Problem> {
    Ok(Json(standings.statistics(player.id).await?.into()))
}

/// Show a player
///
/// What everybody may know of a player.
#[utoipa::path(
    get,
    path = "/v1/players/{id}",
    tag = "players",
    security(("access_token" = [])),
    params(("id" = Uuid, Path, description = "The player")),
    responses(
        (status = 200, description = "The player", body = PlayerProfile),
        (status = 404, description = "`player_not_found`: there is no such player",
            body = ProblemBody, content_type = "application/problem+json")
    )
)]
pub(super) async fn show_player(
    State(accounts): State<Accounts>,
    State(standings): State<Standings>,
    _: Player,
    Path(id): Path<Uuid>,
) -> Result<Json<PlayerProfile>, Problem> {
    let found = accounts.look_up(&[PlayerId(id)]).await?;
    let profile = found.into_iter().next().ok_or_else(|| Code::PlayerNotFound.plain())?;
    let statistics = standings.statistics(profile.id).await?.into();
    Ok(Json(PlayerProfile {
        id,
        name: profile.name,
        avatar: profile.avatar,
        is_bot: profile.is_bot,
        created_at: profile.created_at.into(),
        statistics,
    }))
}

impl FromRef<Services> for Standings {
    fn from_ref(services: &Services) -> Self {
        services.standings.clone()
    }
}

impl From<StandingsError> for Problem {
    fn from(error: StandingsError) -> Self {
        match error {
            StandingsError::Database(error) => unread(error),
            StandingsError::LiveStore(error) => Self::unavailable(&error),
            StandingsError::Unreadable(_) => Self::internal(&error),
        }
    }
}
