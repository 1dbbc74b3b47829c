//! PostgreSQL and Redis, and houses of which one of them fails.

mod batches;
pub(crate) mod live_store;
mod pooler;
mod read_only;
mod returning;
mod services;
mod slots;
mod stalls;
mod tls;
mod transactions;
mod wire;
