//! The games and endings that a query names.

use bahay_engine::catalog;

use crate::http::{Code, CodeExt as _, Problem};
use crate::ids::GameName;

/// Returns the game with this name.
///
/// # Errors
/// `query_invalid` if the house has no such game.
pub(crate) fn require_kind(name: &GameName) -> Result<&'static str, Problem> {
    let unknown = || Code::QueryInvalid.with_detail("`kind` names no game of the house");
    catalog::find_kind(name.as_str()).map(|kind| kind.name).ok_or_else(unknown)
}

/// Rejects an ending that no game has.
///
/// # Errors
/// `query_invalid`.
pub(crate) fn check_ending(name: &GameName) -> Result<(), Problem> {
    let mut endings = catalog::kinds().into_iter().flat_map(|kind| kind.endings);
    if endings.any(|ending| ending.name == name.as_str()) {
        return Ok(());
    }
    Err(Code::QueryInvalid.with_detail("`ending` names no ending of a game"))
}
