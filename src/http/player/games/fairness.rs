//! The public evidence of fair dealing, which requires no sign-in: the deal of a finished game, the
//! number of voided games, and the house's commitments that were never revealed. A player can share
//! a game so that everybody can verify its deal; the evidence shows neither the players nor the
//! stakes.

use axum::Json;
use axum::extract::State;
use bahay_engine::chance::{ChanceAnswer, Contribution};
use jiff::ToSpan as _;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use uuid::Uuid;

use crate::archive::{self, UnrevealedCommitment, UnrevealedFilter};
use crate::clock::{self, BoundedDate, Clock, Timestamp};
use crate::db::PgPool;
use crate::ids::{GameId, TableId};
use crate::records::Records;
use crate::replay::GameReplay;
use crate::reports::{DealSpan, Deals, Reports, UNENDED_AFTER};

use super::records::{require_record, seat_number};
use crate::http::core::pagination::{CursorOwner, Limit};
use crate::http::{
    Code, CodeExt as _, Cursors, PageOf, Path, Problem, ProblemBody, Query, Time, database_problem,
    record_problem,
};

/// The steps of verification, in the order of docs/FAIRNESS.md.
const VERIFICATION_STEPS: [&str; 5] = [
    "SHA-256 of the bytes of `server_seed` is `commitment`, which the table showed before any \
     player was ready.",
    "The seed of a client that revealed a `text` is the SHA-256 of that text. Its `commitment`, \
     which the table showed before it asked for the first text, is the SHA-256 of the seed. Without \
     a `text` the seed is the `commitment` itself; a client that took no part has zeros.",
    "The key is HMAC-SHA256, keyed with `server_seed`, over the text bahay/shuffle/v1, the 16 \
     bytes of `game` and the `seed` of each of `clients` by seat.",
    "Under that key ChaCha20 (RFC 8439, zero nonce, counter from 0) gives little-endian words of \
     32 bits; uniform(n) takes the first word below floor(2^32 / n) * n, modulo n.",
    "Without `starter` the first draw is uniform(3). Then, for i from 51 down to 1, the cards at i \
     and uniform(i + 1) change places; cards are numbered 13 * suit + rank. The outcomes are in \
     `chance`.",
];

/// The deal of a finished game, with everything that is needed to verify it.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Fairness {
    game: Uuid,
    /// The game's kind.
    #[schema(example = "tongits")]
    kind: String,
    #[schema(example = "bahay/engine/v1")]
    engine: String,
    /// The SHA-256 of the server's seed, in hexadecimal, as the table showed it with `preparing`
    /// before it knew any client's seed.
    #[schema(
        pattern = "^[0-9a-f]{64}$",
        example = "9985b2e4b9b71b28ce59ea5ce77f0b110637b625c6d7f41e982c9510940a2056"
    )]
    commitment: String,
    /// The server's seed, which was secret until the game was over.
    #[schema(
        pattern = "^[0-9a-f]{64}$",
        example = "5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e"
    )]
    server_seed: String,
    /// The contributions of the clients, by seat.
    clients: Vec<ClientContribution>,
    /// The seat that began because of an earlier win; null if chance decided.
    #[schema(required = true, maximum = 7)]
    starter: Option<u8>,
    /// The outcomes of chance, in order. The deck of a card game is one of them.
    chance: Vec<ChanceOutcome>,
    /// The steps of verification.
    how_to_verify: Vec<&'static str>,
}

/// The contribution of one client to a deal.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ClientContribution {
    /// The commitment that the client sent with `ready`, shown to all before the first text was
    /// asked for; zeros for a client that took no part.
    #[schema(
        pattern = "^[0-9a-f]{64}$",
        example = "2628609eb0a2dc24983f986277ec63d43024eaa83a4b1814fdfbe7f960d8f95c"
    )]
    commitment: String,
    /// The text that the client revealed when all were ready; null if it revealed none.
    #[schema(required = true, max_length = 256, example = "luck")]
    text: Option<String>,
    /// The seed that entered the deal.
    #[schema(
        pattern = "^[0-9a-f]{64}$",
        example = "a7a45ea923c6229b341e2d21ff8fde3a4ca180f38c920a479dcfb7679389841b"
    )]
    seed: String,
}

impl From<&Contribution> for ClientContribution {
    fn from(client: &Contribution) -> Self {
        let Contribution { commitment, text, seed } = client;
        Self { commitment: commitment.0.to_string(), text: text.clone(), seed: seed.0.to_string() }
    }
}

/// One outcome of chance.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ChanceOutcome {
    /// A number below the bound that was asked for.
    Number(u32),
    /// A permutation of items that are numbered from 0.
    Order(Vec<u8>),
}

/// Show how a game was dealt
///
/// Requires no sign-in. Shows the commitment that was published before the deal, the seeds, and the
/// steps of verification. Available once the game is over.
#[utoipa::path(
    get,
    path = "/v1/games/{id}/fairness",
    tag = "games",
    params(("id" = Uuid, Path, description = "The game")),
    responses(
        (status = 200, description = "The deal, with the steps of verification", body = Fairness),
        (status = 404, description = "`game_not_found`: the game does not exist, or is still being \
            played",
            body = ProblemBody, content_type = "application/problem+json"),
        (status = 409, description = "`game_voided`: the game was voided, and its deal is \
            not shown",
            body = ProblemBody, content_type = "application/problem+json"),
        (status = 503, description = "`archive_unreachable`, `timed_out`, `unavailable`",
            body = ProblemBody, content_type = "application/problem+json")
    )
)]
pub(crate) async fn show_fairness(
    State(pool): State<PgPool>,
    State(records): State<Records>,
    Path(id): Path<Uuid>,
) -> Result<Json<Fairness>, Problem> {
    let game = archive::read_game(&pool, &records, GameId(id)).await.map_err(record_problem)?;
    // Only the players of a game may learn that it is still being played.
    let game = game
        .filter(|game| game.state != archive::GameState::Open)
        .ok_or_else(|| Code::GameNotFound.problem())?;
    let (_, record) = require_record(game)?;
    let replayed = GameReplay::from_value(record).map_err(|error| Problem::internal(&error))?;
    let record = replayed.record();
    let chance = record.chance.iter().map(|answer| match answer {
        ChanceAnswer::Number(number) => ChanceOutcome::Number(*number),
        ChanceAnswer::Order(order) => ChanceOutcome::Order(order.clone()),
    });
    Ok(Json(Fairness {
        game: id,
        kind: record.kind.clone(),
        engine: record.engine.clone(),
        commitment: record.commitment.0.to_string(),
        server_seed: record.server_seed.0.to_string(),
        clients: record.clients.iter().map(ClientContribution::from).collect(),
        starter: record.starter.map(seat_number),
        chance: chance.collect(),
        how_to_verify: VERIFICATION_STEPS.to_vec(),
    }))
}

/// Counts of opened, settled and voided games, up to a full hour.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct DealsReport {
    /// The end of the last hour that is counted.
    to: Time,
    /// The last day, the last week, and the last thirty days.
    spans: Vec<DealsSpan>,
    /// The number of games that were opened more than an hour before `to` and are neither settled
    /// nor voided.
    #[schema(minimum = 0, example = 0)]
    games_unended: i64,
}

/// The counts of the hours before `to`. A game counts in each span in which it was opened, and
/// again in each in which it was settled or voided.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct DealsSpan {
    #[schema(minimum = 1, example = 24)]
    hours: i64,
    #[schema(minimum = 0, example = 12_480)]
    games_opened: i64,
    /// Games played to their end; each has a record that anybody can verify.
    #[schema(minimum = 0, example = 12_471)]
    games_settled: i64,
    /// Games that ended without a settlement, with all coins returned. This includes games for
    /// which seeds were requested but which were never dealt.
    #[schema(minimum = 0, example = 3)]
    games_voided: i64,
    /// The number of voided games per million that ended; null if none ended.
    #[schema(required = true, minimum = 0, maximum = 1_000_000, example = 240)]
    voided_per_million: Option<i64>,
}

impl From<DealSpan> for DealsSpan {
    fn from(span: DealSpan) -> Self {
        let DealSpan { hours, opened, settled, voided } = span;
        let ended = i128::from(settled) + i128::from(voided);
        let share = (i128::from(voided) * 1_000_000).checked_div(ended);
        Self {
            hours,
            games_opened: opened,
            games_settled: settled,
            games_voided: voided,
            voided_per_million: share.and_then(|share| i64::try_from(share).ok()),
        }
    }
}

/// Show how many games were voided
///
/// Requires no sign-in. Shows whether the house voids deals that it dislikes. A game is opened
/// before the first client reveals its seed (rule 9.1a). Every commitment of the house whose
/// clients were asked for their seeds is therefore among the opened games, and one that was never
/// dealt is among the games that were voided or have not ended. Counted once an hour.
#[utoipa::path(
    get,
    path = "/v1/fairness",
    tag = "games",
    responses((status = 200, description = "The counts of games", body = DealsReport))
)]
pub(crate) async fn show_deals(
    State(reports): State<Reports>,
    State(clock): State<Clock>,
) -> Result<Json<DealsReport>, Problem> {
    let Deals { to, spans, unended } =
        reports.deals(clock.now()).await.map_err(database_problem)?;
    let spans = spans.map(DealsSpan::from).into();
    Ok(Json(DealsReport { to: to.into(), spans, games_unended: unended }))
}

/// Selects commitments that were never revealed.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct UnrevealedQuery {
    /// A day of UTC: the day on which the games were voided, or were opened if they have not ended.
    /// Defaults to today.
    #[param(value_type = Option<String>, format = Date, example = "2026-03-01")]
    date: Option<BoundedDate>,
    /// Restricts the list to one table.
    table: Option<Uuid>,
    /// The `next_cursor` of the previous page. Absent for the first page.
    #[param(max_length = 256)]
    cursor: Option<String>,
    /// The maximum number of items.
    #[serde(default)]
    #[param(value_type = u32, required = false, default = 20, minimum = 1, maximum = 100)]
    limit: Limit,
}

/// A commitment of the house whose seed was never revealed.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct UnrevealedBody {
    game: Uuid,
    table: Uuid,
    /// The game's kind.
    #[schema(example = "tongits")]
    kind: String,
    /// The SHA-256 of the house's seed, in hexadecimal, as the table showed it with `preparing`.
    #[schema(
        pattern = "^[0-9a-f]{64}$",
        example = "9985b2e4b9b71b28ce59ea5ce77f0b110637b625c6d7f41e982c9510940a2056"
    )]
    commitment: String,
    opened_at: Time,
    /// Null if the game has not ended.
    #[schema(required = true)]
    voided_at: Option<Time>,
}

impl From<UnrevealedCommitment> for UnrevealedBody {
    fn from(unrevealed: UnrevealedCommitment) -> Self {
        Self {
            game: unrevealed.game.0,
            table: unrevealed.table.0,
            kind: unrevealed.kind,
            commitment: unrevealed.commitment.0.to_string(),
            opened_at: unrevealed.opened_at.into(),
            voided_at: unrevealed.voided_at.map(Time::from),
        }
    }
}

/// The owner of cursors that anybody may use.
struct PublicOwner;

impl CursorOwner for PublicOwner {
    fn owner(&self) -> Uuid {
        Uuid::nil()
    }
}

/// List the commitments that were never revealed
///
/// Requires no sign-in. Lists the house's commitments of two sorts of games: those that were
/// voided, and those that were opened more than an hour ago and have not ended (rule 9.1a). Each of
/// these games had been opened and so had asked its clients for their seeds. Newest first. Compare
/// the list with the commitments that your client was shown.
#[utoipa::path(
    get,
    path = "/v1/fairness/commitments",
    tag = "games",
    params(UnrevealedQuery),
    responses((status = 200, description = "A page of commitments", body = PageOf<UnrevealedBody>))
)]
pub(crate) async fn list_unrevealed_commitments(
    State(cursors): State<Cursors>,
    State(pool): State<PgPool>,
    State(clock): State<Clock>,
    Query(query): Query<UnrevealedQuery>,
) -> Result<Json<PageOf<UnrevealedBody>>, Problem> {
    let now = clock.now();
    let today = clock::to_jiff(now).to_zoned(TimeZone::UTC).date();
    let day = query.date.map_or(today, Date::from);
    let filter = UnrevealedFilter {
        from: start_of_utc_day(day)?,
        to: start_of_utc_day(day.saturating_add(1.day()))?,
        unended_before: clock::subtract(now, UNENDED_AFTER),
        table: query.table.map(TableId),
    };
    // A cursor is valid for the day and the table for which it was issued.
    let list = format!("commitments {} {:?}", filter.from.ms(), query.table);
    let cursor = cursors.open(&list, &PublicOwner, query.cursor.as_deref())?;
    let limit = query.limit.items();
    let page = archive::unrevealed_commitments(&pool, filter, cursor, limit).await;
    let page = page.map_err(database_problem)?;
    let next_cursor = page.next.map(|next| cursors.seal(&list, &PublicOwner, &next));
    let items = page.items.into_iter().map(UnrevealedBody::from).collect();
    Ok(Json(PageOf { items, next_cursor }))
}

fn start_of_utc_day(day: Date) -> Result<Timestamp, Problem> {
    let start = day.to_zoned(TimeZone::UTC).map_err(|error| Problem::internal(&error))?;
    Ok(clock::from_jiff(start.timestamp()))
}
