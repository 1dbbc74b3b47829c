//! The documents of tournaments for their players.

use bahay_api::player::tournaments as api;
use bahay_engine::table::TournamentId;
use bahay_engine::tournament::{
    Entrant, EntrantState, Format, Payment, Phase, StandingRow, Tournament, TournamentTerms,
};

use crate::archive::tournament_games::{self, TournamentGame};
use crate::clock::Timestamp;
use crate::http::Time;
use crate::ids::PlayerId;
use crate::tournaments::{TournamentState, state_of};

/// The number of rows of the standings that a tournament shows of itself.
const LEADERS: usize = 3;

/// Returns a tournament as its list shows it.
pub(crate) fn api_tournament(
    id: TournamentId,
    terms: &TournamentTerms,
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
        has_bots: terms.bots,
        starts_at: terms.starts_at.map(Time::from),
    }
}

/// Returns the current tournament as its list shows it.
pub(crate) fn show_announced(tournament: &Tournament) -> api::Tournament {
    let state = state_of(tournament);
    api_tournament(tournament.id(), tournament.terms(), state, tournament.entrant_count())
}

/// Returns a tournament as a player sees it at this time, without a refund.
pub(super) fn api_detail(
    tournament: &Tournament,
    player: PlayerId,
    now: Timestamp,
) -> api::TournamentDetail {
    let terms = tournament.terms();
    let has_started = state_of(tournament) != TournamentState::Announced;
    let expected = tournament.expected_pool();
    let leaders = if has_started { tournament.standing_rows(0, LEADERS) } else { Vec::new() };
    let is_registered = tournament.is_registered(player);
    let entrant = tournament.entrant(player).filter(|_| is_registered);
    api::TournamentDetail {
        tournament: show_announced(tournament),
        round: tournament.round(),
        pool: tournament.pool().map(|pool| pool.amount.into()),
        prizes: tournament
            .pool()
            .map(|pool| pool.prizes.iter().copied().map(Into::into).collect())
            .unwrap_or_default(),
        expected_pool: expected.amount.into(),
        expected_prizes: expected.prizes.into_iter().map(Into::into).collect(),
        stages: api_stages(terms),
        duration_s: match terms.format {
            Format::Arena { duration_ms, .. } => Some(duration_ms / 1_000),
            Format::SitAndGo { .. } | Format::KnockOut { .. } | Format::Duplicate { .. } => None,
        },
        late_registration_s: terms.late_registration_ms / 1_000,
        is_registration_open: tournament.is_registration_open(now)
            && tournament.entrant_count() < terms.entrants.most,
        is_private: terms.is_private,
        accepts_passes: terms.entry.accepts_passes,
        passes: Vec::new(),
        next_at: match tournament.phase() {
            Phase::Break { until } => Some(Time::from(until)),
            Phase::Arena { ends_at, .. } => Some(Time::from(ends_at)),
            Phase::Announced | Phase::Round | Phase::Ended | Phase::Cancelled { .. } => None,
        },
        leaders: leaders.into_iter().map(api_standing).collect(),
        commitment: tournament.commitment().0.to_string(),
        entry: entrant.map(|entrant| api_entry(tournament, entrant)),
    }
}

fn api_stages(terms: &TournamentTerms) -> Vec<api::TournamentStage> {
    let stages = terms.stages().into_iter();
    let stage = |stage: bahay_engine::tournament::Stage| api::TournamentStage {
        rounds: stage.rounds,
        games: stage.games,
        advance: stage.advance,
    };
    stages.map(stage).collect()
}

fn api_entry(tournament: &Tournament, entrant: &Entrant) -> api::TournamentEntry {
    let has_started = state_of(tournament) != TournamentState::Announced;
    let place = tournament.final_place(entrant.player);
    api::TournamentEntry {
        state: entry_state(tournament, entrant),
        is_paid_by_pass: entrant.payment == Payment::Pass,
        rank: tournament.rank_of(entrant.player).filter(|_| has_started),
        score: entrant.standing().score,
        games: entrant.games(),
        table: entrant.table.map(|table| table.table_id(tournament.id()).0),
        is_paused: entrant.is_paused,
        place: place.map(|place| place.place),
        prize: place.map(|place| place.prize.into()),
        refund: None,
    }
}

fn entry_state(tournament: &Tournament, entrant: &Entrant) -> api::EntryState {
    if entrant.state() == EntrantState::Pending {
        return api::EntryState::Pending;
    }
    if entrant.state() == EntrantState::Eliminated {
        return api::EntryState::Eliminated;
    }
    match state_of(tournament) {
        TournamentState::Announced => api::EntryState::Registered,
        TournamentState::Ended | TournamentState::Cancelled => api::EntryState::Finished,
        TournamentState::Running if entrant.table.is_some() => api::EntryState::Playing,
        TournamentState::Running if entrant.is_paused => api::EntryState::Paused,
        TournamentState::Running => api::EntryState::Waiting,
    }
}

pub(super) fn api_standing(row: StandingRow) -> api::TournamentStanding {
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

pub(super) fn api_game(game: TournamentGame) -> api::TournamentGame {
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
