//! REST over a real socket, on a real database.

mod around;
mod auth;
mod bans;
mod contract;
mod corrections;
mod entries;
mod farewell;
mod games;
mod idempotency;
mod kept_rooms;
mod matrix;
mod me;
mod notices;
mod openid;
mod operators;
mod passwords;
mod private_tables;
mod profiles;
mod refusals;
mod relief;
mod reports;
mod rewards;
mod rooms;
pub(crate) mod server;
mod sessions;
mod sign_in;
mod sort;
