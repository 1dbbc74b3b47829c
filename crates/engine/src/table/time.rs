//! Points in time as a table knows them: whole milliseconds since 1970-01-01 UTC, told from
//! outside. A table never goes back in time, whatever the clock it is told does.

use serde::{Deserialize, Serialize};

/// Milliseconds since 1970-01-01 UTC. On the wire it is that integer.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Timestamp(i64);

impl Timestamp {
    pub const fn from_ms(ms: i64) -> Self {
        Self(ms)
    }

    pub const fn ms(self) -> i64 {
        self.0
    }

    /// Later by this much, at most the end of time.
    #[must_use]
    pub const fn after_ms(self, ms: u32) -> Self {
        Self(self.0.saturating_add(ms as i64))
    }

    /// Earlier by this much, at least the beginning of time.
    #[must_use]
    pub const fn before_ms(self, ms: u32) -> Self {
        Self(self.0.saturating_sub(ms as i64))
    }

    /// Milliseconds from `earlier` to here; 0 when it is later.
    pub fn ms_since(self, earlier: Self) -> u64 {
        u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or(0)
    }
}
