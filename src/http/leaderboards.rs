//! Leaderboards: who has won most, by day, week, season and all time.

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
use crate::standings::{self, Asked, Ranked, Standing, Standings};

use super::page::Limit;
use super::{Code, Path, Problem, ProblemBody, Query, Services};

/// What players compete in: what won games have brought, in hundredths of a coin, how often the POT
/// was taken, or how well they play.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum Board {
    Coins,
    Hits,
    Rating,
}

/// Over which time scores are summed.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum Span {
    Day,
    Week,
    Season,
    Ever,
}

/// Which places to show.
#[derive(Clone, Copy, Debug, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum Section {
    Top,
    Around,
}

/// Which part of a board is asked for.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct BoardQuery {
    /// The game, by its name; the first of the house if left out.
    #[param(value_type = Option<String>, max_length = 32, pattern = "^[a-z][a-z0-9_]{0,31}$", example = "tongits")]
    kind: Option<GameName>,
    /// The places from the first on, if this is left out, or those around the player who asks.
    #[param(inline)]
    section: Option<Section>,
    /// A day of the span, in the leaderboards' time zone; today if left out. From the span of the
    /// first game that was counted to today. Ratings are as they are now: for `rating` a day of the
    /// present span.
    #[param(value_type = Option<String>, format = Date, example = "2026-03-01")]
    date: Option<BoundedDate>,
    /// The number of places from the top that are left out, for the next pages. Places around the
    /// player have none.
    #[serde(default)]
    #[param(required = false, default = 0, minimum = 0, maximum = 10_000)]
    offset: u32,
    /// How many places at most.
    #[serde(default)]
    #[param(value_type = u32, required = false, default = 20, minimum = 1, maximum = 100)]
    limit: Limit,
}

/// Part of a leaderboard.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Leaderboard {
    /// The game, by its name.
    #[schema(example = "tongits")]
    kind: &'static str,
    board: Board,
    span: Span,
    /// The first day of the span; 1970-01-01 for all time.
    #[schema(value_type = String, format = Date, example = "2026-03-01")]
    starts_on: Date,
    /// Whose days and weeks they are.
    #[schema(example = "Asia/Manila")]
    time_zone: String,
    /// How many players have a place.
    total: u64,
    /// The place of the player who asks; null without one.
    #[schema(required = true)]
    own: Option<BoardPlace>,
    items: Vec<BoardPlace>,
}

/// A place on a leaderboard. Equal scores have one rank, and stand in the order in which they were
/// reached.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct BoardPlace {
    /// From 1, as in competitions: after two of rank 2 comes rank 4.
    #[schema(minimum = 1)]
    rank: u64,
    player: Uuid,
    #[schema(example = "Maria")]
    name: String,
    /// Hundredths of a coin, a number of POTs, or thousandths of what a player is at least as good
    /// as: 0 for somebody of whom nothing is known, and seldom below that.
    score: i64,
}

impl From<Ranked> for BoardPlace {
    fn from(ranked: Ranked) -> Self {
        let Ranked { rank, player, name, score } = ranked;
        Self { rank, player: player.0, name, score }
    }
}

/// Show a leaderboard
///
/// Settled games count some seconds after they were settled; those with a bot of the house do not.
/// Over a span the board by rating has those who were rated in it, as they are rated now.
#[utoipa::path(
    get,
    path = "/v1/leaderboards/{board}/{span}",
    tag = "players",
    security(("access_token" = [])),
    params(
        ("board" = inline(Board), Path, description = "What players compete in"),
        ("span" = inline(Span), Path, description = "Over which time"),
        BoardQuery
    ),
    responses(
        (status = 200, description = "Part of the board", body = Leaderboard),
        (status = 422, description = "`query_invalid`: among others a `date` outside of the days \
            that leaderboards have", body = ProblemBody, content_type = "application/problem+json")
    )
)]
pub(super) async fn show_leaderboard(
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
            let detail = "`date` is not from the first game that was counted to today";
            return Err(Code::QueryInvalid.because(detail));
        }
    };
    let asked = Asked { section: query.section()?, limit: query.limit.items(), player: player.id };
    let kind = known_kind(query.kind.as_ref())?;
    let standing = match board {
        Board::Coins => standings.board(kind, standings::Board::Coins, over, day, asked).await?,
        Board::Hits => standings.board(kind, standings::Board::Hits, over, day, asked).await?,
        Board::Rating => {
            let calendar = standings.calendar();
            if calendar.start_of_day(over, day) != calendar.start(over, now) {
                return Err(Code::QueryInvalid.because("ratings are as they are now"));
            }
            standings.rating_board(kind, over, now, asked).await?
        }
    };
    let Standing { starts_on, total, own, places } = standing;
    Ok(Json(Leaderboard {
        kind,
        board,
        span,
        starts_on,
        time_zone: standings.calendar().zone.name().to_owned(),
        total,
        own: own.map(BoardPlace::from),
        items: places.into_iter().map(BoardPlace::from).collect(),
    }))
}

/// The game of this name, or the first one of the house.
fn known_kind(wanted: Option<&GameName>) -> Result<&'static str, Problem> {
    let mut names = catalog::kinds().into_iter().map(|kind| kind.name);
    let found = match wanted {
        Some(wanted) => names.find(|name| *name == wanted.as_str()),
        None => names.next(),
    };
    found.ok_or_else(|| Code::QueryInvalid.because("`kind` names no game of this house"))
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
    fn section(&self) -> Result<standings::Section, Problem> {
        let offset = self.offset;
        match self.section.unwrap_or(Section::Top) {
            Section::Top if offset > standings::PLACES_MAX => {
                let why = format!("an offset is at most {}", standings::PLACES_MAX);
                Err(Code::QueryInvalid.because(why))
            }
            Section::Top => Ok(standings::Section::Top { offset }),
            Section::Around if offset > 0 => {
                Err(Code::QueryInvalid.because("places around a player have no offset"))
            }
            Section::Around => Ok(standings::Section::Around),
        }
    }
}
