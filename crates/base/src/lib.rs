//! The values that all parts of the house share: ids, times, zones, random bytes and stated reasons.
//!
//! Nothing here performs I/O, except that `entropy` reads the system's random numbers and `clock`
//! its time.

/// Implements `Deserialize` for types that are parsed from a text.
#[macro_export]
macro_rules! deserialize_by_parsing {
    ($($type:ty),+) => {$(
        impl<'de> $crate::serde::Deserialize<'de> for $type {
            fn deserialize<D: $crate::serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                let text: String = $crate::serde::Deserialize::deserialize(from)?;
                text.parse().map_err($crate::serde::de::Error::custom)
            }
        }
    )+};
}

pub mod auth_error;
pub mod clock;
pub mod entropy;
pub mod error_line;
pub mod ids;
pub mod reason;
pub mod states;
pub mod text_enum;
pub mod zone;

// For `text_enum!`, which names this crate.
extern crate self as bahay_base;

#[doc(hidden)]
pub use serde;
