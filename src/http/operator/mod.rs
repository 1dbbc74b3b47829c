//! The operators' API, under `/v1/operator`, and the desk. Each topic is a folder. Each handler of
//! the API takes an [`Operator`], whose value proves a valid token or session; some handlers
//! require a role in addition, some a session.

pub(crate) mod alerts;
pub(crate) mod audit;
pub(crate) mod collusion;
pub(crate) mod corrections;
pub(crate) mod desk_ui;
pub(crate) mod games;
pub(crate) mod house;
pub(crate) mod jobs;
pub(crate) mod ledger;
pub(crate) mod operators;
pub(crate) mod player_reports;
pub(crate) mod players;
pub(crate) mod rooms;
pub(crate) mod sanctions;
pub(crate) mod search;
pub(crate) mod settlements;
pub(crate) mod statements;
pub(crate) mod tables;
pub(crate) mod today;
pub(crate) mod tournament_requests;
pub(crate) mod tournament_schedules;
pub(crate) mod tournaments;
pub(crate) mod transfers;

use axum::extract::FromRef;
use axum::response::{IntoResponse, Response};
use bahay_api::operator as operations;

use crate::auth::AuthError;
use crate::operators::{
    Moderation, ModerationError, Operator, OperatorError, RoleMissing, SecondFactorMissing,
};

use crate::http::core::pagination::CursorOwner;
use crate::http::core::routing::Routes;
use crate::http::{Code, CodeExt as _, Problem, Services};

/// Adds the routes of every operation.
pub(crate) fn routes(routes: Routes) -> Routes {
    routes
        .bind(&operations::alerts::SHOW_ALERTS, alerts::api::show_alerts)
        .bind(&operations::audit::LIST_AUDIT_ENTRIES, audit::api::list_audit_entries)
        .bind(&operations::audit::EXPORT_AUDIT_ENTRIES, audit::api::export_audit_entries)
        .bind(&operations::collusion::LIST_PAIRS, collusion::api::list_pairs)
        .bind(&operations::collusion::SHOW_PAIR, collusion::api::show_pair)
        .bind(&operations::collusion::REVIEW_PAIR, collusion::api::review_pair)
        .bind(&operations::corrections::REQUEST_CORRECTION, corrections::api::request_correction)
        .bind(&operations::corrections::LIST_CORRECTIONS, corrections::api::list_corrections)
        .bind(&operations::corrections::SHOW_CORRECTION, corrections::api::show_correction)
        .bind(&operations::corrections::PREVIEW_CORRECTION, corrections::api::preview_correction)
        .bind(&operations::corrections::APPROVE_CORRECTION, corrections::api::approve_correction)
        .bind(&operations::corrections::REJECT_CORRECTION, corrections::api::reject_correction)
        .bind(&operations::corrections::WITHDRAW_CORRECTION, corrections::api::withdraw_correction)
        .bind(&operations::games::SHOW_DOSSIER, games::api::show_dossier)
        .bind(&operations::games::REPLAY_GAME, games::api::replay_game)
        .bind(&operations::tournaments::ANNOUNCE_TOURNAMENT, tournaments::api::announce_tournament)
        .bind(
            &operations::tournaments::LIST_OPERATED_TOURNAMENTS,
            tournaments::api::list_operated_tournaments,
        )
        .bind(
            &operations::tournaments::SHOW_OPERATED_TOURNAMENT,
            tournaments::api::show_operated_tournament,
        )
        .bind(
            &operations::tournaments::LIST_OPERATED_STANDINGS,
            tournaments::api::list_operated_standings,
        )
        .bind(
            &operations::tournaments::LIST_OPERATED_RESULTS,
            tournaments::api::list_operated_results,
        )
        .bind(
            &operations::tournament_schedules::CREATE_TOURNAMENT_SCHEDULE,
            tournament_schedules::api::create_tournament_schedule,
        )
        .bind(
            &operations::tournament_schedules::LIST_TOURNAMENT_SCHEDULES,
            tournament_schedules::api::list_tournament_schedules,
        )
        .bind(
            &operations::tournament_schedules::PAUSE_TOURNAMENT_SCHEDULE,
            tournament_schedules::api::pause_tournament_schedule,
        )
        .bind(
            &operations::tournament_schedules::RESUME_TOURNAMENT_SCHEDULE,
            tournament_schedules::api::resume_tournament_schedule,
        )
        .bind(
            &operations::tournament_schedules::DELETE_TOURNAMENT_SCHEDULE,
            tournament_schedules::api::delete_tournament_schedule,
        )
        .bind(
            &operations::tournament_requests::REQUEST_TOURNAMENT,
            tournament_requests::api::request_tournament,
        )
        .bind(
            &operations::tournament_requests::LIST_TOURNAMENT_REQUESTS,
            tournament_requests::api::list_tournament_requests,
        )
        .bind(
            &operations::tournament_requests::SHOW_TOURNAMENT_REQUEST,
            tournament_requests::api::show_tournament_request,
        )
        .bind(
            &operations::tournament_requests::APPROVE_TOURNAMENT,
            tournament_requests::api::approve_tournament,
        )
        .bind(
            &operations::tournament_requests::REJECT_TOURNAMENT,
            tournament_requests::api::reject_tournament,
        )
        .bind(
            &operations::tournament_requests::WITHDRAW_TOURNAMENT_REQUEST,
            tournament_requests::api::withdraw_tournament_request,
        )
        .bind(
            &operations::tournaments::LIST_TOURNAMENT_PAIRS,
            tournaments::collusion::list_tournament_pairs,
        )
        .bind(
            &operations::tournaments::PREVIEW_CANCELLATION,
            tournaments::api::preview_cancellation,
        )
        .bind(&operations::tournaments::CANCEL_TOURNAMENT, tournaments::api::cancel_tournament)
        .bind(&operations::house::SHOW_HOUSE, house::api::show_house)
        .bind(&operations::house::CLOSE_HOUSE, house::api::close_house)
        .bind(&operations::house::OPEN_HOUSE, house::api::open_house)
        .bind(&operations::jobs::LIST_DEAD_JOBS, jobs::api::list_dead_jobs)
        .bind(&operations::jobs::RETRY_DEAD_JOB, jobs::api::retry_dead_job)
        .bind(&operations::jobs::DISCARD_DEAD_JOB, jobs::api::discard_dead_job)
        .bind(&operations::ledger::SHOW_BOOKS, ledger::api::show_books)
        .bind(&operations::ledger::SHOW_ACCOUNT, ledger::api::show_account)
        .bind(&operations::ledger::LIST_ACCOUNT_ENTRIES, ledger::api::list_account_entries)
        .bind(&operations::ledger::LIST_OPERATIONS, ledger::api::list_operations)
        .bind(&operations::ledger::SHOW_OPERATION, ledger::api::show_operation)
        .bind(&operations::operators::SIGN_IN_OPERATOR, operators::sign_in::api::sign_in_operator)
        .bind(&operations::operators::SIGN_OUT_OPERATOR, operators::sign_in::api::sign_out_operator)
        .bind(&operations::operators::CREATE_TOKEN, operators::tokens::api::create_token)
        .bind(&operations::operators::REVOKE_TOKEN, operators::tokens::api::revoke_token)
        .bind(&operations::operators::LIST_OPERATORS, operators::api::list_operators)
        .bind(&operations::operators::ADD_OPERATOR, operators::api::add_operator)
        .bind(&operations::operators::CHANGE_OPERATOR_ROLE, operators::api::change_operator_role)
        .bind(&operations::operators::DISABLE_OPERATOR, operators::api::disable_operator)
        .bind(&operations::operators::RESET_OPERATOR, operators::api::reset_operator)
        .bind(&operations::player_reports::LIST_REPORTS, player_reports::api::list_reports)
        .bind(&operations::player_reports::DECIDE_REPORT, player_reports::api::decide_report)
        .bind(&operations::players::FIND_PLAYERS, players::api::find_players)
        .bind(&operations::players::SHOW_PLAYER_REPORT, players::api::show_player_report)
        .bind(&operations::players::LIST_PARTNERS, players::api::list_partners)
        .bind(&operations::players::LIST_PASSES, players::api::list_passes)
        .bind(&operations::players::WRITE_NOTE, players::api::write_note)
        .bind(&operations::players::END_SESSIONS, players::api::end_sessions)
        .bind(&operations::rooms::CREATE_ROOM, rooms::api::create_room)
        .bind(&operations::rooms::CHANGE_ROOM, rooms::api::change_room)
        .bind(&operations::rooms::LIST_ROOM_REVISIONS, rooms::api::list_room_revisions)
        .bind(&operations::rooms::OPEN_ROOM, rooms::api::open_room)
        .bind(&operations::rooms::CLOSE_ROOM, rooms::api::close_room)
        .bind(
            &operations::sanctions::LIST_SANCTIONS_IN_FORCE,
            sanctions::api::list_sanctions_in_force,
        )
        .bind(&operations::sanctions::LIST_SANCTIONS, sanctions::api::list_sanctions)
        .bind(&operations::sanctions::IMPOSE_SANCTION, sanctions::api::impose_sanction)
        .bind(&operations::sanctions::LIFT_SANCTIONS, sanctions::api::lift_sanctions)
        .bind(&operations::sanctions::LIFT_SANCTION, sanctions::api::lift_sanction)
        .bind(&operations::search::SEARCH, search::api::search)
        .bind(&operations::settlements::LIST_SETTLEMENTS, settlements::api::list_settlements)
        .bind(&operations::settlements::TOTAL_SETTLEMENTS, settlements::api::total_settlements)
        .bind(&operations::settlements::EXPORT_SETTLEMENTS, settlements::api::export_settlements)
        .bind(&operations::statements::SHOW_STATEMENT, statements::api::show_statement)
        .bind(&operations::statements::EXPORT_STATEMENT, statements::api::export_statement)
        .bind(&operations::tables::LIST_TABLES, tables::api::list_tables)
        .bind(&operations::tables::LIST_STRANDED, tables::api::list_stranded)
        .bind(&operations::tables::SHOW_OPERATED_TABLE, tables::api::show_operated_table)
        .bind(&operations::tables::VIEW_HANDS, tables::api::view_hands)
        .bind(&operations::tables::VOID_TABLE, tables::api::void_table)
        .bind(&operations::tables::RELEASE_TABLE, tables::api::release_table)
        .bind(&operations::tables::REFUND_LOST_POT, tables::api::refund_lost_pot)
        .bind(&operations::today::SHOW_TODAY, today::api::show_today)
        .bind(&operations::today::COMPARE_PERIODS, today::api::compare_periods)
        .bind(&operations::transfers::TOTAL_TRANSFERS, transfers::api::total_transfers)
        .bind(&operations::transfers::EXPORT_TRANSFERS, transfers::api::export_transfers)
        .bind(&operations::transfers::EXPORT_BOOKINGS, transfers::api::export_bookings)
}

impl CursorOwner for Operator {
    fn owner(&self) -> uuid::Uuid {
        self.id.0
    }
}

impl From<OperatorError> for Problem {
    fn from(error: OperatorError) -> Self {
        match error {
            OperatorError::NoToken(AuthError::Missing) => Code::TokenMissing
                .with_detail("send an operator's token as `Authorization: Bearer <token>`"),
            OperatorError::NoToken(_) => {
                Code::TokenMalformed.with_detail("the token is not an operator's")
            }
            OperatorError::TokenUnknown => Code::OperatorTokenUnknown.problem(),
            OperatorError::TokenExpired => {
                Code::OperatorTokenExpired.with_detail(error.to_string())
            }
            OperatorError::Session(error) => error.into(),
            OperatorError::Database(error) => error.into(),
        }
    }
}

/// The rejection of the extractor [`Operator`].
impl IntoResponse for OperatorError {
    fn into_response(self) -> Response {
        Problem::from(self).into_response()
    }
}

impl FromRef<Services> for Moderation {
    fn from_ref(services: &Services) -> Self {
        Self::new(services.pool.clone(), services.clock.clone())
    }
}

impl From<ModerationError> for Problem {
    fn from(error: ModerationError) -> Self {
        match error {
            ModerationError::PlayerUnknown { .. } => {
                Code::PlayerNotFound.with_detail(error.to_string())
            }
            ModerationError::Database(error) => error.into(),
        }
    }
}

impl From<SecondFactorMissing> for Problem {
    fn from(missing: SecondFactorMissing) -> Self {
        Code::SecondFactorMissing.with_detail(missing.to_string())
    }
}

impl From<RoleMissing> for Problem {
    fn from(missing: RoleMissing) -> Self {
        Code::OperatorRoleMissing.with_detail(missing.to_string())
    }
}
