//! The public profiles and the statistics of players.

use axum::Json;
use axum::extract::State;
use bahay_api::player::people::{PlayerProfile, Statistics, StatisticsByGame, StatisticsCounter};
use bahay_engine::catalog;
use bahay_engine::game::TitledName;
use uuid::Uuid;

use crate::accounts::Accounts;
use crate::auth::Player;
use crate::http::{Code, CodeExt as _, Path, Problem};
use crate::ids::PlayerId;
use crate::standings::{Standings, StandingsError};

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

pub(crate) async fn show_my_statistics(
    State(standings): State<Standings>,
    player: Player,
) -> Result<Json<StatisticsByGame>, Problem> {
    Ok(Json(StatisticsByGame { items: load_statistics(&standings, player.id).await? }))
}

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
            StandingsError::Database(error) => error.into(),
            StandingsError::Records(error) => error.into(),
            StandingsError::LiveStore(error) => Self::unavailable(&error),
            StandingsError::Unreadable(_) => Self::internal(&error),
        }
    }
}
