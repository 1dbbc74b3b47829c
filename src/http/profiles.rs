//! Players as others see them, and what each has done.

use axum::Json;
use axum::extract::{FromRef, State};
use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::accounts::Accounts;
use bahay_engine::catalog;
use bahay_engine::game::Named;

use crate::auth::Player;
use crate::ids::PlayerId;
use crate::standings::{Standings, StandingsError};

use super::{Code, Coins, Path, Problem, ProblemBody, Services, Time, unread, unread_record};

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
    /// By game.
    statistics: Vec<Statistics>,
}

/// What a player has done in all settled games of one kind, some seconds behind.
#[derive(Debug, Serialize, ToSchema)]
pub(in crate::http) struct Statistics {
    /// The game, by its name.
    #[schema(example = "tongits")]
    kind: String,
    /// The game for people.
    #[schema(example = "Tong-its")]
    game: &'static str,
    games: i64,
    wins: i64,
    /// How often the player took the POT.
    hits: i64,
    /// The largest POT taken.
    best_pot: Coins,
    /// Wins in a row, at whatever tables.
    streak: i64,
    best_streak: i64,
    /// What else is counted at this game; all of its counters, also those that are zero.
    counters: Vec<Counter>,
}

/// Something that is counted at one game.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = StatisticsCounter)]
pub(in crate::http) struct Counter {
    #[schema(example = "fights_won")]
    name: &'static str,
    /// For people.
    #[schema(example = "Fights won")]
    title: &'static str,
    value: i64,
}

/// Statistics of every game that the player has played.
#[derive(Debug, Serialize, ToSchema)]
pub(in crate::http) struct StatisticsByGame {
    items: Vec<Statistics>,
}

/// What a player has done, game by game in the order of the catalogue; the first one always.
pub(in crate::http) async fn statistics_of(
    standings: &Standings,
    player: PlayerId,
) -> Result<Vec<Statistics>, Problem> {
    let mut all = Vec::new();
    for (place, kind) in catalog::kinds().into_iter().enumerate() {
        let found = standings.statistics(player, kind.name).await?;
        if found.games == 0 && place > 0 {
            continue;
        }
        let counter = |named: &Named| Counter {
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
    responses((status = 200, description = "What the player has done", body = StatisticsByGame))
)]
pub(super) async fn show_my_statistics(
    State(standings): State<Standings>,
    player: Player,
) -> Result<Json<StatisticsByGame>, Problem> {
    Ok(Json(StatisticsByGame { items: statistics_of(&standings, player.id).await? }))
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
    let statistics = statistics_of(&standings, profile.id).await?;
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
            StandingsError::Records(error) => unread_record(error),
            StandingsError::LiveStore(error) => Self::unavailable(&error),
            StandingsError::Unreadable(_) => Self::internal(&error),
        }
    }
}
