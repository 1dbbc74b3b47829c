//! Who sits where: one key a player, so that an account sits at one table only (rule 8.4). A claim
//! is pending until the seat is taken, and expires if that never happens. The table's journal
//! decides; a lasting claim to a table that does not know the player is stale, and whoever finds
//! it ends it.

use bahay_engine::table::{PlayerId, TableId};

use crate::live_store::{LiveStore, Unavailable};

/// How long a seat may take to be taken. Longer than the calls that it takes together.
const PENDING_MS: u32 = 10_000;

/// What binds a player.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SeatClaim {
    None,
    /// The seat is being taken.
    Pending(TableId),
    Held(TableId),
}

impl LiveStore {
    /// Binds a player to a table for the time it takes to sit down. False when the player is
    /// bound already: then nothing has changed.
    pub async fn bind(&self, player: PlayerId, table: TableId) -> Result<bool, Unavailable> {
        let mut call = redis::cmd("SET");
        call.arg(self.player_key(player)).arg(table.to_string());
        call.arg("NX").arg("PX").arg(PENDING_MS);
        let set: Option<String> = call.query_async(&mut self.commands.clone()).await?;
        Ok(set.is_some())
    }

    /// Makes a pending claim last. False when it has expired or is to another table.
    pub async fn confirm(&self, player: PlayerId, table: TableId) -> Result<bool, Unavailable> {
        let mut call = self.scripts.confirm.prepare_invoke();
        call.key(self.player_key(player)).arg(table.to_string());
        Ok(call.invoke_async(&mut self.commands.clone()).await?)
    }

    /// The claim of a player.
    pub async fn seat_claim(&self, player: PlayerId) -> Result<SeatClaim, Unavailable> {
        let key = self.player_key(player);
        let (table, expires_ms): (Option<String>, i64) = redis::pipe()
            .atomic()
            .cmd("GET")
            .arg(&key)
            .cmd("PTTL")
            .arg(&key)
            .query_async(&mut self.commands.clone())
            .await?;
        Ok(match table.and_then(|table| table.parse().ok()) {
            None => SeatClaim::None,
            Some(table) if expires_ms >= 0 => SeatClaim::Pending(table),
            Some(table) => SeatClaim::Held(table),
        })
    }

    /// Ends a player's claim to this table; one to another stays.
    pub async fn release(&self, player: PlayerId, table: TableId) -> Result<(), Unavailable> {
        let mut call = self.scripts.release.prepare_invoke();
        call.key(self.player_key(player)).arg(table.to_string());
        call.invoke_async::<()>(&mut self.commands.clone()).await?;
        Ok(())
    }

    fn player_key(&self, player: PlayerId) -> String {
        format!("{}:{{p{player}}}:table", self.prefix)
    }
}
