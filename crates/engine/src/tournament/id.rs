//! The ids of tournaments and of their tables.

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use uuid::{Builder, Uuid};

use crate::table::TableId;

pub use crate::table::TournamentId;

/// The domain separator of the ids of tables.
const DOMAIN: &[u8] = b"bahay/tournament/table/v1";

/// The number of a table within its tournament.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TableNumber {
    /// The number of the round, from 1; an arena tournament has one round.
    pub round: u32,
    /// The number of the table in the round, from 1.
    pub table: u32,
}

impl TableNumber {
    /// Returns the id of the table. It follows from the tournament and the number, so that opening
    /// a table again opens the same one.
    pub fn table_id(self, tournament: TournamentId) -> TableId {
        let mut hash = Sha256::new();
        hash.update(DOMAIN);
        hash.update(tournament.0.as_bytes());
        hash.update(self.round.to_be_bytes());
        hash.update(self.table.to_be_bytes());
        let digest: [u8; 32] = hash.finalize().into();
        let mut bytes = [0; 16];
        bytes.copy_from_slice(&digest[..16]);
        let id: Uuid = Builder::from_custom_bytes(bytes).into_uuid();
        TableId(id)
    }
}

impl core::fmt::Display for TableNumber {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{}.{}", self.round, self.table)
    }
}
