//! Settled games: a filtered list, its totals, and an export as CSV.

use axum::Json;
use axum::body::Body;
use axum::extract::State;
use axum::http::header::{CACHE_CONTROL, CONTENT_DISPOSITION, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use bahay_engine::coins;
use futures_util::TryStreamExt as _;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use utoipa::{IntoParams, ToSchema};
use uuid::Uuid;

use crate::clock::{self, BoundedTimestamp, Timestamp};
use crate::ids::{GameName, PlayerId, RoomId};
use crate::operators::audit::Action;
use crate::operators::{Audit, Operator};
use crate::reports::{Reports, SettlementFilter, SettlementRow, Totals};

use crate::http::core::pagination::Limit;
use crate::http::{
    Code, CodeExt as _, Coins, Cursors, PageOf, Problem, Query, Time, database_problem,
};

/// A settled game in a list.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Settled)]
pub(crate) struct SettledBody {
    game: Uuid,
    table: Uuid,
    /// The name of the kind of game.
    #[schema(example = "tongits")]
    kind: String,
    #[schema(example = "newbie")]
    room: String,
    finished_at: Time,
    /// The way in which the game ended; null if its record cannot be replayed.
    #[schema(required = true, example = "fight")]
    ending: Option<String>,
    /// Null if nobody won.
    #[schema(required = true)]
    winner: Option<Uuid>,
    /// Paid by the losers, before the fee; 0 once the settlement is reversed, like the fee and
    /// every net.
    gross: Coins,
    fee: Coins,
    /// The POT, if a player took it.
    #[schema(required = true)]
    pot: Option<Coins>,
    /// True if the AI acted for a player.
    taken_over: bool,
    /// The time at which a reversal of the settlement was booked; null without one.
    #[schema(required = true)]
    reversed_at: Option<Time>,
    /// By seat, from 0.
    seats: Vec<SettledSeat>,
}

/// A seat of a settled game.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct SettledSeat {
    player: Uuid,
    /// The player's current name.
    #[schema(example = "Maria")]
    name: String,
    /// The change of the player's coins, after the fee and without the ante.
    net: Coins,
}

/// The totals of settlements.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = SettledTotals)]
pub(crate) struct TotalsBody {
    games: i64,
    /// Paid by the losers, before the fee.
    gross: Coins,
    fees: Coins,
    /// The coins of the POTs that were taken, and their number.
    pots: Coins,
    pots_taken: i64,
    /// The number of games in which the AI acted for a player.
    taken_over: i64,
    /// The number of games whose settlement was reversed; their amounts do not count.
    reversed: i64,
}

/// A filter on settlements.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct SettledFilter {
    /// Only games that finished at this time or later: RFC 3339.
    #[param(value_type = Option<Time>, inline)]
    from: Option<BoundedTimestamp>,
    /// Only games that finished before this time: RFC 3339, later than `from`.
    #[param(value_type = Option<Time>, inline)]
    to: Option<BoundedTimestamp>,
    /// Only games in this room.
    #[param(value_type = Option<String>, max_length = 32, pattern = "^[a-z][a-z0-9-]{0,31}$")]
    room: Option<RoomId>,
    /// Only games of this player.
    player: Option<Uuid>,
    /// Only games that ended in this way.
    #[param(value_type = Option<String>, max_length = 32, pattern = "^[a-z][a-z0-9_]{0,31}$", example = "fight")]
    ending: Option<GameName>,
    /// Only games of this kind.
    #[param(value_type = Option<String>, max_length = 32, pattern = "^[a-z][a-z0-9_]{0,31}$", example = "tongits")]
    kind: Option<GameName>,
    /// Only games in which the losers paid at least this amount, in hundredths of a coin.
    #[param(minimum = 0)]
    gross_min: Option<i64>,
    /// Only games in which the losers paid at most this amount, in hundredths of a coin.
    #[param(minimum = 0)]
    gross_max: Option<i64>,
    /// Only games in which a player took the POT, or only games in which nobody did.
    took_pot: Option<bool>,
    /// Only games in which the AI acted for a player, or only games in which it did not.
    taken_over: Option<bool>,
}

/// A filter on settlements, with the position of a page.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct SettledQuery {
    /// Only games that finished at this time or later: RFC 3339.
    #[param(value_type = Option<Time>, inline)]
    from: Option<BoundedTimestamp>,
    /// Only games that finished before this time: RFC 3339, later than `from`.
    #[param(value_type = Option<Time>, inline)]
    to: Option<BoundedTimestamp>,
    /// Only games in this room.
    #[param(value_type = Option<String>, max_length = 32, pattern = "^[a-z][a-z0-9-]{0,31}$")]
    room: Option<RoomId>,
    /// Only games of this player.
    player: Option<Uuid>,
    /// Only games that ended in this way.
    #[param(value_type = Option<String>, max_length = 32, pattern = "^[a-z][a-z0-9_]{0,31}$", example = "fight")]
    ending: Option<GameName>,
    /// Only games of this kind.
    #[param(value_type = Option<String>, max_length = 32, pattern = "^[a-z][a-z0-9_]{0,31}$", example = "tongits")]
    kind: Option<GameName>,
    /// Only games in which the losers paid at least this amount, in hundredths of a coin.
    #[param(minimum = 0)]
    gross_min: Option<i64>,
    /// Only games in which the losers paid at most this amount, in hundredths of a coin.
    #[param(minimum = 0)]
    gross_max: Option<i64>,
    /// Only games in which a player took the POT, or only games in which nobody did.
    took_pot: Option<bool>,
    /// Only games in which the AI acted for a player, or only games in which it did not.
    taken_over: Option<bool>,
    /// `next_cursor` of the previous page; absent for the first page.
    #[param(max_length = 256)]
    cursor: Option<String>,
    /// The maximum number of items.
    #[serde(default)]
    #[param(value_type = u32, required = false, default = 20, minimum = 1, maximum = 100)]
    limit: Limit,
}

impl SettledFilter {
    pub(crate) fn to_filter(&self) -> Result<SettlementFilter, Problem> {
        if self.from.zip(self.to).is_some_and(|(from, to)| from >= to) {
            return Err(Code::QueryInvalid.with_detail("`from` is not before `to`"));
        }
        if [self.gross_min, self.gross_max].into_iter().flatten().any(|gross| gross < 0) {
            return Err(Code::QueryInvalid.with_detail("an amount is below zero"));
        }
        if self.gross_min.zip(self.gross_max).is_some_and(|(min, max)| min > max) {
            return Err(Code::QueryInvalid.with_detail("`gross_min` is above `gross_max`"));
        }
        Ok(SettlementFilter {
            from: self.from.map(Timestamp::from),
            to: self.to.map(Timestamp::from),
            room: self.room.as_ref().map(ToString::to_string),
            player: self.player.map(PlayerId),
            ending: self.ending.as_ref().map(ToString::to_string),
            gross_min: self.gross_min.map(coins::Coins::from_hundredths),
            gross_max: self.gross_max.map(coins::Coins::from_hundredths),
            took_pot: self.took_pot,
            taken_over: self.taken_over,
            kind: self.kind.as_ref().map(ToString::to_string),
        })
    }
}

/// Returns the name of the list to which the cursors of a filter are bound.
pub(crate) fn cursor_scope(filter: &SettlementFilter) -> String {
    let SettlementFilter {
        from,
        to,
        kind,
        room,
        player,
        ending,
        gross_min,
        gross_max,
        took_pot,
        taken_over,
    } = filter;
    let ms = |time: &Option<Timestamp>| time.map(Timestamp::ms);
    let coins = |amount: &Option<coins::Coins>| amount.map(coins::Coins::hundredths);
    format!(
        "settlements {:?} {:?} {kind:?} {room:?} {player:?} {ending:?} {:?} {:?} {took_pot:?} \
         {taken_over:?}",
        ms(from),
        ms(to),
        coins(gross_min),
        coins(gross_max)
    )
}

impl From<SettlementRow> for SettledBody {
    fn from(row: SettlementRow) -> Self {
        let seats = row.players.into_iter().zip(row.names).zip(row.nets);
        Self {
            game: row.game.0,
            table: row.table.0,
            kind: row.kind,
            room: row.room,
            finished_at: row.finished_at.into(),
            ending: row.ending,
            winner: row.winner.map(|winner| winner.0),
            gross: row.gross.into(),
            fee: row.fee.into(),
            pot: row.pot.map(Coins::from),
            taken_over: row.taken_over,
            reversed_at: row.reversed_at.map(Time::from),
            seats: seats
                .map(|((player, name), net)| SettledSeat {
                    player: player.0,
                    name,
                    net: net.into(),
                })
                .collect(),
        }
    }
}

impl From<Totals> for TotalsBody {
    fn from(totals: Totals) -> Self {
        let Totals { games, gross, fees, pots, pots_taken, taken_over, reversed } = totals;
        Self {
            games,
            gross: gross.into(),
            fees: fees.into(),
            pots: pots.into(),
            pots_taken,
            taken_over,
            reversed,
        }
    }
}

/// List settlements
///
/// Settled games, newest first, with a delay of some seconds. A reversed settlement is listed with
/// amounts of 0. A cursor is valid only with the filters of the page that returned it. For
/// operators of every role.
#[utoipa::path(
    get,
    path = "/v1/operator/settlements",
    tag = "operators",
    security(("operator_token" = [])),
    params(SettledQuery),
    responses((status = 200, description = "A page of settlements", body = PageOf<SettledBody>))
)]
pub(crate) async fn list_settlements(
    State(reports): State<Reports>,
    State(cursors): State<Cursors>,
    operator: Operator,
    Query(query): Query<SettledQuery>,
) -> Result<Json<PageOf<SettledBody>>, Problem> {
    let SettledQuery { cursor, limit, .. } = &query;
    let cursor = cursor.clone();
    let limit = limit.items();
    let filter = SettledFilter::from(query).to_filter()?;
    let list = cursor_scope(&filter);
    let cursor = cursors.open(&list, &operator, cursor.as_deref())?;
    let page = reports.settlements(&filter, cursor, limit).await.map_err(database_problem)?;
    Ok(Json(PageOf {
        items: page.items.into_iter().map(SettledBody::from).collect(),
        next_cursor: page.next.map(|next| cursors.seal(&list, &operator, &next)),
    }))
}

impl From<SettledQuery> for SettledFilter {
    fn from(query: SettledQuery) -> Self {
        let SettledQuery {
            from,
            to,
            room,
            player,
            ending,
            kind,
            gross_min,
            gross_max,
            took_pot,
            taken_over,
            cursor: _,
            limit: _,
        } = query;
        Self { from, to, room, player, ending, kind, gross_min, gross_max, took_pot, taken_over }
    }
}

/// Total settlements
///
/// The totals of all settlements that match the filters. For operators of every role.
#[utoipa::path(
    get,
    path = "/v1/operator/settlements/totals",
    tag = "operators",
    security(("operator_token" = [])),
    params(SettledFilter),
    responses((status = 200, description = "The totals", body = TotalsBody))
)]
pub(crate) async fn total_settlements(
    State(reports): State<Reports>,
    _: Operator,
    Query(query): Query<SettledFilter>,
) -> Result<Json<TotalsBody>, Problem> {
    let totals = reports.totals(&query.to_filter()?).await.map_err(database_problem)?;
    Ok(Json(totals.into()))
}

/// Export settlements
///
/// All settlements that match the filters as CSV (RFC 4180), newest first, with a header line;
/// amounts are integers in hundredths of a coin, times RFC 3339 in UTC. There is no limit: the
/// response is streamed. If an error interrupts it, the connection is closed. Each export is
/// recorded in the audit log. For operators of every role.
#[utoipa::path(
    get,
    path = "/v1/operator/settlements.csv",
    tag = "operators",
    security(("operator_token" = [])),
    params(SettledFilter),
    responses(
        (status = 200, description = "The settlements", body = String, content_type = "text/csv")
    )
)]
pub(crate) async fn export_settlements(
    State(reports): State<Reports>,
    State(audit): State<Audit>,
    operator: Operator,
    Query(query): Query<SettledFilter>,
) -> Result<Response, Problem> {
    let filter = query.to_filter()?;
    export_csv(&audit, &operator, reports, filter).await
}

/// Returns the settlements as a CSV file, after recording the export in the audit log.
pub(crate) async fn export_csv(
    audit: &Audit,
    operator: &Operator,
    reports: Reports,
    filter: SettlementFilter,
) -> Result<Response, Problem> {
    let detail = describe_filter(&filter);
    let recorded = audit.record(&operator.actor(), Action::Exported, "settlements", detail).await;
    recorded.map_err(database_problem)?;
    Ok(stream_csv(reports, filter))
}

/// Describes a filter for the audit log: amounts in hundredths of a coin, without the conditions
/// that are not set.
fn describe_filter(filter: &SettlementFilter) -> Value {
    let time = |at: Option<Timestamp>| at.map(|at| clock::to_jiff(at).to_string());
    let mut fields = json!({
        "from": time(filter.from),
        "to": time(filter.to),
        "kind": filter.kind,
        "room": filter.room,
        "player": filter.player.map(|player| player.0),
        "ending": filter.ending,
        "gross_min": filter.gross_min.map(coins::Coins::hundredths),
        "gross_max": filter.gross_max.map(coins::Coins::hundredths),
        "took_pot": filter.took_pot,
        "taken_over": filter.taken_over,
    });
    if let Value::Object(fields) = &mut fields {
        fields.retain(|_, value| !value.is_null());
    }
    fields
}

/// Streams the settlements as a CSV file.
fn stream_csv(reports: Reports, filter: SettlementFilter) -> Response {
    let rows = reports.export(filter).inspect_err(|error| {
        tracing::warn!(%error, "an export of settlements was interrupted");
    });
    let headers = [
        (CONTENT_TYPE, "text/csv; charset=utf-8; header=present"),
        (CONTENT_DISPOSITION, "attachment; filename=\"settlements.csv\""),
        (CACHE_CONTROL, "no-store"),
    ];
    (headers, Body::from_stream(rows)).into_response()
}
