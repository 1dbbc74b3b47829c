//! What the integration tests share.

pub mod db;
pub mod live;
