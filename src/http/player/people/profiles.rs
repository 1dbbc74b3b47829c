//! The public profiles and the statistics of players.

use axum::Json;
use axum::extract::State;
use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::accounts::Accounts;
use bahay_engine::catalog;
use bahay_engine::game::TitledName;

use crate::auth::Player;
use crate::ids::PlayerId;
use crate::standings::{Standings, StandingsError};

use crate::http::{
    Code, CodeExt as _, Coins, Path, Problem, ProblemBody, Time, database_problem, record_problem,
};

/// A player's public profile, for everybody who is signed in.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct PlayerProfile {
    id: Uuid,
    #[schema(example = "Maria")]
    name: String,
    /// One of `GET /v1/avatars`.
    #[schema(example = "carabao")]
    avatar: String,
    /// True if the player is a bot of the house, without a person's account.
    is_bot: bool,
    created_at: Time,
    /// The statistics, by game.
    statistics: Vec<Statistics>,
}

/// The statistics of a player over all settled games of one kind, updated with a delay of some
/// seconds.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Statistics {
    /// The game's kind.
    #[schema(example = "tongits")]
    kind: String,
    /// The game's title, for people.
    #[schema(example = "Tong-its")]
    game: &'static str,
    games: i64,
    wins: i64,
    /// The number of POTs won.
    hits: i64,
    /// The largest POT won.
    best_pot: Coins,
    /// The present number of consecutive wins, at any tables.
    streak: i64,
    best_streak: i64,
    /// The game's further counters, including those that are zero.
    counters: Vec<StatisticsCounter>,
}

/// A counter of one game.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct StatisticsCounter {
    #[schema(example = "fights_won")]
    name: &'static str,
    /// The title, for people.
    #[schema(example = "Fights won")]
    title: &'static str,
    value: i64,
}

/// A player's statistics, by game.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct StatisticsByGame {
    items: Vec<Statistics>,
}

/// Returns the statistics of every game that the player has played, in the order of the catalogue.
/// Those of the first kind are always included.
pub(crate) async fn load_statistics(
    standings: &Standings,
    player: PlayerId,
) -> Result<Vec<Statistics>, Problem> {
    let mut all = Vec::new();
    for (place, kind) in catalog::kinds().into_iter().enumerate() {
        let found = standings.statistics(player, kind.name).await?;
        if found.games == 0 && place > 0 {
            continue;
        }
        let counter = |named: &TitledName| StatisticsCounter {
            name: named.name,
            title: named.title,
            value: found.counter(named.name),
        };
        all.push(Statistics {
            kind: kind.name.to_owned(),
            game: kind.title,
            games: found.games,
            wins: found.wins,
            hits: found.counter("hits"),
            best_pot: found.best_pot.into(),
            streak: found.streak,
            best_streak: found.best_streak,
            counters: kind.counters.iter().map(counter).collect(),
        });
    }
    Ok(all)
}

/// Show my statistics
#[utoipa::path(
    get,
    path = "/v1/me/statistics",
    tag = "me",
    security(("access_token" = [])),
    responses((status = 200, description = "The statistics", body = StatisticsByGame))
)]
pub(crate) async fn show_my_statistics(
    State(standings): State<Standings>,
    player: Player,
) -> Result<Json<StatisticsByGame>, Problem> {
    Ok(Json(StatisticsByGame { items: load_statistics(&standings, player.id).await? }))
}

/// Show a player
///
/// Returns the public profile of a player.
#[utoipa::path(
    get,
    path = "/v1/players/{id}",
    tag = "players",
    security(("access_token" = [])),
    params(("id" = Uuid, Path, description = "The player")),
    responses(
        (status = 200, description = "The player", body = PlayerProfile),
        (status = 404, description = "`player_not_found`: the player does not exist",
            body = ProblemBody, content_type = "application/problem+json")
    )
)]
pub(crate) async fn show_player(
    State(accounts): State<Accounts>,
    State(standings): State<Standings>,
    _: Player,
    Path(id): Path<Uuid>,
) -> Result<Json<PlayerProfile>, Problem> {
    let found = accounts.find_public_profiles(&[PlayerId(id)]).await?;
    let profile = found.into_iter().next().ok_or_else(|| Code::PlayerNotFound.problem())?;
    let statistics = load_statistics(&standings, profile.id).await?;
    Ok(Json(PlayerProfile {
        id,
        name: profile.name,
        avatar: profile.avatar,
        is_bot: profile.is_bot,
        created_at: profile.created_at.into(),
        statistics,
    }))
}

impl From<StandingsError> for Problem {
    fn from(error: StandingsError) -> Self {
        match error {
            StandingsError::Database(error) => database_problem(error),
            StandingsError::Records(error) => record_problem(error),
            StandingsError::LiveStore(error) => Self::unavailable(&error),
            StandingsError::Unreadable(_) => Self::internal(&error),
        }
    }
}
