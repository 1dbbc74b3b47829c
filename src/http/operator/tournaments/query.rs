//! The part of tournaments that the API and the desk share: the list, one tournament, and the
//! announcement.

use bahay_api::operator::tournaments::{
    AnnounceTournament, Cancellation, OperatedTournament, OperatedTournamentDetail,
    OperatedTournamentFilter, OperatedTournamentTable, TournamentRefund, TournamentTransfers,
};
use bahay_engine::coins::Coins;
use bahay_engine::table::TournamentId;
use bahay_engine::tournament::{Refund, TableSeating, Tournament};
use uuid::Uuid;

use super::announcement::{start_field, to_draft, to_problem};
use crate::clock::Timestamp;
use crate::http::core::game_names::require_kind;
use crate::http::player::tables::tournaments::api_tournament;
use crate::http::{PageOf, PageRequest, Problem, Services, Time};
use crate::ledger;
use crate::operators::{Administrator, Operator};
use crate::tournaments::{CancellationRefunds, OperatedRow, TournamentSelection};

/// Returns a page of tournaments, newest first.
pub(super) async fn list(
    services: &Services,
    request: &PageRequest<Operator, OperatedTournamentFilter>,
) -> Result<PageOf<OperatedTournament>, Problem> {
    let filter = &request.filter;
    filter.kind.as_ref().map(require_kind).transpose()?;
    let selection = TournamentSelection {
        state: filter.state,
        format: filter.format.map(|format| format.as_str()),
        kind: filter.kind.as_ref().map(|kind| kind.as_str()),
    };
    let list = format!("operated tournaments {filter:?}");
    let tournaments = &services.tournaments;
    let read = |below, limit| tournaments.list_for_operators(selection, below, limit);
    let now = tournaments.now();
    Ok(request.read(&list, read).await?.map(|row| to_body(&row, now)))
}

/// Returns a tournament with its terms, coins and tables, and its value.
pub(super) async fn show_tournament(
    services: &Services,
    id: TournamentId,
) -> Result<(OperatedTournamentDetail, std::sync::Arc<Tournament>), Problem> {
    let (row, tournament) = services.tournaments.read_for_operators(id).await?;
    let transfers = services.reports.account_transfers(&account_code(id)).await?;
    let balance = Coins::checked_sum(transfers.iter().map(|sum| sum.amount)).unwrap_or_default();
    let transfers = transfers.into_iter().map(|sum| TournamentTransfers {
        code: sum.code,
        transfers: sum.transfers,
        amount: sum.amount.into(),
    });
    let terms = serde_json::to_value(&row.terms).map_err(|error| Problem::internal(&error))?;
    let pool = tournament.pool();
    let prizes = pool.map(|pool| pool.prizes.iter().copied().map(Into::into).collect());
    let is_over = tournament.phase().is_over();
    let tables = tournament.open_tables();
    let detail = OperatedTournamentDetail {
        tournament: to_body(&row, services.tournaments.now()),
        terms,
        code: row.code,
        round: tournament.round(),
        prizes: prizes.unwrap_or_default(),
        commitment: tournament.commitment().0.to_string(),
        seed: is_over.then(|| tournament.draw_seed().0.to_string()),
        transfers: transfers.collect(),
        balance: balance.into(),
        tables: tables.iter().map(|table| to_table(id, table)).collect(),
    };
    Ok((detail, tournament))
}

/// Returns the code of a tournament's account.
pub(super) fn account_code(id: TournamentId) -> String {
    ledger::Account::Tournament(id).to_string()
}

/// Announces a tournament under an id, unless the guarantees of the day require the approval of a
/// second operator.
pub(super) async fn announce(
    services: &Services,
    by: &Administrator,
    id: Uuid,
    request: AnnounceTournament,
) -> Result<TournamentId, Problem> {
    let tournaments = &services.tournaments;
    let start = start_field(&request);
    let draft = to_draft(tournaments.now(), request)?;
    let limit = services.tournament_requests.limit();
    let announced = tournaments.announce(by, TournamentId(id), draft, limit).await;
    announced.map_err(|error| to_problem(error, start))
}

/// Returns the payments of a cancellation as the API has them.
pub(super) fn to_cancellation(amounts: &CancellationRefunds) -> Cancellation {
    let to_body = |refund: &Refund| TournamentRefund {
        player: refund.player.0,
        amount: refund.amount.into(),
    };
    let refunds = amounts.refunds.iter().map(to_body).collect();
    Cancellation { refunds, digest: amounts.digest() }
}

/// Returns a tournament as the list has it.
fn to_body(row: &OperatedRow, now: Timestamp) -> OperatedTournament {
    OperatedTournament {
        tournament: api_tournament(row.id, &row.terms, row.state, row.entrants),
        is_private: row.terms.is_private,
        announced_at: Time::from(row.created_at),
        pool: row.pool.map(Into::into),
        house_result: row.house_result.into(),
        is_stuck: row.is_stuck(now),
    }
}

fn to_table(id: TournamentId, table: &TableSeating) -> OperatedTournamentTable {
    OperatedTournamentTable {
        table: table.number.table_id(id).0,
        round: table.number.round,
        number: table.number.table,
        players: table.players.iter().map(|player| player.0).collect(),
    }
}
