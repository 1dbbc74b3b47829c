//! What the tests share.

pub(crate) mod bank;
pub(crate) mod db;
pub(crate) mod house;
pub(crate) mod live;
pub(crate) mod process;
pub(crate) mod raw;
pub(crate) mod services;
pub(crate) mod wire;
