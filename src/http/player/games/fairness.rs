//! The public evidence of fair dealing, which requires no sign-in: the deal of a finished game, the
//! number of voided games, and the house's commitments that were never revealed. A player can share
//! a game so that everybody can verify its deal; the evidence shows neither the players nor the
//! stakes.

use axum::Json;
use axum::extract::State;
use bahay_api::player::fairness::{
    ChanceOutcome, ClientContribution, DealsReport, DealsSpan, Fairness, UnrevealedBody,
    UnrevealedFilter,
};
use bahay_engine::chance::{ChanceAnswer, Contribution};
use bahay_engine::seat::Seat;
use jiff::ToSpan as _;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use uuid::Uuid;

use crate::archive;
use crate::clock::{self, Clock, Timestamp};
use crate::db::PgPool;
use crate::ids::{GameId, TableId};
use crate::records::Records;
use crate::replay::GameReplay;
use crate::reports::{DealSpan, Deals, Reports, UNENDED_AFTER};

use super::records::require_record;
use crate::http::core::pagination::CursorOwner;
use crate::http::{
    Code, CodeExt as _, Cursors, PageOf, PageQuery, PageRequest, Path, Problem, Query, Time,
};

/// The steps of verification, in the order of docs/FAIRNESS.md.
const VERIFICATION_STEPS: [&str; 5] = [
    "SHA-256 of the bytes of `server_seed` is `commitment`, which the table showed before any \
     player was ready.",
    "The seed of a client that revealed a `text` is the SHA-256 of that text. Its `commitment`, \
     which the table showed before it asked for the first text, is the SHA-256 of the seed. Without \
     a `text` the seed is the `commitment` itself; a client that took no part has zeros.",
    "The key is HMAC-SHA256, keyed with `server_seed`, over the text bahay/shuffle/v1, the 16 \
     bytes of `deal_id` and the `seed` of each of `clients` by seat.",
    "Under that key ChaCha20 (RFC 8439, zero nonce, counter from 0) gives little-endian words of \
     32 bits; uniform(n) takes the first word below floor(2^32 / n) * n, modulo n.",
    "Without `starter` the first draw is uniform(3). Then, for i from 51 down to 1, the cards at i \
     and uniform(i + 1) change places; cards are numbered 13 * suit + rank. The outcomes are in \
     `chance`.",
];

fn client_contribution(client: &Contribution) -> ClientContribution {
    let Contribution { commitment, text, seed } = client;
    ClientContribution {
        commitment: commitment.0.to_string(),
        text: text.clone(),
        seed: seed.0.to_string(),
    }
}

pub(crate) async fn show_fairness(
    State(pool): State<PgPool>,
    State(records): State<Records>,
    Path(id): Path<Uuid>,
) -> Result<Json<Fairness>, Problem> {
    let game = archive::read_game(&pool, &records, GameId(id)).await?;
    // Only the players of a game may learn that it is still being played.
    let game = game
        .filter(|game| game.state != archive::GameState::Open)
        .ok_or_else(|| Code::GameNotFound.problem())?;
    let record = require_record(game.game, game.state, game.record)?;
    let replayed = GameReplay::from_value(record).map_err(|error| Problem::internal(&error))?;
    let record = replayed.record();
    let chance = record.chance.iter().map(|answer| match answer {
        ChanceAnswer::Number(number) => ChanceOutcome::Number(*number),
        ChanceAnswer::Order(order) => ChanceOutcome::Order(order.clone()),
    });
    Ok(Json(Fairness {
        game: id,
        deal_id: Uuid::from_bytes(record.terms.deal_id(record.game)),
        kind: record.kind.clone(),
        engine: record.engine.clone(),
        commitment: record.commitment.0.to_string(),
        server_seed: record.server_seed.0.to_string(),
        clients: record.clients.iter().map(client_contribution).collect(),
        starter: record.starter.map(Seat::number),
        chance: chance.collect(),
        how_to_verify: VERIFICATION_STEPS.to_vec(),
    }))
}

fn to_span(DealSpan { hours, opened, settled, voided }: DealSpan) -> DealsSpan {
    let ended = i128::from(settled) + i128::from(voided);
    let share = (i128::from(voided) * 1_000_000).checked_div(ended);
    DealsSpan {
        hours,
        games_opened: opened,
        games_settled: settled,
        games_voided: voided,
        voided_per_million: share.and_then(|share| i64::try_from(share).ok()),
    }
}

pub(crate) async fn show_deals(
    State(reports): State<Reports>,
    State(clock): State<Clock>,
) -> Result<Json<DealsReport>, Problem> {
    let Deals { to, spans, unended } = reports.deals(clock.now()).await?;
    let spans = spans.map(to_span).into();
    Ok(Json(DealsReport { to: to.into(), spans, games_unended: unended }))
}

/// The owner of cursors that anybody may use.
struct PublicOwner;

impl CursorOwner for PublicOwner {
    fn owner(&self) -> Uuid {
        Uuid::nil()
    }
}

pub(crate) async fn list_unrevealed_commitments(
    State(cursors): State<Cursors>,
    State(pool): State<PgPool>,
    State(clock): State<Clock>,
    Query(query): Query<PageQuery<UnrevealedFilter>>,
) -> Result<Json<PageOf<UnrevealedBody>>, Problem> {
    let &UnrevealedFilter { date, table } = &query.filter;
    let now = clock.now();
    let today = clock::to_jiff(now).to_zoned(TimeZone::UTC).date();
    let day = date.map_or(today, Date::from);
    let filter = archive::UnrevealedFilter {
        from: start_of_utc_day(day)?,
        to: start_of_utc_day(day.saturating_add(1.day()))?,
        unended_before: clock::subtract(now, UNENDED_AFTER),
        table: table.map(TableId),
    };
    // A cursor is valid for the day and the table for which it was issued.
    let list = format!("commitments {} {:?}", filter.from.ms(), table);
    let limit = query.limit.items();
    let request = PageRequest::new(PublicOwner, query, limit, cursors);
    let read = |below, limit| archive::unrevealed_commitments(&pool, filter, below, limit);
    let page = request.read(&list, read).await?;
    Ok(Json(page.map(|unrevealed| UnrevealedBody {
        game: unrevealed.game.0,
        table: unrevealed.table.0,
        kind: unrevealed.kind,
        commitment: unrevealed.commitment.0.to_string(),
        opened_at: unrevealed.opened_at.into(),
        voided_at: unrevealed.voided_at.map(Time::from),
    })))
}

fn start_of_utc_day(day: Date) -> Result<Timestamp, Problem> {
    let start = day.to_zoned(TimeZone::UTC).map_err(|error| Problem::internal(&error))?;
    Ok(clock::from_jiff(start.timestamp()))
}
