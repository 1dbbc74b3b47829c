//! The part of the search that the API and the desk share.

use std::iter::once;
use std::ops::RangeInclusive;

use bahay_api::operator::search::{SearchHit, SearchKind};
use bahay_engine::table::TableId;
use futures_util::future::join_all;
use uuid::Uuid;

use crate::http::{Code, CodeExt as _, Problem, Services};
use crate::reports::search::{MATCHES_MAX, parse_id_range};
use crate::rooms::PRIVATE;

/// The longest text that can be searched for, in characters.
const TEXT_LENGTH_MAX: usize = 64;

/// The number of tables of a room among which one without a game is searched for, the fullest
/// first.
const LIVE_TABLES_MAX: usize = 200;

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
        .take(MATCHES_MAX)
        .collect();
    hits.extend(services.reports.search(text).await?);
    for table in find_live_tables(services, text).await {
        if !hits.iter().any(|hit| hit.kind == table.kind && hit.id == table.id) {
            hits.push(table);
        }
    }
    hits.sort_by_key(|hit| hit.kind);
    Ok(hits)
}

/// Finds live tables by a whole id or its first digits: the database does not know those without a
/// game. If the live store does not respond, the result lacks them.
async fn find_live_tables(services: &Services, text: &str) -> Vec<SearchHit> {
    let Some((least, greatest)) = parse_id_range(text) else {
        return Vec::new();
    };
    if least == greatest {
        let table = services.lobby.tables().read_table(TableId(least)).await;
        let table = table.inspect_err(|error| tracing::debug!(%error, "a table cannot be read"));
        let table = table.ok().flatten();
        return table.iter().map(|table| to_hit(table.id(), &table.terms().room)).collect();
    }
    let rooms = services.lobby.rooms();
    let rooms = rooms.iter().map(|room| room.id()).chain(once(PRIVATE));
    let found = join_all(rooms.map(|room| find_in_room(services, room, least..=greatest))).await;
    found.into_iter().flatten().take(MATCHES_MAX).collect()
}

async fn find_in_room(
    services: &Services,
    room: &str,
    ids: RangeInclusive<Uuid>,
) -> Vec<SearchHit> {
    let tables = services.live.busy_tables(room, LIVE_TABLES_MAX).await;
    let tables = tables.inspect_err(|error| {
        tracing::warn!(%error, room, "the tables of a room are unknown");
    });
    let found = tables.unwrap_or_default().into_iter().filter(|(table, _)| ids.contains(&table.0));
    found.map(|(table, _)| to_hit(table, room)).collect()
}

fn to_hit(table: TableId, room: &str) -> SearchHit {
    SearchHit { kind: SearchKind::Table, id: table.to_string(), title: room.to_owned() }
}
