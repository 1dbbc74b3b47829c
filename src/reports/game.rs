//! The report of one game: its booked operations, and the verification of its record from the seeds
//! to the settlement, compared with the booked settlement.

use bahay_engine::chance::Contribution;
use bahay_engine::table::{GameId, Record, Settlement};

use super::Reports;
use super::books::OperationRow;
use crate::archive::{self, GameDetail};
use crate::db;
use crate::records::RecordError;
use crate::verify;

/// A game with all its operations.
#[derive(Clone, Debug, PartialEq)]
pub struct Dossier {
    pub game: GameDetail,
    /// The reason of the void, if the game was voided.
    pub void_reason: Option<String>,
    /// The opening, the settlement, the void and their reversals, the oldest first.
    pub operations: Vec<OperationRow>,
    pub verdict: RecordVerdict,
}

/// The result of the record's verification.
#[derive(Clone, Debug, PartialEq)]
pub enum RecordVerdict {
    /// The record is valid: the deal follows from the seeds, every action from the rules, the
    /// settlement from both.
    Holds {
        actions: usize,
        /// The settlement recomputed from the record.
        recomputed: Settlement,
        /// True if the stored settlement equals the recomputed one.
        is_booked: bool,
        /// The commitments and reveals of the clients, by seat.
        clients: Vec<Contribution>,
    },
    /// The record is invalid, with a description of the fault.
    Fails { fault: String },
    /// There is no record, because the game is not settled.
    NoRecord,
}

impl Reports {
    /// Returns the report of a game; `None` if there is no such game.
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
        // A replay takes less than a millisecond.
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
