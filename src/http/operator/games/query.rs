//! The part of games that the API and the desk share.

use serde_json::{Value, json};

use crate::http::player::games::records::require_record;
use crate::http::{Code, CodeExt as _, Problem};
use crate::ids::GameId;
use crate::operators::audit::Action;
use crate::operators::{Audit, Operator};
use crate::reports::{Dossier, Reports};

/// Returns an existing game with everything that was booked for it.
pub(crate) async fn find_dossier(reports: &Reports, game: GameId) -> Result<Dossier, Problem> {
    reports.game(game).await?.ok_or_else(|| Code::GameNotFound.problem())
}

/// Returns a settled game with its record, after recording in the audit log that the operator views
/// all hands.
pub(crate) async fn load_audited_record(
    reports: &Reports,
    audit: &Audit,
    operator: &Operator,
    game: GameId,
) -> Result<(Dossier, Value), Problem> {
    let by = operator.require_moderator()?;
    let dossier = find_dossier(reports, game).await?;
    let record = require_record(game, dossier.game.state, dossier.game.record.clone())?;
    audit.record(by.actor(), Action::ReplaySeen, &format!("game:{game}"), json!({})).await?;
    Ok((dossier, record))
}
