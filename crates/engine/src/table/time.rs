//! Points in time: whole milliseconds since 1970-01-01 UTC, provided by the caller. A table's time
//! never runs backwards, whatever the caller's clock does.

use serde::{Deserialize, Serialize};

/// Milliseconds since 1970-01-01 UTC, serialized as that integer.
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

    /// Returns the time `ms` milliseconds later, saturating at the end of time.
    #[must_use]
    pub const fn after_ms(self, ms: u32) -> Self {
        Self(self.0.saturating_add(ms as i64))
    }

    /// Returns the time `ms` milliseconds earlier, saturating at the beginning of time.
    #[must_use]
    pub const fn before_ms(self, ms: u32) -> Self {
        Self(self.0.saturating_sub(ms as i64))
    }

    /// Returns the milliseconds from `earlier` to this time; 0 if `earlier` is later.
    pub fn ms_since(self, earlier: Self) -> u64 {
        u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or(0)
    }
}
