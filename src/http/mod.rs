//! REST: requests in, JSON out, one form of refusal.
//!
//! `routes` is the one page that lists every route. A handler parses into types that cannot be
//! wrong (`input`, `page`), calls one thing below, and says what came of it in the words of the
//! wire (`wire`); it decides nothing about games or coins.
//!
//! Conventions: amounts are integers in hundredths of a coin, the schema `Coins`. Times are RFC
//! 3339 in UTC, the schema `Time`; on the socket and in records they are integer milliseconds
//! instead. Lists are pages with a cursor. A refusal is a [`Problem`].
//!
//! Bounds: a body of 16 KB, an answer within [`Options::timeout`], a page of 100. Deliberately
//! absent: CORS unless origins are named, and cookies outside the operators' pages (`desk`). `play` is
//! the browser client, which is built elsewhere and only sent from here.

mod analysis;
mod desk;
mod docs;
mod doorway;
mod encoding;
mod entries_query;
mod examples;
mod export;
mod fairness;
mod game_steps;
mod games;
mod gate;
mod health;
mod idempotency;
mod input;
mod leaderboards;
mod link_preview;
mod matchmaking;
mod me;
mod middleware;
mod notices;
mod openapi;
mod openid;
mod operators;
mod page;
mod password;
mod play;
mod players;
mod practice;
mod private_tables;
mod problem;
mod profiles;
mod proof;
mod rematch;
mod rewards;
mod rooms;
mod routes;
mod security_log;
mod services;
mod serving;
mod sessions;
mod sign_in;
mod slow_reader;
mod social;
mod sort;
mod tickets;
mod visit;
mod watchable;
mod watched_body;
mod wire;

pub use analysis::Analyses;
pub use desk::DeskOptions;
pub use doorway::Doorway;
pub use health::{Probe, Readiness};
pub use input::{Body, Path, Query};
pub use middleware::Options;
pub use openapi::openapi_yaml;
pub use page::{Cursors, Owner, PageOf, PageQuery};
pub use problem::{Code, Problem, ProblemBody};
use problem::{unread, unread_record};
pub use routes::{probes, router};
pub use services::Services;
pub use serving::serve;
pub use wire::{
    CardText, Coins, DeviceText, DeviceTimeZoneText, IdTokenText, IssuerText, NameText, ReasonText,
    RoomText, Time, TimeZoneText, TransferCode,
};
