//! The common parts of fuzz targets: bytes as decisions, and mutations of documents.
//!
//! Raw bytes hardly ever pass the syntax of JSON. Each target therefore starts from a valid
//! document, and the bytes decide on its mutations and on the following steps.

mod choices;
pub mod client;
pub mod documents;
pub mod game;
pub mod messages;
pub mod tables;

pub use choices::Choices;

/// The ledger's module, compiled without the rest of the ledger.
#[path = "../../crates/ledger/src/canonical.rs"]
#[expect(dead_code, reason = "only the canonical form of single documents is tested")]
pub mod canonical;
