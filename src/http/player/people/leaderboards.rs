//! Leaderboards by day, week, season and all time.

use axum::Json;
use axum::extract::State;
use jiff::civil::Date;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use uuid::Uuid;

use bahay_engine::catalog;

use crate::auth::Player;
use crate::clock::BoundedDate;
use crate::ids::GameName;
use crate::standings::{self, BoardPage, BoardPageQuery, RankedPlayer, Standings};

use crate::http::core::pagination::Limit;
use crate::http::{Code, CodeExt as _, Path, Problem, ProblemBody, Query, Services};

/// The score by which players are ranked: the coins that won games brought, in hundredths of a
/// coin; the number of POTs won; or the skill rating.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Board {
    Coins,
    Hits,
    Rating,
}

/// The time over which scores are summed.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Span {
    Day,
    Week,
    Season,
    Ever,
}

/// The part of a leaderboard to show.
#[derive(Clone, Copy, Debug, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Section {
    Top,
    Around,
}

/// Selects a part of a leaderboard.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct BoardQuery {
    /// The game's kind. Defaults to the first kind of the house.
    #[param(
        value_type = Option<String>,
        max_length = 32,
        pattern = "^[a-z][a-z0-9_]{0,31}$",
        example = "tongits"
    )]
    kind: Option<GameName>,
    /// The ranks from the top (the default), or those around the requesting player.
    #[param(inline)]
    section: Option<Section>,
    /// A day of the span, in the time zone of the leaderboards. Defaults to today. Days from the
    /// span of the first counted game to today are valid. Ratings are not kept by day: for `rating`
    /// the day must lie in the present span.
    #[param(value_type = Option<String>, format = Date, example = "2026-03-01")]
    date: Option<BoundedDate>,
    /// The number of ranks to skip from the top, for pagination. Not allowed for the ranks around a
    /// player.
    #[serde(default)]
    #[param(required = false, default = 0, minimum = 0, maximum = 10_000)]
    offset: u32,
    /// The maximum number of ranks.
    #[serde(default)]
    #[param(value_type = u32, required = false, default = 20, minimum = 1, maximum = 100)]
    limit: Limit,
}

/// Part of a leaderboard.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Leaderboard {
    /// The game's kind.
    #[schema(example = "tongits")]
    kind: &'static str,
    board: Board,
    span: Span,
    /// The first day of the span; 1970-01-01 for all time.
    #[schema(value_type = String, format = Date, example = "2026-03-01")]
    starts_on: Date,
    /// The time zone in which days and weeks are counted.
    #[schema(example = "Asia/Manila")]
    time_zone: String,
    /// The number of ranked players.
    total: u64,
    /// The rank of the requesting player; null if the player is not ranked.
    #[schema(required = true)]
    own: Option<LeaderboardRank>,
    items: Vec<LeaderboardRank>,
}

/// A rank on a leaderboard. Equal scores share a rank and are listed in the order in which they
/// were reached.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct LeaderboardRank {
    /// The rank, counted from 1, as in competitions: rank 4 follows two of rank 2.
    #[schema(minimum = 1)]
    rank: u64,
    player: Uuid,
    #[schema(example = "Maria")]
    name: String,
    /// Hundredths of a coin, a number of POTs, or thousandths of a lower bound of the player's
    /// rating. The lower bound is 0 for a player without rated games, and seldom below that.
    score: i64,
}

impl From<RankedPlayer> for LeaderboardRank {
    fn from(ranked: RankedPlayer) -> Self {
        let RankedPlayer { rank, player, name, score } = ranked;
        Self { rank, player: player.0, name, score }
    }
}

/// Show a leaderboard
///
/// Settled games are counted some seconds after their settlement. Games with a house bot are not
/// counted. The board by rating lists the players who were rated within the span, with their
/// present ratings.
#[utoipa::path(
    get,
    path = "/v1/leaderboards/{board}/{span}",
    tag = "players",
    security(("access_token" = [])),
    params(
        ("board" = inline(Board), Path, description = "The score by which players are ranked"),
        ("span" = inline(Span), Path, description = "The time over which scores are summed"),
        BoardQuery
    ),
    responses(
        (status = 200, description = "The selected part of the leaderboard", body = Leaderboard),
        (status = 422, description = "`query_invalid`: an invalid parameter, such as a `date` for \
            which there is no leaderboard",
            body = ProblemBody, content_type = "application/problem+json")
    )
)]
pub(crate) async fn show_leaderboard(
    State(services): State<Services>,
    State(standings): State<Standings>,
    player: Player,
    Path((board, span)): Path<(Board, Span)>,
    Query(query): Query<BoardQuery>,
) -> Result<Json<Leaderboard>, Problem> {
    let now = services.clock.now();
    let over = span.into();
    let day = match query.date.map(Date::from) {
        None => standings.today(now),
        Some(day) if standings.has_day(over, day, now).await? => day,
        Some(_) => {
            let detail = "`date` lies before the first counted game or after today";
            return Err(Code::QueryInvalid.with_detail(detail));
        }
    };
    let section = query.to_section()?;
    let page = BoardPageQuery { section, limit: query.limit.items(), player: player.id };
    let kind = find_kind(query.kind.as_ref())?;
    let standing = match board {
        Board::Coins => standings.board(kind, standings::Board::Coins, over, day, page).await?,
        Board::Hits => standings.board(kind, standings::Board::Hits, over, day, page).await?,
        Board::Rating => {
            let calendar = standings.calendar();
            if calendar.start_of_day(over, day) != calendar.start(over, now) {
                let detail = "ratings are available for the present span only";
                return Err(Code::QueryInvalid.with_detail(detail));
            }
            standings.rating_board(kind, over, now, page).await?
        }
    };
    let BoardPage { starts_on, total, own, places } = standing;
    Ok(Json(Leaderboard {
        kind,
        board,
        span,
        starts_on,
        time_zone: standings.calendar().zone.name().to_owned(),
        total,
        own: own.map(LeaderboardRank::from),
        items: places.into_iter().map(LeaderboardRank::from).collect(),
    }))
}

/// Returns the kind with this name, or the first kind of the house.
fn find_kind(kind: Option<&GameName>) -> Result<&'static str, Problem> {
    let mut names = catalog::kinds().into_iter().map(|kind| kind.name);
    let found = match kind {
        Some(kind) => names.find(|name| *name == kind.as_str()),
        None => names.next(),
    };
    found.ok_or_else(|| Code::QueryInvalid.with_detail("`kind` names no game of the house"))
}

impl From<Span> for standings::Span {
    fn from(span: Span) -> Self {
        match span {
            Span::Day => Self::Day,
            Span::Week => Self::Week,
            Span::Season => Self::Season,
            Span::Ever => Self::Ever,
        }
    }
}

impl BoardQuery {
    fn to_section(&self) -> Result<standings::Section, Problem> {
        let offset = self.offset;
        match self.section.unwrap_or(Section::Top) {
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
}
