//! Tournaments, for their players.

use axum::Extension;
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use bahay_api::player::rooms::SeatedTable;
use bahay_api::player::tournaments as api;
use bahay_engine::table::TournamentId;
use bahay_engine::tournament::{Format, Rejection, StandingRow, Tournament};
use uuid::Uuid;

use crate::archive::tournament_games::{self, TournamentGame};
use crate::auth::Player;
use crate::db::{Page, PgPool};
use crate::http::core::pagination::CursorOwner;
use crate::http::{Body, Code, CodeExt as _, PageOf, PageRequest, Path, Problem, Time};
use crate::ids::PlayerId;
use crate::rate_limit::Address;
use crate::tournaments::{TournamentError, TournamentState, Tournaments, VersionResults, state_of};

/// The maximum number of characters of a private tournament's code.
const CODE_LENGTH_MAX: usize = 16;

impl From<TournamentError> for Problem {
    fn from(error: TournamentError) -> Self {
        let code = match &error {
            TournamentError::Unknown => Code::TournamentNotFound,
            TournamentError::CodeRequired => Code::TournamentCodeRequired,
            TournamentError::TooFewCoins => Code::TooFewCoins,
            // A deletion ends every session of the account.
            TournamentError::AccountDeleted => Code::SessionEnded,
            TournamentError::Rejected(rejection) => match rejection {
                Rejection::TournamentOver => Code::TournamentOver,
                Rejection::RegistrationClosed => Code::RegistrationClosed,
                Rejection::TournamentFull => Code::TournamentFull,
                Rejection::NotRegistered => Code::NotRegistered,
                Rejection::AlreadyStarted => Code::TournamentStarted,
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
            TournamentError::Broken(_) => return Self::internal(&error),
        };
        code.with_detail(error.to_string())
    }
}

/// Returns a tournament as its list shows it.
pub(crate) fn api_tournament(
    id: TournamentId,
    terms: &bahay_engine::tournament::TournamentTerms,
    state: TournamentState,
    entrants: u32,
) -> api::Tournament {
    let format = match &terms.format {
        Format::SitAndGo { .. } => "sit_and_go",
        Format::KnockOut { .. } => "knock_out",
        Format::Arena { .. } => "arena",
        Format::Duplicate { .. } => "duplicate",
    };
    api::Tournament {
        id: id.0,
        name: terms.name.clone(),
        state,
        format: format.to_owned(),
        kind: terms.game.kind().to_owned(),
        seats: terms.game.seats,
        entrants,
        entrants_min: terms.entrants.least,
        entrants_max: terms.entrants.most,
        buy_in: terms.entry.buy_in.into(),
        fee: terms.entry.fee.into(),
        guarantee: terms.guarantee.into(),
        starts_at: terms.starts_at.map(Time::from),
    }
}

/// Returns a tournament as its list shows it.
pub(crate) fn show_announced(tournament: &Tournament) -> api::Tournament {
    let state = state_of(tournament);
    api_tournament(tournament.id(), tournament.terms(), state, tournament.entrant_count())
}

fn api_detail(tournament: &Tournament, player: PlayerId) -> api::TournamentDetail {
    let state = state_of(tournament);
    let id = tournament.id();
    let is_registered = tournament.is_registered(player);
    let entrant = tournament.entrant(player).filter(|_| is_registered);
    let has_started = state != TournamentState::Announced;
    api::TournamentDetail {
        tournament: show_announced(tournament),
        round: tournament.round(),
        pool: tournament.pool().map(|pool| pool.amount.into()),
        prizes: tournament
            .pool()
            .map(|pool| pool.prizes.iter().copied().map(Into::into).collect())
            .unwrap_or_default(),
        commitment: tournament.commitment().0.to_string(),
        entry: entrant.map(|entrant| api::TournamentEntry {
            rank: tournament.rank_of(player).filter(|_| has_started),
            score: entrant.standing().score,
            table: entrant.table.map(|table| table.table_id(id).0),
        }),
    }
}

pub(crate) async fn list_tournaments(
    State(tournaments): State<Tournaments>,
    request: PageRequest<Player, api::TournamentFilter>,
) -> Result<Json<PageOf<api::Tournament>>, Problem> {
    let state = request.filter.state;
    let list = format!("tournaments {state:?}");
    let read = |below, limit| tournaments.list(state, below, limit);
    let page = request.read(&list, read).await?;
    Ok(Json(page.map(|one| api_tournament(one.id, &one.terms, one.state, one.entrants))))
}

pub(crate) async fn show_tournament(
    State(tournaments): State<Tournaments>,
    player: Player,
    Path(id): Path<Uuid>,
) -> Result<Json<api::TournamentDetail>, Problem> {
    let tournament = tournaments.read(TournamentId(id)).await?;
    Ok(Json(api_detail(&tournament, player.id)))
}

pub(crate) async fn register_for_tournament(
    State(tournaments): State<Tournaments>,
    player: Player,
    Extension(from): Extension<Address>,
    Path(id): Path<Uuid>,
    Body(body): Body<api::RegistrationRequest>,
) -> Result<Json<api::TournamentDetail>, Problem> {
    let id = TournamentId(id);
    if body.code.as_ref().is_some_and(|code| code.chars().count() > CODE_LENGTH_MAX) {
        return Err(Code::BodyInvalid.with_detail("code: it has at most 16 characters".to_owned()));
    }
    match tournaments.register(id, player.id, body.code.as_deref(), Some(from)).await {
        Ok(()) | Err(TournamentError::Rejected(Rejection::AlreadyRegistered)) => {}
        Err(error) => return Err(error.into()),
    }
    Ok(Json(api_detail(&*tournaments.read(id).await?, player.id)))
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
    request: PageRequest<Player>,
) -> Result<Json<PageOf<api::TournamentStanding>>, Problem> {
    Ok(Json(list_standings(&tournaments, TournamentId(id), &request).await?))
}

/// Returns a page of the standings of a tournament, the best first.
pub(crate) async fn list_standings<C: CursorOwner>(
    tournaments: &Tournaments,
    id: TournamentId,
    request: &PageRequest<C>,
) -> Result<PageOf<api::TournamentStanding>, Problem> {
    let tournament = tournaments.read(id).await?;
    let read = async |after: Option<i64>, limit: u32| {
        let from = after.and_then(|after| usize::try_from(after).ok()).unwrap_or(0);
        let most = usize::try_from(limit).unwrap_or(usize::MAX).saturating_add(1);
        let rows = tournament.standing_rows(from, most).into_iter().map(api_standing).collect();
        let next = after.unwrap_or(0).saturating_add(i64::from(limit));
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

fn api_standing(row: StandingRow) -> api::TournamentStanding {
    api::TournamentStanding {
        rank: row.rank,
        player: row.player.0,
        name: row.name,
        is_bot: row.is_bot,
        score: row.score,
        games: row.games,
        is_eliminated: row.is_eliminated,
    }
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

fn api_game(game: TournamentGame) -> api::TournamentGame {
    let score = |score: &tournament_games::TournamentScore| api::TournamentScore {
        player: score.player.0,
        points: score.points.hundredths(),
    };
    api::TournamentGame {
        id: game.game.0,
        table: game.table.0,
        round: game.round,
        table_number: game.table_number,
        number: game.number,
        scores: game.scores.iter().map(score).collect(),
        finished_at: Time::from_ms(game.finished_at_ms),
    }
}
