//! The players' API. Each topic is a folder.

pub(crate) mod account;
pub(crate) mod games;
pub(crate) mod notices;
pub(crate) mod people;
pub(crate) mod rewards;
pub(crate) mod sign_in;
pub(crate) mod tables;
