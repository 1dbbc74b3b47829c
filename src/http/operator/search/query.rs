//! The part of the search that the API and the desk share.

use bahay_api::operator::search::{SearchHit, SearchKind};

use crate::http::{Code, CodeExt as _, Problem, Services};

/// The longest text that can be searched for, in characters.
const TEXT_LENGTH_MAX: usize = 64;

/// The maximum number of rooms in the result.
const ROOMS_FOUND_MAX: usize = 20;

/// Returns the text of a search without surrounding spaces. An empty or longer text, or one with a
/// zero byte, is rejected.
pub(crate) fn check_text(text: &str) -> Result<&str, Problem> {
    let text = text.trim();
    if !(1..=TEXT_LENGTH_MAX).contains(&text.chars().count()) || text.contains('\0') {
        return Err(Code::QueryInvalid.with_detail("a search has 1 to 64 characters"));
    }
    Ok(text)
}

/// Searches rooms, and all that the database knows.
pub(super) async fn search(services: &Services, text: &str) -> Result<Vec<SearchHit>, Problem> {
    let text = check_text(text)?;
    let part = text.to_lowercase();
    let rooms = services.lobby.rooms();
    let rooms = rooms
        .iter()
        .filter(|room| room.id().contains(&part) || room.name().to_lowercase().contains(&part));
    let mut hits: Vec<SearchHit> = rooms
        .map(|room| SearchHit {
            kind: SearchKind::Room,
            id: room.id().to_owned(),
            title: room.name().to_owned(),
        })
        .take(ROOMS_FOUND_MAX)
        .collect();
    hits.extend(services.reports.search(text).await?);
    hits.sort_by_key(|hit| hit.kind);
    Ok(hits)
}
