//! What the tests share.

pub(crate) mod bank;
pub(crate) mod cluster;
pub(crate) mod db;
pub(crate) mod house;
pub(crate) mod live;
