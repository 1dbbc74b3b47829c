//! Analyses of finished games by the house's strongest bot, for the players of those games.

use axum::Json;
use axum::extract::State;
use bahay_api::player::games::{AnalysisItem, GameAnalysis};
use uuid::Uuid;

use super::records::{load_record, seat_of};
use crate::auth::Player;
use crate::db::PgPool;
use crate::http::{Analyses, Path, Problem};
use crate::records::Records;
use crate::replay::JudgedStep;

/// The bot that analyses games, as described in docs/BOTS.md.
const ENGINE: &str = "strong";

fn to_item(judged: &JudgedStep) -> AnalysisItem {
    AnalysisItem {
        step: judged.step as u64,
        action: judged.action.clone(),
        advised: judged.advised.clone(),
        value: judged.value,
        advised_value: judged.advised_value,
        loss: judged.loss(),
    }
}

pub(crate) async fn analyze_game(
    State(analyses): State<Analyses>,
    State(pool): State<PgPool>,
    State(records): State<Records>,
    player: Player,
    Path(id): Path<Uuid>,
) -> Result<Json<GameAnalysis>, Problem> {
    let (game, record) = load_record(&pool, &records, player, id).await?;
    let seat = seat_of(player, &game)?;
    let judged = analyses.analyze(player.id, id, seat, record).await?;
    let engine = judged.is_some().then_some(ENGINE);
    let items = judged.iter().flat_map(|judged| judged.iter()).map(to_item).collect();
    Ok(Json(GameAnalysis { game: id, seat: seat.number(), engine, items }))
}
