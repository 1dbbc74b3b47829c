//! Leaderboards by day, week, season and all time.

use axum::Json;
use axum::extract::State;
use bahay_api::player::leaderboards::{Board, BoardQuery, Leaderboard, Section, Span};
use bahay_engine::catalog;
use jiff::civil::Date;

use crate::auth::Player;
use crate::http::core::game_names::require_kind;
use crate::http::{Code, CodeExt as _, Path, Problem, Query, Services};
use crate::ids::GameName;
use crate::standings::{self, BoardPage, BoardPageQuery, Standings};

pub(crate) async fn show_leaderboard(
    State(services): State<Services>,
    State(standings): State<Standings>,
    player: Player,
    Path((board, span)): Path<(Board, Span)>,
    Query(query): Query<BoardQuery>,
) -> Result<Json<Leaderboard>, Problem> {
    let now = services.clock.now();
    let day = match query.date.map(Date::from) {
        None => standings.today(now),
        Some(day) if standings.has_day(span, day, now).await? => day,
        Some(_) => {
            let detail = "`date` lies before the first counted game or after today";
            return Err(Code::QueryInvalid.with_detail(detail));
        }
    };
    let section = select_section(&query)?;
    let page = BoardPageQuery { section, limit: query.limit.items(), player: player.id };
    let kind = select_kind(query.kind.as_ref())?;
    let standing = match board {
        Board::Coins => standings.board(kind, standings::Board::Coins, span, day, page).await?,
        Board::Hits => standings.board(kind, standings::Board::Hits, span, day, page).await?,
        Board::Rating => {
            let calendar = standings.calendar();
            if calendar.start_of_day(span, day) != calendar.start(span, now) {
                let detail = "ratings are available for the present span only";
                return Err(Code::QueryInvalid.with_detail(detail));
            }
            standings.rating_board(kind, span, now, page).await?
        }
    };
    let BoardPage { starts_on, total, own, places } = standing;
    Ok(Json(Leaderboard {
        kind,
        board,
        span,
        starts_on: starts_on.to_string(),
        time_zone: standings.calendar().zone.name().to_owned(),
        total,
        own,
        items: places,
    }))
}

/// Returns the kind with this name, or the first kind of the house.
fn select_kind(kind: Option<&GameName>) -> Result<&'static str, Problem> {
    let first = || catalog::kinds().into_iter().next().map(|kind| kind.name);
    match kind {
        Some(kind) => require_kind(kind),
        None => first().ok_or_else(|| Problem::internal(&"the house has no game")),
    }
}

fn select_section(query: &BoardQuery) -> Result<standings::Section, Problem> {
    let offset = query.offset;
    match query.section.unwrap_or_default() {
        Section::Top if offset > standings::PLACES_MAX => {
            let detail = format!("an offset is at most {}", standings::PLACES_MAX);
            Err(Code::QueryInvalid.with_detail(detail))
        }
        Section::Top => Ok(standings::Section::Top { offset }),
        Section::Around if offset > 0 => {
            Err(Code::QueryInvalid.with_detail("the ranks around a player have no offset"))
        }
        Section::Around => Ok(standings::Section::Around),
    }
}
