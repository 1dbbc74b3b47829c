//! What the tests share.

pub(crate) mod bank;
pub(crate) mod cluster;
pub(crate) mod db;
pub(crate) mod fragile;
pub(crate) mod house;
pub(crate) mod independent;
pub(crate) mod live;
pub(crate) mod node;
pub(crate) mod process;
pub(crate) mod programs;
pub(crate) mod raw;
pub(crate) mod services;
pub(crate) mod wire;
