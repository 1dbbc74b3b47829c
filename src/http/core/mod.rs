//! The framework of handlers: extraction, authentication, pagination, idempotency, middleware, and
//! the services on which handlers depend. It knows no topic.

pub(crate) mod analyses;
pub(crate) mod authentication;
pub(crate) mod client_info;
pub(crate) mod connection;
pub(crate) mod csv_file;
pub(crate) mod extractors;
pub(crate) mod game_names;
pub(crate) mod health;
pub(crate) mod idempotency;
pub(crate) mod middleware;
pub(crate) mod pagination;
pub(crate) mod request_limits;
pub(crate) mod routing;
pub(crate) mod security_log;
pub(crate) mod services;
