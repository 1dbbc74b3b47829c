//! The REST API.
//!
//! `routes` lists every route. A handler parses its input into validated types (`extractors`,
//! `pagination`), calls one function of a lower layer, and converts the result into response types
//! (`schemas`). It makes no decisions about games or coins.
//!
//! Conventions: amounts are integers in hundredths of a coin, the schema `Coins`. Times are RFC
//! 3339 in UTC, the schema `Time`; on the socket and in records they are integer milliseconds
//! instead. Lists are paginated with cursors. A refusal is a [`Problem`].
//!
//! Bounds: a body of 16 KB, a response within [`Options::timeout`], a page of 100 items.
//! Deliberately absent: CORS unless origins are configured, and cookies outside the operators' desk
//! (`desk`). `play` serves the browser client, which is built separately.

mod accept_encoding;
mod analysis;
mod body_progress;
mod client_info;
mod connection_limits;
mod desk;
mod docs;
mod entries_query;
mod export;
mod extractors;
mod fairness;
mod game_steps;
mod games;
mod hand_sorting;
mod health;
mod idempotency;
mod leaderboards;
mod link_preview;
mod matchmaking;
mod middleware;
mod notices;
mod openapi;
mod openapi_examples;
mod openid;
mod operators;
mod own_account;
mod pagination;
mod password;
mod play;
mod players;
mod practice;
mod private_tables;
mod problem;
mod profiles;
mod proof;
mod rematch;
mod request_limits;
mod rewards;
mod rooms;
mod routes;
mod schemas;
mod security_log;
mod server;
mod services;
mod sessions;
mod sign_in;
mod slow_reader;
mod social;
mod socket_tickets;
mod watchable_tables;

pub use analysis::Analyses;
pub use connection_limits::LimitedListener;
pub use desk::DeskOptions;
pub use extractors::{Body, Path, Query};
pub use health::{Probe, Readiness};
pub use middleware::Options;
pub use openapi::openapi_yaml;
pub use pagination::{CursorOwner, Cursors, PageOf, PageQuery};
pub use problem::{Code, Problem, ProblemBody};
use problem::{database_problem, record_problem};
pub use routes::{probe_router, router};
pub use schemas::{
    CardText, Coins, DeviceText, DeviceTimeZoneText, IdTokenText, IssuerText, NameText, ReasonText,
    RoomText, Time, TimeZoneText, TransferCode,
};
pub use server::serve;
pub use services::Services;
