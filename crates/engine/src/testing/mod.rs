//! Support for tests, benches and simulations: seeded randomness, play by policies, the conformance
//! test that every game passes, games that differ only in hidden state, and golden playthroughs.
//!
//! The module requires the feature `testing`; nothing in the service depends on it. Only `tongits`,
//! `tongo_options` and `tongo_assets` know the games of their names. `guess_the_die` is a game for
//! tests alone.

mod conformance;
pub mod guess_the_die;
mod play;
mod playthrough;
mod rules_text;
mod switch;
mod terms;
mod test_rng;
mod tongits;
mod tongo_assets;
mod tongo_options;
mod tournament;
mod twins;

pub use conformance::{ConformanceError, Probe, check_game};
pub use play::{ChooseAction, Policy, legal_actions, play, play_at_random, step};
pub use playthrough::playthrough;
pub use rules_text::parse_rules;
pub use switch::Switch;
pub use terms::terms;
pub use test_rng::TestRng;
pub use tongits::{TongitsProbe, tongits_disclosure_rule};
pub use tongo_assets::TongoAssetsProbe;
pub use tongo_options::TongoOptionsProbe;
pub use tournament::{ANNOUNCED_MS, tournament_player};
pub use twins::{
    SharedWalk, TwinPair, ViewerTraffic, VisibleEvent, for_each_twin_pair, search_twins,
};
