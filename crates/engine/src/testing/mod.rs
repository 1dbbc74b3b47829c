//! What tests, benches and simulations share: seeded chance, play by policies, the conformance
//! kit that every game passes, games that differ only in what is hidden, golden playthroughs, and the
//! runner of the scenario files.
//!
//! Behind the feature `testing`; nothing that is served depends on it. The kit, play and
//! playthroughs know no game; `scenario`, `table_scenario` and `tongits` know Tong-its, and
//! `tongo_options` and `tongo_assets` the games of their names. `guess_the_die` is a game for tests
//! alone.

mod conformance;
mod dice;
pub mod guess_the_die;
mod play;
mod playthrough;
mod scenario;
mod table_scenario;
mod tongits;
mod tongo_assets;
mod tongo_options;
mod twins;

pub use conformance::{Failure, Played, Probe, check_game};
pub use dice::Dice;
pub use play::{Policy, play, play_at_random};
pub use playthrough::playthrough;
pub use scenario::run_scenarios;
pub use tongits::{TongitsProbe, tongits_tells};
pub use tongo_assets::{TongoAssetsProbe, run_tongo_assets_scenarios};
pub use tongo_options::TongoOptionsProbe;
pub use twins::{Pair, Seen, SeenEvent, Walk, pairs_in_game};
