//! A settled game as standings need it, in the same form for every kind. The game itself names its
//! ending and its counters.

use bahay_engine::catalog::AnyGame;
use bahay_engine::coins::Coins;
use bahay_engine::game::{CounterIncrement, Game};
use bahay_engine::table::{GameId, PlayerId};

use crate::clock::Timestamp;

/// The counter of POTs won.
pub(super) const HITS: &str = "hits";

/// A settled game, as the projection of standings needs it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SettledGame {
    pub(super) game: GameId,
    /// The kind of the game.
    pub(super) kind: String,
    pub(super) finished_at: Timestamp,
    /// The ending; `None` if the record cannot be replayed, which the check of the ledger reports.
    pub(super) ending: Option<&'static str>,
    /// The increments of the players' counters, by name.
    pub(super) counts: Vec<(PlayerId, &'static str, i64)>,
    pub(super) winner: Option<PlayerId>,
    /// The winner of the POT and its amount.
    pub(super) pot: Option<(PlayerId, Coins)>,
    /// True if the game counts on leaderboards. Games with a house bot or at a private table do
    /// not, so that nobody climbs by choosing opponents.
    pub(super) is_ranked: bool,
    /// All players except house bots, with their change by the game without the ante.
    pub(super) nets: Vec<(PlayerId, Coins)>,
}

/// Returns the ending of a finished game and the increments of the counters. `players` is by seat.
pub(super) fn ending_and_counts(
    game: &AnyGame,
    players: &[PlayerId],
) -> (Option<&'static str>, Vec<(PlayerId, &'static str, i64)>) {
    let to_count = |CounterIncrement { seat, name, more }| {
        players.get(seat.index()).map(|player| (*player, name, i64::from(more)))
    };
    (game.ending(), game.counts().into_iter().filter_map(to_count).collect())
}
