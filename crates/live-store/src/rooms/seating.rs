//! Seat claims: one key for each player, so that an account sits at one table only (rule 8.4). A
//! claim is pending until the seat is taken, and expires if that never happens. The table's journal
//! is authoritative: a permanent claim to a table at which the player does not sit is stale, and is
//! released by the request that finds it.

use bahay_engine::table::{PlayerId, TableId};
use bahay_shell::lobby::SeatClaim;

use crate::{LiveStore, Script, Unavailable, script};

static CONFIRM: Script = script!("confirm.lua");

/// The lifetime of a pending claim in milliseconds, which exceeds the calls that taking a seat
/// needs together.
const PENDING_MS: u32 = 10_000;

impl LiveStore {
    /// Claims a seat at a table for a player, for the time needed to sit down. Returns false,
    /// without a change, if the player has a claim.
    pub async fn claim_seat(&self, player: PlayerId, table: TableId) -> Result<bool, Unavailable> {
        let mut call = redis::cmd("SET");
        call.arg(self.seat_claim_key(player)).arg(table.to_string());
        call.arg("NX").arg("PX").arg(PENDING_MS);
        let set: Option<String> = self.query(&call).await?;
        Ok(set.is_some())
    }

    /// Makes a pending claim permanent. Returns false if it has expired or is to another table.
    pub async fn confirm_seat_claim(
        &self,
        player: PlayerId,
        table: TableId,
    ) -> Result<bool, Unavailable> {
        self.invoke(CONFIRM.key(self.seat_claim_key(player)).arg(table.to_string())).await
    }

    /// Returns the claim of a player.
    pub async fn seat_claim(&self, player: PlayerId) -> Result<SeatClaim, Unavailable> {
        let key = self.seat_claim_key(player);
        let mut pipe = redis::pipe();
        pipe.atomic().cmd("GET").arg(&key).cmd("PTTL").arg(&key);
        let (table, expires_ms): (Option<String>, i64) = self.query_all(&pipe).await?;
        Ok(match table.and_then(|table| table.parse().ok()) {
            None => SeatClaim::None,
            Some(table) if expires_ms >= 0 => SeatClaim::Pending(table),
            Some(table) => SeatClaim::Held(table),
        })
    }

    /// Releases a player's claim to this table. A claim to another table stays.
    pub async fn release_seat_claim(
        &self,
        player: PlayerId,
        table: TableId,
    ) -> Result<(), Unavailable> {
        self.release(&self.seat_claim_key(player), &table.to_string()).await
    }

    fn seat_claim_key(&self, player: PlayerId) -> String {
        self.player_key(player, "table")
    }
}
