//! Tournaments, for their players.

use axum::Extension;
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use bahay_api::player::leaderboards::Section;
use bahay_api::player::rooms::SeatedTable;
use bahay_api::player::tournaments as api;
use bahay_engine::table::TournamentId;
use bahay_engine::tournament::Rejection;
use uuid::Uuid;

use super::tournament_documents::{api_detail, api_game, api_standing};
use crate::archive::tournament_games;
use crate::auth::Player;
use crate::db::{Page, PgPool};
use crate::http::core::pagination::CursorOwner;
use crate::http::{Body, Code, CodeExt as _, PageOf, PageRequest, Path, Problem};
use crate::ids::PlayerId;
use crate::passes::Pass;
use crate::rate_limit::Address;
use crate::tournaments::{
    RegistrationOptions, Selection, TournamentError, TournamentState, Tournaments, VersionResults,
    state_of,
};

pub(crate) use super::tournament_documents::{api_tournament, show_announced};

/// The maximum number of characters of a private tournament's code.
const CODE_LENGTH_MAX: usize = 16;

impl From<TournamentError> for Problem {
    fn from(error: TournamentError) -> Self {
        let code = match &error {
            TournamentError::Unknown => Code::TournamentNotFound,
            TournamentError::CodeRequired => Code::TournamentCodeRequired,
            TournamentError::TooFewCoins => Code::TooFewCoins,
            TournamentError::NoPass => Code::PassMissing,
            // A deletion ends every session of the account.
            TournamentError::AccountDeleted => Code::SessionEnded,
            TournamentError::Rejected(rejection) => match rejection {
                Rejection::TournamentOver => Code::TournamentOver,
                Rejection::RegistrationClosed => Code::RegistrationClosed,
                Rejection::TournamentFull => Code::TournamentFull,
                Rejection::NotRegistered => Code::NotRegistered,
                Rejection::AlreadyStarted => Code::TournamentStarted,
                Rejection::NotArena => Code::NotArena,
                Rejection::NoPasses => Code::PassesNotAccepted,
                _ => return Self::internal(&error),
            },
            TournamentError::Lobby(_) => match error {
                TournamentError::Lobby(error) => return error.into(),
                other => return Self::internal(&other),
            },
            TournamentError::Ledger(_) => match error {
                TournamentError::Ledger(error) => return error.into(),
                other => return Self::internal(&other),
            },
            TournamentError::Database(_) => match error {
                TournamentError::Database(error) => return error.into(),
                other => return Self::internal(&other),
            },
            TournamentError::Contended => return Self::unavailable(&error),
            TournamentError::Terms(_) => Code::TournamentUnsound,
            TournamentError::AmountsChanged => Code::CancellationChanged,
            TournamentError::ApprovalRequired { .. } => Code::TournamentApprovalRequired,
            TournamentError::Broken(_) => return Self::internal(&error),
        };
        code.with_detail(error.to_string())
    }
}

pub(crate) async fn list_tournaments(
    State(tournaments): State<Tournaments>,
    request: PageRequest<Player, api::TournamentFilter>,
) -> Result<Json<PageOf<api::Tournament>>, Problem> {
    let api::TournamentFilter { state, mine, code } = &request.filter;
    check_code(code.as_deref(), Code::QueryInvalid)?;
    let selection = match code {
        Some(code) => Selection::WithCode(code.clone()),
        None if *mine => Selection::OfPlayer(request.caller.id),
        None => Selection::Public,
    };
    let list = format!("tournaments {state:?} {selection:?}");
    let read = |below, limit| tournaments.list(*state, &selection, below, limit);
    let page = request.read(&list, read).await?;
    Ok(Json(page.map(|one| api_tournament(one.id, &one.terms, one.state, one.entrants))))
}

/// Refuses a code that no tournament can have.
fn check_code(code: Option<&str>, refusal: Code) -> Result<(), Problem> {
    if code.is_some_and(|code| code.chars().count() > CODE_LENGTH_MAX) {
        return Err(refusal.with_detail("code: it has at most 16 characters".to_owned()));
    }
    Ok(())
}

pub(crate) async fn show_tournament(
    State(tournaments): State<Tournaments>,
    player: Player,
    Path(id): Path<Uuid>,
) -> Result<Json<api::TournamentDetail>, Problem> {
    Ok(Json(read_detail(&tournaments, TournamentId(id), player.id).await?))
}

/// Reads a tournament for a player, with the refund of a cancelled one.
async fn read_detail(
    tournaments: &Tournaments,
    id: TournamentId,
    player: PlayerId,
) -> Result<api::TournamentDetail, Problem> {
    let tournament = tournaments.read(id).await?;
    let mut detail = api_detail(&tournament, player, tournaments.now());
    let entry = &tournament.terms().entry;
    if entry.accepts_passes {
        let passes = tournaments.list_passes(player).await?.into_iter();
        let fitting = passes.filter(|pass| pass.pays(entry.buy_in));
        detail.passes = fitting.map(to_pass).collect();
    }
    if state_of(&tournament) == TournamentState::Cancelled
        && let Some(entry) = &mut detail.entry
    {
        entry.refund = tournaments.refund_of(&tournament, player).await?.map(Into::into);
    }
    Ok(detail)
}

/// Returns a pass as the API has it.
pub(crate) fn to_pass(pass: Pass) -> api::TournamentPass {
    api::TournamentPass {
        id: pass.id,
        buy_in_max: pass.buy_in_max.into(),
        granted_at: pass.granted_at.into(),
        used_in: pass.used.map(|(tournament, _)| tournament.0),
        used_at: pass.used.map(|(_, at)| at.into()),
        revoked_at: pass.revoked_at.map(Into::into),
    }
}

pub(crate) async fn list_my_passes(
    State(tournaments): State<Tournaments>,
    player: Player,
) -> Result<Json<api::TournamentPasses>, Problem> {
    let passes = tournaments.list_passes(player.id).await?;
    Ok(Json(api::TournamentPasses { items: passes.into_iter().map(to_pass).collect() }))
}

pub(crate) async fn register_for_tournament(
    State(tournaments): State<Tournaments>,
    player: Player,
    Extension(from): Extension<Address>,
    Path(id): Path<Uuid>,
    Body(body): Body<api::RegistrationRequest>,
) -> Result<Json<api::TournamentDetail>, Problem> {
    let id = TournamentId(id);
    check_code(body.code.as_deref(), Code::BodyInvalid)?;
    let api::RegistrationRequest { code, payment } = &body;
    let options =
        RegistrationOptions { code: code.as_deref(), payment: *payment, from: Some(from) };
    match tournaments.register(id, player.id, options).await {
        Ok(()) | Err(TournamentError::Rejected(Rejection::AlreadyRegistered)) => {}
        Err(error) => return Err(error.into()),
    }
    Ok(Json(read_detail(&tournaments, id, player.id).await?))
}

pub(crate) async fn withdraw_from_tournament(
    State(tournaments): State<Tournaments>,
    player: Player,
    Path(id): Path<Uuid>,
) -> Result<StatusCode, Problem> {
    tournaments.withdraw(TournamentId(id), player.id).await?;
    Ok(StatusCode::NO_CONTENT)
}

pub(crate) async fn show_tournament_table(
    State(tournaments): State<Tournaments>,
    player: Player,
    Path(id): Path<Uuid>,
) -> Result<Json<SeatedTable>, Problem> {
    let table = tournaments.find_table(TournamentId(id), player.id).await?;
    table.map(|table| Json(SeatedTable::new(table))).ok_or_else(|| Code::NotSeated.problem())
}

pub(crate) async fn list_tournament_standings(
    State(tournaments): State<Tournaments>,
    Path(id): Path<Uuid>,
    request: PageRequest<Player, api::StandingsFilter>,
) -> Result<Json<PageOf<api::TournamentStanding>>, Problem> {
    let is_around = matches!(request.filter.section, Some(Section::Around));
    let around = Some(request.caller.id).filter(|_| is_around);
    Ok(Json(list_standings(&tournaments, TournamentId(id), &request, around).await?))
}

/// Returns a page of the standings of a tournament, the best first. The first page is that around a
/// player if one is given.
pub(crate) async fn list_standings<C: CursorOwner, F>(
    tournaments: &Tournaments,
    id: TournamentId,
    request: &PageRequest<C, F>,
    around: Option<PlayerId>,
) -> Result<PageOf<api::TournamentStanding>, Problem> {
    let tournament = tournaments.read(id).await?;
    let own = around.and_then(|player| tournament.row_of(player));
    let read = async |after: Option<i64>, limit: u32| {
        let items = usize::try_from(limit).unwrap_or(usize::MAX);
        let first = own.map_or(0, |own| own.saturating_sub(items / 2));
        let from = after.and_then(|after| usize::try_from(after).ok()).unwrap_or(first);
        let rows = tournament.standing_rows(from, items.saturating_add(1));
        let rows = rows.into_iter().map(api_standing).collect();
        let next = i64::try_from(from).unwrap_or(i64::MAX).saturating_add(i64::from(limit));
        Ok::<_, Problem>(Page::from_rows(rows, limit, |_| next))
    };
    request.read(&format!("standings {id}"), read).await
}

pub(crate) async fn list_tournament_games(
    State(tournaments): State<Tournaments>,
    State(pool): State<PgPool>,
    Path(id): Path<Uuid>,
    request: PageRequest<Player>,
) -> Result<Json<PageOf<api::TournamentGame>>, Problem> {
    let tournament = TournamentId(id);
    tournaments.read(tournament).await?;
    let read =
        |after, limit| tournament_games::list_tournament_games(&pool, tournament, after, limit);
    let page = request.read(&format!("tournament games {id}"), read).await?;
    Ok(Json(page.map(api_game)))
}

pub(crate) async fn list_tournament_results(
    State(tournaments): State<Tournaments>,
    Path(id): Path<Uuid>,
    request: PageRequest<Player>,
) -> Result<Json<PageOf<api::TournamentResults>>, Problem> {
    Ok(Json(list_results(&tournaments, TournamentId(id), &request).await?))
}

/// Returns a page of the results of a tournament, in order.
pub(crate) async fn list_results<C: CursorOwner>(
    tournaments: &Tournaments,
    id: TournamentId,
    request: &PageRequest<C>,
) -> Result<PageOf<api::TournamentResults>, Problem> {
    let read = |after, limit| tournaments.results(id, after, limit);
    let page = request.read(&format!("results {id}"), read).await?;
    Ok(page.map(|VersionResults { version, results }| api::TournamentResults { version, results }))
}
