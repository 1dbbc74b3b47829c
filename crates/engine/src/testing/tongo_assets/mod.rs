//! Tongo (assets) in tests: what the conformance kit must know of it, and its scenario files.

mod probe;
mod scenario;

pub use probe::TongoAssetsProbe;
pub use scenario::run_tongo_assets_scenarios;
