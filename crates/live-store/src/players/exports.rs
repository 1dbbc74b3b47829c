//! The rate limit of account exports: one key for each player with a recent export.

use std::time::Duration;

use bahay_engine::table::PlayerId;

use crate::{LiveStore, Unavailable};

/// The minimum interval between two exports of a player.
const INTERVAL: Duration = Duration::from_hours(1);

/// The time after which an export that has not begun to be sent counts as failed. It exceeds the
/// timeout of a request.
const PREPARATION: Duration = Duration::from_mins(1);

impl LiveStore {
    /// Begins an export, which the caller has to [count](Self::count_export) or
    /// [cancel](Self::cancel_export). Returns the remaining wait if there was a recent export.
    pub async fn begin_export(&self, player: PlayerId) -> Result<Option<Duration>, Unavailable> {
        let key = self.export_key(player);
        let left_ms = self.create_expiring(&key, milliseconds(PREPARATION)).await?;
        Ok(left_ms.map(|left_ms| Duration::from_millis(u64::try_from(left_ms).unwrap_or(0))))
    }

    /// Counts an export that is being sent.
    pub async fn count_export(&self, player: PlayerId) -> Result<(), Unavailable> {
        let mut call = redis::cmd("SET");
        call.arg(self.export_key(player)).arg(1).arg("PX").arg(milliseconds(INTERVAL));
        self.query(&call).await
    }

    /// Cancels a failed export, so that the player may request another one.
    pub async fn cancel_export(&self, player: PlayerId) -> Result<(), Unavailable> {
        self.query(redis::cmd("DEL").arg(self.export_key(player))).await
    }

    fn export_key(&self, player: PlayerId) -> String {
        self.player_key(player, "export")
    }
}

fn milliseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
