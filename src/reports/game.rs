//! A game in full, as it was booked beside what its record says: the record is verified from its
//! seeds to its settlement, and what was stored and transferred is held against it.

use bahay_engine::chance::Contribution;
use bahay_engine::table::{GameId, Record, Settlement};

use super::Reports;
use super::books::OperationRow;
use crate::archive::{self, GameDetail};
use crate::db;
use crate::records::RecordError;
use crate::verify;

/// A game and all that was booked for it.
#[derive(Clone, Debug, PartialEq)]
pub struct Dossier {
    pub game: GameDetail,
    /// Why it was voided, if it was.
    pub void_reason: Option<String>,
    /// Opening, settlement, void, and what reversed them: the oldest first.
    pub operations: Vec<OperationRow>,
    pub verdict: RecordVerdict,
}

/// What became of verifying the record.
#[derive(Clone, Debug, PartialEq)]
pub enum RecordVerdict {
    /// The deal follows from the seeds, every action from the rules, the settlement from both.
    Holds {
        actions: usize,
        /// As it follows from the record.
        recomputed: Settlement,
        /// Whether the settlement that the ledger stored is that one.
        is_booked: bool,
        /// What each client committed to and revealed, by seat.
        clients: Vec<Contribution>,
    },
    /// Where it does not, in words.
    Fails { fault: String },
    /// Only settled games have a record.
    NoRecord,
}

impl Reports {
    /// `None` when there is no such game.
    pub async fn game(&self, game: GameId) -> Result<Option<Dossier>, RecordError> {
        let Some(detail) = archive::read_detail(&self.pool, &self.records, game).await? else {
            return Ok(None);
        };
        let once = || {
            sqlx::query_scalar!("select void_reason from games where id = $1", game.0)
                .fetch_optional(&self.pool)
        };
        let void_reason = db::retry(once).await?.flatten();
        let keys: Vec<_> =
            ["open", "settle", "void"].iter().map(|kind| format!("{kind}:{game}")).collect();
        let once = || {
            sqlx::query_scalar!(
                "
                select o.operation
                from operation_keys o
                where o.key = any($1)
                union all
                select r.operation
                from operation_keys o
                join operation_keys r on r.key = 'reverse:' || o.operation
                where o.key = any($1)
                ",
                &keys
            )
            .fetch_all(&self.pool)
        };
        let ids: Vec<i64> = db::retry(once).await?.into_iter().flatten().collect();
        let mut operations = self.operations_of(&ids).await?;
        operations.reverse();
        // Playing a game again takes less than a millisecond.
        let verdict = verify_record(&detail);
        Ok(Some(Dossier { game: detail, void_reason, operations, verdict }))
    }
}

fn verify_record(detail: &GameDetail) -> RecordVerdict {
    let Some(record) = &detail.record else {
        return RecordVerdict::NoRecord;
    };
    match verify::verify(&record.to_string()) {
        Ok(verify::VerifiedRecord { record, verified }) => {
            let booked = detail.settlement.as_ref();
            let recomputed = serde_json::to_value(&record.settlement).ok();
            let is_booked = recomputed.is_some() && recomputed.as_ref() == booked;
            let actions = verified.actions;
            let Record { settlement: recomputed, clients, .. } = record;
            RecordVerdict::Holds { actions, recomputed, is_booked, clients }
        }
        Err(error) => RecordVerdict::Fails { fault: error.to_string() },
    }
}
