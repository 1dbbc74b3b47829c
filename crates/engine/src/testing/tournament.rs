//! The players and the time of tournaments in tests.

use uuid::Uuid;

use crate::table::PlayerId;

/// The time at which tournaments of tests are announced.
pub const ANNOUNCED_MS: i64 = 1_800_000_000_000;

/// Returns the player with this number.
pub fn tournament_player(number: u32) -> PlayerId {
    PlayerId(Uuid::from_u64_pair(0x019c_a944_3c00_7000, 0x8000_0000_0000_0000 | u64::from(number)))
}
