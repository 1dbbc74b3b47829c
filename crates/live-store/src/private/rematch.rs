//! Rematches: the private table at which the players of a finished game meet again. The first
//! request claims the hash of the game before the table is created, so that all players reach one
//! table. The hash expires a day after the claim.

use bahay_engine::table::{GameId, PlayerId, TableId};

use super::LIFE_MS;
use crate::{LiveStore, Script, Unavailable, script, text_or_empty};

static REMATCH_CLAIM: Script = script!("rematch_claim.lua");
static REMATCH_CREATED: Script = script!("rematch_created.lua");

/// The private table of a rematch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredRematch {
    pub code: String,
    pub table: TableId,
    pub host: PlayerId,
    /// The table and its code were created.
    pub is_created: bool,
}

impl LiveStore {
    /// Returns the rematch of a game, if one was requested.
    pub async fn rematch(&self, game: GameId) -> Result<Option<StoredRematch>, Unavailable> {
        let mut call = redis::cmd("HMGET");
        call.arg(self.rematch_key(game)).arg("code").arg("table").arg("host").arg("made");
        let row: [Option<String>; 4] = self.query(&call).await?;
        Ok(parse_rematch(row))
    }

    /// Claims the rematch of a game, also in place of one whose table is over. Returns the current
    /// claim: this one, or that of an earlier request.
    pub async fn claim_rematch(
        &self,
        game: GameId,
        wanted: &StoredRematch,
        over: Option<TableId>,
    ) -> Result<StoredRematch, Unavailable> {
        let StoredRematch { code, table, host, is_created: _ } = wanted;
        let mut call = REMATCH_CLAIM.key(self.rematch_key(game));
        call.arg(code).arg(table.to_string()).arg(host.to_string());
        call.arg(text_or_empty(over)).arg(LIFE_MS);
        let row: [Option<String>; 4] = self.invoke(&call).await?;
        parse_rematch(row).ok_or_else(|| Unavailable::new("a rematch has no valid table".into()))
    }

    /// Marks the table of a rematch as created, unless another claim has replaced it.
    pub async fn mark_rematch_created(
        &self,
        game: GameId,
        table: TableId,
    ) -> Result<(), Unavailable> {
        let mut call = REMATCH_CREATED.key(self.rematch_key(game));
        self.invoke(call.arg(table.to_string())).await
    }

    fn rematch_key(&self, game: GameId) -> String {
        format!("{}:{{rematch:{game}}}", self.prefix)
    }
}

fn parse_rematch(row: [Option<String>; 4]) -> Option<StoredRematch> {
    let [code, table, host, made] = row;
    Some(StoredRematch {
        code: code?,
        table: table?.parse().ok()?,
        host: host?.parse().ok()?,
        is_created: made.is_some_and(|made| made == "1"),
    })
}
