//! Private tables: which code leads to which table, who opened it, and whom the host sent away.
//! One hash and one set a code, which expire together when nobody has used the code for a day.

use bahay_engine::table::{PlayerId, TableId};

use crate::live_store::{LiveStore, Unavailable};

/// How long a code is good after it was last used.
const LIFE_MS: u32 = 24 * 60 * 60 * 1_000;

/// What a code stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PrivateTable {
    pub table: TableId,
    pub host: PlayerId,
}

impl LiveStore {
    /// Gives a code to a table. False when the code stands for another one already.
    pub async fn open_private(
        &self,
        code: &str,
        private: &PrivateTable,
    ) -> Result<bool, Unavailable> {
        let key = self.private_key(code, "table");
        let mut commands = self.commands.clone();
        let mut call = redis::cmd("HSETNX");
        call.arg(&key).arg("table").arg(private.table.to_string());
        if !call.query_async::<bool>(&mut commands).await? {
            return Ok(false);
        }
        let mut pipe = redis::pipe();
        pipe.atomic().hset(&key, "host", private.host.to_string());
        pipe.cmd("PEXPIRE").arg(&key).arg(LIFE_MS);
        pipe.query_async::<()>(&mut commands).await?;
        Ok(true)
    }

    /// What a code stands for, which keeps it good.
    pub async fn private(&self, code: &str) -> Result<Option<PrivateTable>, Unavailable> {
        let key = self.private_key(code, "table");
        let mut pipe = redis::pipe();
        pipe.atomic().cmd("HMGET").arg(&key).arg("table").arg("host");
        pipe.cmd("PEXPIRE").arg(&key).arg(LIFE_MS).ignore();
        pipe.cmd("PEXPIRE").arg(self.private_key(code, "barred")).arg(LIFE_MS).ignore();
        let (row,): ([Option<String>; 2],) = pipe.query_async(&mut self.commands.clone()).await?;
        let [table, host] = row.map(|text| text.unwrap_or_default());
        Ok(table
            .parse()
            .ok()
            .zip(host.parse().ok())
            .map(|(table, host)| PrivateTable { table, host }))
    }

    /// Whether the host has sent this player away.
    pub async fn is_barred(&self, code: &str, player: PlayerId) -> Result<bool, Unavailable> {
        let mut call = redis::cmd("SISMEMBER");
        call.arg(self.private_key(code, "barred")).arg(player.to_string());
        Ok(call.query_async(&mut self.commands.clone()).await?)
    }

    /// Sends a player away from a code, for as long as it is good.
    pub async fn bar(&self, code: &str, player: PlayerId) -> Result<(), Unavailable> {
        let key = self.private_key(code, "barred");
        let mut pipe = redis::pipe();
        pipe.atomic().sadd(&key, player.to_string()).ignore();
        pipe.cmd("PEXPIRE").arg(&key).arg(LIFE_MS).ignore();
        pipe.query_async::<()>(&mut self.commands.clone()).await?;
        Ok(())
    }

    fn private_key(&self, code: &str, part: &str) -> String {
        format!("{}:{{private:{code}}}:{part}", self.prefix)
    }
}
