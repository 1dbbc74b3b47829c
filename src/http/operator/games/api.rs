//! A game in full: as booked, and as recomputed from its record.

use axum::Json;
use axum::extract::State;
use bahay_engine::game::Viewer;
use serde::Serialize;
use serde_json::{Value, json};
use utoipa::ToSchema;
use uuid::Uuid;

use crate::archive::{GameDetail, GameState, SeatDetail};
use crate::ids::GameId;
use crate::operators::audit::Action;
use crate::operators::{Audit, Operator};
use crate::reports::{Dossier, RecordVerdict, Reports};

use crate::http::operator::ledger::api::OperationBody;
use crate::http::player::games::game_steps::{GameStep, select_steps};
use crate::http::player::games::records::seat_number;
use crate::http::{
    Code, CodeExt as _, Coins, Path, Problem, ProblemBody, Time, database_problem, record_problem,
};

/// A game with everything that was booked for it.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Dossier)]
pub(crate) struct DossierBody {
    id: Uuid,
    table: Uuid,
    #[schema(example = "newbie")]
    room: String,
    #[schema(inline)]
    state: GameStateBody,
    /// The way in which the game ended; null until it was settled and projected.
    #[schema(required = true)]
    ending: Option<String>,
    /// The coins that each seat paid into the POT.
    ante: Coins,
    seats: Vec<DossierSeat>,
    /// By the house's clock, as deadlines are.
    opened_at: Time,
    #[schema(required = true)]
    finished_at: Option<Time>,
    /// The reason why the game was voided; null unless it was.
    #[schema(required = true)]
    void_reason: Option<String>,
    /// The settlement that the ledger stored: the schema `Settlement` of asyncapi.yaml. Null unless
    /// the game is settled.
    #[schema(required = true, value_type = Option<Object>)]
    settlement: Option<Value>,
    /// The time at which a reversal of the settlement was booked; null without one.
    #[schema(required = true)]
    reversed_at: Option<Time>,
    verdict: VerdictBody,
    /// The opening, the settlement or void, and their reversals, with their transfers; oldest
    /// first.
    operations: Vec<OperationBody>,
}

/// The state of a game.
#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum GameStateBody {
    Open,
    Settled,
    Voided,
}

/// A seat of a game.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct DossierSeat {
    /// From 0.
    #[schema(maximum = 7)]
    seat: u8,
    player: Uuid,
    /// The player's current name.
    #[schema(example = "Maria")]
    name: String,
    /// The most that the seat could lose in addition to the ante.
    stake: Coins,
    /// The change of the player's coins, without the ante; null while the game is open, and 0 once
    /// the settlement is reversed.
    #[schema(required = true)]
    net: Option<Coins>,
}

/// Every step of a finished game, with all hands.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Replay {
    game: Uuid,
    steps: Vec<GameStep>,
}

/// The result of verifying the game's record.
#[derive(Debug, Serialize, ToSchema)]
#[serde(tag = "verdict", rename_all = "snake_case")]
#[schema(as = Verdict)]
pub(crate) enum VerdictBody {
    /// The deal follows from the seeds, every action from the rules, and the settlement from both.
    Holds {
        actions: u64,
        /// The settlement as recomputed from the record: the schema `Settlement` of asyncapi.yaml.
        #[schema(value_type = Object)]
        recomputed: Value,
        /// True if the ledger stored the same settlement.
        is_booked: bool,
    },
    /// The record fails verification; `fault` describes where.
    Fails { fault: String },
    /// There is no record, because only settled games have one.
    NoRecord,
}

impl From<RecordVerdict> for VerdictBody {
    fn from(verdict: RecordVerdict) -> Self {
        match verdict {
            RecordVerdict::Holds { actions, recomputed, is_booked, clients: _ } => Self::Holds {
                actions: actions as u64,
                recomputed: serde_json::to_value(&recomputed).unwrap_or_default(),
                is_booked,
            },
            RecordVerdict::Fails { fault } => Self::Fails { fault },
            RecordVerdict::NoRecord => Self::NoRecord,
        }
    }
}

impl From<SeatDetail> for DossierSeat {
    fn from(seat: SeatDetail) -> Self {
        Self {
            seat: seat_number(seat.seat),
            player: seat.player.0,
            name: seat.name,
            stake: seat.stake.into(),
            net: seat.net.map(Coins::from),
        }
    }
}

impl From<Dossier> for DossierBody {
    fn from(dossier: Dossier) -> Self {
        let Dossier { game, void_reason, operations, verdict } = dossier;
        Self {
            id: game.game.0,
            table: game.table.0,
            room: game.room,
            state: match game.state {
                GameState::Open => GameStateBody::Open,
                GameState::Settled => GameStateBody::Settled,
                GameState::Voided => GameStateBody::Voided,
            },
            ending: game.ending,
            ante: game.ante.into(),
            seats: game.seats.into_iter().map(DossierSeat::from).collect(),
            opened_at: Time::from_ms(game.opened_at_ms),
            finished_at: game.finished_at_ms.map(Time::from_ms),
            void_reason,
            settlement: game.settlement,
            reversed_at: game.reversed_at_ms.map(Time::from_ms),
            verdict: verdict.into(),
            operations: operations.into_iter().map(OperationBody::from).collect(),
        }
    }
}

/// Show a game
///
/// As booked, with the result of verifying its record, and without cards. For operators of every
/// role.
#[utoipa::path(
    get,
    path = "/v1/operator/games/{id}",
    tag = "operators",
    security(("operator_token" = [])),
    params(("id" = Uuid, Path, description = "The game")),
    responses(
        (status = 200, description = "The game", body = DossierBody),
        (status = 404, description = "`game_not_found`", body = ProblemBody,
            content_type = "application/problem+json"),
        (status = 503, description = "`archive_unreachable`, `timed_out`, `unavailable`",
            body = ProblemBody, content_type = "application/problem+json")
    )
)]
pub(crate) async fn show_dossier(
    State(reports): State<Reports>,
    _: Operator,
    Path(id): Path<Uuid>,
) -> Result<Json<DossierBody>, Problem> {
    let dossier = reports.game(GameId(id)).await.map_err(record_problem)?;
    Ok(Json(dossier.ok_or_else(|| Code::GameNotFound.problem())?.into()))
}

/// Replay a game
///
/// Step by step, with all hands. Each view is recorded in the audit log. For the roles `support`
/// and `admin`.
#[utoipa::path(
    get,
    path = "/v1/operator/games/{id}/steps",
    tag = "operators",
    security(("operator_token" = [])),
    params(("id" = Uuid, Path, description = "The game")),
    responses(
        (status = 200, description = "Every step", body = Replay),
        (status = 404, description = "`game_not_found`", body = ProblemBody,
            content_type = "application/problem+json"),
        (status = 409, description = "`game_not_finished` or `game_voided`: there is no record",
            body = ProblemBody, content_type = "application/problem+json"),
        (status = 503, description = "`archive_unreachable`, `timed_out`, `unavailable`",
            body = ProblemBody, content_type = "application/problem+json")
    )
)]
pub(crate) async fn replay_game(
    State(reports): State<Reports>,
    State(audit): State<Audit>,
    operator: Operator,
    Path(id): Path<Uuid>,
) -> Result<Json<Replay>, Problem> {
    let record = load_audited_record(&reports, &audit, &operator, GameId(id)).await?.1;
    let steps = select_steps(record, Viewer::Everything, 0, usize::MAX)?.items;
    Ok(Json(Replay { game: id, steps }))
}

/// Returns a settled game and its record, after recording in the audit log that the operator views
/// all hands.
pub(crate) async fn load_audited_record(
    reports: &Reports,
    audit: &Audit,
    operator: &Operator,
    game: GameId,
) -> Result<(GameDetail, Value), Problem> {
    let by = operator.require_moderator()?;
    let dossier = reports.game(game).await.map_err(record_problem)?;
    let mut detail = dossier.ok_or_else(|| Code::GameNotFound.problem())?.game;
    let record = match (detail.state, detail.record.take()) {
        (GameState::Settled, Some(record)) => record,
        (GameState::Settled, None) => {
            return Err(Problem::internal(&"a settled game has no record"));
        }
        (GameState::Open, _) => return Err(Code::GameNotFinished.problem()),
        (GameState::Voided, _) => return Err(Code::GameVoided.problem()),
    };
    let subject = format!("game:{game}");
    let recorded = audit.record(by.actor(), Action::ReplaySeen, &subject, json!({})).await;
    recorded.map_err(database_problem)?;
    Ok((detail, record))
}
