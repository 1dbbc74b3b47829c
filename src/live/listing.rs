//! Which tables of a room have free seats: a sorted set a room. It is a hint, kept near the truth
//! by whoever changes a table: a table that turns out to be full is skipped, one that has been
//! forgotten is founded again.

use bahay_engine::table::TableId;

use crate::live::{Live, Unavailable};

/// Before all others: a POT waits there for three players (rule 7.4).
const RANK_WITH_POT: u32 = 0;
const RANK_WITHOUT_POT: u32 = 1;
/// Ranks are this far apart; a table has at most eight seats.
const RANK_STEP: u32 = 10;

impl Live {
    /// Reserves a place at the table of a room that should be filled first, or at `new` with
    /// `seats` seats, which is then listed. `full` are tables that turned out to have none.
    pub async fn reserve(
        &self,
        room: &str,
        new: TableId,
        seats: u8,
        full: &[TableId],
    ) -> Result<TableId, Unavailable> {
        let mut call = self.scripts.reserve.prepare_invoke();
        let left = u32::from(seats.saturating_sub(1));
        call.key(self.room_key(room)).arg(new.to_string());
        call.arg(RANK_WITHOUT_POT * RANK_STEP + left);
        for table in full {
            call.arg(table.to_string());
        }
        let table: String = call.invoke_async(&mut self.commands.clone()).await?;
        table.parse().map_err(|_| Unavailable("a table in the listing has no valid id".into()))
    }

    /// Lists a table with its free seats; one without is taken off the list.
    pub async fn list(
        &self,
        room: &str,
        table: TableId,
        seats_free: usize,
        has_pot: bool,
    ) -> Result<(), Unavailable> {
        let mut call = if seats_free == 0 { redis::cmd("ZREM") } else { redis::cmd("ZADD") };
        call.arg(self.room_key(room));
        if seats_free > 0 {
            let rank = if has_pot { RANK_WITH_POT } else { RANK_WITHOUT_POT };
            call.arg(rank * RANK_STEP + u32::try_from(seats_free).unwrap_or(RANK_STEP - 1));
        }
        call.arg(table.to_string());
        call.query_async::<()>(&mut self.commands.clone()).await?;
        Ok(())
    }

    fn room_key(&self, room: &str) -> String {
        format!("{}:{{room:{room}}}:open", self.prefix)
    }
}
