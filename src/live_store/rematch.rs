//! Rematches: which private table the players of a finished game meet at again. One hash a game, which
//! whoever is first claims before the table is made, so that all of them come to one table. It expires
//! a day after it was claimed.

use bahay_engine::table::{GameId, PlayerId, TableId};

use crate::live_store::{LiveStore, Unavailable};

/// How long a rematch is known: as long as the code of its table is good without use.
const LIFE_MS: u32 = 24 * 60 * 60 * 1_000;

/// The private table of a rematch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredRematch {
    pub code: String,
    pub table: TableId,
    pub host: PlayerId,
    /// The table and its code were made, by whomever.
    pub is_made: bool,
}

impl LiveStore {
    /// Returns the rematch of a game, if somebody has asked for one.
    pub async fn rematch(&self, game: GameId) -> Result<Option<StoredRematch>, Unavailable> {
        let mut call = redis::cmd("HMGET");
        call.arg(self.rematch_key(game)).arg("code").arg("table").arg("host").arg("made");
        let row: [Option<String>; 4] = call.query_async(&mut self.commands.clone()).await?;
        Ok(read(row))
    }

    /// Claims the rematch of a game, in the place of one whose table is over. Returns the one that
    /// stands: this one, or that of whoever was faster.
    pub async fn claim_rematch(
        &self,
        game: GameId,
        wanted: &StoredRematch,
        over: Option<TableId>,
    ) -> Result<StoredRematch, Unavailable> {
        let StoredRematch { code, table, host, is_made: _ } = wanted;
        let mut call = self.scripts.rematch_claim.prepare_invoke();
        call.key(self.rematch_key(game));
        call.arg(code).arg(table.to_string()).arg(host.to_string());
        call.arg(over.map(|table| table.to_string()).unwrap_or_default()).arg(LIFE_MS);
        let row: [Option<String>; 4] = call.invoke_async(&mut self.commands.clone()).await?;
        read(row).ok_or_else(|| Unavailable::new("a rematch has no valid table".into()))
    }

    /// Notes that the table of a rematch was made, unless another one stands by now.
    pub async fn note_rematch_made(&self, game: GameId, table: TableId) -> Result<(), Unavailable> {
        let mut call = self.scripts.rematch_made.prepare_invoke();
        call.key(self.rematch_key(game)).arg(table.to_string());
        call.invoke_async::<()>(&mut self.commands.clone()).await?;
        Ok(())
    }

    fn rematch_key(&self, game: GameId) -> String {
        format!("{}:{{rematch:{game}}}", self.prefix)
    }
}

fn read(row: [Option<String>; 4]) -> Option<StoredRematch> {
    let [code, table, host, made] = row;
    Some(StoredRematch {
        code: code?,
        table: table?.parse().ok()?,
        host: host?.parse().ok()?,
        is_made: made.is_some_and(|made| made == "1"),
    })
}
