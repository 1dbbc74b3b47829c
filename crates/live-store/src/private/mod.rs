//! Private tables: the table and the host of each code, the players kicked from it, and the tables
//! of each host. A code has one hash and one set, which expire together a day after the last use of
//! the code; a host has one sorted set, which expires a month after the last table was opened.

mod rematch;

use bahay_engine::table::{PlayerId, TableId};

use crate::{LiveStore, Script, Unavailable, script};

pub use rematch::StoredRematch;

static HOST: Script = script!("host.lua");

/// The lifetime of a code after its last use, and of a rematch, in milliseconds.
const LIFE_MS: u32 = 24 * 60 * 60 * 1_000;

/// The time within which a table that was added to its host has to be created, in milliseconds. It
/// exceeds the calls that the creation takes together.
const CREATED_MS: u32 = 60_000;

/// The lifetime of a host's set of tables after the last one was opened, in milliseconds.
const HOSTED_MS: u32 = 30 * LIFE_MS;

/// The private table of a code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PrivateTable {
    pub table: TableId,
    pub host: PlayerId,
}

impl LiveStore {
    /// Assigns a code to a table. Returns false if the code belongs to another table.
    pub async fn open_private(
        &self,
        code: &str,
        private: &PrivateTable,
    ) -> Result<bool, Unavailable> {
        let key = self.private_key(code, "table");
        let mut pipe = redis::pipe();
        // If the code is taken, all three commands leave its table and host as they are.
        pipe.atomic().cmd("HSETNX").arg(&key).arg("table").arg(private.table.to_string());
        pipe.cmd("HSETNX").arg(&key).arg("host").arg(private.host.to_string()).ignore();
        pipe.cmd("PEXPIRE").arg(&key).arg(LIFE_MS).ignore();
        let (is_new,): (bool,) = self.query_all(&pipe).await?;
        Ok(is_new)
    }

    /// Returns the table of a code, and renews the lifetime of the code.
    pub async fn private_table(&self, code: &str) -> Result<Option<PrivateTable>, Unavailable> {
        let key = self.private_key(code, "table");
        let mut pipe = redis::pipe();
        pipe.atomic().cmd("HMGET").arg(&key).arg("table").arg("host");
        pipe.cmd("PEXPIRE").arg(&key).arg(LIFE_MS).ignore();
        pipe.cmd("PEXPIRE").arg(self.private_key(code, "kicked")).arg(LIFE_MS).ignore();
        let (row,): ([Option<String>; 2],) = self.query_all(&pipe).await?;
        let [table, host] = row.map(|text| text.unwrap_or_default());
        let ids = table.parse().ok().zip(host.parse().ok());
        Ok(ids.map(|(table, host)| PrivateTable { table, host }))
    }

    /// Returns true if the host has kicked this player.
    pub async fn is_kicked(&self, code: &str, player: PlayerId) -> Result<bool, Unavailable> {
        let kicked = self.private_key(code, "kicked");
        self.query(redis::cmd("SISMEMBER").arg(kicked).arg(player.to_string())).await
    }

    /// Kicks a player from the table of a code, for the lifetime of the code. Returns false if the
    /// player was kicked before.
    pub async fn kick(&self, code: &str, player: PlayerId) -> Result<bool, Unavailable> {
        let key = self.private_key(code, "kicked");
        let mut pipe = redis::pipe();
        pipe.atomic().sadd(&key, player.to_string());
        pipe.cmd("PEXPIRE").arg(&key).arg(LIFE_MS).ignore();
        let (is_new,): (bool,) = self.query_all(&pipe).await?;
        Ok(is_new)
    }

    /// Removes a kick, so that the player can return.
    pub async fn remove_kick(&self, code: &str, player: PlayerId) -> Result<(), Unavailable> {
        let kicked = self.private_key(code, "kicked");
        self.query(redis::cmd("SREM").arg(kicked).arg(player.to_string())).await
    }

    /// Returns the tables that a host has opened; some may have ended.
    pub async fn hosted_tables(&self, host: PlayerId) -> Result<Vec<TableId>, Unavailable> {
        let hosted = self.hosted_key(host);
        let tables: Vec<String> =
            self.query(redis::cmd("ZRANGE").arg(hosted).arg(0).arg(-1)).await?;
        Ok(tables.iter().filter_map(|table| table.parse().ok()).collect())
    }

    /// Adds a table to those of a host, and removes those that have ended. Returns false if the
    /// host already has `most` tables.
    pub async fn add_hosted_table(
        &self,
        host: PlayerId,
        table: TableId,
        gone: &[TableId],
        most: usize,
    ) -> Result<bool, Unavailable> {
        let mut call = HOST.key(self.hosted_key(host));
        call.arg(table.to_string()).arg(most).arg(CREATED_MS).arg(HOSTED_MS);
        for table in gone {
            call.arg(table.to_string());
        }
        self.invoke(&call).await
    }

    fn hosted_key(&self, host: PlayerId) -> String {
        self.player_key(host, "hosted")
    }

    fn private_key(&self, code: &str, part: &str) -> String {
        format!("{}:{{private:{code}}}:{part}", self.prefix)
    }
}
