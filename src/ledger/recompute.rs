//! The recomputation of a settlement's input hash from the stored documents.
//!
//! The documents are not parsed into today's types, because a field that a later version adds must
//! not change the input of an earlier settlement.

use bahay_engine::table::{GameId, PlayerId, TableId};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::canonical::to_canonical_json;

/// The input of a settlement, as stored.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredSettlement {
    pub game: GameId,
    pub table: TableId,
    pub room: String,
    /// The players by seat.
    pub players: Vec<PlayerId>,
    pub settlement: Value,
    pub record: Value,
    pub finished_at_ms: i64,
}

/// Returns the SHA-256 that the operation `settle:<game>` has if its documents are unchanged.
pub fn settlement_hash(stored: &StoredSettlement) -> [u8; 32] {
    let StoredSettlement { game, table, room, players, settlement, record, finished_at_ms } =
        stored;
    let input = json!({
        "game": game,
        "table": table,
        "room": room,
        "players": players,
        "settlement": settlement,
        "record": record,
        "finished_at_ms": finished_at_ms,
    });
    let input = to_canonical_json(&input).expect("writing to memory succeeds");
    Sha256::digest(input).into()
}

#[cfg(test)]
mod tests {
    use super::{StoredSettlement, settlement_hash};
    use crate::ledger::canonical::Document;
    use crate::ledger::operation::{Operation, Request, SettleGame};
    use bahay_engine::table::{GameId, PlayerId, Settlement, TableId};
    use serde_json::json;
    use uuid::Uuid;

    #[test]
    fn stored_documents_reproduce_the_input_hash() {
        let settlement =
            Settlement { winner: None, payments: Vec::new(), fees: Vec::new(), pot: None };
        let stored = StoredSettlement {
            game: GameId(Uuid::from_u128(1)),
            table: TableId(Uuid::from_u128(2)),
            room: "newbie".into(),
            players: vec![PlayerId(Uuid::from_u128(3)), PlayerId(Uuid::from_u128(4))],
            settlement: serde_json::to_value(&settlement).unwrap(),
            record: json!({ "kind": "tongits", "actions": [] }),
            finished_at_ms: 1_750_000_000_000,
        };
        let input = SettleGame {
            game: stored.game,
            table: stored.table,
            room: stored.room.clone(),
            players: stored.players.clone(),
            settlement,
            record: Document::canonicalize(&stored.record).unwrap(),
            finished_at_ms: stored.finished_at_ms,
        };
        let request = Request::new(Operation::Settle(Box::new(input))).unwrap();
        assert_eq!(settlement_hash(&stored), request.input_hash);
    }
}
