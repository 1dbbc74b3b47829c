//! The part of players that the API and the desk share: search, dossier, passes and notes.

use bahay_api::operator::players::{PlayerDossier, PlayerMatch};
use bahay_api::player::tournaments::TournamentPass;
use serde_json::json;

use crate::http::operator::search::check_text;
use crate::http::player::people::profiles::load_statistics;
use crate::http::player::tables::tournaments::to_pass;
use crate::http::{Code, CodeExt as _, Problem, Services};
use crate::ids::PlayerId;
use crate::ledger::Wallet;
use crate::operators::audit::Action;
use crate::operators::{NoteText, Operator, RoleMissing};
use crate::reports::{PlayerReport, Reports};

/// Finds players by a part of the name, or by the beginning of the id.
pub(crate) async fn find(reports: &Reports, text: &str) -> Result<Vec<PlayerMatch>, Problem> {
    Ok(reports.find_players(check_text(text)?).await?)
}

/// Finds players by name: those who have the whole name, or else those of whose names it is a part.
pub(crate) async fn find_by_name(
    reports: &Reports,
    name: &str,
) -> Result<Vec<PlayerMatch>, Problem> {
    let mut found = find(reports, name).await?;
    let is_whole = |one: &PlayerMatch| one.name.to_lowercase() == name.to_lowercase();
    if found.iter().any(is_whole) {
        found.retain(is_whole);
    }
    Ok(found)
}

/// Returns the player whose id or name a form contains.
///
/// # Errors
/// `body_invalid` unless exactly one player has the name.
pub(crate) async fn find_one(reports: &Reports, typed: &str) -> Result<PlayerId, Problem> {
    if let Ok(player) = typed.parse() {
        return Ok(player);
    }
    // A search refuses a text that no name can be; a form has no such player.
    let found = match check_text(typed) {
        Ok(name) => find_by_name(reports, name).await?,
        Err(_) => Vec::new(),
    };
    match found.as_slice() {
        [one] if one.name.to_lowercase() == typed.to_lowercase() => Ok(PlayerId(one.id)),
        _ => Err(Code::BodyInvalid.with_detail("no player, or several, have this name or id")),
    }
}

/// Returns all that operators see of a player. Addresses are included only for operators who may
/// moderate, after the view is recorded in the audit log.
pub(crate) async fn load_dossier(
    services: &Services,
    operator: &Operator,
    player: PlayerId,
) -> Result<PlayerDossier, Problem> {
    let Services { reports, ledger, standings, .. } = services;
    let mut report = find_report(reports, player).await?;
    if report.sessions.iter().any(|session| session.address.is_some()) {
        match operator.require_moderator() {
            Ok(by) => {
                let subject = format!("player:{player}");
                let action = Action::AddressesSeen;
                services.audit.record(by.actor(), action, &subject, json!({})).await?;
            }
            Err(RoleMissing { .. }) => {
                report.sessions.iter_mut().for_each(|session| session.address = None);
            }
        }
    }
    let Wallet { available, held, .. } = ledger.wallet(player).await?;
    let PlayerReport { name, created_at, deleted_at, devices, has_password, .. } = report;
    let PlayerReport { identities, sessions, notes, complaints, .. } = report;
    Ok(PlayerDossier {
        id: player.0,
        name,
        created_at,
        deleted_at,
        available: available.into(),
        held: held.into(),
        statistics: load_statistics(standings, player).await?,
        devices,
        has_password,
        identities,
        sessions,
        notes,
        complaints,
        linked_players: reports.linked_players(player).await?,
    })
}

/// Returns the report of an existing player.
pub(crate) async fn find_report(
    reports: &Reports,
    player: PlayerId,
) -> Result<PlayerReport, Problem> {
    reports.player(player).await?.ok_or_else(|| Code::PlayerNotFound.problem())
}

/// Returns the passes of an existing player, unused ones first.
pub(crate) async fn list_passes(
    services: &Services,
    player: PlayerId,
) -> Result<Vec<TournamentPass>, Problem> {
    let passes = services.tournaments.list_passes(player).await?;
    Ok(passes.into_iter().map(to_pass).collect())
}

/// Parses the text of a note.
pub(crate) fn parse_note(words: &str) -> Result<NoteText, Problem> {
    words.parse().map_err(|error| Code::BodyInvalid.with_detail(format!("{error}")))
}
