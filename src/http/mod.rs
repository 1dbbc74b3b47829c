//! The REST API.
//!
//! `core` is the framework. `player` and `operator` bind handlers to operations and have a folder
//! for each topic; `routes` adds the pages. A handler parses its input into validated types (`extractors`, `pagination`), calls
//! one function of a lower layer, and converts the result into the bodies of `bahay_api`. It makes
//! no decisions about games or coins.
//!
//! Conventions: amounts are integers in hundredths of a coin, the schema `Coins`. Times are RFC
//! 3339 in UTC, the schema `Time`; on the socket and in records they are integer milliseconds
//! instead. Lists are paginated with cursors. A refusal is a [`Problem`].
//!
//! Bounds: a body of 16 KB, a response within [`Options::timeout`], a page of 100 items.
//! Deliberately absent: CORS unless origins are configured, and cookies outside the operators' desk
//! (`operator::desk_ui`). `pages::play` serves the browser client, which is built separately.

mod core;
mod operator;
mod pages;
mod player;
mod routes;

pub use self::core::analyses::{Analyses, AnalysisOptions};
pub use self::core::connection::connection_limits::LimitedListener;
pub use self::core::connection::server::serve;
pub(crate) use self::core::extractors::{Body, Path, Query};
pub use self::core::health::{Probe, Readiness};
pub use self::core::middleware::{DeskOptions, Options};
pub use self::core::pagination::Cursors;
pub(crate) use self::core::pagination::PageRequest;
pub use self::core::services::Services;
pub(crate) use crate::problem::{CodeExt, Problem};
pub use bahay_api::Code;
pub(crate) use bahay_api::{Coins, PageOf, PageQuery, Time};
pub use routes::{bound_handlers, probe_router, router};
