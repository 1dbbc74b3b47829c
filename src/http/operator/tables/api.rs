//! Tables as operators view and stop them, and POTs whose table no longer exists.
//!
//! An order about a table changes Redis and PostgreSQL, which share no transaction. It is therefore
//! recorded in the audit log before it is performed, and once more if it fails.

use axum::Json;
use axum::extract::State;
use axum::response::Response;
use bahay_engine::game::{Game as _, Viewer};
use bahay_engine::table::{Phase, Table, TableId};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use utoipa::{IntoParams, ToSchema};
use uuid::Uuid;

use crate::archive::halted::{self, HaltedTable};
use crate::ids::RoomId;
use crate::ledger::{IdlePot, LedgerError};
use crate::operators::audit::{Action, Actor};
use crate::operators::{Operator, SignedInAdministrator};
use crate::reason::Reason;
use crate::tables::{OperateError, TableError, VoidOutcome};
use bahay_engine::catalog::AnyGame;

use crate::http::core::idempotency::{IdempotentRequest, RequiredKeyHeader};
use crate::http::{
    Code, CodeExt as _, Coins, Path, Problem, ProblemBody, Query, ReasonText, Services, Time,
};

/// The maximum number of tables in a list.
const TABLES_MAX: usize = 200;

/// A query for the tables of a room.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct TablesQuery {
    /// A room's id.
    #[param(max_length = 32, pattern = "^[a-z][a-z0-9-]{0,31}$", example = "newbie")]
    room: String,
}

/// A table with at least one player.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct BusyTable {
    pub(crate) table: Uuid,
    /// The number of players at the table.
    #[schema(maximum = 8)]
    pub(crate) players: u8,
}

/// The tables of a room with at least one player, at most 200, by descending number of players.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct BusyTables {
    items: Vec<BusyTable>,
}

/// The public view of a table.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct PublicTable {
    /// The schema `TableView` of asyncapi.yaml, as a spectator sees it.
    #[schema(value_type = Object)]
    view: Value,
}

/// The full view of a running game.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct RevealedHands {
    /// The schema `TongitsView` of asyncapi.yaml, with every hand and the stock.
    #[schema(value_type = Object)]
    view: Value,
}

/// A halted table.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = HaltedTable)]
pub(crate) struct HaltedTableBody {
    table: Uuid,
    #[schema(required = true)]
    room: Option<String>,
    /// The table's open game.
    #[schema(required = true)]
    game: Option<Uuid>,
    reason: String,
    halted_at: Time,
}

/// The POT of a table that no longer exists.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct LostPot {
    table: Uuid,
    pot: Coins,
    /// The end of the table's last game.
    finished_at: Time,
}

/// Halted tables and lost POTs, which wait for an operator.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct StrandedTables {
    /// Ordered by the time of the halt, oldest first.
    halted: Vec<HaltedTableBody>,
    /// Ordered by the time of the last game, oldest first.
    lost_pots: Vec<LostPot>,
}

/// The reason for an order about a table.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct TableReason {
    /// The reason, which is stored with the audit entry and with a voided game.
    #[schema(value_type = ReasonText)]
    reason: Reason,
}

/// The result of voiding a table.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct VoidedTable {
    /// The game whose coins were refunded; null if none was open.
    #[schema(required = true)]
    game: Option<Uuid>,
}

/// The result of refunding a POT.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct PotShares {
    shares: Vec<PotShare>,
}

/// A player's share of a refunded POT.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct PotShare {
    player: Uuid,
    amount: Coins,
}

/// Returns the tables of a room with at least one player.
pub(crate) async fn list_busy_tables(
    services: &Services,
    room: &str,
) -> Result<Vec<BusyTable>, Problem> {
    if let Err(error) = room.parse::<RoomId>() {
        return Err(Code::QueryInvalid.with_detail(error.to_string()));
    }
    let tables = services.live.busy_tables(room, TABLES_MAX).await;
    let tables = tables.map_err(|error| Problem::unavailable(&error))?;
    Ok(tables.into_iter().map(|(table, players)| BusyTable { table: table.0, players }).collect())
}

/// Returns a table in its current state.
pub(crate) async fn find_table(
    services: &Services,
    table: TableId,
) -> Result<std::sync::Arc<Table<AnyGame>>, Problem> {
    let found = services.lobby.tables().read_table(table).await.map_err(|error| match error {
        TableError::Halted => Code::TableHalted.with_detail("release or void the table"),
        TableError::OtherVersion => {
            Code::Unavailable.with_detail("another node plays this table")
        }
        error => Problem::unavailable(&error),
    })?;
    found.ok_or_else(|| Code::TableNotFound.problem())
}

/// Returns the full view of a table's running game, after recording the act in the audit log.
pub(crate) async fn reveal_hands(
    services: &Services,
    by: &SignedInAdministrator,
    table: TableId,
    reason: &Reason,
) -> Result<<AnyGame as bahay_engine::game::Game>::View, Problem> {
    let found = find_table(services, table).await?;
    let Phase::Playing(playing) = found.phase() else {
        return Err(Code::NoGame.problem());
    };
    let detail = json!({ "game": playing.game, "reason": reason.as_str() });
    record_table_action(services, by.actor(), Action::HandsSeen, table, detail).await?;
    Ok(playing.state.view(Viewer::Everything))
}

async fn record_table_action(
    services: &Services,
    by: &Actor,
    action: Action,
    table: TableId,
    detail: Value,
) -> Result<(), Problem> {
    let subject = format!("table:{table}");
    services.audit.record(by, action, &subject, detail).await.map_err(crate::http::database_problem)
}

/// Records an order in the audit log and performs it; records a failure as well.
async fn run_table_order<T>(
    services: &Services,
    by: &SignedInAdministrator,
    (action, table, reason): (Action, TableId, Option<&Reason>),
    operation: impl Future<Output = Result<T, OperateError>>,
) -> Result<T, Problem> {
    let detail = json!({ "reason": reason.map(Reason::as_str) });
    record_table_action(services, by.actor(), action, table, detail).await?;
    match operation.await {
        Ok(outcome) => Ok(outcome),
        Err(error) => {
            let detail = json!({ "order": action.as_str(), "error": error.to_string() });
            record_table_action(services, by.actor(), Action::TableOrderFailed, table, detail)
                .await?;
            Err(error.into())
        }
    }
}

/// Ends a table and voids its open game.
pub(crate) async fn void(
    services: &Services,
    by: &SignedInAdministrator,
    table: TableId,
    reason: &Reason,
) -> Result<VoidOutcome, Problem> {
    let tables = services.lobby.tables();
    let order = (Action::TableVoided, table, Some(reason));
    run_table_order(services, by, order, tables.void(table, reason)).await
}

/// Releases a halted table.
pub(crate) async fn release(
    services: &Services,
    by: &SignedInAdministrator,
    table: TableId,
) -> Result<(), Problem> {
    let order = (Action::TableReleased, table, None);
    run_table_order(services, by, order, services.lobby.tables().release(table)).await
}

/// Refunds the POT of a table that no longer exists.
pub(crate) async fn refund_pot(
    services: &Services,
    by: &SignedInAdministrator,
    table: TableId,
) -> Result<crate::ledger::PotRefundOutcome, Problem> {
    let order = (Action::PotRefunded, table, None);
    run_table_order(services, by, order, services.lobby.tables().refund_pot(table)).await
}

/// Returns the halted tables and the lost POTs.
pub(crate) async fn find_stranded_tables(
    services: &Services,
) -> Result<(Vec<HaltedTable>, Vec<IdlePot>), Problem> {
    let halted =
        halted::list_halted(&services.pool).await.map_err(crate::http::database_problem)?;
    Ok((halted, services.lobby.tables().lost_pots().await?))
}

/// List a room's tables
///
/// For operators of every role.
#[utoipa::path(
    get,
    path = "/v1/operator/tables",
    tag = "operators",
    security(("operator_token" = [])),
    params(TablesQuery),
    responses((status = 200, description = "The tables with players", body = BusyTables))
)]
pub(crate) async fn list_tables(
    State(services): State<Services>,
    _operator: Operator,
    Query(TablesQuery { room }): Query<TablesQuery>,
) -> Result<Json<BusyTables>, Problem> {
    Ok(Json(BusyTables { items: list_busy_tables(&services, &room).await? }))
}

/// List halted tables and lost POTs
///
/// A POT is lost if its table no longer exists. For operators of every role.
#[utoipa::path(
    get,
    path = "/v1/operator/stranded",
    tag = "operators",
    security(("operator_token" = [])),
    responses((status = 200, description = "Halted tables and lost POTs", body = StrandedTables))
)]
pub(crate) async fn list_stranded(
    State(services): State<Services>,
    _operator: Operator,
) -> Result<Json<StrandedTables>, Problem> {
    let (halted, lost) = find_stranded_tables(&services).await?;
    let halted = halted.into_iter().map(|halted| HaltedTableBody {
        table: halted.table.0,
        room: halted.room,
        game: halted.game.map(|game| game.0),
        reason: halted.reason,
        halted_at: Time::from_ms(halted.halted_at_ms),
    });
    let lost = lost.into_iter().map(|lost| LostPot {
        table: lost.table.0,
        pot: lost.pot.into(),
        finished_at: Time::from_ms(lost.finished_at_ms),
    });
    Ok(Json(StrandedTables { halted: halted.collect(), lost_pots: lost.collect() }))
}

/// Show a table
///
/// The public view, without hands. For operators of every role.
#[utoipa::path(
    get,
    path = "/v1/operator/tables/{id}",
    tag = "operators",
    security(("operator_token" = [])),
    params(("id" = Uuid, Path, description = "The table")),
    responses(
        (status = 200, description = "The public view", body = PublicTable),
        (status = 404, description = "`table_not_found`", body = ProblemBody,
            content_type = "application/problem+json"),
        (status = 409, description = "`table_halted`", body = ProblemBody,
            content_type = "application/problem+json")
    )
)]
pub(crate) async fn show_operated_table(
    State(services): State<Services>,
    _operator: Operator,
    Path(id): Path<Uuid>,
) -> Result<Json<PublicTable>, Problem> {
    let table = find_table(&services, TableId(id)).await?;
    let view = serde_json::to_value(table.view(None)).map_err(|error| Problem::internal(&error))?;
    Ok(Json(PublicTable { view }))
}

/// View hidden cards
///
/// Those of the running game. The act is recorded in the audit log before anything is returned. For
/// the role `admin`, in a session with the second factor.
#[utoipa::path(
    post,
    path = "/v1/operator/tables/{id}/hands-look",
    tag = "operators",
    security(("operator_token" = [])),
    params(("id" = Uuid, Path, description = "The table")),
    request_body = TableReason,
    responses(
        (status = 200, description = "The full view", body = RevealedHands),
        (status = 403, description = "`operator_role_missing`, `second_factor_missing`", body = ProblemBody,
            content_type = "application/problem+json"),
        (status = 404, description = "`table_not_found`", body = ProblemBody,
            content_type = "application/problem+json"),
        (status = 409, description = "`no_game`: no game is running. `table_halted`",
            body = ProblemBody, content_type = "application/problem+json")
    )
)]
pub(crate) async fn view_hands(
    State(services): State<Services>,
    operator: Operator,
    Path(id): Path<Uuid>,
    crate::http::Body(TableReason { reason }): crate::http::Body<TableReason>,
) -> Result<Json<RevealedHands>, Problem> {
    let by = operator.require_administrator()?.require_session()?;
    let view = reveal_hands(&services, &by, TableId(id), &reason).await?;
    let view = serde_json::to_value(view).map_err(|error| Problem::internal(&error))?;
    Ok(Json(RevealedHands { view }))
}

/// Void a table
///
/// Ends the table in any state: its open game is voided and all coins of the game are refunded, and
/// its players become free. The POT of earlier games remains and can be refunded separately; that
/// of a private table is refunded at once. For the role `admin`, in a session with the second
/// factor.
#[utoipa::path(
    post,
    path = "/v1/operator/tables/{id}/voiding",
    tag = "operators",
    security(("operator_token" = [])),
    params(("id" = Uuid, Path, description = "The table"), RequiredKeyHeader),
    request_body = TableReason,
    responses(
        (status = 200, description = "The table has ended", body = VoidedTable),
        (status = 404, description = "`table_not_found`", body = ProblemBody,
            content_type = "application/problem+json"),
        (status = 409, description = "`idempotency_key_in_use`", body = ProblemBody,
            content_type = "application/problem+json")
    )
)]
pub(crate) async fn void_table(
    State(services): State<Services>,
    operator: Operator,
    Path(id): Path<Uuid>,
    request: IdempotentRequest,
) -> Result<Response, Problem> {
    let by = operator.require_administrator()?.require_session()?;
    let request = request.require_key()?;
    let TableReason { reason } = request.parse_body()?;
    let work = async move |_| {
        let VoidOutcome { game, .. } = void(&services, &by, TableId(id), &reason).await?;
        Ok(Json(VoidedTable { game: game.map(|game| game.0) }))
    };
    Ok(request.execute(&operator, work).await)
}

/// Release a halted table
///
/// The table plays on, provided that its journal can be replayed. For the role `admin`, in a
/// session with the second factor.
#[utoipa::path(
    post,
    path = "/v1/operator/tables/{id}/release",
    tag = "operators",
    security(("operator_token" = [])),
    params(("id" = Uuid, Path, description = "The table"), RequiredKeyHeader),
    responses(
        (status = 204, description = "The table is released"),
        (status = 404, description = "`table_not_found`", body = ProblemBody,
            content_type = "application/problem+json"),
        (status = 409, description = "`not_halted`; `table_broken`: its journal cannot be replayed. \
            Or `idempotency_key_in_use`", body = ProblemBody,
            content_type = "application/problem+json")
    )
)]
pub(crate) async fn release_table(
    State(services): State<Services>,
    operator: Operator,
    Path(id): Path<Uuid>,
    request: IdempotentRequest,
) -> Result<Response, Problem> {
    let by = operator.require_administrator()?.require_session()?;
    let request = request.require_key()?;
    let work = async move |_| {
        release(&services, &by, TableId(id)).await?;
        Ok(axum::http::StatusCode::NO_CONTENT)
    };
    Ok(request.execute(&operator, work).await)
}

/// Refund a lost POT
///
/// The coins go back to the players who paid them; the table no longer exists. For the role
/// `admin`, in a session with the second factor.
#[utoipa::path(
    post,
    path = "/v1/operator/tables/{id}/pot-refund",
    tag = "operators",
    security(("operator_token" = [])),
    params(("id" = Uuid, Path, description = "The table"), RequiredKeyHeader),
    responses(
        (status = 200, description = "The refunded shares", body = PotShares),
        (status = 409, description = "`table_live`: the table still exists. `pot_empty`. Or \
            `idempotency_key_in_use`", body = ProblemBody,
            content_type = "application/problem+json")
    )
)]
pub(crate) async fn refund_lost_pot(
    State(services): State<Services>,
    operator: Operator,
    Path(id): Path<Uuid>,
    request: IdempotentRequest,
) -> Result<Response, Problem> {
    let by = operator.require_administrator()?.require_session()?;
    let request = request.require_key()?;
    let work = async move |_| {
        let refund = refund_pot(&services, &by, TableId(id)).await?;
        let shares = refund.shares.into_iter();
        let shares =
            shares.map(|share| PotShare { player: share.player.0, amount: share.amount.into() });
        Ok(Json(PotShares { shares: shares.collect() }))
    };
    Ok(request.execute(&operator, work).await)
}

impl From<OperateError> for Problem {
    fn from(error: OperateError) -> Self {
        let code = match &error {
            OperateError::Missing => Code::TableNotFound,
            OperateError::Live => Code::TableLive,
            OperateError::NotHalted => Code::NotHalted,
            OperateError::Broken(_) => Code::TableBroken,
            OperateError::Ledger(LedgerError::PotEmpty { .. }) => Code::PotEmpty,
            OperateError::Ledger(LedgerError::TableBusy { .. }) => Code::TableLive,
            OperateError::Ledger(LedgerError::Unavailable { .. })
            | OperateError::OtherVersion(_)
            | OperateError::Unavailable(_)
            | OperateError::Database(_) => return Self::unavailable(&error),
            OperateError::Ledger(_) => return Self::internal(&error),
        };
        code.with_detail(error.to_string())
    }
}
