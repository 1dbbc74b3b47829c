//! Private tables: which code leads to which table, who opened it, whom the host sent away, and which
//! tables a host has. One hash and one set a code, which expire together when nobody has used the
//! code for a day; one sorted set a host, which expires when the host has opened none for a month.

use bahay_engine::table::{PlayerId, TableId};

use crate::live_store::{LiveStore, Unavailable};

/// How long a code is good after it was last used.
const LIFE_MS: u32 = 24 * 60 * 60 * 1_000;

/// How long it may take until a table is there that was noted as its host's. Longer than the calls
/// that it takes together.
const CREATED_MS: u32 = 60_000;

/// How long it is known which tables a host has, after the last was opened.
const HOSTED_MS: u32 = 30 * LIFE_MS;

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
        let mut pipe = redis::pipe();
        // Of a code that is taken all three leave the table and the host as they are.
        pipe.atomic().cmd("HSETNX").arg(&key).arg("table").arg(private.table.to_string());
        pipe.cmd("HSETNX").arg(&key).arg("host").arg(private.host.to_string()).ignore();
        pipe.cmd("PEXPIRE").arg(&key).arg(LIFE_MS).ignore();
        let (is_new,): (bool,) = pipe.query_async(&mut self.commands.clone()).await?;
        Ok(is_new)
    }

    /// What a code stands for, which keeps it good.
    pub async fn private(&self, code: &str) -> Result<Option<PrivateTable>, Unavailable> {
        let key = self.private_key(code, "table");
        let mut pipe = redis::pipe();
        pipe.atomic().cmd("HMGET").arg(&key).arg("table").arg("host");
        pipe.cmd("PEXPIRE").arg(&key).arg(LIFE_MS).ignore();
        pipe.cmd("PEXPIRE").arg(self.private_key(code, "kicked")).arg(LIFE_MS).ignore();
        let (row,): ([Option<String>; 2],) = pipe.query_async(&mut self.commands.clone()).await?;
        let [table, host] = row.map(|text| text.unwrap_or_default());
        Ok(table
            .parse()
            .ok()
            .zip(host.parse().ok())
            .map(|(table, host)| PrivateTable { table, host }))
    }

    /// Whether the host has sent this player away.
    pub async fn is_kicked(&self, code: &str, player: PlayerId) -> Result<bool, Unavailable> {
        let mut call = redis::cmd("SISMEMBER");
        call.arg(self.private_key(code, "kicked")).arg(player.to_string());
        Ok(call.query_async(&mut self.commands.clone()).await?)
    }

    /// Sends a player away from a code, for as long as it is good. False when that was done before.
    pub async fn kick(&self, code: &str, player: PlayerId) -> Result<bool, Unavailable> {
        let key = self.private_key(code, "kicked");
        let mut pipe = redis::pipe();
        pipe.atomic().sadd(&key, player.to_string());
        pipe.cmd("PEXPIRE").arg(&key).arg(LIFE_MS).ignore();
        let (is_new,): (bool,) = pipe.query_async(&mut self.commands.clone()).await?;
        Ok(is_new)
    }

    /// Lets a player come back who was not sent away after all.
    pub async fn unbar(&self, code: &str, player: PlayerId) -> Result<(), Unavailable> {
        let mut call = redis::cmd("SREM");
        call.arg(self.private_key(code, "kicked")).arg(player.to_string());
        call.query_async::<()>(&mut self.commands.clone()).await?;
        Ok(())
    }

    /// The tables that a host has opened; some may be gone.
    pub async fn hosted(&self, host: PlayerId) -> Result<Vec<TableId>, Unavailable> {
        let mut call = redis::cmd("ZRANGE");
        call.arg(self.hosted_key(host)).arg(0).arg(-1);
        let tables: Vec<String> = call.query_async(&mut self.commands.clone()).await?;
        Ok(tables.iter().filter_map(|table| table.parse().ok()).collect())
    }

    /// Notes that a host opens a table, and forgets those that are gone. False when the host has as
    /// many as may be.
    pub async fn host(
        &self,
        host: PlayerId,
        table: TableId,
        gone: &[TableId],
        most: usize,
    ) -> Result<bool, Unavailable> {
        let mut call = self.scripts.host.prepare_invoke();
        call.key(self.hosted_key(host)).arg(table.to_string());
        call.arg(most).arg(CREATED_MS).arg(HOSTED_MS);
        for table in gone {
            call.arg(table.to_string());
        }
        Ok(call.invoke_async(&mut self.commands.clone()).await?)
    }

    fn hosted_key(&self, host: PlayerId) -> String {
        format!("{}:{{p{host}}}:hosted", self.prefix)
    }

    fn private_key(&self, code: &str, part: &str) -> String {
        format!("{}:{{private:{code}}}:{part}", self.prefix)
    }
}
