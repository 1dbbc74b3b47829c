//! The operators' API of tournaments.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use bahay_api::operator::tournaments::{
    AnnounceTournament, CancelTournament, Cancellation, TournamentRefund,
};
use bahay_api::player::tournaments::Tournament;
use bahay_engine::catalog::{self, AnyRules};
use bahay_engine::coins::Coins;
use bahay_engine::game::GameRules as _;
use bahay_engine::table::TournamentId;
use bahay_engine::tournament::{EntryPrice, Refund, TournamentGame, TournamentTerms, presets};
use uuid::Uuid;

use crate::clock::Timestamp;
use crate::http::core::idempotency::IdempotentRequest;
use crate::http::player::tables::tournaments::show_announced;
use crate::http::{Code, CodeExt as _, Path, Problem};
use crate::operators::Operator;
use crate::tournaments::{TournamentDraft, Tournaments};

/// The time between two rounds, in milliseconds.
const BREAK_MS: u32 = 10_000;

/// The longest time until the start: a year, in seconds.
const START_MAX_S: u32 = 365 * 24 * 60 * 60;

pub(crate) async fn announce_tournament(
    State(tournaments): State<Tournaments>,
    operator: Operator,
    request: IdempotentRequest,
) -> Result<Response, Problem> {
    let by = operator.require_administrator()?;
    let request = request.require_key()?;
    let draft = to_draft(tournaments.now(), request.parse_body()?)?;
    let work = async move |_| {
        let id = tournaments.announce(by.actor(), draft).await?;
        let announced: Tournament = show_announced(&*tournaments.read(id).await?);
        Ok((StatusCode::CREATED, Json(announced)))
    };
    Ok(request.execute(&operator, work).await)
}

pub(crate) async fn preview_cancellation(
    State(tournaments): State<Tournaments>,
    _operator: Operator,
    Path(id): Path<Uuid>,
) -> Result<Json<Cancellation>, Problem> {
    Ok(Json(to_cancellation(tournaments.preview_cancellation(TournamentId(id)).await?)))
}

pub(crate) async fn cancel_tournament(
    State(tournaments): State<Tournaments>,
    operator: Operator,
    Path(id): Path<Uuid>,
    request: IdempotentRequest,
) -> Result<Response, Problem> {
    let by = operator.require_administrator()?;
    let request = request.require_key()?;
    let CancelTournament { reason } = request.parse_body()?;
    let work = async move |_| {
        let refunds = tournaments.cancel(TournamentId(id), by.actor(), &reason).await?;
        Ok(Json(to_cancellation(refunds)))
    };
    Ok(request.execute(&operator, work).await)
}

fn to_cancellation(refunds: Vec<Refund>) -> Cancellation {
    let refunds = refunds
        .into_iter()
        .map(|refund| TournamentRefund { player: refund.player.0, amount: refund.amount.into() });
    Cancellation { refunds: refunds.collect() }
}

fn unsound(field: &str, why: &str) -> Problem {
    Code::TournamentUnsound.with_detail(format!("{field}: {why}"))
}

/// Returns the terms that a request asks for.
fn to_draft(now: Timestamp, request: AnnounceTournament) -> Result<TournamentDraft, Problem> {
    let AnnounceTournament {
        preset,
        name,
        kind,
        rule_set,
        buy_in,
        fee,
        guarantee,
        starts_in_s,
        code,
    } = request;
    let preset = presets().into_iter().find(|known| known.name == preset);
    let preset = preset.ok_or_else(|| unsound("preset", "there is none of this name"))?;
    let kind = kind.unwrap_or_else(|| "tongits".to_owned());
    let known = catalog::find_kind(&kind).filter(|kind| !kind.is_hidden);
    let known = known.ok_or_else(|| unsound("kind", "there is no such game"))?;
    let first = known.rule_sets.first().map(|set| set.name.to_owned());
    let rule_set = rule_set.or(first).unwrap_or_default();
    let set = AnyRules::find_rule_set(&kind, &rule_set);
    let rules = set.ok_or_else(|| unsound("rule_set", "the game has none of this name"))?.rules;
    let seats = rules.seats();
    if !seats.contains(3) {
        return Err(unsound("kind", "the presets are for tables of three"));
    }
    let is_code = |code: &String| {
        (4..=16).contains(&code.len())
            && code.bytes().all(|letter| letter.is_ascii_uppercase() || letter.is_ascii_digit())
    };
    if !code.as_ref().is_none_or(is_code) {
        return Err(unsound("code", "it has 4 to 16 capital letters and digits"));
    }
    if starts_in_s.is_some_and(|seconds| !(1..=START_MAX_S).contains(&seconds)) {
        return Err(unsound("starts_in_s", "it is a second to a year"));
    }
    let starts_at =
        starts_in_s.map(|seconds| Timestamp::from_ms(now.ms() + 1_000 * i64::from(seconds)));
    let mut game = TournamentGame::new(rules, 3);
    game.bet = Coins::from_hundredths(100 * i64::from(game.rules.counts_per_bet()));
    let has_pool = buy_in > 0 || guarantee > 0;
    let terms = TournamentTerms {
        name,
        game,
        format: preset.format,
        entrants: preset.entrants,
        entry: EntryPrice {
            buy_in: Coins::from_hundredths(buy_in),
            fee: Coins::from_hundredths(fee),
            accepts_passes: false,
        },
        guarantee: Coins::from_hundredths(guarantee),
        payouts: if has_pool { preset.payouts } else { Vec::new() },
        starts_at,
        late_registration_ms: 0,
        break_ms: BREAK_MS,
        is_private: code.is_some(),
        bots: false,
    };
    Ok(TournamentDraft { terms, code })
}
