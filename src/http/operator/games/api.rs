//! The operators' API of games.

use axum::Json;
use axum::extract::State;
use bahay_api::operator::games::{Dossier as DossierBody, DossierSeat, Replay, Verdict};
use bahay_engine::game::Viewer;
use uuid::Uuid;

use super::query;
use crate::archive::SeatDetail;
use crate::http::player::games::game_steps::{select_steps, to_step};
use crate::http::{Coins, Path, Problem, Time};
use crate::ids::GameId;
use crate::operators::{Audit, Operator};
use crate::reports::{Dossier, RecordVerdict, Reports};

fn to_verdict(verdict: RecordVerdict) -> Verdict {
    match verdict {
        RecordVerdict::Holds { actions, recomputed, is_booked, clients: _ } => Verdict::Holds {
            actions: actions as u64,
            recomputed: serde_json::to_value(&recomputed).unwrap_or_default(),
            is_booked,
        },
        RecordVerdict::Fails { fault } => Verdict::Fails { fault },
        RecordVerdict::NoRecord => Verdict::NoRecord,
    }
}

fn to_seat(seat: SeatDetail) -> DossierSeat {
    DossierSeat {
        seat: seat.seat.number(),
        player: seat.player.0,
        name: seat.name,
        stake: seat.stake.into(),
        net: seat.net.map(Coins::from),
    }
}

pub(crate) async fn show_dossier(
    State(reports): State<Reports>,
    _: Operator,
    Path(id): Path<Uuid>,
) -> Result<Json<DossierBody>, Problem> {
    let dossier = query::find_dossier(&reports, GameId(id)).await?;
    let Dossier { game, void_reason, operations, verdict } = dossier;
    Ok(Json(DossierBody {
        id: game.game.0,
        table: game.table.0,
        room: game.room,
        state: game.state,
        ending: game.ending,
        ante: game.ante.into(),
        seats: game.seats.into_iter().map(to_seat).collect(),
        opened_at: Time::from_ms(game.opened_at_ms),
        finished_at: game.finished_at_ms.map(Time::from_ms),
        void_reason,
        settlement: game.settlement,
        reversed_at: game.reversed_at_ms.map(Time::from_ms),
        verdict: to_verdict(verdict),
        operations: operations.into_iter().map(|row| row.operation).collect(),
    }))
}

pub(crate) async fn replay_game(
    State(reports): State<Reports>,
    State(audit): State<Audit>,
    operator: Operator,
    Path(id): Path<Uuid>,
) -> Result<Json<Replay>, Problem> {
    let (_, record) = query::load_audited_record(&reports, &audit, &operator, GameId(id)).await?;
    let steps = select_steps(record, Viewer::Everything, 0, usize::MAX)?.steps.into_iter();
    Ok(Json(Replay { game: id, steps: steps.map(to_step).collect() }))
}
