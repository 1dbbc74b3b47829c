//! The rounds of duplicate tournaments: their deals, and the comparison of the same cards.

use axum::Json;
use axum::extract::State;
use bahay_api::player::tournament_rounds as api;
use bahay_engine::table::TournamentId;
use bahay_engine::tournament::{RoundDeals, Tournament, deal_score};
use uuid::Uuid;

use crate::archive::tournament_rounds::{self, ComparedGame, ComparedScore};
use crate::auth::Player;
use crate::db::PgPool;
use crate::http::{Code, CodeExt as _, Path, Problem};
use crate::tournaments::Tournaments;

/// Returns the deals of a round that has begun.
///
/// # Errors
/// `round_not_found` for any other round, and if the tables do not play the same deals.
fn require_deals(tournament: &Tournament, round: u32) -> Result<RoundDeals, Problem> {
    tournament.round_deals(round).ok_or_else(|| Code::RoundNotFound.problem())
}

pub(crate) async fn show_round_deals(
    State(tournaments): State<Tournaments>,
    Path((id, round)): Path<(Uuid, u32)>,
) -> Result<Json<api::RoundDeals>, Problem> {
    let tournament = tournaments.read(TournamentId(id)).await?;
    let RoundDeals { commitments, seeds } = require_deals(&tournament, round)?;
    let deals = commitments.iter().enumerate().map(|(game, commitment)| api::RoundDeal {
        commitment: commitment.0.to_string(),
        server_seed: seeds.as_ref().and_then(|seeds| Some(seeds.get(game)?.0.to_string())),
    });
    Ok(Json(api::RoundDeals { round, is_over: seeds.is_some(), deals: deals.collect() }))
}

pub(crate) async fn show_round_comparison(
    State(tournaments): State<Tournaments>,
    State(pool): State<PgPool>,
    player: Player,
    Path((id, round)): Path<(Uuid, u32)>,
) -> Result<Json<api::RoundComparison>, Problem> {
    let id = TournamentId(id);
    let tournament = tournaments.read(id).await?;
    let deals = require_deals(&tournament, round)?;
    if !tournament.is_registered(player.id) {
        return Err(Code::NotRegistered.problem());
    }
    if deals.seeds.is_none() {
        return Err(Code::RoundNotOver.problem());
    }
    let most = api::COMPARED_MAX;
    let games = tournament_rounds::compare_round(&pool, id, round, player.id, most).await?;
    let own = games.first();
    Ok(Json(api::RoundComparison {
        round,
        table_number: own.map(|game| game.table_number),
        seat: own.map(|game| game.seat),
        games: games.into_iter().map(|game| api_comparison(game, &tournament)).collect(),
    }))
}

fn api_comparison(game: ComparedGame, tournament: &Tournament) -> api::GameComparison {
    let other = |ComparedScore { player, table_number, points }| {
        let entrant = tournament.entrant(player);
        api::ComparedPlayer {
            player: player.0,
            name: entrant.map(|entrant| entrant.name.clone()).unwrap_or_default(),
            is_bot: entrant.is_some_and(|entrant| entrant.is_bot),
            table_number,
            points,
        }
    };
    let ComparedGame { fewer, equal, more, .. } = game;
    api::GameComparison {
        number: game.number,
        game: game.game.0,
        points: game.points,
        score: deal_score(fewer, equal, more),
        fewer,
        equal,
        more,
        others_mean: game.others_mean,
        others: game.others.into_iter().map(other).collect(),
    }
}
