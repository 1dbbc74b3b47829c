//! Services and games that fail on purpose.

pub(crate) mod cluster;
pub(crate) mod fragile;
pub(crate) mod services;
pub(crate) mod wire;
