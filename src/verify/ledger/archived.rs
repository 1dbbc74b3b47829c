//! The reads of archived records for a page of games.

use bahay_engine::table::GameId;
use sqlx::PgPool;
use uuid::Uuid;

use super::{Difference, Mismatch};
use crate::ledger::LedgerError;
use crate::records::{RecordError, Records};

/// A row whose record may be in the archive.
pub(super) trait RecordRow {
    fn game(&self) -> Uuid;

    /// Returns whether the game has a record and the row has no text of it.
    fn is_archived(&self) -> bool;

    fn set_record(&mut self, text: String);
}

/// Fills in archived records. A damaged record is a difference, and its row is removed; an unreachable
/// archive ends the check.
pub(super) async fn fill_records<R: RecordRow>(
    pool: &PgPool,
    records: &Records,
    rows: &mut Vec<R>,
) -> Result<Vec<Difference>, LedgerError> {
    let archived: Vec<Uuid> =
        rows.iter().filter(|row| row.is_archived()).map(RecordRow::game).collect();
    let unread = |error: RecordError| LedgerError::Unavailable { reason: error.to_string() };
    let mut texts = records.read_archived(pool, &archived).await.map_err(unread)?;
    let mut differences = Vec::new();
    rows.retain_mut(|row| {
        let text = if row.is_archived() { texts.remove(&row.game()) } else { None };
        match text {
            None => true,
            Some(Ok(text)) => {
                row.set_record(text);
                true
            }
            Some(Err(error)) => {
                let what = Mismatch::Record { fault: error.to_string() };
                differences.push(Difference { game: GameId(row.game()), what });
                false
            }
        }
    });
    Ok(differences)
}
